/* gst-spdl: tests of the resize kernels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/feed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/support/failing-memory.h"

#define GUARD 0xa5

/* The number of random jobs, which SPDL_TEST_JOBS overrides. */
static guint n_jobs = N_JOBS;

/* Tools */

static guint8 *
make_noise (GRand *rand, const SpdlResizeJob *job)
{
  const gsize n = (gsize) job->width * job->height * job->pixel_size;
  const gboolean binary = g_rand_boolean (rand);
  guint8 *image = g_malloc (n);

  for (gsize i = 0; i < n; i++)
    image[i] = binary ? g_rand_boolean (rand) * 255 : g_rand_int (rand) >> 24;
  return image;
}

static gsize
get_row_size (const SpdlResizeJob *job)
{
  return (gsize) job->out_width * (job->pixel_size == 1 ? 1 : 3);
}

/* Resizes into a guarded buffer with @padding bytes after each row. Checks that
 * the padding and the guards are unchanged. */
static guint8 *
resize_guarded (SpdlResize *resize, SpdlResizeJob *job, const guint8 *image,
    guint padding, GRand *rand)
{
  const gsize row_size = get_row_size (job), stride = row_size + padding;
  const gsize n = stride * job->out_height + 64;
  g_autofree guint8 *guarded = g_malloc (n);
  guint8 *out = g_malloc (row_size * job->out_height);

  memset (guarded, GUARD, n);
  job->out = guarded + 32;
  job->out_stride = stride;
  g_assert_true (feed (resize, job, image, rand));
  for (guint y = 0; y < job->out_height; y++) {
    memcpy (out + y * row_size, job->out + y * stride, row_size);
    memset (job->out + y * stride, GUARD, row_size);
  }
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (guarded[i], ==, GUARD);
  return out;
}

static guint8 *
resize_plainly (SpdlResize *resize, SpdlResizeJob *job, const guint8 *image)
{
  return resize_guarded (resize, job, image, 0, NULL);
}

/* Returns a random side from a logarithmic distribution. */
static guint
random_side (GRand *rand, guint max)
{
  return CLAMP (exp (g_rand_double_range (rand, 0, log (max + 1))), 1, max);
}

static SpdlResizeJob
random_job (GRand *rand)
{
  SpdlResizeJob job = {
    .interpolation = g_rand_int_range (rand, 0, 4),
    .pixel_size = g_rand_boolean (rand) ? 4 : 1,
    .width = random_side (rand, 3000),
    .height = random_side (rand, 3000),
    .out_width = random_side (rand, 3000),
    .out_height = random_side (rand, 3000),
  };

  /* Large images would take minutes with the plain C kernels. */
  job.height = MIN (job.height, MAX (200000 / job.width, 1));
  job.out_height =
      MIN (job.out_height, MAX (100000 / MAX (job.width, job.out_width), 1));
  if (g_rand_boolean (rand)) {
    job.box_x = g_rand_int_range (rand, 0, job.width);
    job.box_y = g_rand_int_range (rand, 0, job.height);
    job.box_width = g_rand_int_range (rand, 1, job.width - job.box_x + 1);
    job.box_height = g_rand_int_range (rand, 1, job.height - job.box_y + 1);
  }
  if (job.pixel_size == 1 && job.interpolation != SPDL_INTERPOLATION_NEAREST) {
    job.half_x = g_rand_boolean (rand);
    job.half_y = g_rand_boolean (rand);
  }
  return job;
}

/* Tests */

static void
test_kernels (gconstpointer name)
{
  const SpdlKernels *kernels = spdl_kernels_find (name);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20260601);
  SpdlResize *plain = spdl_resize_new (NULL);
  SpdlResize *other = spdl_resize_new (NULL);

  if (!kernels)
    g_test_skip ("not on this CPU");
  spdl_resize_set_kernels (plain, &spdl_kernels_c);
  if (kernels)
    spdl_resize_set_kernels (other, kernels);
  for (guint i = 0; kernels && i < n_jobs; i++) {
    SpdlResizeJob job = random_job (rand);
    g_autofree guint8 *image = make_noise (rand, &job);
    g_autofree guint8 *wanted = resize_plainly (plain, &job, image);
    g_autofree guint8 *got = resize_guarded (
        other, &job, image, g_rand_int_range (rand, 0, 40), rand);

    if (memcmp (got, wanted, get_row_size (&job) * job.out_height) != 0)
      g_error ("%s differs: interpolation %u, %u bytes, %u by %u, box %u by %u "
               "at %u, %u, to %u by %u",
          (const gchar *) name, job.interpolation, job.pixel_size, job.width,
          job.height, job.box_width, job.box_height, job.box_x, job.box_y,
          job.out_width, job.out_height);
  }
  spdl_resize_free (plain);
  spdl_resize_free (other);
}

