/* gst-spdl: broken PNGs made whole
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlmend.h"

#include <string.h>
#include <zlib.h>

#include "spdlbytes.h"

#define SIGNATURE_SIZE 8
#define HEADER_SIZE (SIGNATURE_SIZE + 12 + 13)
#define LAST_FILTER 4

typedef struct {
  guint width, height;
  guint bits; /* a pixel */
  gboolean interlaced;

  guint8 *rows; /* before they are compressed, each behind its filter */
  gsize size;
  gsize n_read;
} Png;

/* Every pixel, or Adam7's seventh part of them. */
typedef struct {
  guint x, y, dx, dy;
} Pass;

static const Pass passes[] = { { 0, 0, 1, 1 }, { 0, 0, 8, 8 }, { 4, 0, 8, 8 },
  { 0, 4, 4, 8 }, { 2, 0, 4, 4 }, { 0, 2, 2, 4 }, { 1, 0, 2, 2 },
  { 0, 1, 1, 2 } };

static guint
first_pass (const Png *png)
{
  return png->interlaced ? 1 : 0;
}

static guint
end_pass (const Png *png)
{
  return png->interlaced ? G_N_ELEMENTS (passes) : 1;
}

static gsize
row_size (const Png *png, const Pass *pass)
{
  const guint64 n =
      pass->x < png->width ? (png->width - pass->x - 1) / pass->dx + 1 : 0;

  return n > 0 ? 1 + (n * png->bits + 7) / 8 : 0;
}

static guint
row_count (const Png *png, const Pass *pass)
{
  return pass->y < png->height ? (png->height - pass->y - 1) / pass->dy + 1 : 0;
}

/* Whether libpng takes the header: the rows of others could be of any length,
 * and pngdec would not let go of it. */
static gboolean
header_is_sound (const guint8 *data, gsize size)
{
  /* Depths, powers of 2, by colour type. */
  static const guint depths[] = { 31, 0, 24, 15, 24, 0, 24 };

  return size >= HEADER_SIZE && spdl_read_32_be (data + 8) == 13 &&
         memcmp (data + 12, "IHDR", 4) == 0 &&
         crc32 (0, data + 12, 17) == spdl_read_32_be (data + 29) &&
         data[25] < G_N_ELEMENTS (depths) && (data[24] & depths[data[25]]) &&
         (data[24] & (data[24] - 1)) == 0 && data[26] == 0 && data[27] == 0 &&
         data[28] <= 1;
}

static gboolean
read_header (Png *png, const guint8 *data, gsize size)
{
  static const guint channels[] = { 1, 0, 3, 1, 2, 0, 4 };

  memset (png, 0, sizeof *png);
  if (!header_is_sound (data, size))
    return FALSE;
  png->width = spdl_read_32_be (data + 16);
  png->height = spdl_read_32_be (data + 20);
  png->bits = data[24] * channels[data[25]];
  png->interlaced = data[28] != 0;
  for (guint i = first_pass (png); i < end_pass (png); i++)
    png->size += row_size (png, &passes[i]) * row_count (png, &passes[i]);
  return png->size > 0;
}

/* Inflates the data of one chunk; FALSE where there is no use in more. */
static gboolean
inflate_some (Png *png, z_stream *stream, const guint8 *data, gsize size)
{
  int ret;

  stream->next_in = (Bytef *) data;
  stream->avail_in = MIN (size, G_MAXUINT);
  stream->next_out = png->rows + png->n_read;
  stream->avail_out = MIN (png->size - png->n_read, G_MAXUINT);
  ret = inflate (stream, Z_SYNC_FLUSH);
  png->n_read = stream->next_out - png->rows;
  return ret == Z_OK && png->n_read < png->size;
}

/* Those that are no header, again, and that libpng need not know. */
static gboolean
is_harmless (const guint8 *chunk)
{
  return (chunk[4] & 0x20) || memcmp (chunk + 4, "PLTE", 4) == 0;
}

