/* gst-spdl: properties that are arrays of numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdlnumbers.h"

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
