/* gst-spdl: fuzz target of the resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/resize/planes.h"
#include "tests/check/support/failing-memory.h"
#include "tests/check/support/feed.h"
#include "tests/fuzz/fuzz.h"

/* Checks that all sets of kernels on this machine give the result of the plain
 * C ones, write within bounds and keep flat images flat. */

#define MAX_LENGTH 2500
#define MAX_AREA 3000
/* For the nearest sample, positions are added up like in Pillow, one at a time.
 */
#define MAX_NEAREST 65536
#define GUARD 0xa5

typedef struct {
  SpdlResizeJob job;
  guint32 seed;   /* for the order in which the input is fed */
  guint padding;  /* after each output row */
  guint failing;  /* number of the allocation that fails */
  gboolean noise; /* otherwise the input follows the settings */
} Settings;

static guint
take_length (FuzzInput *input, guint other)
{
  return fuzz_take_side (input, CLAMP (MAX_AREA / other, 1, MAX_LENGTH));
}

/* Takes a box along one side, in 1 / @unit samples. */
static void
take_box (FuzzInput *input, guint unit, guint n_samples, guint *begin,
    guint *length)
{
  const guint n = n_samples * unit - fuzz_take (input) % unit;

  *begin = fuzz_take_16 (input) % n;
  *length = fuzz_take_side (input, n - *begin);
}

/* Takes a full output size, of which a part is skipped. */
static void
take_full (FuzzInput *input, const SpdlResizeJob *job, guint n_out, guint *full,
    guint *skip)
{
  const guint max =
      job->interpolation == SPDL_INTERPOLATION_NEAREST ? MAX_NEAREST : G_MAXINT;
  const guint beyond = fuzz_take_32 (input);

  *full = MIN (n_out + (guint64) beyond, max);
  *skip = fuzz_take_32 (input) % (*full - n_out + 1);
}

static Settings
take_settings (FuzzInput *input)
{
  const guint8 modes = fuzz_take (input), flags = fuzz_take (input);
  Settings self = { { .interpolation = modes & 3,
                        .pixel_size = modes & 4 ? 1 : 4,
                        .crop = modes >> 3 & 1,
                        .unit_x = 1 << (modes >> 4 & 3),
                        .unit_y = 1 << (modes >> 4 & 3) },
    .noise = modes >> 6 & 1 };
  SpdlResizeJob *job = &self.job;

  job->width = fuzz_take_side (input, MAX_LENGTH);
  job->height = take_length (input, job->width);
  job->out_width = fuzz_take_side (input, MAX_LENGTH);
  job->out_height = take_length (input, MAX (job->width, job->out_width));
  if (job->unit_x > 1 || flags & 1) {
    take_box (input, job->unit_x, job->width, &job->box_x, &job->box_width);
    take_box (input, job->unit_y, job->height, &job->box_y, &job->box_height);
  }
  if (flags & 2) {
    take_full (input, job, job->out_width, &job->full_width, &job->skip_x);
    take_full (input, job, job->out_height, &job->full_height, &job->skip_y);
  }
  if (job->pixel_size == 1 &&
      job->interpolation != SPDL_INTERPOLATION_NEAREST) {
    job->half_x = flags >> 6 & 1;
    job->half_y = flags >> 7;
  }
  self.failing = flags >> 2 & 15;
  self.seed = fuzz_take (input);
  self.padding = fuzz_take (input) % 40;
  return self;
}

static gsize
get_row_size (const SpdlResizeJob *job)
{
  return (gsize) job->out_width * (job->pixel_size == 1 ? 1 : 3);
}

static guint8 *
make_image (const Settings *settings, const FuzzInput *input)
{
  const SpdlResizeJob *job = &settings->job;
  const gsize n = (gsize) job->width * job->height * job->pixel_size;
  guint8 *image = g_malloc0 (n);
  guint32 state = settings->seed;

  for (gsize i = 0; i < n; i++) {
    state = state * 1664525 + 1013904223;
    if (settings->noise)
      image[i] = state >> 24;
    else if (input->size > 0)
      image[i] = input->data[i % input->size];
  }
  return image;
}

