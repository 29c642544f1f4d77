/* gst-spdl: TIFF decoder, with libtiff
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdarg.h>
#include <string.h>
#include <tiffio.h>

#include "plugins/codec/still/imagedecoder.h"
#include "plugins/common/fingerprint.h"

/* Allowance for libtiff allocations other than the pixels of a strip. */
#define MEMORY_FOR_TABLES (16 * 1024 * 1024)
/* Bytes per pixel of the largest supported format, 16-bit RGBA. */
#define LARGEST_PIXEL 8
/* Minimum number of rows per call, to amortize its overhead. */
#define LEAST_BAND 16
/* Number of pixels that the rows of a tile may always have. */
#define LEAST_MAX_BAND (1 << 24)

typedef struct {
  gchar message[256]; /* libtiff's first error for this file */

  /* The current file. */
  const guint8 *data;
  gsize size;
  guint64 max_pixels;
  gsize at;
  gboolean padding; /* append bytes to the data */
  guint8 padding_byte;
  gsize n_padded; /* number of appended bytes that were read */
  TIFF *tiff;
  TIFFRGBAImage image;
  gboolean has_image;
  SpdlAlpha alpha;

  guint32 *band; /* rows of pixels; kept between files */
  gsize band_size;
  guint stride; /* pixels in a row of the band */
} Tiff;

/* File I/O in memory */

static tmsize_t
read_proc (thandle_t handle, void *to, tmsize_t n)
{
  Tiff *self = handle;
  const gsize there = MIN ((gsize) n, self->size - MIN (self->at, self->size));

  if (there > 0)
    memcpy (to, self->data + self->at, there);
  self->at += there;
  if (!self->padding || there == (gsize) n)
    return there;
  memset ((guint8 *) to + there, self->padding_byte, n - there);
  self->n_padded += n - there;
  self->at += n - there;
  return n;
}

static tmsize_t
write_proc (thandle_t handle, void *from, tmsize_t n)
{
  return -1;
}

static toff_t
seek_proc (thandle_t handle, toff_t to, int whence)
{
  Tiff *self = handle;

  self->at = (whence == SEEK_CUR      ? self->at
                 : whence == SEEK_END ? self->size
                                      : 0) +
             to;
  return self->at;
}

static int
close_proc (thandle_t handle)
{
  return 0;
}

static toff_t
size_proc (thandle_t handle)
{
  return ((Tiff *) handle)->size;
}

static int
map_proc (thandle_t handle, void **base, toff_t *size)
{
  Tiff *self = handle;

  *base = (void *) self->data;
  *size = self->size;
  return 1;
}

static void
unmap_proc (thandle_t handle, void *base, toff_t size)
{
}

/* Error handlers */

static int on_error (TIFF *tiff, void *user_data, const char *module,
    const char *format, va_list args) G_GNUC_PRINTF (4, 0);

static int
on_error (TIFF *tiff, void *user_data, const char *module, const char *format,
    va_list args)
{
  Tiff *self = user_data;

  if (!*self->message)
    g_vsnprintf (self->message, sizeof self->message, format, args);
  return 1;
}

static int
on_warning (TIFF *tiff, void *user_data, const char *module, const char *format,
    va_list args)
{
  return 1;
}

static gboolean
set_broken (Tiff *self, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt TIFF: %s",
      *self->message ? self->message : "the data is invalid");
  return FALSE;
}

static gboolean
set_unknown (const gchar *why, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "TIFF is not supported: %s", why);
  return FALSE;
}

/* File setup */

static gboolean
tiff_accepts (const guint8 *data, gsize size)
{
  /* Classic TIFF and BigTIFF. */
  return size >= 12 &&
         (memcmp (data, "II*\0", 4) == 0 || memcmp (data, "MM\0*", 4) == 0 ||
             memcmp (data, "II+\0", 4) == 0 || memcmp (data, "MM\0+", 4) == 0);
}

