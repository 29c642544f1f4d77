/* gst-spdl: the inner loops of a resize with SSE2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlkernels.h"

#ifdef SPDL_KERNELS_X86

#include <emmintrin.h>
#include <string.h>

#define SSE2 __attribute__ ((target ("sse2")))
#define SSE2_INLINE SSE2 __attribute__ ((always_inline)) static inline

SSE2_INLINE __m128i
pack (__m128i a, __m128i b, __m128i c, __m128i d)
{
  return _mm_packus_epi16 (_mm_packs_epi32 (a, b), _mm_packs_epi32 (c, d));
}

/* Pixels */

/* Of two pixels, channel by channel side by side, to 16 bits: what pmaddwd
 * multiplies and adds up. */
SSE2_INLINE __m128i
add_pair (__m128i sums, const guint8 *pixels, const gint16 *weights)
{
  const __m128i two = _mm_loadl_epi64 ((const __m128i *) pixels);
  const __m128i mixed = _mm_unpacklo_epi8 (two, _mm_srli_epi64 (two, 32));
  const __m128i words = _mm_unpacklo_epi8 (mixed, _mm_setzero_si128 ());

  return _mm_add_epi32 (sums,
      _mm_madd_epi16 (words, _mm_set1_epi32 (spdl_kernel_get_pair (weights))));
}

/* Of four rows. */
typedef struct {
  __m128i rows[SPDL_KERNEL_ROWS];
} Sums;

SSE2_INLINE Sums
add_pixels (__m128i begin, const guint8 *const *in, gsize at,
    const gint16 *weights, guint n_taps)
{
  Sums sums = { { begin, begin, begin, begin } };

  for (guint i = 0; i < n_taps; i += 2, at += 8) {
    sums.rows[0] = add_pair (sums.rows[0], in[0] + at, weights + i);
    sums.rows[1] = add_pair (sums.rows[1], in[1] + at, weights + i);
    sums.rows[2] = add_pair (sums.rows[2], in[2] + at, weights + i);
    sums.rows[3] = add_pair (sums.rows[3], in[3] + at, weights + i);
  }
  return sums;
}

SSE2_INLINE void
store_pixel (guint8 *out, __m128i sums, __m128i shift)
{
  const __m128i whole = _mm_sra_epi32 (sums, shift);
  const gint32 pixel = _mm_cvtsi128_si32 (pack (whole, whole, whole, whole));

  /* The fourth byte is the next pixel's. */
  memcpy (out, &pixel, sizeof pixel);
}

SSE2_INLINE void
shrink_pixels_of (guint8 *const *out, const guint8 *const *in,
    const SpdlFilter *filter, guint n_taps, gboolean fine)
{
  const __m128i shift = _mm_cvtsi32_si128 (filter->shift);
  const __m128i low_bits = _mm_cvtsi32_si128 (filter->low_bits);
  const __m128i half = _mm_set1_epi32 (1 << (filter->shift - 1));
  const __m128i begin = fine ? _mm_setzero_si128 () : half;
  gsize place = 0;

  for (guint o = 0; o < filter->n_out; o++, place += filter->stride) {
    const gsize at = (gsize) filter->first[o] * 4;
    Sums low,
        sums = add_pixels (begin, in, at, filter->weights + place, n_taps);

    if (fine)
      low = add_pixels (half, in, at, filter->low + place, n_taps);
    for (guint i = 0; i < SPDL_KERNEL_ROWS; i++) {
      if (fine)
        sums.rows[i] =
            _mm_add_epi32 (_mm_sll_epi32 (sums.rows[i], low_bits), low.rows[i]);
      store_pixel (out[i] + o * (gsize) 3, sums.rows[i], shift);
    }
  }
}

SSE2 static void
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

/* Eight taps at a time, four sums that are still to be added. */
SSE2_INLINE __m128i
add_bytes (const guint8 *in, const gint16 *weights, guint n_taps)
{
  __m128i sums = _mm_setzero_si128 ();

  for (guint i = 0; i < n_taps; i += 8)
    sums = _mm_add_epi32 (sums,
        _mm_madd_epi16 (
            _mm_unpacklo_epi8 (_mm_loadl_epi64 ((const __m128i *) (in + i)),
                _mm_setzero_si128 ()),
            _mm_loadu_si128 ((const __m128i *) (weights + i))));
  return sums;
}

