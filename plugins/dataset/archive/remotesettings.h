/* gst-spdl: how servers are asked for shards and their indexes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Under the same names as spdlfetch's. */
typedef struct {
  gchar *user_agent;           /* nullable */
  gchar *tls_ca_file;          /* nullable: the system's authorities */
  GstStructure *extra_headers; /* nullable */
  gchar *trusted_origins;      /* nullable */
  guint timeout;               /* s in which no byte came; 0: none */
  guint retries;
} SpdlRemoteSettings;

/* Their properties, by their places. */
enum {
  SPDL_REMOTE_USER_AGENT,
  SPDL_REMOTE_TLS_CA_FILE,
  SPDL_REMOTE_EXTRA_HEADERS,
  SPDL_REMOTE_TRUSTED_ORIGINS,
  SPDL_REMOTE_TIMEOUT,
  SPDL_REMOTE_RETRIES,
  SPDL_REMOTE_N_SETTINGS,
};

/* @first: the id of the first property */
void spdl_remote_settings_install (GObjectClass *klass, guint first);

/* The defaults. */
void spdl_remote_settings_init (SpdlRemoteSettings *self);
void spdl_remote_settings_copy (
    SpdlRemoteSettings *self, const SpdlRemoteSettings *other);
void spdl_remote_settings_clear (SpdlRemoteSettings *self);

/* FALSE: @place is none of them. */
gboolean spdl_remote_settings_set (
    SpdlRemoteSettings *self, guint place, const GValue *value);
gboolean spdl_remote_settings_get (
    const SpdlRemoteSettings *self, guint place, GValue *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (
    SpdlRemoteSettings, spdl_remote_settings_clear)

G_END_DECLS
