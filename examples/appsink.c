/* gst-spdl: batches from appsink in C
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Loads a folder of JPEGs and takes the batches with appsink's API:
 *
 *     appsink FOLDER
 *
 * Prints the shape, the labels and the mean of each batch. Exits nonzero if the
 * pipeline ended with an error. */

#include <gst/app/gstappsink.h>
#include <gst/spdl/spdl.h>

static void
print_batch (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  g_autoptr (GError) error = NULL;
  GstSpdlTensorsInfo info;
  GstMapInfo map;
  guint64 sum = 0;

  if (!gst_spdl_tensors_info_from_caps (
          &info, gst_sample_get_caps (sample), &error)) {
    g_printerr ("%s\n", error->message);
    return;
  }
  /* Each tensor is a separate memory; mapping it does not copy. */
  gst_memory_map (gst_buffer_peek_memory (buffer, 0), &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++)
    sum += map.data[i];
  g_autofree gchar *shape = gst_spdl_tensor_info_to_string (&info.tensors[0]);
  g_print ("%s: %s, mean %.1f, labels", batch->names[0], shape,
      (double) sum / map.size);
  gst_memory_unmap (gst_buffer_peek_memory (buffer, 0), &map);
  for (guint i = 0; i < batch->num_items; i++)
    g_print (" %" G_GINT64_FORMAT, batch->items[i].label);
  g_print ("\n");
}

/* Prints the errors and returns whether there was one. */
static gboolean
print_messages (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean failed = FALSE;
  GstMessage *message;

  while ((message = gst_bus_pop (bus))) {
    const GstStructure *s = gst_message_get_structure (message);

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      g_autoptr (GError) error = NULL;

      gst_message_parse_error (message, &error, NULL);
      g_printerr ("error: %s\n", error->message);
      failed = TRUE;
    } else if (s && gst_structure_has_name (s, "spdl-item-failed")) {
      g_autoptr (GError) error = NULL;

      gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL);
      g_printerr (
          "%s: %s\n", gst_structure_get_string (s, "uri"), error->message);
    }
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return failed;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = NULL, source = NULL, sink = NULL;
  GstSample *sample;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: appsink FOLDER\n");
    return 2;
  }
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc name=source label=folder pattern=*.@(jpg|jpeg) "
      "! spdlfetch concurrency=4 "
      "! spdldecode concurrency=%u width=224 height=224 "
      "! spdlbatch batch-size=32 labels=true ! spdlsink name=sink",
      gst_spdl_get_num_cores ());
  if (!(pipeline = gst_parse_launch (description, &error))) {
    g_printerr ("error: %s\n", error->message);
    return 1;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (source, "location", argv[1], NULL);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink)))) {
    print_batch (sample);
    gst_sample_unref (sample);
  }
  const gboolean failed = print_messages (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return failed ? 1 : 0;
}
