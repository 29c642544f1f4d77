/* gst-spdl: elements with numbered request pads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/stage/plain.h"

G_BEGIN_DECLS

/* Base of spdlmix and spdlroute: request pads with a number in their name,
 * which count their items for the statistics. The pads are children of the
 * element, in the order of their requests, so that `sink_0::weight` works in
 * gst-launch-1.0. */

typedef struct {
  GstPad parent;

  guint number;

  /* Guarded by the lock of the element. */
  guint64 n_items;
  guint64 n_interval_items;
} GstSpdlNumberedPad;

typedef struct {
  GstPadClass parent_class;
} GstSpdlNumberedPadClass;

typedef struct {
  GstSpdlFilter parent;

  SpdlMutex lock;
  GPtrArray *pads; /* GstSpdlNumberedPad, owned, in the order of the requests */
  gboolean started; /* set by the subclass */
} GstSpdlNumberedPads;

typedef struct {
  GstSpdlFilterClass parent_class;

  GType pad_type;
  /* (nullable): lock held: returns FALSE if no pad may be added now. */
  gboolean (*may_add) (GstSpdlNumberedPads *self);
  /* Deactivates @pad and removes it from `pads`. */
  void (*remove) (GstSpdlNumberedPads *self, GstSpdlNumberedPad *pad);
  /* (nullable): lock held: adds statistics to those of the pads. */
  void (*add_figures) (
      GstSpdlNumberedPads *self, const SpdlMeterStats *stats, GstStructure *s);
} GstSpdlNumberedPadsClass;

#define GST_SPDL_NUMBERED_PADS(obj) ((GstSpdlNumberedPads *) (obj))
#define GST_SPDL_NUMBERED_PADS_CLASS(klass) \
  ((GstSpdlNumberedPadsClass *) (klass))

GType gst_spdl_numbered_pad_get_type (void);
GType gst_spdl_numbered_pads_get_type (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlNumberedPad, gst_object_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlNumberedPads, gst_object_unref)

/* Lock held. Forgets the items of the last run. */
void spdl_numbered_pads_reset_counts (GstSpdlNumberedPads *self);

/* Lock held. Returns: (transfer none) (nullable) */
GstSpdlNumberedPad *
spdl_numbered_pads_find (const GstSpdlNumberedPads *self, guint number);

/* Lock held. Counts @n items of @pad. */
static inline void
spdl_numbered_pad_count (GstSpdlNumberedPad *pad, guint n)
{
  pad->n_items += n;
  pad->n_interval_items += n;
}

G_END_DECLS
