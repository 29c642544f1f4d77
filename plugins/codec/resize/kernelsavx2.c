/* gst-spdl: kernels of the resizer, AVX2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/kernels.h"

#ifdef SPDL_KERNELS_X86

#include <immintrin.h>
#include <string.h>

/* The target attribute is set per function, so that the file needs no compiler
 * flags. */
#define AVX2 __attribute__ ((target ("avx2")))
#define AVX2_INLINE AVX2 __attribute__ ((always_inline)) static inline

/* Loads two rows into one register, the first into the lower half. */
AVX2_INLINE __m256i
load_two (const guint8 *rows, gsize stride)
{
  return _mm256_inserti128_si256 (
      _mm256_castsi128_si256 (_mm_loadu_si128 ((const __m128i *) rows)),
      _mm_loadu_si128 ((const __m128i *) (rows + stride)), 1);
}

/* Sums of four rows. */
typedef struct {
  __m256i rows01, rows23;
} Sums;

/* Parameters of the conversion from sums to values. */
typedef struct {
  __m256i half, max;
  __m128i shift;
} Scale;

AVX2_INLINE Scale
get_scale (guint shift, guint bits)
{
  return (Scale){
    .half = _mm256_set1_epi32 (1 << (shift - 1)),
    .max = _mm256_set1_epi16 (255 << bits),
    .shift = _mm_cvtsi32_si128 (shift),
  };
}

AVX2_INLINE __m256i
pack_bytes (__m256i a, __m256i b, const Scale *scale)
{
  return _mm256_min_epu16 (
      _mm256_packus_epi32 (_mm256_sra_epi32 (a, scale->shift),
          _mm256_sra_epi32 (b, scale->shift)),
      scale->max);
}

/* Pixels */

/* Shuffle of two pixels in each half to pairs of 16-bit values per channel, as
 * pmaddwd needs them. */
#define PAIR(p)                                                            \
  p, -1, p + 4, -1, p + 1, -1, p + 5, -1, p + 2, -1, p + 6, -1, p + 3, -1, \
      p + 7, -1

AVX2_INLINE __m256i
add_pair (__m256i sums, __m256i pixels, __m256i order, const gint16 *weights)
{
  return _mm256_add_epi32 (
      sums, _mm256_madd_epi16 (_mm256_shuffle_epi8 (pixels, order),
                _mm256_set1_epi32 (spdl_kernel_get_pair (weights))));
}

AVX2_INLINE Sums
sum_pixels (const guint8 *in, gsize stride, const gint16 *weights, guint n_taps,
    const Scale *scale)
{
  const __m256i lower = _mm256_setr_epi8 (PAIR (0), PAIR (0));
  const __m256i upper = _mm256_setr_epi8 (PAIR (8), PAIR (8));
  Sums sums = { scale->half, scale->half };
  __m256i a, b;

  for (guint i = 0; i < n_taps; i += 4, in += 16) {
    a = load_two (in, stride);
    b = load_two (in + 2 * stride, stride);
    sums.rows01 = add_pair (sums.rows01, a, lower, weights + i);
    sums.rows23 = add_pair (sums.rows23, b, lower, weights + i);
    if (i + 2 < n_taps) {
      sums.rows01 = add_pair (sums.rows01, a, upper, weights + i + 2);
      sums.rows23 = add_pair (sums.rows23, b, upper, weights + i + 2);
    }
  }
  return sums;
}

/* Stores two pixels of two rows without the fourth channel. */
AVX2_INLINE void
store_pixels (
    gint16 *out, gsize stride, __m256i a, __m256i b, const Scale *scale)
{
  const __m256i three =
      _mm256_setr_epi8 (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1,
          0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1);
  const __m256i values = _mm256_shuffle_epi8 (pack_bytes (a, b, scale), three);

  _mm_storeu_si128 ((__m128i *) out, _mm256_castsi256_si128 (values));
  _mm_storeu_si128 (
      (__m128i *) (out + stride), _mm256_extracti128_si256 (values, 1));
}

AVX2_INLINE void
shrink_pixels_of (gint16 *out, gsize out_stride, const guint8 *in,
    gsize in_stride, const SpdlFilter *filter, guint bits, guint n_taps)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const guint *first = filter->first;
  const guint *end = first + filter->n_out;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;

