/* gst-spdl: weights of a resize filter
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/filter.h"

G_BEGIN_DECLS

/* A random crop needs four new filters for each image, nearly always bilinear
 * ones of two to five taps. Here each step of their making is a loop over
 * samples that come out, without a branch, for the compiler to vectorise: one
 * sample after the other takes four times as long. The taps are planes: the
 * first of all samples, the second of all, and so on. */
#define SPDL_TRIANGLE_FILTER_TAPS 8

typedef struct {
  gsize n_weights_allocated, n_rounded_allocated;
  gsize stride;    /* of a plane */
  guint n_planes;  /* from the first tap to the last that may count */
  float *weights;  /* before they add up to 1; behind them their sums */
  gint16 *rounded; /* as whole numbers */
} SpdlTriangleFilter;

/* Weights on their way to whole numbers: of each sample that comes out those of
 * all that may count, before they add up to 1. */
typedef union {
  float value;
  gint32 rounded;
} SpdlWeight;

/* What a filter is made of: drafted first, since only then it is known how many
 * taps there are. Its memory serves the next filter. */
typedef struct {
  SpdlTriangleFilter triangle_filter;
  gboolean is_triangles; /* it is they that hold the weights */
  gsize stride;
  gsize n_allocated, n_counts_allocated, n_factors_allocated;
  gsize n_doubled_allocated;
  SpdlWeight *weights;
  guint *counts;
  float *factors;      /* that make a sample's weights add up to 1 */
  SpdlWeight *doubled; /* one sample's, with zeros around */
} SpdlFilterWeights;

void spdl_filter_weights_clear (SpdlFilterWeights *self);

/* Drafts the weights of @filter, in which it sets all but weights and quads.
 * @filter->first has room for n_out. FALSE if there is no memory. */
gboolean spdl_filter_weights_make (
    SpdlFilterWeights *self, const SpdlFilterKey *key, SpdlFilter *filter);

/* Writes the weights, where there are zeros, and sets @filter->first so that
 * all taps are within the source. */
void
spdl_filter_weights_write (const SpdlFilterWeights *self, SpdlFilter *filter);

G_END_DECLS
