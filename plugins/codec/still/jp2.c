/* gst-spdl: JPEG 2000 decoder, with OpenJPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <openjpeg.h>
#include <stdio.h>
#include <string.h>

#include "plugins/codec/result/decodeconfig.h"
#include "plugins/codec/resize/scratch.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/common/bytes.h"

#define MARKER_SOT 0xff90
#define MARKER_EOC 0xffd9

#define MAX_CHANNELS 4
/* OpenJPEG allocates 10 KB per tile, as much as the pixels of a tile of this
 * size take. */
#define MIN_TILE_PIXELS 1024
#define MAX_SMALL_TILES 4096

/* Upper bounds on the bytes per sample in a tile part, and on its other
 * data. */
#define MAX_BYTES 8
#define MAX_TILE_HEADER 65536

#define STREAM_BUFFER 65536
#define N_RGBA 4

typedef struct {
  /* The current file. */
  const guint8 *data;
  gsize size;
  gsize at;
  const guint8 *codestream;
  gsize codestream_size;
  guint width, height;
  gboolean is_signed;
  SpdlPixels pixels;
  guint64 n_tiles;
  opj_image_t *image;

  gchar message[256]; /* the first error */
  gboolean no_memory;

  guint8 *row; /* RGBA; kept between files */
  gsize row_size;
} Jp2;

/* OpenJPEG callbacks */

static void
on_error (const char *message, void *user_data)
{
  Jp2 *self = user_data;

  if (!*self->message) {
    g_strlcpy (self->message, message, sizeof self->message);
    g_strchomp (self->message);
  }
  if (strstr (message, "memory"))
    self->no_memory = TRUE;
}

static void
on_message (const char *message, void *user_data)
{
}

static OPJ_SIZE_T
read_data (void *to, OPJ_SIZE_T n, void *user_data)
{
  Jp2 *self = user_data;
  const gsize length = MIN (n, self->size - self->at);

  if (length == 0)
    return (OPJ_SIZE_T) -1;
  memcpy (to, self->data + self->at, length);
  self->at += length;
  return length;
}

static OPJ_OFF_T
skip_data (OPJ_OFF_T n, void *user_data)
{
  Jp2 *self = user_data;

  if (n < 0 || (guint64) n > self->size - self->at)
    return -1;
  self->at += n;
  return n;
}

static OPJ_BOOL
seek_data (OPJ_OFF_T at, void *user_data)
{
  Jp2 *self = user_data;

  if (at < 0 || (guint64) at > self->size)
    return OPJ_FALSE;
  self->at = at;
  return OPJ_TRUE;
}

/* One file */

static gboolean
set_broken (const gchar *why, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt JPEG 2000: %s", why);
  return FALSE;
}

static gboolean
set_unsupported (const gchar *what, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
      "JPEG 2000 with %s is not supported", what);
  return FALSE;
}

static gboolean
set_failed (const Jp2 *self, GError **error)
{
  if (!self->no_memory)
    return set_broken (
        *self->message ? self->message : "the data is invalid", error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory to decode a JPEG 2000 of %u by %u", self->width,
      self->height);
  return FALSE;
}

static gboolean
is_codestream (const guint8 *data)
{
  return memcmp (data, "\xff\x4f\xff\x51", 4) == 0;
}

static gboolean
jp2_accepts (const guint8 *data, gsize size)
{
  return size >= 12 && (is_codestream (data) ||
                           memcmp (data, "\0\0\0\x0cjP  \r\n\x87\n", 12) == 0);
}

static void
close_file (gpointer decoder)
{
  Jp2 *self = decoder;

  g_clear_pointer (&self->image, opj_image_destroy);
}

static void
jp2_destroy (gpointer decoder)
{
  Jp2 *self = decoder;

  close_file (self);
  g_free (self->row);
  g_free (self);
}

/* Header */

typedef struct {
  const guint8 *data; /* content of the box; NULL: no such box */
  gsize size;         /* of the content that is present */
} Box;

/* Finds the first box with this name. A box consists of its length, its name
 * and its content. */
static Box
find_box (const guint8 *data, gsize size, const gchar *name)
{
  gsize at = 0;

  while (at < size && size - at >= 8) {
    const gsize left = size - at;
    guint64 length = spdl_read_32_be (data + at);
    gsize header = 8;

    if (length == 1 && left >= 16) {
      length = spdl_read_64_be (data + at + 8);
      header = 16;
    } else if (length == 0) {
      length = left; /* extends to the end */
    }
    if (length < header)
      break;
    if (memcmp (data + at + 4, name, 4) == 0)
      return (Box){ data + at + header, MIN (length, left) - header };
    if (length > left)
      break;
    at += length;
  }
  return (Box){ NULL };
}

