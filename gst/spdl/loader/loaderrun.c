/* gst-spdl: start, stop and batches of a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

#include "gst/spdl/common/marks.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/gstspdlcpus.h"
#include "gst/spdl/gstspdlstate.h"
#include "gst/spdl/loader/buswatch.h"

/* Start of a run that continues after a skipped epoch. */
typedef struct {
  const gchar *state; /* nullable: positions of the sources are unknown */
  guint64 epoch;
  guint64 n_failures; /* so far */
} Place;

GstSpdlBusWatch *
gst_spdl_loader_get_bus_watch (GstSpdlLoader *self, GError **error)
{
  GstSpdlBusWatch *bus_watch;

  spdl_mutex_lock (&self->lock);
  bus_watch = self->bus_watch ? gst_spdl_bus_watch_ref (self->bus_watch) : NULL;
  spdl_mutex_unlock (&self->lock);
  if (!bus_watch)
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_NOT_STARTED,
        "The loader is not started: start it first");
  return bus_watch;
}

/* Reads the CPU time and the CPU load at the start of a run. */
static void
begin_counting (GstSpdlBusWatch *bus_watch)
{
  bus_watch->first_cpus =
      gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);
}

/* The same at its end. */
static void
end_counting (GstSpdlBusWatch *bus_watch)
{
  GstStructure *last =
      gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);

  spdl_mutex_lock (&bus_watch->lock);
  if (!bus_watch->last_cpus)
    bus_watch->last_cpus = g_steal_pointer (&last);
  spdl_mutex_unlock (&bus_watch->lock);
  g_clear_pointer (&last, gst_structure_free);
}

/* State lock held. Initializes a run.
 *
 * @place: (nullable): its start, if it differs from that of the loader */
static GstSpdlBusWatch *
begin_run (GstSpdlLoader *self, const Place *place)
{
  GstSpdlBusWatch *bus_watch = gst_spdl_bus_watch_new (
      self->parts.pipeline, self->made_pipeline, self->parts.sink, -1);
  GstSpdlBusWatch *old;
  gboolean stopping;
  GError *error = NULL;

  begin_counting (bus_watch);
  spdl_mutex_lock (&self->lock);
  gst_spdl_bus_watch_set_max_failures (bus_watch, self->max_failures);
  old = self->bus_watch;
  self->bus_watch = gst_spdl_bus_watch_ref (bus_watch);
  stopping = self->n_stopping > 0;
  g_free (self->begun_at);
  self->begun_at = g_strdup (place ? place->state : self->restored);
  self->epoch = place ? place->epoch : 0;
  bus_watch->n_failures = place ? place->n_failures : 0;
  self->phase = GST_SPDL_LOADER_NO_EPOCH;
  self->n_epochs = self->epoch;
  self->next_epoch = G_MAXUINT64;
  self->handed_out = FALSE;
  spdl_mutex_unlock (&self->lock);
  if (old)
    gst_spdl_bus_watch_unref (old);
  if (stopping)
    gst_spdl_bus_watch_stop (bus_watch);
  if (self->cpu_budget > 0) {
    bus_watch->governor = gst_spdl_governor_new (
        GST_BIN (self->parts.pipeline), self->cpu_budget);
    if (self->get_cpu_time)
      gst_spdl_governor_set_clock (bus_watch->governor, self->get_cpu_time);
    else
      gst_spdl_governor_set_threads (bus_watch->governor, &bus_watch->threads);
    if (!gst_spdl_governor_start (bus_watch->governor, &error))
      gst_spdl_bus_watch_set_error (bus_watch, error);
  }
  return bus_watch;
}

void
gst_spdl_loader_set_cpu_budget (GstSpdlLoader *self, gdouble budget)
{
  GstSpdlBusWatch *bus_watch;

  spdl_mutex_lock (&self->state_lock);
  self->cpu_budget = budget;
  gst_spdl_loader_parts_set_cpu_budget (&self->parts, budget);
  if (self->running &&
      (bus_watch = gst_spdl_loader_get_bus_watch (self, NULL))) {
    if (bus_watch->governor)
      gst_spdl_governor_set_budget (bus_watch->governor, budget);
    gst_spdl_bus_watch_unref (bus_watch);
  }
  spdl_mutex_unlock (&self->state_lock);
}

