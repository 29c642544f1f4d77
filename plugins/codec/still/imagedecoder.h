/* gst-spdl: interface of the decoders of image formats
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/codec/resize/rows.h"

G_BEGIN_DECLS

/* What an image's header says. */
typedef struct {
  guint width; /* of the image as it is stored */
  guint height;
  guint orientation; /* EXIF's, 1 to 8 */
} SpdlImageHeader;

/* A decoder is used for one file after the other, by one thread at a time, in
 * two steps, so that the caller can make room in between:
 *
 *     read_header ()  says the size
 *     read_rows ()    delivers all rows, from the top
 *     close ()        frees what the file took, at any time
 *
 * Errors are sentences about "it", the item. */
typedef struct {
  const gchar *type; /* media type */

  /* Whether @data, of at least 12 bytes, begins as a file of this format. */
  gboolean (*accepts) (const guint8 *data, gsize size);

  gpointer (*create) (void);
  void (*destroy) (gpointer decoder);

  /* @data must stay until the file is closed. @max_pixels bounds the memory
   * that the decoder takes; the caller checks the size against it. */
  gboolean (*read_header) (gpointer decoder, const guint8 *data, gsize size,
      guint64 max_pixels, SpdlImageHeader *header, GError **error);

  /* FALSE with @error set, after some rows perhaps, if the file is broken or
   * ends early. With @keep, all rows are written even then: those that are not
   * there are background. */
  gboolean (*read_rows) (
      gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error);

  void (*close) (gpointer decoder);
} SpdlImageDecoder;

extern const SpdlImageDecoder spdl_gif_decoder;
extern const SpdlImageDecoder spdl_jp2_decoder;
extern const SpdlImageDecoder spdl_png_decoder;
extern const SpdlImageDecoder spdl_tiff_decoder;
extern const SpdlImageDecoder spdl_webp_decoder;

G_END_DECLS
