/* gst-spdl: fixed-point filters of the resizer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Filters with Pillow's names and definitions: bicubic has a = -0.5, and
 * Lanczos a = 3. All except nearest are widened when the image shrinks
 * (antialiasing). */
typedef enum {
  SPDL_INTERPOLATION_NEAREST,
  SPDL_INTERPOLATION_BILINEAR,
  SPDL_INTERPOLATION_BICUBIC,
  SPDL_INTERPOLATION_LANCZOS,
} SpdlInterpolation;

/* Parameters of a filter for one direction. The crop, @length from @begin, is
 * scaled from @n_in input samples to @n_full, of which @n_out from @skip on are
 * computed. As in Pillow, a filter at the edge of the crop reads pixels outside
 * of it, up to the edge of the image; with @crop it does not.
 *
 * With @doubled, the input has half of @n_in samples, rounded up, and is first
 * upsampled by two as in JPEG decoders: 3/4 of the nearer sample and 1/4 of the
 * farther one. Both steps are combined into one filter.
 *
 * @begin and @length are in units of 1 / @unit samples: in an image that was
 * decoded at a quarter of its size, @unit is 4, and positions are in original
 * pixels. */
typedef struct {
  SpdlInterpolation interpolation;
  guint n_in;
  guint begin;
  guint length;
  guint unit;
  gboolean crop;
  gboolean doubled; /* not supported with nearest */
  guint n_full;
  guint skip;
  guint n_out;
  guint max_value; /* of the samples */
  gboolean quads;  /* also compute `quads`, for 8-bit samples */
} SpdlFilterKey;

/* Two taps of each of four output samples, in the form that a byte shuffle
 * followed by a multiply-add of pairs needs: offsets of the input samples
 * relative to the first tap of the first sample, and weights. Odd offsets are
 * 0xff, which gives 0. */
typedef struct {
  guint8 places[16];
  gint16 weights[8];
} SpdlFilterQuad;

/* Filter: for each output sample, the input samples and their weights. All
 * output samples have the same number of taps, padded with weights of 0, so
 * that inner loops have no data-dependent branches. The weights of a sample add
 * up to exactly 1 << @shift, so flat areas keep their value. Weighted sums fit
 * in 32 bits, including half of the last bit for rounding.
 *
 * Loops may advance by SPDL_FILTER_STEP: padding samples with weights of 0
 * follow the last one. */
#define SPDL_FILTER_STEP 4
typedef struct {
  guint n_out;
  guint n_taps;
  guint
      stride;  /* from one sample to the next; a multiple of 8, padded with 0 */
  guint shift; /* number of fractional bits of a weight */
  guint *first;    /* non-decreasing; first + n_taps is within the image */
  gint16 *weights; /* stride per sample */
  /* n_pairs for each group of SPDL_FILTER_STEP samples. n_pairs is 0 if the
   * taps are too far apart or quads were not requested. */
  SpdlFilterQuad *quads;
  guint n_pairs;
  guint source_begin, source_end; /* range of input samples with a weight */
} SpdlFilter;

/* Cache of filters with least-recently-used eviction. The memory of an evicted
 * filter is reused. Not thread-safe. */
typedef struct _SpdlFilters SpdlFilters;

SpdlFilters *spdl_filters_new (void);
void spdl_filters_free (SpdlFilters *self);

/* Returns a filter that stays valid until SPDL_FILTERS_KEPT other ones have
 * been requested. NULL if memory cannot be allocated. */
#define SPDL_FILTERS_KEPT 16
const SpdlFilter *
spdl_filters_get (SpdlFilters *self, const SpdlFilterKey *key);

G_END_DECLS