#define SUM(i)                                                            \
  sum_pixels (in + (gsize) first[i] * 4, in_stride, weights + i * stride, \
      n_taps, &scale)
  for (; first < end; first += 2, out += 6, weights += 2 * stride) {
    const Sums a = SUM (0), b = SUM (1);

    store_pixels (out, out_stride, a.rows01, b.rows01, &scale);
    store_pixels (out + 2 * out_stride, out_stride, a.rows23, b.rows23, &scale);
  }
#undef SUM
}

AVX2 static void
shrink_pixels (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  switch ((filter->n_taps + 1) / 2) {
#define CASE(n)                                                             \
  case n:                                                                   \
    shrink_pixels_of (out, out_stride, in, in_stride, filter, bits, n * 2); \
    break;
    CASE (1)
    CASE (2)
    CASE (3)
    CASE (4)
    CASE (5)
#undef CASE
    default:
      shrink_pixels_of (
          out, out_stride, in, in_stride, filter, bits, filter->n_taps);
      break;
  }
}

/* Bytes */

AVX2_INLINE __m256i
load_bytes_of_two (const guint8 *rows, gsize stride)
{
  return _mm256_cvtepu8_epi16 (
      _mm_unpacklo_epi64 (_mm_loadl_epi64 ((const __m128i *) rows),
          _mm_loadl_epi64 ((const __m128i *) (rows + stride))));
}

/* Processes eight taps at a time. Returns four partial sums per row. */
AVX2_INLINE Sums
sum_bytes (const guint8 *in, gsize stride, const gint16 *weights, guint n_taps)
{
  Sums sums = { _mm256_setzero_si256 (), _mm256_setzero_si256 () };

  for (guint i = 0; i < n_taps; i += 8, in += 8) {
    const __m256i w = _mm256_broadcastsi128_si256 (
        _mm_loadu_si128 ((const __m128i *) (weights + i)));

    sums.rows01 = _mm256_add_epi32 (
        sums.rows01, _mm256_madd_epi16 (load_bytes_of_two (in, stride), w));
    sums.rows23 = _mm256_add_epi32 (sums.rows23,
        _mm256_madd_epi16 (load_bytes_of_two (in + 2 * stride, stride), w));
  }
  return sums;
}

/* Adds up the partial sums of four pixels of two rows. */
AVX2_INLINE void
store_bytes (gint16 *out, gsize stride, __m256i a, __m256i b, __m256i c,
    __m256i d, const Scale *scale)
{
  const __m256i sums = _mm256_add_epi32 (
      _mm256_hadd_epi32 (_mm256_hadd_epi32 (a, b), _mm256_hadd_epi32 (c, d)),
      scale->half);
  const __m256i values = pack_bytes (sums, sums, scale);

  _mm_storel_epi64 ((__m128i *) out, _mm256_castsi256_si128 (values));
  _mm_storel_epi64 (
      (__m128i *) (out + stride), _mm256_extracti128_si256 (values, 1));
}

AVX2_INLINE void
shrink_bytes_of (gint16 *out, gsize out_stride, const guint8 *in,
    gsize in_stride, const SpdlFilter *filter, guint bits, guint n_taps)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const guint *first = filter->first;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;

#define SUM(i) \
  sum_bytes (in + first[o + i], in_stride, weights + i * stride, n_taps)
  for (guint o = 0; o < filter->n_out; o += 4, weights += 4 * stride) {
    const Sums a = SUM (0), b = SUM (1), c = SUM (2), d = SUM (3);

    store_bytes (
        out + o, out_stride, a.rows01, b.rows01, c.rows01, d.rows01, &scale);
    store_bytes (out + o + 2 * out_stride, out_stride, a.rows23, b.rows23,
        c.rows23, d.rows23, &scale);
  }
#undef SUM
}

