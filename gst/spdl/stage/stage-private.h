/* gst-spdl: private parts of a stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlstage.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/plainstats.h"
#include "gst/spdl/stage/task-private.h"

G_BEGIN_DECLS

/* gstspdlstage.c has the element: properties and state changes. stagepads.c has
 * the data flow of the pads, and numbers items without meta. stagework.c calls
 * the work function and handles failed items. autotune/pipelinetuner.c has the
 * concurrency. Each calls only those after it. */

/* Starts the work on an item, as #GstSpdlStageClass.process_async() does. */
typedef void (*SpdlBeginFunc) (GstSpdlTask *task, gpointer user_data);

typedef struct {
  GstPad *sinkpad;
  GstPad *srcpad;
  SpdlExecutor executor;
  GstSpdlReporter reporter;
  GCancellable *cancellable;

  /* Properties, guarded by the object lock. */
  guint concurrency;        /* 0: automatic */
  gboolean concurrency_set; /* set explicitly */
  guint n_loaders;          /* loaders that the default is for */
  guint queue_size;
  guint64 max_bytes;
  GstSpdlOutputOrder output_order;
  gchar *thread_pool;
  gint max_failures;
  gdouble max_failure_rate;

  /* Entries for reuse. Upstream streaming threads take them; the source pad's
   * thread and flushes return them. */
  GstSpdlTaskStore entries;

  /* Guarded by the stream lock of the sink pad. */
  GstCaps *sink_caps;
  gboolean negotiated;
  gboolean numbers_items; /* the first buffer had no meta */
  gboolean saw_buffer;
  guint64 next_number;
  guint32 source; /* of the items that it numbers */

  /* Only used by the source pad's thread. */
  GstSpdlTask *passed; /* pushed, not yet returned to the executor */
  GstSpdlCapsGate gate;
  GstSpdlLosses losses; /* of the epoch that is being pushed */

  gboolean takes_groups; /* as a whole; set before the start */
  /* Set before the start; NULL: the class does the work. */
  SpdlBeginFunc begin;
  gpointer begin_data;
  GDestroyNotify begin_destroy;

  /* Downstream returned EOS: buffers are not accepted, processed or pushed. */
  gint refusing; /* atomic */

  /* Guarded by this lock, which is the innermost. */
  SpdlMutex lock;
  GstFlowReturn srcresult;
  gboolean got_eos;
  GError *fatal; /* why the stage failed */
  /* Epoch of the failure that exceeded the limit; otherwise G_MAXUINT64. */
  guint64 fatal_epoch;
  gchar *fatal_uri; /* its URI, nullable */
  guint64 num_failures;

  /* Guards the settings that make the stage automatic. Taken before any other
   * lock. */
  SpdlMutex tuning_lock;
  gboolean started;
  gint throttled;           /* atomic: a CPU budget throttles the tasks */
  guint max_concurrency;    /* atomic: that the tuner may try, at the start */
  guint64 process_cpu_time; /* atomic: of workers and coroutines, in ns */
} GstSpdlStagePrivate;

extern gint gst_spdl_stage_private_offset;

/* The private part contains a meter, which exceeds the maximum size of an
 * instance, so it is allocated separately. */
static inline GstSpdlStagePrivate *
gst_spdl_stage_get_private (GstSpdlStage *stage)
{
  return *(GstSpdlStagePrivate **) G_STRUCT_MEMBER_P (
      stage, gst_spdl_stage_private_offset);
}

/* Has @begin do the work of a stage instead of its class. Call it before the
 * start. @user_data: (transfer full) */
SPDL_PRIVATE_API
void gst_spdl_stage_set_begin (GstSpdlStage *stage, SpdlBeginFunc begin,
    gpointer user_data, GDestroyNotify destroy);

/* Returns TRUE if tasks end without a thread of the stage. */
SPDL_PRIVATE_API
gboolean gst_spdl_stage_is_async (GstSpdlStage *stage);

/* Callbacks of the executor, with the stage as user data. */
extern const SpdlExecutorFuncs gst_spdl_stage_executor_funcs;

#define GST_SPDL_MAX_CONCURRENCY 4096

/* Sets the default of `concurrency`: GST_SPDL_WAITING_CONCURRENCY if a function
 * was set whose tasks wait instead of computing. For a loader, it is also this
 * number for other stages that wait, and one task per core for the rest.
 *
 * @n: number of loaders that are added, or removed if it is negative */
#define GST_SPDL_WAITING_CONCURRENCY 16
#define GST_SPDL_DEFAULT_CONCURRENCY 1
void gst_spdl_stage_default_concurrency (GstSpdlStage *self, gint n);

/* Sets the value of the property. 0: automatic. */
void gst_spdl_stage_set_concurrency (GstSpdlStage *self, guint concurrency);

/* Records that the stage has started or is about to stop. An automatic stage is
 * tuned in between. */
void gst_spdl_stage_set_started (GstSpdlStage *self, gboolean started);

/* Creates the two pads from the templates of @klass, the subclass. */
void gst_spdl_stage_init_pads (GstSpdlStage *self, GstElementClass *klass);

/* Counts the losses of @task, of which @n items were processed, posts them, and
 * fails the stage if they exceed max-failure-rate. Called by the source pad's
 * thread. */
void gst_spdl_stage_count_losses (
    GstSpdlStage *self, const GstSpdlTask *task, guint n);

/* Resets the state of a run. */
void gst_spdl_stage_reset_flow (GstSpdlStage *self);

G_END_DECLS
