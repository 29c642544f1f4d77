/* gst-spdl: weights of the resizer's filters
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/filter.h"

G_BEGIN_DECLS

/* Bilinear filters with few taps. A random crop needs four new filters per
 * image, nearly always bilinear ones with two to five taps. Each step is a loop
 * over output samples without branches, which compilers vectorize; a loop over
 * taps takes four times as long. Taps are stored in planes: the first tap of
 * all samples, then the second tap, and so on. */
#define SPDL_TRIANGLE_FILTER_TAPS 8

typedef struct {
  gsize n_weights_allocated, n_rounded_allocated;
  gsize stride;    /* of a plane */
  guint n_planes;  /* number of taps */
  float *weights;  /* unnormalized weights, followed by a plane of their sums */
  gint16 *rounded; /* fixed-point weights */
} SpdlTriangleFilter;

/* Unnormalized weights, which are then rounded in place. */
typedef union {
  float value;
  gint32 rounded;
} SpdlWeight;

/* Weights of a filter. They are computed before the filter is allocated,
 * because only then the number of taps is known. Memory is reused for the next
 * filter. */
typedef struct {
  SpdlTriangleFilter triangle_filter;
  gboolean is_triangles; /* the weights are in triangle_filter */
  gsize stride;
  gsize n_allocated, n_counts_allocated, n_factors_allocated;
  gsize n_doubled_allocated;
  SpdlWeight *weights;
  guint *counts;
  float *factors;      /* normalization factor per sample */
  SpdlWeight *doubled; /* weights of one sample for upsampled input, with zeros
                          on both sides */
} SpdlFilterWeights;

void spdl_filter_weights_clear (SpdlFilterWeights *self);

/* Sets for each of the n_out output samples the nearest input sample. */
void spdl_filter_find_nearest (const SpdlFilterKey *key, guint *samples);

/* Computes the weights of @filter and sets all its fields except weights and
 * quads. @filter->first must have room for n_out. Returns FALSE if memory
 * cannot be allocated. */
gboolean spdl_filter_weights_make (
    SpdlFilterWeights *self, const SpdlFilterKey *key, SpdlFilter *filter);

/* Writes the weights to @filter, which is filled with zeros, and adjusts
 * @filter->first so that all taps are within the source. */
void
spdl_filter_weights_write (const SpdlFilterWeights *self, SpdlFilter *filter);

G_END_DECLS
