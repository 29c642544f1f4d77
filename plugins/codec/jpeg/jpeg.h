/* gst-spdl: JPEG decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/codec/resize/planes.h"
#include "plugins/codec/resize/rows.h"

G_BEGIN_DECLS

/* Wrapper of a libjpeg-turbo decompressor with GError reporting. Uses libjpeg's
 * defaults: the accurate IDCT and fancy upsampling. A file is decoded in two
 * steps, so that the caller can allocate memory in between:
 *
 *     spdl_jpeg_read_header ()    returns the size
 *     spdl_jpeg_read_rows ()      decodes all rows from the top
 *     spdl_jpeg_read_planes ()    or decodes to planes
 *
 * Not thread-safe. All errors are GST_STREAM_ERROR_DECODE. */

typedef struct _SpdlJpeg SpdlJpeg;

SpdlJpeg *spdl_jpeg_new (void);
void spdl_jpeg_free (SpdlJpeg *self);

/* Returns whether @data begins with the JPEG signature. */
gboolean spdl_jpeg_is_jpeg (const guint8 *data, gsize size);

/* @data must stay valid until the rows are read. */
gboolean spdl_jpeg_read_header (SpdlJpeg *self, const guint8 *data, gsize size,
    guint *width, guint *height, GError **error);

/* Divides both sides by 1, 2, 4 or 8, rounding up. Call it after the header is
 * read. */
void spdl_jpeg_set_reduction (SpdlJpeg *self, guint by);

/* Decodes all rows to RGB or BGR. Returns FALSE with @error set, possibly after
 * some rows, if the file is corrupt or entropy-coded data is missing. Defects
 * that do not affect pixels are not errors.
 *
 * With @keep, all rows are written even then; missing rows are background. */
gboolean spdl_jpeg_read_rows (
    SpdlJpeg *self, const SpdlRows *rows, gboolean keep, GError **error);

/* Returns whether the file can be decoded to planes: JFIF colors, and chroma at
 * full or half resolution. Call it after the reduction is set. */
gboolean spdl_jpeg_get_sampling (SpdlJpeg *self, SpdlSampling *sampling);

/* Same as spdl_jpeg_read_rows(), to planes. */
gboolean spdl_jpeg_read_planes (
    SpdlJpeg *self, const SpdlPlanes *planes, gboolean keep, GError **error);

G_END_DECLS
