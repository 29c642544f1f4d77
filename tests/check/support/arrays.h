/* gst-spdl: files of arrays for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* An NPY file of @version 1 to 3, its data aligned as NumPy does it.
 *
 * @descr: the type as Python text: "'<f4'"
 * @shape: "(3, 4)" */
GBytes *arrays_make_npy (guint version, const gchar *descr, gboolean fortran,
    const gchar *shape, gconstpointer data, gsize size);

/* With a header that is no more than that text. */
GBytes *
arrays_make_npy_of (const gchar *header, gconstpointer data, gsize size);

typedef enum {
  ARRAYS_STORED = 0,
  ARRAYS_DEFLATED = 1 << 0,
  ARRAYS_ZIP64 = 1 << 1, /* sizes and places in 64 bits */
} ArraysFlags;

/* A ZIP archive; then the members' names, each with its GBytes (transfer full),
 * and NULL. */
GBytes *arrays_make_zip (ArraysFlags flags, ...) G_GNUC_NULL_TERMINATED;

/* Without zlib's own header and sum. */
GByteArray *arrays_deflate (GBytes *bytes);

/* A safetensors file with that header, in which ' stands for ", and blanks up
 * to a multiple of 8 bytes. */
GBytes *
arrays_make_safetensors (const gchar *header, gconstpointer data, gsize size);

/* A copy in which, behind the last place where @mark is (@mark_size bytes), at
 * @offset from it, the @size bytes are those of @value, little-endian. */
GBytes *arrays_patch (GBytes *file, gconstpointer mark, gsize mark_size,
    gsize offset, gsize size, guint64 value);

G_END_DECLS
