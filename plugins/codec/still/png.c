/* gst-spdl: PNG decoder, with libpng
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib.h>
#include <libdeflate.h>
#include <png.h>
#include <string.h>

#include "plugins/codec/common/exif.h"
#include "plugins/codec/result/decodeconfig.h"
#include "plugins/codec/resize/scratch.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/codec/still/pngfilter.h"
#include "plugins/common/bytes.h"

/* zlib and the filters of rows dominate the time of PNG decoding. libdeflate
 * takes less than half of zlib's time, but decompresses whole buffers, for
 * which libpng has no interface. Therefore libpng is given a rewritten file
 * with uncompressed pixels: the chunks before the pixels, and one IDAT chunk of
 * stored blocks with the output of libdeflate, whose rows are not filtered. */

#define SPDL_PNG_SIGNATURE 8

typedef struct {
  const guint8 *data;
  gsize size;
  gsize at;
  gsize next_chunk; /* offset of the next chunk */

  /* With stored pixels: offset where the rewritten part begins, and buffer for
   * the headers between the blocks. */
  gboolean is_stored;
  gsize begin;
  guint8 between[10];

  /* Kept between files. */
  struct libdeflate_decompressor *inflater;
  guint8 *pixels;
  gsize pixels_size;
  gsize n_pixels; /* in bytes, of this file */
  guint8 *packed; /* contents of several IDAT chunks, concatenated */
  gsize packed_size;
} SpdlPngFile;

/* Adam7's sixth pass completes the even rows, and its seventh the odd ones. */
#define LAST_PASS_OF(y) (5 + (y) % 2)

typedef struct {
  gchar message[256];

  /* The current file. */
  png_structp png;
  png_infop info;
  SpdlPngFile file;
  gboolean has_alpha;
  gint n_passes;
  gint pass;
  guint n_rows; /* rows read in the pass */

  guint8 *pixels; /* pixels that are not yet blended or complete */
  gsize pixels_size;
} Png;

/* libpng callbacks */

/* File */

#define CHUNK_HEADER 8
#define CHUNK_FRAME 12 /* with its checksum */
#define IHDR_END (SPDL_PNG_SIGNATURE + CHUNK_FRAME + 13)

/* Limit of the deflate format. */
#define LARGEST_STORED_BLOCK 65535
/* For larger images, libpng decompresses row by row, which takes less
 * memory. */
#define MOST_PIXELS (64 * 1024 * 1024)

/* @data must stay valid while the file is read. */
static void
file_open (SpdlPngFile *self, const guint8 *data, gsize size)
{
  self->data = data;
  self->size = size;
  self->at = 0;
  self->next_chunk = SPDL_PNG_SIGNATURE;
  self->is_stored = FALSE;
}

/* Frees the buffers. */
static void
file_clear (SpdlPngFile *self)
{
  g_clear_pointer (&self->inflater, libdeflate_free_decompressor);
  g_clear_pointer (&self->pixels, g_free);
  g_clear_pointer (&self->packed, g_free);
  self->pixels_size = self->packed_size = 0;
}

/* Chunks */

/* Moves *@at to the next complete chunk; 0: to the first one. */
static gboolean
next_chunk (const SpdlPngFile *self, gsize *at)
{
  *at = *at == 0 ? SPDL_PNG_SIGNATURE
                 : *at + CHUNK_FRAME + spdl_read_32_be (self->data + *at);
  return *at <= self->size && self->size - *at >= CHUNK_FRAME &&
         spdl_read_32_be (self->data + *at) <= self->size - *at - CHUNK_FRAME;
}

static gboolean
is_named (const SpdlPngFile *self, gsize at, const gchar *name)
{
  return memcmp (self->data + at + 4, name, 4) == 0;
}

/* Returns the EXIF orientation, 1 to 8, from an eXIf chunk at any position. */
static guint
file_find_orientation (const SpdlPngFile *self)
{
  for (gsize at = 0; next_chunk (self, &at);)
    if (is_named (self, at, "eXIf"))
      return spdl_exif_get_orientation (
          self->data + at + CHUNK_HEADER, spdl_read_32_be (self->data + at));
  return 1;
}

