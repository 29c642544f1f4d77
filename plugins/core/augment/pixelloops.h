/* gst-spdl: loops of the kernels of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Included by the file of each set of kernels, which defines LOOP, the
 * attributes of a function, LOOP_NAME, LOOP_KERNELS, and LOOP_INTERPOLATE if it
 * has the instructions of AVX2. The compiler vectorizes
 * the loops: they work on blocks of a fixed size, without branches. */

#include <string.h>

#define LOOP_INLINE LOOP __attribute__ ((always_inline)) static inline
#define BLOCK 64

/* Weights of torchvision's gray. */
#define RED 0.2989f
#define GREEN 0.587f
#define BLUE 0.114f

LOOP static void
map (guint8 *row, gsize n, const guint8 *table)
{
  gsize i = 0;

  for (; i + 8 <= n; i += 8) {
    guint64 in, out = 0;

    memcpy (&in, row + i, sizeof in);
    for (guint k = 0; k < 64; k += 8)
      out |= (guint64) table[in >> k & 0xff] << k;
    memcpy (row + i, &out, sizeof out);
  }
  for (; i < n; i++)
    row[i] = table[row[i]];
}

LOOP static void
map_pixels (guint8 *row, guint n, const guint8 (*tables)[256])
{
  for (guint i = 0; i < n; i++, row += 3) {
    row[0] = tables[0][row[0]];
    row[1] = tables[1][row[1]];
    row[2] = tables[2][row[2]];
  }
}

/* Planes of a block of pixels */

typedef struct {
  guint8 red[BLOCK];
  guint8 green[BLOCK];
  guint8 blue[BLOCK];
} SpdlLoopPlanes;

/* Splits and joins have a constant number of pixels, so that they are
 * vectorized. */
LOOP_INLINE void
split (const guint8 *row, guint n, gboolean bgr, SpdlLoopPlanes *planes)
{
  guint8 *first = bgr ? planes->blue : planes->red;
  guint8 *last = bgr ? planes->red : planes->blue;
  guint8 rest[3 * BLOCK];

  if (n < BLOCK) {
    memset (rest, 0, sizeof rest);
    row = memcpy (rest, row, 3 * n);
  }
  for (guint i = 0; i < BLOCK; i++) {
    first[i] = row[3 * i];
    planes->green[i] = row[3 * i + 1];
    last[i] = row[3 * i + 2];
  }
}

LOOP_INLINE void
join (guint8 *row, guint n, gboolean bgr, const SpdlLoopPlanes *planes)
{
  const guint8 *first = bgr ? planes->blue : planes->red;
  const guint8 *last = bgr ? planes->red : planes->blue;
  guint8 rest[3 * BLOCK], *to = n < BLOCK ? rest : row;

  for (guint i = 0; i < BLOCK; i++) {
    to[3 * i] = first[i];
    to[3 * i + 1] = planes->green[i];
    to[3 * i + 2] = last[i];
  }
  if (n < BLOCK)
    memcpy (row, rest, 3 * n);
}

LOOP_INLINE float
clamp_sample (float value)
{
  value = value > 0 ? value : 0;
  return value < 255 ? value : 255;
}

/* Gray without its fraction, which torchvision drops before it blends. */
LOOP_INLINE gint
get_gray (guint8 red, guint8 green, guint8 blue)
{
  return red * RED + green * GREEN + blue * BLUE;
}

/* Blends pixels with their gray: @ratio 1 keeps them, 0 makes them gray. */
LOOP static void
blend_gray (guint8 *row, guint n, gboolean bgr, float ratio)
{
  const float rest = 1 - ratio;
  SpdlLoopPlanes p;

  for (guint at = 0; at < n; at += BLOCK) {
    const guint size = MIN (n - at, BLOCK);

    split (row + 3 * at, size, bgr, &p);
    for (guint i = 0; i < BLOCK; i++) {
      const float gray = rest * get_gray (p.red[i], p.green[i], p.blue[i]);

      p.red[i] = (gint) clamp_sample (p.red[i] * ratio + gray);
      p.green[i] = (gint) clamp_sample (p.green[i] * ratio + gray);
      p.blue[i] = (gint) clamp_sample (p.blue[i] * ratio + gray);
    }
    join (row + 3 * at, size, bgr, &p);
  }
}

