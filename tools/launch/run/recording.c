/* gst-spdl-launch: items that were recorded in front of an element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/recording.h"

#include <gio/gio.h>
#include <gst/app/gstappsrc.h>

#define POLL (50 * GST_MSECOND)

typedef struct {
  GMutex lock;
  GPtrArray *samples;
  guint n_wanted;
  gboolean ended;
} Recorder;

static GstBufferList *
copy_list (GstBufferList *list)
{
  return gst_buffer_list_copy_deep (list);
}

/* Lock held. */
static void
record (Recorder *self, GstPad *pad, GstPadProbeInfo *info)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstSample *sample;

  if (self->samples->len >= self->n_wanted)
    return;
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = copy_list (GST_PAD_PROBE_INFO_BUFFER_LIST (info));

    sample = gst_sample_new (NULL, caps, NULL, NULL);
    gst_sample_set_buffer_list (sample, list);
    gst_buffer_list_unref (list);
  } else {
    GstBuffer *buffer = gst_buffer_copy_deep (GST_PAD_PROBE_INFO_BUFFER (info));

    sample = gst_sample_new (buffer, caps, NULL, NULL);
    gst_buffer_unref (buffer);
  }
  g_ptr_array_add (self->samples, sample);
}

/* Nothing goes on to the element. */
static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Recorder *self = user_data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS) {
      g_mutex_lock (&self->lock);
      self->ended = TRUE;
      g_mutex_unlock (&self->lock);
    }
    return GST_PAD_PROBE_OK;
  }
  g_mutex_lock (&self->lock);
  record (self, pad, info);
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_DROP;
}

static gboolean
is_done (Recorder *self)
{
  gboolean done;

  g_mutex_lock (&self->lock);
  done = self->ended || self->samples->len >= self->n_wanted;
  g_mutex_unlock (&self->lock);
  return done;
}

static gboolean
wait_until_done (Recorder *self, GstElement *pipeline, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  while (!is_done (self)) {
    g_autoptr (GstMessage) message =
        gst_bus_timed_pop_filtered (bus, POLL, GST_MESSAGE_ERROR);

    if (message) {
      gst_message_parse_error (message, error, NULL);
      return FALSE;
    }
  }
  return TRUE;
}

GPtrArray *
recording_make (
    GstElement *pipeline, GstElement *element, guint n, GError **error)
{
  Recorder self = { .n_wanted = n };
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  gulong probe;
  gboolean ok;

  self.samples =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
  g_mutex_init (&self.lock);
  probe = gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST |
          GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_data, &self, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  ok = wait_until_done (&self, pipeline, error);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_pad_remove_probe (pad, probe);
  g_mutex_clear (&self.lock);
  if (ok && self.samples->len == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "no item came to %s",
        GST_OBJECT_NAME (element));
    ok = FALSE;
  }
  if (!ok)
    g_clear_pointer (&self.samples, g_ptr_array_unref);
  return self.samples;
}

/* Feeding */

struct _Feeder {
  GstAppSrc *appsrc;
  GPtrArray *samples;
  GThread *thread;
  gint stopped;
};

static gpointer
feed (gpointer data)
{
  Feeder *self = data;

  for (guint i = 0; !g_atomic_int_get (&self->stopped); i++) {
    GstSample *sample =
        g_ptr_array_index (self->samples, i % self->samples->len);

    /* Until it plays, and when it is stopped, it flushes. */
    if (gst_app_src_push_sample (self->appsrc, sample) != GST_FLOW_OK)
      g_usleep (1000);
  }
  return NULL;
}

Feeder *
feeder_new (GstElement *appsrc, GPtrArray *samples)
{
  Feeder *self = g_new0 (Feeder, 1);

  self->appsrc = GST_APP_SRC (gst_object_ref (appsrc));
  self->samples = g_ptr_array_ref (samples);
  self->thread = g_thread_new ("feed", feed, self);
  return self;
}

void
feeder_free (Feeder *self)
{
  g_atomic_int_set (&self->stopped, TRUE);
  g_thread_join (self->thread);
  gst_object_unref (self->appsrc);
  g_ptr_array_unref (self->samples);
  g_free (self);
}