/* State lock held. Stops the pipeline, detaches the bus watch, and leaves the
 * elements as they were before the start. */
static void
end_run (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch)
{
  end_counting (bus_watch);
  gst_element_set_state (GST_ELEMENT (self->parts.pipeline), GST_STATE_NULL);
  gst_spdl_loader_sink_set_open (self->parts.sink, FALSE);
  gst_spdl_loader_close_source (self);
  gst_spdl_bus_watch_detach (bus_watch);
  gst_spdl_loader_parts_end_run (&self->parts);
  self->running = FALSE;
}

static gboolean
is_stopped (GstSpdlBusWatch *bus_watch)
{
  gboolean stopped;

  spdl_mutex_lock (&bus_watch->lock);
  stopped = bus_watch->stopped;
  spdl_mutex_unlock (&bus_watch->lock);
  return stopped;
}

gboolean
gst_spdl_loader_end_stopped_run (GstSpdlLoader *self)
{
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;

  if (self->running && !spdl_thread_has_batch_scheduling () &&
      (bus_watch = gst_spdl_loader_get_bus_watch (self, NULL)) &&
      is_stopped (bus_watch))
    end_run (self, bus_watch);
  return !self->running;
}

void
gst_spdl_loader_set_stopped (GError **error)
{
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_STOPPED,
      "The loader was stopped: start it to get batches");
}

/* State lock held. Sets the start of the run to the state that its source has
 * chosen: that of this rank, if the loader has those of all. With several
 * sources, one knows the start of the others only from a state. */
static void
find_start (GstSpdlLoader *self)
{
  GObject *source = g_ptr_array_index (self->parts.sources, 0);
  gchar *start = NULL;

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (source), "start-state"))
    g_object_get (source, "start-state", &start, NULL);
  spdl_mutex_lock (&self->lock);
  if (start && (self->begun_at || self->parts.sources->len == 1)) {
    g_free (self->begun_at);
    self->begun_at = g_steal_pointer (&start);
  }
  spdl_mutex_unlock (&self->lock);
  g_free (start);
}

static void
on_cancelled (GCancellable *cancellable, gpointer bus_watch)
{
  gst_spdl_bus_watch_note_start (bus_watch);
}

/* State lock held. Returns FALSE if a source failed to start, or if the run was
 * stopped or cancelled meanwhile. */
static gboolean
wait_for_sources (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GCancellable *cancellable)
{
  const gulong handler = cancellable
                             ? g_cancellable_connect (cancellable,
                                   G_CALLBACK (on_cancelled), bus_watch, NULL)
                             : 0;
  const gboolean ok = gst_spdl_loader_parts_wait_for_starts (&self->parts,
      &bus_watch->lock, &bus_watch->has_room, &bus_watch->stopped, cancellable);

  g_cancellable_disconnect (cancellable, handler);
  return ok;
}

/* Sets the error of a run that has not started.
 *
 * @reason: (transfer full) (nullable): its reason, if it is known */
static void
set_no_start (GstSpdlBusWatch *bus_watch, GCancellable *cancellable,
    GError *reason, GError **error)
{
  if (is_stopped (bus_watch)) {
    g_clear_error (&reason);
    gst_spdl_loader_set_stopped (&reason);
  } else if (!reason &&
             !g_cancellable_set_error_if_cancelled (cancellable, &reason)) {
    reason = gst_spdl_bus_watch_dup_error (bus_watch);
  }
  if (!reason)
    reason = g_error_new_literal (GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_FAILED, "Failed to start the pipeline");
  g_propagate_error (error, reason);
}

/* State lock held. Starts a run.
 *
 * @place: (nullable): as for begin_run()
 * @cancellable: (nullable): ends the wait for a server */
