/* gst-spdl: execution of drawn augmentations on pixels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/painter.h"

#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "gst/spdl/engine/random.h"

typedef struct {
  gpointer data;
  gsize size;
} Scratch;

/* An operation reads the current image and writes to one of three others, or
 * changes it in place. While a mix runs, its original is kept. */
#define N_IMAGES 3

struct _SpdlPainter {
  const SpdlPixelKernels *kernels;
  Scratch images[N_IMAGES];
  Scratch lines; /* of a blur or sharpening */
  Scratch sums;  /* of a mix */

  /* The current run. */
  SpdlRaster current;
  const guint8 *original; /* of a mix; nullable */
  gboolean is_owned;      /* the current image may be changed */

  /* Operations on single samples are joined to a table, which is applied before
   * an operation that is none. */
  gboolean has_tables;
  gboolean is_uniform; /* the tables are equal */
  guint8 tables[3][256];
};

SpdlPainter *
spdl_painter_new (const SpdlPixelKernels *kernels)
{
  SpdlPainter *self = g_new0 (SpdlPainter, 1);

  self->kernels = kernels ? kernels : spdl_pixel_kernels_get ();
  return self;
}

void
spdl_painter_free (SpdlPainter *self)
{
  for (guint i = 0; i < N_IMAGES; i++)
    g_free (self->images[i].data);
  g_free (self->lines.data);
  g_free (self->sums.data);
  g_free (self);
}

static gpointer
take_scratch (Scratch *scratch, gsize size)
{
  if (size > scratch->size) {
    g_free (scratch->data);
    scratch->data = g_try_malloc (size);
    scratch->size = scratch->data ? size : 0;
  }
  return scratch->data;
}

static gsize
get_row_size (const SpdlRaster *raster)
{
  return (gsize) raster->width * raster->n_channels;
}

static guint8 *
get_row (const SpdlRaster *raster, guint y)
{
  return raster->data + y * raster->stride;
}

/* Returns TRUE if @data (nullable), which may be a part of an image, is in
 * @scratch. */
static gboolean
contains (const Scratch *scratch, const guint8 *data)
{
  const guint8 *start = scratch->data;

  return start && data >= start && data < start + scratch->size;
}

/* Sets @raster to an unused image of the size. */
static gboolean
take_image (SpdlPainter *self, guint width, guint height, SpdlRaster *raster)
{
  const gsize row = (gsize) width * self->current.n_channels;
  guint i = 0;

  while (contains (&self->images[i], self->current.data) ||
         contains (&self->images[i], self->original))
    i++;
  *raster = self->current;
  raster->width = width;
  raster->height = height;
  raster->stride = row;
  raster->data =
      take_scratch (&self->images[i], row * height + SPDL_LOOP_PADDING);
  return raster->data != NULL;
}

static void
copy_rows (const SpdlRaster *from, const SpdlRaster *to)
{
  for (guint y = 0; y < from->height; y++)
    memcpy (get_row (to, y), get_row (from, y), get_row_size (from));
}

static void
set_current (SpdlPainter *self, const SpdlRaster *raster)
{
  self->current = *raster;
  self->is_owned = TRUE;
}

/* Makes the current image one that may be changed. */
static gboolean
own_current (SpdlPainter *self)
{
  SpdlRaster copy;

  if (self->is_owned)
    return TRUE;
  if (!take_image (self, self->current.width, self->current.height, &copy))
    return FALSE;
  copy_rows (&self->current, &copy);
  set_current (self, &copy);
  return TRUE;
}

/* Tables */

static void
flush_tables (SpdlPainter *self)
{
  const SpdlRaster *image = &self->current;

  if (!self->has_tables)
    return;
  self->has_tables = FALSE;
  for (guint y = 0; y < image->height; y++)
    if (self->is_uniform)
      self->kernels->map (
          get_row (image, y), get_row_size (image), self->tables[0]);
    else
      self->kernels->map_pixels (get_row (image, y), image->width,
          (const guint8 (*)[256]) self->tables);
}