LOOP static guint64
sum_gray (const guint8 *row, guint n, gboolean bgr)
{
  guint64 sum = 0;

  for (guint at = 0; at < n; at += BLOCK) {
    SpdlLoopPlanes p;
    gint block = 0;

    split (row + 3 * at, MIN (n - at, BLOCK), bgr, &p);
    for (guint i = 0; i < BLOCK; i++)
      block += get_gray (p.red[i], p.green[i], p.blue[i]);
    sum += block;
  }
  return sum;
}

/* Returns a channel of the color with the hue @hue, in sixths of the circle,
 * plus that of the channel; both together are -3 to 14. */
LOOP_INLINE float
get_channel (float hue, float high, float range)
{
  float part;

  hue = hue < 0 ? hue + 6 : hue;
  hue = hue >= 6 ? hue - 6 : hue;
  hue = hue >= 6 ? hue - 6 : hue;
  part = hue < 4 - hue ? hue : 4 - hue;
  part = part > 0 ? part : 0;
  part = part < 1 ? part : 1;
  /* torchvision's conversion from 0..1, which does not round. */
  return (high - range * part) * (255.999f / 255);
}

LOOP static void
shift_hue (guint8 *row, guint n, gboolean bgr, float factor)
{
  SpdlLoopPlanes p;

  for (guint at = 0; at < n; at += BLOCK) {
    const guint size = MIN (n - at, BLOCK);

    split (row + 3 * at, size, bgr, &p);
    for (guint i = 0; i < BLOCK; i++) {
      const float r = p.red[i], g = p.green[i], b = p.blue[i];
      const float high = MAX (MAX (r, g), b);
      const float range = high - MIN (MIN (r, g), b);
      const float difference = high == r ? g - b : high == g ? b - r : r - g;
      const float sector = high == r ? 0 : high == g ? 2 : 4;
      const float hue =
          sector + difference / (range > 0 ? range : 1) + 6 * factor;

      p.red[i] = (gint) get_channel (hue + 5, high, range);
      p.green[i] = (gint) get_channel (hue + 3, high, range);
      p.blue[i] = (gint) get_channel (hue + 1, high, range);
    }
    join (row + 3 * at, size, bgr, &p);
  }
}

LOOP static void
find_extremes (const guint8 *row, gsize n, SpdlExtremes *extremes)
{
  guint8 *low = extremes->low, *high = extremes->high;
  gsize at;

  for (at = 0; at + 96 <= n; at += 96)
    for (guint i = 0; i < 96; i++) {
      low[i] = MIN (low[i], row[at + i]);
      high[i] = MAX (high[i], row[at + i]);
    }
  for (guint i = 0; at + i < n; i++) {
    low[i] = MIN (low[i], row[at + i]);
    high[i] = MAX (high[i], row[at + i]);
  }
}

/* Neighborhoods */

LOOP static void
sharpen (
    guint8 *out, const guint8 *const rows[3], gsize n, guint step, float ratio)
{
  const guint8 *above = rows[0], *row = rows[1], *below = rows[2];
  const float rest = 1 - ratio;

  memcpy (out, row, step);
  memcpy (out + n - step, row + n - step, step);
  for (gsize i = step; i < n - step; i++) {
    const guint16 sum = above[i - step] + above[i] + above[i + step] +
                        row[i - step] + 5 * row[i] + row[i + step] +
                        below[i - step] + below[i] + below[i + step];
    /* Divides by 13. */
    const guint16 blurred = ((guint32) (guint16) (sum + 6) * 5042) >> 16;
    const float value = row[i] + rest * (blurred - row[i]);

    out[i] = (gint) clamp_sample (value);
  }
}

