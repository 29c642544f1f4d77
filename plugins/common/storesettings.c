/* gst-spdl: settings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/storesettings.h"

void
spdl_store_settings_clear (SpdlStoreSettings *self)
{
  g_clear_pointer (&self->endpoint, g_free);
  g_clear_pointer (&self->region, g_free);
  g_clear_pointer (&self->profile, g_free);
  g_clear_pointer (&self->addressing, g_free);
}

/* Returns @setting, or the first of two variables with a value. */
static const gchar *
find_text (const gchar *setting, const gchar *variable, const gchar *other)
{
  const gchar *texts[] = { setting, g_getenv (variable),
    other ? g_getenv (other) : NULL };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i] && *texts[i])
      return texts[i];
  return NULL;
}

const gchar *
spdl_store_settings_find_endpoint (
    const SpdlStoreSettings *self, const gchar *uri)
{
  switch (g_ascii_tolower (*uri)) {
    case 's':
      return find_text (
          self->endpoint, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    case 'g':
      return find_text (NULL, "STORAGE_EMULATOR_HOST", NULL);
    default:
      return find_text (NULL, "HF_ENDPOINT", NULL);
  }
}

gchar *
spdl_store_settings_dup_store (const SpdlStoreSettings *self, const gchar *uri)
{
  const gchar *endpoint = spdl_store_settings_find_endpoint (self, uri);
  const gchar *profile = find_text (self->profile, "AWS_PROFILE", NULL);
  const gchar *ignores = g_getenv ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
  const gboolean ignored = ignores && g_ascii_strcasecmp (ignores, "true") == 0;

  if (g_ascii_tolower (*uri) != 's')
    return g_strdup (endpoint ? endpoint : "");
  return g_strdup_printf ("%s\n%s%s", endpoint ? endpoint : "",
      profile ? profile : "", ignored ? "\nignored" : "");
}