/* Appends @tables, one for each channel, or one for all. */
static void
append_tables (SpdlPainter *self, const guint8 (*tables)[256], guint n_tables)
{
  if (!self->has_tables) {
    for (guint c = 0; c < 3; c++)
      memcpy (self->tables[c], tables[n_tables == 1 ? 0 : c], 256);
    self->is_uniform = n_tables == 1;
    self->has_tables = TRUE;
    return;
  }
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < 256; i++)
      self->tables[c][i] = tables[n_tables == 1 ? 0 : c][self->tables[c][i]];
  self->is_uniform &= n_tables == 1;
}

static guint8
to_sample (float value)
{
  return CLAMP (value, 0, 255);
}

/* Returns the mean of the gray image. */
static float
get_mean (SpdlPainter *self)
{
  const SpdlRaster *image = &self->current;
  guint64 sum = 0;

  flush_tables (self);
  for (guint y = 0; y < image->height; y++) {
    const guint8 *row = get_row (image, y);

    if (image->n_channels == 3)
      sum += self->kernels->sum_gray (row, image->width, image->bgr);
    for (guint x = 0; x < image->width && image->n_channels == 1; x++)
      sum += row[x];
  }
  return (double) sum / ((double) image->width * image->height);
}

/* @other: the sample that brightness and contrast blend with */
static guint8
map_sample (const SpdlStep *step, float other, guint i)
{
  const double value = step->values[0];
  const float ratio = value;

  switch (step->kind) {
    case SPDL_OP_POSTERIZE:
      return i & (0xff00 >> (guint) value);
    case SPDL_OP_SOLARIZE:
      return i >= value ? 255 - i : i;
    case SPDL_OP_SOLARIZE_ADD:
      return i < 128 ? MIN (i + (guint) value, 255) : i;
    case SPDL_OP_INVERT:
      return 255 - i;
    default:
      return to_sample (i * ratio + other * (1 - ratio));
  }
}

static void
append_map (SpdlPainter *self, const SpdlStep *step)
{
  const float other = step->kind == SPDL_OP_CONTRAST ? get_mean (self) : 0;
  guint8 table[1][256];

  for (guint i = 0; i < 256; i++)
    table[0][i] = map_sample (step, other, i);
  append_tables (self, (const guint8 (*)[256]) table, 1);
}

static void
append_autocontrast (SpdlPainter *self)
{
  const SpdlRaster *image = &self->current;
  SpdlExtremes extremes;
  guint8 tables[3][256];

  flush_tables (self);
  memset (extremes.low, 255, sizeof extremes.low);
  memset (extremes.high, 0, sizeof extremes.high);
  for (guint y = 0; y < image->height; y++)
    self->kernels->find_extremes (
        get_row (image, y), get_row_size (image), &extremes);
  for (guint c = 0; c < image->n_channels; c++) {
    guint8 low = 255, high = 0;

    for (guint i = c; i < 96; i += image->n_channels) {
      low = MIN (low, extremes.low[i]);
      high = MAX (high, extremes.high[i]);
    }
    for (guint i = 0; i < 256; i++)
      tables[c][i] =
          high > low
              ? to_sample (((gint) i - low) / ((high - low) * (1.0f / 255)))
              : i;
  }
  append_tables (self, (const guint8 (*)[256]) tables, image->n_channels);
}

/* Counts in several tables, because an increment waits for the last one of the
 * same counter. */
