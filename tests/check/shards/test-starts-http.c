/* gst-spdl: tests of loaders that start on a server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/served.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/tars.h"
#include "tests/check/support/wait.h"

#define SILENT "/stall-head/99/0/a.tar"
#define N_SAMPLES 6

/* @worker: the source is in a worker process */
static GstSpdlLoader *
make_loader (const gchar *path, gboolean worker)
{
  g_autofree gchar *source = g_strdup_printf (
      "spdlsrc name=src location=%s%s timeout=0 retries=0 epochs=2",
      server_get_base (served.server), path);

  return worker
             ? loader_make (
                   "spdlworkersrc name=src pipeline=\"%s\" ! spdlsink", source)
             : loader_make ("%s ! spdlsink", source);
}

static GstSpdlLoader *
make_good_loader (gboolean worker)
{
  tar_write_shard (served.folder, "a.tar", 0, N_SAMPLES, 100);
  server_set_latency (served.server, 20);
  return make_loader ("/shard/0/0/a.tar", worker);
}

static gpointer
start_in_thread (gpointer loader)
{
  GError *error = NULL;

  fail_if (gst_spdl_loader_start (loader, &error));
  return error;
}

static void
assert_stopped (GError *error)
{
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STOPPED));
  g_error_free (error);
}

/* A stop from another thread ends a start that waits for a server. */
GST_START_TEST (test_stop_of_a_start)
{
  for (guint i = 0; i < 4; i++) {
    GstSpdlLoader *loader = make_loader (SILENT, i >= 2);
    GThread *thread = g_thread_new ("start", start_in_thread, loader);

    wait_until (server_count_path (served.server, SILENT) > i);
    gst_spdl_loader_stop (loader);
    assert_stopped (g_thread_join (thread));
    fail_if (gst_spdl_loader_is_running (loader));
    g_object_unref (loader);
  }
}

GST_END_TEST;

static gpointer
leave_in_thread (gpointer loader)
{
  GError *error = NULL;

  fail_if (gst_spdl_loader_next_epoch (loader, &error));
  return error;
}

/* It also ends the start of the next epoch. */
GST_START_TEST (test_stop_of_an_epoch)
{
  GstSpdlLoader *loader = make_good_loader (FALSE);
  GstBin *pipeline = GST_BIN (gst_spdl_loader_get_pipeline (loader));
  GstElement *src = gst_bin_get_by_name (pipeline, "src");
  g_autofree gchar *silent =
      g_strconcat (server_get_base (served.server), SILENT, NULL);
  GThread *thread;

  loader_start (loader);
  fail_unless_equals_int (loader_take (loader), 1);
  g_object_set (src, "location", silent, NULL);
  gst_object_unref (src);
  thread = g_thread_new ("leave", leave_in_thread, loader);
  wait_until (server_count_path (served.server, SILENT) > 0);
  gst_spdl_loader_stop (loader);
  assert_stopped (g_thread_join (thread));
  g_object_unref (loader);
}

GST_END_TEST;

/* A start returns the error of the server. */
GST_START_TEST (test_start_fails)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GstSpdlLoader) loader = make_loader ("/404/99/0/a.tar", i % 2);
    g_autoptr (GError) error = NULL;

    fail_if (gst_spdl_loader_start (loader, &error));
    fail_unless (errors_has (error, "[resource-error not-found]|404"), "%s",
        error->message);
    fail_if (gst_spdl_loader_is_running (loader));
    loader_assert_next_fails (loader, GST_SPDL_LOADER_ERROR_STOPPED);
  }
}

GST_END_TEST;

/* An error in another branch, while a source waits for its server, is no error
 * of the start. It arrives after the batches. */
GST_START_TEST (test_error_elsewhere)
{
  gchar *folder = files_make_folder ();

  files_write_text (folder, "bad.jpg", "no picture");
  tar_write_shard (served.folder, "a.tar", 0, N_SAMPLES, 100);
  server_set_latency (served.server, 50);
  for (guint i = 0; i < 5; i++) {
    g_autoptr (GstSpdlLoader) loader = loader_make (
        "spdlmix name=m ! spdlsink "
        "spdlsrc location=%s ! spdlfetch ! spdldecode max-failures=0 ! m. "
        "spdlsrc location=%s/shard/0/0/a.tar index-cache=none ! m.",
        folder, server_get_base (served.server));
    guint n_items;
    g_autoptr (GError) error = NULL;

    loader_start (loader);
    error = loader_take_until_error (loader, &n_items);
    fail_unless (errors_has (error, "bad.jpg"), "%s", error->message);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Ends the stream before the source was asked for a buffer. A streaming thread
 * must not take the state lock, which gst_element_send_event() does. */
static GstPadProbeReturn
end_stream (GstPad *pad, GstPadProbeInfo *info, gpointer element)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) ==
      GST_EVENT_STREAM_START)
    fail_unless (GST_ELEMENT_GET_CLASS (element)->send_event (
        element, gst_event_new_eos ()));
  return GST_PAD_PROBE_OK;
}

/* A start ends with the stream, also if that ends before the source has looked
 * for its server. */