/* Reads rows from all IDAT chunks, and copies what stands before them to
 * @sound, up to the end or what is wrong. */
static void
read_chunks (Png *png, z_stream *stream, const guint8 *data, gsize size,
    GByteArray *sound)
{
  gsize at = HEADER_SIZE;
  gboolean more = TRUE;

  while (more && size - at >= 8) {
    const guint8 *chunk = data + at;
    const gsize length = spdl_read_32_be (chunk);
    const gsize left = size - at - 8;

    if (memcmp (chunk + 4, "IDAT", 4) == 0) {
      more = inflate_some (png, stream, chunk + 8, MIN (length, left));
    } else if (length + 4 <= left && length < G_MAXINT) {
      if (png->n_read == 0 && is_harmless (chunk) &&
          crc32 (0, chunk + 4, length + 4) ==
              spdl_read_32_be (chunk + 8 + length))
        g_byte_array_append (sound, chunk, length + 12);
      more = memcmp (chunk + 4, "IEND", 4) != 0;
    }
    more = more && length + 4 <= left;
    at += 12 + length;
  }
}

/* Returns how many rows are there, and makes zeros of all that is not. */
static guint
count_rows (Png *png)
{
  gsize at = 0;
  guint n = 0;

  for (guint i = first_pass (png); i < end_pass (png); i++) {
    const gsize length = row_size (png, &passes[i]);

    for (guint row = 0; length > 0 && row < row_count (png, &passes[i]);
         row++) {
      if (length > png->n_read - at || png->rows[at] > LAST_FILTER) {
        memset (png->rows + at, 0, png->size - at);
        return n;
      }
      at += length;
      /* The rows between those of the last pass are there before them. */
      if (i + 1 == end_pass (png))
        n = MIN (passes[i].y + row * passes[i].dy + passes[i].dy, png->height);
    }
  }
  return png->height;
}

static void
append_chunk (
    GByteArray *sound, const gchar *name, const guint8 *content, gsize size)
{
  const guint8 length[4] = { size >> 24, size >> 16, size >> 8, size };
  const guint first = sound->len + 4;
  guint32 checksum;

  g_byte_array_append (sound, length, 4);
  g_byte_array_append (sound, (const guint8 *) name, 4);
  g_byte_array_append (sound, content, size);
  checksum = crc32 (0, sound->data + first, sound->len - first);
  g_byte_array_append (sound,
      (const guint8[]){
          checksum >> 24, checksum >> 16, checksum >> 8, checksum },
      4);
}

static gboolean
append_rows (const Png *png, GByteArray *sound)
{
  uLongf size = compressBound (png->size);
  g_autofree guint8 *packed = g_try_malloc (size);

  if (!packed || compress2 (packed, &size, png->rows, png->size, 1) != Z_OK ||
      size >= G_MAXINT)
    return FALSE;
  append_chunk (sound, "IDAT", packed, size);
  append_chunk (sound, "IEND", NULL, 0);
  return TRUE;
}

GstBuffer *
spdl_mend_png (const guint8 *data, gsize size, guint *n_rows)
{
  g_autoptr (GByteArray) sound = g_byte_array_new ();
  z_stream stream = { 0 };
  gboolean ok;
  Png png;

  if (!read_header (&png, data, size) || !(png.rows = g_try_malloc0 (png.size)))
    return NULL;
  g_byte_array_append (sound, data, HEADER_SIZE);
  ok = inflateInit (&stream) == Z_OK;
  if (ok) {
    read_chunks (&png, &stream, data, size, sound);
    inflateEnd (&stream);
    *n_rows = count_rows (&png);
    ok = append_rows (&png, sound);
  }
  g_free (png.rows);
  if (!ok)
    return NULL;
  size = sound->len;
  return gst_buffer_new_wrapped (
      g_byte_array_free (g_steal_pointer (&sound), FALSE), size);
}
