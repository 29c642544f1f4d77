/* gst-spdl: time per item in one element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/benchmarks/measure-element.h"

#include <gst/spdl/spdl.h>
#include <stdlib.h>

#include "tests/benchmarks/cpu-seconds.h"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

typedef struct {
  GMutex lock;
  GCond cond;
  gboolean eos;
  guint64 n_items;
} Counter;

static GstFlowReturn
count (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Counter *counter = gst_pad_get_element_private (pad);

  counter->n_items++;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
on_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Counter *counter = gst_pad_get_element_private (pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    g_mutex_lock (&counter->lock);
    counter->eos = TRUE;
    g_cond_signal (&counter->cond);
    g_mutex_unlock (&counter->lock);
  }
  gst_event_unref (event);
  return TRUE;
}

static void
push_items (GstPad *pad, guint64 n)
{
  GstSegment segment;

  gst_pad_push_event (pad, gst_event_new_stream_start ("bench"));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  for (guint64 i = 0; i < n; i++) {
    GstBuffer *buffer = gst_buffer_new ();
    GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (buffer);

    meta->index = meta->sequence = i;
    gst_pad_push (pad, buffer);
  }
  gst_pad_push_event (pad, gst_event_new_eos ());
}

double
measure_element (GstElement *element, guint64 n)
{
  Counter counter = { 0 };
  GstPad *src = gst_pad_new_from_static_template (&src_template, "src");
  GstPad *sink = gst_pad_new_from_static_template (&sink_template, "sink");
  GstPad *in = gst_element_get_static_pad (element, "sink");
  GstPad *out = gst_element_get_static_pad (element, "src");
  double before;

  gst_pad_set_element_private (sink, &counter);
  gst_pad_set_chain_function (sink, count);
  gst_pad_set_event_function (sink, on_event);
  gst_pad_link (src, in);
  gst_pad_link (out, sink);
  gst_pad_set_active (sink, TRUE);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_pad_set_active (src, TRUE);

  before = cpu_seconds ();
  push_items (src, n);
  g_mutex_lock (&counter.lock);
  while (!counter.eos)
    g_cond_wait (&counter.cond, &counter.lock);
  g_mutex_unlock (&counter.lock);
  const double cost = (cpu_seconds () - before) * 1e6 / n;

  if (counter.n_items != n) {
    g_printerr ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " came out\n",
        counter.n_items, n);
    exit (1);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_pad_set_active (src, FALSE);
  gst_pad_set_active (sink, FALSE);
  gst_object_unref (in);
  gst_object_unref (out);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (element);
  return cost;
}

GstElement *
measure_make (const gchar *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);

  if (!element) {
    g_printerr ("no element %s: run this in `meson devenv -C build`\n", name);
    exit (1);
  }
  return element;
}

int
measure_compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}