static void
close_file (gpointer decoder)
{
  Tiff *self = decoder;

  if (self->has_image)
    TIFFRGBAImageEnd (&self->image);
  self->has_image = FALSE;
  g_clear_pointer (&self->tiff, TIFFClose);
}

static void
tiff_destroy (gpointer decoder)
{
  Tiff *self = decoder;

  close_file (self);
  g_free (self->band);
  g_free (self);
}

/* @padding: bytes are appended to the data, so that libtiff decodes the part of
 * a truncated strip that is present */
static gboolean
open_file (Tiff *self, gboolean padding)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();

  close_file (self);
  self->at = 0;
  self->padding = padding;
  self->padding_byte = 0;
  *self->message = '\0';
  TIFFOpenOptionsSetMaxSingleMemAlloc (options,
      MIN (self->max_pixels, G_MAXINT32) * LARGEST_PIXEL + MEMORY_FOR_TABLES);
  TIFFOpenOptionsSetErrorHandlerExtR (options, on_error, self);
  TIFFOpenOptionsSetWarningHandlerExtR (options, on_warning, self);
  /* "m" disables memory mapping. */
  self->tiff = TIFFClientOpenExt ("it", padding ? "rm" : "r", self, read_proc,
      write_proc, seek_proc, close_proc, size_proc, map_proc, unmap_proc,
      options);
  TIFFOpenOptionsFree (options);
  return self->tiff != NULL;
}

static gboolean
is_gray (const Tiff *self)
{
  return self->image.photometric == PHOTOMETRIC_MINISBLACK ||
         self->image.photometric == PHOTOMETRIC_MINISWHITE;
}

/* Returns the kind of alpha. libtiff premultiplies colors with unassociated
 * alpha, but not gray whose alpha is in the same plane. Four samples without a
 * description are read as RGBA, as other readers do. */
static SpdlAlpha
find_alpha (const Tiff *self)
{
  const gboolean plain_gray = is_gray (self) && self->image.isContig;
  uint16_t n = 0, *kinds = NULL;

  if (!self->image.alpha)
    return SPDL_ALPHA_NONE;
  if (!TIFFGetField (self->tiff, TIFFTAG_EXTRASAMPLES, &n, &kinds) || n == 0)
    return SPDL_ALPHA_STRAIGHT;
  if (kinds[0] == EXTRASAMPLE_UNSPECIFIED)
    return SPDL_ALPHA_NONE;
  return plain_gray && kinds[0] == EXTRASAMPLE_UNASSALPHA
             ? SPDL_ALPHA_STRAIGHT
             : SPDL_ALPHA_PREMULTIPLIED;
}

/* Returns why libtiff would give wrong pixels, or NULL. */
static const gchar *
find_obstacle (const Tiff *self)
{
  const TIFFRGBAImage *image = &self->image;
  uint16_t format = SAMPLEFORMAT_UINT;

  TIFFGetField (self->tiff, TIFFTAG_SAMPLEFORMAT, &format);
  if (format == SAMPLEFORMAT_INT)
    return "its samples are signed integers";
  /* The alpha channel would be ignored. */
  if (self->alpha == SPDL_ALPHA_NONE)
    return NULL;
  if (image->photometric == PHOTOMETRIC_PALETTE)
    return "the image has a palette and alpha";
  if (image->photometric == PHOTOMETRIC_SEPARATED && image->samplesperpixel > 4)
    return "the image is CMYK with alpha";
  if (is_gray (self) && image->isContig &&
      (image->bitspersample > 8 || image->samplesperpixel > 2))
    return "the image is gray with alpha, of 16 bits or with further samples";
  return NULL;
}

/* Makes the rows of the band as wide as the tiles together. libtiff shifts the
 * rows of a tile that reaches beyond the image, if they are gray. */
static void
set_stride (Tiff *self)
{
  uint32_t tile = 0;

  self->stride = self->image.width;
  if (!TIFFIsTiled (self->tiff) ||
      !TIFFGetField (self->tiff, TIFFTAG_TILEWIDTH, &tile) || tile == 0 ||
      self->stride > G_MAXINT32 - tile)
    return;
  self->stride = (self->stride + tile - 1) / tile * tile;
  self->image.width = self->stride;
}