LOOP_INLINE gint16
scale_fixed (gint16 value, gint16 weight)
{
  return ((gint32) value * weight + (1 << 14)) >> 15;
}

LOOP static void
blur_columns (
    gint16 *out, const guint8 *const *rows, gsize n, const SpdlBlur *blur)
{
  const guint8 *middle = rows[blur->n];
  const gint16 center = blur->center;

  for (gsize i = 0; i < n; i++)
    out[i] = scale_fixed (middle[i] << 6, center);
  for (guint k = 0; k < blur->n; k++) {
    const guint8 *above = rows[blur->n - 1 - k], *below = rows[blur->n + 1 + k];
    const gint16 weight = blur->weights[k];

    for (gsize i = 0; i < n; i++)
      out[i] += scale_fixed ((above[i] + below[i]) << 6, weight);
  }
}

LOOP static void
blur_row (
    guint8 *out, const gint16 *in, gsize n, guint step, const SpdlBlur *blur)
{
  gint16 sums[BLOCK];

  for (gsize at = 0; at < n; at += BLOCK) {
    const guint size = MIN (n - at, BLOCK);

    for (guint i = 0; i < BLOCK; i++)
      sums[i] = scale_fixed (in[at + i], blur->center);
    for (guint k = 0; k < blur->n; k++) {
      const gint16 *left = in + at - (gsize) (k + 1) * step;
      const gint16 *right = in + at + (gsize) (k + 1) * step;
      const gint16 weight = blur->weights[k];

      for (guint i = 0; i < BLOCK; i++)
        sums[i] += scale_fixed (left[i] + right[i], weight);
    }
    for (guint i = 0; i < size; i++) {
      const gint16 value = (sums[i] + 32) >> 6;

      out[at + i] = CLAMP (value, 0, 255);
    }
  }
}

/* Geometry */

/* Bits of the fraction of a position. */
#define FRACTION 11
#define ONE (1 << FRACTION)

/* Positions are clamped to this distance from the image, and then stored
 * without a sign. */
#define MARGIN 2

typedef struct {
  gint32 x[BLOCK];
  gint32 y[BLOCK];
} SpdlLoopPositions;

LOOP_INLINE float
clamp_position (float value, guint side)
{
  /* The order of the comparison makes NaN the limit. */
  value = value > -MARGIN ? value : -MARGIN;
  return value < side + 1.0f ? value : side + 1.0f;
}

/* Computes the positions of BLOCK pixels from (@x, @y) on: rounded to pixels as
 * in PyTorch, to the even one of two; otherwise in units of 1 / ONE. */
LOOP_INLINE void
locate (const SpdlWarp *warp, guint x, guint y, gboolean nearest,
    gboolean is_projective, SpdlLoopPositions *positions)
{
  const double *m = warp->m;
  const guint width = warp->in->width, height = warp->in->height;
  const float x0 = m[0] * x + m[1] * y + m[2];
  const float y0 = m[3] * x + m[4] * y + m[5];
  const float w0 = m[6] * x + m[7] * y + m[8];
  const float dx = m[0], dy = m[3], dw = m[6];
  /* Adding this leaves no bits for a fraction. */
  const float magic = 12582912;

  for (gint i = 0; i < BLOCK; i++) {
    const float w = is_projective ? w0 + dw * i : 1;
    const float px =
        clamp_position (is_projective ? (x0 + dx * i) / w : x0 + dx * i, width);
    const float py = clamp_position (
        is_projective ? (y0 + dy * i) / w : y0 + dy * i, height);

    positions->x[i] =
        nearest ? (gint) (px + magic - magic) : (gint) ((px + MARGIN) * ONE);
    positions->y[i] =
        nearest ? (gint) (py + magic - magic) : (gint) ((py + MARGIN) * ONE);
  }
}