static gboolean
start_run (GstSpdlLoader *self, const Place *place, GCancellable *cancellable,
    GError **error)
{
  GPtrArray *states = NULL;
  GstSpdlBusWatch *bus_watch;
  GError *reason = NULL;
  gboolean ok;

  if (!gst_spdl_loader_parts_begin_run (&self->parts, error))
    return FALSE;
  if (self->parts.tuned)
    gst_spdl_loader_parts_tune (&self->parts);
  if (place && place->state)
    states = gst_spdl_loader_parts_exchange_states (&self->parts, place->state);
  bus_watch = begin_run (self, place);
  gst_spdl_loader_parts_watch_starts (
      &self->parts, gst_spdl_bus_watch_note_start, bus_watch);
  gst_spdl_loader_open_source (self, bus_watch, place ? place->epoch : 0);
  gst_spdl_loader_sink_set_open (self->parts.sink, TRUE);
  ok = !gst_spdl_bus_watch_failed_in (bus_watch, G_MAXUINT64) &&
       gst_element_set_state (GST_ELEMENT (self->parts.pipeline),
           GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  if (!gst_spdl_bus_watch_failed_in (bus_watch, G_MAXUINT64))
    ok = gst_spdl_bus_watch_check (bus_watch, &reason) && ok;
  ok = ok && wait_for_sources (self, bus_watch, cancellable);
  if (states)
    gst_spdl_loader_parts_put_back_states (&self->parts, states, place->state);
  self->running = ok;
  if (ok && self->parts.sources->len > 0)
    find_start (self);
  if (!ok) {
    set_no_start (bus_watch, cancellable, reason, error);
    gst_spdl_bus_watch_stop (bus_watch);
    end_run (self, bus_watch);
  }
  gst_spdl_bus_watch_unref (bus_watch);
  return ok;
}

gboolean
gst_spdl_loader_start_run (
    GstSpdlLoader *self, GCancellable *cancellable, GError **error)
{
  gboolean ok;

  if (!gst_spdl_loader_check_process (self, error) ||
      g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  spdl_mutex_lock (&self->state_lock);
  g_atomic_int_inc (&self->n_starts);
  ok = gst_spdl_loader_end_stopped_run (self);
  if (ok)
    ok = start_run (self, NULL, cancellable, error);
  else
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "The loader is already started: stop it first");
  spdl_mutex_unlock (&self->state_lock);
  return ok;
}

/**
 * gst_spdl_loader_start:
 * @loader: a loader
 * @error: (nullable): the error of an element that cannot start, or
 *     %GST_SPDL_LOADER_ERROR
 *
 * Starts the pipeline, at the beginning or at the restored state. It can be
 * started again after gst_spdl_loader_stop().
 *
 * A dataset on a server is open when the function returns. The function has no
 * #GCancellable, because gst_spdl_loader_stop() ends the wait for the server
 * from any thread. gst_spdl_loader_start_async() does not wait, and has one.
 *
 * A stage whose `concurrency` was not set gets one task per core, and 16 tasks
 * if its tasks wait instead of computing (`spdlfetch`).
 *
 * Returns: %FALSE with @error set if the pipeline cannot run
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_start (GstSpdlLoader *loader, GError **error)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  return gst_spdl_loader_start_run (loader, NULL, error);
}

/* State lock held. Stops and ends the run, if there is one. */
static void
stop_run (GstSpdlLoader *self)
{
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;

  if (self->running &&
      (bus_watch = gst_spdl_loader_get_bus_watch (self, NULL))) {
    gst_spdl_bus_watch_stop (bus_watch);
    end_run (self, bus_watch);
  }
}

typedef struct {
  GstSpdlLoader *loader; /* owned */
  gint n_starts;         /* at the time of the stop */
} Stop;

static gpointer
stop_in_thread (gpointer user_data)
{
  Stop *job = user_data;

  spdl_mutex_lock (&job->loader->state_lock);
  if (g_atomic_int_get (&job->loader->n_starts) == job->n_starts)
    stop_run (job->loader);
  spdl_mutex_unlock (&job->loader->state_lock);
  g_object_unref (job->loader);
  g_free (job);
  return NULL;
}

/* Stops in another thread. The pipeline waits for its threads, and the calling
 * thread may be one of them. */
static void
stop_later (GstSpdlLoader *self, gint n_starts)
{
  g_autoptr (GError) error = NULL;
  Stop *job = g_new (Stop, 1);
  GThread *thread;

  job->loader = g_object_ref (self);
  job->n_starts = n_starts;
  thread = spdl_thread_try_new (
      "spdl-stop", "the stop of a loader", stop_in_thread, job, &error);
  if (thread) {
    g_thread_unref (thread);
    return;
  }
  /* The run is marked as stopped. The next start or stop ends it. */
  GST_WARNING_OBJECT (self->parts.pipeline, "%s", error->message);
  g_object_unref (job->loader);
  g_free (job);
}

/* Returns: (transfer full) (nullable): the bus watch of the last run
 *
 * @waits: the stop waits for the state lock. A run that begins meanwhile, such
 * as that of the next epoch, is stopped, too, so that it does not wait for a
 * server. */
static GstSpdlBusWatch *
begin_stop (GstSpdlLoader *self, gboolean waits)
{
  GstSpdlBusWatch *bus_watch = NULL;

  spdl_mutex_lock (&self->lock);
  if (self->bus_watch) {
    bus_watch = gst_spdl_bus_watch_ref (self->bus_watch);
    self->n_stopping += waits;
  }
  spdl_mutex_unlock (&self->lock);
  return bus_watch;
}

/**
 * gst_spdl_loader_stop:
 * @loader: a loader
 *
 * Stops the run. It may be called at any time, from any thread and several
 * times. A call of gst_spdl_loader_next() or gst_spdl_loader_push() that waits
 * in another thread returns %GST_SPDL_LOADER_ERROR_STOPPED. Batches and tensors
 * that are referenced stay valid.
 *
 * In a thread of the pipeline, such as in a function of a stage, it returns
 * before the pipeline has stopped, because the pipeline waits for that
 * function. gst_spdl_loader_start() then waits for the end.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_stop (GstSpdlLoader *loader)
{
  const gboolean waits = !spdl_thread_has_batch_scheduling ();
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;
  gint n_starts;

  g_return_if_fail (GST_IS_SPDL_LOADER (loader));

  if (!gst_spdl_loader_check_process (loader, NULL))
    return;
  n_starts = g_atomic_int_get (&loader->n_starts);
  if (!(bus_watch = begin_stop (loader, waits)))
    return;
  /* Wake waiting threads first, because the state change may take long. */
  gst_spdl_bus_watch_stop (bus_watch);
  if (!waits) {
    stop_later (loader, n_starts);
    return;
  }
  spdl_mutex_lock (&loader->state_lock);
  stop_run (loader);
  spdl_mutex_lock (&loader->lock);
  loader->n_stopping--;
  spdl_mutex_unlock (&loader->lock);
  spdl_mutex_unlock (&loader->state_lock);
}

