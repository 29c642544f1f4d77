/* gst-spdl: WebP decoder, with libwebp
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "plugins/codec/common/exif.h"
#include "plugins/codec/resize/scratch.h"
#include "plugins/codec/still/imagedecoder.h"

/* Margin around a part that is decoded alone: chroma is interpolated across its
 * edges. */
#define MARGIN 2

typedef struct {
  /* The current file. Only the first frame of an animation is decoded. */
  WebPDemuxer *demuxer;
  WebPIterator frame;

  guint8 *pixels; /* kept between files */
  gsize pixels_size;
} Webp;

/* Part of a frame to decode. */
typedef struct {
  guint x, y, width, height;
} Part;

static gboolean
webp_accepts (const guint8 *data, gsize size)
{
  return size >= 12 && memcmp (data, "RIFF", 4) == 0 &&
         memcmp (data + 8, "WEBP", 4) == 0;
}

static void
close_file (gpointer decoder)
{
  Webp *self = decoder;

  WebPDemuxReleaseIterator (&self->frame);
  g_clear_pointer (&self->demuxer, WebPDemuxDelete);
}

static void
webp_destroy (gpointer decoder)
{
  Webp *self = decoder;

  close_file (self);
  g_free (self->pixels);
  g_free (self);
}

static gboolean
set_broken (const gchar *why, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt WebP: %s", why);
  return FALSE;
}

