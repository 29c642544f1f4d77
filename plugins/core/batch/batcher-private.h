/* gst-spdl: spdlbatch's inside, which its files share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_BATCH_PRIVATE_H__
#define __SPDL_BATCH_PRIVATE_H__

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/gone.h"
#include "gst/spdl/stage/losses.h"
#include "gst/spdl/stage/plainfilter.h"
#include "plugins/core/batch/batchpool.h"
#include "plugins/core/batch/batchrows.h"
#include "plugins/core/batch/batchsettings.h"
#include "plugins/core/batch/padding.h"
#include "plugins/core/batch/partstack.h"
#include "plugins/core/outcome.h"

G_BEGIN_DECLS

/* gstspdlbatcher.c is the element: properties, caps, events, states.
 * batchitems.c is its items, as they come: each into the batch, or held.
 * batchfilled.c is the batch that is being filled: its begin and its end.
 */

#define GST_TYPE_SPDL_BATCH_ELEMENT (gst_spdl_batch_element_get_type ())
GType gst_spdl_batch_element_get_type (void);
#define GST_SPDL_BATCH_ELEMENT(obj) ((GstSpdlBatchElement *) (obj))

typedef struct _GstSpdlBatchElement GstSpdlBatchElement;
struct _GstSpdlBatchElement {
  GstSpdlFilter parent;

  /* Properties, under the object's lock; they count from the next batch on. */
  SpdlBatchSettings settings;

  /* Under the stream lock. */
  GstSpdlCapsGate gate;
  gboolean has_caps;
  SpdlStacker stacker;  /* of the items that come */
  gboolean has_parts;   /* these are samples of several media */
  SpdlPartStack *parts; /* (nullable): of such */
  guint64 num_failures;
  GstSpdlLosses losses; /* of the epoch that comes */
  guint64 next_number;  /* of items that nobody numbered */
  SpdlBatchPool pool;
  gboolean told; /* that the pool did not suffice */
  SpdlOutcome outcome;
  gboolean has_pushed; /* a batch of this run */
  gboolean has_ended;  /* with an error: nothing is taken any more */

  /* Items that wait for the longest one, if any. */
  SpdlPad pad;
  guint pad_size; /* of their batch */

  SpdlBatchRows rows; /* the batch that is being filled, if it has a slab */
};

/* The batch. Under the stream lock. */

/* @stacker: what its items are; @n: how many it will have if it is to be
 * padded, else 0 */
GstFlowReturn gst_spdl_batch_element_begin_batch (
    GstSpdlBatchElement *self, const SpdlStacker *stacker, guint n);
/* Sends it with the items that it has. */
GstFlowReturn gst_spdl_batch_element_push_batch (GstSpdlBatchElement *self);
/* Announces its items as gone. */
void gst_spdl_batch_element_drop_batch (GstSpdlBatchElement *self);
/* Forgets it. */
void gst_spdl_batch_element_clear_batch (GstSpdlBatchElement *self);
/* Announces items as gone. */
void
gst_spdl_batch_element_push_gone (GstSpdlBatchElement *self, GstSpdlGone *gone);
/* Ends the stream with an error. */
void
gst_spdl_batch_element_fail (GstSpdlBatchElement *self, const GError *error);

/* Items. Likewise. */

/* GstSpdlFilter's: an item. */
GstFlowReturn
gst_spdl_batch_element_chain (GstSpdlFilter *filter, GstBuffer *buffer);
/* At the end of an epoch or of the stream. */
GstFlowReturn gst_spdl_batch_element_end_batch (GstSpdlBatchElement *self);

G_END_DECLS

#endif /* __SPDL_BATCH_PRIVATE_H__ */