static void
find_codestream (Jp2 *self)
{
  Box box = { self->data, self->size };

  if (!is_codestream (self->data))
    box = find_box (self->data, self->size, "jp2c");
  self->codestream = box.data;
  self->codestream_size = box.size;
}

/* Returns the number of channels in the palette, or 0 if there is none. */
static guint
count_palette (const Jp2 *self)
{
  const Box header = find_box (self->data, self->size, "jp2h");
  const Box palette =
      header.data ? find_box (header.data, header.size, "pclr") : header;

  return palette.data && palette.size >= 3 ? palette.data[2] : 0;
}

/* Returns the number of tiles along an axis. */
static guint64
count_tiles (guint32 end, guint32 first, guint32 size)
{
  return end > first ? ((guint64) end - first + size - 1) / size : 0;
}

/* Checks the header fields that determine how much memory OpenJPEG allocates
 * before it reads any tile.
 * @siz: the marker segment, starting at its marker */
static gboolean
check_memory (Jp2 *self, const guint8 *siz, GError **error)
{
  const guint32 right = spdl_read_32_be (siz + 6);
  const guint32 bottom = spdl_read_32_be (siz + 10);
  const guint32 tile_width = spdl_read_32_be (siz + 22);
  const guint32 tile_height = spdl_read_32_be (siz + 26);

  if (tile_width == 0 || tile_height == 0)
    return set_broken ("the tiles have no pixels", error);
  self->n_tiles = count_tiles (right, spdl_read_32_be (siz + 30), tile_width) *
                  count_tiles (bottom, spdl_read_32_be (siz + 34), tile_height);
  if (self->n_tiles > MAX_SMALL_TILES &&
      self->n_tiles > (guint64) self->width * self->height / MIN_TILE_PIXELS)
    return set_unsupported ("tiles of less than 32 by 32 pixels", error);
  if (spdl_read_16_be (siz + 38) > MAX_CHANNELS ||
      count_palette (self) > MAX_CHANNELS)
    return set_unsupported ("more than 4 channels", error);
  return TRUE;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Jp2 *self = decoder;
  const guint8 *siz;

  self->data = data;
  self->size = size;
  find_codestream (self);
  if (self->codestream_size < 45)
    return set_broken ("the file ends before its codestream begins", error);
  if (!is_codestream (self->codestream))
    return set_broken ("the codestream has no size", error);
  siz = self->codestream + 2;
  self->width = spdl_read_32_be (siz + 6) - spdl_read_32_be (siz + 14);
  self->height = spdl_read_32_be (siz + 10) - spdl_read_32_be (siz + 18);
  header->width = self->width;
  header->height = self->height;
  header->orientation = 1;
  header->has_palette = count_palette (self) > 0;
  header->channels = spdl_read_16_be (siz + 38);
  header->depth = (siz[40] & 0x7f) + 1;
  self->is_signed = siz[40] & 0x80;
  /* The caller rejects images with too many pixels. */
  return self->width * (guint64) self->height > max_pixels ||
         check_memory (self, siz, error);
}

/* Missing tiles. OpenJPEG leaves them black, without an error. */

/* Returns the offset of the first tile part, or 0. */
static gsize
skip_main_header (const guint8 *data, gsize size)
{
  gsize at = 2;

  while (
      at <= size && size - at >= 4 && spdl_read_16_be (data + at) != MARKER_SOT)
    at += 2 + spdl_read_16_be (data + at + 2);
  return at <= size && size - at >= 4 ? at : 0;
}

/* Returns whether the file has all tiles.
 * @can_keep: (out): whether OpenJPEG may decode an incomplete file. OpenJPEG
 *     allocates memory for a whole tile part before it reads it. */
static gboolean
is_whole (const Jp2 *self, gboolean *can_keep)
{
  const guint64 max_length =
      (guint64) self->width * self->height * MAX_CHANNELS * MAX_BYTES +
      MAX_TILE_HEADER;
  const guint8 *data = self->codestream;
  const gsize size = self->codestream_size;
  gsize at = skip_main_header (data, size);
  guint64 n_tiles = 0;

  *can_keep = at > 0;
  while (at > 0 && at <= size && size - at >= 2) {
    const guint16 marker = spdl_read_16_be (data + at);
    guint32 length;

    if (marker == MARKER_EOC)
      return n_tiles >= self->n_tiles;
    *can_keep = marker == MARKER_SOT;
    if (marker != MARKER_SOT || size - at < 12)
      return FALSE;
    length = spdl_read_32_be (data + at + 6);
    if (data[at + 10] == 0) /* the first part of a tile */
      n_tiles++;
    if (length == 0) /* the last tile part, which extends to the end */
      return n_tiles >= self->n_tiles &&
             spdl_read_16_be (data + size - 2) == MARKER_EOC;
    *can_keep = length >= 14 && length <= max_length;
    if (length < 14 || length > size - at)
      return FALSE;
    at += length;
  }
  return FALSE;
}

