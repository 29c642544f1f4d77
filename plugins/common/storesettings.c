/* gst-spdl: settings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/storesettings.h"

void
spdl_store_settings_copy (
    SpdlStoreSettings *self, const SpdlStoreSettings *other)
{
  self->endpoint = g_strdup (other->endpoint);
  self->region = g_strdup (other->region);
  self->profile = g_strdup (other->profile);
  self->addressing = g_strdup (other->addressing);
  self->anonymous = other->anonymous;
}

void
spdl_store_settings_clear (SpdlStoreSettings *self)
{
  g_clear_pointer (&self->endpoint, g_free);
  g_clear_pointer (&self->region, g_free);
  g_clear_pointer (&self->profile, g_free);
  g_clear_pointer (&self->addressing, g_free);
}
