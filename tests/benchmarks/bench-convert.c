/* gst-spdl: benchmark of the conversion into a batch, compared with a plain
 * copy
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Writes images of 224x224 RGB into batches of 64, copied and converted in
 * turns, and prints the minimum time per image. SPDL_KERNELS=c selects the
 * plain C kernels.
 *
 *     bench-convert [ROUNDS] */

#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plugins/core/batch/convert.h"

#define PIXELS (224 * 224)
#define IMAGES 64

static const struct {
  const gchar *name;
  SpdlSample out;
  gboolean planar;
  guint n_factors;
} jobs[] = {
  { "uint8 nhwc, a copy", SPDL_SAMPLE_UINT8, FALSE, 0 },
  { "uint8 nchw", SPDL_SAMPLE_UINT8, TRUE, 0 },
  { "float16 nhwc", SPDL_SAMPLE_FLOAT16, FALSE, 3 },
  { "float16 nchw", SPDL_SAMPLE_FLOAT16, TRUE, 3 },
  { "float32 nhwc", SPDL_SAMPLE_FLOAT32, FALSE, 3 },
  { "float32 nchw", SPDL_SAMPLE_FLOAT32, TRUE, 3 },
};

static double
now (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

int
main (int argc, char **argv)
{
  static const double mean[] = { 0.485, 0.456, 0.406 };
  static const double std[] = { 0.229, 0.224, 0.225 };
  const guint n_rounds = argc > 1 ? atoi (argv[1]) : 30;
  g_autofree guint8 *in = g_malloc (PIXELS * 3 * IMAGES);
  g_autofree guint8 *out = g_malloc0 (PIXELS * 3 * 4 * IMAGES);
  double best[G_N_ELEMENTS (jobs)];

  gst_init (&argc, &argv);
  for (guint i = 0; i < PIXELS * 3 * IMAGES; i++)
    in[i] = i * 31;
  for (guint round = 0; round < n_rounds; round++)
    for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
      const gsize size = PIXELS * 3 * spdl_sample_get_size (jobs[j].out);
      SpdlConvert convert;
      double begun, took;

      spdl_convert_init (&convert, SPDL_SAMPLE_UINT8, jobs[j].out, 3,
          jobs[j].planar, mean, jobs[j].n_factors, std, jobs[j].n_factors,
          NULL);
      begun = now ();
      for (guint i = 0; i < IMAGES; i++)
        spdl_convert_write (&convert, in + (gsize) i * PIXELS * 3,
            out + i * size, PIXELS, PIXELS);
      took = (now () - begun) / IMAGES;
      best[j] = round == 0 ? took : MIN (best[j], took);
    }
  printf ("kernels: %s\n", spdl_convert_kernels_get ()->name);
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++)
    printf ("%-20s %6.1f us per image, %.1f times the copy\n", jobs[j].name,
        best[j], best[j] / best[0]);
  return 0;
}
