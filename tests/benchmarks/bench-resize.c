/* gst-spdl: benchmark of the resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Resizes noise and prints the CPU time per image in microseconds, for each set
 * of kernels and for some sizes and filters. It takes the best of 7 rounds,
 * since machines are noisy. Input comes row by row, and filters are built once.
 *
 *     bench-resize [KERNELS [WIDTHxHEIGHT-OUT_WIDTHxOUT_HEIGHT]] */

#include "plugins/codec/resize/resize.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define N_ROUNDS 7
#define ROUND_SECONDS 0.05

typedef struct {
  guint width, height, out_width, out_height;
} Work;

static const gchar *const filters[] = { "nearest", "bilinear", "bicubic",
  "lanczos" };

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

/* Rows are written one by one, as by a decoder; the cost of writing them is
 * subtracted. */
static void
feed (SpdlResize *resize, const SpdlResizeJob *job, const guint8 *row,
    gboolean works)
{
  const gsize n = (gsize) job->width * job->pixel_size;

  spdl_resize_begin (resize, job);
  for (guint y = 0; y < job->height; y++) {
    memcpy (spdl_resize_get_row (resize, y), row, n);
    if (works)
      spdl_resize_rows_done (resize, y + 1);
  }
}

static double
measure (SpdlResize *resize, const SpdlResizeJob *job, const guint8 *row,
    gboolean works)
{
  double best = G_MAXDOUBLE;

  for (guint i = 0; i < N_ROUNDS; i++) {
    const double begin = cpu_seconds ();
    double end = begin;
    guint n = 0;

    for (; end < begin + ROUND_SECONDS; n++, end = cpu_seconds ())
      feed (resize, job, row, works);
    best = MIN (best, (end - begin) / n);
  }
  return best * 1e6;
}

static void
bench (const SpdlKernels *kernels, const Work *work, guint pixel_size)
{
  g_autofree guint8 *row = g_malloc ((gsize) work->width * 4);
  g_autofree guint8 *out =
      g_malloc ((gsize) work->out_width * work->out_height * 3);
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint i = 0; i < work->width * 4; i++)
    row[i] = g_random_int () >> 24;
  spdl_resize_set_kernels (resize, kernels);
  printf ("%-5s %u %4ux%-4u to %ux%u:", kernels->name, pixel_size, work->width,
      work->height, work->out_width, work->out_height);
  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    const SpdlResizeJob job = {
      .interpolation = i,
      .pixel_size = pixel_size,
      .width = work->width,
      .height = work->height,
      .out_width = work->out_width,
      .out_height = work->out_height,
      .out = out,
      .out_stride = (gsize) work->out_width * (pixel_size == 1 ? 1 : 3),
    };

    printf (" %s %.1f", filters[i],
        measure (resize, &job, row, TRUE) - measure (resize, &job, row, FALSE));
  }
  printf ("\n");
  spdl_resize_free (resize);
}

int
main (int argc, char **argv)
{
  static const gchar *const names[] = { "c", "sse2", "avx2", "neon" };
  static const Work works[] = { { 500, 375, 224, 224 },
    { 2048, 1536, 224, 224 }, { 224, 224, 256, 256 }, { 224, 224, 224, 224 } };
  Work own = { 0 };

  if (argc > 2 && sscanf (argv[2], "%ux%u-%ux%u", &own.width, &own.height,
                      &own.out_width, &own.out_height) != 4) {
    g_printerr ("usage: bench-resize [KERNELS [WxH-WxH]]\n");
    return 2;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const SpdlKernels *kernels = spdl_kernels_find (names[i]);

    if (!kernels || (argc > 1 && strcmp (argv[1], names[i]) != 0))
      continue;
    if (argc > 2) {
      bench (kernels, &own, 4);
      continue;
    }
    for (guint j = 0; j < G_N_ELEMENTS (works); j++)
      bench (kernels, works + j, 4);
    bench (kernels, works, 1);
  }
  return 0;
}
