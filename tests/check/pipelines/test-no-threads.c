/* gst-spdl: tests of threads that cannot be created
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/failing-threads.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define N_ITEMS 40
/* More than the threads of a run. */
#define ALL 1000

static gchar *folder;

static void
setup (void)
{
  folder = files_make_dataset (N_ITEMS);
}

static void
teardown (void)
{
  files_remove_folder (folder);
}

static void
assert_is_of_thread (const GError *error)
{
  fail_unless (g_error_matches (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN) ||
                   strstr (error->message, "cannot be created") != NULL,
      "%s", error->message);
  fail_unless (
      strstr (error->message, "pids.max") != NULL, "%s", error->message);
}

/* Pipelines of one epoch, in which each item arrives once, without the begin.
 */
static const gchar *const lines[] = {
  /* The concurrency is chosen by a tuner. */
  "epochs=1 ! spdlfetch ! spdldecode width=16 height=12 "
  "! spdlbatch batch-size=8 ! spdlsink",
  "epochs=1 ! spdlfetch concurrency=3 "
  "! spdlpipe chain=identity concurrency=3 thread-pool=a:3 "
  "! spdldecode concurrency=3 thread-pool=a:3 width=16 height=12 "
  "! spdlbatch batch-size=8 ! spdlsink",
  "epochs=1 ! spdlfetch ! queue ! spdlpipe "
  "chain=identity task-timeout=10000000000 concurrency=2 "
  "! spdldecode width=16 height=12 ! spdlbatch batch-size=8 ! spdlsink",
  "label=folder epochs=1 "
  "! spdlroute name=r src_0::condition=\"label=0\" "
  "r.src_0 ! spdlfetch ! spdldecode width=16 height=12 ! m. "
  "r.src_1 ! spdlfetch ! spdldecode width=16 height=12 ! m. "
  "spdlmix name=m order=arrival ! spdlbatch batch-size=8 ! spdlsink",
};

/* Runs a loader to its end. Returns the number of items, and the error with
 * which the run or its start ended. */
static guint
run_loader (GstSpdlLoader *loader, GError **error)
{
  GstSpdlBatch *batch;
  guint n = 0;

  if (!gst_spdl_loader_start (loader, error))
    return 0;
  while ((batch = gst_spdl_loader_next (loader, 20 * GST_SECOND, error))) {
    n += gst_spdl_batch_get_n_items (batch);
    gst_spdl_batch_unref (batch);
  }
  return n;
}

/* Lets each thread of a run fail, alone or with all later ones. The run
 * delivers all items, or ends with an error about the thread. Later, the loader
 * can start again. Returns the number of runs that have failed. */
static guint
try_all (GstSpdlLoader *loader, guint count)
{
  guint n_failed = 0;

  for (guint n = 1;; n++) {
    g_autoptr (GError) error = NULL;
    guint n_items;

    failing_threads_let_fail (n, count);
    n_items = run_loader (loader, &error);
    gst_spdl_loader_stop (loader);
    if (error)
      assert_is_of_thread (error);
    else
      fail_unless_equals_int (n_items, N_ITEMS);
    fail_unless (n_items <= N_ITEMS);
    n_failed += error != NULL;
    if (failing_threads_count () == 0)
      break;
    failing_threads_let_fail (0, 0);
    if (!error)
      continue;
    g_clear_error (&error);
    n_items = run_loader (loader, &error);
    fail_unless (!error, "%u: %s", n, error->message);
    fail_unless_equals_int (n_items, N_ITEMS);
    gst_spdl_loader_stop (loader);
  }
  return n_failed;
}

GST_START_TEST (test_loader)
{
  GstSpdlLoader *loader =
      loader_make ("spdlsrc location=%s %s", folder, lines[__i__ / 2]);

  fail_unless (try_all (loader, __i__ % 2 ? ALL : 1) > 1);
  g_object_unref (loader);
}

GST_END_TEST;

