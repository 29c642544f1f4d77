/* gst-spdl: the inner loops of a resize with AVX2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlkernels.h"

#ifdef SPDL_KERNELS_X86

#include <immintrin.h>
#include <string.h>

/* On each function rather than on the file, which may thus be built like any
 * other. */
#define AVX2 __attribute__ ((target ("avx2")))
#define AVX2_INLINE AVX2 __attribute__ ((always_inline)) static inline

/* Two rows in one register: the first in the lower half. */
AVX2_INLINE __m256i
load_two (const guint8 *a, const guint8 *b)
{
  return _mm256_inserti128_si256 (
      _mm256_castsi128_si256 (_mm_loadu_si128 ((const __m128i *) a)),
      _mm_loadu_si128 ((const __m128i *) b), 1);
}

AVX2_INLINE void
store_two (guint8 *a, guint8 *b, __m256i two)
{
  _mm_storeu_si128 ((__m128i *) a, _mm256_castsi256_si128 (two));
  _mm_storeu_si128 ((__m128i *) b, _mm256_extracti128_si256 (two, 1));
}

AVX2_INLINE void
store_two_words (guint8 *a, guint8 *b, __m256i two)
{
  const gint32 lower = _mm256_extract_epi32 (two, 0);
  const gint32 upper = _mm256_extract_epi32 (two, 4);

  memcpy (a, &lower, sizeof lower);
  memcpy (b, &upper, sizeof upper);
}

/* Eight sums to bytes, four of them. */
AVX2_INLINE __m256i
pack (__m256i a, __m256i b, __m256i c, __m256i d)
{
  return _mm256_packus_epi16 (
      _mm256_packs_epi32 (a, b), _mm256_packs_epi32 (c, d));
}

/* Of four rows. */
typedef struct {
  __m256i rows01, rows23;
} Sums;

/* From sums to bytes. */
typedef struct {
  __m256i half;
  __m128i shift, low_bits;
  gsize low_at; /* of low weights, behind the others */
} Scale;

AVX2_INLINE Scale
get_scale (const SpdlFilter *filter)
{
  return (Scale){
    .half = _mm256_set1_epi32 (1 << (filter->shift - 1)),
    .shift = _mm_cvtsi32_si128 (filter->shift),
    .low_bits = _mm_cvtsi32_si128 (filter->low_bits),
    .low_at = filter->low ? filter->low - filter->weights : 0,
  };
}

AVX2_INLINE Sums
add_low (Sums sums, Sums low, const Scale *scale)
{
  return (Sums){
    _mm256_add_epi32 (
        _mm256_sll_epi32 (sums.rows01, scale->low_bits), low.rows01),
    _mm256_add_epi32 (
        _mm256_sll_epi32 (sums.rows23, scale->low_bits), low.rows23),
  };
}

/* Pixels */

/* The pixels 0 and 1 (2 and 3) of each half as 16 bits, channel by channel side
 * by side: what pmaddwd multiplies and adds up. */
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
add_pixels (__m256i begin, const guint8 *const *in, gsize at,
    const gint16 *weights, guint n_taps)
{
  const __m256i lower = _mm256_setr_epi8 (PAIR (0), PAIR (0));
  const __m256i upper = _mm256_setr_epi8 (PAIR (8), PAIR (8));
  Sums sums = { begin, begin };
  __m256i a, b;

  for (guint i = 0; i < n_taps; i += 4, at += 16) {
    a = load_two (in[0] + at, in[1] + at);
    b = load_two (in[2] + at, in[3] + at);
    sums.rows01 = add_pair (sums.rows01, a, lower, weights + i);
    sums.rows23 = add_pair (sums.rows23, b, lower, weights + i);
    if (i + 2 < n_taps) {
      sums.rows01 = add_pair (sums.rows01, a, upper, weights + i + 2);
      sums.rows23 = add_pair (sums.rows23, b, upper, weights + i + 2);
    }
  }
  return sums;
}

