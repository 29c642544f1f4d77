/* gst-spdl: tests of second requests to servers that respond late
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/server.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* Number of items from which the client learns how long responses take. */
#define N_USUAL 300
#define SIZE 1000

static Server *server;
static gchar *folder;

static void
setup (void)
{
  server = server_new (FALSE);
  folder = files_make_folder ();
}

static void
teardown (void)
{
  server_free (server);
  files_remove_folder (folder);
}

/* Writes a list of usual items and, after them, @n items with @fault. */
static void
write_list (const gchar *fault, guint n)
{
  const gchar *base = server_get_base (server);
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < N_USUAL; i++)
    g_string_append_printf (list, "%s/bytes/0/%u/%u\n", base, SIZE, i);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (list, "%s/%s/%u/%u\n%s/bytes/0/%u/x%u\n", base,
        fault, SIZE, i, base, SIZE, i);
  files_write_text (folder, "list.txt", list->str);
}

static Run *
run_list (const gchar *fetch)
{
  return run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                       "concurrency=8 %s ! fakesink name=sink",
      folder, fetch);
}

/* Checks that all items arrived with their bytes. */
static void
check_run (Run *run, guint n)
{
  guint8 expected[SIZE];

  server_make_body (expected, 0, SIZE, 0);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, n);
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);

    fail_unless_equals_int (gst_buffer_get_size (buffer), SIZE);
    fail_unless (gst_buffer_memcmp (buffer, 0, expected, SIZE) == 0);
  }
}

static guint
count_requests (void)
{
  ServerCounts counts;

  server_get_counts (server, &counts);
  return counts.requests;
}

/* Without second requests, these items would never arrive. On a busy machine,
 * up to eight items before them use second requests, too. */
GST_START_TEST (test_late)
{
  static const gchar *const orders[] = { "input", "completion" };
  const guint n = N_USUAL + 10;

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autofree gchar *fetch =
        g_strdup_printf ("timeout=0 hedge=0.1 output-order=%s", orders[i]);
    Run *run;

    write_list ("stall-head/1", 5);
    run = run_list (fetch);
    check_run (run, n);
    fail_unless (count_requests () <= n * 1.1);
    run_free (run);
    server_free (server);
    server = server_new (FALSE);
  }
}

GST_END_TEST;

static GstStructure *
get_stats_of (GstElement *pipeline)
{
  g_autoptr (GstElement) fetch =
      gst_bin_get_by_name (GST_BIN (pipeline), "fetch");
  GstStructure *stats;

  g_object_get (fetch, "stage-stats", &stats, NULL);
  return stats;
}

/* Runs the list and returns the statistics of spdlfetch. */
static GstStructure *
get_stats (const gchar *fetch)
{
  g_autofree gchar *text =
      g_strdup_printf ("spdlsrc location=%s/list.txt ! spdlfetch name=fetch "
                       "concurrency=8 %s ! fakesink",
          folder, fetch);
  GstElement *pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstStructure *stats;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  stats = get_stats_of (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return stats;
}

static guint64
get_count (const GstStructure *stats, const gchar *name)
{
  guint64 value = G_MAXUINT64;

  gst_structure_get_uint64 (stats, name, &value);
  return value;
}

GST_START_TEST (test_statistics)
{
  g_autoptr (GstStructure) stats = NULL;
  g_autoptr (GstStructure) off = NULL;
  guint64 sent, won;

  write_list ("stall-head/1", 5);
  stats = get_stats ("timeout=0 hedge=0.1");
  sent = get_count (stats, "hedged-requests");
  won = get_count (stats, "hedges-won");
  fail_unless (sent >= 5 && sent <= 31, "%" G_GUINT64_FORMAT, sent);
  /* Either request of a fetch may arrive at the server first. */
  fail_unless (won >= 1 && won <= sent, "%" G_GUINT64_FORMAT, won);
  fail_unless_equals_uint64 (get_count (stats, "num-failures"), 0);
  /* Of two requests, one may be cancelled before it is sent. */
  fail_unless (count_requests () >= N_USUAL + 15 &&
               count_requests () <= N_USUAL + 10 + sent);

  write_list ("bytes/0", 10);
  off = get_stats ("");
  fail_if (gst_structure_has_field (off, "hedged-requests"));
  /* The time of the threads that run requests is part of the stage's. */
  fail_unless (get_count (off, "http-cpu-time") > 0);
  fail_unless (get_count (off, "http-cpu-time") <= get_count (off, "cpu-time"));
}

GST_END_TEST;

/* After a response of an overloaded server no second request is sent. */
GST_START_TEST (test_overloaded)
{
  static const gchar *const faults[] = { "429/1", "503/1" };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++) {
    g_autoptr (GstStructure) stats = NULL;
    g_autofree gchar *list = NULL, *text = NULL;
    g_autofree gchar *path = g_build_filename (folder, "list.txt", NULL);

    write_list ("stall-head/1", 5);
    g_file_get_contents (path, &list, NULL, NULL);
    text = g_strdup_printf (
        "%s/%s/%u/first\n%s", server_get_base (server), faults[i], SIZE, list);
    files_write_text (folder, "list.txt", text);
    stats = get_stats ("timeout=1 retries=3 hedge=0.5");
    fail_unless_equals_uint64 (get_count (stats, "hedged-requests"), 0);
    fail_unless_equals_uint64 (get_count (stats, "num-failures"), 0);
    server_free (server);
    server = server_new (FALSE);
  }
}

