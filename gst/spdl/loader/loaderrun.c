/* gst-spdl: runs of a loader: start, stop and CPU time
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

gboolean
gst_spdl_loader_check_process (GstSpdlLoader *self, GError **error)
{
  if (gst_spdl_loader_is_own_process (self))
    return TRUE;
  g_set_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FORKED,
      "The loader was created in process %d and cannot be used after a fork, "
      "because threads do not survive it: create the loader after the fork, in "
      "the process that uses it, or start workers with spawn instead of fork",
      (int) self->pid);
  return FALSE;
}

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
begin_run (GstSpdlLoader *self, const GstSpdlLoaderPlace *place)
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

/* Records that an item or event has left the source. */
static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstSpdlBusWatch *bus_watch = user_data;

  spdl_mutex_lock (&bus_watch->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    bus_watch->n_queued--;
    bus_watch->bytes_queued -=
        gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info));
    spdl_cond_signal (&bus_watch->has_room);
  } else if (!bus_watch->source_begun) { /* stream-start event */
    bus_watch->source_begun = TRUE;
    spdl_cond_signal (&bus_watch->has_room);
  }
  spdl_mutex_unlock (&bus_watch->lock);
  return GST_PAD_PROBE_OK;
}

static void
unref_bus_watch (gpointer bus_watch)
{
  gst_spdl_bus_watch_unref (bus_watch);
}

/* Resets the source, at a start and after a stop.
 *
 * @epoch: first epoch that is pushed */
static void
open_source (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, guint64 epoch)
{
  GstPad *pad;

  if (!self->parts.appsrc)
    return;
  spdl_mutex_lock (&self->push_lock);
  self->push_epoch = epoch;
  self->n_pushed = 0;
  self->push_ended = FALSE;
  spdl_mutex_unlock (&self->push_lock);
  pad = gst_element_get_static_pad (self->parts.appsrc, "src");
  self->probe = gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data,
      gst_spdl_bus_watch_ref (bus_watch), unref_bus_watch);
  gst_object_unref (pad);
}

static void
close_source (GstSpdlLoader *self)
{
  GstPad *pad;

  if (!self->parts.appsrc)
    return;
  pad = gst_element_get_static_pad (self->parts.appsrc, "src");
  gst_pad_remove_probe (pad, self->probe);
  gst_object_unref (pad);
}

/* State lock held. Stops the pipeline, detaches the bus watch, and leaves the
 * elements as they were before the start. */
static void
end_run (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch)
{
  end_counting (bus_watch);
  gst_element_set_state (GST_ELEMENT (self->parts.pipeline), GST_STATE_NULL);
  gst_spdl_loader_sink_set_open (self->parts.sink, FALSE);
  close_source (self);
  gst_spdl_bus_watch_detach (bus_watch);
  gst_spdl_loader_parts_end_run (&self->parts);
  self->running = FALSE;
}

gboolean
gst_spdl_loader_end_stopped_run (GstSpdlLoader *self)
{
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;

  if (self->running && !spdl_thread_has_batch_scheduling () &&
      (bus_watch = gst_spdl_loader_get_bus_watch (self, NULL)) &&
      gst_spdl_bus_watch_is_stopped (bus_watch))
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
  if (gst_spdl_bus_watch_is_stopped (bus_watch)) {
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

gboolean
gst_spdl_loader_run_from (GstSpdlLoader *self, const GstSpdlLoaderPlace *place,
    GCancellable *cancellable, GError **error)
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
  open_source (self, bus_watch, place ? place->epoch : 0);
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
    ok = gst_spdl_loader_run_from (self, NULL, cancellable, error);
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

GTask *
gst_spdl_loader_new_task (GstSpdlLoader *self, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data, gpointer tag)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  /* A start or a batch that was too fast for the cancellation must not be lost
   * with its result. */
  g_task_set_check_cancellable (task, FALSE);
  return task;
}

static void
start_in_thread (
    GTask *task, gpointer loader, gpointer data, GCancellable *cancellable)
{
  GstSpdlLoader *self = loader;
  GError *error = NULL;
  const gboolean ok = gst_spdl_loader_start_run (self, cancellable, &error);

  g_atomic_int_set (&self->starting, FALSE);
  if (ok)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * gst_spdl_loader_start_async:
 * @loader: a loader
 * @cancellable: (nullable): ends the wait for a server
 * @callback: (nullable): called in the thread-default main context of the
 *     caller
 * @user_data: data of the function
 *
 * Starts the pipeline like gst_spdl_loader_start(), without waiting for its
 * dataset. Call gst_spdl_loader_start_finish() in @callback.
 *
 * A thread of #GTask's pool waits meanwhile. A second call before the first has
 * ended returns %GST_SPDL_LOADER_ERROR_BUSY. gst_spdl_loader_stop() ends the
 * start as well as @cancellable. Opening a large list or folder on this machine
 * cannot be cancelled.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_start_async (GstSpdlLoader *loader, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (GST_IS_SPDL_LOADER (loader));

  task = gst_spdl_loader_new_task (
      loader, cancellable, callback, user_data, gst_spdl_loader_start_async);
  if (g_atomic_int_compare_and_exchange (&loader->starting, FALSE, TRUE))
    g_task_run_in_thread (task, start_in_thread);
  else
    g_task_return_new_error (task, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_BUSY,
        "The loader is being started already: wait for the end of that start");
}

/**
 * gst_spdl_loader_start_finish:
 * @loader: a loader
 * @result: the argument of the callback
 * @error: (nullable): as for gst_spdl_loader_start(),
 *     %GST_SPDL_LOADER_ERROR_BUSY or %G_IO_ERROR_CANCELLED
 *
 * Ends gst_spdl_loader_start_async().
 *
 * Returns: %FALSE with @error set if the pipeline does not run
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_start_finish (
    GstSpdlLoader *loader, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, loader), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

void
gst_spdl_loader_end_run (GstSpdlLoader *self)
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
    gst_spdl_loader_end_run (job->loader);
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
  gst_spdl_loader_end_run (loader);
  spdl_mutex_lock (&loader->lock);
  loader->n_stopping--;
  spdl_mutex_unlock (&loader->lock);
  spdl_mutex_unlock (&loader->state_lock);
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
