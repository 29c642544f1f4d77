/* gst-spdl: PNM reader: bitmaps, gray and color, as text or binary; PAM
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/still/imagedecoder.h"

/* Pixels that are read at once. A multiple of 8, so that the next ones of a
 * packed bitmap begin with a byte. */
#define N_PIXELS 64
#define MAX_CHANNELS 4

typedef struct {
  /* The current file. */
  const guint8 *data;
  gsize size;
  gsize at;   /* read position */
  gchar kind; /* the digit of the signature */
  guint width, height;
  guint n_channels;   /* 1: gray, 2: gray and alpha, 3: RGB, 4: RGBA */
  guint largest;      /* maximum of the samples */
  gboolean is_valid;  /* the header */
  guint8 levels[256]; /* of samples of 8 bits, from 0 to 255 */
} Pnm;

static gboolean
is_blank (guint8 c)
{
  return g_ascii_isspace (c);
}

static gboolean
is_text (const Pnm *self)
{
  return self->kind <= '3';
}

static gboolean
is_bitmap (const Pnm *self)
{
  return self->kind == '1' || self->kind == '4';
}

static gboolean
pnm_accepts (const guint8 *data, gsize size)
{
  return size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '7' &&
         is_blank (data[2]);
}

static void
close_file (gpointer decoder)
{
}

/* Header: words, separated by blanks and comments. */

static void
skip_blanks (Pnm *self)
{
  while (self->at < self->size) {
    if (self->data[self->at] == '#') {
      while (self->at < self->size && self->data[self->at] != '\n')
        self->at++;
    } else if (is_blank (self->data[self->at])) {
      self->at++;
    } else {
      return;
    }
  }
}

/* Returns 0 if there is no number. Large numbers saturate at G_MAXINT. */
static guint
read_number (Pnm *self)
{
  guint64 number = 0;

  skip_blanks (self);
  for (; self->at < self->size && g_ascii_isdigit (self->data[self->at]);
       self->at++)
    number = MIN (number * 10 + self->data[self->at] - '0', G_MAXINT);
  return number;
}

static gboolean
take_word (Pnm *self, const gchar *word)
{
  const gsize length = strlen (word);

  skip_blanks (self);
  if (self->size - self->at < length ||
      memcmp (self->data + self->at, word, length) != 0)
    return FALSE;
  self->at += length;
  return TRUE;
}

/* Reads the named header fields of P7 (PAM). */
static void
read_fields (Pnm *self)
{
  while (self->at < self->size && !take_word (self, "ENDHDR")) {
    if (take_word (self, "WIDTH"))
      self->width = read_number (self);
    else if (take_word (self, "HEIGHT"))
      self->height = read_number (self);
    else if (take_word (self, "DEPTH"))
      self->n_channels = read_number (self);
    else if (take_word (self, "MAXVAL"))
      self->largest = read_number (self);
    else
      while (self->at < self->size && self->data[self->at] != '\n')
        self->at++;
  }
}

static void
read_numbers (Pnm *self)
{
  self->n_channels = self->kind == '3' || self->kind == '6' ? 3 : 1;
  self->width = read_number (self);
  self->height = read_number (self);
  if (!is_bitmap (self))
    self->largest = read_number (self);
}

static const gchar *
get_type (const Pnm *self)
{
  static const gchar *types[] = { "image/x-portable-bitmap",
    "image/x-portable-graymap", "image/x-portable-pixmap" };

  return self->kind == '7' ? "image/x-portable-anymap"
                           : types[(self->kind - '1') % 3];
}

/* Returns whether the file has all samples as text. In P1 the digits may follow
 * each other without whitespace. */
static gboolean
has_numbers (const Pnm *self)
{
  guint64 n = (guint64) self->width * self->n_channels * self->height;
  Pnm at = *self;

  for (; n > 0; n--) {
    skip_blanks (&at);
    if (at.at >= at.size)
      return FALSE;
    if (self->kind == '1')
      at.at++;
    else
      while (at.at < at.size && !is_blank (at.data[at.at]))
        at.at++;
  }
  return TRUE;
}

static gboolean
has_samples (const Pnm *self)
{
  const guint64 n = (guint64) self->width * self->n_channels;
  const guint64 row = self->kind == '4'            ? (n + 7) / 8
                      : self->largest > G_MAXUINT8 ? 2 * n
                                                   : n;

  return is_text (self)
             ? has_numbers (self)
             : row <= (self->size - self->at) / MAX (self->height, 1);
}

/* Returns the level of @sample, from 0 to 255, rounded exactly. */
static guint8
scale_sample (const Pnm *self, guint sample)
{
  const guint level =
      (MIN (sample, self->largest) * 510 + self->largest) / (2 * self->largest);

  return is_bitmap (self) ? 255 - level : level;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Pnm *self = decoder;

  *self = (Pnm){ .data = data,
    .size = size,
    .at = 2,
    .kind = data[1],
    .n_channels = 1,
    .largest = 1 };
  if (self->kind == '7')
    read_fields (self);
  else
    read_numbers (self);
  self->at = MIN (self->at + 1, size); /* one whitespace character */
  *header = (SpdlImageHeader){
    .width = self->width, .height = self->height, .orientation = 1
  };
  self->is_valid = self->largest > 0 && self->largest <= G_MAXUINT16 &&
                   self->n_channels > 0 && self->n_channels <= MAX_CHANNELS;
  if (!self->is_valid)
    return TRUE;
  header->depth = g_bit_storage (self->largest);
  header->channels = self->n_channels;
  for (guint i = 0; i < G_N_ELEMENTS (self->levels); i++)
    self->levels[i] = scale_sample (self, i);
  return TRUE;
}