static gboolean
begin_image (Tiff *self, GError **error)
{
  const gchar *obstacle;
  gchar why[1024] = "";

  if (!TIFFRGBAImageOK (self->tiff, why) ||
      !TIFFRGBAImageBegin (&self->image, self->tiff, !self->padding, why))
    return *self->message ? set_broken (self, error) : set_unknown (why, error);
  self->has_image = TRUE;
  /* Errors in tags that were not fatal. */
  *self->message = '\0';
  self->alpha = find_alpha (self);
  obstacle = find_obstacle (self);
  if (obstacle)
    return set_unknown (obstacle, error);
  /* The canvas applies the orientation. */
  self->image.req_orientation = self->image.orientation;
  set_stride (self);
  return TRUE;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Tiff *self = decoder;
  uint32_t width = 0, height = 0;
  uint16_t orientation = 1, depth = 1, channels = 1, photometric = 0;

  self->data = data;
  self->size = size;
  self->max_pixels = max_pixels;
  if (!open_file (self, FALSE) ||
      !TIFFGetField (self->tiff, TIFFTAG_IMAGEWIDTH, &width) ||
      !TIFFGetField (self->tiff, TIFFTAG_IMAGELENGTH, &height))
    return set_broken (self, error);
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_ORIENTATION, &orientation);
  header->width = width;
  header->height = height;
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_BITSPERSAMPLE, &depth);
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
  TIFFGetField (self->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  header->orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
  header->depth = depth;
  header->channels = channels;
  header->has_palette = photometric == PHOTOMETRIC_PALETTE;
  return TRUE;
}

/* Rows */

/* Returns how many rows to decode at a time: whole strips or tiles, and only
 * one of them if a corrupt file is kept. */
static guint
get_band_height (const Tiff *self, guint height, gboolean keep)
{
  uint32_t n = 0;

  if (TIFFIsTiled (self->tiff))
    TIFFGetField (self->tiff, TIFFTAG_TILELENGTH, &n);
  else
    TIFFGetFieldDefaulted (self->tiff, TIFFTAG_ROWSPERSTRIP, &n);
  n = CLAMP (n, 1, height);
  return keep || n >= LEAST_BAND ? n : MIN (n * (LEAST_BAND / n), height);
}

/* The declared size of a tile may exceed that of the image. */
static gboolean
ensure_band (Tiff *self, gsize n, GError **error)
{
  const gsize size = n * sizeof *self->band;

  if (size <= self->band_size)
    return TRUE;
  if (n <= MAX (self->max_pixels, LEAST_MAX_BAND)) {
    g_free (self->band);
    self->band = g_try_malloc (size);
    self->band_size = self->band ? size : 0;
  }
  if (self->band_size >= size)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for %" G_GSIZE_FORMAT " pixels of a TIFF", n);
  return FALSE;
}

/* libtiff stores pixels as 32-bit words with red in the lowest byte. */
static void
write_row (const Tiff *self, const SpdlRows *rows, guint32 *from, guint8 *to)
{
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    for (guint x = rows->x_begin; x < rows->x_end; x++)
      from[x] = GUINT32_SWAP_LE_BE (from[x]);
  spdl_rows_put_rgba (rows, to + rows->x_begin * (gsize) rows->pixel_size,
      (const guint8 *) (from + rows->x_begin), rows->x_end - rows->x_begin,
      self->alpha);
}

/* Decodes @n rows from @y on. Returns FALSE if libtiff reported an error; with
 * padding, rows may be valid even then. */
static gboolean
read_band (Tiff *self, guint y, guint n)
{
  memset (self->band, 0, n * (gsize) self->stride * sizeof *self->band);
  self->image.row_offset = y;
  return TIFFRGBAImageGet (&self->image, self->band, self->stride, n) &&
         !*self->message;
}

