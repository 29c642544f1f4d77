/* gst-spdl: detection of image formats from the first bytes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/imageprobe.h"

#include <string.h>

#include "plugins/common/bytes.h"

/* OpenEXR: attributes, each a name, a type, a size and a value. */

/* BMP and similar formats */

#define CUT_OFF "the file ends before its last row does"

/* BMP */

#define CORE_HEADER 12
#define INFO_HEADER 40
#define RLE8 1
#define RLE4 2

/* Returns whether run-length data is complete: it has an end-of-bitmap mark, or
 * @height end-of-line marks. */
static gboolean
runs_are_complete (
    const guint8 *data, gsize size, guint height, guint pixels_a_byte)
{
  guint rows = 0;

  for (gsize at = 0; at + 1 < size;) {
    const guint8 n = data[at];
    const guint8 code = data[at + 1];

    at += 2;
    if (n > 0)
      continue; /* a run of one color */
    if (code == 1 || (code == 0 && ++rows == height))
      return TRUE;
    if (code == 2)
      at += 2; /* delta: moves the position */
    else if (code > 2)
      at += ((code + pixels_a_byte - 1) / pixels_a_byte + 1) & ~(gsize) 1;
  }
  return FALSE;
}

static void
check_bmp_data (SpdlImageProbe *self, const guint8 *data, gsize size,
    guint depth, guint compression)
{
  const gsize at = spdl_read_32_le (data + 10);
  const guint64 stride = ((guint64) self->width * depth + 31) / 32 * 4;

  if (at > size) {
    self->corruption = CUT_OFF;
  } else if (compression == RLE8 || compression == RLE4) {
    if (!runs_are_complete (data + at, size - at, self->height, compression))
      self->corruption = CUT_OFF;
  } else if (stride > (size - at) / MAX (self->height, 1)) {
    self->corruption = CUT_OFF;
  }
}

static void
look_at_bmp (SpdlImageProbe *self, const guint8 *data, gsize size)
{
  const guint32 header = size >= 18 ? spdl_read_32_le (data + 14) : 0;

  if (header == CORE_HEADER && size >= 14 + CORE_HEADER) {
    self->type = "image/bmp";
    self->width = spdl_read_16_le (data + 18);
    self->height = spdl_read_16_le (data + 20);
    check_bmp_data (self, data, size, spdl_read_16_le (data + 24), 0);
  } else if (header >= INFO_HEADER && header <= 256) {
    self->type = "image/bmp";
    if (size < 14 + INFO_HEADER) {
      self->corruption = "the file ends before its header does";
      return;
    }
    const gint32 height = spdl_read_32_le (data + 22);

    self->width = spdl_read_32_le (data + 18);
    /* A negative height means that rows are stored from the top. */
    self->height = height < 0 ? -(guint32) height : (guint32) height;
    /* The fourth byte of uncompressed 32-bit pixels is unused, whatever its
     * value. */
    self->opaque = spdl_read_32_le (data + 30) == 0;
    check_bmp_data (self, data, size, spdl_read_16_le (data + 28),
        spdl_read_32_le (data + 30));
  }
}

/* PNM: a header of words, followed by rows. */

typedef struct {
  const guint8 *data;
  gsize size;
  gsize at;
} Text;

static gboolean
is_blank (guint8 c)
{
  return g_ascii_isspace (c);
}

static void
skip_blanks (Text *text)
{
  while (text->at < text->size) {
    if (text->data[text->at] == '#') {
      while (text->at < text->size && text->data[text->at] != '\n')
        text->at++;
    } else if (is_blank (text->data[text->at])) {
      text->at++;
    } else {
      return;
    }
  }
}

/* Returns 0 if there is no number. Large numbers saturate at G_MAXINT. */
static guint
read_number (Text *text)
{
  guint64 number = 0;

  skip_blanks (text);
  for (; text->at < text->size && g_ascii_isdigit (text->data[text->at]);
       text->at++)
    number = MIN (number * 10 + text->data[text->at] - '0', G_MAXINT);
  return number;
}

