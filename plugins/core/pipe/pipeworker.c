/* gst-spdl: chain and runner of a worker of spdlpipe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pipe/pipeworker.h"

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/engine/sync.h"

/* A runner sends items through its chain, either in the calling thread or, with
 * a timeout, in a separate thread. If that thread hangs, it is abandoned with
 * the chain. */
typedef struct _PipeRunner PipeRunner;

GST_DEBUG_CATEGORY_EXTERN (spdl_pipe_debug);
#define GST_CAT_DEFAULT spdl_pipe_debug

struct _SpdlPipeWorker {
  SpdlPipeShared *shared;
  GArray *results; /* of the current item */
  gint round; /* value of SpdlPipeShared.round that the chain has applied */

  GCancellable *cancellable; /* of the stage; set by the first task */
  gulong on_cancelled;
  /* Guards the pointer against on_cancelled(), which runs in other threads. */
  GMutex lock;
  PipeRunner *runner; /* NULL: not created yet */
};

#define BYTES "application/octet-stream"

/* Runner */

/* Time for a flushed chain to return, in ns. */
#define GRACE (500 * GST_MSECOND)

typedef enum {
  IDLE,
  GIVEN, /* the item waits for the thread or is in the chain */
  DONE,
  QUIT,
} State;

typedef enum {
  RUN_OK,
  RUN_FAILED,
  RUN_LOST, /* the chain hangs; the runner must be freed */
} RunStatus;

struct _PipeRunner {
  gint n_refs; /* held by the worker and by the thread */
  SpdlPipeChain *chain;
  SpdlPipeTally *tally;
  GThread *thread; /* NULL: runs in the calling thread */

  SpdlMutex lock;
  SpdlCond given;
  SpdlCond done;
  /* Guarded by the lock. From GIVEN to DONE, the fields of the item belong to
   * the thread. */
  State state;
  gboolean lost;
  GstBuffer *item;
  GstCaps *caps;
  GCancellable *cancellable;
  GArray *results;
  GError *error;
  gboolean ok;
};

/* Drops the reference of the worker or of the thread. The last one frees the
 * runner. */
static void
unref_runner (PipeRunner *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  spdl_pipe_chain_free (self->chain);
  if (self->lost)
    g_atomic_int_add (&self->tally->n_lost, -1);
  g_atomic_rc_box_release (self->tally);
  gst_clear_caps (&self->caps);
  g_clear_object (&self->cancellable);
  g_array_unref (self->results);
  g_clear_error (&self->error);
  spdl_mutex_clear (&self->lock);
  spdl_cond_clear (&self->given);
  spdl_cond_clear (&self->done);
  g_free (self);
}

static guint64
own_cpu_time (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec * GST_SECOND + ts.tv_nsec;
}

/* Processes the item in the runner's thread. Lock held; released meanwhile. */
static void
run_items (PipeRunner *self)
{
  const guint64 begun = own_cpu_time ();

  spdl_mutex_unlock (&self->lock);
  self->ok = spdl_pipe_chain_run (self->chain, g_steal_pointer (&self->item),
      self->caps, self->cancellable, self->results, &self->error);
  __atomic_fetch_add (
      &self->tally->cpu_time, own_cpu_time () - begun, __ATOMIC_RELAXED);
  spdl_mutex_lock (&self->lock);
  self->state = self->lost ? QUIT : DONE;
  spdl_cond_signal (&self->done);
}

static gpointer
runner_thread (gpointer data)
{
  PipeRunner *self = data;

  spdl_mutex_lock (&self->lock);
  while (self->state != QUIT) {
    if (self->state == GIVEN)
      run_items (self);
    else
      spdl_cond_wait (&self->given, &self->lock);
  }
  spdl_mutex_unlock (&self->lock);
  unref_runner (self);
  return NULL;
}

/* Creates a runner. Returns NULL with @error set if its thread cannot be
 * created.
 *
 * @chain: (transfer full)
 * @tally: (transfer none)
 * @threaded: whether to create a thread */
static PipeRunner *
pipe_runner_new (SpdlPipeChain *chain, SpdlPipeTally *tally, gboolean threaded,
    GError **error)
{
  PipeRunner *self = g_new0 (PipeRunner, 1);

  self->n_refs = threaded ? 2 : 1;
  self->chain = chain;
  self->tally = g_atomic_rc_box_acquire (tally);
  self->results = spdl_pipe_results_new ();
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->given);
  spdl_cond_init (&self->done);
  if (threaded)
    self->thread = spdl_thread_try_new (
        "spdl-chain", "elements with task-timeout", runner_thread, self, error);
  if (self->thread || !threaded)
    return self;
  self->n_refs = 1;
  unref_runner (self);
  return NULL;
}