static void
write_band (const Tiff *self, const SpdlRows *rows, guint y, guint n)
{
  for (guint i = 0; i < n && y + i < rows->y_end; i++) {
    write_row (self, rows, self->band + i * (gsize) self->stride,
        rows->get_row (rows->user_data, y + i));
    rows->rows_done (rows->user_data, y + i + 1);
  }
}

/* Returns the first row that could not be decoded. */
static guint
read_bands (Tiff *self, const SpdlRows *rows, guint band)
{
  guint y = 0;

  for (guint n; y < rows->y_end; y += n) {
    n = MIN (band, rows->height - y);
    if (y + n <= rows->y_begin)
      continue;
    if (!read_band (self, y, n))
      break;
    write_band (self, rows, y, n);
  }
  return y;
}

/* Reads as many of @n rows as can be decoded. libtiff decodes no more than it
 * is asked for, and undoes the prediction only if all of it was decoded.
 * Returns their number. */
static guint
read_most (Tiff *self, guint y, guint n)
{
  guint good = 0, bad = n + 1;

  while (bad - good > 1) {
    const guint middle = good + (bad - good) / 2;

    *self->message = '\0';
    if (read_band (self, y, middle))
      good = middle;
    else
      bad = middle;
  }
  *self->message = '\0';
  return good > 0 && read_band (self, y, good) ? good : 0;
}

static guint64
sum_up_row (const Tiff *self, guint y)
{
  return spdl_fingerprint_add (0, self->band + y * (gsize) self->stride,
      self->stride * sizeof *self->band);
}

/* Reads the rows of a compressed strip that are present, of @n: those that do
 * not depend on the bytes that are appended. Returns their number. */
static guint
read_compressed (Tiff *self, guint y, guint n)
{
  g_autofree guint64 *sums = g_try_new (guint64, n);
  guint n_zeros, n_ones, n_same = 0;

  if (!sums)
    return 0;
  n_zeros = read_most (self, y, n);
  for (guint i = 0; i < n_zeros; i++)
    sums[i] = sum_up_row (self, i);
  if (!open_file (self, TRUE) || !begin_image (self, NULL))
    return 0;
  self->padding_byte = 0xff;
  n_ones = read_most (self, y, n);
  while (n_same < MIN (n_zeros, n_ones) &&
         sums[n_same] == sum_up_row (self, n_same))
    n_same++;
  return n_same;
}

/* Reads the rows that are present in the file, of @n. In a row of tiles, tiles
 * without data may be next to others, and all rows count. Returns their
 * number. */
static guint
read_present (Tiff *self, guint y, guint n)
{
  const gsize row = TIFFScanlineSize (self->tiff);
  uint16_t packing = COMPRESSION_NONE;

  TIFFGetField (self->tiff, TIFFTAG_COMPRESSION, &packing);
  if (packing != COMPRESSION_NONE && !TIFFIsTiled (self->tiff))
    return read_compressed (self, y, n);
  self->n_padded = 0;
  read_band (self, y, n);
  if (TIFFIsTiled (self->tiff) || row == 0)
    return n;
  return n - MIN (n, (self->n_padded + row - 1) / row);
}

/* Writes the decodable part of the band at @y, and background below it. */
static void
keep_rest (Tiff *self, const SpdlRows *rows, guint band, guint y)
{
  guint n = MIN (band, rows->height - y);

  if (open_file (self, TRUE) && begin_image (self, NULL)) {
    n = read_present (self, y, n);
    write_band (self, rows, y, n);
    y += n;
  }
  spdl_rows_fill (rows, y);
}

/* Samples as they are stored, without libtiff's conversion to colors */