LOOP_INLINE void
put_nearest (const SpdlWarp *warp, const SpdlLoopPositions *positions, guint n,
    guint n_channels, guint8 *out)
{
  const SpdlRaster *in = warp->in;

  for (guint i = 0; i < n; i++, out += n_channels) {
    const guint x = positions->x[i], y = positions->y[i];
    const guint8 *from = x < in->width && y < in->height
                             ? in->data + y * in->stride + x * n_channels
                             : warp->fill.color;

    for (guint c = 0; c < n_channels; c++)
      out[c] = from[c];
  }
}

/* Interpolates a pixel at the edge: samples outside are black, and then the
 * result is blended with the fill by the weight that is outside. */
LOOP_INLINE void
put_edge (const SpdlWarp *warp, gint x, gint y, gint fx, gint fy,
    guint n_channels, guint8 *out)
{
  const SpdlRaster *in = warp->in;
  const gint64 all = 1 << 2 * FRACTION;
  gint64 weight = 0, sums[3] = { 0, 0, 0 };

  if (x < -1 || y < -1 || x >= (gint) in->width || y >= (gint) in->height) {
    memcpy (out, warp->fill.color, n_channels);
    return;
  }
  for (gint k = 0; k < 4; k++) {
    const gint px = x + (k & 1), py = y + (k >> 1);
    const gint w = (k & 1 ? fx : ONE - fx) * (k >> 1 ? fy : ONE - fy);
    const guint8 *from;

    if (px < 0 || py < 0 || px >= (gint) in->width || py >= (gint) in->height)
      continue;
    from = in->data + py * in->stride + px * (gsize) n_channels;
    weight += w;
    for (guint c = 0; c < n_channels; c++)
      sums[c] += w * from[c];
  }
  for (guint c = 0; c < n_channels; c++) {
    if (warp->fill.kind != SPDL_FILL_NONE)
      sums[c] = sums[c] * weight / all + (all - weight) * warp->fill.color[c];
    out[c] = (sums[c] + all / 2) >> 2 * FRACTION;
  }
}

LOOP_INLINE void
interpolate (const guint8 *from, gsize stride, gint fx, gint fy,
    guint n_channels, guint8 *out)
{
  for (guint c = 0; c < n_channels; c++) {
    const guint8 *below = from + stride;
    const gint top = from[c] * (ONE - fx) + from[c + n_channels] * fx;
    const gint bottom = below[c] * (ONE - fx) + below[c + n_channels] * fx;

    out[c] = (top * (ONE - fy) + bottom * fy + ONE * ONE / 2) >> 2 * FRACTION;
  }
}

#ifdef LOOP_INTERPOLATE
#include <immintrin.h>

