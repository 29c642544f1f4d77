/* gst-spdl: tests of the conversion of samples in batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "plugins/core/batch/convert.h"
#include "tests/check/support/errors.h"

#define GUARD 0xa5
#define GUARD_SIZE 64

/* Returns the value of a float16, by definition. */
static double
value_of_half (SpdlHalf half)
{
  const gint exponent = half >> 10 & 0x1f;
  const gint fraction = half & 0x3ff;
  const double sign = half & 0x8000 ? -1.0 : 1.0;

  if (exponent == 0)
    return sign * ldexp (fraction, -24);
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  return sign * ldexp (1024 + fraction, exponent - 25);
}

/* Every float16 converts to itself, and a value between two is rounded to the
 * nearest one, or to even. */
static void
test_half (void)
{
  for (guint i = 0; i < 0x7c00; i++) {
    const double value = value_of_half (i), next = value_of_half (i + 1);
    const float middle = i == 0x7bff ? 65520.0f : (float) ((value + next) / 2);

    g_assert_cmphex (spdl_half_from_float (value), ==, i);
    g_assert_cmphex (spdl_half_from_float (-value), ==, i | 0x8000);
    g_assert_cmphex (spdl_half_from_float (middle), ==, i + (i & 1));
    g_assert_cmphex (spdl_half_from_float (nextafterf (middle, 0)), ==, i);
    g_assert_cmphex (
        spdl_half_from_float (nextafterf (middle, INFINITY)), ==, i + 1);
  }
  g_assert_cmphex (spdl_half_from_float (INFINITY), ==, 0x7c00);
  g_assert_cmphex (spdl_half_from_float (-1e30f), ==, 0xfc00);
  g_assert_true (isnan (value_of_half (spdl_half_from_float (NAN))));
}

typedef struct {
  guint8 *memory;
  gsize size;
} Guarded;

static Guarded
guarded_new (gsize size)
{
  Guarded self = { g_malloc (size + 2 * GUARD_SIZE), size };

  memset (self.memory, GUARD, size + 2 * GUARD_SIZE);
  return self;
}

static void
guarded_free (Guarded *self)
{
  for (guint i = 0; i < GUARD_SIZE; i++) {
    g_assert_cmphex (self->memory[i], ==, GUARD);
    g_assert_cmphex (self->memory[GUARD_SIZE + self->size + i], ==, GUARD);
  }
  g_free (self->memory);
}

static void
fill (void *data, SpdlSample sample, gsize n, GRand *rand)
{
  for (gsize i = 0; i < n; i++)
    if (sample == SPDL_SAMPLE_UINT8)
      ((guint8 *) data)[i] = g_rand_int (rand);
    else
      ((float *) data)[i] = g_rand_double_range (rand, -300, 300);
}

/* Each set gives the same bits as the C code, for any length and offset, and
 * writes nothing else. */
static void
test_kernels (gconstpointer name)
{
  const SpdlConvertKernels *c = spdl_convert_kernels_find ("c");
  const SpdlConvertKernels *set = spdl_convert_kernels_find (name);
  GRand *rand = g_rand_new_with_seed (7);

  if (!set) {
    g_test_skip ("this machine has no such kernels");
    return;
  }
  for (guint round = 0; round < 2000; round++) {
    const gsize n = g_rand_int_range (rand, 1, round % 10 ? 200 : 3000);
    const guint period = g_rand_int_range (rand, 1, 17) * SPDL_CONVERT_LANES;
    const guint skew = g_rand_int_range (rand, 0, 4);
    g_autofree guint8 *bytes = g_malloc (3 * n + skew);
    g_autofree float *floats = g_new (float, n + skew);
    float scale[16 * SPDL_CONVERT_LANES], shift[16 * SPDL_CONVERT_LANES];
    Guarded outs[2];

    fill (bytes, SPDL_SAMPLE_UINT8, 3 * n + skew, rand);
    fill (floats, SPDL_SAMPLE_FLOAT32, n + skew, rand);
    fill (scale, SPDL_SAMPLE_FLOAT32, G_N_ELEMENTS (scale), rand);
    fill (shift, SPDL_SAMPLE_FLOAT32, G_N_ELEMENTS (shift), rand);
#define COMPARE(size, call)                                     \
  for (guint i = 0; i < 2; i++) {                               \
    const SpdlConvertKernels *k = i == 0 ? c : set;             \
    guint8 *out;                                                \
                                                                \
    outs[i] = guarded_new (size);                               \
    out = outs[i].memory + GUARD_SIZE;                          \
    call;                                                       \
  }                                                             \
  g_assert_cmpmem (outs[0].memory, size, outs[1].memory, size); \
  guarded_free (&outs[0]);                                      \
  guarded_free (&outs[1])
    COMPARE (4 * n,
        k->u8_to_f32 (bytes + skew, (float *) out, n, scale, shift, period));
    COMPARE (2 * n,
        k->u8_to_f16 (bytes + skew, (SpdlHalf *) out, n, scale, shift, period));
    COMPARE (4 * n,
        k->f32_to_f32 (floats + skew, (float *) out, n, scale, shift, period));
    COMPARE (2 * n, k->f32_to_f16 (floats + skew, (SpdlHalf *) out, n, scale,
                        shift, period));
    COMPARE (3 * n, k->split3 (bytes + skew, n, out, out + n, out + 2 * n));
  }
  g_rand_free (rand);
}

