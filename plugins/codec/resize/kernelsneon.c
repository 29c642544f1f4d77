/* gst-spdl: kernels of the resizer, NEON
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/kernels.h"

#ifdef SPDL_KERNELS_NEON

#include <arm_neon.h>
#include <string.h>

static inline int16x8_t
widen (uint8x8_t bytes)
{
  return vreinterpretq_s16_u16 (vmovl_u8 (bytes));
}

/* Parameters of the conversion from sums to values. */
typedef struct {
  int32x4_t half, down;
  int16x4_t max;
} Scale;

static inline Scale
get_scale (guint shift, guint bits)
{
  return (Scale){
    .half = vdupq_n_s32 (1 << (shift - 1)),
    .down = vdupq_n_s32 (-(gint) shift),
    .max = vdup_n_s16 (255 << bits),
  };
}

/* Stores four values. */
static inline void
store_four (gint16 *out, int32x4_t sums, const Scale *scale)
{
  const int16x4_t values = vqmovn_s32 (vshlq_s32 (sums, scale->down));

  vst1_s16 (out, vmin_s16 (vmax_s16 (values, vdup_n_s16 (0)), scale->max));
}

/* Pixels */

static inline int32x4_t
add_pair (int32x4_t sums, const guint8 *pixels, const gint16 *weights)
{
  const int16x8_t two = widen (vld1_u8 (pixels));

  sums = vmlal_n_s16 (sums, vget_low_s16 (two), weights[0]);
  return vmlal_n_s16 (sums, vget_high_s16 (two), weights[1]);
}

static void
shrink_pixels (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const gint16 *weights = filter->weights;

  for (guint o = 0; o < filter->n_out; o++, weights += filter->stride) {
    const guint8 *from = in + (gsize) filter->first[o] * 4;
    gint16 *to = out + (gsize) o * 3;
    int32x4_t s0 = scale.half, s1 = s0, s2 = s0, s3 = s0;

    for (guint i = 0; i < filter->n_taps; i += 2) {
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

/* Bytes */

/* Processes eight taps at a time. Returns four partial sums. */
static inline int32x4_t
sum_bytes (const guint8 *in, const gint16 *weights, guint n_taps)
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

static void
shrink_bytes_of_row (
    gint16 *out, const guint8 *in, const SpdlFilter *filter, guint bits)
{
  const Scale scale = get_scale (filter->shift - bits, bits);
  const guint *first = filter->first;
  const gint16 *weights = filter->weights;
  const gsize stride = filter->stride;
  const guint n_taps = filter->n_taps;

#define SUM(i) sum_bytes (in + first[o + i], weights + i * stride, n_taps)
  for (guint o = 0; o < filter->n_out; o += 4, weights += 4 * stride) {
    const int32x4_t sums = vpaddq_s32 (
        vpaddq_s32 (SUM (0), SUM (1)), vpaddq_s32 (SUM (2), SUM (3)));

    store_four (out + o, vaddq_s32 (sums, scale.half), &scale);
  }
#undef SUM
}

static void
shrink_bytes (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    shrink_bytes_of_row (
        out + i * out_stride, in + i * in_stride, filter, bits);
}

/* Columns */

/* Sums eight columns. */
static inline uint8x8_t
sum_columns (const gint16 *const *rows, gsize at, const gint16 *weights,
    guint n_rows, const Scale *scale)
{
  int32x4_t lower = scale->half, upper = scale->half;

  for (guint i = 0; i < n_rows; i++) {
    const int16x8_t row = vld1q_s16 (rows[i] + at);

    lower = vmlal_n_s16 (lower, vget_low_s16 (row), weights[i]);
    upper = vmlal_n_s16 (upper, vget_high_s16 (row), weights[i]);
  }
  return vqmovun_s16 (vcombine_s16 (vqmovn_s32 (vshlq_s32 (lower, scale->down)),
      vqmovn_s32 (vshlq_s32 (upper, scale->down))));
}

static void
sum_rows (guint8 *out, gsize n, const gint16 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  const Scale scale = get_scale (shift, 0);
  gsize at = 0;

  for (; at + 8 <= n; at += 8)
    vst1_u8 (out + at, sum_columns (rows, at, weights, n_rows, &scale));
  if (at < n) {
    guint8 last[8];

    vst1_u8 (last, sum_columns (rows, at, weights, n_rows, &scale));
    memcpy (out + at, last, n - at);
  }
}

/* Planes */

static inline int16x8_t
widen_chroma (const guint8 *bytes)
{
  return vsubq_s16 (widen (vld1_u8 (bytes)), vdupq_n_s16 (128));
}

static inline uint8x8x3_t
join_8 (const guint8 *const planes[3], gsize at, gboolean bgr)
{
  const int16x8_t y = widen (vld1_u8 (planes[0] + at));
  const int16x8_t cb = widen_chroma (planes[1] + at);
  const int16x8_t cr = widen_chroma (planes[2] + at);
  const int16x8_t green = vaddq_s16 (
      vqrdmulhq_n_s16 (vshlq_n_s16 (cb, SPDL_GREEN_BITS), SPDL_GREEN_CB),
      vqrdmulhq_n_s16 (vshlq_n_s16 (cr, SPDL_GREEN_BITS), SPDL_GREEN_CR));
  const uint8x8_t r = vqmovun_s16 (
      vaddq_s16 (vaddq_s16 (y, cr), vqrdmulhq_n_s16 (cr, SPDL_RED_CR)));
  const uint8x8_t b = vqmovun_s16 (vaddq_s16 (
      vaddq_s16 (y, vaddq_s16 (cb, cb)), vqrdmulhq_n_s16 (cb, SPDL_BLUE_CB)));
  uint8x8x3_t pixels;

  pixels.val[0] = bgr ? b : r;
  pixels.val[1] =
      vqmovun_s16 (vaddq_s16 (y, vrshrq_n_s16 (green, SPDL_GREEN_BITS)));
  pixels.val[2] = bgr ? r : b;
  return pixels;
}

static void
join_planes (guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr)
{
  guint8 last[8 * 3];
  guint at = 0;

  for (; at + 8 <= n; at += 8)
    vst3_u8 (out + (gsize) at * 3, join_8 (planes, at, bgr));
  if (at < n) {
    vst3_u8 (last, join_8 (planes, at, bgr));
    memcpy (out + (gsize) at * 3, last, (n - at) * 3);
  }
}

const SpdlKernels spdl_kernels_neon = {
  "neon",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
  join_planes,
};

#endif
