/* gst-spdl: Python functions that elements call
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/binding.h"
#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/stage-private.h"

/* Python creates a thread state for each call from a foreign thread and frees
 * it afterwards, which costs more than the call. Therefore a worker gets a
 * thread state at its first call, and keeps it until it ends. */

static GstSpdlBindingPython python;

static void
leave_python (gpointer state)
{
  /* Threads cannot enter the interpreter any more once it is finalized. */
  if (!python.is_initialized () || python.is_finalizing ())
    return;
  /* PyGILState_Release() cannot be used, because the thread's variables are
   * being freed, and those of Python may be gone. */
  python.restore_thread (state);
  python.clear_state (state);
  python.delete_current_state ();
}

static GPrivate thread_state = G_PRIVATE_INIT (leave_python);

static void
enter_python (void)
{
  if (!python.ensure || g_private_get (&thread_state))
    return;
  /* A thread that Python created already has a thread state. */
  if (python.ensure () == GST_SPDL_BINDING_UNLOCKED)
    g_private_set (&thread_state, python.save_thread ());
  else
    python.release (GST_SPDL_BINDING_LOCKED);
}

void
gst_spdl_binding_set_python (const GstSpdlBindingPython *functions)
{
  python = *functions;
}

/* Functions */

typedef struct {
  GstSpdlBindingFunction function;
  GstSpdlBindingSelect select;
  SpdlProcessPool *pool;
  gpointer id;
} Work;

/* Only Python may free functions, but they can end in any thread, even after
 * Python. Their ids are queued here. */
static GMutex finished_lock;
static GQueue finished = G_QUEUE_INIT;

static GstSample *
on_process (GstElement *element, GstSample *sample, gpointer user_data)
{
  const Work *work = user_data;

  (void) element;
  enter_python ();
  return work->function (sample, work->id);
}

/* Takes no part of the interpreter. */
static GstSample *
on_process_elsewhere (
    GstElement *element, GstSample *sample, gpointer user_data)
{
  const Work *work = user_data;
  GstSpdlStage *stage = GST_SPDL_STAGE (element);
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (stage);
  GError *error = NULL;
  GstSample *result;
  guint64 timeout, worker_timeout, cpu_time;

  g_object_get (element, "task-timeout", &timeout, "worker-timeout",
      &worker_timeout, NULL);
  result = gst_spdl_process_pool_call (work->pool, sample, timeout,
      worker_timeout, priv->cancellable, &cpu_time, &error);
  __atomic_fetch_add (&priv->process_cpu_time, cpu_time, __ATOMIC_RELAXED);
  if (error)
    gst_spdl_stage_fail (stage, error);
  return result;
}

static gint
on_select_branch (GstElement *element, GstSample *sample, gpointer user_data)
{
  const Work *work = user_data;
  const GstSpdlItemMeta *item =
      gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample));
  g_autofree gchar *problem = NULL;
  g_autoptr (GError) error = NULL;
  gint number;

  enter_python ();
  number = work->select (sample, work->id, &problem);
  if (!problem)
    return number;
  error =
      g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, problem);
  gst_spdl_post_error_of_item (element, error, item ? item->uri : NULL);
  return -1;
}

void
gst_spdl_binding_push_finished (gpointer id)
{
  g_mutex_lock (&finished_lock);
  g_queue_push_tail (&finished, id);
  g_mutex_unlock (&finished_lock);
}

static void
end_work (gpointer user_data, GClosure *closure)
{
  Work *work = user_data;

  (void) closure;
  gst_spdl_binding_push_finished (work->id);
  g_free (work);
}

GstElement *
gst_spdl_binding_find (GstBin *pipeline, const gchar *name,
    const gchar *factory, GstSpdlBindingStatus *status)
{
  GstElement *element = gst_bin_get_by_name (pipeline, name);
  const GstElementFactory *found =
      element ? gst_element_get_factory (element) : NULL;

  *status = element ? GST_SPDL_BINDING_OK : GST_SPDL_BINDING_NO_ELEMENT;
  if (element && (!found || !g_str_equal (GST_OBJECT_NAME (found), factory))) {
    *status = GST_SPDL_BINDING_OTHER_ELEMENT;
    gst_clear_object (&element);
  }
  return element;
}