/* Geometry of a pass of an interlaced image, or of the whole image. */
typedef struct {
  gsize stride; /* with the filter byte; 0: the pass has no pixels */
  gsize n_rows;
} Pass;

/* Reads the geometry of the passes from the header. Returns their number; 0 if
 * the header is invalid.
 *
 * @pixel_size: (out): in bytes, at least 1 */
static guint
find_passes (const SpdlPngFile *self, Pass passes[7], guint *pixel_size)
{
  static const guint8 channels[] = { 1, 0, 3, 1, 2, 0, 4 };
  static const guint8 adam7[][4] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 },
    { 0, 4, 4, 8 }, { 2, 0, 4, 4 }, { 0, 2, 2, 4 }, { 1, 0, 2, 2 },
    { 0, 1, 1, 2 } };
  static const guint8 whole[][4] = { { 0, 0, 1, 1 } };
  const guint8 *header = self->data + SPDL_PNG_SIGNATURE + CHUNK_HEADER;
  const guint64 width = spdl_read_32_be (header);
  const guint64 height = spdl_read_32_be (header + 4);
  const guint8 kind = header[9];
  const guint8 (*steps)[4] = header[12] ? adam7 : whole;
  const guint n = header[12] ? G_N_ELEMENTS (adam7) : 1;
  guint bits;

  if (kind >= G_N_ELEMENTS (channels) || header[12] > 1)
    return 0;
  bits = header[8] * channels[kind];
  *pixel_size = (bits + 7) / 8;
  for (guint i = 0; i < n; i++) {
    const guint8 *step = steps[i];
    const guint64 columns = (width + step[2] - 1 - step[0]) / step[2];

    passes[i].stride = columns > 0 ? 1 + (columns * bits + 7) / 8 : 0;
    passes[i].n_rows = (height + step[3] - 1 - step[1]) / step[3];
  }
  return n;
}

/* Finds the compressed data of all consecutive IDAT chunks. Returns FALSE if
 * data is missing or a checksum is wrong.
 * @begin: (out): offset of the first IDAT chunk */
static gboolean
find_packed (SpdlPngFile *self, gsize *begin, const guint8 **packed, gsize *n)
{
  gsize at = 0, first = 0, end = 0;

  *n = 0;
  while (next_chunk (self, &at)) {
    const gsize length = spdl_read_32_be (self->data + at);
    const guint8 *content = self->data + at + CHUNK_HEADER;

    if (!is_named (self, at, "IDAT")) {
      if (first > 0)
        break;
      continue;
    }
    if (libdeflate_crc32 (0, content - 4, length + 4) !=
        spdl_read_32_be (content + length))
      return FALSE;
    if (first == 0)
      first = at;
    end = at + CHUNK_FRAME + length;
    *n += length;
  }
  *begin = first;
  if (first == 0 || *n == end - first - CHUNK_FRAME) {
    *packed = self->data + first + CHUNK_HEADER;
    return first > 0;
  }
  if (!spdl_scratch_grow (
          (gpointer *) &self->packed, &self->packed_size, *n, 1))
    return FALSE;
  *packed = self->packed;
  for (gsize to = 0; first < end;) {
    const gsize length = spdl_read_32_be (self->data + first);

    memcpy (self->packed + to, self->data + first + CHUNK_HEADER, length);
    to += length;
    first += CHUNK_FRAME + length;
  }
  return TRUE;
}

/* Rewritten file with stored pixels: the chunks before the first IDAT chunk;
 * the headers of an IDAT chunk and of a zlib stream; stored blocks; and the
 * checksums of both. */

#define HEAD 10
#define BLOCK_HEAD 5
#define TAIL 8

