/* gst-spdl: Python functions that spdlpipe calls
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/binding.h"

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

static void
end_work (gpointer user_data, GClosure *closure)
{
  Work *work = user_data;

  (void) closure;
  g_mutex_lock (&finished_lock);
  g_queue_push_tail (&finished, work->id);
  g_mutex_unlock (&finished_lock);
  g_free (work);
}

GstSpdlBindingStatus
gst_spdl_binding_set_function (GstBin *pipeline, const gchar *name,
    GstSpdlBindingFunction function, gpointer id)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (pipeline, name);
  const GstElementFactory *factory =
      element ? gst_element_get_factory (element) : NULL;
  Work *work;

  if (!element)
    return GST_SPDL_BINDING_NO_ELEMENT;
  if (!factory || !g_str_equal (GST_OBJECT_NAME (factory), "spdlpipe"))
    return GST_SPDL_BINDING_NO_PIPE;
  work = g_new (Work, 1);
  *work = (Work){ .function = function, .id = id };
  g_signal_connect_data (
      element, "process", G_CALLBACK (on_process), work, end_work, 0);
  return GST_SPDL_BINDING_OK;
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
