/* gst-spdl: tests of the resize of YCbCr planes and of their conversion to RGB
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/feed.h"

#include <string.h>

#include "plugins/codec/resize/planejoin.h"

#define GUARD 0xa5

static guint8 *
make_noise (GRand *rand, gsize n)
{
  guint8 *noise = g_malloc (n + SPDL_KERNEL_PADDING);

  for (gsize i = 0; i < n + SPDL_KERNEL_PADDING; i++)
    noise[i] = g_rand_int (rand) >> 24;
  return noise;
}

/* Kernels */

static void
check_join (const SpdlKernels *kernels, GRand *rand, guint8 *planes[3], guint n)
{
  const gboolean bgr = g_rand_boolean (rand);
  const guint8 *const in[] = { planes[0], planes[1], planes[2] };
  g_autofree guint8 *wanted = g_malloc (n * 3), *got = g_malloc (n * 3 + 64);

  memset (got, GUARD, n * 3 + 64);
  spdl_kernels_c.join_planes (wanted, in, n, bgr);
  kernels->join_planes (got + 32, in, n, bgr);
  g_assert_cmpmem (got + 32, n * 3, wanted, n * 3);
  for (guint i = 0; i < 32; i++) {
    g_assert_cmpuint (got[i], ==, GUARD);
    g_assert_cmpuint (got[n * 3 + 32 + i], ==, GUARD);
  }
}

static void
test_kernels (gconstpointer name)
{
  const SpdlKernels *kernels = spdl_kernels_find (name);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261121);

  if (!kernels) {
    g_test_skip ("not on this CPU");
    return;
  }
  for (guint n = 1; n < 400; n++) {
    g_autofree guint8 *y = make_noise (rand, n), *cb = make_noise (rand, n),
                      *cr = make_noise (rand, n);

    check_join (kernels, rand, (guint8 *[]){ y, cb, cr }, n);
  }
}

/* Tests all colors against the equations of JFIF. */
static void
test_colours (void)
{
  for (guint i = 0; i < 256 * 256; i++) {
    const guint8 cb = i >> 8, cr = i & 255;

    for (guint y = 0; y < 256; y += 5) {
      const guint8 bytes[] = { y, cb, cr };
      const guint8 *const planes[] = { bytes, bytes + 1, bytes + 2 };
      const double wanted[] = { y + 1.402 * (cr - 128),
        y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128),
        y + 1.772 * (cb - 128) };
      guint8 got[3];

      spdl_kernels_c.join_planes (got, planes, 1, FALSE);
      for (guint c = 0; c < 3; c++)
        g_assert_cmpfloat_with_epsilon (
            got[c], CLAMP (wanted[c], 0, 255), 0.54);
    }
  }
}

/* Planes of half size */

/* Returns sample @place of a row of doubled width: 3/4 of the nearer sample and
 * 1/4 of the farther one, as libjpeg's upsampling. @step is the distance
 * between samples. */
static guint
get_doubled (const guint8 *samples, guint n, gsize step, guint place)
{
  const guint near = place / 2;
  const guint far = place % 2 ? MIN (near + 1, n - 1) : MAX (near, 1) - 1;

  return 3 * samples[near * step] + samples[far * step];
}

/* Returns the image that @job describes, from @half with half of its columns or
 * rows. */
static guint8 *
make_whole (const SpdlResizeJob *job, const guint8 *half)
{
  const guint n_columns = job->half_x ? (job->width + 1) / 2 : job->width;
  const guint n_rows = job->half_y ? (job->height + 1) / 2 : job->height;
  g_autofree guint8 *wide = g_malloc ((gsize) job->width * n_rows);
  guint8 *whole = g_malloc ((gsize) job->width * job->height);

  for (guint y = 0; y < n_rows; y++)
    for (guint x = 0; x < job->width; x++) {
      const guint8 *row = half + (gsize) y * n_columns;

      wide[(gsize) y * job->width + x] =
          job->half_x ? (get_doubled (row, n_columns, 1, x) + 2) / 4 : row[x];
    }
  for (guint y = 0; y < job->height; y++)
    for (guint x = 0; x < job->width; x++) {
      const guint8 *column = wide + x;

      whole[(gsize) y * job->width + x] =
          job->half_y ? (get_doubled (column, n_rows, job->width, y) + 2) / 4
                      : column[(gsize) y * job->width];
    }
  return whole;
}

static SpdlResizeJob
random_half_job (GRand *rand)
{
  SpdlResizeJob job = {
    .interpolation = SPDL_INTERPOLATION_BILINEAR,
    .pixel_size = 1,
    .width = g_rand_int_range (rand, 1, 300),
    .height = g_rand_int_range (rand, 1, 200),
    .out_width = g_rand_int_range (rand, 1, 150),
    .out_height = g_rand_int_range (rand, 1, 150),
    .half_x = g_rand_boolean (rand),
    .half_y = g_rand_boolean (rand),
    .crop = g_rand_boolean (rand),
  };

  if (g_rand_boolean (rand)) {
    job.box_x = g_rand_int_range (rand, 0, job.width);
    job.box_y = g_rand_int_range (rand, 0, job.height);
    job.box_width = g_rand_int_range (rand, 1, job.width - job.box_x + 1);
    job.box_height = g_rand_int_range (rand, 1, job.height - job.box_y + 1);
  }
  return job;
}

