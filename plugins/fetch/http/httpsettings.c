/* gst-spdl: how servers are asked
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/http.h"

void
spdl_http_settings_copy (SpdlHttpSettings *self, const SpdlHttpSettings *other)
{
  *self = *other;
  self->user_agent = g_strdup (other->user_agent);
  self->tls_ca_file = g_strdup (other->tls_ca_file);
  self->trusted_origins = g_strdup (other->trusted_origins);
  self->extra_headers =
      other->extra_headers ? gst_structure_copy (other->extra_headers) : NULL;
}

void
spdl_http_settings_clear (SpdlHttpSettings *self)
{
  g_clear_pointer (&self->user_agent, g_free);
  g_clear_pointer (&self->tls_ca_file, g_free);
  g_clear_pointer (&self->trusted_origins, g_free);
  g_clear_pointer (&self->extra_headers, gst_structure_free);
}