static gboolean
set_failed (VP8StatusCode status, GError **error)
{
  if (status != VP8_STATUS_OUT_OF_MEMORY)
    return set_broken (
        status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED
            ? "the file ends early"
            : "the data is invalid",
        error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory to decode a WebP");
  return FALSE;
}

static guint
find_orientation (const WebPDemuxer *demuxer)
{
  WebPChunkIterator chunk;
  guint orientation = 1;

  if (WebPDemuxGetChunk (demuxer, "EXIF", 1, &chunk)) {
    orientation =
        spdl_exif_get_orientation (chunk.chunk.bytes, chunk.chunk.size);
    WebPDemuxReleaseChunkIterator (&chunk);
  }
  return orientation;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  const WebPData file = { data, size };
  Webp *self = decoder;
  WebPDemuxState state;

  self->demuxer = WebPDemuxPartial (&file, &state);
  if (!self->demuxer || !WebPDemuxGetFrame (self->demuxer, 1, &self->frame))
    return set_broken (state == WEBP_DEMUX_PARSE_ERROR
                           ? "the chunks are invalid"
                           : "the file ends within its first image",
        error);
  header->width = WebPDemuxGetI (self->demuxer, WEBP_FF_CANVAS_WIDTH);
  header->height = WebPDemuxGetI (self->demuxer, WEBP_FF_CANVAS_HEIGHT);
  header->orientation = find_orientation (self->demuxer);
  header->depth = 8;
  header->channels = 3;
  header->has_palette = FALSE;
  return TRUE;
}

/* Rows */

/* Returns the part of the frame that @rows needs. libwebp crops at even
 * coordinates. */
static Part
find_part (const Webp *self, const SpdlRows *rows)
{
  const guint left = MAX (rows->x_begin, MARGIN) - MARGIN;
  const guint top = MAX (rows->y_begin, MARGIN) - MARGIN;
  Part part = { 0, 0, self->frame.width, self->frame.height };

  /* A frame of an animation may have any offset and size. */
  if (part.width != rows->width || part.height != rows->height)
    return part;
  part.x = left & ~1;
  part.y = top & ~1;
  part.width = MIN (rows->x_end + MARGIN, rows->width) - part.x;
  part.height = MIN (rows->y_end + MARGIN, rows->height) - part.y;
  return part;
}

static WEBP_CSP_MODE
find_mode (const Webp *self, const SpdlRows *rows)
{
  if (self->frame.has_alpha)
    return MODE_RGBA;
  if (rows->pixel_size == 4)
    return rows->bgr ? MODE_BGRA : MODE_RGBA;
  return rows->bgr ? MODE_BGR : MODE_RGB;
}

/* Configures libwebp to write @part to self->pixels. Returns FALSE if memory
 * cannot be allocated. */
static gboolean
configure_decoder (Webp *self, const SpdlRows *rows, const Part *part,
    WebPDecoderConfig *config)
{
  WebPRGBABuffer *to = &config->output.u.RGBA;

  WebPInitDecoderConfig (config);
  config->output.colorspace = find_mode (self, rows);
  config->output.is_external_memory = TRUE;
  to->stride =
      part->width * (self->frame.has_alpha || rows->pixel_size == 4 ? 4 : 3);
  to->size = (gsize) to->stride * part->height;
  config->options.use_cropping = part->width < (guint) self->frame.width ||
                                 part->height < (guint) self->frame.height;
  config->options.crop_left = part->x;
  config->options.crop_top = part->y;
  config->options.crop_width = part->width;
  config->options.crop_height = part->height;
  if (!spdl_scratch_grow (
          (gpointer *) &self->pixels, &self->pixels_size, to->size, 1))
    return FALSE;
  to->rgba = self->pixels;
  return self->pixels != NULL;
}

/* Writes the first @n rows of @part to their place, and background everywhere
 * else. */
static void
put_part (const Webp *self, const SpdlRows *rows, const Part *part, guint n,
    const WebPRGBABuffer *from)
{
  const guint left = self->frame.x_offset + part->x;
  const guint top = self->frame.y_offset + part->y;
  const gboolean is_whole = (guint) self->frame.width == rows->width;

  for (guint y = is_whole ? rows->y_begin : 0; y < rows->y_end; y++) {
    const guint8 *row = from->rgba + (gsize) (y - top) * from->stride;
    guint8 *to = rows->get_row (rows->user_data, y);

    if (!is_whole || y < top || y - top >= n)
      spdl_rows_fill_row (rows, to);
    if (y >= top && y - top < n) {
      to += left * (gsize) rows->pixel_size;
      if (self->frame.has_alpha)
        spdl_rows_put_rgba (rows, to, row, part->width, SPDL_ALPHA_STRAIGHT);
      else
        memcpy (to, row, part->width * (gsize) rows->pixel_size);
    }
    rows->rows_done (rows->user_data, y + 1);
  }
}

/* Writes the decodable part of a corrupt frame. */
static void
keep_rows (Webp *self, const SpdlRows *rows)
{
  const Part part = { 0, 0, self->frame.width, self->frame.height };
  WebPDecoderConfig config;
  WebPIDecoder *decoder;
  gint n = 0;

  if (!configure_decoder (self, rows, &part, &config))
    return spdl_rows_fill (rows, 0);
  decoder = WebPIDecode (NULL, 0, &config);
  if (decoder) {
    WebPIUpdate (
        decoder, self->frame.fragment.bytes, self->frame.fragment.size);
    if (!WebPIDecGetRGB (decoder, &n, NULL, NULL, NULL))
      n = 0;
    WebPIDelete (decoder);
  }
  put_part (self, rows, &part, n, &config.output.u.RGBA);
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Webp *self = decoder;
  const Part part = find_part (self, rows);
  VP8StatusCode status = VP8_STATUS_OUT_OF_MEMORY;
  WebPDecoderConfig config;

  if (!self->frame.complete)
    status = VP8_STATUS_NOT_ENOUGH_DATA;
  else if (configure_decoder (self, rows, &part, &config))
    status = WebPDecode (
        self->frame.fragment.bytes, self->frame.fragment.size, &config);
  if (status == VP8_STATUS_OK) {
    put_part (self, rows, &part, part.height, &config.output.u.RGBA);
    return TRUE;
  }
  if (keep)
    keep_rows (self, rows);
  return set_failed (status, error);
}

const SpdlImageDecoder spdl_webp_decoder = { "image/webp", webp_accepts,
  sizeof (Webp), webp_destroy, read_header, read_rows, close_file };