/* Tests that a resize of a half-size plane equals that of the upsampled plane
 * within 1, the rounding of the upsampling. */
static void
test_half (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint i = 0; i < N_JOBS; i++) {
    SpdlResizeJob job = random_half_job (rand), whole_job = job;
    const gsize n = (gsize) job.out_width * job.out_height;
    g_autofree guint8 *half = make_noise (rand, (gsize) job.width * job.height);
    g_autofree guint8 *whole = make_whole (&job, half);
    g_autofree guint8 *got = g_malloc (n), *wanted = g_malloc (n);

    job.out = got;
    whole_job.out = wanted;
    job.out_stride = whole_job.out_stride = job.out_width;
    whole_job.half_x = whole_job.half_y = FALSE;
    g_assert_true (feed (resize, &job, half, rand));
    g_assert_true (feed (resize, &whole_job, whole, rand));
    for (gsize k = 0; k < n; k++)
      g_assert_cmpint (ABS (got[k] - wanted[k]), <=, 2);
  }
  spdl_resize_free (resize);
}

/* Tests that a flat plane stays flat at any scale. */
static void
test_half_flat (void)
{
  static const guint widths[] = { 2, 31, 100, 1282, 65535 };
  SpdlResize *resize = spdl_resize_new (NULL);
  g_autofree guint8 *flat = g_malloc (65536);
  guint8 out[40];

  memset (flat, 200, 65536);
  for (guint i = 0; i < G_N_ELEMENTS (widths) * 40 * 4; i++) {
    SpdlResizeJob job = {
      .interpolation = i % 4,
      .pixel_size = 1,
      .width = widths[i / 160],
      .height = 1,
      .out_width = 1 + i / 4 % 40,
      .out_height = 1,
      .out = out,
      .out_stride = sizeof out,
      .half_x = i % 4 != SPDL_INTERPOLATION_NEAREST,
    };

    g_assert_true (feed (resize, &job, flat, NULL));
    for (guint x = 0; x < job.out_width; x++)
      g_assert_cmpuint (out[x], ==, 200);
  }
  spdl_resize_free (resize);
}

/* Conversion of planes to RGB */

static void
feed_plane (
    const SpdlPlanes *planes, guint plane, guint n_rows, guint n, guint8 level)
{
  for (guint y = 0; y < n_rows; y += 8) {
    for (guint i = y; i < MIN (y + 8, n_rows); i++)
      memset (planes->get_row (planes->user_data, plane, i), level, n);
    planes->rows_done (planes->user_data, plane, MIN (y + 8, n_rows));
  }
}

static void
check_flat (SpdlPlaneJoin *join, const SpdlSampling *sampling,
    const guint8 levels[3], const guint8 rgb[3])
{
  guint8 out[5][7 * 3];
  const SpdlResizeJob job = {
    .interpolation = SPDL_INTERPOLATION_BILINEAR,
    .width = 33,
    .height = 21,
    .out_width = 7,
    .out_height = 5,
    .out = out[0],
    .out_stride = sizeof out[0],
  };
  const SpdlPlanes *planes =
      spdl_plane_join_begin (join, &job, sampling, FALSE, 0);

  g_assert_nonnull (planes);
  g_assert_cmpuint (planes->x_end, ==, 33);
  g_assert_cmpuint (planes->y_end, ==, 21);
  for (guint i = 0; i < sampling->n_planes; i++)
    feed_plane (planes, i, sampling->half_y[i] ? 11 : 21,
        sampling->half_x[i] ? 17 : 33, levels[i]);
  spdl_plane_join_end (join);
  for (guint i = 0; i < 5 * 7; i++)
    g_assert_cmpmem (out[0] + i * 3, 3, rgb, 3);
}

/* Tests one joiner with all kinds of JPEG in turn. */
static void
test_join (void)
{
  static const SpdlSampling samplings[] = {
    { 3 },
    { 3, { FALSE, TRUE, TRUE }, { FALSE, TRUE, TRUE } },
    { 3, { FALSE, TRUE, TRUE } },
    { 3, { FALSE }, { FALSE, TRUE, TRUE } },
  };
  static const SpdlSampling gray = { 1 };
  SpdlPlaneJoin *join = spdl_plane_join_new ();

  for (guint i = 0; i < G_N_ELEMENTS (samplings); i++)
    check_flat (join, samplings + i, (const guint8[]){ 76, 85, 255 },
        (const guint8[]){ 254, 0, 0 });
  check_flat (join, &gray, (const guint8[]){ 90, 0, 0 },
      (const guint8[]){ 90, 90, 90 });
  spdl_plane_join_free (join);
}

int
main (int argc, char **argv)
{
  static const gchar *names[] = { "sse2", "avx2", "neon" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *path = g_strdup_printf ("/planes/kernels/%s", names[i]);

    g_test_add_data_func (path, names[i], test_kernels);
  }
  g_test_add_func ("/planes/colours", test_colours);
  g_test_add_func ("/planes/half", test_half);
  g_test_add_func ("/planes/half-flat", test_half_flat);
  g_test_add_func ("/planes/join", test_join);
  return g_test_run ();
}