/* Taking batches */

static gboolean
check_running (GstSpdlBusWatch *bus_watch, gboolean *no_more, GError **error)
{
  gboolean stopped;

  spdl_mutex_lock (&bus_watch->lock);
  stopped = bus_watch->stopped;
  *no_more = bus_watch->no_more;
  spdl_mutex_unlock (&bus_watch->lock);
  if (stopped)
    gst_spdl_loader_set_stopped (error);
  return !stopped;
}

/* Records that the first @n epochs were reached. */
static void
reach_epochs (GstSpdlLoader *self, guint64 n)
{
  self->n_epochs = MAX (self->n_epochs, n);
}

/* Takes ownership of the buffer in @pull, and returns it as a batch. */
static GstSpdlBatch *
take_buffer (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GstSpdlPull *pull,
    GError **error)
{
  /* Replayed batches have no epochs. */
  const gboolean cached = gst_spdl_buffer_is_cached (pull->buffer);
  GstSpdlBatch *batch = NULL;

  if (gst_spdl_layout_set_caps (&self->layout, pull->caps, error))
    batch = gst_spdl_layout_view (
        &self->layout, pull->buffer, pull->exclusive, error);
  gst_clear_buffer (&pull->buffer);
  gst_clear_caps (&pull->caps);
  if (!batch)
    return NULL;
  spdl_mutex_lock (&self->lock);
  self->epoch = gst_spdl_batch_get_epoch (batch);
  self->handed_out = TRUE;
  self->phase = cached ? GST_SPDL_LOADER_NO_EPOCH : GST_SPDL_LOADER_IN_EPOCH;
  spdl_mutex_unlock (&self->lock);
  reach_epochs (self, gst_spdl_batch_get_epoch (batch) + 1);
  gst_spdl_loader_emit_notices (
      self, bus_watch, gst_spdl_batch_get_state (batch));
  return batch;
}

/* Records the end of an epoch. Returns TRUE if another epoch may follow.
 * Otherwise next() continues to the end of the stream or an error. */
