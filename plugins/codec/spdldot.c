/* gst-spdl: the inner loops of resampling
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdldot.h"

/* The compiler's own vectors, which are as large as the CPU's: larger ones it
 * makes badly. Two sums, so that one need not wait for the other. */
#define DEFINE_DOT(name, type, bytes, attribute)                            \
  typedef type Vec_##name                                                   \
      __attribute__ ((vector_size (bytes), aligned (sizeof (type))));       \
                                                                            \
  attribute static type name (const type *a, const type *b, gsize n)        \
  {                                                                         \
    const gsize width = bytes / sizeof (type);                              \
    Vec_##name sum = { 0 }, other = { 0 };                                  \
    type all = 0;                                                           \
    gsize i = 0;                                                            \
                                                                            \
    for (; i + 2 * width <= n; i += 2 * width) {                            \
      sum += *(const Vec_##name *) (a + i) * *(const Vec_##name *) (b + i); \
      other += *(const Vec_##name *) (a + i + width) *                      \
               *(const Vec_##name *) (b + i + width);                       \
    }                                                                       \
    if (i < n)                                                              \
      sum += *(const Vec_##name *) (a + i) * *(const Vec_##name *) (b + i); \
    sum += other;                                                           \
    for (gsize k = 0; k < width; k++)                                       \
      all += sum[k];                                                        \
    return all;                                                             \
  }

#define PLAIN
DEFINE_DOT (dot_f32, float, 16, PLAIN)
DEFINE_DOT (dot_f64, double, 16, PLAIN)
static const SpdlDots plain = { dot_f32, dot_f64 };

#if defined(__x86_64__) || defined(__i386__)
#define FMA __attribute__ ((target ("avx2,fma")))
DEFINE_DOT (dot_f32_fma, float, 32, FMA)
DEFINE_DOT (dot_f64_fma, double, 32, FMA)
static const SpdlDots fma = { dot_f32_fma, dot_f64_fma };
#endif

const SpdlDots *
spdl_dots_get (void)
{
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    return &fma;
#endif
  return &plain;
}
