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
 * @GST_SPDL_OUTPUT_ORDER_COMPLETION: results leave as their tasks end
 * @GST_SPDL_OUTPUT_ORDER_INPUT: results leave in the order of their items
 *
 * The order of a stage's results. In both, the end of the stream, segments,
 * tags and ends of epochs keep their place among them.
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
 * @start: called at READY to PAUSED, before anything else; %FALSE with the
 *     error set keeps the element from starting. Optional
 * @stop: called at PAUSED to READY, after the last worker was closed. Optional
 * @negotiate: called in the streaming thread with new input caps (%NULL where
 *     data comes without), and again when downstream asks for other caps; not
 *     a barrier: tasks with earlier caps may still run. Optional
 * @open_worker: makes the state of one of `concurrency` workers, on the thread
 *     that needs it; %NULL with the error set ends the stream. Optional
 * @close_worker: frees what @open_worker made
 * @process: works on the task's item: pushes any number of results and returns
 *     %TRUE (none: the item is filtered), or returns %FALSE with the error set,
 *     and the item has failed. On a worker's thread, for several items at a
 *     time, with one worker each
 * @process_group: in place of @process for a group, where the stage takes
 * groups whole: works on all of its items, which gst_spdl_task_dup_group() has.
 * Each result must say by its meta which of them it is, or of which it was
 * made; those that are in none are filtered. %FALSE with the error set, and all
 * of them have failed. Optional
 * @process_async: in place of @process, where the work waits and does not
 *     compute: begins the work on the task's item, whose end
 *     gst_spdl_task_finish() tells, once, from any thread, during this call or
 *     after it. Waiting elsewhere, it holds no thread of the stage. Here each
 *     item is a task, in a group too: `concurrency` counts items, and the items
 *     of a group are worked on at the same time
 * @get_cpu_time: the CPU time since @start, in ns, of threads of the subclass's
 *     own that work on tasks. From any thread; must not wait. Optional
 * @add_stats: adds figures of the subclass's own to those that the stage tells,
 *     of this interval (which then ends) or since the start. From any thread,
 * also after @stop; must not wait. Optional
 * @propose_allocation: answers upstream's ALLOCATION query. Optional
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
