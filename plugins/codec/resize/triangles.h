/* gst-spdl: the weights of a filter that is a triangle of few taps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_TRIANGLES_H__
#define __SPDL_TRIANGLES_H__

#include "plugins/codec/resize/filter.h"

G_BEGIN_DECLS

/* A random crop needs four new filters for each image, nearly always bilinear
 * ones of two to five taps. Here each step of their making is a loop over
 * samples that come out, without a branch, for the compiler to vectorise: one
 * sample after the other takes four times as long. The taps are planes: the
 * first of all samples, the second of all, and so on. */

#define SPDL_TRIANGLES_TAPS 8

typedef struct {
  gsize n_weights_allocated, n_rounded_allocated;
  gsize stride;    /* of a plane */
  guint n_planes;  /* from the first tap to the last that may count */
  float *weights;  /* before they add up to 1; behind them their sums */
  gint16 *rounded; /* as whole numbers */
} SpdlTriangles;

void spdl_triangles_clear (SpdlTriangles *self);

/* Whether @key asks for such a filter. */
gboolean spdl_triangles_can_make (const SpdlFilterKey *key);

/* As spdl_draft_make() and spdl_draft_write(). */
gboolean spdl_triangles_make (
    SpdlTriangles *self, const SpdlFilterKey *key, SpdlFilter *filter);
void spdl_triangles_write (const SpdlTriangles *self, SpdlFilter *filter);

G_END_DECLS

#endif /* __SPDL_TRIANGLES_H__ */