static gsize
count_stored (const SpdlPngFile *self)
{
  const gsize n_blocks =
      (self->n_pixels + LARGEST_STORED_BLOCK - 1) / LARGEST_STORED_BLOCK;

  return self->n_pixels + n_blocks * BLOCK_HEAD;
}

static const guint8 *
get_head (SpdlPngFile *self)
{
  const gsize around = HEAD - CHUNK_HEADER + TAIL - 4;

  spdl_write_32_be (self->between, count_stored (self) + around);
  memcpy (self->between + 4, "IDAT\x78\x01", 6);
  return self->between;
}

static const guint8 *
get_block_head (SpdlPngFile *self, guint n, gboolean is_last)
{
  self->between[0] = is_last;
  self->between[1] = n;
  self->between[2] = n >> 8;
  self->between[3] = ~n;
  self->between[4] = ~n >> 8;
  return self->between;
}

/* libpng does not verify the checksum of the chunk. */
static const guint8 *
get_tail (SpdlPngFile *self)
{
  spdl_write_32_be (
      self->between, libdeflate_adler32 (1, self->pixels, self->n_pixels));
  memset (self->between + 4, 0, 4);
  return self->between;
}

/* Returns the data at offset @at after the start of the first stored block.
 * @n: (out): number of contiguous bytes */
static const guint8 *
get_block (SpdlPngFile *self, gsize at, gsize *n)
{
  const gsize whole = BLOCK_HEAD + LARGEST_STORED_BLOCK;
  const gsize begin = at / whole * LARGEST_STORED_BLOCK;
  const gsize size = MIN (LARGEST_STORED_BLOCK, self->n_pixels - begin);

  at %= whole;
  if (at < BLOCK_HEAD) {
    *n = BLOCK_HEAD - at;
    return get_block_head (self, size, begin + size == self->n_pixels) + at;
  }
  *n = size - (at - BLOCK_HEAD);
  return self->pixels + begin + at - BLOCK_HEAD;
}

/* Returns the data at the read position.
 * @n: (out): number of contiguous bytes; 0 at the end */
static const guint8 *
get_piece (SpdlPngFile *self, gsize *n)
{
  const gsize stored = count_stored (self);
  gsize at = self->at;

  if (at < self->begin) {
    *n = self->begin - at;
    return self->data + at;
  }
  at -= self->begin;
  if (at < HEAD) {
    *n = HEAD - at;
    return get_head (self) + at;
  }
  at -= HEAD;
  if (at < stored)
    return get_block (self, at, n);
  at = MIN (at - stored, TAIL);
  *n = TAIL - at;
  return get_tail (self) + at;
}

static gboolean
read_stored (SpdlPngFile *self, guint8 *to, gsize n)
{
  while (n > 0) {
    gsize length;
    const guint8 *piece = get_piece (self, &length);

    if (length == 0)
      return FALSE;
    length = MIN (length, n);
    memcpy (to, piece, length);
    self->at += length;
    to += length;
    n -= length;
  }
  return TRUE;
}

static void
unfilter_passes (
    SpdlPngFile *self, const Pass *passes, guint n_passes, guint pixel_size)
{
  guint8 *rows = self->pixels;

  for (guint i = 0; i < n_passes; i++) {
    if (passes[i].stride > 0)
      spdl_png_unfilter (rows, passes[i].stride, passes[i].n_rows, pixel_size);
    rows += passes[i].stride * passes[i].n_rows;
  }
}

/* Rewinds the file and switches to stored pixels. Returns FALSE without any
 * change if that is not possible.
 *
 * @n_rows: number of rows that will be read */
