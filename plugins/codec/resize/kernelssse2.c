/* gst-spdl: kernels of the resizer, SSE2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/kernels.h"

#ifdef SPDL_KERNELS_X86

#include <emmintrin.h>
#include <string.h>

#define SSE2 __attribute__ ((target ("sse2")))
#define SSE2_INLINE SSE2 __attribute__ ((always_inline)) static inline

/* Parameters of the conversion from sums to values. */
typedef struct {
  __m128i half, max, shift;
} Scale;

SSE2_INLINE Scale
get_scale (guint shift, guint bits)
{
  return (Scale){
    .half = _mm_set1_epi32 (1 << (shift - 1)),
    .max = _mm_set1_epi16 (255 << bits),
    .shift = _mm_cvtsi32_si128 (shift),
  };
}

/* Stores four values. */
SSE2_INLINE void
store_four (gint16 *out, __m128i sums, const Scale *scale)
{
  const __m128i whole = _mm_sra_epi32 (sums, scale->shift);
  const __m128i values = _mm_packs_epi32 (whole, whole);

  _mm_storel_epi64 ((__m128i *) out,
      _mm_min_epi16 (_mm_max_epi16 (values, _mm_setzero_si128 ()), scale->max));
}

/* Pixels */

/* Interleaves two pixels to pairs of 16-bit values per channel, as pmaddwd
 * needs them. */
SSE2_INLINE __m128i
add_pair (__m128i sums, const guint8 *pixels, const gint16 *weights)
{
  const __m128i two = _mm_loadl_epi64 ((const __m128i *) pixels);
  const __m128i mixed = _mm_unpacklo_epi8 (two, _mm_srli_epi64 (two, 32));
  const __m128i words = _mm_unpacklo_epi8 (mixed, _mm_setzero_si128 ());

  return _mm_add_epi32 (sums,
      _mm_madd_epi16 (words, _mm_set1_epi32 (spdl_kernel_get_pair (weights))));
}

SSE2_INLINE void
shrink_pixels_of (gint16 *out, gsize out_stride, const guint8 *in,
    gsize in_stride, const SpdlFilter *filter, guint bits, guint n_taps)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const gint16 *weights = filter->weights;

  for (guint o = 0; o < filter->n_out; o++, weights += filter->stride) {
    const guint8 *from = in + (gsize) filter->first[o] * 4;
    gint16 *to = out + (gsize) o * 3;
    __m128i s0 = scale.half, s1 = s0, s2 = s0, s3 = s0;

    for (guint i = 0; i < n_taps; i += 2) {
      s0 = add_pair (s0, from + i * 4, weights + i);
      s1 = add_pair (s1, from + i * 4 + in_stride, weights + i);
      s2 = add_pair (s2, from + i * 4 + 2 * in_stride, weights + i);
      s3 = add_pair (s3, from + i * 4 + 3 * in_stride, weights + i);
    }
    /* The fourth value is overwritten by the next pixel. */
    store_four (to, s0, &scale);
    store_four (to + out_stride, s1, &scale);
    store_four (to + 2 * out_stride, s2, &scale);
    store_four (to + 3 * out_stride, s3, &scale);
  }
}

SSE2 static void
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
#undef CASE
    default:
      shrink_pixels_of (
          out, out_stride, in, in_stride, filter, bits, filter->n_taps);
      break;
  }
}

/* Bytes */

/* Processes eight taps at a time. Returns four partial sums. */
SSE2_INLINE __m128i
sum_bytes (const guint8 *in, const gint16 *weights, guint n_taps)
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

/* Adds up the partial sums of four pixels by a transposition. */
SSE2_INLINE __m128i
join_quarters (__m128i a, __m128i b, __m128i c, __m128i d)
{
  const __m128i ab =
      _mm_add_epi32 (_mm_unpacklo_epi32 (a, b), _mm_unpackhi_epi32 (a, b));
  const __m128i cd =
      _mm_add_epi32 (_mm_unpacklo_epi32 (c, d), _mm_unpackhi_epi32 (c, d));

  return _mm_add_epi32 (
      _mm_unpacklo_epi64 (ab, cd), _mm_unpackhi_epi64 (ab, cd));
}

SSE2_INLINE void
shrink_bytes_of_row (gint16 *out, const guint8 *in, const SpdlFilter *filter,
    guint bits, guint n_taps)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const guint *first = filter->first;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;

#define SUM(i) sum_bytes (in + first[o + i], weights + i * stride, n_taps)
  for (guint o = 0; o < filter->n_out; o += 4, weights += 4 * stride)
    store_four (out + o,
        _mm_add_epi32 (
            join_quarters (SUM (0), SUM (1), SUM (2), SUM (3)), scale.half),
        &scale);
#undef SUM
}

SSE2 static void
shrink_bytes (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    if (filter->n_taps <= 8)
      shrink_bytes_of_row (
          out + i * out_stride, in + i * in_stride, filter, bits, 8);
    else
      shrink_bytes_of_row (out + i * out_stride, in + i * in_stride, filter,
          bits, filter->n_taps);
}

/* Columns */

