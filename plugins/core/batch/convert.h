/* gst-spdl: conversion of type, layout, mean and std in a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Converts the type and layout of pixels, and scales and shifts each channel,
 * in one pass. The input is interleaved: all channels of a pixel, then the next
 * pixel. The output is interleaved or planar.
 *
 *     out = (in * unit - mean) / std
 *
 * The unit normalizes the range of an integer type to 1: 1/255 for uint8, as in
 * torchvision. */

#define SPDL_CONVERT_MAX_CHANNELS 16
/* Factors are repeated up to a multiple of this number of values, so that
 * kernels that process vectors do not depend on the number of channels. */
#define SPDL_CONVERT_LANES 8

typedef enum {
  SPDL_SAMPLE_UINT8,
  SPDL_SAMPLE_FLOAT16, /* output only */
  SPDL_SAMPLE_FLOAT32,
} SpdlSample;

typedef struct {
  SpdlSample in;
  SpdlSample out;
  guint n_channels;
  gboolean planar;
  gboolean plain; /* no scale or shift */
  /* value i is for channel i % n_channels */
  float scale[SPDL_CONVERT_MAX_CHANNELS * SPDL_CONVERT_LANES];
  float shift[SPDL_CONVERT_MAX_CHANNELS * SPDL_CONVERT_LANES];
} SpdlConvert;

/* Initializes a conversion. @mean and @std have @n_mean and @n_std values (0:
 * none; 1: for all channels). Returns FALSE with @error set if the conversion
 * is not supported. */
gboolean spdl_convert_init (SpdlConvert *self, SpdlSample in, SpdlSample out,
    guint n_channels, gboolean planar, const double *mean, guint n_mean,
    const double *std, guint n_std, GError **error);

gsize spdl_sample_get_size (SpdlSample sample);

/* Writes @n pixels from @in to @out. With a planar layout, @plane is the
 * distance of the planes in samples. */
void spdl_convert_write (
    const SpdlConvert *self, const void *in, void *out, gsize n, gsize plane);

G_END_DECLS