/* Samples */

/* Returns whether the number that was read ends here. */
static gboolean
is_at_end (const Pnm *self)
{
  return self->at == self->size || is_blank (self->data[self->at]) ||
         self->data[self->at] == '#';
}

/* Reads up to @n samples. Returns the number of those before the first one that
 * is missing or, as text, no number up to the maximum. */
static guint
read_samples (Pnm *self, guint16 *samples, guint n)
{
  const gsize left = self->size - self->at;
  const guint8 *from = self->data + self->at;
  const gsize size = self->largest > G_MAXUINT8 ? 2 : 1;

  if (is_text (self)) {
    for (guint i = 0; i < n; i++) {
      guint sample;

      skip_blanks (self);
      if (self->at >= self->size || !g_ascii_isdigit (self->data[self->at]))
        return i;
      sample = self->kind == '1' ? (guint) self->data[self->at++] - '0'
                                 : read_number (self);
      if (sample > self->largest || (self->kind != '1' && !is_at_end (self)))
        return i;
      samples[i] = sample;
    }
  } else if (self->kind == '4') {
    n = MIN (n, 8 * left);
    for (guint i = 0; i < n; i++)
      samples[i] = from[i / 8] >> (7 - i % 8) & 1;
    self->at += (n + 7) / 8;
  } else {
    n = MIN (n, left / size);
    for (guint i = 0; i < n; i++)
      samples[i] = size == 1 ? from[i] : from[2 * i] << 8 | from[2 * i + 1];
    self->at += n * size;
  }
  return n;
}

static guint8
get_level (const Pnm *self, guint sample)
{
  return self->largest > G_MAXUINT8 ? scale_sample (self, sample)
                                    : self->levels[MIN (sample, G_MAXUINT8)];
}

/* Writes @n pixels as colors. */
static void
put_colors (const Pnm *self, const SpdlRows *rows, guint8 *to,
    const guint16 *samples, guint n)
{
  const guint n_channels = self->n_channels;
  const gboolean has_alpha = n_channels % 2 == 0;
  const guint second = n_channels > 2 ? 1 : 0;
  guint8 pixels[N_PIXELS][4];

  for (guint i = 0; i < n; i++, samples += n_channels) {
    pixels[i][0] = get_level (self, samples[0]);
    pixels[i][1] = get_level (self, samples[second]);
    pixels[i][2] = get_level (self, samples[2 * second]);
    if (has_alpha)
      pixels[i][3] = get_level (self, samples[n_channels - 1]);
  }
  spdl_rows_put_rgba (rows, to, pixels[0], n,
      has_alpha ? SPDL_ALPHA_STRAIGHT : SPDL_ALPHA_NONE);
}

/* Returns FALSE if pixels are missing, which become background. */
static gboolean
read_row (Pnm *self, const SpdlRows *rows, guint8 *to)
{
  guint16 samples[N_PIXELS * MAX_CHANNELS];
  gboolean is_whole = TRUE;

  for (guint x = 0; x < rows->width; x += N_PIXELS) {
    const guint n = MIN (rows->width - x, N_PIXELS);
    const guint n_read =
        read_samples (self, samples, n * self->n_channels) / self->n_channels;

    is_whole &= n_read == n;
    if (rows->pixels == SPDL_PIXELS_COLOR)
      put_colors (self, rows, to, samples, n_read);
    for (guint i = rows->pixels == SPDL_PIXELS_COLOR ? n_read : 0; i < n; i++)
      spdl_rows_put_pixel (rows, to + i * (gsize) rows->pixel_size,
          i < n_read ? samples[i] : rows->background);
    to += n * (gsize) rows->pixel_size;
  }
  return is_whole;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Pnm *self = decoder;
  gboolean is_whole = self->is_valid && has_samples (self);

  if (!self->is_valid && keep)
    spdl_rows_fill (rows, 0);
  for (guint y = 0; self->is_valid && (is_whole || keep) && y < rows->height;
       y++) {
    is_whole &= read_row (self, rows, rows->get_row (rows->user_data, y));
    rows->rows_done (rows->user_data, y + 1);
  }
  if (!is_whole)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt %s: %s", get_type (self),
        self->is_valid
            ? "the file ends before the end of its last row, or a sample is "
              "not a number up to the maximum"
            : "the number of channels, or the maximum of the "
              "samples, is not valid");
  return is_whole;
}

const SpdlImageDecoder spdl_pnm_decoder = { "image/x-portable-anymap",
  pnm_accepts, sizeof (Pnm), g_free, read_header, read_rows, close_file };
