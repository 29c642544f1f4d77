/* gst-spdl: conversion of images for a batch
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

/* All kernels have identical results: a multiplication and an addition, each
 * rounded to float32. For float16, the result is rounded to nearest, ties to
 * even. */

typedef guint16 SpdlHalf;

/* @scale and @shift have @period values, a multiple of SPDL_CONVERT_LANES,
 *     which are repeated from the first sample on. */
typedef struct {
  const gchar *name;
  void (*u8_to_f32) (const guint8 *in, float *out, gsize n, const float *scale,
      const float *shift, guint period);
  void (*u8_to_f16) (const guint8 *in, SpdlHalf *out, gsize n,
      const float *scale, const float *shift, guint period);
  void (*f32_to_f32) (const float *in, float *out, gsize n, const float *scale,
      const float *shift, guint period);
  void (*f32_to_f16) (const float *in, SpdlHalf *out, gsize n,
      const float *scale, const float *shift, guint period);
  /* Separates pixels of three channels into planes. */
  void (*split3) (const guint8 *in, gsize n, guint8 *a, guint8 *b, guint8 *c);
} SpdlConvertKernels;

/* Returns the fastest kernels for this CPU, or for tests those that the
 * environment variable SPDL_KERNELS names. */
const SpdlConvertKernels *spdl_convert_kernels_get (void);

/* Returns the kernels @name ("c", "avx2", "neon"), or NULL if the CPU does not
 * support them. */
const SpdlConvertKernels *spdl_convert_kernels_find (const gchar *name);

SpdlHalf spdl_half_from_float (float value);

G_END_DECLS