/* Returns all rows with their padding, or NULL if an allocation failed. */
static guint8 *
resize (
    const Settings *settings, const SpdlKernels *kernels, const guint8 *image)
{
  SpdlResizeJob job = settings->job;
  SpdlResize *self = spdl_resize_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (settings->seed);
  gboolean ok;

  job.out_stride = get_row_size (&job) + settings->padding;
  job.out = g_malloc (job.out_stride * job.out_height);
  memset (job.out, GUARD, job.out_stride * job.out_height);
  spdl_resize_set_kernels (self, kernels);
  ok = feed (self, &job, image, rand);
  spdl_resize_free (self);
  if (!ok)
    g_clear_pointer (&job.out, g_free);
  return job.out;
}

static void
check_padding (const Settings *settings, const guint8 *out)
{
  const gsize row_size = get_row_size (&settings->job);

  for (guint y = 0; y < settings->job.out_height; y++) {
    out += row_size;
    for (guint i = 0; i < settings->padding; i++)
      g_assert_cmpuint (*out++, ==, GUARD);
  }
}

static void
check_flat (const Settings *settings, const guint8 *out, guint level)
{
  const gsize row_size = get_row_size (&settings->job);

  for (guint y = 0; y < settings->job.out_height; y++) {
    for (gsize i = 0; i < row_size; i++)
      g_assert_cmpuint (out[i], ==, level);
    out += row_size + settings->padding;
  }
}

/* Joins planes of the image's bytes to pixels, and checks the padding. */
static guint8 *
join (const Settings *settings, const SpdlKernels *kernels, const guint8 *image)
{
  const guint n = settings->job.width;
  const gsize stride = n + SPDL_KERNEL_PADDING, size = n * 3;
  g_autofree guint8 *memory = g_malloc0 (stride * SPDL_PLANES);
  const guint8 *planes[SPDL_PLANES];
  guint8 *out = g_malloc (size + settings->padding);

  for (guint i = 0; i < SPDL_PLANES; i++) {
    planes[i] = memory + i * stride;
    for (guint x = 0; x < n; x++)
      memory[i * stride + x] = image[(x * 7 + i) % settings->job.width];
  }
  memset (out, GUARD, size + settings->padding);
  kernels->join_planes (out, planes, n, settings->seed & 1);
  for (guint i = 0; i < settings->padding; i++)
    g_assert_cmpuint (out[size + i], ==, GUARD);
  return out;
}

static void
check_join (
    const Settings *settings, const SpdlKernels *kernels, const guint8 *image)
{
  g_autofree guint8 *wanted = join (settings, &spdl_kernels_c, image);
  g_autofree guint8 *out = join (settings, kernels, image);

  g_assert_cmpmem (
      out, settings->job.width * 3, wanted, settings->job.width * 3);
}

static void
check_kernels (
    const Settings *settings, const guint8 *image, const guint8 *wanted)
{
  static const gchar *const names[] = { "sse2", "avx2", "neon" };
  const gsize n = (get_row_size (&settings->job) + settings->padding) *
                  settings->job.out_height;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const SpdlKernels *kernels = spdl_kernels_find (names[i]);
    g_autofree guint8 *out = NULL;

    if (!kernels)
      continue;
    out = resize (settings, kernels, image);
    g_assert_cmpmem (out, n, wanted, n);
    check_join (settings, kernels, image);
  }
}

static void
check_without_memory (const Settings *settings, const guint8 *image)
{
  failing_memory_let_fail (settings->failing);
  g_free (resize (settings, &spdl_kernels_c, image));
  failing_memory_let_fail (0);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const Settings settings = take_settings (&input);
  g_autofree guint8 *image = make_image (&settings, &input);
  g_autofree guint8 *wanted = NULL;

  if (settings.failing > 0)
    check_without_memory (&settings, image);
  wanted = resize (&settings, &spdl_kernels_c, image);
  check_padding (&settings, wanted);
  if (!settings.noise && input.size <= 1)
    check_flat (&settings, wanted, image[0]);
  check_kernels (&settings, image, wanted);
  return 0;
}
