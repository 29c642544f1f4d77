/* gst-spdl: conversion of images for a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/convert.h"

#include <gst/gst.h>

#include <string.h>

#include "gst/spdl/tensor/factors.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Number of pixels that are separated into planes at a time, so that the planes
 * stay in the CPU's cache. */
#define BLOCK 512

gsize
spdl_sample_get_size (SpdlSample sample)
{
  switch (sample) {
    case SPDL_SAMPLE_UINT8:
      return 1;
    case SPDL_SAMPLE_FLOAT16:
      return 2;
    default:
      return 4;
  }
}

gboolean
spdl_convert_init (SpdlConvert *self, SpdlSample in, SpdlSample out,
    guint n_channels, gboolean planar, const double *mean, guint n_mean,
    const double *std, guint n_std, GError **error)
{
  const double unit = in == SPDL_SAMPLE_UINT8 ? 1.0 / 255.0 : 1.0;
  const gboolean scaled = n_mean > 0 || n_std > 0;

  memset (self, 0, sizeof *self);
  self->in = in;
  self->out = out;
  self->n_channels = n_channels;
  self->planar = planar;
  if (n_channels > SPDL_CONVERT_MAX_CHANNELS) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Items of %u channels cannot be converted: the limit is %d, and the "
        "channels must be the last dimension, as in (height, width, channels)",
        n_channels, SPDL_CONVERT_MAX_CHANNELS);
    return FALSE;
  }
  if (out == SPDL_SAMPLE_UINT8 && (in != SPDL_SAMPLE_UINT8 || scaled)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "mean, std and floating-point items need a floating-point dtype: set "
        "dtype to float32 or float16");
    return FALSE;
  }
  if (!gst_spdl_factors_check (
          "items", "mean", mean, n_mean, n_channels, FALSE, error) ||
      !gst_spdl_factors_check (
          "items", "std", std, n_std, n_channels, TRUE, error))
    return FALSE;

  self->plain = in == out && !scaled;
  for (guint i = 0; i < n_channels * SPDL_CONVERT_LANES; i++) {
    const guint channel = i % n_channels;
    const double deviation = gst_spdl_factors_get (std, n_std, channel, 1.0);

    self->scale[i] = unit / deviation;
    self->shift[i] =
        -gst_spdl_factors_get (mean, n_mean, channel, 0.0) / deviation;
  }
  return TRUE;
}

/* Converts @n samples. @scale and @shift have @period values, which are
 * repeated. */
static void
write_samples (const SpdlConvert *self, const void *in, void *out, gsize n,
    const float *scale, const float *shift, guint period)
{
  const SpdlConvertKernels *kernels = spdl_convert_kernels_get ();
  const gboolean half = self->out == SPDL_SAMPLE_FLOAT16;

  if (self->plain)
    memcpy (out, in, n * spdl_sample_get_size (self->in));
  else if (self->in == SPDL_SAMPLE_UINT8 && half)
    kernels->u8_to_f16 (in, out, n, scale, shift, period);
  else if (self->in == SPDL_SAMPLE_UINT8)
    kernels->u8_to_f32 (in, out, n, scale, shift, period);
  else if (half)
    kernels->f32_to_f16 (in, out, n, scale, shift, period);
  else
    kernels->f32_to_f32 (in, out, n, scale, shift, period);
}

static void
pick_channel (
    const SpdlConvert *self, const void *in, guint channel, void *out, gsize n)
{
  const guint step = self->n_channels;

  if (self->in == SPDL_SAMPLE_UINT8) {
    const guint8 *from = (const guint8 *) in + channel;

    for (gsize i = 0; i < n; i++)
      ((guint8 *) out)[i] = from[i * step];
  } else {
    const float *from = (const float *) in + channel;

    for (gsize i = 0; i < n; i++)
      ((float *) out)[i] = from[i * step];
  }
}

/* Converts a block of at most BLOCK pixels to planes: separates the channels,
 * then converts each. */
