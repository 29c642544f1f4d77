/* gst-spdl: the inner loops of a resize with NEON
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlkernels.h"

#ifdef SPDL_KERNELS_NEON

#include <arm_neon.h>
#include <string.h>

static inline int16x8_t
widen (uint8x8_t bytes)
{
  return vreinterpretq_s16_u16 (vmovl_u8 (bytes));
}

/* Pixels */

/* Of four rows. */
typedef struct {
  int32x4_t rows[SPDL_KERNEL_ROWS];
} Sums;

static inline Sums
add_pixels (int32x4_t begin, const guint8 *const *in, gsize at,
    const gint16 *weights, guint n_taps)
{
  Sums sums = { { begin, begin, begin, begin } };

  for (guint i = 0; i < n_taps; i += 2, at += 8)
    for (guint y = 0; y < SPDL_KERNEL_ROWS; y++) {
      const int16x8_t two = widen (vld1_u8 (in[y] + at));

      sums.rows[y] = vmlal_n_s16 (sums.rows[y], vget_low_s16 (two), weights[i]);
      sums.rows[y] =
          vmlal_n_s16 (sums.rows[y], vget_high_s16 (two), weights[i + 1]);
    }
  return sums;
}

static inline void
store_four (guint8 *out, int32x4_t sums, int32x4_t down)
{
  const int16x4_t words = vqmovn_s32 (vshlq_s32 (sums, down));
  const uint8x8_t bytes = vqmovun_s16 (vcombine_s16 (words, words));
  const guint32 four = vget_lane_u32 (vreinterpret_u32_u8 (bytes), 0);

  memcpy (out, &four, sizeof four);
}

static void
shrink_pixels (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  const int32x4_t down = vdupq_n_s32 (-(gint) filter->shift);
  const int32x4_t up = vdupq_n_s32 (filter->low_bits);
  const int32x4_t half = vdupq_n_s32 (1 << (filter->shift - 1));
  const int32x4_t begin = filter->low ? vdupq_n_s32 (0) : half;
  const guint n_taps = filter->n_taps;
  gsize place = 0;

  for (guint o = 0; o < filter->n_out; o++, place += filter->stride) {
    const gsize at = (gsize) filter->first[o] * 4;
    Sums sums = add_pixels (begin, in, at, filter->weights + place, n_taps);

    if (filter->low) {
      const Sums low = add_pixels (half, in, at, filter->low + place, n_taps);

      for (guint y = 0; y < SPDL_KERNEL_ROWS; y++)
        sums.rows[y] = vaddq_s32 (vshlq_s32 (sums.rows[y], up), low.rows[y]);
    }
    /* The fourth byte is the next pixel's. */
    for (guint y = 0; y < SPDL_KERNEL_ROWS; y++)
      store_four (out[y] + o * (gsize) 3, sums.rows[y], down);
  }
}

/* Bytes */

/* Eight taps at a time, four sums that are still to be added. */
static inline int32x4_t
add_bytes (const guint8 *in, const gint16 *weights, guint n_taps)
{
  int32x4_t sums = vdupq_n_s32 (0);

  for (guint i = 0; i < n_taps; i += 8) {
    const int16x8_t bytes = widen (vld1_u8 (in + i));
    const int16x8_t w = vld1q_s16 (weights + i);

    sums = vmlal_s16 (sums, vget_low_s16 (bytes), vget_low_s16 (w));
    sums = vmlal_high_s16 (sums, bytes, w);
  }
  return sums;
}

static inline int32x4_t
sum_bytes (const guint8 *in, const SpdlFilter *filter, gsize place)
{
  const int32x4_t sums =
      add_bytes (in, filter->weights + place, filter->n_taps);

  if (!filter->low)
    return sums;
  return vaddq_s32 (vshlq_s32 (sums, vdupq_n_s32 (filter->low_bits)),
      add_bytes (in, filter->low + place, filter->n_taps));
}

static void
shrink_bytes_of_row (guint8 *out, const guint8 *in, const SpdlFilter *filter)
{
  const int32x4_t down = vdupq_n_s32 (-(gint) filter->shift);
  const int32x4_t half = vdupq_n_s32 (1 << (filter->shift - 1));
  const gsize stride = filter->stride;
  gsize place = 0;

#define SUM(i) sum_bytes (in + filter->first[o + i], filter, place + i * stride)
  for (guint o = 0; o < filter->n_out; o += 4, place += 4 * stride) {
    const int32x4_t sums = vpaddq_s32 (
        vpaddq_s32 (SUM (0), SUM (1)), vpaddq_s32 (SUM (2), SUM (3)));

    store_four (out + o, vaddq_s32 (sums, half), down);
  }
#undef SUM
}

static void
shrink_bytes (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    shrink_bytes_of_row (out[i], in[i], filter);
}

/* Columns */

static inline uint8x8_t
finish (int32x4_t a, int32x4_t b, int32x4_t down)
{
  return vqmovun_s16 (vcombine_s16 (
      vqmovn_s32 (vshlq_s32 (a, down)), vqmovn_s32 (vshlq_s32 (b, down))));
}

static inline uint8x16_t
sum_columns (const guint8 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, int32x4_t down, int32x4_t half)
{
  int32x4_t s0 = half, s1 = half, s2 = half, s3 = half;

  for (guint i = 0; i < n_rows; i++) {
    const uint8x16_t row = vld1q_u8 (rows[i] + at);
    const int16x8_t lower = widen (vget_low_u8 (row));
    const int16x8_t upper = widen (vget_high_u8 (row));

    s0 = vmlal_n_s16 (s0, vget_low_s16 (lower), weights[i]);
    s1 = vmlal_n_s16 (s1, vget_high_s16 (lower), weights[i]);
    s2 = vmlal_n_s16 (s2, vget_low_s16 (upper), weights[i]);
    s3 = vmlal_n_s16 (s3, vget_high_s16 (upper), weights[i]);
  }
  return vcombine_u8 (finish (s0, s1, down), finish (s2, s3, down));
}

static void
sum_rows (guint8 *out, gsize n, const guint8 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  const int32x4_t down = vdupq_n_s32 (-(gint) shift);
  const int32x4_t half = vdupq_n_s32 (1 << (shift - 1));
  gsize at = 0;

  for (; at + 16 <= n; at += 16)
    vst1q_u8 (out + at, sum_columns (rows, at, weights, n_rows, down, half));
  if (at < n) {
    guint8 last[16];

    vst1q_u8 (last, sum_columns (rows, at, weights, n_rows, down, half));
    memcpy (out + at, last, n - at);
  }
}

const SpdlKernels spdl_kernels_neon = {
  "neon",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
};

#endif