AVX2_INLINE Sums
sum_pixels (const guint8 *const *in, gsize at, const gint16 *weights,
    guint n_taps, gboolean fine, const Scale *scale)
{
  const __m256i begin = fine ? _mm256_setzero_si256 () : scale->half;
  Sums sums = add_pixels (begin, in, at, weights, n_taps);

  if (fine)
    sums = add_low (sums,
        add_pixels (scale->half, in, at, weights + scale->low_at, n_taps),
        scale);
  sums.rows01 = _mm256_sra_epi32 (sums.rows01, scale->shift);
  sums.rows23 = _mm256_sra_epi32 (sums.rows23, scale->shift);
  return sums;
}

AVX2_INLINE void
shrink_pixels_of (guint8 *const *out, const guint8 *const *in,
    const SpdlFilter *filter, guint n_taps, gboolean fine)
{
  const __m256i three =
      _mm256_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
          0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const Scale scale = get_scale (filter);
  const guint *first = filter->first;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;
  gsize at = 0;

#define SUM(i)                                                            \
  sum_pixels (in, (gsize) first[o + i] * 4, weights + i * stride, n_taps, \
      fine, &scale)
  for (guint o = 0; o < filter->n_out; o += 4, at += 12) {
    const Sums a = SUM (0), b = SUM (1), c = SUM (2), d = SUM (3);

    store_two (out[0] + at, out[1] + at,
        _mm256_shuffle_epi8 (
            pack (a.rows01, b.rows01, c.rows01, d.rows01), three));
    store_two (out[2] + at, out[3] + at,
        _mm256_shuffle_epi8 (
            pack (a.rows23, b.rows23, c.rows23, d.rows23), three));
    weights += 4 * stride;
  }
#undef SUM
}

AVX2 static void
shrink_pixels (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  if (filter->low) {
    shrink_pixels_of (out, in, filter, filter->n_taps, TRUE);
    return;
  }
  switch ((filter->n_taps + 1) / 2) {
#define CASE(n)                                       \
  case n:                                             \
    shrink_pixels_of (out, in, filter, n * 2, FALSE); \
    break;
    CASE (1)
    CASE (2)
    CASE (3)
    CASE (4)
#undef CASE
    default:
      shrink_pixels_of (out, in, filter, filter->n_taps, FALSE);
      break;
  }
}

/* Bytes */

AVX2_INLINE __m256i
load_bytes_of_two (const guint8 *a, const guint8 *b)
{
  return _mm256_cvtepu8_epi16 (
      _mm_unpacklo_epi64 (_mm_loadl_epi64 ((const __m128i *) a),
          _mm_loadl_epi64 ((const __m128i *) b)));
}

/* Eight taps at a time, four sums of each row that are still to be added. */
AVX2_INLINE Sums
add_bytes (
    const guint8 *const *in, gsize at, const gint16 *weights, guint n_taps)
{
  Sums sums = { _mm256_setzero_si256 (), _mm256_setzero_si256 () };

  for (guint i = 0; i < n_taps; i += 8, at += 8) {
    const __m256i w = _mm256_broadcastsi128_si256 (
        _mm_loadu_si128 ((const __m128i *) (weights + i)));

    sums.rows01 = _mm256_add_epi32 (sums.rows01,
        _mm256_madd_epi16 (load_bytes_of_two (in[0] + at, in[1] + at), w));
    sums.rows23 = _mm256_add_epi32 (sums.rows23,
        _mm256_madd_epi16 (load_bytes_of_two (in[2] + at, in[3] + at), w));
  }
  return sums;
}

AVX2_INLINE Sums
sum_bytes (const guint8 *const *in, gsize at, const gint16 *weights,
    guint n_taps, const Scale *scale)
{
  const Sums sums = add_bytes (in, at, weights, n_taps);

  if (scale->low_at == 0)
    return sums;
  return add_low (
      sums, add_bytes (in, at, weights + scale->low_at, n_taps), scale);
}