static gboolean
end_epoch (GstSpdlLoader *self, guint64 epoch)
{
  const gboolean last = gst_spdl_loader_parts_is_last (&self->parts, epoch);

  spdl_mutex_lock (&self->lock);
  self->epoch = self->next_epoch = epoch + 1;
  /* Without a batch, items that failed have also changed the state. */
  self->handed_out = TRUE;
  self->phase = last ? GST_SPDL_LOADER_NO_EPOCH : GST_SPDL_LOADER_BETWEEN;
  spdl_mutex_unlock (&self->lock);
  return !last;
}

static void
end_stream (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GError **error)
{
  GError *reason = gst_spdl_bus_watch_dup_error (bus_watch);

  /* Without any epoch, report all notices. */
  if (self->n_epochs == 0)
    self->n_epochs = G_MAXUINT64;
  gst_spdl_loader_emit_notices (self, bus_watch, NULL);
  spdl_mutex_lock (&self->lock);
  self->phase = GST_SPDL_LOADER_FINISHED;
  spdl_mutex_unlock (&self->lock);
  if (reason)
    g_propagate_error (error, reason);
}

static GstClockTime
get_rest (GstClockTime timeout, GstClockTime begun)
{
  GstClockTime waited;

  if (timeout == GST_CLOCK_TIME_NONE || timeout == 0)
    return timeout;
  waited = gst_util_get_timestamp () - begun;
  return timeout > waited ? timeout - waited : 0;
}

GstSpdlBatch *
gst_spdl_loader_pull (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch,
    GstClockTime timeout, GError **error)
{
  const GstClockTime begun = gst_util_get_timestamp ();
  gboolean no_more;

  if (self->phase == GST_SPDL_LOADER_BETWEEN)
    reach_epochs (self, self->next_epoch + 1);
  while (check_running (bus_watch, &no_more, error)) {
    if (self->phase == GST_SPDL_LOADER_FINISHED) {
      end_stream (self, bus_watch, error);
      return NULL;
    }
    GstSpdlPull pull = { .wakes = self->wakes };
    const GstSpdlPullStatus status = gst_spdl_loader_sink_pull (
        self->parts.sink, no_more ? 0 : get_rest (timeout, begun), &pull);

    self->wakes = pull.wakes;
    if (status == GST_SPDL_PULL_EPOCH)
      reach_epochs (self, pull.epoch + 1);
    if (status != GST_SPDL_PULL_BUFFER)
      gst_spdl_loader_emit_notices (self, bus_watch, NULL);
    switch (status) {
      case GST_SPDL_PULL_BUFFER:
        return take_buffer (self, bus_watch, &pull, error);
      case GST_SPDL_PULL_EPOCH:
        /* Do not end the epoch as if it were complete. Items of the next epoch
         * that are finished do not count any more. */
        if (gst_spdl_bus_watch_failed_in (bus_watch, pull.epoch)) {
          end_stream (self, bus_watch, error);
          return NULL;
        }
        if (end_epoch (self, pull.epoch))
          return NULL;
        break;
      case GST_SPDL_PULL_EOS:
        end_stream (self, bus_watch, error);
        return NULL;
      case GST_SPDL_PULL_TIMEOUT:
        if (no_more) {
          end_stream (self, bus_watch, error);
          return NULL;
        }
        g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
            GST_SPDL_LOADER_ERROR_TIMED_OUT,
            "No batch arrived before the timeout");
        return NULL;
      case GST_SPDL_PULL_WOKEN:
        break;
    }
  }
  return NULL;
}

GstSpdlBusWatch *
gst_spdl_loader_begin_taking (GstSpdlLoader *self, GError **error)
{
  GstSpdlBusWatch *bus_watch;

  if (!gst_spdl_loader_check_process (self, error) ||
      !(bus_watch = gst_spdl_loader_get_bus_watch (self, error)))
    return NULL;
  if (g_atomic_int_compare_and_exchange (&self->in_next, 0, 1))
    return bus_watch;
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY,
      "Another thread is waiting for the next batch of this loader: read from "
      "one thread at a time");
  gst_spdl_bus_watch_unref (bus_watch);
  return NULL;
}

void
gst_spdl_loader_end_taking (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch)
{
  g_atomic_int_set (&self->in_next, 0);
  gst_spdl_bus_watch_unref (bus_watch);
}