GST_START_TEST (test_end_before_the_start)
{
  for (guint i = 0; i < 4; i++) {
    GstSpdlLoader *loader = make_good_loader (i % 2);
    GstElement *pipeline = GST_ELEMENT (gst_spdl_loader_get_pipeline (loader));
    g_autoptr (GstElement) src = NULL;
    g_autoptr (GstPad) pad = NULL;

    src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
    pad = gst_element_get_static_pad (src, "src");
    gst_pad_add_probe (
        pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, end_stream, src, NULL);
    if (i < 2) {
      loader_start (loader);
      fail_unless_equals_int (loader_take (loader), 0);
    } else {
      gst_element_set_state (pipeline, GST_STATE_PLAYING);
      fail_unless_equals_int (
          gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
          GST_STATE_CHANGE_SUCCESS);
      gst_element_set_state (pipeline, GST_STATE_NULL);
    }
    g_object_unref (loader);
  }
}

GST_END_TEST;

/* The dataset is open after the start, and all of it arrives. */
GST_START_TEST (test_start_on_a_server)
{
  for (guint i = 0; i < 2; i++) {
    GstSpdlLoader *loader = make_good_loader (i == 1);
    g_autofree gchar *state = NULL;

    loader_start (loader);
    if (i == 0)
      fail_unless_equals_uint64 (
          gst_spdl_loader_get_num_batches (loader, G_MAXUINT64), N_SAMPLES);
    state = gst_spdl_loader_dup_state (loader);
    for (guint epoch = 0; epoch < 2; epoch++) {
      for (guint n = 0; n < N_SAMPLES; n++)
        fail_unless_equals_int (loader_take (loader), 1);
      fail_unless_equals_int (loader_take (loader), 0);
    }
    /* The last epoch of a worker is not known. */
    if (i == 1)
      fail_unless_equals_int (loader_take (loader), 0);
    fail_unless (gst_spdl_loader_is_finished (loader));
    gst_spdl_loader_stop (loader);
    if (i == 0)
      fail_unless (
          gst_spdl_loader_restore_state (loader, state, NULL) && state);
    g_object_unref (loader);
  }
}

GST_END_TEST;

/* Asynchronous starts */

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

static void
assert_started (GstSpdlLoader *loader, GAsyncResult **result)
{
  g_autoptr (GError) error = NULL;
  const gboolean ok =
      gst_spdl_loader_start_finish (loader, wait_for (result), &error);

  fail_unless (ok, "%s", error ? error->message : "");
  g_clear_object (result);
}

static void
assert_not_started (
    GstSpdlLoader *loader, GAsyncResult **result, GQuark domain, gint code)
{
  g_autoptr (GError) error = NULL;

  fail_if (gst_spdl_loader_start_finish (loader, wait_for (result), &error));
  fail_unless (g_error_matches (error, domain, code), "%s", error->message);
  g_clear_object (result);
}

GST_START_TEST (test_start_async)
{
  GstSpdlLoader *loader = make_good_loader (FALSE);
  GAsyncResult *result = NULL, *second = NULL;

  for (guint i = 0; i < 2; i++) {
    gst_spdl_loader_start_async (loader, NULL, take_result, &result);
    gst_spdl_loader_start_async (loader, NULL, take_result, &second);
    assert_not_started (
        loader, &second, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY);
    assert_started (loader, &result);
    gst_spdl_loader_start_async (loader, NULL, take_result, &second);
    assert_not_started (
        loader, &second, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STARTED);
    fail_unless_equals_int (loader_take (loader), 1);
    gst_spdl_loader_stop (loader);
  }
  g_object_unref (loader);

  loader = make_loader ("/404/99/0/a.tar", FALSE);
  gst_spdl_loader_start_async (loader, NULL, take_result, &result);
  assert_not_started (
      loader, &result, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND);
  g_object_unref (loader);
}

GST_END_TEST;

/* A cancellation, before and during a start, and a stop. */
GST_START_TEST (test_start_cancelled)
{
  for (guint i = 0; i < 4; i++) {
    GstSpdlLoader *loader = make_loader (SILENT, i == 3);
    g_autoptr (GCancellable) cancellable = g_cancellable_new ();
    const guint n = server_count_path (served.server, SILENT);
    GAsyncResult *result = NULL;

    if (i == 0)
      g_cancellable_cancel (cancellable);
    gst_spdl_loader_start_async (loader, cancellable, take_result, &result);
    if (i > 0)
      wait_until (server_count_path (served.server, SILENT) > n);
    if (i == 1)
      gst_spdl_loader_stop (loader);
    else
      g_cancellable_cancel (cancellable);
    assert_not_started (loader, &result,
        i == 1 ? GST_SPDL_LOADER_ERROR : G_IO_ERROR,
        i == 1 ? GST_SPDL_LOADER_ERROR_STOPPED : G_IO_ERROR_CANCELLED);
    g_object_unref (loader);
  }
}

GST_END_TEST;

CHECK_SUITE (starts_http, TIMEOUT (60), FIXTURE (served_setup, served_teardown),
    TEST (test_stop_of_a_start), TEST (test_stop_of_an_epoch),
    TEST (test_start_fails), TEST (test_error_elsewhere),
    TEST (test_end_before_the_start), TEST (test_start_on_a_server),
    TEST (test_start_async), TEST (test_start_cancelled))