/* Ends the thread, unless it was abandoned. An abandoned thread frees the
 * runner and the chain when it returns. */
static void
pipe_runner_free (PipeRunner *self)
{
  if (self->lost) {
    g_thread_unref (self->thread);
  } else if (self->thread) {
    spdl_mutex_lock (&self->lock);
    self->state = QUIT;
    spdl_cond_signal (&self->given);
    spdl_mutex_unlock (&self->lock);
    g_thread_join (self->thread);
  }
  unref_runner (self);
}

/* Returns the chain, which must not contain an item. */
static SpdlPipeChain *
pipe_runner_get_chain (PipeRunner *self)
{
  return self->chain;
}

/* Waits until the item is done, @cancellable (nullable) is cancelled, or the
 * time @end is reached (0: never). Returns TRUE if the item is done. Lock held;
 * released while waiting. */
static gboolean
wait_done (PipeRunner *self, GCancellable *cancellable, guint64 end)
{
  while (self->state != DONE && !g_cancellable_is_cancelled (cancellable)) {
    const guint64 now = gst_util_get_timestamp ();

    if (end == 0)
      spdl_cond_wait (&self->done, &self->lock);
    else if (now < end)
      spdl_cond_wait_for (&self->done, &self->lock, end - now);
    else
      break;
  }
  return self->state == DONE;
}

/* Moves the results or the error of the finished item to the caller. Lock
 * held. */
static gboolean
take_outcome (PipeRunner *self, GArray *results, GError **error)
{
  self->state = IDLE;
  if (!self->ok) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return FALSE;
  }
  if (self->results->len > 0)
    g_array_append_vals (results, self->results->data, self->results->len);
  /* The caller owns the results now. */
  if (self->results->len > 0)
    memset (
        self->results->data, 0, self->results->len * sizeof (SpdlPipeResult));
  g_array_set_size (self->results, 0);
  return TRUE;
}

static void
give_item (
    PipeRunner *self, GstBuffer *item, GstCaps *caps, GCancellable *cancellable)
{
  self->item = item;
  gst_caps_replace (&self->caps, caps);
  g_set_object (&self->cancellable, cancellable);
  self->state = GIVEN;
  spdl_cond_signal (&self->given);
}

/* Flushes a chain that has not returned, and waits for GRACE. Returns TRUE if
 * it has returned. Lock held; released meanwhile. */
static gboolean
call_back (PipeRunner *self)
{
  spdl_mutex_unlock (&self->lock);
  spdl_pipe_chain_interrupt (self->chain);
  spdl_mutex_lock (&self->lock);
  return wait_done (self, NULL, gst_util_get_timestamp () + GRACE);
}

/* Gives up an item that timed out or was cancelled. If the chain hangs, marks
 * the runner as lost. Lock held; released meanwhile. */
static RunStatus
give_up (PipeRunner *self)
{
  if (!call_back (self)) {
    self->lost = TRUE;
    g_atomic_int_inc (&self->tally->n_lost);
    return RUN_LOST;
  }
  self->state = IDLE;
  g_clear_error (&self->error);
  g_array_set_size (self->results, 0);
  return RUN_FAILED;
}

/* Processes an item in the runner's thread. Gives up at the timeout, or when
 * the item is cancelled. */
static RunStatus
run_threaded (PipeRunner *self, GstBuffer *item, GstCaps *caps, guint64 timeout,
    GCancellable *cancellable, GArray *results, GError **error)
{
  const gboolean ends = timeout > 0 && timeout < G_MAXINT64;
  const guint64 end = ends ? gst_util_get_timestamp () + timeout : 0;
  RunStatus status;

  spdl_mutex_lock (&self->lock);
  give_item (self, item, caps, cancellable);
  if (wait_done (self, cancellable, end)) {
    status = take_outcome (self, results, error) ? RUN_OK : RUN_FAILED;
  } else {
    status = give_up (self);
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
        "Processing took longer than task-timeout (%.3f s)", timeout / 1e9);
  }
  spdl_mutex_unlock (&self->lock);
  return status;
}

/* Processes an item like spdl_pipe_chain_run(). @timeout: in ns, 0: none;
 * ignored without a thread. */