/* Adds up the sums of four pixels, and finishes them. */
AVX2_INLINE __m256i
join (__m256i a, __m256i b, __m256i c, __m256i d, const Scale *scale)
{
  __m256i sums =
      _mm256_hadd_epi32 (_mm256_hadd_epi32 (a, b), _mm256_hadd_epi32 (c, d));

  sums = _mm256_sra_epi32 (_mm256_add_epi32 (sums, scale->half), scale->shift);
  return pack (sums, sums, sums, sums);
}

AVX2_INLINE void
shrink_bytes_of (guint8 *const *out, const guint8 *const *in,
    const SpdlFilter *filter, guint n_taps)
{
  const Scale scale = get_scale (filter);
  const guint *first = filter->first;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;

#define SUM(i) \
  sum_bytes (in, first[o + i], weights + i * stride, n_taps, &scale)
  for (guint o = 0; o < filter->n_out; o += 4, weights += 4 * stride) {
    const Sums a = SUM (0), b = SUM (1), c = SUM (2), d = SUM (3);

    store_two_words (out[0] + o, out[1] + o,
        join (a.rows01, b.rows01, c.rows01, d.rows01, &scale));
    store_two_words (out[2] + o, out[3] + o,
        join (a.rows23, b.rows23, c.rows23, d.rows23, &scale));
  }
#undef SUM
}

AVX2 static void
shrink_bytes (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  if (filter->n_taps <= 8)
    shrink_bytes_of (out, in, filter, 8);
  else
    shrink_bytes_of (out, in, filter, filter->n_taps);
}

/* Columns */

AVX2_INLINE __m256i
sum_columns (const guint8 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, __m128i shift, __m256i half)
{
  const __m256i zero = _mm256_setzero_si256 ();
  __m256i s0 = half, s1 = half, s2 = half, s3 = half;

  for (guint i = 0; i < n_rows; i += 2) {
    const __m256i w = _mm256_set1_epi32 (spdl_kernel_get_pair (weights + i));
    const __m256i a = _mm256_loadu_si256 ((const __m256i *) (rows[i] + at));
    const __m256i b = _mm256_loadu_si256 ((const __m256i *) (rows[i + 1] + at));
    const __m256i lower = _mm256_unpacklo_epi8 (a, b);
    const __m256i upper = _mm256_unpackhi_epi8 (a, b);

#define ADD(sums, pairs) \
  sums = _mm256_add_epi32 (sums, _mm256_madd_epi16 (pairs, w))
    ADD (s0, _mm256_unpacklo_epi8 (lower, zero));
    ADD (s1, _mm256_unpackhi_epi8 (lower, zero));
    ADD (s2, _mm256_unpacklo_epi8 (upper, zero));
    ADD (s3, _mm256_unpackhi_epi8 (upper, zero));
#undef ADD
  }
  return pack (_mm256_sra_epi32 (s0, shift), _mm256_sra_epi32 (s1, shift),
      _mm256_sra_epi32 (s2, shift), _mm256_sra_epi32 (s3, shift));
}

AVX2_INLINE void
sum_rows_of (guint8 *out, gsize n, const guint8 *const *rows,
    const gint16 *weights, guint n_rows, guint shift_by)
{
  const __m128i shift = _mm_cvtsi32_si128 (shift_by);
  const __m256i half = _mm256_set1_epi32 (1 << (shift_by - 1));
  gsize at = 0;

  for (; at + 32 <= n; at += 32)
    _mm256_storeu_si256 ((__m256i *) (out + at),
        sum_columns (rows, at, weights, n_rows, shift, half));
  if (at < n) {
    guint8 last[32];

    _mm256_storeu_si256 (
        (__m256i *) last, sum_columns (rows, at, weights, n_rows, shift, half));
    memcpy (out + at, last, n - at);
  }
}

AVX2 static void
sum_rows (guint8 *out, gsize n, const guint8 *const *rows,
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

const SpdlKernels spdl_kernels_avx2 = {
  "avx2",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
};

#endif
