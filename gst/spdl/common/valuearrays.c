/* gst-spdl: properties that are arrays of numbers or strings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/valuearrays.h"

/* Strings */

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

guint
gst_spdl_numbers_get (const GValue *array, double *numbers, guint max)
{
  const guint n = MIN (gst_value_array_get_size (array), max);
  guint n_numbers = 0;

  for (guint i = 0; i < n; i++) {
    GValue number = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    if (g_value_transform (gst_value_array_get_value (array, i), &number))
      numbers[n_numbers++] = g_value_get_double (&number);
    g_value_unset (&number);
  }
  return n_numbers;
}

void
gst_spdl_numbers_put (GValue *array, const double *numbers, guint n)
{
  for (guint i = 0; i < n; i++) {
    GValue number = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_set_double (&number, numbers[i]);
    gst_value_array_append_and_take_value (array, &number);
  }
}