static RunStatus
pipe_runner_run (PipeRunner *self, GstBuffer *item, GstCaps *caps,
    guint64 timeout, GCancellable *cancellable, GArray *results, GError **error)
{
  if (self->thread)
    return run_threaded (
        self, item, caps, timeout, cancellable, results, error);
  return spdl_pipe_chain_run (
             self->chain, item, caps, cancellable, results, error)
             ? RUN_OK
             : RUN_FAILED;
}

/* Ends the current run, after @cancellable was cancelled. Callable from any
 * thread. */
static void
pipe_runner_interrupt (PipeRunner *self)
{
  if (!self->thread) {
    spdl_pipe_chain_interrupt (self->chain);
    return;
  }
  spdl_mutex_lock (&self->lock);
  spdl_cond_broadcast (&self->done);
  spdl_mutex_unlock (&self->lock);
}

/* Returns TRUE if all caps have one media type, with any fields. */
static gboolean
is_one_kind (GstCaps *caps)
{
  return !gst_caps_is_any (caps) && gst_caps_get_size (caps) == 1;
}

/* Returns (transfer full) caps for a part without caps: the only media type
 * that @entry accepts, otherwise bytes. */
static GstCaps *
guess_caps (GstPad *entry)
{
  g_autoptr (GstCaps) taken = gst_pad_query_caps (entry, NULL);
  g_autoptr (GstCaps) bytes = gst_caps_new_empty_simple (BYTES);

  if (!is_one_kind (taken) || gst_caps_can_intersect (taken, bytes))
    return g_steal_pointer (&bytes);
  if (gst_caps_is_fixed (taken))
    return g_steal_pointer (&taken);
  return gst_caps_new_empty_simple (
      gst_structure_get_name (gst_caps_get_structure (taken, 0)));
}

/* Extracts the part @name of @sample as an item.
 *
 * @caps: (out) (transfer full): caps of the part; if it has none, the media
 *     type that @entry accepts if there is only one, otherwise bytes
 *
 * Returns: (transfer full): the part; NULL with @error set if it does not
 * exist */
static GstBuffer *
spdl_pipe_part_take (GstBuffer *sample, const gchar *name, GstPad *entry,
    GstCaps **caps, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  GstBuffer *part = parts ? gst_spdl_buffer_dup_part (sample, name) : NULL;
  const GstSpdlPart *own;

  if (!part) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has no part \"%s\"", name);
    return NULL;
  }
  own = gst_spdl_parts_meta_find_part (parts, name);
  *caps = own->caps ? gst_caps_ref (own->caps) : guess_caps (entry);
  /* Copy the item meta, but not the parts meta. */
  gst_buffer_copy_into (part, sample, GST_BUFFER_COPY_METADATA, 0, -1);
  return part;
}

/* Replaces that part of @sample by @result with @caps (nullable).
 *
 * Returns: (transfer full): the sample; NULL with @error set on failure */
static GstBuffer *
spdl_pipe_part_put (GstBuffer *sample, const gchar *name, GstBuffer *result,
    GstCaps *caps, GError **error)
{
  GstBuffer *put = gst_spdl_buffer_replace_part (sample, name, result, caps);

  if (!put)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
        "Failed to copy the chain's result for part \"%s\"", name);
  return put;
}

/* State shared by the workers */

static SpdlPipeChain *
make_chain (SpdlPipeShared *self, GError **error)
{
  /* Downstream does not restrict the caps of a part. */
  GstPad *srcpad = self->part ? NULL : gst_spdl_stage_get_src_pad (self->stage);
  SpdlPipeChain *chain =
      spdl_pipe_chain_new (self->chain, self->drain, srcpad, error);

  if (!chain)
    return NULL;
  g_mutex_lock (&self->lock);
  gst_clear_object (&self->entry);
  self->entry = spdl_pipe_chain_get_entry (chain);
  g_mutex_unlock (&self->lock);
  return chain;
}

SpdlPipeShared *
spdl_pipe_shared_new (GstSpdlStage *stage, const gchar *chain,
    const gchar *part, gboolean drain, guint64 task_timeout, GError **error)
{
  SpdlPipeShared *self = g_new0 (SpdlPipeShared, 1);

  g_mutex_init (&self->lock);
  self->stage = stage;
  self->chain = g_strdup (chain);
  self->part = part;
  self->drain = drain;
  self->task_timeout = task_timeout;
  self->tally = g_atomic_rc_box_new0 (SpdlPipeTally);
  self->spare = make_chain (self, error);
  if (!self->spare)
    g_clear_pointer (&self, spdl_pipe_shared_free);
  return self;
}

