/* gst-spdl: the weights of a filter, before they are written
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_DRAFT_H__
#define __SPDL_DRAFT_H__

#include "plugins/codec/resize/filter.h"
#include "plugins/codec/resize/triangles.h"

G_BEGIN_DECLS

/* Weights on their way to whole numbers: of each sample that comes out those of
 * all that may count, before they add up to 1. */
typedef union {
  float value;
  gint32 rounded;
} SpdlWeight;

/* What a filter is made of: drafted first, since only then it is known how many
 * taps there are. Its memory serves the next filter. */
typedef struct {
  SpdlTriangles triangles;
  gboolean is_triangles; /* it is they that hold the weights */
  gsize stride;
  gsize n_allocated, n_counts_allocated, n_factors_allocated;
  gsize n_doubled_allocated;
  SpdlWeight *weights;
  guint *counts;
  float *factors;      /* that make a sample's weights add up to 1 */
  SpdlWeight *doubled; /* one sample's, with zeros around */
} SpdlDraft;

void spdl_draft_clear (SpdlDraft *self);

/* Drafts the weights of @filter, in which it sets all but weights and quads.
 * @filter->first has room for n_out. FALSE if there is no memory. */
gboolean
spdl_draft_make (SpdlDraft *self, const SpdlFilterKey *key, SpdlFilter *filter);

/* Writes the weights, where there are zeros, and sets @filter->first so that
 * all taps are within the source. */
void spdl_draft_write (const SpdlDraft *self, SpdlFilter *filter);

G_END_DECLS

#endif /* __SPDL_DRAFT_H__ */