static gboolean
file_store (SpdlPngFile *self, guint n_rows)
{
  Pass passes[7];
  guint pixel_size;
  const guint n_passes =
      self->size >= IHDR_END ? find_passes (self, passes, &pixel_size) : 0;
  guint64 n_pixels = 0;
  const guint8 *packed;
  gsize n;

  for (guint i = 0; i < n_passes; i++)
    n_pixels += passes[i].stride * passes[i].n_rows;
  if (n_pixels == 0 || n_pixels > MOST_PIXELS ||
      !find_packed (self, &self->begin, &packed, &n) ||
      !spdl_scratch_grow ((gpointer *) &self->pixels, &self->pixels_size,
          n_pixels + SPDL_PNG_PADDING, 1))
    return FALSE;
  if (!self->inflater)
    self->inflater = libdeflate_alloc_decompressor ();
  if (!self->inflater ||
      libdeflate_zlib_decompress (self->inflater, packed, n, self->pixels,
          n_pixels, NULL) != LIBDEFLATE_SUCCESS)
    return FALSE;
  if (n_passes == 1)
    passes[0].n_rows = MIN (passes[0].n_rows, n_rows);
  unfilter_passes (self, passes, n_passes, pixel_size);
  self->n_pixels = n_pixels;
  self->is_stored = TRUE;
  self->at = 0;
  return TRUE;
}

/* Reads */

/* Adjusts the header of a truncated chunk to the length that is present. libpng
 * would otherwise fail before it decodes any of the chunk; it now fails at the
 * missing checksum. */
static void
note_chunk (SpdlPngFile *self, guint8 *header)
{
  const gsize rest = self->size - self->at;

  if (spdl_read_32_be (header) > rest)
    spdl_write_32_be (header, rest);
  self->next_chunk = self->at + spdl_read_32_be (header) + 4;
}

/* Copies the next @n bytes. Returns FALSE if there are fewer. */
static gboolean
file_read (SpdlPngFile *self, guint8 *to, gsize n)
{
  const gboolean is_header = self->at == self->next_chunk && n == CHUNK_HEADER;

  if (self->is_stored)
    return read_stored (self, to, n);
  if (n > self->size - self->at)
    return FALSE;
  memcpy (to, self->data + self->at, n);
  self->at += n;
  if (is_header)
    note_chunk (self, to);
  return TRUE;
}

static void
on_error (png_structp png, png_const_charp message)
{
  Png *self = png_get_error_ptr (png);

  g_strlcpy (self->message, message, sizeof self->message);
  longjmp (png_jmpbuf (png), 1);
}

static void
on_warning (png_structp png, png_const_charp message)
{
}

static void
read_data (png_structp png, png_bytep to, size_t n)
{
  Png *self = png_get_io_ptr (png);

  if (!file_read (&self->file, to, n))
    png_error (png, "the file ends early");
}

static gboolean
set_broken (Png *self, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt PNG: %s", self->message);
  return FALSE;
}

static gboolean
set_no_memory (GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory to decode a PNG");
  return FALSE;
}

/* File setup */

static gboolean
png_accepts (const guint8 *data, gsize size)
{
  return size >= 12 &&
         memcmp (data, "\x89PNG\r\n\x1a\n", SPDL_PNG_SIGNATURE) == 0;
}

static void
close_file (gpointer decoder)
{
  Png *self = decoder;

  png_destroy_read_struct (&self->png, &self->info, NULL);
}

static void
png_destroy (gpointer decoder)
{
  Png *self = decoder;

  close_file (self);
  file_clear (&self->file);
  g_free (self->pixels);
  g_free (self);
}

