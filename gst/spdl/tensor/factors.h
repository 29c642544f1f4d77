/* gst-spdl: mean and std of each channel
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <math.h>

G_BEGIN_DECLS

/* Checks that the number of factors is zero, one, or the number of channels of
 * @items, and that values can be scaled by them. */
static inline gboolean
gst_spdl_factors_check (const gchar *items, const gchar *property,
    const double *values, guint n, guint n_channels, gboolean must_not_be_zero,
    GError **error)
{
  if (n > 1 && n != n_channels) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "%s has %u values, but the %s have %u channels: set one value per "
        "channel, or one for all",
        property, n, items, n_channels);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    if (isfinite (values[i]) && (values[i] != 0.0 || !must_not_be_zero))
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "%s has the value %g, which cannot be used as a factor", property,
        values[i]);
    return FALSE;
  }
  return TRUE;
}

/* Returns the factor of @channel, or @otherwise if there are no factors. */
static inline double
gst_spdl_factors_get (
    const double *values, guint n, guint channel, double otherwise)
{
  return n == 0 ? otherwise : values[n == 1 ? 0 : channel];
}

G_END_DECLS