static void
check_flat (SpdlResize *resize, SpdlResizeJob *job, guint level)
{
  const gsize n = get_row_size (job) * job->out_height;
  const gsize n_in = (gsize) job->width * job->height * job->pixel_size;
  g_autofree guint8 *image = g_malloc (n_in);
  g_autofree guint8 *out = NULL;

  memset (image, level, n_in);
  out = resize_plainly (resize, job, image);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (out[i], ==, level);
}

static void
test_flat (void)
{
  static const guint sizes[][4] = { { 50, 37, 22, 22 }, { 22, 24, 25, 29 },
    { 301, 7, 11, 100 }, { 1, 1, 5, 9 }, { 3, 100, 100, 3 } };
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint level = 0; level < 256; level++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes) * 8; i++) {
      const guint *size = sizes[i / 8];
      SpdlResizeJob job = { i % 4, i % 8 < 4 ? 4 : 1, size[0], size[1],
        .out_width = size[2], .out_height = size[3] };

      check_flat (resize, &job, level);
    }
  spdl_resize_free (resize);
}

/* Tests resizes between the longest sides and one pixel. A low SPDL_TEST_JOBS
 * skips some of the filters. */
static void
test_extremes (void)
{
  static const guint sizes[][4] = { { 65535, 2, 1, 1 }, { 2, 65535, 1, 1 },
    { 1, 1, 65535, 1 }, { 1, 1, 1, 65535 }, { 65535, 1, 65534, 1 },
    { 1, 65535, 1, 65534 }, { 65535, 1, 1, 300 }, { 1, 65535, 300, 1 } };
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (sizes) * 8; i += MAX (400 / n_jobs, 1)) {
    const guint *size = sizes[i / 8];
    SpdlResizeJob job = { i % 4, i % 8 < 4 ? 4 : 1, size[0], size[1],
      .out_width = size[2], .out_height = size[3] };

    check_flat (resize, &job, 255);
  }
  spdl_resize_free (resize);
}

static void
test_checkerboard (void)
{
  const guint side = 512;
  g_autofree guint8 *image = g_malloc (side * side);
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint i = 0; i < side * side; i++)
    image[i] = (i ^ i / side) & 1 ? 255 : 0;
  for (guint i = SPDL_INTERPOLATION_BILINEAR; i <= SPDL_INTERPOLATION_LANCZOS;
       i++) {
    SpdlResizeJob job = { i, 1, side, side, .out_width = 100,
      .out_height = 100 };
    g_autofree guint8 *out = resize_plainly (resize, &job, image);

    /* At the edges the filters are truncated, as in Pillow. */
    for (guint y = 3; y < 97; y++)
      for (guint x = 3; x < 97; x++)
        g_assert_cmpint (ABS (out[y * 100 + x] - 127.5), <=, 2);
  }
  spdl_resize_free (resize);
}

/* Tests that a resize to the size of the box is a copy. */
static void
test_identity (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint i = 0; i < 8; i++) {
    SpdlResizeJob job = { i % 4, i < 4 ? 4 : 1, 131, 67, 5, 6, 90, 50, 90, 50 };
    const guint n = job.pixel_size == 1 ? 1 : 3;
    g_autofree guint8 *image = make_noise (rand, &job);
    g_autofree guint8 *out = resize_plainly (resize, &job, image);

    for (guint y = 0; y < 50; y++)
      for (guint x = 0; x < 90; x++)
        g_assert_cmpmem (out + (y * 90 + x) * n, n,
            image + ((y + 6) * 131 + x + 5) * job.pixel_size, n);
  }
  spdl_resize_free (resize);
}

