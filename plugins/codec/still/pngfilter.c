/* gst-spdl: filters of PNG rows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/pngfilter.h"

#include <string.h>

/* Each byte is the sum of its filtered value and a prediction from the bytes to
 * the left, above, and above to the left, which belong to the neighboring
 * pixels. A pixel depends on the one before it, so its bytes are computed side
 * by side, in a vector of 16-bit numbers. GCC's vectors become SSE4.1 and NEON
 * from the same source. */

typedef enum {
  FILTER_NONE,
  FILTER_SUB,
  FILTER_UP,
  FILTER_AVERAGE,
  FILTER_PAETH,
  N_FILTERS
} Filter;

typedef guint8 Bytes __attribute__ ((vector_size (8)));
typedef gint16 Pixel __attribute__ ((vector_size (16)));

#define INLINE __attribute__ ((always_inline)) static inline

#ifdef __x86_64__
#define VECTORS __attribute__ ((target ("sse4.1")))
#define has_vectors() __builtin_cpu_supports ("sse4.1")
#else
#define VECTORS
#define has_vectors() TRUE
#endif

/* Reads a whole word for the pixels that fit into it, which is faster. */
INLINE Pixel
load_pixel (const guint8 *from, guint size)
{
  guint64 word = 0;
  Bytes bytes;

  memcpy (&word, from, size <= 4 ? 4 : 8);
  memcpy (&bytes, &word, sizeof bytes);
  return __builtin_convertvector(bytes, Pixel);
}

INLINE void
store_pixel (guint8 *to, Pixel pixel, guint size)
{
  const Bytes bytes = __builtin_convertvector(pixel, Bytes);

  memcpy (to, &bytes, size);
}

INLINE Pixel
select_pixel (Pixel mask, Pixel a, Pixel b)
{
  return (mask & a) | (~mask & b);
}

INLINE Pixel
absolute (Pixel a)
{
  return select_pixel (a < 0, -a, a);
}

/* The neighbor that is nearest to left + above - corner; on a tie the first of
 * left, above, corner. */
INLINE Pixel
predict_paeth (Pixel left, Pixel above, Pixel corner)
{
  const Pixel to_left = above - corner, to_above = left - corner;
  const Pixel a = absolute (to_left), b = absolute (to_above);
  const Pixel c = absolute (to_left + to_above);

  return select_pixel (
      (a <= b) & (a <= c), left, select_pixel (b <= c, above, corner));
}

/* @row, @above: (nullable): begin with the pixels */
INLINE void
unfilter_pixels (
    Filter filter, guint8 *row, const guint8 *above, gsize n, guint size)
{
  Pixel left = { 0 }, corner = { 0 };

  for (gsize i = 0; i < n; i += size) {
    const Pixel up = filter == FILTER_SUB ? left : load_pixel (above + i, size);
    Pixel prediction;

    if (filter == FILTER_SUB)
      prediction = left;
    else if (filter == FILTER_AVERAGE)
      prediction = (left + up) >> 1;
    else
      prediction = predict_paeth (left, up, corner);
    left = (load_pixel (row + i, size) + prediction) & 255;
    corner = up;
    store_pixel (row + i, left, size);
  }
}

INLINE void
unfilter_row (
    Filter filter, guint8 *row, const guint8 *above, gsize n, guint size)
{
  if (filter == FILTER_SUB)
    unfilter_pixels (FILTER_SUB, row, above, n, size);
  else if (filter == FILTER_AVERAGE)
    unfilter_pixels (FILTER_AVERAGE, row, above, n, size);
  else
    unfilter_pixels (FILTER_PAETH, row, above, n, size);
}

VECTORS static void
unfilter_with_vectors (
    Filter filter, guint8 *row, const guint8 *above, gsize n, guint size)
{
  switch (size) {
    case 1:
      unfilter_row (filter, row, above, n, 1);
      break;
    case 2:
      unfilter_row (filter, row, above, n, 2);
      break;
    case 3:
      unfilter_row (filter, row, above, n, 3);
      break;
    case 4:
      unfilter_row (filter, row, above, n, 4);
      break;
    case 6:
      unfilter_row (filter, row, above, n, 6);
      break;
    default:
      unfilter_row (filter, row, above, n, 8);
      break;
  }
}

static guint8
predict_byte (Filter filter, gint left, gint up, gint corner)
{
  const gint a = ABS (up - corner), b = ABS (left - corner);
  const gint c = ABS (left + up - 2 * corner);

  switch (filter) {
    case FILTER_SUB:
      return left;
    case FILTER_AVERAGE:
      return (left + up) / 2;
    default:
      return a <= b && a <= c ? left : b <= c ? up : corner;
  }
}

static void
unfilter_bytes (
    Filter filter, guint8 *row, const guint8 *above, gsize n, guint size)
{
  for (gsize i = 0; i < n; i++) {
    const gboolean has_left = i >= size;
    const gboolean has_above = filter != FILTER_SUB;

    row[i] += predict_byte (filter, has_left ? row[i - size] : 0,
        has_above ? above[i] : 0, has_left && has_above ? above[i - size] : 0);
  }
}

typedef void (*UnfilterFunc) (
    Filter filter, guint8 *row, const guint8 *above, gsize n, guint size);

/* Above the first row everything is 0. */
static void
unfilter_first (
    UnfilterFunc func, Filter filter, guint8 *row, gsize n, guint size)
{
  if (filter == FILTER_SUB || filter == FILTER_PAETH)
    func (FILTER_SUB, row, NULL, n, size);
  else if (filter == FILTER_AVERAGE)
    for (gsize i = size; i < n; i++)
      row[i] += row[i - size] / 2;
}

static void
add_row (guint8 *row, const guint8 *above, gsize n)
{
  for (gsize i = 0; i < n; i++)
    row[i] += above[i];
}

static void
unfilter (
    UnfilterFunc func, guint8 *rows, gsize stride, gsize n_rows, guint size)
{
  const gsize n = stride - 1;

  for (gsize y = 0; y < n_rows; y++, rows += stride) {
    const guint8 filter = rows[0];

    if (filter >= N_FILTERS)
      return;
    if (y == 0)
      unfilter_first (func, filter, rows + 1, n, size);
    else if (filter == FILTER_UP)
      add_row (rows + 1, rows + 1 - stride, n);
    else if (filter != FILTER_NONE)
      func (filter, rows + 1, rows + 1 - stride, n, size);
    rows[0] = FILTER_NONE;
  }
}

void
spdl_png_unfilter (guint8 *rows, gsize stride, gsize n_rows, guint pixel_size)
{
  unfilter (has_vectors () ? unfilter_with_vectors : unfilter_bytes, rows,
      stride, n_rows, pixel_size);
}

void
spdl_png_unfilter_plain (
    guint8 *rows, gsize stride, gsize n_rows, guint pixel_size)
{
  unfilter (unfilter_bytes, rows, stride, n_rows, pixel_size);
}
