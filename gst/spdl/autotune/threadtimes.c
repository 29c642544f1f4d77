/* gst-spdl: CPU time of the streaming threads of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/threadtimes.h"

#include "gst/spdl/engine/clock.h"
#include "gst/spdl/gstspdlcpus.h"

typedef struct {
  pthread_t id;
  guint64 before; /* CPU time at entry */
} Thread;

void
gst_spdl_thread_times_init (GstSpdlThreadTimes *self)
{
  spdl_mutex_init (&self->lock);
  self->running = g_array_new (FALSE, FALSE, sizeof (Thread));
  self->of_ended = 0;
}

void
gst_spdl_thread_times_clear (GstSpdlThreadTimes *self)
{
  g_array_unref (self->running);
  spdl_mutex_clear (&self->lock);
}

static guint64
read_clock (pthread_t id)
{
  struct timespec ts;

  return spdl_compat_get_thread_time (id, &ts) ? spdl_timespec_to_ns (&ts) : 0;
}

static void
enter_thread (GstSpdlThreadTimes *self)
{
  const Thread thread = { pthread_self (), read_clock (pthread_self ()) };

  spdl_mutex_lock (&self->lock);
  g_array_append_val (self->running, thread);
  spdl_mutex_unlock (&self->lock);
}

static void
leave_thread (GstSpdlThreadTimes *self)
{
  spdl_mutex_lock (&self->lock);
  for (guint i = self->running->len; i > 0; i--) {
    const Thread *thread = &g_array_index (self->running, Thread, i - 1);

    if (!pthread_equal (thread->id, pthread_self ()))
      continue;
    self->of_ended += read_clock (thread->id) - thread->before;
    g_array_remove_index_fast (self->running, i - 1);
    break;
  }
  spdl_mutex_unlock (&self->lock);
}

void
gst_spdl_thread_times_take_message (
    GstSpdlThreadTimes *self, GstMessage *message)
{
  GstStreamStatusType type;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_STREAM_STATUS)
    return;
  gst_message_parse_stream_status (message, &type, NULL);
  if (type == GST_STREAM_STATUS_TYPE_ENTER)
    enter_thread (self);
  else if (type == GST_STREAM_STATUS_TYPE_LEAVE)
    leave_thread (self);
}

guint64
gst_spdl_thread_times_get (GstSpdlThreadTimes *self)
{
  guint64 sum;

  spdl_mutex_lock (&self->lock);
  sum = self->of_ended;
  for (guint i = 0; i < self->running->len; i++) {
    const Thread *thread = &g_array_index (self->running, Thread, i);

    sum += read_clock (thread->id) - thread->before;
  }
  spdl_mutex_unlock (&self->lock);
  return sum;
}

GstStructure *
gst_spdl_thread_times_get_cpu_stats (GstSpdlThreadTimes *self)
{
  GstStructure *s = gst_spdl_dup_cpu_stats ();

  gst_structure_set (
      s, "loading-time", G_TYPE_UINT64, gst_spdl_thread_times_get (self), NULL);
  return s;
}
