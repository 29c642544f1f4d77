/* gst-spdl: fixed-point filters of a resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As Pillow names and defines them: bicubic has a = -0.5, lanczos a = 3, and
 * all but nearest are widened when an image shrinks. */
typedef enum {
  SPDL_INTERPOLATION_NEAREST,
  SPDL_INTERPOLATION_BILINEAR,
  SPDL_INTERPOLATION_BICUBIC,
  SPDL_INTERPOLATION_LANCZOS,
} SpdlInterpolation;

/* One direction of a resize: of @n_in samples those of the box, @length from
 * @begin on, become @n_full, of which @n_out from @skip on are made. As with
 * Pillow, a filter at the edge of the box looks beyond it, but not beyond the
 * image; or, with @crop, not beyond the box.
 *
 * With @doubled there are half as many samples as @n_in says, rounded up, which
 * are doubled first, as JPEG decoders do it: of each new one 3/4 are the nearer
 * sample, 1/4 the farther. Both steps are one filter then.
 *
 * @begin and @length count in parts of a sample, @unit to a sample: an image
 * that was decoded at a quarter of its size has samples of 4 parts, its
 * pixels. */
typedef struct {
  SpdlInterpolation interpolation;
  guint n_in;
  guint begin;
  guint length;
  guint unit;
  gboolean crop;
  gboolean doubled; /* not with nearest */
  guint n_full;
  guint skip;
  guint n_out;
  guint max_value; /* that samples have */
  gboolean quads;  /* whether to arrange the weights for bytes, too */
} SpdlFilterKey;

/* Two taps of each of four samples, one behind the other, as a shuffle of bytes
 * and a multiplication of pairs take them: where the values are, from the first
 * sample's first tap on, and their weights. Odd places are 0xff: 0. */
typedef struct {
  guint8 places[16];
  gint16 weights[8];
} SpdlFilterQuad;

/* For each sample that comes out, which ones go in and with which weight. All
 * have the same number of taps, some of weight 0, so that inner loops run
 * without a branch that depends on the place. The weights of a sample add up to
 * 1 << @shift, exactly: what is flat stays flat. Sums of weighted values fit 32
 * bits, and half of the largest value of the last bit does too.
 *
 * Loops may go in steps of SPDL_FILTER_STEP: behind the last sample some of
 * weight 0 follow. */
#define SPDL_FILTER_STEP 4
typedef struct {
  guint n_out;
  guint n_taps;
  guint stride;    /* from sample to sample; a multiple of 8, filled with 0 */
  guint shift;     /* the bits of a weight below the point */
  guint *first;    /* never falls; first + n_taps is within the image */
  gint16 *weights; /* stride of them a sample */
  /* For each SPDL_FILTER_STEP samples, n_pairs; 0: their taps are too far
   * apart, or nobody asked. */
  SpdlFilterQuad *quads;
  guint n_pairs;
  guint source_begin, source_end; /* of the samples that count */
} SpdlFilter;

/* Some filters in the order of their last use. What is evicted leaves its
 * memory to what comes. One thread. */
typedef struct _SpdlFilters SpdlFilters;

SpdlFilters *spdl_filters_new (void);
void spdl_filters_free (SpdlFilters *self);

/* Holds until SPDL_FILTERS_KEPT others were asked for. NULL if there is no
 * memory. */
#define SPDL_FILTERS_KEPT 16
const SpdlFilter *
spdl_filters_get (SpdlFilters *self, const SpdlFilterKey *key);

G_END_DECLS
