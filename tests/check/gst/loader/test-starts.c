/* gst-spdl: tests of many starts, which must not hang, and of asynchronous
 * calls
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Many starts: a thread that sets PLAYING and the streaming thread race for a
 * lock. A start that loses is rare, so a few starts show little: SPDL_CYCLES is
 * the number of starts of each test. Run it beside two busy loops:
 *
 *     SPDL_CYCLES=20000 meson test -C build --timeout-multiplier 0 starts */

#include <gst/app/gstappsink.h>

#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/wait.h"

/* Longer than any start on a busy machine. */
#define HANGS_AFTER (30 * G_TIME_SPAN_SECOND)

#define PIPELINE                              \
  "videotestsrc num-buffers=6 pattern=black " \
  "! video/x-raw,width=8,height=8 ! spdlsink name=sink"

/* Reports starts that hang, and takes batches until they go on. */
typedef struct {
  const gchar *name;
  GstAppSink *sink;
  GThread *thread;
  GMutex lock;
  GCond cond;
  gboolean ended;
  guint n_starts;
  gint64 since; /* begin of the start that runs; otherwise 0 */
  guint n_hangs;
} Watchdog;

/* Lock held. */
static void
report_hang (Watchdog *self)
{
  GstSample *sample;

  self->n_hangs++;
  g_printerr ("%s: start %u hangs\n", self->name, self->n_starts);
  while (self->since != 0) {
    sample = gst_app_sink_try_pull_sample (self->sink, 0);
    if (sample)
      gst_sample_unref (sample);
    g_cond_wait_until (
        &self->cond, &self->lock, g_get_monotonic_time () + 10000);
  }
}

