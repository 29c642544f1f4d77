/* gst-spdl: properties that are arrays of numbers or strings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Makes a property that is a GstValueArray of strings: gst-launch knows no way
 * to write a GStrv. */
SPDL_PRIVATE_API
GParamSpec *gst_spdl_names_param_spec (const gchar *name, const gchar *nick,
    const gchar *blurb, GParamFlags flags);

/* Returns: (transfer full) (nullable): the elements of a GstValueArray as
 * strings, since <1,2> is read as numbers; NULL: there are none */
SPDL_PRIVATE_API
GStrv gst_spdl_names_dup (const GValue *array);

/* Appends @names, nullable, to the GstValueArray @array. */
SPDL_PRIVATE_API
void gst_spdl_names_set (GValue *array, const gchar *const *names);

/* Those elements of the GstValueArray @array that are numbers, of any type, go
 * to @numbers, @max at most. Returns how many. */
SPDL_PRIVATE_API
guint gst_spdl_numbers_get (const GValue *array, double *numbers, guint max);

/* Appends @n numbers to the GstValueArray @array. */
SPDL_PRIVATE_API
void gst_spdl_numbers_put (GValue *array, const double *numbers, guint n);

G_END_DECLS