/**
 * gst_spdl_loader_next:
 * @loader: a loader
 * @timeout: maximum time to wait, in ns; %GST_CLOCK_TIME_NONE: no limit
 * @error: (nullable): the error that ended the run, or %GST_SPDL_LOADER_ERROR
 *
 * Takes the next batch, from one thread at a time. An error is returned after
 * all earlier batches, and again at each further call. After
 * %GST_SPDL_LOADER_ERROR_TIMED_OUT nothing is lost.
 *
 * %NULL without an error is the end of an epoch; the next call continues with
 * the next epoch. At the end of the stream, each call returns %NULL, and
 * gst_spdl_loader_is_finished() returns %TRUE.
 *
 * #GstSpdlLoader::failed and #GstSpdlLoader::warned are emitted in this thread.
 * gst_spdl_loader_next_async() does not wait, and has a #GCancellable.
 *
 * Returns: (transfer full) (nullable): the batch; %NULL at the end of an epoch
 *     or of the stream, or with @error set
 *
 * Since: 0.1
 */
GstSpdlBatch *
gst_spdl_loader_next (
    GstSpdlLoader *loader, GstClockTime timeout, GError **error)
{
  GstSpdlBatch *batch;
  GstSpdlBusWatch *bus_watch;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!(bus_watch = gst_spdl_loader_begin_taking (loader, error)))
    return NULL;
  batch = gst_spdl_loader_pull (loader, bus_watch, timeout, error);
  gst_spdl_loader_end_taking (loader, bus_watch);
  return batch;
}

/* Skipping the rest of an epoch */

/* Takes batches until all sources have been announced, and checks whether the
 * epoch has ended anyway. Returns TRUE if so, or with @error set if the run has
 * ended. */
static gboolean
take_end (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch,
    GstSpdlSources *sources, GError **error)
{
  const guint n = gst_spdl_loader_parts_count_sources (&self->parts);
  GstSpdlBatch *batch;
  gboolean known;

  do {
    g_autoptr (GError) reason = NULL;

    gst_spdl_loader_sink_get_sources (self->parts.sink, sources);
    known = sources->n >= n;
    batch = gst_spdl_loader_pull (
        self, bus_watch, known ? 0 : GST_CLOCK_TIME_NONE, &reason);
    if (!batch && !g_error_matches (reason, GST_SPDL_LOADER_ERROR,
                      GST_SPDL_LOADER_ERROR_TIMED_OUT)) {
      if (reason)
        g_propagate_error (error, g_steal_pointer (&reason));
      return TRUE;
    }
    g_clear_pointer (&batch, gst_spdl_batch_unref);
  } while (!known);
  return FALSE;
}

/* Returns the current epoch of the stream. With mixed sources, the epoch of an
 * item may differ from it. */
static guint64
find_epoch (GstSpdlLoader *self, const GstSpdlSources *sources)
{
  guint64 epoch;

  spdl_mutex_lock (&self->lock);
  if (self->next_epoch != G_MAXUINT64)
    epoch = self->next_epoch;
  else
    epoch = sources->in_step ? sources->epoch : self->epoch;
  spdl_mutex_unlock (&self->lock);
  return epoch;
}

/* State lock held. Returns FALSE with @error set if the run was stopped
 * meanwhile or, if the application is the source, was not stopped. */
static gboolean
check_left (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GError **error)
{
  if (self->parts.appsrc) {
    if (gst_spdl_loader_end_stopped_run (self))
      return TRUE;
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "The application is the source, and may still push items of this "
        "epoch: stop the loader, and the thread that pushes, first");
    return FALSE;
  }
  if (self->running && !is_stopped (bus_watch))
    return TRUE;
  gst_spdl_loader_set_stopped (error);
  return FALSE;
}

/* State lock held. Restarts the run at the beginning of @epoch. */
static gboolean
go_to_epoch (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, guint64 epoch,
    GError **error)
{
  g_autofree gchar *state = NULL;
  Place place = { .epoch = epoch };

  if (!check_left (self, bus_watch, error))
    return FALSE;
  place.state = state =
      gst_spdl_loader_sink_dup_epoch_state (self->parts.sink, epoch);
  stop_run (self);
  place.n_failures = gst_spdl_bus_watch_leave_epoch (bus_watch, epoch);
  return start_run (self, &place, NULL, error);
}

