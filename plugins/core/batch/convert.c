/* gst-spdl: conversion of type, layout, mean and std in a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/convert.h"

#include <gst/gst.h>

#include <string.h>

#include "gst/spdl/tensor/factors.h"
#include "plugins/core/batch/convertkernels.h"

/* Number of pixels that are separated into planes at a time, so that the planes
 * stay in the CPU's cache. */
#define BLOCK 512

gsize
spdl_sample_get_size (SpdlSample sample)
{
  switch (sample) {
    case SPDL_SAMPLE_UINT8:
      return 1;
    case SPDL_SAMPLE_FLOAT16:
      return 2;
    default:
      return 4;
  }
}

gboolean
spdl_convert_init (SpdlConvert *self, SpdlSample in, SpdlSample out,
    guint n_channels, gboolean planar, const double *mean, guint n_mean,
    const double *std, guint n_std, GError **error)
{
  const double unit = in == SPDL_SAMPLE_UINT8 ? 1.0 / 255.0 : 1.0;
  const gboolean scaled = n_mean > 0 || n_std > 0;

  memset (self, 0, sizeof *self);
  self->in = in;
  self->out = out;
  self->n_channels = n_channels;
  self->planar = planar;
  if (n_channels > SPDL_CONVERT_MAX_CHANNELS) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Items of %u channels cannot be converted: the limit is %d, and the "
        "channels must be the last dimension, as in (height, width, channels)",
        n_channels, SPDL_CONVERT_MAX_CHANNELS);
    return FALSE;
  }
  if (out == SPDL_SAMPLE_UINT8 && (in != SPDL_SAMPLE_UINT8 || scaled)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "mean, std and floating-point items need a floating-point dtype: set "
        "dtype to float32 or float16");
    return FALSE;
  }
  if (!gst_spdl_factors_check (
          "items", "mean", mean, n_mean, n_channels, FALSE, error) ||
      !gst_spdl_factors_check (
          "items", "std", std, n_std, n_channels, TRUE, error))
    return FALSE;

  self->plain = in == out && !scaled;
  for (guint i = 0; i < n_channels * SPDL_CONVERT_LANES; i++) {
    const guint channel = i % n_channels;
    const double deviation = gst_spdl_factors_get (std, n_std, channel, 1.0);

    self->scale[i] = unit / deviation;
    self->shift[i] =
        -gst_spdl_factors_get (mean, n_mean, channel, 0.0) / deviation;
  }
  return TRUE;
}

/* Converts @n samples. @scale and @shift have @period values, which are
 * repeated. */
static void
write_samples (const SpdlConvert *self, const void *in, void *out, gsize n,
    const float *scale, const float *shift, guint period)
{
  const SpdlConvertKernels *kernels = spdl_convert_kernels_get ();
  const gboolean half = self->out == SPDL_SAMPLE_FLOAT16;

  if (self->plain)
    memcpy (out, in, n * spdl_sample_get_size (self->in));
  else if (self->in == SPDL_SAMPLE_UINT8 && half)
    kernels->u8_to_f16 (in, out, n, scale, shift, period);
  else if (self->in == SPDL_SAMPLE_UINT8)
    kernels->u8_to_f32 (in, out, n, scale, shift, period);
  else if (half)
    kernels->f32_to_f16 (in, out, n, scale, shift, period);
  else
    kernels->f32_to_f32 (in, out, n, scale, shift, period);
}

static void
pick_channel (
    const SpdlConvert *self, const void *in, guint channel, void *out, gsize n)
{
  const guint step = self->n_channels;

  if (self->in == SPDL_SAMPLE_UINT8) {
    const guint8 *from = (const guint8 *) in + channel;

    for (gsize i = 0; i < n; i++)
      ((guint8 *) out)[i] = from[i * step];
  } else {
    const float *from = (const float *) in + channel;

    for (gsize i = 0; i < n; i++)
      ((float *) out)[i] = from[i * step];
  }
}

/* Converts a block of at most BLOCK pixels to planes: separates the channels,
 * then converts each. */
static void
write_planes (const SpdlConvert *self, const guint8 *in, guint8 *out, gsize n,
    gsize plane)
{
  const gsize out_size = spdl_sample_get_size (self->out);
  float picked[BLOCK];
  guint8 *bytes = (guint8 *) picked;
  const gboolean split = self->n_channels == 3 && self->in == SPDL_SAMPLE_UINT8;

  if (split)
    spdl_convert_kernels_get ()->split3 (
        in, n, bytes, bytes + BLOCK, bytes + 2 * BLOCK);
  for (guint c = 0; c < self->n_channels; c++) {
    float scale[SPDL_CONVERT_LANES], shift[SPDL_CONVERT_LANES];

    for (guint i = 0; i < SPDL_CONVERT_LANES; i++) {
      scale[i] = self->scale[c];
      shift[i] = self->shift[c];
    }
    if (!split)
      pick_channel (self, in, c, picked, n);
    write_samples (self, split ? bytes + c * BLOCK : bytes,
        out + c * plane * out_size, n, scale, shift, SPDL_CONVERT_LANES);
  }
}

void
spdl_convert_write (
    const SpdlConvert *self, const void *in, void *out, gsize n, gsize plane)
{
  const gsize in_size = self->n_channels * spdl_sample_get_size (self->in);
  const gsize out_size = spdl_sample_get_size (self->out);

  if (!self->planar || self->n_channels == 1) {
    write_samples (self, in, out, n * self->n_channels, self->scale,
        self->shift, self->n_channels * SPDL_CONVERT_LANES);
    return;
  }
  for (gsize i = 0; i < n; i += BLOCK)
    write_planes (self, (const guint8 *) in + i * in_size,
        (guint8 *) out + i * out_size, MIN (n - i, BLOCK), plane);
}