/* Sums eight columns; the caller saturates. */
SSE2_INLINE __m128i
sum_columns (const gint16 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, const Scale *scale)
{
  __m128i lower = scale->half, upper = scale->half;

  for (guint i = 0; i < n_rows; i += 2) {
    const __m128i w = _mm_set1_epi32 (spdl_kernel_get_pair (weights + i));
    const __m128i a = _mm_loadu_si128 ((const __m128i *) (rows[i] + at));
    const __m128i b = _mm_loadu_si128 ((const __m128i *) (rows[i + 1] + at));

    lower =
        _mm_add_epi32 (lower, _mm_madd_epi16 (_mm_unpacklo_epi16 (a, b), w));
    upper =
        _mm_add_epi32 (upper, _mm_madd_epi16 (_mm_unpackhi_epi16 (a, b), w));
  }
  return _mm_packs_epi32 (
      _mm_sra_epi32 (lower, scale->shift), _mm_sra_epi32 (upper, scale->shift));
}

SSE2_INLINE __m128i
sum_16_columns (const gint16 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, const Scale *scale)
{
  return _mm_packus_epi16 (sum_columns (rows, at, weights, n_rows, scale),
      sum_columns (rows, at + 8, weights, n_rows, scale));
}

SSE2 static void
sum_rows (guint8 *out, gsize n, const gint16 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  const Scale scale = get_scale (shift, 0);
  gsize at = 0;

  for (; at + 16 <= n; at += 16)
    _mm_storeu_si128 ((__m128i *) (out + at),
        sum_16_columns (rows, at, weights, n_rows, &scale));
  if (at < n) {
    guint8 last[16];

    _mm_storeu_si128 (
        (__m128i *) last, sum_16_columns (rows, at, weights, n_rows, &scale));
    memcpy (out + at, last, n - at);
  }
}

/* Planes */

SSE2_INLINE __m128i
load_8 (const guint8 *bytes)
{
  return _mm_unpacklo_epi8 (
      _mm_loadl_epi64 ((const __m128i *) bytes), _mm_setzero_si128 ());
}

/* Multiplies by a factor with 15 fractional bits and rounds, like pmulhrsw. */
SSE2_INLINE __m128i
multiply_words (__m128i values, gint16 factor)
{
  const __m128i one = _mm_set1_epi16 (1);
  const __m128i factors = _mm_set1_epi32 ((1 << 14 << 16) | (guint16) factor);

  return _mm_packs_epi32 (
      _mm_srai_epi32 (
          _mm_madd_epi16 (_mm_unpacklo_epi16 (values, one), factors), 15),
      _mm_srai_epi32 (
          _mm_madd_epi16 (_mm_unpackhi_epi16 (values, one), factors), 15));
}

/* Stores eight pixels of four bytes, the fourth of which is 0. */
SSE2_INLINE void
join_8 (guint8 *out, const guint8 *const planes[3], gsize at, gboolean bgr)
{
  const __m128i half = _mm_set1_epi16 (1 << (SPDL_GREEN_BITS - 1));
  const __m128i zero = _mm_setzero_si128 ();
  const __m128i y = load_8 (planes[0] + at);
  const __m128i cb =
      _mm_sub_epi16 (load_8 (planes[1] + at), _mm_set1_epi16 (128));
  const __m128i cr =
      _mm_sub_epi16 (load_8 (planes[2] + at), _mm_set1_epi16 (128));
  const __m128i green = _mm_add_epi16 (
      multiply_words (_mm_slli_epi16 (cb, SPDL_GREEN_BITS), SPDL_GREEN_CB),
      multiply_words (_mm_slli_epi16 (cr, SPDL_GREEN_BITS), SPDL_GREEN_CR));
  const __m128i r =
      _mm_add_epi16 (_mm_add_epi16 (y, cr), multiply_words (cr, SPDL_RED_CR));
  const __m128i g = _mm_add_epi16 (
      y, _mm_srai_epi16 (_mm_add_epi16 (green, half), SPDL_GREEN_BITS));
  const __m128i b = _mm_add_epi16 (_mm_add_epi16 (y, _mm_add_epi16 (cb, cb)),
      multiply_words (cb, SPDL_BLUE_CB));
  const __m128i first = _mm_packus_epi16 (bgr ? b : r, zero);
  const __m128i third = _mm_packus_epi16 (bgr ? r : b, zero);
  const __m128i two = _mm_unpacklo_epi8 (first, _mm_packus_epi16 (g, zero));
  const __m128i other = _mm_unpacklo_epi8 (third, zero);

  _mm_storeu_si128 ((__m128i *) out, _mm_unpacklo_epi16 (two, other));
  _mm_storeu_si128 ((__m128i *) (out + 16), _mm_unpackhi_epi16 (two, other));
}

SSE2_INLINE void
join_planes_of (
    guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr)
{
  for (guint at = 0; at < n; at += 8) {
    guint8 pixels[8 * 4];

    join_8 (pixels, planes, at, bgr);
    for (guint i = 0; i < MIN (n - at, 8); i++, out += 3)
      memcpy (out, pixels + i * 4, 3);
  }
}

SSE2 static void
join_planes (guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr)
{
  if (bgr)
    join_planes_of (out, planes, n, TRUE);
  else
    join_planes_of (out, planes, n, FALSE);
}

const SpdlKernels spdl_kernels_sse2 = {
  "sse2",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
  join_planes,
};

#endif
