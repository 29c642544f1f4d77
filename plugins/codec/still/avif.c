/* gst-spdl: AVIF decoder, with libavif
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <avif/avif.h>

#include "plugins/codec/common/exif.h"
#include "plugins/codec/resize/scratch.h"
#include "plugins/codec/still/stillplugins.h"

typedef struct {
  avifDecoder *decoder; /* of the current file */
  avifCropRect crop;    /* the clean aperture, which is the image */

  guint8 *pixels; /* kept between files */
  gsize pixels_size;
} Avif;

static void
close_file (gpointer decoder)
{
  Avif *self = decoder;

  g_clear_pointer (&self->decoder, avifDecoderDestroy);
}

static void
avif_destroy (gpointer decoder)
{
  Avif *self = decoder;

  close_file (self);
  g_free (self->pixels);
  g_free (self);
}

static gboolean
set_unsupported (const gchar *what, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
      "AVIF is not supported: %s", what);
  return FALSE;
}

static gboolean
set_no_memory (GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory to decode an AVIF");
  return FALSE;
}

static gboolean
set_failed (avifResult result, GError **error)
{
  switch (result) {
    case AVIF_RESULT_OUT_OF_MEMORY:
      return set_no_memory (error);
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
      return set_unsupported (avifResultToString (result), error);
    default:
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
          "Corrupt AVIF: %s",
          result == AVIF_RESULT_TRUNCATED_DATA ? "the file ends early"
                                               : avifResultToString (result));
      return FALSE;
  }
}

/* Header */

static guint
find_orientation (const avifImage *image)
{
  const gboolean turns = image->transformFlags & AVIF_TRANSFORM_IROT;
  const gboolean mirrors = image->transformFlags & AVIF_TRANSFORM_IMIR;
#if AVIF_VERSION_MAJOR >= 1
  const gint axis = image->imir.axis;
#else
  const gint axis = image->imir.mode;
#endif

  return spdl_exif_find_turn (
      turns ? image->irot.angle : 0, mirrors ? axis : -1);
}

static gboolean
find_crop (Avif *self, GError **error)
{
  const avifImage *image = self->decoder->image;
  avifDiagnostics why;

  self->crop = (avifCropRect){ 0, 0, image->width, image->height };
  if (!(image->transformFlags & AVIF_TRANSFORM_CLAP) ||
      avifCropRectConvertCleanApertureBox (&self->crop, &image->clap,
          image->width, image->height, image->yuvFormat, &why))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt AVIF: the clean aperture is invalid");
  return FALSE;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Avif *self = decoder;
  const avifImage *image;
  avifResult result;

  self->decoder = avifDecoderCreate ();
  if (!self->decoder)
    return set_no_memory (error);
  /* Its orientation must be ignored: that of the container counts. */
  self->decoder->ignoreExif = AVIF_TRUE;
  self->decoder->ignoreXMP = AVIF_TRUE;
  /* Some encoders do not write the number of bits into the container. */
  self->decoder->strictFlags &= ~AVIF_STRICT_PIXI_REQUIRED;
  result = avifDecoderSetIOMemory (self->decoder, data, size);
  if (result == AVIF_RESULT_OK)
    result = avifDecoderParse (self->decoder);
  if (result != AVIF_RESULT_OK)
    return set_failed (result, error);
  image = self->decoder->image;
  header->orientation = find_orientation (image);
  header->depth = image->depth;
  header->channels = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3;
  header->channels += self->decoder->alphaPresent;
  header->has_palette = FALSE;
  if (!find_crop (self, error))
    return FALSE;
  /* The caller rejects an image with more pixels, also if it is cropped. */
  if (image->width * (guint64) image->height > max_pixels)
    self->crop = (avifCropRect){ 0, 0, image->width, image->height };
  header->width = self->crop.width;
  header->height = self->crop.height;
  /* Of the AV1 decoder, whose stream may declare another size. */
  self->decoder->imageSizeLimit =
      MIN (max_pixels, self->decoder->imageSizeLimit);
  return TRUE;
}

/* Rows */

static gboolean
put_colors (Avif *self, const SpdlRows *rows, GError **error)
{
  const avifImage *image = self->decoder->image;
  const guint n_channels =
      spdl_rows_count_channels (rows, self->decoder->alphaPresent);
  SpdlAlpha alpha = SPDL_ALPHA_NONE;
  avifRGBImage rgb;
  avifResult result;

  avifRGBImageSetDefaults (&rgb, image);
  rgb.depth = 8;
  /* libyuv cuts off bits where libavif rounds. */
  rgb.avoidLibYUV = image->depth > 8;
  rgb.format = n_channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
  rgb.alphaPremultiplied = image->alphaPremultiplied;
  rgb.rowBytes = image->width * n_channels;
  if (!spdl_scratch_grow ((gpointer *) &self->pixels, &self->pixels_size,
          (gsize) rgb.rowBytes * image->height, 1))
    return set_no_memory (error);
  rgb.pixels = self->pixels;
  result = avifImageYUVToRGB (image, &rgb);
  if (result != AVIF_RESULT_OK)
    return set_failed (result, error);
  if (self->decoder->alphaPresent)
    alpha = image->alphaPremultiplied ? SPDL_ALPHA_PREMULTIPLIED
                                      : SPDL_ALPHA_STRAIGHT;
  spdl_rows_put_image (rows,
      rgb.pixels + self->crop.y * (gsize) rgb.rowBytes +
          self->crop.x * (gsize) n_channels,
      rgb.rowBytes, n_channels, alpha);
  return TRUE;
}

/* Writes the samples of a gray image as they are stored. */
static gboolean
put_samples (Avif *self, const SpdlRows *rows, GError **error)
{
  const avifImage *image = self->decoder->image;
  const gsize size = image->depth > 8 ? 2 : 1;

  if (image->yuvRange != AVIF_RANGE_FULL)
    return set_unsupported ("its gray has not the full range, so the stored "
                            "samples are not the values",
        error);
  spdl_rows_put_image (rows,
      image->yuvPlanes[0] + self->crop.y * (gsize) image->yuvRowBytes[0] +
          self->crop.x * size,
      image->yuvRowBytes[0], size, SPDL_ALPHA_NONE);
  return TRUE;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Avif *self = decoder;
  const avifResult result = avifDecoderNextImage (self->decoder);

  if (result == AVIF_RESULT_OK)
    return rows->pixels == SPDL_PIXELS_COLOR ? put_colors (self, rows, error)
                                             : put_samples (self, rows, error);
  if (keep)
    spdl_rows_fill (rows, 0);
  return set_failed (result, error);
}

const SpdlImageDecoder spdl_libavif_decoder = { "image/avif", NULL,
  sizeof (Avif), avif_destroy, read_header, read_rows, close_file };

SPDL_STILL_PLUGIN (spdlavif, "AVIF", spdl_libavif_decoder)
