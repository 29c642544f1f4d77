/* gst-spdl: benchmark of the overhead of spdlmix and spdlroute per item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* CPU time per item of spdlmix compared with funnel, from one thread and from
 * three concurrent threads, and of spdlroute compared with tee and
 * output-selector. Buffers have item metas, and statistics are on. All results
 * include the same cost of pushing buffers.
 *
 *     bench-mix [ITEMS [ROUNDS]]
 *
 * Each round measures all elements in turn. Medians are printed, with their
 * spread. */

#include <gst/spdl/spdl.h>
#include <stdlib.h>

#include "tests/benchmarks/cpu-seconds.h"
#include "tests/benchmarks/measure-element.h"

#define MAX_ROUNDS 100
#define MAX_PADS 3

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

typedef struct {
  const gchar *name;
  const gchar *factory;
  const gchar *property;
  const gchar *value;
  const gchar *when; /* condition of each path but the last one */
  guint n_pads;
} Kind;

static const Kind kinds[] = {
  { "funnel, 1 thread", "funnel", NULL, NULL, NULL, 1 },
  { "spdlmix arrival, 1 thread", "spdlmix", "order", "arrival", NULL, 1 },
  { "spdlmix weighted, 1 thread", "spdlmix", "order", "weighted", NULL, 1 },
  { "funnel, 3 threads", "funnel", NULL, NULL, NULL, 3 },
  { "spdlmix arrival, 3 threads", "spdlmix", "order", "arrival", NULL, 3 },
  { "spdlmix weighted, 3 threads", "spdlmix", "order", "weighted", NULL, 3 },
  { "tee, to one of two", "tee", "allow-not-linked", "true", NULL, 2 },
  { "output-selector", "output-selector", NULL, NULL, NULL, 2 },
  { "spdlroute, by label", "spdlroute", NULL, NULL, "label=1", 2 },
  { "spdlroute, by URI", "spdlroute", NULL, NULL, "uri=*.png", 2 },
};

typedef struct {
  GstPad *pad;
  guint64 n;
} Push;

static GstFlowReturn
drop (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gpointer
push_items (gpointer data)
{
  Push *push = data;

  for (guint64 i = 0; i < push->n; i++) {
    GstBuffer *buffer = gst_buffer_new ();
    GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (buffer);

    meta->index = meta->sequence = i;
    meta->label = i % 2;
    gst_pad_push (push->pad, buffer);
  }
  gst_pad_push_event (push->pad, gst_event_new_eos ());
  return NULL;
}

static void
begin_stream (GstPad *pad)
{
  GstSegment segment;

  gst_pad_push_event (pad, gst_event_new_stream_start ("bench"));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
}

/* Returns a new pad, linked to @other. */
static GstPad *
attach (GstPad *other)
{
  const gboolean is_sink = gst_pad_get_direction (other) == GST_PAD_SRC;
  GstPad *pad = gst_pad_new_from_static_template (
      is_sink ? &sink_template : &src_template, NULL);

  if (is_sink)
    gst_pad_set_chain_function (pad, drop);
  if (is_sink)
    gst_pad_link (other, pad);
  else
    gst_pad_link (pad, other);
  gst_pad_set_active (pad, TRUE);
  gst_object_unref (other);
  return pad;
}

static void
detach (GstPad *pad)
{
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (pad);
}

static double
push_all (GstPad **pads, guint n_pads, guint64 n)
{
  GThread *threads[MAX_PADS];
  Push pushes[MAX_PADS];
  const double before = cpu_seconds ();

  for (guint i = 0; i < n_pads; i++) {
    pushes[i] = (Push){ pads[i], n / n_pads };
    threads[i] = g_thread_new ("push", push_items, &pushes[i]);
  }
  for (guint i = 0; i < n_pads; i++)
    g_thread_join (threads[i]);
  return (cpu_seconds () - before) * 1e6 / n;
}

static double
measure (const Kind *kind, guint64 n)
{
  GstElement *element = gst_object_ref_sink (measure_make (kind->factory));
  GstPad *in = gst_element_get_static_pad (element, "sink");
  GstPad *ins[MAX_PADS], *outs[MAX_PADS];
  const guint n_ins = in ? 1 : kind->n_pads, n_outs = in ? kind->n_pads : 1;
  double cost;

  if (kind->property)
    gst_util_set_object_arg (G_OBJECT (element), kind->property, kind->value);
  for (guint i = 0; i < n_ins; i++)
    ins[i] =
        attach (in ? in : gst_element_request_pad_simple (element, "sink_%u"));
  for (guint i = 0; i < n_outs; i++) {
    GstPad *out = in ? gst_element_request_pad_simple (element, "src_%u")
                     : gst_element_get_static_pad (element, "src");

    if (kind->when && i + 1 < n_outs)
      g_object_set (out, "condition", kind->when, NULL);
    /* Tee copies to each pad, so with a single one it does as much as the
     * others. */
    outs[i] = g_str_equal (kind->factory, "tee") && i > 0 ? out : attach (out);
  }
  gst_element_set_state (element, GST_STATE_PLAYING);
  for (guint i = 0; i < n_ins; i++)
    begin_stream (ins[i]);
  cost = push_all (ins, n_ins, n);
  gst_element_set_state (element, GST_STATE_NULL);
  for (guint i = 0; i < n_ins; i++)
    detach (ins[i]);
  for (guint i = 0; i < n_outs; i++)
    detach (outs[i]);
  gst_object_unref (element);
  return cost;
}

int
main (int argc, char **argv)
{
  double costs[G_N_ELEMENTS (kinds)][MAX_ROUNDS];

  gst_init (&argc, &argv);
  const guint64 n = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 300000;
  const guint rounds = argc > 2 ? CLAMP (atoi (argv[2]), 1, MAX_ROUNDS) : 9;

  for (guint r = 0; r < rounds; r++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      costs[k][r] = measure (&kinds[k], n);
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    qsort (costs[k], rounds, sizeof costs[k][0], measure_compare);
    g_print ("%s: %.2f us (%.2f to %.2f)\n", kinds[k].name,
        costs[k][rounds / 2], costs[k][0], costs[k][rounds - 1]);
  }
  return 0;
}