SSE2_INLINE __m128i
sum_bytes (const guint8 *in, const gint16 *weights, guint n_taps, gsize low_at,
    __m128i low_bits)
{
  const __m128i sums = add_bytes (in, weights, n_taps);

  if (low_at == 0)
    return sums;
  return _mm_add_epi32 (
      _mm_sll_epi32 (sums, low_bits), add_bytes (in, weights + low_at, n_taps));
}

/* Adds up the sums of four pixels: a transposition. */
SSE2_INLINE __m128i
join (__m128i a, __m128i b, __m128i c, __m128i d)
{
  const __m128i ab =
      _mm_add_epi32 (_mm_unpacklo_epi32 (a, b), _mm_unpackhi_epi32 (a, b));
  const __m128i cd =
      _mm_add_epi32 (_mm_unpacklo_epi32 (c, d), _mm_unpackhi_epi32 (c, d));

  return _mm_add_epi32 (
      _mm_unpacklo_epi64 (ab, cd), _mm_unpackhi_epi64 (ab, cd));
}

SSE2_INLINE void
shrink_bytes_of_row (
    guint8 *out, const guint8 *in, const SpdlFilter *filter, guint n_taps)
{
  const __m128i shift = _mm_cvtsi32_si128 (filter->shift);
  const __m128i half = _mm_set1_epi32 (1 << (filter->shift - 1));
  const __m128i low_bits = _mm_cvtsi32_si128 (filter->low_bits);
  const gsize low_at = filter->low ? filter->low - filter->weights : 0;
  const guint *first = filter->first;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;

#define SUM(i) \
  sum_bytes (in + first[o + i], weights + i * stride, n_taps, low_at, low_bits)
  for (guint o = 0; o < filter->n_out; o += 4, weights += 4 * stride) {
    const __m128i sums = join (SUM (0), SUM (1), SUM (2), SUM (3));
    const __m128i whole = _mm_sra_epi32 (_mm_add_epi32 (sums, half), shift);
    const gint32 bytes = _mm_cvtsi128_si32 (pack (whole, whole, whole, whole));

    memcpy (out + o, &bytes, sizeof bytes);
  }
#undef SUM
}

SSE2 static void
shrink_bytes (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    if (filter->n_taps <= 8)
      shrink_bytes_of_row (out[i], in[i], filter, 8);
    else
      shrink_bytes_of_row (out[i], in[i], filter, filter->n_taps);
}

/* Columns */

SSE2_INLINE __m128i
sum_columns (const guint8 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, __m128i shift, __m128i half)
{
  const __m128i zero = _mm_setzero_si128 ();
  __m128i s0 = half, s1 = half, s2 = half, s3 = half;

  for (guint i = 0; i < n_rows; i += 2) {
    const __m128i w = _mm_set1_epi32 (spdl_kernel_get_pair (weights + i));
    const __m128i a = _mm_loadu_si128 ((const __m128i *) (rows[i] + at));
    const __m128i b = _mm_loadu_si128 ((const __m128i *) (rows[i + 1] + at));
    const __m128i lower = _mm_unpacklo_epi8 (a, b);
    const __m128i upper = _mm_unpackhi_epi8 (a, b);

#define ADD(sums, pairs) sums = _mm_add_epi32 (sums, _mm_madd_epi16 (pairs, w))
    ADD (s0, _mm_unpacklo_epi8 (lower, zero));
    ADD (s1, _mm_unpackhi_epi8 (lower, zero));
    ADD (s2, _mm_unpacklo_epi8 (upper, zero));
    ADD (s3, _mm_unpackhi_epi8 (upper, zero));
#undef ADD
  }
  return pack (_mm_sra_epi32 (s0, shift), _mm_sra_epi32 (s1, shift),
      _mm_sra_epi32 (s2, shift), _mm_sra_epi32 (s3, shift));
}

SSE2 static void
sum_rows (guint8 *out, gsize n, const guint8 *const *rows,
    const gint16 *weights, guint n_rows, guint shift_by)
{
  const __m128i shift = _mm_cvtsi32_si128 (shift_by);
  const __m128i half = _mm_set1_epi32 (1 << (shift_by - 1));
  gsize at = 0;

  for (; at + 16 <= n; at += 16)
    _mm_storeu_si128 ((__m128i *) (out + at),
        sum_columns (rows, at, weights, n_rows, shift, half));
  if (at < n) {
    guint8 last[16];

    _mm_storeu_si128 (
        (__m128i *) last, sum_columns (rows, at, weights, n_rows, shift, half));
    memcpy (out + at, last, n - at);
  }
}

const SpdlKernels spdl_kernels_sse2 = {
  "sse2",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
};

#endif