static void
write_planes (const SpdlConvert *self, const guint8 *in, guint8 *out, gsize n,
    gsize plane)
{
  const gsize out_size = spdl_sample_get_size (self->out);
  float picked[BLOCK];
  guint8 *bytes = (guint8 *) picked;
  const gboolean split = self->n_channels == 3 && self->in == SPDL_SAMPLE_UINT8;

  if (split)
    spdl_convert_kernels_get ()->split3 (
        in, n, bytes, bytes + BLOCK, bytes + 2 * BLOCK);
  for (guint c = 0; c < self->n_channels; c++) {
    float scale[SPDL_CONVERT_LANES], shift[SPDL_CONVERT_LANES];

    for (guint i = 0; i < SPDL_CONVERT_LANES; i++) {
      scale[i] = self->scale[c];
      shift[i] = self->shift[c];
    }
    if (!split)
      pick_channel (self, in, c, picked, n);
    write_samples (self, split ? bytes + c * BLOCK : bytes,
        out + c * plane * out_size, n, scale, shift, SPDL_CONVERT_LANES);
  }
}

void
spdl_convert_write (
    const SpdlConvert *self, const void *in, void *out, gsize n, gsize plane)
{
  const gsize in_size = self->n_channels * spdl_sample_get_size (self->in);
  const gsize out_size = spdl_sample_get_size (self->out);

  if (!self->planar || self->n_channels == 1) {
    write_samples (self, in, out, n * self->n_channels, self->scale,
        self->shift, self->n_channels * SPDL_CONVERT_LANES);
    return;
  }
  for (gsize i = 0; i < n; i += BLOCK)
    write_planes (self, (const guint8 *) in + i * in_size,
        (guint8 *) out + i * out_size, MIN (n - i, BLOCK), plane);
}

/* Kernels: plain C */

SpdlHalf
spdl_half_from_float (float value)
{
  guint32 bits, sign, half;

  memcpy (&bits, &value, sizeof bits);
  sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) /* NaN: make it quiet, and keep the upper bits of its
                            payload */
    return sign | 0x7e00 | (bits >> 13 & 0x3ff);
  if (bits >= 0x477ff000) /* larger than the largest float16 after rounding */
    return sign | 0x7c00;
  if (bits < 0x38800000) {
    /* Subnormal: adding 0.5 rounds the mantissa at the right bit. */
    const float magic = 0.5f;
    float positive;

    memcpy (&positive, &bits, sizeof bits);
    positive += magic;
    memcpy (&half, &positive, sizeof half);
    return sign | (half - 0x3f000000);
  }
  bits += 0xc8000fff + (bits >> 13 & 1);
  return sign | bits >> 13;
}

/* The file is compiled without contraction, so this rounds twice. */
static inline float
shift_scale (float value, float scale, float shift)
{
  return value * scale + shift;
}

/* Converts the samples after the last full vector, or all samples with @from
 * 0. */
#define DEFINE_PLAIN(name, In, Out, as_out)                      \
  static void name (const In *in, Out *out, gsize from, gsize n, \
      const float *scale, const float *shift, guint period)      \
  {                                                              \
    for (gsize i = from, j = from % period; i < n; i++) {        \
      out[i] = as_out (shift_scale (in[i], scale[j], shift[j])); \
      if (++j == period)                                         \
        j = 0;                                                   \
    }                                                            \
  }

#define AS_FLOAT(value) (value)
DEFINE_PLAIN (u8_to_f32_from, guint8, float, AS_FLOAT)
DEFINE_PLAIN (u8_to_f16_from, guint8, SpdlHalf, spdl_half_from_float)
DEFINE_PLAIN (f32_to_f32_from, float, float, AS_FLOAT)
DEFINE_PLAIN (f32_to_f16_from, float, SpdlHalf, spdl_half_from_float)

#define DEFINE_WHOLE(name, In, Out)                                          \
  static void name##_c (const In *in, Out *out, gsize n, const float *scale, \
      const float *shift, guint period)                                      \
  {                                                                          \
    name##_from (in, out, 0, n, scale, shift, period);                       \
  }

DEFINE_WHOLE (u8_to_f32, guint8, float)
DEFINE_WHOLE (u8_to_f16, guint8, SpdlHalf)
DEFINE_WHOLE (f32_to_f32, float, float)
DEFINE_WHOLE (f32_to_f16, float, SpdlHalf)

static void
split3_c (const guint8 *in, gsize n, guint8 *a, guint8 *b, guint8 *c)
{
  for (gsize i = 0; i < n; i++) {
    a[i] = in[3 * i];
    b[i] = in[3 * i + 1];
    c[i] = in[3 * i + 2];
  }
}

