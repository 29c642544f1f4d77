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

static const gchar *
find_variable (const gchar *const *names)
{
  for (; *names; names++) {
    const gchar *value = g_getenv (*names);

    if (value && *value)
      return value;
  }
  return "";
}

gchar *
spdl_store_settings_dup_store (const SpdlStoreSettings *self, const gchar *uri)
{
  static const gchar *const s3[] = { "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
    NULL };
  static const gchar *const profile[] = { "AWS_PROFILE", NULL };
  static const gchar *const gs[] = { "STORAGE_EMULATOR_HOST", NULL };
  static const gchar *const hf[] = { "HF_ENDPOINT", NULL };

  switch (g_ascii_tolower (*uri)) {
    case 's':
      return g_strdup_printf ("%s\n%s",
          self->endpoint ? self->endpoint : find_variable (s3),
          self->profile ? self->profile : find_variable (profile));
    case 'g':
      return g_strdup (find_variable (gs));
    default:
      return g_strdup (find_variable (hf));
  }
}
