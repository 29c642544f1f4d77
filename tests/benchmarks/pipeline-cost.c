/* gst-spdl: CPU time per image of a whole pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Runs a pipeline with a sink named `sink`. It prints the CPU time of the
 * process and the wall-clock time per item at the sink, in us, after the first
 * epoch, which is the warm-up.
 *
 *     pipeline-cost 'PIPELINE with epochs=N' */

#include <gst/gst.h>
#include <gst/spdl/spdl.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/benchmarks/cpu-seconds.h"

static guint64 n_items;
static guint64 n_counted;
static double counted_from;
static gint64 started_at;

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  guint64 epoch;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstSpdlBatchMeta *batch =
        gst_spdl_buffer_get_batch_meta (GST_PAD_PROBE_INFO_BUFFER (info));

    n_items += batch ? batch->num_items : 1;
  } else if (gst_spdl_event_parse_epoch (
                 GST_PAD_PROBE_INFO_EVENT (info), NULL, &epoch, NULL) &&
             epoch == 0) {
    n_counted = n_items;
    counted_from = cpu_seconds ();
    started_at = g_get_monotonic_time ();
  }
  return GST_PAD_PROBE_OK;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline, *sink;
  GstMessage *message;
  GstPad *pad;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: pipeline-cost PIPELINE\n");
    return 2;
  }
  pipeline = gst_parse_launch (argv[1], &error);
  if (error) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  sink = GST_IS_BIN (pipeline)
             ? gst_bin_get_by_name (GST_BIN (pipeline), "sink")
             : NULL;
  if (!sink) {
    g_printerr ("the pipeline has no sink named `sink`\n");
    return 2;
  }
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data,
      NULL, NULL);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
      GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const double used = cpu_seconds () - counted_from;
  const gint64 elapsed = g_get_monotonic_time () - started_at;
  const gboolean ok =
      GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS && n_items > n_counted;
  if (ok)
    printf ("%.2f %.2f\n", used * 1e6 / (n_items - n_counted),
        (double) elapsed / (n_items - n_counted));
  else
    g_printerr ("the pipeline failed, or had a single epoch\n");

  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return ok ? 0 : 1;
}
