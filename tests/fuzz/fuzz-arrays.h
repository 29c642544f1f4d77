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

/* Decodes a file, if it is of @kind, and checks what comes out: tensors as
 * their caps say, aligned, within memory; the same from a worker that was used
 * before, or had no memory for its allocation number @failing (0: it always
 * had). */
void fuzz_arrays_run (
    SpdlArraysKind kind, const guint8 *data, gsize size, guint failing);

G_END_DECLS