static void
count_samples (const SpdlRaster *image, guint32 (*counts)[256])
{
  const guint n = image->n_channels;
  guint32 others[3][256] = { { 0 } };

  memset (counts, 0, 3 * sizeof counts[0]);
  for (guint y = 0; y < image->height; y++) {
    const guint8 *row = get_row (image, y);
    guint x;

    for (x = 0; x + 2 <= image->width; x += 2, row += 2 * n)
      for (guint c = 0; c < n; c++) {
        counts[c][row[c]]++;
        others[c][row[c + n]]++;
      }
    for (guint c = 0; c < n && x < image->width; c++)
      counts[c][row[c]]++;
  }
  for (guint c = 0; c < n; c++)
    for (guint i = 0; i < 256; i++)
      counts[c][i] += others[c][i];
}

/* Sets the table that equalizes a histogram, as in Pillow. */
static void
equalize_counts (const guint32 *counts, guint32 n_pixels, guint8 *table)
{
  guint last = 255;
  guint32 step, sum;

  while (last > 0 && counts[last] == 0)
    last--;
  step = (n_pixels - counts[last]) / 255;
  sum = step / 2;
  for (guint i = 0; i < 256; i++) {
    table[i] = step > 0 ? MIN (sum / step, 255) : i;
    sum += counts[i];
  }
}

static void
append_equalize (SpdlPainter *self)
{
  const SpdlRaster *image = &self->current;
  guint32 counts[3][256];
  guint8 tables[3][256];

  flush_tables (self);
  count_samples (image, counts);
  for (guint c = 0; c < image->n_channels; c++)
    equalize_counts (counts[c], image->width * image->height, tables[c]);
  append_tables (self, (const guint8 (*)[256]) tables, image->n_channels);
}

/* Rows */

static void
change_rows (SpdlPainter *self, const SpdlStep *step)
{
  const SpdlPixelKernels *kernels = self->kernels;
  const SpdlRaster *image = &self->current;
  const gboolean is_flip = step->kind == SPDL_OP_HORIZONTAL_FLIP;
  const float value = step->kind == SPDL_OP_GRAYSCALE ? 0 : step->values[0];

  if (image->n_channels == 1 && !is_flip)
    return;
  for (guint y = 0; y < image->height; y++) {
    guint8 *row = get_row (image, y);

    if (is_flip)
      kernels->mirror (row, image->width, image->n_channels);
    else if (step->kind == SPDL_OP_HUE)
      kernels->shift_hue (row, image->width, image->bgr, value);
    else
      kernels->blend_gray (row, image->width, image->bgr, value);
  }
}

/* Neighborhoods */

static gboolean
sharpen (SpdlPainter *self, float ratio)
{
  const SpdlRaster *image = &self->current;
  const gsize size = get_row_size (image);
  guint8 *lines;

  if (image->width <= 2 || image->height <= 2)
    return TRUE;
  /* Rows that were sharpened are needed as they were: two of them. */
  if (!(lines = take_scratch (&self->lines, 2 * size)))
    return FALSE;
  memcpy (lines, get_row (image, 0), size);
  for (guint y = 1; y + 1 < image->height; y++) {
    guint8 *above = lines + (y + 1) % 2 * size, *row = lines + y % 2 * size;
    const guint8 *const rows[] = { above, row, get_row (image, y + 1) };

    memcpy (row, get_row (image, y), size);
    self->kernels->sharpen (
        get_row (image, y), rows, size, image->n_channels, ratio);
  }
  return TRUE;
}

/* Returns the row or column that stands for number @i outside an image of @n:
 * mirrored, with or without a copy of the edge. */
static guint
reflect (gint64 i, guint n, gboolean has_edge)
{
  const gint64 period = MAX (2 * (gint64) n - (has_edge ? 0 : 2), 1);

  i = (i % period + period) % period;
  return i < n ? i : period - i - has_edge;
}

