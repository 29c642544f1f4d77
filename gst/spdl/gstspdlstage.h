/* gst-spdl: base class of elements with a queue and workers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_STAGE_H__
#define __GST_SPDL_STAGE_H__

#include <gst/spdl/gstspdltask.h>

G_BEGIN_DECLS

/**
 * GstSpdlOutputOrder:
 * @GST_SPDL_OUTPUT_ORDER_COMPLETION: results leave in the order in which their
 *     tasks end
 * @GST_SPDL_OUTPUT_ORDER_INPUT: results leave in the order of their items
 *
 * Order of the results of a stage. In both orders, the end of the stream,
 * segments, tags and the ends of epochs keep their position.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_OUTPUT_ORDER_COMPLETION,
  GST_SPDL_OUTPUT_ORDER_INPUT,
} GstSpdlOutputOrder;

#define GST_TYPE_SPDL_OUTPUT_ORDER (gst_spdl_output_order_get_type ())
GST_SPDL_API
GType gst_spdl_output_order_get_type (void);

#define GST_TYPE_SPDL_STAGE (gst_spdl_stage_get_type ())
GST_SPDL_API
G_DECLARE_DERIVABLE_TYPE (
    GstSpdlStage, gst_spdl_stage, GST, SPDL_STAGE, GstElement)

/**
 * GstSpdlStageClass:
 * @parent_class: the parent
 * @start: prepares the stage at READY to PAUSED, before all other methods;
 *     %FALSE with the error set keeps the element from starting. Optional
 * @stop: releases what @start made at PAUSED to READY, after the last worker
 *     was closed. Optional
 * @negotiate: handles new input caps (%NULL for data without caps) in the
 *     streaming thread, and again if downstream requests other caps. Tasks with
 *     earlier caps may still run. Optional
 * @open_worker: creates the state of one of `concurrency` workers, in the
 *     thread that needs it; %NULL with the error set ends the stream. Optional
 * @close_worker: frees the result of @open_worker
 * @process: processes the item of a task: pushes any number of results and
 *     returns %TRUE (no result: the item is filtered), or returns %FALSE with
 *     the error set to fail the item. Called in worker threads, for several
 *     items at a time, each with its own worker
 * @process_group: replaces @process for the groups of a stage that takes whole
 *     groups: processes the items of gst_spdl_task_dup_group(). The meta of
 *     each result must name the item or items that it comes from; other items
 *     are filtered. %FALSE with the error set fails all items. Optional
 * @process_async: replaces @process for work that waits instead of computing:
 *     starts the work on the item and returns. gst_spdl_task_finish() must be
 *     called once for it, from any thread, during this call or later. No thread
 *     of the stage is blocked meanwhile. Each item is a task, also within a
 *     group, so `concurrency` counts items
 * @get_cpu_time: returns the CPU time since @start, in ns, of threads of the
 *     subclass that work on tasks. Called from any thread; must not block.
 *     Optional
 * @add_stats: adds statistics of the subclass, of the current interval (which
 *     then ends) or since the start. Called from any thread, also after @stop;
 *     must not block. Optional
 * @propose_allocation: answers the ALLOCATION query of upstream. Optional
 *
 * Virtual methods of a stage.
 *
 * Since: 0.1
 */
struct _GstSpdlStageClass {
  GstElementClass parent_class;

  gboolean (*start) (GstSpdlStage *stage, GError **error);
  void (*stop) (GstSpdlStage *stage);
  gboolean (*negotiate) (GstSpdlStage *stage, GstCaps *caps, GError **error);
  gpointer (*open_worker) (GstSpdlStage *stage, GError **error);
  void (*close_worker) (GstSpdlStage *stage, gpointer worker);
  gboolean (*process) (
      GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error);
  gboolean (*process_group) (
      GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error);
  void (*process_async) (
      GstSpdlStage *stage, gpointer worker, GstSpdlTask *task);
  guint64 (*get_cpu_time) (GstSpdlStage *stage);
  void (*add_stats) (
      GstSpdlStage *stage, gboolean interval, GstStructure *stats);
  gboolean (*propose_allocation) (GstSpdlStage *stage, GstQuery *query);

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING_LARGE];
};

GST_SPDL_API
GstPad *gst_spdl_stage_get_sink_pad (GstSpdlStage *stage);

GST_SPDL_API
GstPad *gst_spdl_stage_get_src_pad (GstSpdlStage *stage);

GST_SPDL_API
void gst_spdl_stage_set_takes_groups (GstSpdlStage *stage, gboolean takes);

GST_SPDL_API
void gst_spdl_stage_fail (GstSpdlStage *stage, GError *error);

G_END_DECLS

#endif /* __GST_SPDL_STAGE_H__ */
