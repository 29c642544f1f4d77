/* gst-spdl: a chain, and the thread in which it may hang
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pipe/piperunner.h"

#include <string.h>

#include "gst/spdl/engine/sync.h"

/* How long a chain that was flushed may take to come back, in ns. */
#define GRACE (500 * GST_MSECOND)

typedef enum {
  IDLE,
  GIVEN, /* an item waits for the thread, or is in the chain */
  DONE,
  QUIT,
} State;

struct _SpdlPipeRunner {
  gint n_refs; /* who uses it, and its thread */
  SpdlPipeChain *chain;
  SpdlPipeTally *tally;
  GThread *thread; /* NULL: it works in the caller's */

  SpdlMutex lock;
  SpdlCond given;
  SpdlCond done;
  /* Under the lock; from GIVEN to DONE the item is the thread's. */
  State state;
  gboolean lost;
  GstBuffer *item;
  GstCaps *caps;
  GCancellable *cancellable;
  GArray *results;
  GError *error;
  gboolean ok;
};

static void
unref (SpdlPipeRunner *self)
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

/* Sends the item through. Lock held; released meanwhile. */
static void
work (SpdlPipeRunner *self)
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
  SpdlPipeRunner *self = data;

  spdl_mutex_lock (&self->lock);
  while (self->state != QUIT) {
    if (self->state == GIVEN)
      work (self);
    else
      spdl_cond_wait (&self->given, &self->lock);
  }
  spdl_mutex_unlock (&self->lock);
  unref (self);
  return NULL;
}

SpdlPipeRunner *
spdl_pipe_runner_new (
    SpdlPipeChain *chain, SpdlPipeTally *tally, gboolean threaded)
{
  SpdlPipeRunner *self = g_new0 (SpdlPipeRunner, 1);

  self->n_refs = threaded ? 2 : 1;
  self->chain = chain;
  self->tally = g_atomic_rc_box_acquire (tally);
  self->results = spdl_pipe_results_new ();
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->given);
  spdl_cond_init (&self->done);
  if (threaded)
    self->thread = g_thread_new ("spdl-chain", runner_thread, self);
  return self;
}

void
spdl_pipe_runner_free (SpdlPipeRunner *self)
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
  unref (self);
}

SpdlPipeChain *
spdl_pipe_runner_get_chain (SpdlPipeRunner *self)
{
  return self->chain;
}

/* Waits until the item is done, @cancellable (nullable) is cancelled, or @end
 * (0: never), and says whether it is done. Lock held. */
static gboolean
wait_done (SpdlPipeRunner *self, GCancellable *cancellable, guint64 end)
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

/* Takes what came of the item. Lock held. */
static gboolean
take_outcome (SpdlPipeRunner *self, GArray *results, GError **error)
{
  self->state = IDLE;
  if (!self->ok) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return FALSE;
  }
  if (self->results->len > 0)
    g_array_append_vals (results, self->results->data, self->results->len);
  /* They are the caller's now. */
  if (self->results->len > 0)
    memset (
        self->results->data, 0, self->results->len * sizeof (SpdlPipeResult));
  g_array_set_size (self->results, 0);
  return TRUE;
}

static void
give (SpdlPipeRunner *self, GstBuffer *item, GstCaps *caps,
    GCancellable *cancellable)
{
  self->item = item;
  gst_caps_replace (&self->caps, caps);
  g_set_object (&self->cancellable, cancellable);
  self->state = GIVEN;
  spdl_cond_signal (&self->given);
}

/* The chain has not come back: flushes it, and waits a moment. Lock held;
 * released meanwhile. */
static gboolean
call_back (SpdlPipeRunner *self)
{
  spdl_mutex_unlock (&self->lock);
  spdl_pipe_chain_interrupt (self->chain);
  spdl_mutex_lock (&self->lock);
  return wait_done (self, NULL, gst_util_get_timestamp () + GRACE);
}

/* The item is late, or not wanted any more. Lock held; released meanwhile. */
static SpdlPipeRunStatus
give_up (SpdlPipeRunner *self)
{
  if (!call_back (self)) {
    self->lost = TRUE;
    g_atomic_int_inc (&self->tally->n_lost);
    return SPDL_PIPE_RUN_LOST;
  }
  self->state = IDLE;
  g_clear_error (&self->error);
  g_array_set_size (self->results, 0);
  return SPDL_PIPE_RUN_FAILED;
}

static SpdlPipeRunStatus
run_threaded (SpdlPipeRunner *self, GstBuffer *item, GstCaps *caps,
    guint64 timeout, GCancellable *cancellable, GArray *results, GError **error)
{
  const gboolean ends = timeout > 0 && timeout < G_MAXINT64;
  const guint64 end = ends ? gst_util_get_timestamp () + timeout : 0;
  SpdlPipeRunStatus status;

  spdl_mutex_lock (&self->lock);
  give (self, item, caps, cancellable);
  if (wait_done (self, cancellable, end)) {
    status = take_outcome (self, results, error) ? SPDL_PIPE_RUN_OK
                                                 : SPDL_PIPE_RUN_FAILED;
  } else {
    status = give_up (self);
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
        "It took longer than task-timeout (%.3f s)", timeout / 1e9);
  }
  spdl_mutex_unlock (&self->lock);
  return status;
}

SpdlPipeRunStatus
spdl_pipe_runner_run (SpdlPipeRunner *self, GstBuffer *item, GstCaps *caps,
    guint64 timeout, GCancellable *cancellable, GArray *results, GError **error)
{
  if (self->thread)
    return run_threaded (
        self, item, caps, timeout, cancellable, results, error);
  return spdl_pipe_chain_run (
             self->chain, item, caps, cancellable, results, error)
             ? SPDL_PIPE_RUN_OK
             : SPDL_PIPE_RUN_FAILED;
}

void
spdl_pipe_runner_interrupt (SpdlPipeRunner *self)
{
  if (!self->thread) {
    spdl_pipe_chain_interrupt (self->chain);
    return;
  }
  spdl_mutex_lock (&self->lock);
  spdl_cond_broadcast (&self->done);
  spdl_mutex_unlock (&self->lock);
}
