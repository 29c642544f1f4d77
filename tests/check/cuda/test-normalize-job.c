/* gst-spdl: tests of the index arithmetic of the kernels, compiled as C
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib.h>
#include <string.h>

#include "plugins/cuda/normalizejob.h"

/* The reference: returns the input index of the sample for image @n, channel
 * @c, row @y and column @x of the output. */
static gsize
source_of (const SpdlNormalizeJob *job, guint n, guint c, guint y, guint x)
{
  const gboolean flipped = (job->flips[n / 32] & (1u << n % 32)) != 0;

  if (flipped)
    x = job->width - 1 - x;
  return (((gsize) n * job->height + y) * job->width + x) * job->n_channels + c;
}

/* Checks that each sample is written once, by one thread and from the right
 * index, and that vectors are aligned. */
static void
check_job (const SpdlNormalizeJob *job, gsize sample_size)
{
  const gsize n =
      (gsize) job->n_images * job->height * job->width * job->n_channels;
  g_autofree gsize *sources = g_new (gsize, n);
  const uint32_t n_threads = spdl_normalize_count_threads (job);
  gsize i = 0;

  memset (sources, 0xff, n * sizeof *sources);
  for (uint32_t thread = 0; thread < n_threads; thread++) {
    const SpdlNormalizePlace place = spdl_normalize_place (job, thread);

    if (job->run > 1) {
      g_assert_cmpuint (place.in % 4, ==, 0);
      g_assert_cmpuint (place.out * sample_size % 16, ==, 0);
      g_assert_cmpuint (place.plane * sample_size % 16, ==, 0);
    }
    for (uint32_t k = 0; k < job->run; k++)
      for (uint32_t c = 0; c < job->n_channels; c++) {
        const gsize to = place.out + k + c * place.plane;

        g_assert_cmpuint (to, <, n);
        g_assert_cmpuint (sources[to], ==, G_MAXSIZE);
        sources[to] = place.in + spdl_normalize_source (job, &place, k) + c;
      }
  }
  for (guint image = 0; image < job->n_images; image++)
    for (guint c = 0; c < job->n_channels; c++)
      for (guint y = 0; y < job->height; y++)
        for (guint x = 0; x < job->width; x++)
          g_assert_cmpuint (sources[i++], ==, source_of (job, image, c, y, x));
}

static void
test_places (void)
{
  static const guint sides[] = { 1, 2, 4, 5, 8, 12, 16, 17, 24 };

  for (guint w = 0; w < G_N_ELEMENTS (sides); w++)
    for (guint h = 0; h < G_N_ELEMENTS (sides); h += 2)
      for (guint channels = 1; channels <= 5; channels++)
        for (gint half = 0; half < 2; half++) {
          SpdlNormalizeJob job = { .n_images = 35,
            .width = sides[w],
            .height = sides[h],
            .n_channels = channels };
          const char *name =
              spdl_normalize_choose (channels, job.width, half, &job.run);

          g_assert_nonnull (strstr (name, half ? "_f16" : "_f32"));
          /* Flipped and other images in both words of the mask. */
          job.flips[0] = 0xa5a50f01;
          job.flips[1] = 5;
          check_job (&job, half ? 2 : 4);
        }
}

/* Tests that common sizes get a vector kernel. */
static void
test_choice (void)
{
  uint32_t run;

  g_assert_cmpstr (
      spdl_normalize_choose (3, 224, 0, &run), ==, "spdl_normalize_f32_3");
  g_assert_cmpuint (run, ==, 4);
  g_assert_cmpstr (
      spdl_normalize_choose (3, 224, 1, &run), ==, "spdl_normalize_f16_3");
  g_assert_cmpuint (run, ==, 8);
  g_assert_cmpstr (
      spdl_normalize_choose (3, 225, 0, &run), ==, "spdl_normalize_f32");
  g_assert_cmpuint (run, ==, 1);
  g_assert_cmpstr (
      spdl_normalize_choose (2, 224, 1, &run), ==, "spdl_normalize_f16");
  g_assert_cmpstr (
      spdl_normalize_choose (16, 224, 1, &run), ==, "spdl_normalize_f16");
}

/* Tests that the index of the last thread of the largest job does not
 * overflow. */
static void
test_large (void)
{
  SpdlNormalizeJob job = {
    .n_images = 2047, .width = 1024, .height = 1024, .n_channels = 3, .run = 4
  };
  SpdlNormalizePlace place;

  job.flips[2046 / 32] = 1u << 2046 % 32;
  place = spdl_normalize_place (&job, spdl_normalize_count_threads (&job) - 1);
  g_assert_true (place.flipped);
  g_assert_cmpuint (place.plane, ==, 1024 * 1024);
  g_assert_cmpuint (
      place.in, ==, (G_GUINT64_CONSTANT (2047) * 1024 - 1) * 1024 * 3);
  g_assert_cmpuint (place.out, ==,
      G_GUINT64_CONSTANT (2046) * 3 * 1024 * 1024 + 1024 * 1024 - 4);
  /* The limit on the arguments of a kernel. */
  g_assert_cmpuint (sizeof job, <=, 4096);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/normalize-job/places", test_places);
  g_test_add_func ("/normalize-job/choice", test_choice);
  g_test_add_func ("/normalize-job/large", test_large);
  return g_test_run ();
}
