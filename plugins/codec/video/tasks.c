/* gst-spdl: streaming tasks in the calling thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/tasks.h"

/* What a task was to be run with. It holds a reference to the task, which
 * @func gives back. */
typedef struct {
  GstTaskPoolFunction func;
  GstTask *task;
} Entry;

struct _SpdlTasks {
  GstTaskPool parent;

  GArray *entries;
};

G_DEFINE_FINAL_TYPE (SpdlTasks, spdl_tasks, GST_TYPE_TASK_POOL)

SpdlTasks *
spdl_tasks_new (void)
{
  return gst_object_ref_sink (g_object_new (SPDL_TYPE_TASKS, NULL));
}

static void
spdl_tasks_prepare (GstTaskPool *pool, GError **error)
{
}

static void
spdl_tasks_cleanup (GstTaskPool *pool)
{
}

static gpointer
spdl_tasks_push (GstTaskPool *pool, GstTaskPoolFunction func,
    gpointer user_data, GError **error)
{
  const Entry entry = { func, user_data };

  g_array_append_val (SPDL_TASKS (pool)->entries, entry);
  return NULL;
}

static void
spdl_tasks_join (GstTaskPool *pool, gpointer id)
{
}

gboolean
spdl_tasks_run (SpdlTasks *self)
{
  gboolean ran = FALSE;

  for (guint i = 0; i < self->entries->len; i++) {
    GstTask *task = g_array_index (self->entries, Entry, i).task;

    if (GST_TASK_STATE (task) != GST_TASK_STARTED)
      continue;
    g_rec_mutex_lock (GST_TASK_GET_LOCK (task));
    task->func (task->user_data);
    g_rec_mutex_unlock (GST_TASK_GET_LOCK (task));
    ran = TRUE;
  }
  return ran;
}

void
spdl_tasks_stop (SpdlTasks *self)
{
  for (guint i = 0; i < self->entries->len; i++) {
    const Entry entry = g_array_index (self->entries, Entry, i);

    /* A task that is stopped only says that it does not run. */
    gst_task_stop (entry.task);
    entry.func (entry.task);
  }
  g_array_set_size (self->entries, 0);
}

static void
spdl_tasks_finalize (GObject *object)
{
  g_array_unref (SPDL_TASKS (object)->entries);
  G_OBJECT_CLASS (spdl_tasks_parent_class)->finalize (object);
}

static void
spdl_tasks_class_init (SpdlTasksClass *klass)
{
  GstTaskPoolClass *pool_class = GST_TASK_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = spdl_tasks_finalize;
  pool_class->prepare = spdl_tasks_prepare;
  pool_class->cleanup = spdl_tasks_cleanup;
  pool_class->push = spdl_tasks_push;
  pool_class->join = spdl_tasks_join;
}

static void
spdl_tasks_init (SpdlTasks *self)
{
  self->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
}
