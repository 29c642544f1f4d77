/* gst-spdl: pipeline runs in tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/run.h"
#include "tests/check/support/errors.h"

static void
unref_object (gpointer object)
{
  gst_mini_object_unref (object);
}

static void
free_structure (gpointer structure)
{
  gst_structure_free (structure);
}

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Run *run = user_data;
  guint n;

  g_ptr_array_add (
      run->stream, gst_mini_object_ref (GST_PAD_PROBE_INFO_DATA (info)));
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    g_ptr_array_add (
        run->buffers, gst_buffer_ref (GST_PAD_PROBE_INFO_BUFFER (info)));
    g_ptr_array_add (run->caps, gst_pad_get_current_caps (pad));
  } else if (gst_spdl_event_parse_epoch (
                 GST_PAD_PROBE_INFO_EVENT (info), NULL, NULL, NULL)) {
    run->n_epochs++;
  } else if (gst_spdl_event_parse_items_dropped (
                 GST_PAD_PROBE_INFO_EVENT (info), NULL, NULL, NULL, &n, NULL)) {
    run->n_dropped += n;
  }
  return GST_PAD_PROBE_OK;
}

static void
note_text (Run *run, GstMessage *message)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning (message, &error, NULL);
    g_ptr_array_add (run->warnings, errors_format (error));
  } else {
    gst_message_parse_error (message, &error, NULL);
    fail_unless (
        run->error == NULL, "two errors: %s; %s", run->error, error->message);
    run->error = errors_format (error);
  }
  g_error_free (error);
}

/* Records a message. Returns whether it is the last one. */
static gboolean
note (Run *run, GstMessage *message)
{
  const GstStructure *s = gst_message_get_structure (message);

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      return TRUE;
    case GST_MESSAGE_ERROR:
    case GST_MESSAGE_WARNING:
      note_text (run, message);
      return FALSE;
    default:
      if (s && gst_structure_has_name (s, "spdl-item-failed"))
        g_ptr_array_add (run->failures, gst_structure_copy (s));
      return FALSE;
  }
}

Run *
run_pipeline (const gchar *format, ...)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GError) error = NULL;
  Run *run = g_new0 (Run, 1);
  GstElement *pipeline, *sink;
  GstPad *pad;
  GstBus *bus;
  gboolean ended = FALSE;
  va_list args;

  run->stream = g_ptr_array_new_with_free_func (unref_object);
  run->buffers = g_ptr_array_new_with_free_func (unref_object);
  run->caps = g_ptr_array_new_with_free_func (unref_object);
  run->failures = g_ptr_array_new_with_free_func (free_structure);
  run->warnings = g_ptr_array_new_with_free_func (g_free);
  va_start (args, format);
  description = g_strdup_vprintf (format, args);
  va_end (args);

  pipeline = gst_parse_launch (description, &error);
  fail_unless (
      error == NULL, "%s: %s", description, error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data,
      run, NULL);
  bus = gst_element_get_bus (pipeline);
  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE)
    ended = TRUE;
  while (!ended) {
    /* After an error, EOS may not reach the application. */
    GstMessage *message =
        gst_bus_timed_pop (bus, (run->error ? 2 : 60) * GST_SECOND);

    fail_unless (message != NULL || run->error, "no end: %s", description);
    ended = message == NULL || note (run, message);
    gst_clear_message (&message);
  }
  for (GstMessage *message; (message = gst_bus_pop (bus));) {
    note (run, message);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return run;
}

void
run_free (Run *run)
{
  g_ptr_array_unref (run->stream);
  g_ptr_array_unref (run->buffers);
  g_ptr_array_unref (run->caps);
  g_ptr_array_unref (run->failures);
  g_ptr_array_unref (run->warnings);
  g_free (run->error);
  g_free (run);
}

const GstSpdlItemMeta *
run_item (Run *run, guint i)
{
  return gst_spdl_buffer_get_item_meta (g_ptr_array_index (run->buffers, i));
}

GstSpdlBatchMeta *
run_batch (Run *run, guint i)
{
  return gst_spdl_buffer_get_batch_meta (g_ptr_array_index (run->buffers, i));
}

void
run_expect_error (Run *run, const gchar *parts)
{
  fail_unless (
      run->error && errors_text_has (run->error, parts), "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 0);
  run_free (run);
}

const gchar *
run_failure_text (Run *run, guint i)
{
  GError *error = NULL;
  g_autofree gchar *text = NULL;

  gst_structure_get (g_ptr_array_index (run->failures, i), "error",
      G_TYPE_ERROR, &error, NULL);
  text = errors_format (error);
  g_error_free (error);
  return g_intern_string (text);
}

GBytes *
run_get_tensor (GstBuffer *buffer, const gchar *name)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  for (guint t = 0; t < batch->num_tensors; t++) {
    GstMapInfo map;
    GBytes *bytes;

    if (!g_str_equal (gst_spdl_batch_meta_get_name (batch, t), name))
      continue;
    fail_unless (gst_buffer_map_range (buffer, t, 1, &map, GST_MAP_READ));
    bytes = g_bytes_new (map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    return bytes;
  }
  fail ("there is no tensor %s", name);
  return NULL;
}