/* An error of the run, whose end of the stream needs a thread as well. */
GST_START_TEST (test_error)
{
  GstSpdlLoader *loader =
      loader_make ("spdlsrc location=%s ! spdlfetch ! spdldecode media=audio "
                   "max-failures=0 ! spdlbatch ! spdlsink",
          folder);

  for (guint n = 1, n_without = 1; n_without > 0; n++) {
    g_autoptr (GError) error = NULL;

    failing_threads_let_fail (n, __i__ ? ALL : 1);
    fail_unless_equals_int (run_loader (loader, &error), 0);
    fail_unless (error != NULL);
    gst_spdl_loader_stop (loader);
    n_without = failing_threads_count ();
    failing_threads_let_fail (0, 0);
  }
  g_object_unref (loader);
}

GST_END_TEST;

/* A stage of the program stops its loader, which takes a thread. */
static void
on_handoff (GstElement *identity, GstBuffer *buffer, gpointer loader)
{
  if (failing_threads_count () == 0)
    failing_threads_let_fail (1, ALL);
  gst_spdl_loader_stop (loader);
}

GST_START_TEST (test_stop_in_a_stage)
{
  GstSpdlLoader *loader = loader_make (
      "spdlsrc location=%s ! identity name=i signal-handoffs=true "
      "! spdlfetch ! spdldecode width=16 height=12 ! spdlbatch ! spdlsink",
      folder);
  g_autoptr (GstElement) identity = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "i");
  g_autoptr (GError) error = NULL;

  g_signal_connect (identity, "handoff", G_CALLBACK (on_handoff), loader);
  run_loader (loader, &error);
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STOPPED));
  wait_until (failing_threads_count () > 0);
  failing_threads_let_fail (0, 0);
  gst_spdl_loader_stop (loader);
  fail_if (gst_spdl_loader_is_running (loader));
  g_object_unref (loader);
}

GST_END_TEST;

/* Plays a pipeline without a loader until its end or an error. */
static void
play (GstElement *pipeline, guint *n_items, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  *n_items = 0;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, error, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
count_item (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer n_items)
{
  ++*(guint *) n_items;
}

GST_START_TEST (test_pipeline)
{
  g_autofree gchar *line = g_strdup_printf (
      "spdlsrc location=%s epochs=1 ! spdlfetch ! spdldecode width=16 "
      "height=12 ! fakesink name=sink async=false signal-handoffs=true",
      folder);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  guint n_items, n_failed = 0;

  g_signal_connect (sink, "handoff", G_CALLBACK (count_item), &n_items);
  for (guint n = 1;; n++) {
    g_autoptr (GError) error = NULL;

    failing_threads_let_fail (n, __i__ ? ALL : 1);
    play (pipeline, &n_items, &error);
    n_failed += error != NULL;
    if (error)
      assert_is_of_thread (error);
    else
      fail_unless_equals_int (n_items, N_ITEMS);
    if (failing_threads_count () == 0)
      break;
    failing_threads_let_fail (0, 0);
  }
  fail_unless (n_failed > 1);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* The thread of the process's messages; those of the process are its own. */
GST_START_TEST (test_worker)
{
  GstSpdlLoader *loader = loader_make (
      "spdlworkersrc pipeline=\"spdlsrc location=%s epochs=1 ! spdlfetch "
      "! spdldecode width=16 height=12 ! spdlbatch batch-size=8\" ! spdlsink",
      folder);

  fail_unless (try_all (loader, __i__ ? ALL : 1) > 1);
  g_object_unref (loader);
}

GST_END_TEST;

GST_START_TEST (test_loader_with_a_budget)
{
  GstSpdlLoader *loader =
      loader_make ("spdlsrc location=%s %s", folder, lines[0]);

  g_object_set (loader, "cpu-budget", 0.9, NULL);
  fail_unless (try_all (loader, __i__ ? ALL : 1) > 1);
  g_object_unref (loader);
}

GST_END_TEST;

CHECK_SUITE (no_threads, FIXTURE (setup, teardown),
    LOOP (test_loader, 2 * G_N_ELEMENTS (lines)),
    LOOP (test_loader_with_a_budget, 2), LOOP (test_error, 2),
    TEST (test_stop_in_a_stage), LOOP (test_pipeline, 2), LOOP (test_worker, 2))