/* Connects @callback to a signal of the element @name, which @factory made. */
static GstSpdlBindingStatus
connect_work (GstBin *pipeline, const gchar *name, const gchar *factory,
    const gchar *signal, GCallback callback, Work work)
{
  GstSpdlBindingStatus status;
  g_autoptr (GstElement) element =
      gst_spdl_binding_find (pipeline, name, factory, &status);

  if (element)
    g_signal_connect_data (
        element, signal, callback, g_memdup2 (&work, sizeof work), end_work, 0);
  return status;
}

GstSpdlBindingStatus
gst_spdl_binding_set_function (GstBin *pipeline, const gchar *name,
    GstSpdlBindingFunction function, gpointer id)
{
  return connect_work (pipeline, name, "spdlpipe", "process",
      G_CALLBACK (on_process), (Work){ .function = function, .id = id });
}

GstSpdlBindingStatus
gst_spdl_binding_set_select (GstBin *pipeline, const gchar *name,
    GstSpdlBindingSelect function, gpointer id)
{
  return connect_work (pipeline, name, "spdlroute", "select-branch",
      G_CALLBACK (on_select_branch), (Work){ .select = function, .id = id });
}

GstSpdlBindingStatus
gst_spdl_binding_set_process_pool (GstBin *pipeline, const gchar *name,
    SpdlProcessPool *pool, guint size, gpointer id)
{
  const GstSpdlBindingStatus status =
      gst_spdl_binding_set_concurrency (pipeline, name, size);

  return status != GST_SPDL_BINDING_OK
             ? status
             : connect_work (pipeline, name, "spdlpipe", "process",
                   G_CALLBACK (on_process_elsewhere),
                   (Work){ .pool = pool, .id = id });
}

GstSpdlBindingStatus
gst_spdl_binding_set_concurrency (
    GstBin *pipeline, const gchar *name, guint concurrency)
{
  GstSpdlBindingStatus status;
  g_autoptr (GstElement) element =
      gst_spdl_binding_find (pipeline, name, "spdlpipe", &status);

  if (element)
    g_object_set (element, "concurrency", concurrency, NULL);
  return status;
}

gpointer
gst_spdl_binding_pop_finished (void)
{
  gpointer id;

  g_mutex_lock (&finished_lock);
  id = g_queue_pop_head (&finished);
  g_mutex_unlock (&finished_lock);
  return id;
}

/* Streams of Arrow */

typedef struct {
  GstSpdlBindingOpen function;
  GstSpdlBindingOpenPart part_function;
  gpointer id;
} Opening;

static gboolean
set_open_error (const gchar *problem, GError **error)
{
  if (problem)
    g_set_error_literal (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, problem);
  return !problem;
}

static gboolean
on_open (gpointer stream, gpointer user_data, GError **error)
{
  const Opening *opening = user_data;
  g_autofree gchar *problem = NULL;

  enter_python ();
  opening->function (stream, opening->id, &problem);
  return set_open_error (problem, error);
}

static gboolean
on_open_part (gint part, const gchar *const *columns, gpointer stream,
    gpointer user_data, GError **error)
{
  const Opening *opening = user_data;
  g_autofree gchar *problem = NULL;

  enter_python ();
  opening->part_function (part, columns, stream, opening->id, &problem);
  return set_open_error (problem, error);
}

static void
end_opening (gpointer user_data)
{
  Opening *opening = user_data;

  gst_spdl_binding_push_finished (opening->id);
  g_free (opening);
}

void
gst_spdl_binding_set_problem (gchar **problem, const gchar *text)
{
  *problem = g_utf8_make_valid (text, -1);
}

gboolean
gst_spdl_binding_loader_set_arrow_stream (GstSpdlLoader *loader,
    GstSpdlBindingOpen function, gpointer id, const gchar *name, GError **error)
{
  const Opening opening = { function, NULL, id };

  return gst_spdl_loader_set_arrow_stream (loader, on_open,
      g_memdup2 (&opening, sizeof opening), end_opening, name, error);
}

gboolean
gst_spdl_binding_loader_set_arrow_parts (GstSpdlLoader *loader,
    const GstSpdlArrowPart *parts, guint n_parts,
    GstSpdlBindingOpenPart function, gpointer id, const gchar *name,
    GError **error)
{
  const Opening opening = { NULL, function, id };

  return gst_spdl_loader_set_arrow_parts (loader, parts, n_parts, on_open_part,
      g_memdup2 (&opening, sizeof opening), end_opening, name, error);
}