/* The same for 3 channels. Reads 8 bytes of both rows. */
LOOP_INLINE void
LOOP_INTERPOLATE (
    const guint8 *from, gsize stride, gint fx, gint fy, guint8 *out)
{
  const __m128i pairs =
      _mm_setr_epi8 (0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
  const __m128i bytes = _mm_setr_epi8 (
      0, 4, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i weights = _mm_set1_epi32 (fx * 65536 + ONE - fx);
  const __m128i top = _mm_madd_epi16 (
      _mm_shuffle_epi8 (_mm_loadl_epi64 ((const __m128i *) from), pairs),
      weights);
  const __m128i bottom = _mm_madd_epi16 (
      _mm_shuffle_epi8 (
          _mm_loadl_epi64 ((const __m128i *) (from + stride)), pairs),
      weights);
  const __m128i sum =
      _mm_add_epi32 (_mm_mullo_epi32 (top, _mm_set1_epi32 (ONE - fy)),
          _mm_mullo_epi32 (bottom, _mm_set1_epi32 (fy)));
  const __m128i rounded = _mm_srli_epi32 (
      _mm_add_epi32 (sum, _mm_set1_epi32 (ONE * ONE / 2)), 2 * FRACTION);
  const guint32 pixel = _mm_cvtsi128_si32 (_mm_shuffle_epi8 (rounded, bytes));

  memcpy (out, &pixel, 2);
  out[2] = pixel >> 16;
}
#endif

LOOP_INLINE void
put_bilinear (const SpdlWarp *warp, const SpdlLoopPositions *positions, guint n,
    guint n_channels, guint8 *out)
{
  const SpdlRaster *in = warp->in;

  for (guint i = 0; i < n; i++, out += n_channels) {
    const gint x = (positions->x[i] >> FRACTION) - MARGIN;
    const gint y = (positions->y[i] >> FRACTION) - MARGIN;
    const gint fx = positions->x[i] & (ONE - 1);
    const gint fy = positions->y[i] & (ONE - 1);
    const guint8 *from =
        in->data + y * (gssize) in->stride + x * (gssize) n_channels;

#ifdef LOOP_INTERPOLATE
    if (n_channels == 3 && x >= 0 && x + 3 <= (gint) in->width &&
        (guint) y < in->height - 1) {
      LOOP_INTERPOLATE (from, in->stride, fx, fy, out);
      continue;
    }
#endif
    if ((guint) x < in->width - 1 && (guint) y < in->height - 1)
      interpolate (from, in->stride, fx, fy, n_channels, out);
    else
      put_edge (warp, x, y, fx, fy, n_channels, out);
  }
}

LOOP_INLINE void
warp_row_of (const SpdlWarp *warp, guint y, guint8 *out, guint n_channels)
{
  const guint width = warp->in->width;
  SpdlLoopPositions positions;

  for (guint x = 0; x < width; x += BLOCK, out += BLOCK * n_channels) {
    const guint n = MIN (width - x, BLOCK);

    if (warp->filter == SPDL_WARP_NEAREST) {
      if (warp->is_projective)
        locate (warp, x, y, TRUE, TRUE, &positions);
      else
        locate (warp, x, y, TRUE, FALSE, &positions);
      put_nearest (warp, &positions, n, n_channels, out);
    } else {
      if (warp->is_projective)
        locate (warp, x, y, FALSE, TRUE, &positions);
      else
        locate (warp, x, y, FALSE, FALSE, &positions);
      put_bilinear (warp, &positions, n, n_channels, out);
    }
  }
}

LOOP static void
warp_row (const SpdlWarp *warp, guint y, guint8 *out)
{
  if (warp->in->n_channels == 3)
    warp_row_of (warp, y, out, 3);
  else
    warp_row_of (warp, y, out, 1);
}

LOOP static void
mirror (guint8 *row, guint n, guint n_channels)
{
  for (guint i = 0, k = n - 1; i < k; i++, k--) {
    guint8 pixel[3];

    if (n_channels == 3) {
      memcpy (pixel, row + 3 * i, 3);
      memcpy (row + 3 * i, row + 3 * k, 3);
      memcpy (row + 3 * k, pixel, 3);
    } else {
      pixel[0] = row[i];
      row[i] = row[k];
      row[k] = pixel[0];
    }
  }
}

/* Mixes */

LOOP static void
add_weighted (float *sums, const guint8 *row, gsize n, float weight)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += row[i] * weight;
}

LOOP static void
store_sums (guint8 *row, const float *sums, gsize n)
{
  for (gsize i = 0; i < n; i++)
    row[i] = (gint) clamp_sample (sums[i]);
}

const SpdlPixelKernels LOOP_KERNELS = {
  LOOP_NAME,
  map,
  map_pixels,
  blend_gray,
  shift_hue,
  sum_gray,
  find_extremes,
  sharpen,
  blur_columns,
  blur_row,
  warp_row,
  mirror,
  add_weighted,
  store_sums,
};
