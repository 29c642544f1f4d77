/* gst-spdl: CUDA image normalization
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/cuda/cudart.h"
#include "plugins/cuda/normalizejob.h"

G_BEGIN_DECLS

/* Launches the kernels, which nvcc compiles to a binary that is embedded in the
 * plugin. The CUDA Runtime loads it for each device in use. */

/* One kernel for each of two sample types, and for 1 to 4 channels or any
 * number of channels. */
#define SPDL_NORMALIZER_KERNELS 10

typedef struct {
  const GstSpdlCudart *cudart;
  void *library;
  void *kernels[SPDL_NORMALIZER_KERNELS]; /* NULL: not loaded yet */
} SpdlNormalizer;

typedef struct {
  guint n_images, width, height, n_channels;
  gboolean half; /* output is float16, not float32 */
  float scale[SPDL_NORMALIZE_MAX_CHANNELS];
  float shift[SPDL_NORMALIZE_MAX_CHANNELS];
} SpdlNormalizeTask;

/* Sets scale and shift from @mean and @std, which have @n_mean and @n_std
 * values (0: default; 1: for all channels) for samples from 0 to 1, as in
 * spdlbatch. Returns FALSE with @error set if they do not match the number of
 * channels. */
gboolean
spdl_normalize_task_set_factors (SpdlNormalizeTask *task, const double *mean,
    guint n_mean, const double *std, guint n_std, GError **error);

gboolean spdl_normalizer_open (
    SpdlNormalizer *self, const GstSpdlCudart *cudart, GError **error);
void spdl_normalizer_close (SpdlNormalizer *self);

/* Launches the conversion of @in to @out on @stream of the current device.
 * @flips: (nullable): a byte per image; NULL: no image is mirrored */
gboolean spdl_normalizer_launch (SpdlNormalizer *self,
    const SpdlNormalizeTask *task, gconstpointer in, gpointer out,
    const guint8 *flips, cudaStream_t stream, GError **error);

G_END_DECLS