static const SpdlConvertKernels c_kernels = { "c", u8_to_f32_c, u8_to_f16_c,
  f32_to_f32_c, f32_to_f16_c, split3_c };

/* Defines a kernel for vectors of 8 samples. The macros of the instruction set
 * load, shift and store a vector. */
#define DEFINE_VECTOR(name, suffix, attribute, In, Out, LOAD, SHIFT, STORE)   \
  attribute static void name##_##suffix (const In *in, Out *out, gsize n,     \
      const float *scale, const float *shift, guint period)                   \
  {                                                                           \
    gsize i = 0;                                                              \
                                                                              \
    for (guint j = 0; i + SPDL_CONVERT_LANES <= n; i += SPDL_CONVERT_LANES) { \
      STORE (out + i, SHIFT (LOAD (in + i), scale + j, shift + j));           \
      if ((j += SPDL_CONVERT_LANES) == period)                                \
        j = 0;                                                                \
    }                                                                         \
    name##_from (in, out, i, n, scale, shift, period);                        \
  }

#if defined(__x86_64__)

#define AVX2 __attribute__ ((target ("avx2,f16c")))

AVX2 static inline __m256
load_u8_avx2 (const guint8 *in)
{
  return _mm256_cvtepi32_ps (
      _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) in)));
}

AVX2 static inline __m256
shift_avx2 (__m256 value, const float *scale, const float *shift)
{
  return _mm256_add_ps (
      _mm256_mul_ps (value, _mm256_loadu_ps (scale)), _mm256_loadu_ps (shift));
}