/* Tests that a channel of a pixel gives the same result as a plane. */
static void
test_layouts (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  SpdlResize *resize = spdl_resize_new (NULL);

  for (guint i = 0; i < 40; i++) {
    SpdlResizeJob job = { i % 4, 4, random_side (rand, 200),
      random_side (rand, 200), .out_width = random_side (rand, 200),
      .out_height = random_side (rand, 200) };
    const gsize n_in = (gsize) job.width * job.height;
    const gsize n_out = (gsize) job.out_width * job.out_height;
    g_autofree guint8 *image = make_noise (rand, &job);
    g_autofree guint8 *plane = g_malloc (n_in);
    g_autofree guint8 *pixels = resize_plainly (resize, &job, image);

    job.pixel_size = 1;
    for (guint c = 0; c < 3; c++) {
      g_autofree guint8 *bytes = NULL;

      for (gsize j = 0; j < n_in; j++)
        plane[j] = image[j * 4 + c];
      bytes = resize_plainly (resize, &job, plane);
      for (gsize j = 0; j < n_out; j++)
        g_assert_cmpuint (bytes[j], ==, pixels[j * 3 + c]);
    }
  }
  spdl_resize_free (resize);
}

static void
resize_some (SpdlResize *resize, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree guint8 *image = g_malloc0 (300 * 300 * 4);

  for (guint i = 0; i < 60; i++) {
    SpdlResizeJob job = { SPDL_INTERPOLATION_BILINEAR, 4,
      g_rand_int_range (rand, 100, 300), g_rand_int_range (rand, 100, 300),
      .out_width = 112, .out_height = 112 };

    g_free (resize_plainly (resize, &job, image));
  }
}

/* Tests that memory grows only for an image that is larger than all before
 * it. */
static void
test_memory_is_kept (void)
{
  SpdlResize *resize = spdl_resize_new (NULL);
  guint n;

  resize_some (resize, 3);
  resize_some (resize, 4);
  n = failing_memory_count ();
  resize_some (resize, 4);
  resize_some (resize, 3);
  g_assert_cmpuint (failing_memory_count () - n, <=, 8);
  spdl_resize_free (resize);
}

/* Makes each allocation for a job fail once, then checks that the next job
 * works. */
static void
check_no_memory (SpdlResizeJob job)
{
  const gsize size = (gsize) job.out_width * job.out_height * 3;
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autofree guint8 *image = make_noise (rand, &job);
  g_autofree guint8 *out = g_malloc (size);
  g_autofree guint8 *wanted = NULL;
  guint n = 0;
  gboolean ok;

  do {
    SpdlResize *resize = spdl_resize_new (NULL);

    job.out = out;
    job.out_stride = job.out_width * 3;
    failing_memory_let_fail (++n);
    ok = feed (resize, &job, image, NULL);
    failing_memory_let_fail (0);
    g_assert_true (feed (resize, &job, image, NULL));
    if (!wanted)
      wanted = g_memdup2 (out, size);
    g_assert_cmpmem (out, size, wanted, size);
    spdl_resize_free (resize);
  } while (!ok);
  g_assert_cmpuint (n, >, 7);
}

/* Tests filters with many taps and with few, which are built by different
 * functions. */
static void
test_no_memory (void)
{
  check_no_memory ((SpdlResizeJob){ SPDL_INTERPOLATION_BICUBIC, 4, 300, 200,
      .out_width = 30, .out_height = 20 });
  check_no_memory ((SpdlResizeJob){ SPDL_INTERPOLATION_BILINEAR, 4, 300, 200,
      .out_width = 200, .out_height = 150 });
}

int
main (int argc, char **argv)
{
  static const gchar *names[] = { "sse2", "avx2", "neon" };

  g_test_init (&argc, &argv, NULL);
  if (g_getenv ("SPDL_TEST_JOBS"))
    n_jobs = MAX (atoi (g_getenv ("SPDL_TEST_JOBS")), 1);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *path = g_strdup_printf ("/resize/kernels/%s", names[i]);

    g_test_add_data_func (path, names[i], test_kernels);
  }
  g_test_add_func ("/resize/flat", test_flat);
  g_test_add_func ("/resize/extremes", test_extremes);
  g_test_add_func ("/resize/checkerboard", test_checkerboard);
  g_test_add_func ("/resize/identity", test_identity);
  g_test_add_func ("/resize/layouts", test_layouts);
  g_test_add_func ("/resize/memory-is-kept", test_memory_is_kept);
  g_test_add_func ("/resize/no-memory", test_no_memory);
  return g_test_run ();
}
