/* gst-spdl: tests of the limits of spdlfetch with servers that never end
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/server.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* Number of items beside the hostile ones, and of hostile ones each. */
#define N_GOOD 200
#define N_EACH 2

static Server *server, *tls;
static GSocketListener *mute; /* accepts no connection, so no handshake ends */
static guint16 mute_port;
static gchar *folder;

/* The servers, and the expected errors if there is a limit: `timeout` does not
 * limit the time of a body of which there is always more. */
static const struct {
  const gchar *path;
  const gchar *with_timeout, *with_task_timeout;
} hostile[] = {
  { "/endless-status/99/", "too big", "too big" },
  { "/endless-headers/99/", "too big", "too big" },
  { "/endless-line/99/", "too big", "too big" },
  { "/endless-early/99/", "64|103", "64|103" },
  { "/slow-early/99/", "timeout|5 s", "task-timeout" },
  { "/slow-head/99/", "timeout|5 s", "task-timeout" },
  { "/endless-size/99/", "chunked", "chunked" },
  { "/endless-extension/99/", "chunked", "chunked" },
  { "/endless-trailers/99/", "chunked", "chunked" },
  { "/slow-trailers/99/", "timeout|5 s", "task-timeout" },
  { "/endless-chunks/99/", "max-size", "max-size" },
  { "/endless-body/99/", "max-size", "max-size" },
  { "/slow-body/99/", NULL, "task-timeout" },
  { "/endless-refusal/99/", "404", "404" },
  { "/endless-redirects/99/", "20", "20" },
  { "/stall-head/99/", "timeout|5 s", "task-timeout" },
  { "/stall-body/99/10", "timeout|5 s", "task-timeout" },
  { "tls/record/99/", "timeout|5 s", "task-timeout" },
#ifndef __SANITIZE_ADDRESS__
  /* In the server, glib-networking leaks the error of a write to a connection
   * that was closed. */
  { "tls/slow-early/99/", "timeout|5 s", "task-timeout" },
  { "tls/endless-early/99/", "64|103", "64|103" },
#endif
  { "mute/", "timeout|5 s", "task-timeout" },
};

static void
setup (void)
{
  server = server_new (FALSE);
  tls = server_new (TRUE);
  mute = g_socket_listener_new ();
  mute_port = g_socket_listener_add_any_inet_port (mute, NULL, NULL);
  folder = files_make_folder ();
  files_write_text (folder, "ca.pem", server_get_certificate ());
}

static void
teardown (void)
{
  g_object_unref (mute);
  server_free (tls);
  server_free (server);
  files_remove_folder (folder);
}

static gchar *
dup_uri (guint i, guint number)
{
  const gchar *path = hostile[i].path;

  return g_str_has_prefix (path, "mute")
             ? g_strdup_printf ("https://127.0.0.1:%u/%u", mute_port, number)
         : g_str_has_prefix (path, "tls")
             ? g_strdup_printf ("%s%s%u", server_get_base (tls),
                   path + strlen ("tls"), number)
             : g_strdup_printf (
                   "%s%s%u", server_get_base (server), path, number);
}

static void
add_good (GString *list, guint first)
{
  for (guint i = first; i < first + N_GOOD / 2; i++)
    g_string_append_printf (
        list, "%s/bytes/0/10/%u\n", server_get_base (server), i);
}

/* Writes a list of the hostile URIs among good ones, without those that have no
 * error if @with_timeout. Returns the number of hostile ones. */
static guint
write_list (gboolean with_timeout)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint n = 0;

  add_good (list, 0);
  for (guint i = 0; i < G_N_ELEMENTS (hostile); i++) {
    for (guint j = 0; j < N_EACH; j++) {
      g_autofree gchar *uri = dup_uri (i, 100 + j);

      if (with_timeout && !hostile[i].with_timeout)
        continue;
      g_string_append_printf (list, "%s\n", uri);
      n++;
    }
  }
  add_good (list, N_GOOD / 2);
  files_write_text (folder, "list.txt", list->str);
  return n;
}

/* On a busy machine the limit may end an item first. */
static void
check_error (guint i, const gchar *text, gboolean with_timeout)
{
  fail_unless (
      errors_text_has (text, with_timeout ? hostile[i].with_timeout
                                          : hostile[i].with_task_timeout) ||
          errors_text_has (text, with_timeout ? "timeout|5 s" : "task-timeout"),
      "%s: %s", hostile[i].path, text);
}

static void
check_failures (Run *run, gboolean with_timeout)
{
  for (guint i = 0; i < run->failures->len; i++) {
    const gchar *uri =
        gst_structure_get_string (g_ptr_array_index (run->failures, i), "uri");
    guint j = 0;

    for (; j < G_N_ELEMENTS (hostile); j++) {
      g_autofree gchar *one = dup_uri (j, 100), *two = dup_uri (j, 101);

      if (g_str_equal (uri, one) || g_str_equal (uri, two))
        break;
    }
    fail_unless (j < G_N_ELEMENTS (hostile), "%s failed: %s", uri,
        run_failure_text (run, i));
    check_error (j, run_failure_text (run, i), with_timeout);
  }
}

static void
check_limit (gboolean with_timeout)
{
  const guint n = write_list (with_timeout);
  Run *run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                           "tls-ca-file=%s/ca.pem concurrency=64 retries=0 "
                           "max-size=1000000 %s ! fakesink name=sink",
      folder, folder,
      with_timeout ? "timeout=5" : "timeout=0 task-timeout=5000000000");

  fail_unless (run->error == NULL, "%s", run->error);
  check_failures (run, with_timeout);
  fail_unless_equals_int (run->buffers->len, N_GOOD);
  fail_unless_equals_int (run->failures->len, n);
  run_free (run);
}

GST_START_TEST (test_timeout)
{
  check_limit (TRUE);
}

GST_END_TEST;

GST_START_TEST (test_task_timeout)
{
  check_limit (FALSE);
}

GST_END_TEST;

static void
count_item (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer n)
{
  g_atomic_int_inc ((gint *) n);
}

/* Starts a pipeline without any limit, and stops it when the good items have
 * arrived. Returns the time of the stop. */
static gint64
start_and_stop (void)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GstElement) pipeline = NULL, sink = NULL;
  g_autoptr (GError) error = NULL;
  gint n_good = 0;
  gint64 begun;

  description = g_strdup_printf (
      "spdlsrc location=%s/list.txt ! spdlfetch tls-ca-file=%s/ca.pem "
      "concurrency=64 retries=1000 timeout=0 max-failure-rate=1 "
      "! fakesink name=sink signal-handoffs=true",
      folder, folder);
  pipeline = gst_parse_launch (description, &error);
  fail_unless (error == NULL, "%s", error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (count_item), &n_good);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_until (g_atomic_int_get (&n_good) == N_GOOD);
  begun = g_get_monotonic_time ();
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  return g_get_monotonic_time () - begun;
}

/* Tests that a stop takes less than a second, at one moment at which the
 * machine is not busy with something else. */
GST_START_TEST (test_stop)
{
  write_list (FALSE);
  wait_until (start_and_stop () < G_TIME_SPAN_SECOND);
}

GST_END_TEST;

CHECK_SUITE (hostile, FIXTURE (setup, teardown), TEST (test_timeout),
    TEST (test_task_timeout), TEST (test_stop))
