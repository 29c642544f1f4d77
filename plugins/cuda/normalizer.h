/* gst-spdl: launches CUDA kernels that normalize images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/cuda/cudart.h"
#include "plugins/cuda/normalizejob.h"

G_BEGIN_DECLS

/* The kernels are a program of their own, made by nvcc and part of the plugin
 * as bytes, which the Runtime loads for each device that it is used on. */

/* Of two types of samples, for 0 (any) to 4 channels. */
#define SPDL_NORMALIZER_KERNELS 10

typedef struct {
  const GstSpdlCudart *cudart;
  void *library;
  void *kernels[SPDL_NORMALIZER_KERNELS]; /* NULL: not looked for yet */
} SpdlNormalizer;

typedef struct {
  guint n_images, width, height, n_channels;
  gboolean half; /* to float16, else float32 */
  float scale[SPDL_NORMALIZE_MAX_CHANNELS];
  float shift[SPDL_NORMALIZE_MAX_CHANNELS];
} SpdlNormalizeTask;

/* @mean, @std: of @n each (0: none; 1: for all channels), of samples from 0 to
 * 1, as spdlbatch has them. Returns FALSE with @error set if they do not go
 * with
 * @task's channels. */
gboolean
spdl_normalize_task_set_factors (SpdlNormalizeTask *task, const double *mean,
    guint n_mean, const double *std, guint n_std, GError **error);

gboolean spdl_normalizer_open (
    SpdlNormalizer *self, const GstSpdlCudart *cudart, GError **error);
void spdl_normalizer_close (SpdlNormalizer *self);

/* Gives @stream, of the current device, what makes @out of @in. @flips: a byte
 * an image; NULL: none is mirrored. */
gboolean spdl_normalizer_launch (SpdlNormalizer *self,
    const SpdlNormalizeTask *task, gconstpointer in, gpointer out,
    const guint8 *flips, cudaStream_t stream, GError **error);

G_END_DECLS
