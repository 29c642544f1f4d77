/* gst-spdl: the arrays of a safetensors file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/arrays.h"

G_BEGIN_DECLS

/* A header in JSON that says what there is and where, and the data behind it,
 * of which every byte belongs to one array. */

gboolean spdl_safetensors_is_safetensors (const guint8 *data, gsize size);

/* Adds the arrays of @in to @arrays, in the order in which they lie there;
 * FALSE with @error set. */
gboolean spdl_safetensors_read (
    SpdlArrays *arrays, const GstMapInfo *in, GError **error);

G_END_DECLS
