/* gst-spdl: properties that are arrays of numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Those elements of the GstValueArray @array that are numbers, of any type, go
 * to @numbers, @max at most. Returns how many. */
SPDL_PRIVATE_API
guint gst_spdl_numbers_get (const GValue *array, double *numbers, guint max);

/* Appends @n numbers to the GstValueArray @array. */
SPDL_PRIVATE_API
void gst_spdl_numbers_put (GValue *array, const double *numbers, guint n);

/* The properties mean and std, a number for each channel. */
SPDL_PRIVATE_API
void gst_spdl_numbers_install_factors (
    GObjectClass *klass, guint mean_id, guint std_id, GParamFlags flags);

G_END_DECLS
