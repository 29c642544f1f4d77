/* gst-spdl: a JPEG decompressor that is used again and again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_JPEG_H__
#define __SPDL_JPEG_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* One libjpeg-turbo decompressor with our error handling. Accurate IDCT and
 * fancy upsampling, libjpeg's defaults. A file is decoded in two steps, so that
 * the caller can make room in between:
 *
 *     spdl_jpeg_read_header ()  says the size
 *     spdl_jpeg_read_rows ()    delivers all rows, from the top
 *
 * One thread at a time. All errors are GST_STREAM_ERROR_DECODE, in sentences
 * about "it", the item. */

typedef struct _SpdlJpeg SpdlJpeg;

typedef enum {
  SPDL_JPEG_RGB,
  SPDL_JPEG_BGR,
  SPDL_JPEG_RGBX,
  SPDL_JPEG_BGRX,
} SpdlJpegFormat;

/* Where rows go. @get_row says where row @y is to be written; @rows_done that
 * all rows before @y_end were. */
typedef struct {
  guint8 *(*get_row) (gpointer user_data, guint y);
  void (*rows_done) (gpointer user_data, guint y_end);
  gpointer user_data;
} SpdlJpegRows;

SpdlJpeg *spdl_jpeg_new (void);
void spdl_jpeg_free (SpdlJpeg *self);

/* Whether @data begins as a JPEG does. */
gboolean spdl_jpeg_is_jpeg (const guint8 *data, gsize size);

/* @data must stay until the rows are read. */
gboolean spdl_jpeg_read_header (SpdlJpeg *self, const guint8 *data, gsize size,
    guint *width, guint *height, GError **error);

/* Returns FALSE with @error set, after some rows perhaps, if the file is
 * broken, or if entropy data is missing or wrong; what costs no pixel is no
 * error. */
gboolean spdl_jpeg_read_rows (SpdlJpeg *self, SpdlJpegFormat format,
    const SpdlJpegRows *rows, GError **error);

G_END_DECLS

#endif /* __SPDL_JPEG_H__ */