/* Weights that round to 0 at the ends are left out. */
static void
set_blur (SpdlBlur *blur, guint size, double sigma)
{
  double weights[128], sum = 0;
  gint rest = 1 << 15;

  for (guint i = 0; i <= size / 2; i++) {
    weights[i] = exp (-0.5 * (i / sigma) * (i / sigma));
    sum += i == 0 ? weights[i] : 2 * weights[i];
  }
  blur->n = 0;
  for (guint i = 1; i <= size / 2; i++) {
    blur->weights[i - 1] = rint (weights[i] / sum * (1 << 15));
    rest -= 2 * blur->weights[i - 1];
    if (blur->weights[i - 1] > 0)
      blur->n = i;
  }
  blur->center = MIN (rest, G_MAXINT16);
}

/* Repeats the mirrored ends of a row outside of it. */
static void
extend_row (gint16 *row, guint n, guint n_channels, guint margin)
{
  for (guint i = 1; i <= margin; i++) {
    const guint left = reflect (-(gint64) i, n, FALSE);
    const guint right = reflect ((gint64) n - 1 + i, n, FALSE);

    for (guint c = 0; c < n_channels; c++) {
      row[-(gssize) i * n_channels + c] = row[(gsize) left * n_channels + c];
      row[(gsize) (n - 1 + i) * n_channels + c] =
          row[(gsize) right * n_channels + c];
    }
  }
}

static gboolean
blur_image (SpdlPainter *self, guint size, double sigma)
{
  const SpdlRaster *image = &self->current;
  const guint8 *rows[255];
  SpdlRaster out;
  SpdlBlur blur;
  gsize margin;
  gint16 *line;

  set_blur (&blur, size, sigma);
  margin = blur.n * (gsize) image->n_channels;
  line = take_scratch (&self->lines,
      (get_row_size (image) + 2 * margin + SPDL_LOOP_PADDING) * sizeof line[0]);
  if (!line || !take_image (self, image->width, image->height, &out))
    return FALSE;
  for (guint y = 0; y < image->height; y++) {
    for (guint k = 0; k <= 2 * blur.n; k++)
      rows[k] = get_row (
          image, reflect ((gint64) y + k - blur.n, image->height, FALSE));
    self->kernels->blur_columns (
        line + margin, rows, get_row_size (image), &blur);
    extend_row (line + margin, image->width, image->n_channels, blur.n);
    self->kernels->blur_row (get_row (&out, y), line + margin,
        get_row_size (image), image->n_channels, &blur);
  }
  set_current (self, &out);
  return TRUE;
}

/* Geometry */

static gboolean
warp (SpdlPainter *self, const SpdlStep *step)
{
  const SpdlRaster in = self->current;
  SpdlRaster out;
  SpdlWarp transform;

  if (!take_image (self, in.width, in.height, &out))
    return FALSE;
  spdl_warp_init (&transform, step, &in);
  for (guint y = 0; y < out.height; y++)
    self->kernels->warp_row (&transform, y, get_row (&out, y));
  set_current (self, &out);
  return TRUE;
}

/* Fills pixels @x to @x_end of a row. */
static void
fill_pixels (const SpdlRaster *raster, guint8 *row, guint x, guint x_end,
    const SpdlFill *fill)
{
  const guint n = raster->n_channels;

  for (; x < x_end; x++)
    for (guint c = 0; c < n; c++)
      row[(gsize) x * n + c] = fill->color[raster->bgr ? 2 - c : c];
}

static gint64
map_padding (gint64 i, guint n, SpdlPadMode mode)
{
  return mode == SPDL_PAD_EDGE ? CLAMP (i, 0, (gint64) n - 1)
                               : reflect (i, n, mode == SPDL_PAD_SYMMETRIC);
}

