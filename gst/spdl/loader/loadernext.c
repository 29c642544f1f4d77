/* gst-spdl: batches of a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

#include "gst/spdl/common/marks.h"
#include "gst/spdl/loader/buswatch.h"

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

/* A call, from begin_taking() to its callback. */
typedef struct {
  GstSpdlBusWatch *bus_watch; /* owned until end_taking(); NULL: not admitted */
  GAsyncReadyCallback callback; /* nullable */
  gpointer user_data;
} Taking;

static void try_next (GTask *task);

static void
on_taken (GObject *loader, GAsyncResult *result, gpointer data)
{
  Taking *taking = data;

  if (taking->bus_watch)
    gst_spdl_loader_end_taking (GST_SPDL_LOADER (loader), taking->bus_watch);
  if (taking->callback)
    taking->callback (loader, result, taking->user_data);
  g_free (taking);
}

static void
on_cancelled (GCancellable *cancellable, gpointer sink)
{
  gst_spdl_loader_sink_wake (sink);
}

static void
wait_in_thread (
    GTask *wait, gpointer loader, gpointer bus_watch, GCancellable *cancellable)
{
  GstSpdlLoader *self = loader;
  const gulong handler =
      cancellable ? g_cancellable_connect (cancellable,
                        G_CALLBACK (on_cancelled), self->parts.sink, NULL)
                  : 0;

  gst_spdl_loader_wait_for_next (self, bus_watch, GST_CLOCK_TIME_NONE);
  g_cancellable_disconnect (cancellable, handler);
  g_task_return_boolean (wait, TRUE);
}

static void
on_waited (GObject *loader, GAsyncResult *wait, gpointer task)
{
  try_next (task);
}

/* Takes the next batch, or waits for it in another thread. Signals are emitted
 * here, in the thread of the caller. Takes ownership of @task. */
static void
try_next (GTask *task)
{
  GstSpdlLoader *self = g_task_get_source_object (task);
  Taking *taking = g_task_get_task_data (task);
  GstSpdlBatch *batch = NULL;
  GError *error = NULL;

  if (!g_cancellable_set_error_if_cancelled (
          g_task_get_cancellable (task), &error))
    batch = gst_spdl_loader_pull (self, taking->bus_watch, 0, &error);
  if (g_error_matches (
          error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_TIMED_OUT)) {
    g_autoptr (GTask) wait =
        g_task_new (self, g_task_get_cancellable (task), on_waited, task);

    g_error_free (error);
    g_task_set_task_data (wait, gst_spdl_bus_watch_ref (taking->bus_watch),
        (GDestroyNotify) gst_spdl_bus_watch_unref);
    g_task_run_in_thread (wait, wait_in_thread);
    return;
  }
  if (error)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, batch, (GDestroyNotify) gst_spdl_batch_unref);
  g_object_unref (task);
}

/**
 * gst_spdl_loader_next_async:
 * @loader: a loader
 * @cancellable: (nullable): ends the wait; nothing is lost then
 * @callback: (nullable): called in the thread-default main context of the
 *     caller
 * @user_data: data of the function
 *
 * Takes the next batch like gst_spdl_loader_next(), without waiting for it.
 * Call gst_spdl_loader_next_finish() in @callback.
 *
 * A batch that is ready is taken at once. Only if none is, a thread of #GTask's
 * pool waits for it, which costs two switches of threads. One call at a time
 * takes batches: until its callback, a second one, and gst_spdl_loader_next(),
 * return %GST_SPDL_LOADER_ERROR_BUSY. #GstSpdlLoader::failed and
 * #GstSpdlLoader::warned are emitted in the thread of the caller, by this
 * function or from its main context.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_next_async (GstSpdlLoader *loader, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data)
{
  GError *error = NULL;
  Taking *taking;
  GTask *task;

  g_return_if_fail (GST_IS_SPDL_LOADER (loader));

  taking = g_new (Taking, 1);
  *taking = (Taking){ gst_spdl_loader_begin_taking (loader, &error), callback,
    user_data };
  task = gst_spdl_loader_new_task (
      loader, cancellable, on_taken, taking, gst_spdl_loader_next_async);
  if (taking->bus_watch) {
    g_task_set_task_data (task, taking, NULL);
    try_next (task);
  } else {
    g_task_return_error (task, error);
    g_object_unref (task);
  }
}

/**
 * gst_spdl_loader_next_finish:
 * @loader: a loader
 * @result: the argument of the callback
 * @error: (nullable): as for gst_spdl_loader_next(), or
 *     %G_IO_ERROR_CANCELLED
 *
 * Ends gst_spdl_loader_next_async().
 *
 * Returns: (transfer full) (nullable): the batch; %NULL at the end of an epoch
 *     or of the stream, or with @error set
 *
 * Since: 0.1
 */
GstSpdlBatch *
gst_spdl_loader_next_finish (
    GstSpdlLoader *loader, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);
  g_return_val_if_fail (g_task_is_valid (result, loader), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