static double
read_sample (const void *data, SpdlSample sample, gsize i)
{
  switch (sample) {
    case SPDL_SAMPLE_UINT8:
      return ((const guint8 *) data)[i];
    case SPDL_SAMPLE_FLOAT16:
      return value_of_half (((const SpdlHalf *) data)[i]);
    default:
      return ((const float *) data)[i];
  }
}

/* Compares all options with the formula in double precision. */
static void
check_write (SpdlSample in, SpdlSample out, guint n_channels, gboolean planar,
    guint n_factors, GRand *rand)
{
  const gsize n = g_rand_int_range (rand, 1, 1500), size = n * n_channels;
  const double unit = in == SPDL_SAMPLE_UINT8 && out != in ? 255.0 : 1.0;
  g_autofree void *from = g_malloc (size * spdl_sample_get_size (in));
  Guarded to = guarded_new (size * spdl_sample_get_size (out));
  const void *written = to.memory + GUARD_SIZE;
  double mean[16], std[16];
  SpdlConvert convert;
  GError *error = NULL;

  for (guint c = 0; c < 16; c++) {
    mean[c] = g_rand_double (rand);
    std[c] = g_rand_double_range (rand, 0.1, 1.0);
  }
  fill (from, in, size, rand);
  g_assert_true (spdl_convert_init (&convert, in, out, n_channels, planar, mean,
      n_factors, std, n_factors, &error));
  g_assert_no_error (error);
  spdl_convert_write (&convert, from, to.memory + GUARD_SIZE, n, n);
  for (gsize i = 0; i < size; i++) {
    const guint c = i % n_channels, f = n_factors == 1 ? 0 : c;
    const double value = read_sample (from, in, i) / unit;
    const double expected = n_factors > 0 ? (value - mean[f]) / std[f] : value;
    const double got =
        read_sample (written, out, planar ? c * n + i / n_channels : i);
    const double precision = out == SPDL_SAMPLE_FLOAT16 ? 1e-3 : 1e-6;

    g_assert_cmpfloat (fabs (got - expected), <=,
        precision * (fabs (expected) + fabs (value / std[f]) + 1e-3));
  }
  guarded_free (&to);
}

static void
test_write (void)
{
  static const SpdlSample pairs[][2] = {
    { SPDL_SAMPLE_UINT8, SPDL_SAMPLE_FLOAT32 },
    { SPDL_SAMPLE_UINT8, SPDL_SAMPLE_FLOAT16 },
    { SPDL_SAMPLE_FLOAT32, SPDL_SAMPLE_FLOAT32 },
    { SPDL_SAMPLE_FLOAT32, SPDL_SAMPLE_FLOAT16 },
    { SPDL_SAMPLE_UINT8, SPDL_SAMPLE_UINT8 },
  };
  GRand *rand = g_rand_new_with_seed (11);

  for (guint p = 0; p < G_N_ELEMENTS (pairs); p++)
    for (guint n_channels = 1; n_channels <= 16; n_channels++)
      for (guint planar = 0; planar < 2; planar++) {
        check_write (pairs[p][0], pairs[p][1], n_channels, planar, 0, rand);
        if (p == 4)
          continue;
        check_write (pairs[p][0], pairs[p][1], n_channels, planar, 1, rand);
        check_write (
            pairs[p][0], pairs[p][1], n_channels, planar, n_channels, rand);
      }
  g_rand_free (rand);
}

static void
assert_refused (SpdlSample in, SpdlSample out, guint n_channels, double mean,
    guint n_mean, double std, guint n_std, const gchar *reason)
{
  const double means[16] = { mean }, stds[16] = { std };
  g_autoptr (GError) error = NULL;
  SpdlConvert convert;

  g_assert_false (spdl_convert_init (&convert, in, out, n_channels, FALSE,
      means, n_mean, stds, n_std, &error));
  g_assert_true (errors_has (error, reason));
}

static void
test_refused (void)
{
  const SpdlSample u8 = SPDL_SAMPLE_UINT8, f32 = SPDL_SAMPLE_FLOAT32;

  assert_refused (u8, u8, 3, 0, 1, 1, 0, "[stream-error format]|float32|dtype");
  assert_refused (
      f32, u8, 3, 0, 0, 1, 0, "[stream-error format]|float32|dtype");
  assert_refused (u8, f32, 3, 0, 2, 1, 0, "[stream-error format]|2|mean");
  assert_refused (u8, f32, 3, 0, 0, 1, 4, "[stream-error format]|4|std");
  assert_refused (u8, f32, 3, 0, 0, 0, 1, "[stream-error format]|0|std");
  assert_refused (u8, f32, 3, INFINITY, 1, 1, 0, "[stream-error format]|mean");
  assert_refused (u8, f32, 17, 0, 0, 1, 0, "[stream-error format]|17");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/convert/half", test_half);
#if defined(__x86_64__)
  g_test_add_data_func ("/convert/kernels/avx2", "avx2", test_kernels);
#elif defined(__aarch64__)
  g_test_add_data_func ("/convert/kernels/neon", "neon", test_kernels);
#endif
  g_test_add_func ("/convert/write", test_write);
  g_test_add_func ("/convert/refused", test_refused);
  return g_test_run ();
}