/* Carries the number of reported failures over to the next run. */
static void
keep_reported (GstSpdlLoader *self, GstSpdlBusWatch *left)
{
  g_autoptr (GstSpdlBusWatch) bus_watch =
      gst_spdl_loader_get_bus_watch (self, NULL);
  guint64 n_reported;

  if (!bus_watch || bus_watch == left)
    return;
  spdl_mutex_lock (&left->lock);
  n_reported = left->n_reported;
  spdl_mutex_unlock (&left->lock);
  spdl_mutex_lock (&bus_watch->lock);
  bus_watch->n_reported += n_reported;
  spdl_mutex_unlock (&bus_watch->lock);
}

/* State lock held. Starts a stopped loader at @state, if it is known. */
static gboolean
start_at (
    GstSpdlLoader *self, const gchar *state, guint64 n_failures, GError **error)
{
  Place place = { .state = state, .n_failures = n_failures };

  if (state && gst_spdl_state_get_epoch (state, &place.epoch, NULL))
    return start_run (self, &place, NULL, error);
  if (!self->parts.appsrc && !self->handed_out)
    return start_run (self, NULL, NULL, error);
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_STOPPED,
      "The loader was stopped, and has no state from which it could continue: "
      "start it to begin again");
  return FALSE;
}

gboolean
gst_spdl_loader_continue (
    GstSpdlLoader *self, guint64 n_repeated, GError **error)
{
  g_autoptr (GstSpdlBusWatch) left = NULL;
  g_autofree gchar *state = NULL;
  gboolean ok;

  if (!gst_spdl_loader_check_process (self, error) ||
      !(left = gst_spdl_loader_get_bus_watch (self, error)))
    return FALSE;
  /* A thread of the run itself may have stopped it. */
  gst_spdl_loader_stop (self);
  state = gst_spdl_loader_read_state (self);
  /* Other failures will occur again. */
  self->n_epochs = 0;
  gst_spdl_loader_emit_notices (self, left, state);
  spdl_mutex_lock (&left->lock);
  left->n_reported -= MIN (n_repeated, left->n_reported);
  spdl_mutex_unlock (&left->lock);
  spdl_mutex_lock (&self->state_lock);
  g_atomic_int_inc (&self->n_starts);
  ok = start_at (self, state, left->n_reported, error);
  spdl_mutex_unlock (&self->state_lock);
  if (ok)
    keep_reported (self, left);
  return ok;
}

static gboolean
leave_epoch (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GError **error)
{
  GstSpdlSources sources;
  guint64 epoch;
  GError *reason = NULL;
  gboolean ok;

  gst_spdl_loader_sink_get_sources (self->parts.sink, &sources);
  if (self->phase != GST_SPDL_LOADER_IN_EPOCH ||
      (!self->parts.appsrc && sources.n == 0 &&
          gst_spdl_loader_parts_count_sources (&self->parts) == 0))
    return TRUE;
  epoch = find_epoch (self, &sources);
  if (!self->parts.appsrc && take_end (self, bus_watch, &sources, &reason)) {
    if (reason)
      g_propagate_error (error, reason);
    return !reason;
  }
  if ((reason = gst_spdl_bus_watch_dup_error (bus_watch))) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  spdl_mutex_lock (&self->state_lock);
  ok = go_to_epoch (self, bus_watch, epoch + 1, error);
  spdl_mutex_unlock (&self->state_lock);
  gst_spdl_loader_emit_notices (self, bus_watch, NULL);
  keep_reported (self, bus_watch);
  return ok;
}

