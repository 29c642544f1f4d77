/* gst-spdl: threads of GStreamer's tasks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/taskthread.h"

#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/engine/sync.h"
#include "gst/spdl/stage/failure.h"

#define NAME "spdl-stream"
#define PURPOSE "a stream"

/* Runs one task, in a thread that waits for it. */
#define SPDL_TYPE_TASK_THREAD (spdl_task_thread_get_type ())
G_DECLARE_FINAL_TYPE (
    SpdlTaskThread, spdl_task_thread, SPDL, TASK_THREAD, GstTaskPool)

struct _SpdlTaskThread {
  GstTaskPool parent;
  GThread *thread; /* nullable: the task has it, or none could be created */
  gboolean has_failed;

  SpdlMutex lock; /* guards the following fields */
  SpdlCond wake;
  GstTaskPoolFunction func; /* nullable */
  gpointer user_data;
  gboolean quit;
};

G_DEFINE_FINAL_TYPE (SpdlTaskThread, spdl_task_thread, GST_TYPE_TASK_POOL)

static gpointer
run_task (gpointer data)
{
  SpdlTaskThread *self = data;
  GstTaskPoolFunction func;
  gpointer user_data;

  spdl_mutex_lock (&self->lock);
  while (!self->func && !self->quit)
    spdl_cond_wait (&self->wake, &self->lock);
  func = self->func;
  user_data = self->user_data;
  spdl_mutex_unlock (&self->lock);
  /* From here on, the task may free the pool. */
  if (func) {
    spdl_thread_begin_work ();
    func (user_data);
  }
  return NULL;
}

/* Resets a task whose thread could not be created: gst_task_join() would wait
 * for it. Object lock of the task held. */
static void
reset_task (GstTask *task)
{
  task->running = FALSE;
  /* The reference of the thread. */
  gst_object_unref (task);
}

/* Returns: (nullable): a thread that waits for the task. NULL without an error:
 * it was reported before. */
static GThread *
take_thread (SpdlTaskThread *self, GError **error)
{
  /* The task starts again after it has ended. */
  if (!self->thread && !self->has_failed) {
    self->func = NULL;
    self->thread = spdl_thread_try_new (NAME, PURPOSE, run_task, self, error);
  }
  return g_steal_pointer (&self->thread);
}

static gpointer
spdl_task_thread_push (GstTaskPool *pool, GstTaskPoolFunction func,
    gpointer user_data, GError **error)
{
  SpdlTaskThread *self = SPDL_TASK_THREAD (pool);
  GThread *thread = take_thread (self, error);

  if (!thread) {
    reset_task (GST_TASK (user_data));
    return NULL;
  }
  spdl_mutex_lock (&self->lock);
  self->func = func;
  self->user_data = user_data;
  spdl_cond_signal (&self->wake);
  spdl_mutex_unlock (&self->lock);
  return thread;
}

static void
spdl_task_thread_join (GstTaskPool *pool, gpointer id)
{
  if (id)
    g_thread_join (id);
}

static void
spdl_task_thread_dispose_handle (GstTaskPool *pool, gpointer id)
{
  if (id)
    g_thread_unref (id);
}

static void
spdl_task_thread_prepare_pool (GstTaskPool *pool, GError **error)
{
}

static void
spdl_task_thread_cleanup (GstTaskPool *pool)
{
}

static void
spdl_task_thread_finalize (GObject *object)
{
  SpdlTaskThread *self = SPDL_TASK_THREAD (object);

  /* The task was never started. */
  if (self->thread) {
    spdl_mutex_lock (&self->lock);
    self->quit = TRUE;
    spdl_cond_signal (&self->wake);
    spdl_mutex_unlock (&self->lock);
    g_thread_join (self->thread);
  }
  spdl_mutex_clear (&self->lock);
  spdl_cond_clear (&self->wake);
  G_OBJECT_CLASS (spdl_task_thread_parent_class)->finalize (object);
}

static void
spdl_task_thread_class_init (SpdlTaskThreadClass *klass)
{
  GstTaskPoolClass *pool_class = GST_TASK_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = spdl_task_thread_finalize;
  pool_class->prepare = spdl_task_thread_prepare_pool;
  pool_class->cleanup = spdl_task_thread_cleanup;
  pool_class->push = spdl_task_thread_push;
  pool_class->join = spdl_task_thread_join;
  pool_class->dispose_handle = spdl_task_thread_dispose_handle;
}

static void
spdl_task_thread_init (SpdlTaskThread *self)
{
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->wake);
}

/* Returns: (nullable): the task that the message announces, and its element */
static GstTask *
get_new_task (GstMessage *message, GstElement **owner)
{
  const GValue *object;
  GstStreamStatusType type;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_STREAM_STATUS)
    return NULL;
  gst_message_parse_stream_status (message, &type, owner);
  object = gst_message_get_stream_status_object (message);
  return type == GST_STREAM_STATUS_TYPE_CREATE && object &&
                 G_VALUE_HOLDS (object, GST_TYPE_TASK)
             ? g_value_get_object (object)
             : NULL;
}

static gboolean
is_prepared (GstTask *task)
{
  g_autoptr (GstTaskPool) pool = gst_task_get_pool (task);

  return SPDL_IS_TASK_THREAD (pool);
}

gboolean
spdl_task_thread_prepare (GstMessage *message, GError **error)
{
  GstElement *owner;
  GstTask *task = get_new_task (message, &owner);
  g_autofree gchar *purpose = NULL;
  SpdlTaskThread *self;
  gboolean ok;

  if (!task || is_prepared (task))
    return TRUE;
  purpose = g_strdup_printf (PURPOSE " of %s", GST_OBJECT_NAME (owner));
  self = g_object_new (SPDL_TYPE_TASK_THREAD, NULL);
  self->thread = spdl_thread_try_new (NAME, purpose, run_task, self, error);
  ok = self->thread != NULL;
  self->has_failed = !ok;
  gst_task_set_pool (task, GST_TASK_POOL (self));
  gst_object_unref (self);
  return ok;
}

gboolean
spdl_task_thread_is_missing (GstPad *pad)
{
  g_autoptr (GstTask) task = NULL;
  g_autoptr (GstTaskPool) pool = NULL;

  GST_OBJECT_LOCK (pad);
  if (GST_PAD_TASK (pad))
    task = gst_object_ref (GST_PAD_TASK (pad));
  GST_OBJECT_UNLOCK (pad);
  pool = task ? gst_task_get_pool (task) : NULL;
  return pool && SPDL_IS_TASK_THREAD (pool) &&
         SPDL_TASK_THREAD (pool)->has_failed;
}

GstStateChangeReturn
spdl_task_thread_check_start (GstElementClass *klass, GstElement *element,
    GstPad *pad, GstStateChange transition, GstStateChangeReturn ret)
{
  if (transition != GST_STATE_CHANGE_READY_TO_PAUSED ||
      ret == GST_STATE_CHANGE_FAILURE || !spdl_task_thread_is_missing (pad))
    return ret;
  klass->change_state (element, GST_STATE_CHANGE_PAUSED_TO_READY);
  return GST_STATE_CHANGE_FAILURE;
}

gboolean
spdl_task_thread_post_message (
    GstElementClass *klass, GstElement *element, GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  const gboolean ok = spdl_task_thread_prepare (message, &error);
  const gboolean posted = klass->post_message (element, message);

  if (!ok)
    gst_spdl_post_error (element, error);
  return posted;
}