/* Computes four samples of four rows from one load per row. */
AVX2_INLINE void
shrink_quads_of (gint16 *out, gsize stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits, guint n_pairs)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const SpdlFilterQuad *quad = filter->quads;

  for (guint o = 0; o < filter->n_out; o += 4, out += 4) {
    const guint8 *from = in + filter->first[o];
    const __m256i rows01 = load_two (from, in_stride);
    const __m256i rows23 = load_two (from + 2 * in_stride, in_stride);
    Sums sums = { scale.half, scale.half };
    __m256i values;
    __m128i rows02, rows13;

    for (guint i = 0; i < n_pairs; i++, quad++) {
      const __m256i places = _mm256_broadcastsi128_si256 (
          _mm_loadu_si128 ((const __m128i *) quad->places));
      const __m256i weights = _mm256_broadcastsi128_si256 (
          _mm_loadu_si128 ((const __m128i *) quad->weights));

      sums.rows01 = _mm256_add_epi32 (sums.rows01,
          _mm256_madd_epi16 (_mm256_shuffle_epi8 (rows01, places), weights));
      sums.rows23 = _mm256_add_epi32 (sums.rows23,
          _mm256_madd_epi16 (_mm256_shuffle_epi8 (rows23, places), weights));
    }
    values = pack_bytes (sums.rows01, sums.rows23, &scale);
    rows02 = _mm256_castsi256_si128 (values);
    rows13 = _mm256_extracti128_si256 (values, 1);
    _mm_storel_epi64 ((__m128i *) out, rows02);
    _mm_storel_epi64 ((__m128i *) (out + stride), rows13);
    _mm_storel_epi64 (
        (__m128i *) (out + 2 * stride), _mm_unpackhi_epi64 (rows02, rows02));
    _mm_storel_epi64 (
        (__m128i *) (out + 3 * stride), _mm_unpackhi_epi64 (rows13, rows13));
  }
}

AVX2_INLINE void
shrink_quads (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  switch (filter->n_pairs) {
#define CASE(n)                                                        \
  case n:                                                              \
    shrink_quads_of (out, out_stride, in, in_stride, filter, bits, n); \
    break;
    CASE (1)
    CASE (2)
    CASE (3)
    CASE (4)
#undef CASE
    default:
      shrink_quads_of (
          out, out_stride, in, in_stride, filter, bits, filter->n_pairs);
      break;
  }
}

AVX2 static void
shrink_bytes (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  if (filter->n_pairs > 0)
    shrink_quads (out, out_stride, in, in_stride, filter, bits);
  else if (filter->n_taps <= 8)
    shrink_bytes_of (out, out_stride, in, in_stride, filter, bits, 8);
  else
    shrink_bytes_of (
        out, out_stride, in, in_stride, filter, bits, filter->n_taps);
}

/* Columns */

/* Sums sixteen columns; the caller saturates. */
AVX2_INLINE __m256i
sum_columns (const gint16 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, const Scale *scale)
{
  __m256i lower = scale->half, upper = scale->half;

  for (guint i = 0; i < n_rows; i += 2) {
    const __m256i w = _mm256_set1_epi32 (spdl_kernel_get_pair (weights + i));
    const __m256i a = _mm256_loadu_si256 ((const __m256i *) (rows[i] + at));
    const __m256i b = _mm256_loadu_si256 ((const __m256i *) (rows[i + 1] + at));

    lower = _mm256_add_epi32 (
        lower, _mm256_madd_epi16 (_mm256_unpacklo_epi16 (a, b), w));
    upper = _mm256_add_epi32 (
        upper, _mm256_madd_epi16 (_mm256_unpackhi_epi16 (a, b), w));
  }
  return _mm256_packs_epi32 (_mm256_sra_epi32 (lower, scale->shift),
      _mm256_sra_epi32 (upper, scale->shift));
}

AVX2_INLINE __m256i
sum_32_columns (const gint16 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, const Scale *scale)
{
  const __m256i bytes =
      _mm256_packus_epi16 (sum_columns (rows, at, weights, n_rows, scale),
          sum_columns (rows, at + 16, weights, n_rows, scale));

  return _mm256_permute4x64_epi64 (bytes, _MM_SHUFFLE (3, 1, 2, 0));
}

AVX2_INLINE void
sum_rows_of (guint8 *out, gsize n, const gint16 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  const Scale scale = get_scale (shift, 0);
  gsize at = 0;

  for (; at + 32 <= n; at += 32)
    _mm256_storeu_si256 ((__m256i *) (out + at),
        sum_32_columns (rows, at, weights, n_rows, &scale));
  if (at < n) {
    guint8 last[32];

    _mm256_storeu_si256 (
        (__m256i *) last, sum_32_columns (rows, at, weights, n_rows, &scale));
    memcpy (out + at, last, n - at);
  }
}