/**
 * gst_spdl_loader_next_epoch:
 * @loader: a started loader
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, an error that has already ended
 *     the run, or the reason why the pipeline cannot start again
 *
 * Skips the rest of the epoch: the next batch is the first one of the next
 * epoch, in its usual order. The pipeline restarts there, together with the
 * statistics of its elements, and the rest is not decoded. Nothing happens if
 * no batch of the epoch was taken, or in a pipeline whose sources do not
 * announce epochs.
 *
 * A skipped epoch is one of the `epochs` of `spdlsrc`. With `spdlmix`, each
 * source starts its next epoch, and the proportions start again.
 *
 * If the program is the source, call gst_spdl_loader_stop() first and wait for
 * the thread that pushes. Items that are pushed afterwards belong to the next
 * epoch.
 *
 * Call it from the thread that takes batches, in which #GstSpdlLoader::failed
 * and #GstSpdlLoader::warned are emitted.
 *
 * Returns: %FALSE with @error set if the epoch cannot be skipped
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_next_epoch (GstSpdlLoader *loader, GError **error)
{
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!(bus_watch = gst_spdl_loader_begin_taking (loader, error)))
    return FALSE;
  ok = leave_epoch (loader, bus_watch, error);
  gst_spdl_loader_end_taking (loader, bus_watch);
  return ok;
}

/* Waiting */

gboolean
gst_spdl_loader_wait_for_next (
    GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GstClockTime timeout)
{
  gboolean no_more;

  return !check_running (bus_watch, &no_more, NULL) || no_more ||
         self->phase == GST_SPDL_LOADER_FINISHED ||
         gst_spdl_loader_sink_wait (self->parts.sink, timeout, self->wakes);
}

/**
 * gst_spdl_loader_wait:
 * @loader: a loader
 * @timeout: maximum time to wait, in ns; 0: do not wait
 *
 * Waits until gst_spdl_loader_next() would return at once: with a batch, the
 * end of an epoch or an error. Use it to do other work in between, in the
 * thread that takes batches. The time counts in `ave-get-time` of the sink.
 *
 * Returns: %FALSE if the timeout expired
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_wait (GstSpdlLoader *loader, GstClockTime timeout)
{
  gboolean any = TRUE;
  GstSpdlBusWatch *bus_watch;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!gst_spdl_loader_check_process (loader, NULL) ||
      !(bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL)))
    return TRUE;
  if (g_atomic_int_compare_and_exchange (&loader->in_next, 0, 1)) {
    any = gst_spdl_loader_wait_for_next (loader, bus_watch, timeout);
    g_atomic_int_set (&loader->in_next, 0);
  }
  gst_spdl_bus_watch_unref (bus_watch);
  return any;
}

/* Diagnosis */

GstStructure *
gst_spdl_loader_dup_cpu_stats (GstSpdlLoader *self)
{
  g_autoptr (GstSpdlBusWatch) bus_watch =
      gst_spdl_loader_get_bus_watch (self, NULL);
  GstStructure *s;

  if (bus_watch)
    return gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);
  s = gst_spdl_dup_cpu_stats ();
  gst_structure_set (s, "loading-time", G_TYPE_UINT64, (guint64) 0, NULL);
  return s;
}

/* Returns: (transfer full): the counters now, or those at the end of the run */
static GstStructure *
get_last_counters (GstSpdlBusWatch *bus_watch)
{
  GstStructure *last = NULL;

  spdl_mutex_lock (&bus_watch->lock);
  if (bus_watch->last_cpus)
    last = gst_structure_copy (bus_watch->last_cpus);
  spdl_mutex_unlock (&bus_watch->lock);
  return last ? last
              : gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);
}

/**
 * gst_spdl_loader_diagnose:
 * @loader: a loader
 *
 * Finds the bottleneck of the last run, since its start, like
 * gst_spdl_diagnose_with_cpus(). It can be called during a run and after it.
 * The CPU time of an item is that of the threads that load. In the process, the
 * threads of the trainer do not count.
 *
 * Returns: (transfer full): the diagnosis; %GST_SPDL_LIMIT_TOO_FEW if the
 * loader has not been started
 *
 * Since: 0.1
 */
GstSpdlDiagnosis *
gst_spdl_loader_diagnose (GstSpdlLoader *loader)
{
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;
  GstStructure *last = NULL;
  GList *stats = NULL;
  GstSpdlDiagnosis *diagnosis;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (gst_spdl_loader_is_own_process (loader) &&
      (bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL))) {
    last = get_last_counters (bus_watch);
    stats = gst_spdl_loader_parts_dup_stats (&loader->parts, TRUE);
  }
  diagnosis = gst_spdl_diagnose_with_cpus (
      stats, bus_watch ? bus_watch->first_cpus : NULL, last);
  g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
  g_clear_pointer (&last, gst_structure_free);
  return diagnosis;
}
