/* gst-spdl: a PNG file in memory, as libpng reads it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/pngfile.h"

#include <libdeflate.h>
#include <string.h>

#include "plugins/codec/common/exif.h"
#include "plugins/common/bytes.h"

#define CHUNK_HEADER 8
#define CHUNK_FRAME 12 /* with its checksum */
#define IHDR_END (SPDL_PNG_SIGNATURE + CHUNK_FRAME + 13)

/* Of deflate. */
#define LARGEST_STORED_BLOCK 65535
/* Larger images are inflated by libpng, row by row. */
#define MOST_PIXELS (64 * 1024 * 1024)

void
spdl_png_file_open (SpdlPngFile *self, const guint8 *data, gsize size)
{
  self->data = data;
  self->size = size;
  self->at = 0;
  self->next_chunk = SPDL_PNG_SIGNATURE;
  self->is_stored = FALSE;
}

void
spdl_png_file_clear (SpdlPngFile *self)
{
  g_clear_pointer (&self->inflater, libdeflate_free_decompressor);
  g_clear_pointer (&self->pixels, g_free);
  g_clear_pointer (&self->packed, g_free);
  self->pixels_size = self->packed_size = 0;
}

/* Chunks */

/* Moves *@at to the next chunk that is there as a whole; 0 for the first. */
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

guint
spdl_png_file_find_orientation (const SpdlPngFile *self)
{
  for (gsize at = 0; next_chunk (self, &at);)
    if (is_named (self, at, "eXIf"))
      return spdl_exif_get_orientation (
          self->data + at + CHUNK_HEADER, spdl_read_32_be (self->data + at));
  return 1;
}

static gboolean
ensure (guint8 **buffer, gsize *has, gsize size)
{
  if (size <= *has)
    return TRUE;
  g_free (*buffer);
  *buffer = g_try_malloc (size);
  *has = *buffer ? size : 0;
  return *buffer != NULL;
}

/* How many bytes of pixels the header announces, with those of the filters; 0
 * if that is none that we know. */
static guint64
count_pixels (const SpdlPngFile *self)
{
  static const guint8 channels[] = { 1, 0, 3, 1, 2, 0, 4 };
  static const guint8 passes[][4] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 },
    { 0, 4, 4, 8 }, { 2, 0, 4, 4 }, { 0, 2, 2, 4 }, { 1, 0, 2, 2 },
    { 0, 1, 1, 2 } };
  const guint8 *header = self->data + SPDL_PNG_SIGNATURE + CHUNK_HEADER;
  const guint32 width = spdl_read_32_be (header);
  const guint32 height = spdl_read_32_be (header + 4);
  const guint8 kind = header[9];
  guint64 n = 0;
  guint bits;

  if (kind >= G_N_ELEMENTS (channels) || header[12] > 1)
    return 0;
  bits = header[8] * channels[kind];
  if (header[12] == 0)
    return height * (1 + ((guint64) width * bits + 7) / 8);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++) {
    const guint64 columns =
        ((guint64) width + passes[i][2] - 1 - passes[i][0]) / passes[i][2];
    const guint64 rows =
        ((guint64) height + passes[i][3] - 1 - passes[i][1]) / passes[i][3];

    if (columns > 0)
      n += rows * (1 + (columns * bits + 7) / 8);
  }
  return n;
}

/* Finds the compressed pixels of all IDAT chunks, which follow one another.
 * FALSE if some are not there, or a checksum is wrong. @begin: (out): where the
 * first chunk is. */
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
  if (!ensure (&self->packed, &self->packed_size, *n))
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

/* The file whose pixels are stored: what comes before the first IDAT chunk; the
 * head of such a chunk and of zlib's data; blocks; and the checksums of both.
 */

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

/* The chunk's checksum is not looked at. */
static const guint8 *
get_tail (SpdlPngFile *self)
{
  spdl_write_32_be (
      self->between, libdeflate_adler32 (1, self->pixels, self->n_pixels));
  memset (self->between + 4, 0, 4);
  return self->between;
}

/* What is read at @at, which is behind the first of the blocks. */
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

/* Returns what is read next, of @n (out) bytes; behind the end there are 0. */
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

gboolean
spdl_png_file_store (SpdlPngFile *self)
{
  const guint64 n_pixels = self->size >= IHDR_END ? count_pixels (self) : 0;
  const guint8 *packed;
  gsize n;

  if (n_pixels == 0 || n_pixels > MOST_PIXELS ||
      !find_packed (self, &self->begin, &packed, &n) ||
      !ensure (&self->pixels, &self->pixels_size, n_pixels))
    return FALSE;
  if (!self->inflater)
    self->inflater = libdeflate_alloc_decompressor ();
  if (!self->inflater ||
      libdeflate_zlib_decompress (self->inflater, packed, n, self->pixels,
          n_pixels, NULL) != LIBDEFLATE_SUCCESS)
    return FALSE;
  self->n_pixels = n_pixels;
  self->is_stored = TRUE;
  self->at = 0;
  return TRUE;
}

/* Reading */

/* A chunk's header has just been read. If the chunk is cut off, the length that
 * is there replaces the one that is claimed: libpng would fail before it
 * decodes any of it, and now fails at the missing checksum. */
static void
note_chunk (SpdlPngFile *self, guint8 *header)
{
  const gsize rest = self->size - self->at;

  if (spdl_read_32_be (header) > rest)
    spdl_write_32_be (header, rest);
  self->next_chunk = self->at + spdl_read_32_be (header) + 4;
}

gboolean
spdl_png_file_read (SpdlPngFile *self, guint8 *to, gsize n)
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