static gboolean
pad_image (SpdlPainter *self, const SpdlStep *step)
{
  const SpdlRaster in = self->current;
  const gint64 padding = step->values[SPDL_PAD_PADDING];
  const SpdlPadMode mode = step->values[SPDL_PAD_MODE];
  const guint n = in.n_channels;
  SpdlRaster out;

  if (!take_image (self, in.width + 2 * padding, in.height + 2 * padding, &out))
    return FALSE;
  for (guint y = 0; y < out.height; y++) {
    const gint64 from_y = y - padding;
    guint8 *to = get_row (&out, y);
    const guint8 *from;

    if (mode == SPDL_PAD_CONSTANT && (from_y < 0 || from_y >= in.height)) {
      fill_pixels (&out, to, 0, out.width, &step->fill);
      continue;
    }
    from = get_row (&in, map_padding (from_y, in.height, mode));
    memcpy (to + padding * n, from, get_row_size (&in));
    if (mode == SPDL_PAD_CONSTANT) {
      fill_pixels (&out, to, 0, padding, &step->fill);
      fill_pixels (&out, to, out.width - padding, out.width, &step->fill);
      continue;
    }
    for (gint64 x = 0; x < padding; x++) {
      const gint64 right = in.width + x;

      memcpy (
          to + x * n, from + map_padding (x - padding, in.width, mode) * n, n);
      memcpy (to + (padding + right) * n,
          from + map_padding (right, in.width, mode) * n, n);
    }
  }
  set_current (self, &out);
  return TRUE;
}

static void
crop_image (SpdlPainter *self, const SpdlStep *step)
{
  SpdlRaster *image = &self->current;

  image->data += (gsize) step->values[SPDL_CROP_Y] * image->stride +
                 (gsize) step->values[SPDL_CROP_X] * image->n_channels;
  image->width = step->values[SPDL_CROP_WIDTH];
  image->height = step->values[SPDL_CROP_HEIGHT];
}

static void
fill_noise (guint8 *row, gsize n, SpdlRandom *random)
{
  for (gsize i = 0; i < n; i += 8) {
    const guint64 bytes = GUINT64_TO_LE (spdl_random_next (random));

    memcpy (row + i, &bytes, MIN (n - i, 8));
  }
}

static void
erase (SpdlPainter *self, const SpdlStep *step)
{
  const SpdlRaster *image = &self->current;
  const guint x = MIN (step->values[SPDL_ERASE_X], image->width);
  const guint y = MIN (step->values[SPDL_ERASE_Y], image->height);
  const guint x_end = MIN (x + step->values[SPDL_ERASE_WIDTH], image->width);
  const guint y_end = MIN (y + step->values[SPDL_ERASE_HEIGHT], image->height);
  const gboolean is_noise = step->fill.kind == SPDL_FILL_NOISE;
  const guint64 key = is_noise ? step->values[SPDL_ERASE_NOISE] : 0;
  SpdlRandom random;

  spdl_random_init (&random, &key, 1);
  for (guint i = y; i < y_end; i++) {
    guint8 *row = get_row (image, i);

    if (is_noise)
      fill_noise (row + (gsize) x * image->n_channels,
          (gsize) (x_end - x) * image->n_channels, &random);
    else
      fill_pixels (image, row, x, x_end, &step->fill);
  }
}

/* Turns the image upside down. */
static gboolean
turn_over (SpdlPainter *self)
{
  const SpdlRaster *image = &self->current;
  const gsize size = get_row_size (image);
  guint8 *line = take_scratch (&self->lines, size);

  if (!line)
    return FALSE;
  for (guint y = 0, k = image->height - 1; y < k; y++, k--) {
    memcpy (line, get_row (image, y), size);
    memcpy (get_row (image, y), get_row (image, k), size);
    memcpy (get_row (image, k), line, size);
  }
  return TRUE;
}

/* Steps */

