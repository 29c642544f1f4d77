/* gst-spdl: launches CUDA kernels that normalize images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/cuda/normalizer.h"

#include <string.h>

#include "gst/spdl/tensor/factors.h"

/* spdl_normalize_program, which nvcc and bin2c make. */
#include "spdlnormalizeprogram.h"

/* What vectors of the kernels are aligned to. */
#define IN_ALIGNMENT 4
#define OUT_ALIGNMENT 16

/* Factors */

gboolean
spdl_normalize_task_set_factors (SpdlNormalizeTask *task, const double *mean,
    guint n_mean, const double *std, guint n_std, GError **error)
{
  if (!gst_spdl_factors_check (
          "images", "mean", mean, n_mean, task->n_channels, FALSE, error) ||
      !gst_spdl_factors_check (
          "images", "std", std, n_std, task->n_channels, TRUE, error))
    return FALSE;
  for (guint c = 0; c < task->n_channels; c++) {
    const double deviation = gst_spdl_factors_get (std, n_std, c, 1.0);

    task->scale[c] = 1.0 / 255.0 / deviation;
    task->shift[c] = -gst_spdl_factors_get (mean, n_mean, c, 0.0) / deviation;
  }
  return TRUE;
}

/* The program */

gboolean
spdl_normalizer_open (
    SpdlNormalizer *self, const GstSpdlCudart *cudart, GError **error)
{
  gint version = 0;

  memset (self, 0, sizeof *self);
  self->cudart = cudart;
  if (!cudart->cudaLibraryLoadData || !cudart->cudaLibraryGetKernel ||
      !cudart->cudaLibraryUnload) {
    cudart->cudaRuntimeGetVersion (&version);
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "The kernels need a CUDA Runtime of 12.8 or later, but this one is "
        "%d.%d",
        version / 1000, version % 1000 / 10);
    return FALSE;
  }
  return gst_spdl_cudart_check (cudart,
      cudart->cudaLibraryLoadData (
          &self->library, spdl_normalize_program, NULL, NULL, 0, NULL, NULL, 0),
      "Failed to load the CUDA kernels", error);
}

void
spdl_normalizer_close (SpdlNormalizer *self)
{
  if (self->library &&
      self->cudart->cudaLibraryUnload (self->library) != cudaSuccess)
    self->cudart->cudaGetLastError ();
  memset (self, 0, sizeof *self);
}

static void *
get_kernel (SpdlNormalizer *self, guint n_channels, guint width, gboolean half,
    guint32 *run, GError **error)
{
  const gchar *name = spdl_normalize_choose (n_channels, width, half, run);
  const guint place = (*run == 1 ? 0 : n_channels) + (half ? 5 : 0);

  if (!self->kernels[place] &&
      !gst_spdl_cudart_check (self->cudart,
          self->cudart->cudaLibraryGetKernel (
              &self->kernels[place], self->library, name),
          "A CUDA kernel is missing", error))
    return NULL;
  return self->kernels[place];
}

/* Launches */

static void
set_flips (SpdlNormalizeJob *job, const guint8 *flips)
{
  memset (job->flips, 0, sizeof job->flips);
  for (guint i = 0; flips && i < job->n_images; i++)
    if (flips[i])
      job->flips[i / 32] |= 1u << i % 32;
}

static gboolean
launch_kernel (SpdlNormalizer *self, void *kernel, SpdlNormalizeJob *job,
    cudaStream_t stream, GError **error)
{
  const guint n = spdl_normalize_count_threads (job);
  const dim3 grid = { (n + SPDL_NORMALIZE_BLOCK - 1) / SPDL_NORMALIZE_BLOCK, 1,
    1 };
  const dim3 block = { SPDL_NORMALIZE_BLOCK, 1, 1 };
  void *arguments[] = { job };

  return gst_spdl_cudart_check (self->cudart,
      self->cudart->cudaLaunchKernel (
          kernel, grid, block, arguments, 0, stream),
      "Failed to launch a CUDA kernel", error);
}

/* How many images one launch takes; 0 if one is too large. */
static guint
count_at_once (const SpdlNormalizeTask *task)
{
  const guint64 n_pixels = (guint64) task->width * task->height;

  return MIN (SPDL_NORMALIZE_MAX_THREADS / MAX (n_pixels, 1),
      SPDL_NORMALIZE_MAX_IMAGES);
}

gboolean
spdl_normalizer_launch (SpdlNormalizer *self, const SpdlNormalizeTask *task,
    gconstpointer in, gpointer out, const guint8 *flips, cudaStream_t stream,
    GError **error)
{
  const guint step = count_at_once (task);
  const gsize n_samples = (gsize) task->width * task->height * task->n_channels;
  const gboolean aligned =
      (gsize) in % IN_ALIGNMENT == 0 && (gsize) out % OUT_ALIGNMENT == 0;
  SpdlNormalizeJob job = {
    .width = task->width, .height = task->height, .n_channels = task->n_channels
  };
  /* An odd width makes a thread do a pixel, from any place. */
  void *kernel = get_kernel (self, task->n_channels, aligned ? task->width : 1,
      task->half, &job.run, error);

  if (!kernel)
    return FALSE;
  if (step == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "An image of %u by %u is too large", task->width, task->height);
    return FALSE;
  }
  memcpy (job.scale, task->scale, sizeof job.scale);
  memcpy (job.shift, task->shift, sizeof job.shift);
  for (guint i = 0; i < task->n_images; i += step) {
    job.in = (const guint8 *) in + i * n_samples;
    job.out = (guint8 *) out + i * n_samples * (task->half ? 2 : 4);
    job.n_images = MIN (step, task->n_images - i);
    set_flips (&job, flips ? flips + i : NULL);
    if (!launch_kernel (self, kernel, &job, stream, error))
      return FALSE;
  }
  return TRUE;
}
