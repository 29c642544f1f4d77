/* gst-spdl: interface of the image format decoders
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/codec/resize/rows.h"

G_BEGIN_DECLS

/* Properties from an image's header. */
typedef struct {
  guint width; /* of the image as stored */
  guint height;
  guint orientation;    /* EXIF orientation, 1 to 8 */
  guint depth;          /* bits per sample */
  guint channels;       /* 1 with a palette; 0: unknown, as it is corrupt */
  gboolean has_palette; /* whose colors are not the indices as gray */
} SpdlImageHeader;

/* Interface of an image decoder. One decoder decodes one file after another,
 * from one thread at a time. A file is decoded in two steps, so that the caller
 * can allocate memory in between:
 *
 *     read_header ()  returns the size
 *     read_rows ()    decodes all rows from the top
 *     close ()        frees the resources of the file; valid at any time */
typedef struct {
  const gchar *type; /* media type */

  /* Returns whether @data begins with the signature of this format. NULL: it
   * has none, so it is only known from the caps, or it is not needed. */
  gboolean (*accepts) (const guint8 *data, gsize size);

  gsize size; /* of the decoder, which begins as zeros */
  void (*destroy) (gpointer decoder);

  /* @data must stay valid until the file is closed. @max_pixels limits the
   * decoder's memory; the caller checks the size against it. */
  gboolean (*read_header) (gpointer decoder, const guint8 *data, gsize size,
      guint64 max_pixels, SpdlImageHeader *header, GError **error);

  /* Formats whose header may declare one channel also write rows of
   * SPDL_PIXELS_INDEX, if it has at most 8 bits, and of SPDL_PIXELS_GRAY16.
   *
   * Returns FALSE with @error set, possibly after some rows, if the file is
   * corrupt or truncated. With @keep, all rows are written even then; missing
   * rows are background. */
  gboolean (*read_rows) (
      gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error);

  void (*close) (gpointer decoder);
} SpdlImageDecoder;

extern const SpdlImageDecoder spdl_avif_decoder;
extern const SpdlImageDecoder spdl_bmp_decoder;
extern const SpdlImageDecoder spdl_exr_decoder;
extern const SpdlImageDecoder spdl_gif_decoder;
extern const SpdlImageDecoder spdl_heif_decoder;
extern const SpdlImageDecoder spdl_jp2_decoder;
extern const SpdlImageDecoder spdl_jxl_decoder;
extern const SpdlImageDecoder spdl_pcx_decoder;
extern const SpdlImageDecoder spdl_png_decoder;
extern const SpdlImageDecoder spdl_pnm_decoder;
extern const SpdlImageDecoder spdl_sgi_decoder;
extern const SpdlImageDecoder spdl_sun_decoder;
extern const SpdlImageDecoder spdl_tga_decoder;
extern const SpdlImageDecoder spdl_tiff_decoder;
extern const SpdlImageDecoder spdl_webp_decoder;

G_END_DECLS
