/* gst-spdl: array files for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes an NPY file of @version 1 to 3, with data aligned as by NumPy.
 * @descr: type as a Python literal: "'<f4'"
 * @shape: "(3, 4)" */
GBytes *arrays_make_npy (guint version, const gchar *descr, gboolean fortran,
    const gchar *shape, gconstpointer data, gsize size);

/* Makes an NPY file with exactly this header text. */
GBytes *
arrays_make_npy_of (const gchar *header, gconstpointer data, gsize size);

typedef enum {
  ARRAYS_STORED = 0,
  ARRAYS_DEFLATED = 1 << 0,
  ARRAYS_ZIP64 = 1 << 1, /* 64-bit sizes and offsets */
} ArraysFlags;

/* Makes a ZIP archive. The arguments are member names, each followed by a
 * GBytes (transfer full), and NULL. */
GBytes *arrays_make_zip (ArraysFlags flags, ...) G_GNUC_NULL_TERMINATED;

/* Returns raw deflate data, without zlib's header and checksum. */
GByteArray *arrays_deflate (GBytes *bytes);

/* Makes a safetensors file with this header, in which ' stands for ", padded
 * with blanks to a multiple of 8 bytes. */
GBytes *
arrays_make_safetensors (const gchar *header, gconstpointer data, gsize size);

/* Returns a copy of @file in which @size bytes, at @offset from the last
 * occurrence of @mark (@mark_size bytes), are replaced by @value,
 * little-endian. */
GBytes *arrays_patch (GBytes *file, gconstpointer mark, gsize mark_size,
    gsize offset, gsize size, guint64 value);

G_END_DECLS
