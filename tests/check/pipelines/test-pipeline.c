/* gst-spdl: tests of whole pipelines
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/app/gstappsink.h>
#include <unistd.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/heap.h"
#include "tests/check/support/run.h"
#include "tests/check/support/wait.h"

#define MAIN_JOB                                         \
  "spdlsrc name=src location=%s label=folder epochs=%d " \
  "! spdlfetch concurrency=%d output-order=%s "          \
  "! spdldecode concurrency=%d output-order=%s width=32 height=24 "

static gchar *
checksum (Run *run)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  gchar *text;

  for (guint i = 0; i < run->buffers->len; i++) {
    GstMapInfo map;

    gst_buffer_map (g_ptr_array_index (run->buffers, i), &map, GST_MAP_READ);
    g_checksum_update (sum, map.data, map.size);
    gst_buffer_unmap (g_ptr_array_index (run->buffers, i), &map);
  }
  text = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  return text;
}

/* Tests that input order gives the same bytes with any concurrency and in each
 * run. */
GST_START_TEST (test_same_bytes)
{
  static const gint concurrencies[] = { 1, 2, 8 };
  gchar *folder = files_make_dataset (60);
  g_autofree gchar *expected = NULL;

  for (guint i = 0; i < 20; i++) {
    const gint c = concurrencies[i % 3];
    Run *run = run_pipeline (MAIN_JOB "! spdlbatch batch-size=16 labels=true "
                                      "indices=true ! fakesink name=sink",
        folder, 1, c, "input", c, "input");
    g_autofree gchar *sum = checksum (run);

    fail_unless_equals_int (run->buffers->len, 4);
    fail_unless (run->error == NULL);
    if (!expected)
      expected = g_strdup (sum);
    fail_unless_equals_string (sum, expected);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that completion order gives the same set: each item once, with its own
 * pixels. */
GST_START_TEST (test_same_set)
{
  gchar *folder = files_make_dataset (60);
  Run *reference = run_pipeline (
      MAIN_JOB "! fakesink name=sink", folder, 1, 1, "input", 1, "input");

  for (guint i = 0; i < 20; i++) {
    Run *run = run_pipeline (MAIN_JOB "! fakesink name=sink", folder, 1,
        1 << i % 4, "completion", 1 << i % 4, "completion");
    gboolean seen[60] = { FALSE };

    fail_unless_equals_int (run->buffers->len, 60);
    for (guint k = 0; k < 60; k++) {
      const guint64 index = run_item (run, k)->index;
      GstMapInfo map;

      fail_if (seen[index]);
      seen[index] = TRUE;
      gst_buffer_map (g_ptr_array_index (run->buffers, k), &map, GST_MAP_READ);
      fail_unless (
          gst_buffer_memcmp (g_ptr_array_index (reference->buffers, index), 0,
              map.data, map.size) == 0);
      gst_buffer_unmap (g_ptr_array_index (run->buffers, k), &map);
    }
    run_free (run);
  }
  run_free (reference);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests bad files among good ones, with and without groups. The good files
 * arrive in full batches, and messages name the bad files. */
GST_START_TEST (test_bad_files)
{
  gchar *folder = files_make_dataset (40);
  g_autoptr (GBytes) jpeg = files_make_jpeg (60, 50, 1);
  gsize size;
  const guint8 *data = g_bytes_get_data (jpeg, &size);
  g_autofree guint8 *noise = g_malloc0 (3000);

  files_write (folder, "class-a/truncated.jpg", data, size / 2);
  files_write (folder, "class-b/empty.jpg", "", 0);
  files_write (folder, "class-b/noise.jpg", noise, 3000);
  files_write_text (folder, "class-c/README", "not a picture");
  for (guint grouped = 0; grouped < 2; grouped++) {
    Run *run =
        run_pipeline ("spdlsrc location=%s %s ! spdlfetch concurrency=2 "
                      "! %s ! spdldecode concurrency=2 width=16 height=16 "
                      "! spdlbatch batch-size=8 ! fakesink name=sink",
            folder, grouped ? "! spdlaggregate size=5" : "",
            grouped ? "identity" : "spdldisaggregate");

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->failures->len, 4);
    fail_unless_equals_int (run->n_dropped, 4);
    fail_unless_equals_int (run->buffers->len, 5);
    for (guint i = 0; i < 5; i++)
      fail_unless_equals_int (run_batch (run, i)->num_items, 8);
    for (guint i = 0; i < 4; i++) {
      const gchar *uri = gst_structure_get_string (
          g_ptr_array_index (run->failures, i), "uri");

      fail_unless (strstr (uri, "truncated") || strstr (uri, "empty") ||
                       strstr (uri, "noise") || strstr (uri, "README"),
          "%s", uri);
    }
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that all earlier batches come before the error. */
GST_START_TEST (test_budget)
{
  gchar *folder = files_make_dataset (40);
  Run *run;

  files_write_text (folder, "class-c/zzz.jpg", "no picture");
  run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch output-order=input "
      "! spdldecode output-order=input width=16 height=16 max-failures=0 "
      "! spdlbatch batch-size=8 ! fakesink name=sink",
      folder);
  fail_unless (
      run->error && errors_text_has (run->error, "zzz.jpg"), "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 5);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* gst-launch-1.0 is not built with the sanitizers. */
static gint
launch (const gchar *line)
{
  g_autofree gchar *command = g_strdup_printf ("gst-launch-1.0 -q %s", line);
  gint status = -1;

  fail_unless (g_spawn_command_line_sync (command, NULL, NULL, &status, NULL));
  return WEXITSTATUS (status);
}

/* Tests that gst-launch-1.0 returns nonzero after an error. */
GST_START_TEST (test_exit_status)
{
  gchar *folder = files_make_dataset (6);
  g_autofree gchar *good =
      g_strdup_printf ("spdlsrc location=%s ! spdlfetch "
                       "! spdldecode width=8 height=8 ! spdlbatch ! fakesink",
          folder);
  g_autofree gchar *bad = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch "
      "! spdldecode max-failures=0 width=8 height=8 ! spdlbatch ! fakesink",
      folder);
  g_autofree gchar *none = g_strdup_printf (
      "spdlsrc location=%s pattern=*.png ! spdlfetch ! fakesink", folder);

  fail_unless_equals_int (launch (good), 0);
  fail_if (launch (none) == 0);
  files_write_text (folder, "class-a/bad.jpg", "no picture");
  fail_unless_equals_int (launch (good), 0);
  fail_if (launch (bad) == 0);
  files_remove_folder (folder);
}

GST_END_TEST;

#endif

/* Tests the API of spdlsink, its statistics, and that its events are not in the
 * queue of appsink. */
GST_START_TEST (test_sink)
{
  gchar *folder = files_make_dataset (20);
  g_autofree gchar *description =
      g_strdup_printf (MAIN_JOB "! spdlbatch batch-size=4 ! spdlsink name=sink",
          folder, 2, 1, "input", 1, "input");
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;
  GstStructure *stats;
  guint64 n;
  gdouble rate;
  guint n_batches = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (TRUE) {
    g_signal_emit_by_name (sink, "pull-sample", &sample);
    if (!sample)
      break;
    n_batches++;
    gst_sample_unref (sample);
  }
  fail_unless_equals_int (n_batches, 10);
  /* No event of this plugin is in the queue. */
  GstMiniObject *object = gst_app_sink_try_pull_object (GST_APP_SINK (sink), 0);
  fail_unless (object == NULL || GST_IS_EVENT (object) == FALSE ||
               GST_EVENT_TYPE (object) != GST_EVENT_CUSTOM_DOWNSTREAM);
  gst_clear_mini_object (&object);

  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_object_get (sink, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "num-items", &n) && n == 40);
  fail_unless (gst_structure_get_uint64 (stats, "num-batches", &n) && n == 10);
  fail_unless (gst_structure_get_uint64 (stats, "ave-latency", &n) && n > 0);
  fail_unless (gst_structure_get_uint64 (stats, "p99-latency", &n) && n > 0);
  fail_unless (gst_structure_get_uint64 (stats, "ave-get-time", &n));
  fail_unless (gst_structure_get_double (stats, "occupancy-rate", &rate));
  gst_structure_free (stats);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

/* GstBaseSrc holds the element's state lock while downstream is full. Hence
 * this runs in a thread, and the consumer takes buffers until EOS. */
static gpointer
send_eos (gpointer src)
{
  gst_element_send_event (src, gst_event_new_eos ());
  gst_object_unref (src);
  return NULL;
}

/* Ends the stream at a random moment, with a flush from downstream, an EOS from
 * outside, an error or the state NULL. One stage is slow, and the consumer
 * stops after some buffers. */
static void
stop_at_random (GRand *rand, const gchar *folder, guint way)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc name=src location=%s epochs=-1 "
      "! spdlaggregate size=3 ! spdlfetch concurrency=3 ! spdldisaggregate "
      "! spdldecode concurrency=2 width=16 height=16 "
      "! spdlteststage name=slow concurrency=2 jitter=2000000 fail-every=9 "
      "max-failures=%d ! spdlbatch batch-size=4 ! spdlsink name=sink",
      folder, way == 3 ? 3 : -1);
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  const guint n_pulls = g_rand_int_range (rand, 0, 10);
  GThread *eos;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < n_pulls; i++) {
    GstSample *sample =
        gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 20);

    if (sample)
      gst_sample_unref (sample);
  }
  g_usleep (g_rand_int_range (rand, 0, 5000));
  if (way == 1) {
    gst_element_send_event (pipeline, gst_event_new_flush_start ());
    gst_element_send_event (pipeline, gst_event_new_flush_stop (TRUE));
  } else if (way == 2) {
    eos = g_thread_new (
        "eos", send_eos, gst_bin_get_by_name (GST_BIN (pipeline), "src"));
    while (!gst_app_sink_is_eos (GST_APP_SINK (sink))) {
      GstSample *sample =
          gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 20);

      if (sample)
        gst_sample_unref (sample);
    }
    g_thread_join (eos);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_stop_any_time)
{
  gchar *folder = files_make_dataset (20);
  GRand *rand = g_rand_new_with_seed (31);
  guint n_threads, n_files;

  /* One-time allocations of GStreamer happen now. */
  for (guint i = 0; i < 8; i++)
    stop_at_random (rand, folder, i % 4);
  n_threads = files_count_threads ();
  n_files = files_count_entries ("/proc/self/fd");
  for (guint i = 0; i < 100; i++)
    stop_at_random (rand, folder, i % 4);
  /* Threads of GLib's pools may still be exiting. */
  wait_until (files_count_threads () <= n_threads &&
              files_count_entries ("/proc/self/fd") <= n_files);
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
typedef struct {
  gsize at_10, at_30;
} Memory;

/* Returns the bytes in use once all queues are full, so that values are
 * comparable. The probe runs in the sink's streaming thread. */
static gsize
get_settled_bytes (void)
{
  wait_until_asleep ();
  return heap_get_bytes_in_use ();
}

static GstPadProbeReturn
on_epoch (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Memory *memory = user_data;
  guint64 epoch;

  if (!gst_spdl_event_parse_epoch (
          GST_PAD_PROBE_INFO_EVENT (info), NULL, &epoch, NULL))
    return GST_PAD_PROBE_OK;
  if (epoch == 9)
    memory->at_10 = get_settled_bytes ();
  else if (epoch == 29)
    memory->at_30 = get_settled_bytes ();
  return GST_PAD_PROBE_OK;
}

/* Buffer pools use malloc(), so their memory is counted. */
GST_START_TEST (test_memory)
{
  gchar *folder = files_make_dataset (200);
  g_autofree gchar *description = g_strdup_printf (MAIN_JOB
      "! spdlbatch batch-size=20 ! fakesink name=sink",
      folder, 31, 2, "input", 2, "input");
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  GstBus *bus = gst_element_get_bus (pipeline);
  Memory memory = { 0 };
  gdouble ratio;

  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_epoch, &memory, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  ratio = (gdouble) memory.at_30 / memory.at_10;
  fail_unless (memory.at_10 > 0 && ratio < 1.01 && ratio > 0.99,
      "%" G_GSIZE_FORMAT " bytes at epoch 10, %" G_GSIZE_FORMAT " at 30",
      memory.at_10, memory.at_30);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;
#endif

/* Tests that a branch of tee that fails posts the only error, and that the
 * other branch ends, too. */
GST_START_TEST (test_tee)
{
  gchar *folder = files_make_dataset (20);
  Run *run;

  files_write_text (folder, "class-b/none.jpg", "not a picture");
  run = run_pipeline (
      "spdlsrc location=%s epochs=50 ! spdlfetch ! tee name=t "
      "t. ! queue max-size-buffers=5 ! spdldecode width=8 height=8 "
      "max-failures=1 ! fakesink "
      "t. ! queue max-size-buffers=5 ! spdldecode width=8 height=8 "
      "! fakesink name=sink",
      folder);
  fail_unless (errors_text_has (run->error, "[stream-error failed]|none.jpg"),
      "%s", run->error);
  fail_unless (run->buffers->len > 0 && run->buffers->len < 50 * 20);
  fail_unless_equals_int (
      GST_EVENT_TYPE (g_ptr_array_index (run->stream, run->stream->len - 1)),
      GST_EVENT_EOS);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

static Suite *
pipeline_suite (void)
{
  Suite *s = suite_create ("pipeline");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 180);
  tcase_add_test (tc, test_same_bytes);
  tcase_add_test (tc, test_same_set);
  tcase_add_test (tc, test_bad_files);
  tcase_add_test (tc, test_tee);
  tcase_add_test (tc, test_budget);
  tcase_add_test (tc, test_sink);
  tcase_add_test (tc, test_stop_any_time);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  tcase_add_test (tc, test_exit_status);
  tcase_add_test (tc, test_memory);
#endif
  return s;
}

GST_CHECK_MAIN (pipeline);
