/* gst-spdl: array files for fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/array/arrays.h"
#include "tests/fuzz/fuzz.h"

G_BEGIN_DECLS

/* Decodes a file of @kind and checks the result: tensors match their caps, are
 * aligned and in bounds. Checks that the result is the same from a decoder that
 * was used before, or whose allocation number @failing failed (0: none). */
void fuzz_arrays_run (
    SpdlArraysKind kind, const guint8 *data, gsize size, guint failing);

G_END_DECLS