GST_END_TEST;

/* Faults of which both requests suffer, and others that are not late. */
GST_START_TEST (test_faults)
{
  static const struct {
    const gchar *fault;
    const gchar *reason; /* NULL: delivered */
  } faults[] = {
    { "stall-head/99", "[resource-error read]" },
    { "stall-body/1", NULL },
    { "break/1", NULL },
    { "break/99", "[resource-error read]" },
    { "short/1", NULL },
    { "500/1", NULL },
    { "404/99", "[resource-error not-found]|404" },
    { "reset/1", NULL },
    { "reset/99", "[resource-error open-read]" },
    { "moved/99", NULL },
    { "loop/99", "[resource-error open-read]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++) {
    Run *run;

    write_list (faults[i].fault, 3);
    run = run_list ("timeout=1 retries=1 hedge=0.5 output-order=input");
    if (!faults[i].reason) {
      check_run (run, N_USUAL + 6);
    } else {
      fail_unless_equals_int (run->buffers->len, N_USUAL + 3);
      fail_unless_equals_int (run->failures->len, 3);
      for (guint k = 0; k < 3; k++)
        fail_unless (
            errors_text_has (run_failure_text (run, k), faults[i].reason),
            "%s: %s", faults[i].fault, run_failure_text (run, k));
    }
    run_free (run);
  }
}

GST_END_TEST;

/* Checks conditional requests, whose versions are stored. */
GST_START_TEST (test_cache)
{
  const guint n = N_USUAL + 10;
  g_autofree gchar *fetch = g_strdup_printf (
      "timeout=0 hedge=0.1 cache-dir=%s/cache output-order=input", folder);

  write_list ("stall-head/1", 5);
  for (guint i = 0; i < 2; i++) {
    Run *run = run_list (fetch);

    check_run (run, n);
    run_free (run);
  }
}

GST_END_TEST;

static gboolean
has_hedged (GstElement *pipeline)
{
  g_autoptr (GstStructure) stats = get_stats_of (pipeline);

  return get_count (stats, "hedged-requests") > 0;
}

/* Stops while first and second requests are in flight. */
GST_START_TEST (test_stop)
{
  g_autofree gchar *text =
      g_strdup_printf ("spdlsrc location=%s/list.txt ! spdlfetch timeout=0 "
                       "name=fetch concurrency=8 hedge=0.5 ! fakesink",
          folder);

  for (guint i = 0; i < 20; i++) {
    GstElement *pipeline;
    const guint before = count_requests ();

    write_list ("stall-head/99", 50);
    pipeline = gst_parse_launch (text, NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_until (count_requests () >= before + N_USUAL + 5 + i % 8);
    wait_until (i % 2 || has_hedged (pipeline));
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

CHECK_SUITE (hedge, FIXTURE (setup, teardown), TIMEOUT (240), TEST (test_late),
    TEST (test_statistics), TEST (test_overloaded), TEST (test_faults),
    TEST (test_cache), TEST (test_stop))
