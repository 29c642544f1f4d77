/* gst-spdl: helpers of the tests of worker processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/ipc/worker-tools.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/wait.h"

#include <string.h>

GstElement *
worker_make (const gchar *format, ...)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GError) error = NULL;
  GstElement *pipeline;
  va_list args;

  va_start (args, format);
  description = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (description, &error);
  fail_unless (!error, "%s: %s", description, error ? error->message : "");
  return pipeline;
}

void
worker_play (GstElement *pipeline)
{
  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) !=
               GST_STATE_CHANGE_FAILURE);
  /* Wait until the worker plays, or has failed. */
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
}

void
worker_stop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

static GstMessage *
wait_for (GstElement *pipeline, GstMessageType types)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, types);

  fail_unless (message != NULL, "neither an error nor an end");
  gst_object_unref (bus);
  return message;
}

void
worker_run_to_end (GstElement *pipeline)
{
  GstMessage *message;

  worker_play (pipeline);
  message = wait_for (pipeline, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
}

static void
unref_buffer (gpointer buffer)
{
  gst_buffer_unref (buffer);
}

GstBuffer *
worker_pull (GstElement *pipeline)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;
  GstBuffer *buffer = NULL;

  g_signal_emit_by_name (
      sink, "try-pull-sample", (guint64) 60 * GST_SECOND, &sample);
  if (sample) {
    buffer = gst_buffer_ref (gst_sample_get_buffer (sample));
    gst_sample_unref (sample);
  }
  gst_object_unref (sink);
  return buffer;
}

GPtrArray *
worker_pull_all (GstElement *pipeline)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (unref_buffer);
  GstBuffer *buffer;

  worker_play (pipeline);
  while ((buffer = worker_pull (pipeline)))
    g_ptr_array_add (all, buffer);
  return all;
}

void
worker_drop_batches (GstElement *pipeline, guint n)
{
  for (; n > 0; n--) {
    GstBuffer *buffer = worker_pull (pipeline);

    fail_unless (buffer != NULL);
    gst_buffer_unref (buffer);
  }
}

gchar *
worker_take_error (GstElement *pipeline)
{
  GstMessage *message = wait_for (pipeline, GST_MESSAGE_ERROR);
  GError *error = NULL;
  GstBus *bus;
  gchar *text;

  gst_message_parse_error (message, &error, NULL);
  text = errors_format (error);
  g_error_free (error);
  gst_message_unref (message);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message == NULL, "a second error: %" GST_PTR_FORMAT, message);
  gst_object_unref (bus);
  return text;
}

guint
worker_count_warnings (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    n++;
  }
  gst_object_unref (bus);
  return n;
}

static GstStructure *
get_figures (GstElement *pipeline)
{
  GstElement *worker = gst_bin_get_by_name (GST_BIN (pipeline), "worker");
  GstStructure *figures = NULL;

  g_object_get (worker, "stage-stats", &figures, NULL);
  gst_object_unref (worker);
  return figures;
}

guint64
worker_get_figure (GstElement *pipeline, const gchar *name)
{
  GstStructure *figures = get_figures (pipeline);
  guint64 figure = 0;
  guint small = 0;

  fail_unless (gst_structure_get_uint64 (figures, name, &figure) ||
                   gst_structure_get_uint (figures, name, &small),
      "there is no %s", name);
  gst_structure_free (figures);
  return MAX (figure, small);
}

pid_t
worker_get_pid (GstElement *pipeline)
{
  return worker_get_figure (pipeline, "pid");
}

gboolean
worker_is_alive (pid_t pid)
{
  g_autofree gchar *path = g_strdup_printf ("/proc/%d/stat", (int) pid);
  g_autofree gchar *text = NULL;
  const gchar *name;

  return g_file_get_contents (path, &text, NULL, NULL) &&
         (name = strrchr (text, ')')) && name[2] != 'Z';
}

static void
note_items (GstBuffer *batch, guint *seen, guint n)
{
  const GstSpdlBatchMeta *meta = gst_spdl_buffer_get_batch_meta (batch);
  GstMapInfo map;

  fail_unless (meta != NULL);
  fail_unless_equals_string (meta->names[meta->num_tensors - 1], "indices");
  fail_unless (gst_buffer_map_range (
      batch, meta->num_tensors - 1, 1, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, meta->num_items * sizeof (gint64));
  for (guint i = 0; i < meta->num_items; i++) {
    gint64 index;

    memcpy (&index, map.data + i * sizeof index, sizeof index);
    fail_unless (index >= 0 && index < n);
    fail_unless_equals_uint64 (index, meta->items[i].index);
    seen[index]++;
  }
  gst_buffer_unmap (batch, &map);
}

void
worker_assert_items_once (GPtrArray *batches, guint n)
{
  g_autofree guint *seen = g_new0 (guint, n);

  for (guint i = 0; i < batches->len; i++)
    note_items (g_ptr_array_index (batches, i), seen, n);
  for (guint i = 0; i < n; i++)
    fail_unless (seen[i] == 1, "item %u came %u times", i, seen[i]);
}

guint
worker_get_cycles (guint usual)
{
  const gchar *given = g_getenv ("SPDL_CYCLES");

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  /* With sanitizers, processes take seconds to start. */
  usual = MAX (usual / 5, 6);
#endif
  return given ? (guint) atoi (given) : usual;
}

static guint
count_entries (const gchar *path)
{
  GDir *folder = g_dir_open (path, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (folder))
    n++;
  g_dir_close (folder);
  return n;
}

static guint
count_lines (const gchar *path, const gchar *word)
{
  g_autofree gchar *text = NULL;
  guint n = 0;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  for (const gchar *at = text; (at = strstr (at, word)); at++)
    n++;
  return n;
}

static guint
count_children (void)
{
  g_autofree gchar *text = NULL;
  guint n = 0;

  /* Only the children of this thread are counted: those of other threads exit
   * before them. */
  if (g_file_get_contents ("/proc/thread-self/children", &text, NULL, NULL))
    for (const gchar *at = text; (at = strchr (at, ' ')); at++)
      n++;
  return n;
}

WorkerTraces
worker_get_traces (void)
{
  return (WorkerTraces){ count_entries ("/proc/self/fd"),
    count_entries ("/proc/self/task"),
    count_lines ("/proc/self/maps", "memfd:spdl-slab"), count_children () };
}

void
worker_assert_traces (const WorkerTraces *before)
{
  /* A joined thread may still be exiting. */
  wait_until (worker_get_traces ().n_fds <= before->n_fds);
  wait_until (worker_get_traces ().n_threads <= before->n_threads);
  wait_until (worker_get_traces ().n_slabs <= before->n_slabs);
  wait_until (worker_get_traces ().n_children <= before->n_children);
}
