/* gst-spdl: how servers are asked for shards and their indexes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/remotesettings.h"

#define DEFAULT_USER_AGENT "gst-spdl/" PACKAGE_VERSION
#define DEFAULT_TIMEOUT 30
#define DEFAULT_RETRIES 3

void
spdl_remote_settings_init (SpdlRemoteSettings *self)
{
  *self = (SpdlRemoteSettings){
    .user_agent = g_strdup (DEFAULT_USER_AGENT),
    .timeout = DEFAULT_TIMEOUT,
    .retries = DEFAULT_RETRIES,
  };
}

void
spdl_remote_settings_copy (
    SpdlRemoteSettings *self, const SpdlRemoteSettings *other)
{
  *self = *other;
  self->user_agent = g_strdup (other->user_agent);
  self->tls_ca_file = g_strdup (other->tls_ca_file);
  self->trusted_origins = g_strdup (other->trusted_origins);
  self->extra_headers =
      other->extra_headers ? gst_structure_copy (other->extra_headers) : NULL;
}

void
spdl_remote_settings_clear (SpdlRemoteSettings *self)
{
  g_clear_pointer (&self->user_agent, g_free);
  g_clear_pointer (&self->tls_ca_file, g_free);
  g_clear_pointer (&self->trusted_origins, g_free);
  g_clear_pointer (&self->extra_headers, gst_structure_free);
}

gboolean
spdl_remote_settings_set (
    SpdlRemoteSettings *self, guint place, const GValue *value)
{
  switch (place) {
    case SPDL_REMOTE_USER_AGENT:
      g_free (self->user_agent);
      self->user_agent = g_value_dup_string (value);
      break;
    case SPDL_REMOTE_TLS_CA_FILE:
      g_free (self->tls_ca_file);
      self->tls_ca_file = g_value_dup_string (value);
      break;
    case SPDL_REMOTE_EXTRA_HEADERS:
      g_clear_pointer (&self->extra_headers, gst_structure_free);
      self->extra_headers = g_value_dup_boxed (value);
      break;
    case SPDL_REMOTE_TRUSTED_ORIGINS:
      g_free (self->trusted_origins);
      self->trusted_origins = g_value_dup_string (value);
      break;
    case SPDL_REMOTE_TIMEOUT:
      self->timeout = g_value_get_uint (value);
      break;
    case SPDL_REMOTE_RETRIES:
      self->retries = g_value_get_uint (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_remote_settings_get (
    const SpdlRemoteSettings *self, guint place, GValue *value)
{
  switch (place) {
    case SPDL_REMOTE_USER_AGENT:
      g_value_set_string (value, self->user_agent);
      break;
    case SPDL_REMOTE_TLS_CA_FILE:
      g_value_set_string (value, self->tls_ca_file);
      break;
    case SPDL_REMOTE_EXTRA_HEADERS:
      gst_value_set_structure (value, self->extra_headers);
      break;
    case SPDL_REMOTE_TRUSTED_ORIGINS:
      g_value_set_string (value, self->trusted_origins);
      break;
    case SPDL_REMOTE_TIMEOUT:
      g_value_set_uint (value, self->timeout);
      break;
    case SPDL_REMOTE_RETRIES:
      g_value_set_uint (value, self->retries);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

void
spdl_remote_settings_install (GObjectClass *klass, guint first)
{
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, first + SPDL_REMOTE_USER_AGENT,
      g_param_spec_string ("user-agent", "User agent",
          "What servers of shards are sent as User-Agent", DEFAULT_USER_AGENT,
          ready));
  g_object_class_install_property (klass, first + SPDL_REMOTE_TLS_CA_FILE,
      g_param_spec_string ("tls-ca-file", "TLS CA file",
          "A PEM file of the certificate authorities to trust where shards lie "
          "on servers (unset = the system's)",
          NULL, ready));
  g_object_class_install_property (klass, first + SPDL_REMOTE_EXTRA_HEADERS,
      g_param_spec_boxed ("extra-headers", "Extra headers",
          "Sent with each request for shards and their indexes: a header a "
          "field; an array or a list gives several",
          GST_TYPE_STRUCTURE, ready));
  g_object_class_install_property (klass, first + SPDL_REMOTE_TRUSTED_ORIGINS,
      g_param_spec_string ("trusted-origins", "Trusted origins",
          "Servers that get extra-headers and credentials when another server "
          "redirects to them (\"https://cdn.example.com\")",
          NULL, ready));
  g_object_class_install_property (klass, first + SPDL_REMOTE_TIMEOUT,
      g_param_spec_uint ("timeout", "Timeout",
          "Seconds in which not one byte of a shard comes from a server, after "
          "which a request has failed (0 = no limit)",
          0, 3600, DEFAULT_TIMEOUT, ready));
  g_object_class_install_property (klass, first + SPDL_REMOTE_RETRIES,
      g_param_spec_uint ("retries", "Retries",
          "How often a request for a shard or its index is repeated that "
          "failed "
          "in a way that may pass",
          0, 1000, DEFAULT_RETRIES, ready));
}
