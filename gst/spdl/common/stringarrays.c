/* gst-spdl: properties that are arrays of names
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/stringarrays.h"

GParamSpec *
gst_spdl_names_param_spec (
    const gchar *name, const gchar *nick, const gchar *blurb, GParamFlags flags)
{
  return gst_param_spec_array (name, nick, blurb,
      g_param_spec_string (name, nick, "A name", NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
      flags);
}

GStrv
gst_spdl_names_dup (const GValue *array)
{
  const guint n = gst_value_array_get_size (array);
  GStrv names = n > 0 ? g_new0 (gchar *, n + 1) : NULL;

  for (guint i = 0; i < n; i++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_transform (gst_value_array_get_value (array, i), &name);
    names[i] = g_value_dup_string (&name);
    if (!names[i])
      names[i] = g_strdup ("");
    g_value_unset (&name);
  }
  return names;
}

void
gst_spdl_names_set (GValue *array, const gchar *const *names)
{
  for (guint i = 0; names && names[i]; i++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_set_string (&name, names[i]);
    gst_value_array_append_and_take_value (array, &name);
  }
}