static const gchar *
find_sample_obstacle (const Tiff *self, const SpdlRows *rows)
{
  uint16_t format = SAMPLEFORMAT_UINT, depth = 1, photometric = 0;

  TIFFGetField (self->tiff, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_BITSPERSAMPLE, &depth);
  TIFFGetField (self->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  if (format != SAMPLEFORMAT_UINT)
    return "its samples are not unsigned integers";
  if (photometric != PHOTOMETRIC_MINISBLACK &&
      photometric != PHOTOMETRIC_PALETTE)
    return "its samples are neither gray, with 0 as black, nor indices";
  if (rows->pixels == SPDL_PIXELS_GRAY16 ? depth != 16 : 8 % depth != 0)
    return "its samples do not have 1, 2, 4, 8 or 16 bits";
  return NULL;
}

/* Writes @n samples, which begin with the highest bits of a byte. */
static void
unpack_samples (guint8 *to, const guint8 *from, guint depth, gsize n)
{
  if (depth >= 8) {
    memcpy (to, from, n * (depth / 8));
    return;
  }
  for (gsize i = 0; i < n; i++)
    to[i] =
        from[i * depth / 8] >> (8 - depth - i * depth % 8) & ((1 << depth) - 1);
}

static gboolean
read_scanline (Tiff *self, const SpdlRows *rows, guint y, guint depth)
{
  if (TIFFReadScanline (self->tiff, self->band, y, 0) < 0 || *self->message)
    return FALSE;
  unpack_samples (rows->get_row (rows->user_data, y),
      (const guint8 *) self->band, depth, rows->width);
  return TRUE;
}

/* Reads the tiles at row @y, each of @width by @height pixels. */
static gboolean
read_tiles (Tiff *self, const SpdlRows *rows, guint y, guint width,
    guint height, guint depth)
{
  const gsize stride = TIFFTileRowSize (self->tiff);

  for (guint x = 0; x < rows->width; x += MIN (width, rows->width - x)) {
    if (TIFFReadTile (self->tiff, self->band, x, y, 0, 0) < 0 || *self->message)
      return FALSE;
    for (guint i = 0; i < MIN (height, rows->height - y); i++)
      unpack_samples (
          rows->get_row (rows->user_data, y + i) + x * (gsize) rows->pixel_size,
          (const guint8 *) self->band + i * stride, depth,
          MIN (width, rows->width - x));
  }
  return TRUE;
}

static gboolean
read_samples (Tiff *self, const SpdlRows *rows, gboolean keep, GError **error)
{
  const gchar *obstacle = find_sample_obstacle (self, rows);
  const gboolean is_tiled = TIFFIsTiled (self->tiff);
  const gsize size =
      is_tiled ? TIFFTileSize (self->tiff) : TIFFScanlineSize (self->tiff);
  uint32_t width = rows->width, height = 1;
  uint16_t depth = 1;
  guint y = 0;

  if (obstacle)
    return set_unknown (obstacle, error);
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_BITSPERSAMPLE, &depth);
  if (is_tiled) {
    TIFFGetField (self->tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField (self->tiff, TIFFTAG_TILELENGTH, &height);
  }
  *self->message = '\0';
  if (size == 0 || width == 0 || height == 0)
    return set_broken (self, error);
  if (!ensure_band (self, size / sizeof *self->band + 1, error))
    return FALSE;
  while (y < rows->y_end &&
         (is_tiled ? read_tiles (self, rows, y, width, height, depth)
                   : read_scanline (self, rows, y, depth)))
    y += MIN (height, rows->height - y);
  if (y >= rows->y_end)
    return TRUE;
  set_broken (self, error);
  if (keep)
    spdl_rows_fill (rows, y);
  return FALSE;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Tiff *self = decoder;
  const guint band = get_band_height (self, rows->height, keep);
  guint y = 0;

  if (rows->pixels != SPDL_PIXELS_COLOR)
    return read_samples (self, rows, keep, error);
  if (!begin_image (self, error)) {
    if (keep)
      spdl_rows_fill (rows, 0);
    return FALSE;
  }
  if (!ensure_band (self, band * (gsize) self->stride, error))
    return FALSE;
  y = read_bands (self, rows, band);
  if (y >= rows->y_end)
    return TRUE;
  set_broken (self, error);
  if (keep)
    keep_rest (self, rows, band, y);
  return FALSE;
}

const SpdlImageDecoder spdl_tiff_decoder = { "image/tiff", tiff_accepts,
  sizeof (Tiff), tiff_destroy, read_header, read_rows, close_file };