static gboolean
take_word (Text *text, const gchar *word)
{
  const gsize length = strlen (word);

  skip_blanks (text);
  if (text->size - text->at < length ||
      memcmp (text->data + text->at, word, length) != 0)
    return FALSE;
  text->at += length;
  return TRUE;
}

/* Reads the named header fields of P7 (PAM). */
static void
read_fields (SpdlImageProbe *self, Text *text, guint *depth, guint *most)
{
  while (text->at < text->size && !take_word (text, "ENDHDR")) {
    if (take_word (text, "WIDTH"))
      self->width = read_number (text);
    else if (take_word (text, "HEIGHT"))
      self->height = read_number (text);
    else if (take_word (text, "DEPTH"))
      *depth = read_number (text);
    else if (take_word (text, "MAXVAL"))
      *most = read_number (text);
    else
      while (text->at < text->size && text->data[text->at] != '\n')
        text->at++;
  }
}

/* Returns whether the file has @n samples as text. In P1 the digits may follow
 * each other without whitespace. */
static gboolean
numbers_are_there (Text *text, gchar kind, guint64 n)
{
  while (n > 0) {
    skip_blanks (text);
    if (text->at >= text->size)
      return FALSE;
    if (kind == '1')
      text->at++;
    else
      while (text->at < text->size && !is_blank (text->data[text->at]))
        text->at++;
    n--;
  }
  return TRUE;
}

/* Returns whether FFmpeg turns the largest sample into 0: it multiplies by a
 * factor, and keeps 8 or 16 bits of the product. It scales no alpha at all. */
static gboolean
overflows (guint most)
{
  const guint full = most < 256 ? 255 : 65535;
  const guint shift = most < 256 ? 7 : 15;
  const guint64 factor =
      most > 0 ? (((guint64) full << shift) + most / 2) / most : 0;

  return most < full && (most * factor + (1u << (shift - 1))) >> shift > full;
}

static void
look_at_pnm (SpdlImageProbe *self, const guint8 *data, gsize size)
{
  static const gchar *types[] = { "image/x-portable-bitmap",
    "image/x-portable-graymap", "image/x-portable-pixmap" };
  const gchar kind = data[1];
  Text text = { data, size, 2 };
  guint depth = kind == '3' || kind == '6' ? 3 : 1;
  guint most = 1;
  guint64 row;

  if (!is_blank (data[2]))
    return;
  if (kind == '7') {
    self->type = "image/x-portable-anymap";
    read_fields (self, &text, &depth, &most);
  } else {
    self->type = types[(kind - '1') % 3];
    self->width = read_number (&text);
    self->height = read_number (&text);
    if (kind != '1' && kind != '4')
      most = read_number (&text);
  }
  text.at = MIN (text.at + 1, size); /* one whitespace character */
  self->largest = MIN (most, G_MAXUINT16);
  self->is_gray = kind == '2' || kind == '5' || (kind == '7' && depth == 1);
  self->samples_at = text.at;
  self->has_text = kind == '2';
  self->rare = kind == '1' || kind == '4' || (kind == '6' && most > 255) ||
               (kind >= '5' && kind <= '6' && overflows (most));
  if (kind == '7' && (overflows (most) || (most < 255 && depth % 2 == 0)))
    self->corruption = "samples with this maximum are not supported";
  row = (guint64) self->width * depth;
  if (kind <= '3') {
    /* gdkpixbufdec loses the last pixel of a P1 file if nothing follows it. */
    if (!numbers_are_there (&text, kind, row * self->height) ||
        (kind == '1' && !is_blank (data[size - 1])))
      self->corruption = CUT_OFF;
    return;
  }
  row = kind == '4' ? (row + 7) / 8 : most > 255 ? 2 * row : row;
  if (row > (size - text.at) / MAX (self->height, 1)) {
    self->corruption = CUT_OFF;
    self->rare =
        TRUE; /* avoids pnmdec, which would read past the end of the buffer */
  }
}