/* Pixels */

static opj_stream_t *
open_stream (Jp2 *self)
{
  opj_stream_t *stream = opj_stream_create (STREAM_BUFFER, OPJ_TRUE);

  if (!stream)
    return NULL;
  self->at = 0;
  opj_stream_set_user_data (stream, self, NULL);
  opj_stream_set_user_data_length (stream, self->size);
  opj_stream_set_read_function (stream, read_data);
  opj_stream_set_skip_function (stream, skip_data);
  opj_stream_set_seek_function (stream, seek_data);
  return stream;
}

static opj_codec_t *
open_codec (Jp2 *self, gboolean strict)
{
  opj_codec_t *codec = opj_create_decompress (
      is_codestream (self->data) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_dparameters_t parameters;

  if (!codec)
    return NULL;
  opj_set_default_decoder_parameters (&parameters);
  if (self->pixels == SPDL_PIXELS_INDEX)
    parameters.flags |= OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG;
  opj_set_error_handler (codec, on_error, self);
  opj_set_warning_handler (codec, on_message, self);
  opj_set_info_handler (codec, on_message, self);
  if (opj_setup_decoder (codec, &parameters) &&
      opj_decoder_set_strict_mode (codec, strict))
    return codec;
  opj_destroy_codec (codec);
  return NULL;
}

static gboolean
is_complete (const Jp2 *self)
{
  const opj_image_t *image = self->image;

  if (image->x1 - image->x0 != self->width ||
      image->y1 - image->y0 != self->height || image->numcomps == 0 ||
      image->numcomps > MAX_CHANNELS)
    return FALSE;
  for (guint i = 0; i < image->numcomps; i++) {
    const opj_image_comp_t *channel = &image->comps[i];

    if (!channel->data || channel->w == 0 || channel->h == 0 ||
        channel->dx == 0 || channel->dy == 0 || channel->prec == 0 ||
        channel->prec > 31)
      return FALSE;
  }
  return TRUE;
}

/* Decodes the file. Without @strict, missing parts become black. */
static gboolean
decode_components (Jp2 *self, gboolean strict)
{
  opj_stream_t *stream = open_stream (self);
  opj_codec_t *codec = open_codec (self, strict);
  gboolean ok;

  close_file (self);
  self->no_memory = !stream || !codec;
  self->message[0] = '\0';
  ok = stream && codec && opj_read_header (stream, codec, &self->image) &&
       opj_decode (codec, stream, self->image) && is_complete (self);
  if (codec)
    opj_destroy_codec (codec);
  if (stream)
    opj_stream_destroy (stream);
  return ok;
}

/* Returns the index of the sample for pixel @at of the reference grid along an
 * axis. The component has @size samples, starting at @first, one every @step
 * pixels. */
static guint
find_sample (guint at, guint first, guint step, guint size)
{
  const guint sample = at / step;

  return MIN (sample - MIN (sample, first), size - 1);
}

/* Writes the samples of row @y of a channel, scaled to 8 bits, to every fourth
 * byte. */
static void
read_samples (const opj_image_t *image, const opj_image_comp_t *channel,
    guint y, guint n, guint8 *to)
{
  const guint row =
      find_sample (image->y0 + y, channel->y0, channel->dy, channel->h);
  const OPJ_INT32 *from = channel->data + row * (gsize) channel->w;
  const gint offset = channel->sgnd ? 1 << (channel->prec - 1) : 0;
  const gint max = (1u << channel->prec) - 1;
  const gdouble scale = 255.0 / max;

  if (channel->w == n && max == 255) {
    for (guint x = 0; x < n; x++)
      to[x * N_RGBA] = CLAMP ((gint64) from[x] + offset, 0, 255);
    return;
  }
  for (guint x = 0; x < n; x++) {
    const guint i =
        find_sample (image->x0 + x, channel->x0, channel->dx, channel->w);

    to[x * N_RGBA] = CLAMP ((gint64) from[i] + offset, 0, max) * scale + 0.5;
  }
}

static void
convert_ycc (guint8 *row, guint n)
{
  for (guint8 *p = row; p < row + n * (gsize) N_RGBA; p += N_RGBA) {
    const gdouble y = p[0] + 0.5, cb = p[1] - 128.0, cr = p[2] - 128.0;

    p[0] = CLAMP (y + 1.402 * cr, 0, 255);
    p[1] = CLAMP (y - 0.344136 * cb - 0.714136 * cr, 0, 255);
    p[2] = CLAMP (y + 1.772 * cb, 0, 255);
  }
}

static void
convert_cmyk (guint8 *row, guint n)
{
  for (guint8 *p = row; p < row + n * (gsize) N_RGBA; p += N_RGBA)
    for (guint i = 0; i < 3; i++)
      p[i] = spdl_rows_scale (255 - p[i], 255 - p[3]);
}

static gboolean
is_ycc (const opj_image_t *image)
{
  if (image->numcomps < 3)
    return FALSE;
  /* Only chroma is subsampled. */
  return image->color_space == OPJ_CLRSPC_SYCC ||
         (image->color_space != OPJ_CLRSPC_CMYK && image->comps[0].dx == 1 &&
             image->comps[1].dx != 1);
}

/* Writes row @y as RGBA, and returns the kind of its alpha. */
static SpdlAlpha
read_row (const Jp2 *self, guint y, guint n)
{
  const opj_image_t *image = self->image;
  const guint n_channels = image->numcomps;
  const gboolean is_cmyk =
      image->color_space == OPJ_CLRSPC_CMYK && n_channels == 4;
  guint8 *row = self->row;

  for (guint i = 0; i < n_channels; i++)
    read_samples (image, &image->comps[i], y, n,
        row + (n_channels == 2 && i == 1 ? 3 : i));
  if (n_channels < 3)
    for (guint x = 0; x < n; x++)
      memset (row + x * N_RGBA + 1, row[x * N_RGBA], 2);
  if (is_ycc (image))
    convert_ycc (row, n);
  if (is_cmyk)
    convert_cmyk (row, n);
  if (is_cmyk || n_channels % 2 == 1)
    return SPDL_ALPHA_NONE;
  return image->comps[n_channels - 1].alpha == 2 ? SPDL_ALPHA_PREMULTIPLIED
                                                 : SPDL_ALPHA_STRAIGHT;
}

/* Writes the samples of row @y as they are stored. */
static void
put_samples (const Jp2 *self, const SpdlRows *rows, guint y)
{
  const opj_image_t *image = self->image;
  const opj_image_comp_t *channel = &image->comps[0];
  const OPJ_INT32 *from =
      channel->data +
      find_sample (image->y0 + y, channel->y0, channel->dy, channel->h) *
          (gsize) channel->w;
  const gint max = rows->pixels == SPDL_PIXELS_INDEX ? G_MAXUINT8 : G_MAXUINT16;
  guint8 *to = rows->get_row (rows->user_data, y);

  for (guint x = 0; x < rows->width; x++)
    spdl_rows_put_pixel (rows, to + x * (gsize) rows->pixel_size,
        CLAMP (from[find_sample (
                   image->x0 + x, channel->x0, channel->dx, channel->w)],
            0, max));
}

static gboolean
put_rows (Jp2 *self, const SpdlRows *rows)
{
  const gsize size = rows->width * (gsize) N_RGBA;

  if (!spdl_scratch_grow ((gpointer *) &self->row, &self->row_size, size, 1)) {
    self->no_memory = TRUE;
    return FALSE;
  }
  for (guint y = rows->y_begin; y < rows->y_end; y++) {
    if (rows->pixels == SPDL_PIXELS_COLOR) {
      guint8 *to = rows->get_row (rows->user_data, y);
      const SpdlAlpha alpha = read_row (self, y, rows->width);

      spdl_rows_put_rgba (rows, to, self->row, rows->width, alpha);
    } else {
      put_samples (self, rows, y);
    }
    rows->rows_done (rows->user_data, y + 1);
  }
  close_file (self);
  return TRUE;
}

/* Returns whether OpenJPEG can decode incomplete files. Before 2.5.3 it reads
 * over the end of its buffers then (its issues 1533 and 1535). */
static gboolean
decodes_parts (void)
{
  guint major = 0, minor = 0, micro = 0;

  return sscanf (opj_version (), "%u.%u.%u", &major, &minor, &micro) == 3 &&
         (major > 2 || minor > 5 || (minor == 5 && micro >= 3));
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Jp2 *self = decoder;
  gboolean can_keep;
  const gboolean whole = is_whole (self, &can_keep);

  self->pixels = rows->pixels;
  if (rows->pixels != SPDL_PIXELS_COLOR && self->is_signed)
    return set_unsupported ("samples with a sign", error);
  if (whole && decode_components (self, TRUE) && put_rows (self, rows))
    return TRUE;
  if (whole)
    set_failed (self, error);
  else
    set_broken ("parts of the codestream are missing", error);
  if (keep && !(can_keep && decodes_parts () &&
                  decode_components (self, FALSE) && put_rows (self, rows)))
    spdl_rows_fill (rows, 0);
  return FALSE;
}

const SpdlImageDecoder spdl_jp2_decoder = { "image/jp2", jp2_accepts,
  sizeof (Jp2), jp2_destroy, read_header, read_rows, close_file };
