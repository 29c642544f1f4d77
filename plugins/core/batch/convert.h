/* gst-spdl: conversion of type, layout, mean and std in a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes pixels as another type, in another layout, shifted and scaled for each
 * channel, in one pass. What goes in is interleaved: all channels of a pixel,
 * then the next pixel. What comes out is that too, or a plane for each channel.
 *
 *     out = (in * unit - mean) / std
 *
 * where unit makes 1 of the whole of an integer type: 1/255 of uint8, as
 * torchvision has it. */

#define SPDL_CONVERT_MAX_CHANNELS 16
/* Factors are repeated until they fill vectors of this many, so that a kernel
 * need not know how many channels there are. */
#define SPDL_CONVERT_LANES 8

typedef enum {
  SPDL_SAMPLE_UINT8,
  SPDL_SAMPLE_FLOAT16, /* only out */
  SPDL_SAMPLE_FLOAT32,
} SpdlSample;

typedef struct {
  SpdlSample in;
  SpdlSample out;
  guint n_channels;
  gboolean planar;
  gboolean plain; /* neither shifted nor scaled */
  /* of channel i % n_channels */
  float scale[SPDL_CONVERT_MAX_CHANNELS * SPDL_CONVERT_LANES];
  float shift[SPDL_CONVERT_MAX_CHANNELS * SPDL_CONVERT_LANES];
} SpdlConvert;

/* @mean, @std: of @n each (0: none; 1: for all channels). Returns FALSE with
 * @error set for what it cannot do. */
gboolean spdl_convert_init (SpdlConvert *self, SpdlSample in, SpdlSample out,
    guint n_channels, gboolean planar, const double *mean, guint n_mean,
    const double *std, guint n_std, GError **error);

gsize spdl_sample_get_size (SpdlSample sample);

/* Writes @n pixels from @in to @out. Where it is planar, @plane is the distance
 * of planes, in samples. */
void spdl_convert_write (
    const SpdlConvert *self, const void *in, void *out, gsize n, gsize plane);

G_END_DECLS