AVX2 static inline void
store_f16_avx2 (SpdlHalf *out, __m256 value)
{
  _mm_storeu_si128 ((__m128i *) out,
      _mm256_cvtps_ph (value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

DEFINE_VECTOR (u8_to_f32, avx2, AVX2, guint8, float, load_u8_avx2, shift_avx2,
    _mm256_storeu_ps)
DEFINE_VECTOR (u8_to_f16, avx2, AVX2, guint8, SpdlHalf, load_u8_avx2,
    shift_avx2, store_f16_avx2)
DEFINE_VECTOR (f32_to_f32, avx2, AVX2, float, float, _mm256_loadu_ps,
    shift_avx2, _mm256_storeu_ps)
DEFINE_VECTOR (f32_to_f16, avx2, AVX2, float, SpdlHalf, _mm256_loadu_ps,
    shift_avx2, store_f16_avx2)

/* Extracts the bytes of one channel from three vectors. Each mask selects the
 * channel's bytes in one vector, and zeros the others. */
AVX2 static inline void
gather3 (const __m128i *in, const __m128i *masks, guint8 *out)
{
  _mm_storeu_si128 ((__m128i *) out,
      _mm_or_si128 (_mm_or_si128 (_mm_shuffle_epi8 (in[0], masks[0]),
                        _mm_shuffle_epi8 (in[1], masks[1])),
          _mm_shuffle_epi8 (in[2], masks[2])));
}

AVX2 static void
split3_avx2 (const guint8 *in, gsize n, guint8 *a, guint8 *b, guint8 *c)
{
  guint8 *const outs[] = { a, b, c };
  __m128i masks[3][3];
  gsize i;

  for (guint channel = 0; channel < 3; channel++) {
    guint8 places[3][16];

    memset (places, 0x80, sizeof places);
    for (guint k = 0; k < 16; k++)
      places[(3 * k + channel) / 16][k] = (3 * k + channel) % 16;
    for (guint v = 0; v < 3; v++)
      masks[channel][v] = _mm_loadu_si128 ((const __m128i *) places[v]);
  }
  for (i = 0; i + 16 <= n; i += 16) {
    const __m128i *from = (const __m128i *) (in + 3 * i);
    const __m128i pixels[] = { _mm_loadu_si128 (from),
      _mm_loadu_si128 (from + 1), _mm_loadu_si128 (from + 2) };

    for (guint channel = 0; channel < 3; channel++)
      gather3 (pixels, masks[channel], outs[channel] + i);
  }
  split3_c (in + 3 * i, n - i, a + i, b + i, c + i);
}

static const SpdlConvertKernels vector_kernels = { "avx2", u8_to_f32_avx2,
  u8_to_f16_avx2, f32_to_f32_avx2, f32_to_f16_avx2, split3_avx2 };

/* Returns TRUE if the CPU supports AVX2 and F16C. __builtin_cpu_supports() of
 * clang 14 does not support "f16c". */
static gboolean
has_vectors (void)
{
  guint eax, ebx, ecx, edx;

  return __builtin_cpu_supports ("avx2") &&
         __get_cpuid (1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

#elif defined(__aarch64__)

typedef struct {
  float32x4_t low, high;
} Eight;

static inline Eight
load_u8_neon (const guint8 *in)
{
  const uint16x8_t wide = vmovl_u8 (vld1_u8 (in));

  return (Eight){ vcvtq_f32_u32 (vmovl_u16 (vget_low_u16 (wide))),
    vcvtq_f32_u32 (vmovl_u16 (vget_high_u16 (wide))) };
}

static inline Eight
load_f32_neon (const float *in)
{
  return (Eight){ vld1q_f32 (in), vld1q_f32 (in + 4) };
}

static inline Eight
shift_neon (Eight value, const float *scale, const float *shift)
{
  return (Eight){ vaddq_f32 (vmulq_f32 (value.low, vld1q_f32 (scale)),
                      vld1q_f32 (shift)),
    vaddq_f32 (
        vmulq_f32 (value.high, vld1q_f32 (scale + 4)), vld1q_f32 (shift + 4)) };
}

static inline void
store_f32_neon (float *out, Eight value)
{
  vst1q_f32 (out, value.low);
  vst1q_f32 (out + 4, value.high);
}

static inline void
store_f16_neon (SpdlHalf *out, Eight value)
{
  vst1_u16 (out, vreinterpret_u16_f16 (vcvt_f16_f32 (value.low)));
  vst1_u16 (out + 4, vreinterpret_u16_f16 (vcvt_f16_f32 (value.high)));
}

#define NOTHING
DEFINE_VECTOR (u8_to_f32, neon, NOTHING, guint8, float, load_u8_neon,
    shift_neon, store_f32_neon)
DEFINE_VECTOR (u8_to_f16, neon, NOTHING, guint8, SpdlHalf, load_u8_neon,
    shift_neon, store_f16_neon)
DEFINE_VECTOR (f32_to_f32, neon, NOTHING, float, float, load_f32_neon,
    shift_neon, store_f32_neon)
DEFINE_VECTOR (f32_to_f16, neon, NOTHING, float, SpdlHalf, load_f32_neon,
    shift_neon, store_f16_neon)

static void
split3_neon (const guint8 *in, gsize n, guint8 *a, guint8 *b, guint8 *c)
{
  gsize i;

  for (i = 0; i + 16 <= n; i += 16) {
    const uint8x16x3_t pixels = vld3q_u8 (in + 3 * i);

    vst1q_u8 (a + i, pixels.val[0]);
    vst1q_u8 (b + i, pixels.val[1]);
    vst1q_u8 (c + i, pixels.val[2]);
  }
  split3_c (in + 3 * i, n - i, a + i, b + i, c + i);
}

static const SpdlConvertKernels vector_kernels = { "neon", u8_to_f32_neon,
  u8_to_f16_neon, f32_to_f32_neon, f32_to_f16_neon, split3_neon };

static gboolean
has_vectors (void)
{
  return TRUE;
}

#else
#define vector_kernels c_kernels

static gboolean
has_vectors (void)
{
  return FALSE;
}
#endif

/* Selection of kernels */

const SpdlConvertKernels *
spdl_convert_kernels_find (const gchar *name)
{
  if (g_str_equal (name, c_kernels.name))
    return &c_kernels;
  return has_vectors () && g_str_equal (name, vector_kernels.name)
             ? &vector_kernels
             : NULL;
}

const SpdlConvertKernels *
spdl_convert_kernels_get (void)
{
  static gsize chosen = 0;

  if (g_once_init_enter (&chosen)) {
    const gchar *name = g_getenv ("SPDL_KERNELS");
    const SpdlConvertKernels *kernels =
        name ? spdl_convert_kernels_find (name) : NULL;

    if (!kernels)
      kernels = has_vectors () ? &vector_kernels : &c_kernels;
    g_once_init_leave (&chosen, (gsize) kernels);
  }
  return (const SpdlConvertKernels *) chosen;
}