/* Ignores all chunks except pixels and transparency. */
static gboolean
open_file (Png *self)
{
  self->png = png_create_read_struct (
      PNG_LIBPNG_VER_STRING, self, on_error, on_warning);
  if (!self->png || !(self->info = png_create_info_struct (self->png)))
    return FALSE;
  png_set_read_fn (self->png, self, read_data);
  png_set_keep_unknown_chunks (self->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_user_limits (self->png, SPDL_MAX_DECODED_SIDE, SPDL_MAX_DECODED_SIDE);
  return TRUE;
}

static gboolean
has_palette (const Png *self)
{
  png_colorp colors;
  int n;

  if (png_get_PLTE (self->png, self->info, &colors, &n) != PNG_INFO_PLTE ||
      png_get_color_type (self->png, self->info) != PNG_COLOR_TYPE_PALETTE)
    return FALSE;
  for (gint i = 0; i < n; i++)
    if (colors[i].red != i || colors[i].green != i || colors[i].blue != i)
      return TRUE;
  return FALSE;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Png *self = decoder;

  file_open (&self->file, data, size);
  if (!open_file (self))
    return set_no_memory (error);
  if (setjmp (png_jmpbuf (self->png)) != 0)
    return set_broken (self, error);
  png_read_info (self->png, self->info);
  header->width = png_get_image_width (self->png, self->info);
  header->height = png_get_image_height (self->png, self->info);
  header->orientation = file_find_orientation (&self->file);
  header->depth = png_get_bit_depth (self->png, self->info);
  header->channels = png_get_channels (self->png, self->info);
  header->has_palette = has_palette (self);
  return TRUE;
}

/* Rows */

/* Restarts libpng with the rewritten file. The chunks before the pixels were
 * already read without an error. */
static gboolean
open_stored (Png *self)
{
  close_file (self);
  if (!open_file (self))
    return FALSE;
  png_set_crc_action (self->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#ifdef PNG_IGNORE_ADLER32 /* not in all builds of libpng; the checksum is \
                             correct anyway */
  png_set_option (self->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
  return TRUE;
}

/* Requests samples as they are stored, in whole bytes and native order. */
static void
set_no_transforms (Png *self)
{
  self->has_alpha = FALSE;
  png_set_packing (self->png);
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    png_set_swap (self->png);
}

/* Requests the pixel format of @rows, or RGBA if the image has alpha. */
static void
set_color_transforms (Png *self, const SpdlRows *rows)
{
  const guint8 kind = png_get_color_type (self->png, self->info);

  self->has_alpha = kind & PNG_COLOR_MASK_ALPHA ||
                    png_get_valid (self->png, self->info, PNG_INFO_tRNS);
  png_set_expand (self->png);
  png_set_scale_16 (self->png);
  if (!(kind & PNG_COLOR_MASK_COLOR))
    png_set_gray_to_rgb (self->png);
  if (!self->has_alpha && rows->bgr)
    png_set_bgr (self->png);
  if (!self->has_alpha && rows->pixel_size == 4)
    png_set_filler (self->png, 0, PNG_FILLER_AFTER);
}

static void
set_transforms (Png *self, const SpdlRows *rows)
{
  if (rows->pixels == SPDL_PIXELS_COLOR)
    set_color_transforms (self, rows);
  else
    set_no_transforms (self);
  self->n_passes = png_set_interlace_handling (self->png);
  png_read_update_info (self->png, self->info);
}

/* Blends or copies a row that libpng wrote to @from into its place. */
static void
put_row (const Png *self, const SpdlRows *rows, guint y, const guint8 *from)
{
  guint8 *to = rows->get_row (rows->user_data, y);

  if (self->has_alpha)
    spdl_rows_put_rgba (rows, to, from, rows->width, SPDL_ALPHA_STRAIGHT);
  else if (to != from)
    memcpy (to, from, rows->width * (gsize) rows->pixel_size);
  rows->rows_done (rows->user_data, y + 1);
}

static void
read_progressively (Png *self, const SpdlRows *rows)
{
  for (guint y = 0; y < rows->y_end; y++) {
    guint8 *to =
        self->has_alpha ? self->pixels : rows->get_row (rows->user_data, y);

    png_read_row (self->png, to, NULL);
    put_row (self, rows, y, to);
    self->n_rows = y + 1;
  }
}

static void
read_passes (Png *self, const SpdlRows *rows, gsize stride)
{
  for (; self->pass < self->n_passes; self->pass++) {
    self->n_rows = 0;
    for (guint y = 0; y < rows->height; y++) {
      png_read_row (self->png, self->pixels + y * stride, NULL);
      self->n_rows = y + 1;
    }
  }
}

/* Writes the complete rows, and background in place of the others. */
static void
put_passes (const Png *self, const SpdlRows *rows, gsize stride)
{
  for (guint y = 0; y < rows->y_end; y++) {
    const gint last = LAST_PASS_OF (y);

    if (last < self->pass || (last == self->pass && y < self->n_rows)) {
      put_row (self, rows, y, self->pixels + y * stride);
    } else {
      spdl_rows_fill_row (rows, rows->get_row (rows->user_data, y));
      rows->rows_done (rows->user_data, y + 1);
    }
  }
}

/* Returns TRUE if the stored pixels need no conversion by libpng. */
static gboolean
is_plain (Png *self, const SpdlRows *rows)
{
  const guint8 kind = png_get_color_type (self->png, self->info);

  if (png_get_bit_depth (self->png, self->info) != 8 ||
      png_get_interlace_type (self->png, self->info) != PNG_INTERLACE_NONE)
    return FALSE;
  self->has_alpha = FALSE;
  if (rows->pixels == SPDL_PIXELS_INDEX)
    return png_get_channels (self->png, self->info) == 1;
  if (rows->pixels != SPDL_PIXELS_COLOR)
    return FALSE;
  self->has_alpha = kind == PNG_COLOR_TYPE_RGB_ALPHA;
  return self->has_alpha ||
         (kind == PNG_COLOR_TYPE_RGB && !rows->bgr &&
             !png_get_valid (self->png, self->info, PNG_INFO_tRNS));
}

/* Reads a byte more than the row. */
static void
widen_row (guint8 *to, const guint8 *row, guint width)
{
  for (guint x = 0; x < width; x++)
    memcpy (to + 4 * (gsize) x, row + 3 * (gsize) x, 4);
}

static gboolean
copy_rows (Png *self, const SpdlRows *rows)
{
  const gsize stride = 1 + png_get_rowbytes (self->png, self->info);

  for (guint y = 0; y < rows->y_end; y++) {
    const guint8 *row = self->file.pixels + y * stride;

    if (row[0] != 0) {
      g_strlcpy (self->message, "unknown filter", sizeof self->message);
      return FALSE;
    }
    if (rows->pixel_size == 4 && !self->has_alpha) {
      guint8 *to = rows->get_row (rows->user_data, y);

      widen_row (to, row + 1, rows->width);
      rows->rows_done (rows->user_data, y + 1);
    } else {
      put_row (self, rows, y, row + 1);
    }
    self->n_rows = y + 1;
  }
  return TRUE;
}

static gboolean
end_broken (Png *self, const SpdlRows *rows, gboolean keep, GError **error)
{
  if (keep && self->n_passes > 1)
    put_passes (self, rows, png_get_rowbytes (self->png, self->info));
  else if (keep)
    spdl_rows_fill (rows, self->n_rows);
  return set_broken (self, error);
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Png *self = decoder;
  gsize stride;

  self->n_rows = 0;
  self->n_passes = self->pass = 0;
  if (file_store (&self->file, rows->y_end)) {
    if (is_plain (self, rows))
      return copy_rows (self, rows) || end_broken (self, rows, keep, error);
    if (!open_stored (self))
      return set_no_memory (error);
  }
  if (setjmp (png_jmpbuf (self->png)) != 0)
    return end_broken (self, rows, keep, error);
  if (self->file.is_stored)
    png_read_info (self->png, self->info);
  set_transforms (self, rows);
  stride = png_get_rowbytes (self->png, self->info);
  if (!spdl_scratch_grow ((gpointer *) &self->pixels, &self->pixels_size,
          self->n_passes > 1 ? stride * rows->height : stride, 1))
    return set_no_memory (error);
  if (self->n_passes > 1) {
    read_passes (self, rows, stride);
    put_passes (self, rows, stride);
  } else {
    read_progressively (self, rows);
  }
  return TRUE;
}

const SpdlImageDecoder spdl_png_decoder = { "image/png", png_accepts,
  sizeof (Png), png_destroy, read_header, read_rows, close_file };
