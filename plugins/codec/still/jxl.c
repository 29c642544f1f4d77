/* gst-spdl: JPEG XL decoder, with libjxl
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <jxl/decode.h>

#include "plugins/codec/resize/scratch.h"
#include "plugins/codec/still/stillplugins.h"

/* libjxl keeps all channels of an image in memory, with 4 bytes a sample. */
#define MAX_EXTRA_CHANNELS 16

typedef struct {
  JxlDecoder *decoder; /* of the current file */
  JxlBasicInfo info;

  guint8 *pixels; /* kept between files */
  gsize pixels_size;
} Jxl;

static void
close_file (gpointer decoder)
{
  Jxl *self = decoder;

  g_clear_pointer (&self->decoder, JxlDecoderDestroy);
}

static void
jxl_destroy (gpointer decoder)
{
  Jxl *self = decoder;

  close_file (self);
  g_free (self->pixels);
  g_free (self);
}

static gboolean
set_unsupported (const gchar *what, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
      "JPEG XL with %s is not supported", what);
  return FALSE;
}

static gboolean
set_no_memory (GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory to decode a JPEG XL");
  return FALSE;
}

static gboolean
set_broken (JxlDecoderStatus status, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt JPEG XL: %s",
      status == JXL_DEC_NEED_MORE_INPUT ? "the file ends early"
                                        : "the data is invalid");
  return FALSE;
}

/* Header */

static gboolean
check_channels (const Jxl *self, GError **error)
{
  JxlExtraChannelInfo channel;

  if (self->info.num_extra_channels > MAX_EXTRA_CHANNELS)
    return set_unsupported ("more than 16 extra channels", error);
  for (guint i = 0; i < self->info.num_extra_channels; i++)
    if (JxlDecoderGetExtraChannelInfo (self->decoder, i, &channel) ==
            JXL_DEC_SUCCESS &&
        channel.type == JXL_CHANNEL_BLACK)
      return set_unsupported ("CMYK", error);
  return TRUE;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Jxl *self = decoder;
  JxlDecoderStatus status;

  self->decoder = JxlDecoderCreate (NULL);
  if (!self->decoder)
    return set_no_memory (error);
  JxlDecoderSubscribeEvents (
      self->decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE);
  JxlDecoderSetKeepOrientation (self->decoder, JXL_TRUE);
  JxlDecoderSetInput (self->decoder, data, size);
  JxlDecoderCloseInput (self->decoder);
  status = JxlDecoderProcessInput (self->decoder);
  if (status != JXL_DEC_BASIC_INFO ||
      JxlDecoderGetBasicInfo (self->decoder, &self->info) != JXL_DEC_SUCCESS)
    return set_broken (status, error);
  header->width = self->info.xsize;
  header->height = self->info.ysize;
  header->orientation = self->info.orientation;
  header->depth = self->info.bits_per_sample;
  header->channels =
      self->info.num_color_channels + (self->info.alpha_bits > 0);
  header->has_palette = FALSE;
  return check_channels (self, error);
}

/* Rows */

/* Returns what libjxl writes for @rows. */
static JxlPixelFormat
find_format (const Jxl *self, const SpdlRows *rows)
{
  JxlPixelFormat format = { 1, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0 };

  if (rows->pixels == SPDL_PIXELS_COLOR)
    format.num_channels =
        spdl_rows_count_channels (rows, self->info.alpha_bits > 0);
  else if (rows->pixels == SPDL_PIXELS_GRAY16)
    format.data_type = JXL_TYPE_UINT16;
  return format;
}

/* Undoes libjxl's scaling of samples with less bits than it writes. */
static void
restore_samples (Jxl *self, SpdlPixels pixels)
{
  const gsize n = self->info.xsize * (gsize) self->info.ysize;
  const guint max = (1u << self->info.bits_per_sample) - 1;
  guint16 *wide = (guint16 *) self->pixels;

  if (pixels == SPDL_PIXELS_GRAY16 && max < G_MAXUINT16)
    for (gsize i = 0; i < n; i++)
      wide[i] = (wide[i] * max + G_MAXUINT16 / 2) / G_MAXUINT16;
  if (pixels == SPDL_PIXELS_INDEX && max < G_MAXUINT8)
    for (gsize i = 0; i < n; i++)
      self->pixels[i] = (self->pixels[i] * max + G_MAXUINT8 / 2) / G_MAXUINT8;
}

static void
put_rows (Jxl *self, const SpdlRows *rows, const JxlPixelFormat *format)
{
  const guint pixel_size =
      format->num_channels * (format->data_type == JXL_TYPE_UINT16 ? 2 : 1);
  SpdlAlpha alpha = SPDL_ALPHA_NONE;

  if (rows->pixels != SPDL_PIXELS_COLOR)
    restore_samples (self, rows->pixels);
  else if (self->info.alpha_bits > 0)
    alpha = self->info.alpha_premultiplied ? SPDL_ALPHA_PREMULTIPLIED
                                           : SPDL_ALPHA_STRAIGHT;
  spdl_rows_put_image (rows, self->pixels,
      self->info.xsize * (gsize) pixel_size, pixel_size, alpha);
}

/* Decodes the first frame to self->pixels. */
static JxlDecoderStatus
decode_frame (Jxl *self, const JxlPixelFormat *format, gsize size)
{
  JxlDecoderStatus status = JxlDecoderProcessInput (self->decoder);

  if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER)
    return status;
  status =
      JxlDecoderSetImageOutBuffer (self->decoder, format, self->pixels, size);
  return status == JXL_DEC_SUCCESS ? JxlDecoderProcessInput (self->decoder)
                                   : status;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Jxl *self = decoder;
  const JxlPixelFormat format = find_format (self, rows);
  JxlDecoderStatus status;
  gsize size;

  if (rows->pixels != SPDL_PIXELS_COLOR &&
      self->info.exponent_bits_per_sample > 0)
    return set_unsupported ("samples of floating point", error);
  status = JxlDecoderImageOutBufferSize (self->decoder, &format, &size);
  if (status != JXL_DEC_SUCCESS)
    return set_broken (status, error);
  if (!spdl_scratch_grow (
          (gpointer *) &self->pixels, &self->pixels_size, size, 1))
    return set_no_memory (error);
  status = decode_frame (self, &format, size);
  if (status == JXL_DEC_FULL_IMAGE) {
    put_rows (self, rows, &format);
    return TRUE;
  }
  if (keep && JxlDecoderFlushImage (self->decoder) == JXL_DEC_SUCCESS)
    put_rows (self, rows, &format);
  else if (keep)
    spdl_rows_fill (rows, 0);
  return set_broken (status, error);
}

const SpdlImageDecoder spdl_libjxl_decoder = { "image/jxl", NULL, sizeof (Jxl),
  jxl_destroy, read_header, read_rows, close_file };

SPDL_STILL_PLUGIN (spdljxl, "JPEG XL", spdl_libjxl_decoder)
