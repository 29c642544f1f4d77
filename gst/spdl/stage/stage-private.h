/* gst-spdl: private parts of a stage and its tasks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlstage.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/plain.h"
#include "gst/spdl/engine/executor.h"
#include "gst/spdl/gstspdltask.h"
#include "gst/spdl/stage/droppeditems.h"

G_BEGIN_DECLS

typedef struct {
  GstBuffer *buffer;
  GstCaps *caps; /* nullable: the task's own */
} GstSpdlResult;

/* An entry of the stage's executor: a task, or an event that keeps its
 * position. Entries are recycled with their arrays, so that no memory is
 * allocated per item after a warm-up. */
struct _GstSpdlTask {
  SpdlTask task;
  GstSpdlTask *next_free;

  GstSpdlStage *stage; /* of a task; not owned */
  GstEvent *event;     /* of a mark or a barrier */

  gboolean is_group;
  GstCaps *caps;             /* nullable */
  GCancellable *cancellable; /* of the stage */
  GPtrArray *items;          /* GstBuffer, NULL if it was taken */
  guint current;
  GstBuffer *taken; /* carries the metas of a taken item */
  GstSpdlItemMeta taken_meta;
  gboolean has_taken_meta;

  /* For a group whose items are separate tasks; otherwise empty. */
  GPtrArray *parts; /* GstSpdlTask, with one item each */

  GArray *results; /* GstSpdlResult */
  GstSpdlDroppedItems dropped_items;
  /* GstSpdlFailure, also of the parts; NULL without failures. The source pad's
   * thread takes them, and leaves NULL. */
  GPtrArray *failures;
};

GstSpdlTask *gst_spdl_task_new (void);
void gst_spdl_task_free (GstSpdlTask *self);

/* Entries for reuse, with their arrays. */
typedef struct {
  GstSpdlTask *spare;  /* atomic */
  GstSpdlTask *unused; /* of the thread that takes */
} GstSpdlTaskStore;

/* Takes an entry, which is created if there is none. For one thread at a
 * time. */
GstSpdlTask *gst_spdl_task_store_take (GstSpdlTaskStore *self);

/* Resets an entry and its parts, for reuse. Callable from any thread. */
void gst_spdl_task_store_put (GstSpdlTaskStore *self, GstSpdlTask *task);

/* Frees the entries. No other thread may use the store. */
void gst_spdl_task_store_clear (GstSpdlTaskStore *self);

/* Releases all references, so that the task can be reused. Its parts must have
 * been removed. */
void gst_spdl_task_reset (GstSpdlTask *self);

/* Set the content of the task. @item, @list: (transfer full) */
void gst_spdl_task_set_item (GstSpdlTask *self, GstBuffer *item);
void gst_spdl_task_set_group (GstSpdlTask *self, GstBufferList *list);

/* Adds @part, which has one item. */
void gst_spdl_task_add_part (GstSpdlTask *self, GstSpdlTask *part);

/* Collects the results of the parts, in their order. */
void gst_spdl_task_gather_parts (GstSpdlTask *self);

/* Makes item @i the current item, which the work function reads. */
void gst_spdl_task_begin_item (GstSpdlTask *self, guint i);

/* Ends the current item, whose results start at @first: gives them the metas of
 * the item and numbers them if there are several. */
void gst_spdl_task_adopt_results (GstSpdlTask *self, guint first);

/* Ends a group that was processed as a whole. The metas of the results say
 * which items they belong to. Announces the other items as filtered and returns
 * their number. */
guint gst_spdl_task_adopt_group (GstSpdlTask *self);

/* Releases the items, whose number is kept. Large ones take time to free, so
 * this is not left to the thread that pushes the results. */
void gst_spdl_task_release_items (GstSpdlTask *self);

/* Drops the results from @first on. */
void gst_spdl_task_drop_results (GstSpdlTask *self, guint first);

/* Returns the buffer with the current item's metas; NULL if only taken_meta has
 * them. */
GstBuffer *gst_spdl_task_get_bearer (GstSpdlTask *self);

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

/* Returns: (transfer full) (nullable): the pool of the nearest running stage
 * upstream of @sinkpad, if each element between has one sink pad. */
SPDL_PRIVATE_API
SpdlPool *gst_spdl_stage_find_pool (GstPad *sinkpad);

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

/* Posts a decision as `spdl-tuning`, with fields as for gst_structure_set(). */
void gst_spdl_post_tuning (GstElement *stage, guint from, guint to,
    const gchar *reason, const gchar *first_field, ...) G_GNUC_NULL_TERMINATED;

/* Creates the two pads from the templates of @klass, the subclass. */
void gst_spdl_stage_init_pads (GstSpdlStage *self, GstElementClass *klass);

/* Counts the failures of @task, of which @n items were processed, posts them,
 * and fails the stage if they exceed max-failure-rate. Called by the source
 * pad's thread. */
void gst_spdl_stage_count_failures (
    GstSpdlStage *self, const GstSpdlTask *task, guint n);

/* Resets the state of a run. */
void gst_spdl_stage_reset_flow (GstSpdlStage *self);

G_END_DECLS
