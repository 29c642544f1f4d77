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

/* gstspdlstage.c has the element: properties, state changes, concurrency, and
 * numbers for items without meta. stagework.c calls the work function and
 * handles failed items. stagepads.c has the data flow of the pads. */

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
  guint current;            /* current concurrency */
  guint max_concurrency;    /* that the tuner may try, at the start */
  guint queue_size;
  guint64 max_bytes;
  GstSpdlOutputOrder output_order;
  gchar *thread_pool;
  gint max_failures;
  gdouble max_failure_rate;

  /* Recycled entries. Upstream streaming threads take entries from `spare`, to
   * which the source pad's thread and flushes return them. */
  GstSpdlTask *spare;  /* atomic */
  GstSpdlTask *unused; /* used by the sink pad */

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
  guint64 process_cpu_time; /* atomic: of workers and coroutines, in ns */
} GstSpdlStagePrivate;

GstSpdlStagePrivate *gst_spdl_stage_get_private (GstSpdlStage *stage);

/* Has @begin do the work of a stage instead of its class. Call it before the
 * start. @user_data: (transfer full) */
SPDL_PRIVATE_API
void gst_spdl_stage_set_begin (GstSpdlStage *stage, SpdlBeginFunc begin,
    gpointer user_data, GDestroyNotify destroy);

void gst_spdl_stage_clear_begin (GstSpdlStagePrivate *priv);

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
void gst_spdl_stage_default_concurrency (GstSpdlStage *self, gint n);

/* Applies the concurrency that the tuner found, unless the stage is not
 * automatic any more. */
void gst_spdl_stage_adopt_concurrency (GstSpdlStage *self, guint concurrency);
guint gst_spdl_stage_get_current_concurrency (GstSpdlStage *self);

/* Returns the maximum concurrency that the tuner may try. The stage has
 * started. */
guint gst_spdl_stage_get_max_concurrency (GstSpdlStage *self);

/* Creates the two pads from the templates of @klass, the subclass. */
void gst_spdl_stage_init_pads (GstSpdlStage *self, GstElementClass *klass);

/* Makes sure that @buffer (transfer full), or each buffer of @list, is an item
 * or a batch. If the first buffer of the stream is neither, the stage numbers
 * all buffers. Otherwise a buffer without an item is an error, because its
 * position could only be guessed: the stage fails and the function returns
 * NULL. Called with the sink pad's stream lock held. */
GstBuffer *gst_spdl_stage_number_item (GstSpdlStage *self, GstBuffer *buffer);
GstBufferList *
gst_spdl_stage_number_group (GstSpdlStage *self, GstBufferList *list);

/* Counts the losses of @task, of which @n items were processed, posts them, and
 * fails the stage if they exceed max-failure-rate. Called by the source pad's
 * thread. */
void gst_spdl_stage_count_losses (
    GstSpdlStage *self, const GstSpdlTask *task, guint n);

/* Resets the state of a run. */
void gst_spdl_stage_reset_flow (GstSpdlStage *self);

/* Resets an entry and returns it for reuse. Callable from any thread. */
void gst_spdl_stage_recycle (GstSpdlStagePrivate *priv, GstSpdlTask *task);

/* Frees the recycled entries. No streaming thread may run. */
void gst_spdl_stage_free_spares (GstSpdlStagePrivate *priv);

G_END_DECLS