void
spdl_pipe_shared_free (SpdlPipeShared *self)
{
  g_clear_pointer (&self->spare, spdl_pipe_chain_free);
  gst_clear_object (&self->entry);
  g_atomic_rc_box_release (self->tally);
  g_mutex_clear (&self->lock);
  g_free (self->chain);
  g_free (self);
}

GstPad *
spdl_pipe_shared_get_entry (SpdlPipeShared *self)
{
  GstPad *entry;

  g_mutex_lock (&self->lock);
  entry = self->entry ? gst_object_ref (self->entry) : NULL;
  g_mutex_unlock (&self->lock);
  return entry;
}

/* Returns (transfer full) the chain that spdl_pipe_shared_new() created, or a
 * new one. */
static SpdlPipeChain *
take_chain (SpdlPipeShared *self, GError **error)
{
  SpdlPipeChain *chain;

  g_mutex_lock (&self->lock);
  chain = g_steal_pointer (&self->spare);
  g_mutex_unlock (&self->lock);
  return chain ? chain : make_chain (self, error);
}

/* Worker */

/* Replaces the runner, and returns the previous one. The lock keeps
 * on_cancelled() from using a runner that is freed afterwards. */
static PipeRunner *
set_runner (SpdlPipeWorker *self, PipeRunner *runner)
{
  PipeRunner *old;

  g_mutex_lock (&self->lock);
  old = self->runner;
  self->runner = runner;
  g_mutex_unlock (&self->lock);
  return old;
}

static void
drop_runner (SpdlPipeWorker *self)
{
  PipeRunner *runner = set_runner (self, NULL);

  if (runner)
    pipe_runner_free (runner);
}

static gboolean
ensure_runner (SpdlPipeWorker *self, GError **error)
{
  SpdlPipeShared *shared = self->shared;
  SpdlPipeChain *chain;
  PipeRunner *runner;

  if (self->runner)
    return TRUE;
  self->round = g_atomic_int_get (&shared->round);
  if (!(chain = take_chain (shared, error)))
    return FALSE;
  runner =
      pipe_runner_new (chain, shared->tally, shared->task_timeout > 0, error);
  set_runner (self, runner);
  return runner != NULL;
}

static void
on_cancelled (GCancellable *cancellable, gpointer user_data)
{
  SpdlPipeWorker *self = user_data;

  g_mutex_lock (&self->lock);
  if (self->runner)
    pipe_runner_interrupt (self->runner);
  g_mutex_unlock (&self->lock);
}

SpdlPipeWorker *
spdl_pipe_worker_new (SpdlPipeShared *shared, GError **error)
{
  SpdlPipeWorker *self = g_new0 (SpdlPipeWorker, 1);

  g_mutex_init (&self->lock);
  self->shared = shared;
  self->results = spdl_pipe_results_new ();
  if (!ensure_runner (self, error))
    g_clear_pointer (&self, spdl_pipe_worker_free);
  return self;
}

void
spdl_pipe_worker_free (SpdlPipeWorker *self)
{
  if (self->on_cancelled)
    g_cancellable_disconnect (self->cancellable, self->on_cancelled);
  g_clear_object (&self->cancellable);
  drop_runner (self);
  g_array_unref (self->results);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Connects to the cancellable once; the stage keeps the same one from start to
 * stop. */
static void
watch_cancellable (SpdlPipeWorker *self, GCancellable *cancellable)
{
  if (self->cancellable)
    return;
  self->cancellable = g_object_ref (cancellable);
  self->on_cancelled = g_signal_connect (
      cancellable, "cancelled", G_CALLBACK (on_cancelled), self);
}

/* Reports an abandoned chain: a warning or, at the limit, an error. */
static void
report_lost (SpdlPipeWorker *self, const GError *error)
{
  GstSpdlStage *stage = self->shared->stage;
  const gint n = g_atomic_int_get (&self->shared->tally->n_lost);

  if (n < SPDL_PIPE_MAX_LOST) {
    GST_ELEMENT_WARNING (stage, STREAM, FAILED,
        ("A chain hangs and does not react to a flush: it is abandoned with "
         "its thread, and replaced (%d, limit %d)",
            n, SPDL_PIPE_MAX_LOST),
        ("%s", error->message));
    return;
  }
  gst_spdl_stage_fail (
      stage, g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "%d chains hang and do not react to a flush: \"%s\" fails, "
                 "and its chains and threads are abandoned",
                 n, self->shared->chain));
}

/* Fails the stage if a result belongs to another item, which happens if an
 * element holds back a part of its output. */