static gboolean
apply_step (SpdlPainter *self, const SpdlStep *step)
{
  switch (step->kind) {
    case SPDL_OP_BRIGHTNESS:
    case SPDL_OP_CONTRAST:
    case SPDL_OP_INVERT:
    case SPDL_OP_POSTERIZE:
    case SPDL_OP_SOLARIZE:
    case SPDL_OP_SOLARIZE_ADD:
      append_map (self, step);
      return TRUE;
    case SPDL_OP_AUTOCONTRAST:
      append_autocontrast (self);
      return TRUE;
    case SPDL_OP_EQUALIZE:
      append_equalize (self);
      return TRUE;
    default:
      flush_tables (self);
  }
  switch (step->kind) {
    case SPDL_OP_SATURATION:
    case SPDL_OP_GRAYSCALE:
    case SPDL_OP_HUE:
    case SPDL_OP_HORIZONTAL_FLIP:
      change_rows (self, step);
      return TRUE;
    case SPDL_OP_VERTICAL_FLIP:
      return turn_over (self);
    case SPDL_OP_SHARPNESS:
      return sharpen (self, step->values[0]);
    case SPDL_OP_GAUSSIAN_BLUR:
      return blur_image (self, step->values[SPDL_BLUR_KERNEL_SIZE],
          step->values[SPDL_BLUR_SIGMA]);
    case SPDL_OP_PAD:
      return pad_image (self, step);
    case SPDL_OP_CROP:
      crop_image (self, step);
      return TRUE;
    case SPDL_OP_ERASE:
      erase (self, step);
      return TRUE;
    default:
      return warp (self, step);
  }
}

static gboolean
apply_steps (SpdlPainter *self, const SpdlStep **step, const SpdlStep *end);

static void
add_image (SpdlPainter *self, float *sums, float weight)
{
  const SpdlRaster *image = &self->current;
  const gsize size = get_row_size (image);

  for (guint y = 0; y < image->height; y++)
    self->kernels->add_weighted (
        sums + y * size, get_row (image, y), size, weight);
}

/* Applies the sequences of the mix at @step to copies of the image, and sets
 * @step to its end. */
static gboolean
apply_mix (SpdlPainter *self, const SpdlStep **step, const SpdlStep *end)
{
  const SpdlRaster original = self->current;
  const gsize n = get_row_size (&original) * original.height;
  float *sums = take_scratch (&self->sums, n * sizeof sums[0]);

  if (!sums)
    return FALSE;
  memset (sums, 0, n * sizeof sums[0]);
  add_image (self, sums, (*step)++->values[0]);
  self->original = original.data;
  while (*step < end && (*step)->kind == SPDL_OP_SEQUENCE) {
    const float weight = (*step)++->values[0];

    self->current = original;
    self->is_owned = FALSE;
    if (!apply_steps (self, step, end))
      return FALSE;
    add_image (self, sums, weight);
  }
  self->original = NULL;
  set_current (self, &original);
  for (guint y = 0; y < original.height; y++)
    self->kernels->store_sums (get_row (&original, y),
        sums + y * get_row_size (&original), get_row_size (&original));
  return TRUE;
}

/* Applies steps up to the end of a sequence or @end. */
static gboolean
apply_steps (SpdlPainter *self, const SpdlStep **step, const SpdlStep *end)
{
  gboolean ok = TRUE;

  while (ok && *step < end && (*step)->kind != SPDL_OP_END) {
    if (!own_current (self))
      return FALSE;
    if ((*step)->kind == SPDL_OP_MIX) {
      flush_tables (self);
      ok = apply_mix (self, step, end);
    } else {
      ok = apply_step (self, *step);
    }
    (*step)++;
  }
  if (*step < end)
    (*step)++;
  flush_tables (self);
  return ok;
}

gboolean
spdl_painter_run (SpdlPainter *self, const SpdlStep *steps, guint n_steps,
    const SpdlRaster *in, const SpdlRaster *out, GError **error)
{
  const SpdlStep *step = steps;

  self->current = *in;
  self->original = NULL;
  self->has_tables = FALSE;
  self->is_owned = in->data == out->data;
  /* Without steps, the pointer may be NULL. */
  if (n_steps > 0 && !apply_steps (self, &step, steps + n_steps)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory to augment an image of %u by %u", in->width,
        in->height);
    return FALSE;
  }
  if (self->current.data != out->data)
    copy_rows (&self->current, out);
  return TRUE;
}
