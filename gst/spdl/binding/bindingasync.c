/* gst-spdl: queue of items for coroutines of Python
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <glib-unix.h>
#include <unistd.h>

#include "gst/spdl/binding/binding.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/gstspdlsample.h"
#include "gst/spdl/stage/stage-private.h"

/* The threads of a stage put items in without the interpreter. The event loop
 * polls the file descriptor, takes all items that wait, and finishes each when
 * its coroutine has a result. */

struct _GstSpdlBindingQueue {
  gint n_refs; /* of the element and of Python */
  int pipe[2];
  gpointer id;

  GMutex lock;
  GQueue tasks; /* guarded by the lock */
  /* Guarded by the lock: the stage was cancelled, and with it all items before
   * the next one that is taken. */
  gboolean is_cancelled;

  GstElement *element; /* not owned; NULL: it has gone, and no task is left */
  GCancellable *cancellable;
  gulong handler;
};

void
gst_spdl_binding_thread_set_loading (void)
{
  spdl_thread_set_batch_scheduling (TRUE);
}

GstSpdlBindingQueue *
gst_spdl_binding_queue_new (gpointer id)
{
  GstSpdlBindingQueue *self;
  int pipe[2];

  if (!g_unix_open_pipe (pipe, FD_CLOEXEC, NULL))
    return NULL;
  self = g_new0 (GstSpdlBindingQueue, 1);
  self->n_refs = 1;
  self->id = id;
  for (guint i = 0; i < 2; i++) {
    self->pipe[i] = pipe[i];
    g_unix_set_fd_nonblocking (pipe[i], TRUE, NULL);
  }
  g_mutex_init (&self->lock);
  return self;
}

void
gst_spdl_binding_queue_unref (GstSpdlBindingQueue *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  g_clear_object (&self->cancellable);
  g_mutex_clear (&self->lock);
  close (self->pipe[0]);
  close (self->pipe[1]);
  g_free (self);
}

int
gst_spdl_binding_queue_get_fd (GstSpdlBindingQueue *self)
{
  return self->pipe[0];
}

static void
wake (GstSpdlBindingQueue *self)
{
  /* A full pipe is readable. */
  while (write (self->pipe[1], "", 1) < 0 && errno == EINTR)
    continue;
}

static void
begin_task (GstSpdlTask *task, gpointer user_data)
{
  GstSpdlBindingQueue *self = user_data;
  gboolean was_empty;

  g_mutex_lock (&self->lock);
  was_empty = g_queue_is_empty (&self->tasks);
  g_queue_push_tail (&self->tasks, task);
  g_mutex_unlock (&self->lock);
  if (was_empty)
    wake (self);
}

static void
on_cancelled (GCancellable *cancellable, gpointer user_data)
{
  GstSpdlBindingQueue *self = user_data;

  (void) cancellable;
  g_mutex_lock (&self->lock);
  self->is_cancelled = TRUE;
  g_mutex_unlock (&self->lock);
  wake (self);
}

static void
leave_element (gpointer user_data)
{
  GstSpdlBindingQueue *self = user_data;

  g_cancellable_disconnect (self->cancellable, self->handler);
  g_atomic_pointer_set (&self->element, NULL);
  gst_spdl_binding_push_finished (self->id);
  gst_spdl_binding_queue_unref (self);
}

GstSpdlBindingStatus
gst_spdl_binding_set_queue (
    GstBin *pipeline, const gchar *name, GstSpdlBindingQueue *self)
{
  GstSpdlBindingStatus status;
  g_autoptr (GstElement) element =
      gst_spdl_binding_find (pipeline, name, "spdlpipe", &status);
  GstSpdlStage *stage;

  if (!element)
    return status;
  stage = GST_SPDL_STAGE (element);
  self->element = element;
  self->cancellable =
      g_object_ref (gst_spdl_stage_get_private (stage)->cancellable);
  self->handler = g_cancellable_connect (
      self->cancellable, G_CALLBACK (on_cancelled), self, NULL);
  g_atomic_int_inc (&self->n_refs);
  gst_spdl_stage_set_begin (stage, begin_task, self, leave_element);
  return status;
}

gboolean
gst_spdl_binding_queue_clear (GstSpdlBindingQueue *self, guint64 *timeout)
{
  gchar bytes[64];
  gboolean was_cancelled;
  gssize n;

  do
    n = read (self->pipe[0], bytes, sizeof bytes);
  while (n == sizeof bytes || (n < 0 && errno == EINTR));
  g_mutex_lock (&self->lock);
  was_cancelled = self->is_cancelled;
  self->is_cancelled = FALSE;
  /* An element with tasks does not go. */
  *timeout = 0;
  if (!g_queue_is_empty (&self->tasks))
    g_object_get (self->element, "task-timeout", timeout, NULL);
  g_mutex_unlock (&self->lock);
  return was_cancelled;
}

static GstSpdlTask *
pop_task (GstSpdlBindingQueue *self)
{
  GstSpdlTask *task;

  g_mutex_lock (&self->lock);
  task = self->is_cancelled ? NULL : g_queue_pop_head (&self->tasks);
  g_mutex_unlock (&self->lock);
  return task;
}

GstSpdlTask *
gst_spdl_binding_queue_take (GstSpdlBindingQueue *self, GstSample **sample)
{
  GstSpdlTask *task;
  GstBuffer *item;
  GError *error = NULL;

  /* A thread of the stage may put an item in after it was cancelled. */
  while ((task = pop_task (self)) &&
         g_cancellable_set_error_if_cancelled (self->cancellable, &error))
    gst_spdl_task_finish (task, g_steal_pointer (&error));
  if (!task)
    return NULL;
  item = gst_spdl_task_take_item (task);
  *sample = gst_sample_new (item, gst_spdl_task_get_caps (task), NULL, NULL);
  gst_buffer_unref (item);
  return task;
}

static void
push_results (GstSpdlTask *task, GstSample *result)
{
  GstBufferList *list = gst_sample_get_buffer_list (result);
  GstBuffer *buffer = gst_sample_get_buffer (result);
  GstCaps *caps = gst_sample_get_caps (result);

  for (guint i = 0; list && i < gst_buffer_list_length (list); i++)
    gst_spdl_task_push (
        task, gst_buffer_ref (gst_buffer_list_get (list, i)), caps);
  if (!list && buffer)
    gst_spdl_task_push (task, gst_buffer_ref (buffer), caps);
}

void
gst_spdl_binding_task_finish (
    GstSpdlTask *task, GstSample *result, guint64 cpu_time)
{
  GstSpdlStagePrivate *priv =
      gst_spdl_stage_get_private (gst_spdl_task_get_stage (task));
  const gchar *failure = result ? gst_spdl_sample_get_failure (result) : NULL;
  GError *error = NULL;

  __atomic_fetch_add (&priv->process_cpu_time, cpu_time, __ATOMIC_RELAXED);
  if (failure)
    error = g_error_new_literal (
        GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, failure);
  else if (result)
    push_results (task, result);
  gst_spdl_task_finish (task, error);
  if (result)
    gst_sample_unref (result);
}