AVX2 static void
sum_rows (guint8 *out, gsize n, const gint16 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  switch (n_rows) {
#define CASE(n_rows)                                    \
  case n_rows:                                          \
    sum_rows_of (out, n, rows, weights, n_rows, shift); \
    break;
    CASE (2)
    CASE (4)
    CASE (6)
    CASE (8)
#undef CASE
    default:
      sum_rows_of (out, n, rows, weights, n_rows, shift);
      break;
  }
}

/* Planes */

typedef struct {
  __m256i r, g, b;
} Colors;

AVX2_INLINE __m256i
load_16 (const guint8 *bytes)
{
  return _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) bytes));
}

AVX2_INLINE __m256i
multiply_words (__m256i values, gint16 factor)
{
  return _mm256_mulhrs_epi16 (values, _mm256_set1_epi16 (factor));
}

/* Returns 16 pixels, which may exceed the range of a byte. */
AVX2_INLINE Colors
get_colors (const guint8 *const planes[3], gsize at)
{
  const __m256i middle = _mm256_set1_epi16 (128);
  const __m256i half = _mm256_set1_epi16 (1 << (SPDL_GREEN_BITS - 1));
  const __m256i y = load_16 (planes[0] + at);
  const __m256i cb = _mm256_sub_epi16 (load_16 (planes[1] + at), middle);
  const __m256i cr = _mm256_sub_epi16 (load_16 (planes[2] + at), middle);
  const __m256i green = _mm256_add_epi16 (
      multiply_words (_mm256_slli_epi16 (cb, SPDL_GREEN_BITS), SPDL_GREEN_CB),
      multiply_words (_mm256_slli_epi16 (cr, SPDL_GREEN_BITS), SPDL_GREEN_CR));

  return (Colors){
    .r = _mm256_add_epi16 (
        _mm256_add_epi16 (y, cr), multiply_words (cr, SPDL_RED_CR)),
    .g = _mm256_add_epi16 (
        y, _mm256_srai_epi16 (_mm256_add_epi16 (green, half), SPDL_GREEN_BITS)),
    .b = _mm256_add_epi16 (_mm256_add_epi16 (y, _mm256_add_epi16 (cb, cb)),
        multiply_words (cb, SPDL_BLUE_CB)),
  };
}

/* Packs four pixels of four bytes to three bytes each; writes 16 bytes. */
AVX2_INLINE void
store_four (guint8 *out, __m128i pixels)
{
  const __m128i three =
      _mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);

  _mm_storeu_si128 ((__m128i *) out, _mm_shuffle_epi8 (pixels, three));
}

/* Writes 16 pixels and four more bytes. */
AVX2_INLINE void
join_16 (guint8 *out, const guint8 *const planes[3], gsize at, gboolean bgr)
{
  const Colors c = get_colors (planes, at);
  /* In each half: eight bytes of the first channel and eight of the third. */
  const __m256i ends = _mm256_packus_epi16 (bgr ? c.b : c.r, bgr ? c.r : c.b);
  const __m256i middle = _mm256_packus_epi16 (c.g, c.g);
  const __m256i first = _mm256_unpacklo_epi8 (ends, middle);
  const __m256i third = _mm256_unpackhi_epi8 (ends, middle);
  const __m256i lower = _mm256_unpacklo_epi16 (first, third);
  const __m256i upper = _mm256_unpackhi_epi16 (first, third);

  store_four (out, _mm256_castsi256_si128 (lower));
  store_four (out + 12, _mm256_castsi256_si128 (upper));
  store_four (out + 24, _mm256_extracti128_si256 (lower, 1));
  store_four (out + 36, _mm256_extracti128_si256 (upper, 1));
}

AVX2_INLINE void
join_planes_of (
    guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr)
{
  guint8 last[16 * 3 + 4];
  guint at = 0;

  for (; at + 18 <= n; at += 16)
    join_16 (out + (gsize) at * 3, planes, at, bgr);
  for (; at < n; at += 16) {
    join_16 (last, planes, at, bgr);
    memcpy (out + (gsize) at * 3, last, MIN (n - at, 16) * 3);
  }
}

AVX2 static void
join_planes (guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr)
{
  if (bgr)
    join_planes_of (out, planes, n, TRUE);
  else
    join_planes_of (out, planes, n, FALSE);
}

const SpdlKernels spdl_kernels_avx2 = {
  "avx2",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
  join_planes,
};

#endif
