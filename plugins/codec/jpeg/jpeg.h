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

/* One libjpeg-turbo decompressor with our error handling. Accurate IDCT and
 * fancy upsampling, libjpeg's defaults. A file is decoded in two steps, so that
 * the caller can make room in between:
 *
 *     spdl_jpeg_read_header ()  says the size
 *     spdl_jpeg_read_rows ()    delivers all rows, from the top
 *  or spdl_jpeg_read_planes ()  those of its planes
 *
 * One thread at a time. All errors are GST_STREAM_ERROR_DECODE, in sentences
 * about "it", the item. */

typedef struct _SpdlJpeg SpdlJpeg;

SpdlJpeg *spdl_jpeg_new (void);
void spdl_jpeg_free (SpdlJpeg *self);

/* Whether @data begins as a JPEG does. */
gboolean spdl_jpeg_is_jpeg (const guint8 *data, gsize size);

/* @data must stay until the rows are read. */
gboolean spdl_jpeg_read_header (SpdlJpeg *self, const guint8 *data, gsize size,
    guint *width, guint *height, GError **error);

/* Divides both sides by 1, 2, 4 or 8, rounding up; once the header is read. */
void spdl_jpeg_set_reduction (SpdlJpeg *self, guint by);

/* Reads all rows, in RGB or BGR whatever the file has. Returns FALSE with
 * @error set, after some rows perhaps, if the file is broken, or if entropy
 * data is missing or wrong; what costs no pixel is no error.
 *
 * With @keep, all rows are written even then: those that are not there are
 * background. */
gboolean spdl_jpeg_read_rows (
    SpdlJpeg *self, const SpdlRows *rows, gboolean keep, GError **error);

/* Whether it may be read as planes; once the reduction is set. Only colours as
 * JFIF has them, and chroma of full or half resolution. */
gboolean spdl_jpeg_get_sampling (SpdlJpeg *self, SpdlSampling *sampling);

/* The same, as planes. */
gboolean spdl_jpeg_read_planes (
    SpdlJpeg *self, const SpdlPlanes *planes, gboolean keep, GError **error);

G_END_DECLS
