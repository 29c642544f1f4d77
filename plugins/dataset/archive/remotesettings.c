/* gst-spdl: settings of requests for shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/remotesettings.h"

void
spdl_remote_settings_init (SpdlRemoteSettings *self)
{
  *self = (SpdlRemoteSettings){
    .user_agent = g_strdup (SPDL_REMOTE_USER_AGENT),
    .timeout = SPDL_REMOTE_TIMEOUT,
    .retries = SPDL_REMOTE_RETRIES,
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
