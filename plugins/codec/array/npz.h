/* gst-spdl: the arrays of an NPZ file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/arrays.h"

G_BEGIN_DECLS

/* A ZIP archive of NPY files, stored or deflated, each named as its array with
 * `.npy` behind it. Their checksums are verified. */

/* Adds the arrays of @in to @arrays; FALSE with @error set. */
gboolean spdl_npz_read (SpdlArrays *arrays, const GstMapInfo *in,
    guint64 max_decompressed_bytes, GError **error);

G_END_DECLS