static gpointer
watch (gpointer user_data)
{
  Watchdog *self = user_data;

  g_mutex_lock (&self->lock);
  while (!self->ended) {
    if (self->since == 0)
      g_cond_wait (&self->cond, &self->lock);
    else if (g_get_monotonic_time () >= self->since + HANGS_AFTER)
      report_hang (self);
    else
      g_cond_wait_until (&self->cond, &self->lock, self->since + HANGS_AFTER);
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

static void
watchdog_begin (Watchdog *self, const gchar *name, GstElement *pipeline)
{
  *self = (Watchdog){ .name = name };
  self->sink = GST_APP_SINK (gst_bin_get_by_name (GST_BIN (pipeline), "sink"));
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  self->thread = g_thread_new ("watchdog", watch, self);
}

static void
watchdog_set (Watchdog *self, gboolean starts)
{
  g_mutex_lock (&self->lock);
  self->n_starts += starts;
  self->since = starts ? g_get_monotonic_time () : 0;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
}

static void
watchdog_end (Watchdog *self)
{
  g_mutex_lock (&self->lock);
  self->ended = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  if (g_getenv ("SPDL_CYCLES"))
    g_printerr ("%s: %u of %u starts hung\n", self->name, self->n_hangs,
        self->n_starts);
  fail_unless_equals_int (self->n_hangs, 0);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  gst_object_unref (self->sink);
}

static guint
get_cycles (void)
{
  const gchar *given = g_getenv ("SPDL_CYCLES");

  return given ? (guint) atoi (given) : 20;
}

/* Starts and stops the pipeline without a loader. */
static void
play (GstElement *pipeline, Watchdog *watchdog)
{
  GstSample *sample;

  watchdog_set (watchdog, TRUE);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  watchdog_set (watchdog, FALSE);
  sample = gst_app_sink_pull_sample (watchdog->sink);
  if (watchdog->n_hangs == 0)
    fail_unless (sample != NULL);
  if (sample)
    gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
load (GstElement *pipeline, Watchdog *watchdog)
{
  GstSpdlLoader *loader =
      gst_spdl_loader_new_from_pipeline (GST_PIPELINE (pipeline), NULL);
  GstSpdlBatch *batch;

  watchdog_set (watchdog, TRUE);
  loader_start (loader);
  watchdog_set (watchdog, FALSE);
  batch = gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, NULL);
  fail_unless (batch != NULL);
  gst_spdl_batch_unref (batch);
  g_object_unref (loader);
}

GST_START_TEST (test_loaders)
{
  GstElement *pipeline = gst_parse_launch (PIPELINE, NULL);
  Watchdog watchdog;

  watchdog_begin (&watchdog, "loader", pipeline);
  for (guint i = 0; i < get_cycles (); i++)
    load (pipeline, &watchdog);
  watchdog_end (&watchdog);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Pipelines that a loader has left. */
GST_START_TEST (test_left)
{
  GstElement *pipeline = gst_parse_launch (PIPELINE, NULL);
  Watchdog watchdog;

  watchdog_begin (&watchdog, "left by a loader", pipeline);
  load (pipeline, &watchdog);
  for (guint i = 0; i < get_cycles (); i++)
    play (pipeline, &watchdog);
  watchdog_end (&watchdog);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_not_async)
{
  GstElement *pipeline = gst_parse_launch (PIPELINE " async=false", NULL);
  Watchdog watchdog;

  watchdog_begin (&watchdog, "async=false", pipeline);
  for (guint i = 0; i < get_cycles (); i++)
    play (pipeline, &watchdog);
  watchdog_end (&watchdog);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Asynchronous calls */

static void
take_result (GObject *object, GAsyncResult *result, gpointer place)
{
  *(GAsyncResult **) place = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (!*result)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}

/* Returns the number of items; 0 without a batch. */
static guint
finish_next (GstSpdlLoader *loader, GAsyncResult **result, GError **error)
{
  GstSpdlBatch *batch =
      gst_spdl_loader_next_finish (loader, wait_for (result), error);
  const guint n = batch ? gst_spdl_batch_get_n_items (batch) : 0;

  g_clear_pointer (&batch, gst_spdl_batch_unref);
  g_clear_object (result);
  return n;
}

static void
assert_stopped (GError *error)
{
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STOPPED));
  g_error_free (error);
}

GST_START_TEST (test_next_async)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 2);
  GAsyncResult *result = NULL, *second = NULL;
  GError *error = NULL;

  gst_spdl_loader_next_async (loader, NULL, take_result, &result);
  finish_next (loader, &result, &error);
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_NOT_STARTED));
  g_clear_error (&error);
  loader_start (loader);
  for (guint i = 0; i < 8; i++) {
    static const guint sizes[] = { 8, 8, 4, 0 };

    gst_spdl_loader_next_async (loader, NULL, take_result, &result);
    gst_spdl_loader_next_async (loader, NULL, take_result, &second);
    finish_next (loader, &second, &error);
    fail_unless (g_error_matches (
        error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY));
    g_clear_error (&error);
    fail_unless_equals_int (
        finish_next (loader, &result, &error), sizes[i % 4]);
    fail_unless (error == NULL);
  }
  fail_unless (gst_spdl_loader_is_finished (loader));
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A cancellation or a stop ends the wait for a batch, and no batch is lost. */
GST_START_TEST (test_next_cancelled)
{
  GstSpdlLoader *loader = loader_make ("identity ! spdlsink");
  g_autoptr (GBytes) item = g_bytes_new_static ("abc", 3);
  GstCaps *caps = gst_caps_new_empty_simple ("text/plain");
  GAsyncResult *result = NULL;
  GError *error = NULL;

  loader_start (loader);
  for (guint i = 0; i < 20; i++) {
    g_autoptr (GCancellable) cancellable = g_cancellable_new ();

    if (i == 0)
      g_cancellable_cancel (cancellable);
    gst_spdl_loader_next_async (loader, cancellable, take_result, &result);
    if (i % 2)
      wait_until_asleep ();
    g_cancellable_cancel (cancellable);
    finish_next (loader, &result, &error);
    fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
    g_clear_error (&error);
    fail_unless (gst_spdl_loader_push_bytes (
        loader, item, caps, -1, NULL, GST_CLOCK_TIME_NONE, NULL));
    gst_spdl_loader_next_async (loader, NULL, take_result, &result);
    fail_unless_equals_int (finish_next (loader, &result, &error), 1);
    fail_unless (error == NULL);
  }
  gst_spdl_loader_next_async (loader, NULL, take_result, &result);
  wait_until_asleep ();
  gst_spdl_loader_stop (loader);
  finish_next (loader, &result, &error);
  assert_stopped (error);
  gst_caps_unref (caps);
  g_object_unref (loader);
}

GST_END_TEST;

static Suite *
starts_suite (void)
{
  Suite *s = suite_create ("starts");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  if (g_getenv ("SPDL_CYCLES"))
    tcase_set_timeout (tc, 0);
  tcase_add_test (tc, test_loaders);
  tcase_add_test (tc, test_left);
  tcase_add_test (tc, test_not_async);
  tcase_add_test (tc, test_next_async);
  tcase_add_test (tc, test_next_cancelled);
  return s;
}

GST_CHECK_MAIN (starts);