static gboolean
check_items (SpdlPipeWorker *self, GstSpdlTask *task, GError **error)
{
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);

  for (guint i = 0; item && i < self->results->len; i++) {
    const GstSpdlItemMeta *own = gst_spdl_buffer_get_item_meta (
        g_array_index (self->results, SpdlPipeResult, i).buffer);

    if (!own || (own->sequence == item->sequence && own->epoch == item->epoch &&
                    own->source == item->source))
      continue;
    gst_spdl_stage_fail (self->shared->stage,
        g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
            "chain \"%s\" holds results back until other items arrive: set "
            "drain=true to get each item's result at once",
            self->shared->chain));
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "The chain returned the result of another item");
    return FALSE;
  }
  return TRUE;
}

static void
push_results (SpdlPipeWorker *self, GstSpdlTask *task)
{
  for (guint i = 0; i < self->results->len; i++) {
    SpdlPipeResult *result = &g_array_index (self->results, SpdlPipeResult, i);

    gst_spdl_task_push (task, g_steal_pointer (&result->buffer), result->caps);
  }
}

static void
follow_downstream (SpdlPipeWorker *self)
{
  const gint round = g_atomic_int_get (&self->shared->round);

  if (self->round == round)
    return;
  self->round = round;
  spdl_pipe_chain_reconfigure (pipe_runner_get_chain (self->runner));
}

/* Processes @item (transfer full), and drops the runner if its chain hangs or
 * cannot be reset. */
static RunStatus
run_item (SpdlPipeWorker *self, GstSpdlTask *task, GstBuffer *item,
    GstCaps *caps, GError **error)
{
  GCancellable *cancellable = gst_spdl_task_get_cancellable (task);
  RunStatus status;

  watch_cancellable (self, cancellable);
  follow_downstream (self);
  status = pipe_runner_run (self->runner, item, caps,
      self->shared->task_timeout, cancellable, self->results, error);
  if (status == RUN_LOST) {
    if (!g_cancellable_is_cancelled (cancellable))
      report_lost (self, *error);
    else
      GST_WARNING_OBJECT (
          self->shared->stage, "a chain hangs, and is abandoned");
  }
  if (status == RUN_LOST ||
      spdl_pipe_chain_is_broken (pipe_runner_get_chain (self->runner)))
    drop_runner (self);
  return status;
}

static gboolean
process_whole (SpdlPipeWorker *self, GstSpdlTask *task, GError **error)
{
  if (run_item (self, task, gst_spdl_task_take_item (task),
          gst_spdl_task_get_caps (task), error) != RUN_OK ||
      !check_items (self, task, error))
    return FALSE;
  push_results (self, task);
  return TRUE;
}

/* Replaces the part of @sample by the output of the chain, and pushes it. */
static gboolean
push_part (
    SpdlPipeWorker *self, GstSpdlTask *task, GstBuffer *sample, GError **error)
{
  const SpdlPipeResult *result = (SpdlPipeResult *) self->results->data;
  const gchar *part = self->shared->part;
  GstBuffer *put;

  if (self->results->len == 0)
    return TRUE;
  if (self->results->len > 1) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "The chain returned %u buffers for part \"%s\" instead of one",
        self->results->len, part);
    return FALSE;
  }
  put = spdl_pipe_part_put (sample, part, result->buffer, result->caps, error);
  if (put)
    gst_spdl_task_push (task, put, NULL);
  return put != NULL;
}

static gboolean
process_part (SpdlPipeWorker *self, GstSpdlTask *task, GError **error)
{
  GstBuffer *sample = gst_spdl_task_get_item (task), *part;
  g_autoptr (GstPad) entry = spdl_pipe_shared_get_entry (self->shared);
  g_autoptr (GstCaps) caps = NULL;

  part = spdl_pipe_part_take (sample, self->shared->part, entry, &caps, error);
  return part && run_item (self, task, part, caps, error) == RUN_OK &&
         check_items (self, task, error) &&
         push_part (self, task, sample, error);
}

gboolean
spdl_pipe_worker_process (
    SpdlPipeWorker *self, GstSpdlTask *task, GError **error)
{
  GError *reason = NULL;
  gboolean ok;

  if (!ensure_runner (self, &reason)) {
    gst_spdl_stage_fail (self->shared->stage, g_error_copy (reason));
    g_propagate_error (error, reason);
    return FALSE;
  }
  ok = self->shared->part ? process_part (self, task, &reason)
                          : process_whole (self, task, &reason);
  if (!ok)
    g_propagate_error (error, reason);
  g_array_set_size (self->results, 0);
  return ok;
}
