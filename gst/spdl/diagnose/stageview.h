/* gst-spdl: an element's figures, read from its statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_STAGE_VIEW_H__
#define __GST_SPDL_STAGE_VIEW_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What a diagnosis asks of an element. Fields that the statistics lack are 0,
 * and where 0 means something else, there is a flag. */
typedef struct {
  const gchar *name;
  gboolean has_figures; /* it is ours */
  gboolean is_stage;    /* it has workers */
  gboolean has_gauge;   /* `fullness` is known */
  gboolean in_order;
  gboolean automatic; /* its concurrency */
  gboolean held_back; /* by a CPU budget */
  guint64 elapsed;
  guint concurrency;
  guint queue_size;
  guint64 tasks, items;
  guint64 ave_time, p90_time, p99_time;
  guint64 cpu_time;
  guint64 batches, cached;
  guint64 get_time;              /* average */
  guint64 p50_step, p99_step;    /* of the trainer; 0: not known */
  guint64 given_step;            /* what a step should take; 0: not known */
  const gchar *threads_property; /* nullable: of a foreign element */
  guint threads;

  /* From these: */
  double fullness; /* share of the time in which something waits before it */
  double busy;     /* share of the workers' time that goes into tasks */
  gboolean has_push;
  double push;      /* share of the time that goes into handing results on */
  double computing; /* share of the tasks' time on a CPU */
} GstSpdlStageView;

/* @view borrows strings from @stats. */
void
gst_spdl_stage_view_read (GstSpdlStageView *view, const GstStructure *stats);

G_END_DECLS

#endif /* __GST_SPDL_STAGE_VIEW_H__ */
