/* gst-spdl: asynchronous calls of a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/buswatch.h"
#include "gst/spdl/loader/loader-private.h"

static GTask *
new_task (GstSpdlLoader *self, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data, gpointer tag)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  /* A start or a batch that was too fast for the cancellation must not be lost
   * with its result. */
  g_task_set_check_cancellable (task, FALSE);
  return task;
}

/* Start */

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

  task = new_task (
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

/* Next batch */

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
  task = new_task (
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