void
spdl_image_probe_read_gray (const SpdlImageProbe *self, const guint8 *data,
    gsize size, const SpdlRows *rows)
{
  const guint n_bytes = self->largest > G_MAXUINT8 ? 2 : 1;
  Text text = { data, size, self->samples_at };

  for (guint y = 0; y < rows->height; y++) {
    guint8 *to = rows->get_row (rows->user_data, y);

    for (guint x = 0; x < rows->width; x++) {
      guint sample = rows->background;

      if (self->has_text) {
        skip_blanks (&text);
        if (text.at < size && g_ascii_isdigit (data[text.at]))
          sample = read_number (&text);
      } else if (size - text.at >= n_bytes) {
        sample =
            n_bytes == 1 ? data[text.at] : spdl_read_16_be (data + text.at);
        text.at += n_bytes;
      }
      spdl_rows_put_pixel (rows, to + x * (gsize) rows->pixel_size, sample);
    }
    rows->rows_done (rows->user_data, y + 1);
  }
}

/* Returns the text at *@at and moves *@at past its terminator, or returns
 * NULL. */
static const gchar *
read_exr_text (const guint8 *data, gsize size, gsize *at)
{
  const gchar *text = (const gchar *) data + *at;
  const gsize length = strnlen (text, size - *at);

  if (length == size - *at)
    return NULL;
  *at += length + 1;
  return text;
}

/* Takes the maximum of the data window and the display window. */
static void
note_exr_window (SpdlImageProbe *self, const guint8 *box)
{
  const gint64 left = (gint32) spdl_read_32_le (box);
  const gint64 top = (gint32) spdl_read_32_le (box + 4);
  const gint64 width = (gint32) spdl_read_32_le (box + 8) - left + 1;
  const gint64 height = (gint32) spdl_read_32_le (box + 12) - top + 1;

  self->width = MAX (self->width, CLAMP (width, 0, G_MAXUINT32));
  self->height = MAX (self->height, CLAMP (height, 0, G_MAXUINT32));
}

static void
look_at_exr (SpdlImageProbe *self, const guint8 *data, gsize size)
{
  const gchar *name, *type;
  gsize at = 8;

  self->type = "image/x-exr";
  while ((name = read_exr_text (data, size, &at)) && *name) {
    guint32 length;

    if (!(type = read_exr_text (data, size, &at)) || size - at < 4)
      break;
    length = spdl_read_32_le (data + at);
    at += 4;
    if (length > size - at)
      break;
    if (g_str_equal (type, "box2i") && length == 16)
      note_exr_window (self, data + at);
    at += length;
  }
  if (!name || *name || self->width == 0 || self->height == 0)
    self->corruption = "the header is incomplete";
}

/* Formats whose decoder allocates before it checks the size */

static void
look_at_sun (SpdlImageProbe *self, const guint8 *data)
{
  self->type = "image/x-sun-raster";
  self->width = spdl_read_32_be (data + 4);
  self->height = spdl_read_32_be (data + 8);
}

void
spdl_image_probe_find_size (
    SpdlImageProbe *self, const guint8 *data, gsize size)
{
  if (size < 18)
    return;
  if (g_str_equal (self->type, "image/x-tga")) {
    self->width = spdl_read_16_le (data + 12);
    self->height = spdl_read_16_le (data + 14);
  } else if (g_str_equal (self->type, "image/x-sgi")) {
    self->width = spdl_read_16_be (data + 6);
    self->height = spdl_read_16_be (data + 8);
  } else if (g_str_equal (self->type, "image/x-pcx")) {
    self->width = spdl_read_16_le (data + 8) - spdl_read_16_le (data + 4) + 1;
    self->height = spdl_read_16_le (data + 10) - spdl_read_16_le (data + 6) + 1;
  }
}

void
spdl_image_probe (SpdlImageProbe *self, const guint8 *data, gsize size)
{
  memset (self, 0, sizeof *self);
  self->orientation = 1;
  if (size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '7')
    look_at_pnm (self, data, size);
  if (self->type || size < 12)
    return;
  if (memcmp (data, "\x59\xa6\x6a\x95", 4) == 0)
    look_at_sun (self, data);
  else if (memcmp (data, "BM", 2) == 0)
    look_at_bmp (self, data, size);
  else if (memcmp (data, "\x76\x2f\x31\x01", 4) == 0)
    look_at_exr (self, data, size);
}
