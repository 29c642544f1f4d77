/* gst-spdl: tests of spdlfetch over HTTP with a faulty server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/server.h"
#include "tests/check/support/wait.h"

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

/* Fetches a list of @paths on the server. */
static Run *
run_paths (const gchar *const *paths, guint n, const gchar *fetch)
{
  GString *list = g_string_new (NULL);
  Run *run;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (list, "%s%s\n", server_get_base (server), paths[i]);
  files_write_text (folder, "list.txt", list->str);
  g_string_free (list, TRUE);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                      "output-order=input %s ! fakesink name=sink",
      folder, fetch);
  fail_unless (run->error == NULL, "%s", run->error);
  return run;
}

static void
assert_body (Run *run, guint i, guint64 first, gsize size, guint version)
{
  g_autofree guint8 *expected = g_malloc (size);
  GstBuffer *buffer = g_ptr_array_index (run->buffers, i);

  server_make_body (expected, first, size, version);
  fail_unless_equals_int (gst_buffer_get_size (buffer), size);
  fail_unless (gst_buffer_memcmp (buffer, 0, expected, size) == 0,
      "%s has other bytes", run_item (run, i)->uri);
}

static const gchar *
failure_uri (Run *run, guint i)
{
  return gst_structure_get_string (g_ptr_array_index (run->failures, i), "uri");
}

/* Returns the error message of the item at @path. */
static const gchar *
reason_of (Run *run, const gchar *path)
{
  for (guint i = 0; i < run->failures->len; i++)
    if (g_str_has_suffix (failure_uri (run, i), path))
      return run_failure_text (run, i);
  ck_abort_msg ("%s did not fail", path);
  return NULL;
}

/* The expected result of each fault of the server: @reason is NULL if the item
 * is delivered, and @requests is 0 if the number varies. The test runs with one
 * retry and a timeout of one second. */
static const struct {
  const gchar *path;
  guint64 size;
  guint requests;
  const gchar *reason;
} faults[] = {
  { "/bytes/0/35000", 35000, 1, NULL },
  { "/bytes/0/3000000", 3000000, 1, NULL },
  { "/reset/1/1000", 1000, 2, NULL },
  { "/reset/99/1000", 0, 2, "[resource-error open-read]|2" },
  { "/break/1/400000", 400000, 2, NULL },
  { "/break/99/400000", 0, 2, "[resource-error read]" },
  { "/short/1/5000", 5000, 2, NULL },
  { "/short/99/5000", 0, 2, "[resource-error read]|5000" },
  { "/norange/1/400000", 400000, 2, NULL },
  { "/huge/99/1000", 0, 2, "[resource-error read]|1099511627776" },
  { "/long/1/1000", 1000, 1, NULL },
  { "/chunks/0/100000", 100000, 1, NULL },
  { "/chunks/1/100000", 100000, 2, NULL },
  { "/chunks/99/100000", 0, 2, "[resource-error read]" },
  { "/stall-head/1/1000", 1000, 2, NULL },
  { "/stall-head/99/1000", 0, 2, "[resource-error read]|1|0" },
  { "/stall-body/1/1000", 1000, 2, NULL },
  { "/stall-body/99/1000", 0, 2, "[resource-error read]|1" },
  { "/garbage/1/1000", 1000, 2, NULL },
  { "/garbage/99/1000", 0, 2, "[resource-error open-read]" },
  { "/silent/0/1000", 1000, 1, NULL },
  { "/close/0/1000", 1000, 1, NULL },
  { "/encoded/99/1000", 0, 1, "[resource-error read]|\"gzip\"" },
  { "/loop/99/1000", 0, 0, "[resource-error open-read]" },
  { "/moved/99/1000", 1000, 1, NULL },
  { "/400/99/1000", 0, 1, "[resource-error read]|400" },
  { "/401/99/1000", 0, 1, "[resource-error not-authorized]|401" },
  { "/403/99/1000", 0, 1, "[resource-error not-authorized]|403" },
  { "/404/99/1000", 0, 1, "[resource-error not-found]|404" },
  { "/408/1/1000", 1000, 2, NULL },
  { "/416/99/1000", 0, 1, "[resource-error read]|416" },
  { "/429/1/1000", 1000, 2, NULL },
  /* Rejected together, requests get attempts for free. */
  { "/429/99/1000", 0, 0, "[resource-error busy]|2|429" },
  { "/500/1/1000", 1000, 2, NULL },
  { "/503/99/1000", 0, 0, "[resource-error busy]|2|503" },
  { "/206/99/1000", 0, 1, "[resource-error read]" },
  { "/endless-headers/99/1000", 0, 0, "[resource-error open-read]" },
  { "/rich-chunks/99/1001", 1001, 1, NULL },
  { "/tail/1/1000/negative", 1000, 2, NULL },
  { "/tail/1/1000/overflow", 1000, 2, NULL },
  { "/tail/1/1000/letters", 1000, 2, NULL },
  { "/tail/1/1000/letters-and-end", 1000, 2, NULL },
  { "/tail/1/1000/letters-and-trailer", 1000, 2, NULL },
  { "/tail/1/1000/no-size", 1000, 2, NULL },
  { "/tail/1/1000/only-extension", 1000, 2, NULL },
  { "/tail/1/1000/cut", 1000, 2, NULL },
  { "/tail/1/1000/cut-in-size", 1000, 2, NULL },
  { "/tail/1/1000/cut-in-end", 1000, 2, NULL },
  { "/tail/1/1000/cut-in-trailer", 1000, 2, NULL },
  { "/tail/1/1000/spill", 1000, 2, NULL },
  { "/tail/99/1000/letters", 0, 2, "[resource-error read]|2|500" },
};

GST_START_TEST (test_faults)
{
  const gchar *paths[G_N_ELEMENTS (faults)];
  const guint n = G_N_ELEMENTS (faults);
  guint delivered = 0, failed = 0;
  Run *run;

  for (guint i = 0; i < n; i++)
    paths[i] = faults[i].path;
  run = run_paths (paths, n, "concurrency=16 retries=1 timeout=1 max-size=-1");
  fail_unless_equals_int (run->buffers->len + run->failures->len, n);
  fail_unless_equals_int (run->n_dropped, run->failures->len);

  for (guint i = 0; i < run->failures->len; i++) {
    const gchar *uri = failure_uri (run, i);
    guint j = 0;

    while (j < n && !g_str_has_suffix (uri, faults[j].path))
      j++;
    fail_unless (j < n);
    fail_unless (
        faults[j].reason != NULL &&
            errors_text_has (run_failure_text (run, i), faults[j].reason),
        "%s: %s", uri, run_failure_text (run, i));
    failed++;
  }
  for (guint i = 0; i < n; i++) {
    /* libsoup itself repeats a request after a reset of a persistent
     * connection. */
    if (faults[i].requests > 0 && !g_str_has_prefix (paths[i], "/reset"))
      fail_unless (
          server_count_path (server, faults[i].path) == faults[i].requests,
          "%s: %u requests", faults[i].path,
          server_count_path (server, faults[i].path));
    if (faults[i].reason)
      continue;
    fail_unless (g_str_has_suffix (run_item (run, delivered)->uri, paths[i]));
    assert_body (run, delivered++, 0, faults[i].size, 0);
  }
  fail_unless_equals_int (delivered, run->buffers->len);
  fail_unless_equals_int (failed, run->failures->len);
  run_free (run);
}

GST_END_TEST;

/* Writes a list of @n items, whose paths on the server begin with @path. */
static void
write_items (const gchar *path, guint n)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (
        list, "%s%s/%u\n", server_get_base (server), path, i);
  files_write_text (folder, "list.txt", list->str);
}

/* Checks that exactly 16 requests are in flight while enough items remain. */
static void
check_in_flight (const gchar *before, const gchar *behind)
{
  const guint n = 320;
  ServerCounts counts;
  Run *run;

  server_set_gate (server, 16, n);
  write_items ("/gate/0/1000", n);
  run = run_pipeline ("spdlsrc location=%s/list.txt %s ! spdlfetch "
                      "concurrency=16 %s ! fakesink name=sink",
      folder, before, behind);
  fail_unless_equals_int (run->buffers->len, n);
  server_get_counts (server, &counts);
  fail_if (counts.gate_missed);
  fail_unless_equals_int (counts.max_in_flight, 16);
  /* The connections are persistent. */
  fail_unless (counts.connections <= 16, "%u", counts.connections);
  run_free (run);
}

GST_START_TEST (test_in_flight_singly)
{
  check_in_flight ("", "");
}

GST_END_TEST;

GST_START_TEST (test_in_flight_in_groups)
{
  check_in_flight ("! spdlaggregate size=32", "! spdldisaggregate");
}

GST_END_TEST;

static void
count_http_threads (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer most)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *id;
  guint n = 0;

  while ((id = g_dir_read_name (dir))) {
    g_autofree gchar *path =
        g_build_filename ("/proc/self/task", id, "comm", NULL);
    g_autofree gchar *name = NULL;

    if (g_file_get_contents (path, &name, NULL, NULL))
      n += g_str_equal (g_strstrip (name), "spdl-http");
  }
  *(guint *) most = MAX (*(guint *) most, n);
}

/* Another thread starts when all have four requests. */
GST_START_TEST (test_threads)
{
  const guint most = MIN (gst_spdl_get_num_cores (), 4);
  const struct {
    const gchar *fetch;
    guint n_threads;
    guint http_threads;
  } cases[] = { { "concurrency=32", most, most }, { "concurrency=4", 1, most },
    { "concurrency=32 hedge=0.1", 1, 1 } };

  server_set_latency (server, 20);
  write_items ("/bytes/0/100", 200);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) pipeline = NULL, element = NULL, sink = NULL;
    g_autoptr (GstStructure) stats = NULL;
    g_autofree gchar *text = NULL;
    GstMessage *end;
    guint n_threads = 0;
    guint64 http_threads;

    text =
        g_strdup_printf ("spdlsrc location=%s/list.txt ! spdlfetch name=fetch "
                         "%s ! fakesink name=sink signal-handoffs=true",
            folder, cases[i].fetch);
    pipeline = gst_parse_launch (text, NULL);
    element = gst_bin_get_by_name (GST_BIN (pipeline), "fetch");
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    g_signal_connect (
        sink, "handoff", G_CALLBACK (count_http_threads), &n_threads);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    end = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
        60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (end && GST_MESSAGE_TYPE (end) == GST_MESSAGE_EOS);
    gst_message_unref (end);
    g_object_get (element, "stage-stats", &stats, NULL);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    fail_unless_equals_int (n_threads, cases[i].n_threads);
    fail_unless (
        gst_structure_get_uint64 (stats, "http-threads", &http_threads));
    fail_unless_equals_uint64 (http_threads, cases[i].http_threads);
  }
}

GST_END_TEST;

/* Tests that a body in chunks leaves its connection in use, with trailers or
 * not. */
GST_START_TEST (test_chunks_keep_connection)
{
  ServerCounts counts;
  Run *run;

  for (guint i = 0; i < 2; i++) {
    write_items (i == 0 ? "/chunks/0/100000" : "/rich-chunks/99/100000", 10);
    run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                        "concurrency=1 ! fakesink name=sink",
        folder);
    fail_unless_equals_int (run->buffers->len, 10);
    for (guint j = 0; j < 10; j++)
      assert_body (run, j, 0, 100000, 0);
    run_free (run);
    server_get_counts (server, &counts);
    fail_unless_equals_int (counts.connections, i + 1);
  }
}

GST_END_TEST;

/* Tests that an interrupted body is resumed at its offset, with the ETag in
 * If-Range. */
GST_START_TEST (test_resume)
{
  static const gchar *paths[] = { "/break/2/300000",
    "/break/1/100000#bytes=1000-50999", "/norange/1/100000#bytes=1000-50999",
    "/changed/1/100000", "/bytes/0/1000#bytes=0-0",
    "/bytes/0/1000#bytes=999-999", "/bytes/0/1000#bytes=500-1000",
    "/bytes/0/1000#bytes=1000-2000", "/otherrange/99/1000#bytes=5-9" };
  g_autofree gchar *request = NULL;
  Run *run = run_paths (paths, G_N_ELEMENTS (paths), "concurrency=4 retries=2");

  fail_unless_equals_int (run->buffers->len, 6);
  assert_body (run, 0, 0, 300000, 0);
  assert_body (run, 1, 1000, 50000, 0);
  assert_body (run, 2, 1000, 50000, 0);
  assert_body (run, 3, 0, 100000, 2);
  assert_body (run, 4, 0, 1, 0);
  assert_body (run, 5, 999, 1, 0);
  fail_unless_equals_int (run->failures->len, 3);
  fail_unless (
      errors_text_has (reason_of (run, paths[6]), "[resource-error read]|1000"),
      "%s", reason_of (run, paths[6]));
  fail_unless (errors_text_has (reason_of (run, paths[7]), "416"));
  fail_unless (
      errors_text_has (reason_of (run, paths[8]), "[resource-error read]"));

  request = server_dup_request (server, "/break/2/300000");
  fail_unless (strstr (request, "Range: bytes=") != NULL);
  fail_unless (strstr (request, "Range: bytes=0-") == NULL);
  fail_unless (strstr (request, "If-Range: \"v0\"") != NULL);
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_limits)
{
  static const gchar *paths[] = { "/bytes/0/1001", "/chunks/0/1001",
    "/huge/99/10", "/endless-body/99/1", "/bytes/0/1000",
    "/bytes/0/5000#bytes=0-999", "/chunks/0/1000" };
  Run *run = run_paths (paths, G_N_ELEMENTS (paths), "max-size=1000");

  fail_unless_equals_int (run->buffers->len, 3);
  fail_unless_equals_int (run->failures->len, 4);
  /* No more is read than shows that it is too much. */
  fail_unless (errors_text_has (reason_of (run, paths[3]), "1001 bytes"), "%s",
      reason_of (run, paths[3]));
  for (guint i = 0; i < 4; i++) {
    fail_unless (errors_text_has (run_failure_text (run, i),
                     "[resource-error read]|max-size|(1000)"),
        "%s", run_failure_text (run, i));
    fail_unless_equals_int (server_count_path (server, paths[i]), 1);
  }
  run_free (run);

  files_write_text (folder, "large", "0123456789");
  run = run_pipeline ("spdlsrc location=%s pattern=large ! spdlfetch "
                      "max-size=9 ! fakesink name=sink",
      folder);
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (errors_text_has (
      run_failure_text (run, 0), "[resource-error read]|max-size|(9)"));
  run_free (run);
}

GST_END_TEST;

/* Tests that task-timeout limits the time of all attempts together, and that of
 * a slow but steady body. */
GST_START_TEST (test_task_timeout)
{
  static const gchar *paths[] = { "/drip/99/100000", "/stall-head/99/1",
    "/503/99/1", "/503+5/99/1", "/bytes/0/10" };
  Run *run = run_paths (paths, G_N_ELEMENTS (paths),
      "concurrency=5 retries=1000 timeout=30 task-timeout=1000000000");

  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless_equals_int (run->failures->len, 4);
  for (guint i = 0; i < 4; i++) {
    const gchar *reason = run_failure_text (run, i);
    const gchar *expected = strstr (failure_uri (run, i), "/503")
                                ? "[resource-error busy]|503"
                                : "task-timeout";

    fail_unless (errors_text_has (reason, expected), "%s: %s",
        failure_uri (run, i), reason);
  }
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_retry_after)
{
  static const gchar *paths[] = { "/429+1/1/10", "/503+3600/1/10" };
  const gint64 begun = g_get_monotonic_time ();
  Run *run = run_paths (paths, G_N_ELEMENTS (paths), "concurrency=2");

  fail_unless (g_get_monotonic_time () - begun >= G_TIME_SPAN_SECOND);
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (errors_text_has (
                   run_failure_text (run, 0), "[resource-error busy]|3600|300"),
      "%s", run_failure_text (run, 0));
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_headers)
{
  static const gchar *paths[] = { "/bytes/0/10" };
  g_autofree gchar *request = NULL;
  Run *run = run_paths (paths, 1,
      "user-agent=somebody/1.0 extra-headers=\"headers, Authorization=(string)"
      "secret, X-Many=(string){one, two}, X-Number=5;\"");

  fail_unless_equals_int (run->buffers->len, 1);
  request = server_dup_request (server, paths[0]);
  fail_unless (strstr (request, "User-Agent: somebody/1.0"), "%s", request);
  fail_unless (strstr (request, "Authorization: secret"), "%s", request);
  fail_unless (strstr (request, "X-Many: one"), "%s", request);
  fail_unless (strstr (request, "X-Many: two"), "%s", request);
  fail_unless (strstr (request, "X-Number: 5"), "%s", request);
  fail_unless (strstr (request, "Accept-Encoding: identity"), "%s", request);
  run_free (run);
}

GST_END_TEST;

/* Tests that an unknown certificate is rejected without a retry, and accepted
 * with tls-ca-file for the host that it names. */
GST_START_TEST (test_tls)
{
  Server *tls = server_new (TRUE);
  g_autofree gchar *list = NULL;
  Run *run;

  files_write_text (folder, "ca.pem", server_get_certificate ());
  list =
      g_strdup_printf ("%s/bytes/0/100000\nhttps://localhost:%u/bytes/0/10\n",
          server_get_base (tls), server_get_port (tls));
  files_write_text (folder, "list.txt", list);

  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch ! "
                      "fakesink name=sink",
      folder);
  fail_unless_equals_int (run->failures->len, 2);
  fail_unless (
      errors_text_has (run_failure_text (run, 0), "[resource-error open-read]"),
      "%s", run_failure_text (run, 0));
  fail_unless (strstr (run_failure_text (run, 0), "attempts") == NULL);
  run_free (run);

  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                      "tls-ca-file=%s/ca.pem ! fakesink name=sink",
      folder, folder);
  fail_unless_equals_int (run->buffers->len, 1);
  assert_body (run, 0, 0, 100000, 0);
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (strstr (failure_uri (run, 0), "localhost"));
  run_free (run);

  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                      "tls-ca-file=%s/list.txt ! fakesink name=sink",
      folder, folder);
  fail_unless (run->error && errors_text_has (run->error, "tls-ca-file"), "%s",
      run->error);
  run_free (run);
  server_free (tls);
}

GST_END_TEST;

static guint
count_requests (void)
{
  ServerCounts counts;

  server_get_counts (server, &counts);
  return counts.requests;
}

/* Tests that a pipeline with only stalled requests, which no timeout ends,
 * stops. */
GST_START_TEST (test_stop_and_restart)
{
  g_autofree gchar *list = NULL;
  g_autofree gchar *description = NULL;
  GstElement *pipeline;

  list = g_strdup_printf (
      "%s/stall-head/99/1\n%s/stall-body/99/1000\n%s/500/99/1\n"
      "%s/bytes/0/1\n%s/drip/99/10000\n",
      server_get_base (server), server_get_base (server),
      server_get_base (server), server_get_base (server),
      server_get_base (server));
  files_write_text (folder, "list.txt", list);
  description =
      g_strdup_printf ("spdlsrc location=%s/list.txt epochs=-1 ! "
                       "spdlaggregate size=5 ! spdlfetch name=fetch "
                       "timeout=0 concurrency=20 retries=1000 ! fakesink",
          folder);
  pipeline = gst_parse_launch (description, NULL);
  for (guint i = 0; i < 10; i++) {
    const guint before = count_requests ();

    fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) !=
                 GST_STATE_CHANGE_FAILURE);
    wait_until (count_requests () >= before + 2 * i);
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i % 2 ? GST_STATE_NULL : GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static GstBuffer *
make_uri_item (guint64 number, const gchar *path)
{
  return rig_make_uri_item (number, server_get_base (server), path);
}

/* Tests that a failure in a group affects only its own item, and that order and
 * metas are kept. */
GST_START_TEST (test_group)
{
  static const gchar *paths[] = { "/bytes/0/10", "/404/99/1", "/break/1/100000",
    "/bytes/0/20", "/bytes/0/30" };
  Rig *rig = rig_new ("spdlfetch", "concurrency", 3, NULL);
  GstBufferList *group = gst_buffer_list_new ();

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    gst_buffer_list_add (group, make_uri_item (i, paths[i]));
  rig_start (rig, "text/uri-list");
  fail_unless_equals_int (gst_pad_push_list (rig->src, group), GST_FLOW_OK);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  g_mutex_lock (&rig->lock);
  fail_unless_equals_int (rig->buffers->len, 4);
  fail_unless_equals_int (
      gst_buffer_get_size (g_ptr_array_index (rig->buffers, 1)), 100000);
  g_mutex_unlock (&rig->lock);
  rig_assert_log (rig, "failed 1 [0 2 3 4] gone failed 1 eos");
  rig_free (rig);
}

GST_END_TEST;

/* Tests that items of a joined request get no second limit: they are not
 * fetched separately when their time is over. That of the second item may begin
 * later. */
GST_START_TEST (test_task_timeout_joined)
{
  static const gchar file[] = "/stall-head/99/1000";
  static const gchar *paths[] = { "/stall-head/99/1000#bytes=0-9",
    "/stall-head/99/1000#bytes=10-19" };
  Rig *rig = rig_new ("spdlfetch", "concurrency", 2, "coalesce",
      G_GUINT64_CONSTANT (100), "task-timeout", GST_SECOND, NULL);
  GstBufferList *group = gst_buffer_list_new ();

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    gst_buffer_list_add (group, make_uri_item (i, paths[i]));
  rig_start (rig, "text/uri-list");
  fail_unless_equals_int (gst_pad_push_list (rig->src, group), GST_FLOW_OK);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (server_count_path (server, file) <= 2);
  fail_unless_equals_int (rig_count_items (rig), 0);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-failures"), 2);
  rig_free (rig);
}

GST_END_TEST;

static GFile *
find_slowly (GVfs *vfs, const char *identifier, gpointer user_data)
{
  g_usleep (350000);
  return g_file_new_for_path (identifier + strlen ("test://"));
}

/* Tests that the limit includes the time of a server and that of the file to
 * which it redirects. */
GST_START_TEST (test_task_timeout_elsewhere)
{
  static const gchar *paths[] = { "/to/99/1/a" };
  g_autofree gchar *place = g_strdup_printf ("test://%s/a", folder);
  Run *run;

  fail_unless (g_vfs_register_uri_scheme (g_vfs_get_default (), "test",
      find_slowly, NULL, NULL, find_slowly, NULL, NULL));
  files_write_text (folder, "a", "0123456789");
  server_set_place (server, "a", place);
  server_set_latency (server, 350);
  run = run_paths (paths, 1, "trusted-origins=test:");
  fail_unless_equals_int (run->buffers->len, 1);
  run_free (run);
  run = run_paths (paths, 1, "trusted-origins=test: task-timeout=500000000");
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (errors_text_has (run_failure_text (run, 0), "task-timeout"),
      "%s", run_failure_text (run, 0));
  run_free (run);
}

GST_END_TEST;

static void
end_flush (Rig *rig)
{
  GstSegment segment;

  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
}

static void
flush (Rig *rig)
{
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  end_flush (rig);
}

/* Checks that an item after the last flush is fetched, and that no other item
 * comes out. */
static void
end_with_item (Rig *rig)
{
  g_free (rig_take_log (rig));
  fail_unless_equals_int (
      gst_pad_push (rig->src, make_uri_item (7, "/bytes/0/77")), GST_FLOW_OK);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "7 eos");
  rig_free (rig);
}

/* Tests that a flush cancels the requests in flight, and that later items are
 * fetched. None of the answers limits the number of requests (503): those that
 * hang would keep all others waiting. */
GST_START_TEST (test_flush)
{
  Rig *rig = rig_new ("spdlfetch", "concurrency", 8, NULL);

  rig_start (rig, "text/uri-list");
  for (guint round = 0; round < 20; round++) {
    g_autofree gchar *good = g_strdup_printf ("/bytes/0/%u", 1000 + round);
    const gchar *paths[] = { "/stall-head/99/1", "/stall-body/99/1000",
      "/drip/99/1000", "/500/99/1", good };
    const guint before = count_requests ();

    for (guint i = 0; i < 5; i++)
      fail_unless_equals_int (
          gst_pad_push (rig->src, make_uri_item (i, paths[i])), GST_FLOW_OK);
    wait_until (count_requests () >= before + round % 6);
    flush (rig);
  }
  end_with_item (rig);
}

GST_END_TEST;

#ifndef __SANITIZE_ADDRESS__
/* GStreamer never frees its lists of log functions, which LeakSanitizer
 * reports. */

/* Whether the client is held after a timeout, and may go on. Atomic. */
static gint held = FALSE, released = FALSE;

/* Holds a thread of the client until the timeout of its first request is over,
 * and again in the next iteration of its main loop, after the timer has fired:
 * it was attached before this source, with the same priority. The attempt that
 * it cancels ends in a later iteration. */
static gboolean
hold_client (GSource *source, GSourceFunc callback, gpointer data)
{
  static gboolean again = FALSE;

  if (again) {
    g_atomic_int_set (&held, TRUE);
    wait_until (g_atomic_int_get (&released));
  } else {
    g_usleep (1100000);
  }
  g_source_set_ready_time (source, again ? -1 : 0);
  again = TRUE;
  return G_SOURCE_CONTINUE;
}

/* Adds a source to the main loop of the thread that logs a redirect. */
static void
on_redirect (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer user_data)
{
  static GSourceFuncs funcs = { NULL, NULL, hold_client, NULL };
  GSource *source;

  if (!strstr (gst_debug_message_get (message), "redirects to"))
    return;
  source = g_source_new (&funcs, sizeof (GSource));
  g_source_set_ready_time (source, 0);
  g_source_attach (source, g_main_context_get_thread_default ());
  g_source_unref (source);
}

/* Tests a flush after the timeout of a request and before its attempt has
 * ended: the request is not repeated. */
GST_START_TEST (test_flush_at_timeout)
{
  static const gchar stalled[] = "/stall-body/99/1000";
  Rig *rig =
      rig_new ("spdlfetch", "concurrency", 2, "timeout", 1, "retries", 5, NULL);

  gst_debug_set_threshold_for_name ("spdlfetch", GST_LEVEL_DEBUG);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (on_redirect, NULL, NULL);
  rig_start (rig, "text/uri-list");
  gst_pad_push (rig->src, make_uri_item (0, stalled));
  wait_until (server_count_path (server, stalled) > 0);
  gst_pad_push (rig->src, make_uri_item (1, "/moved/99/1000"));
  wait_until (g_atomic_int_get (&held));
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  g_atomic_int_set (&released, TRUE);
  end_flush (rig);
  fail_unless_equals_int (server_count_path (server, stalled), 1);
  gst_debug_remove_log_function (on_redirect);
  end_with_item (rig);
}

GST_END_TEST;
#endif

/* Tests flushes at random moments, from before the connection until after the
 * body. They cancel at least 10,000 requests, until 1,000 have reached the
 * server. The delays grow with each round, as slow machines need longer ones.
 * No request is freed twice, as libsoup 3.4 to 3.6.5 does if it is cancelled
 * between its headers and its response. */
GST_START_TEST (test_cancelled_at_random)
{
  static const gchar *paths[] = { "/bytes/0/10", "/bytes/0/40000",
    "/moved/99/1000", "/chunks/0/100000", "/close/0/1000", "/404/99/1" };
  Rig *rig = rig_new ("spdlfetch", "concurrency", 50, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (26);
  ServerCounts counts = { 0 };

  rig_start (rig, "text/uri-list");
  for (guint round = 0; round < 200 || counts.requests <= 1000; round++) {
    for (guint i = 0; i < 50; i++)
      fail_unless_equals_int (
          gst_pad_push (rig->src,
              make_uri_item (
                  i, paths[g_rand_int_range (rand, 0, G_N_ELEMENTS (paths))])),
          GST_FLOW_OK);
    g_usleep (g_rand_int_range (rand, 0, 80 * (round + 1)));
    flush (rig);
    server_get_counts (server, &counts);
  }
  end_with_item (rig);
}

GST_END_TEST;

/* Tests a refused connection. */
GST_START_TEST (test_refused)
{
  Server *gone = server_new (FALSE);
  g_autofree gchar *list =
      g_strdup_printf ("%s/bytes/0/1\n", server_get_base (gone));
  Run *run;

  server_free (gone);
  files_write_text (folder, "list.txt", list);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch retries=1 ! "
                      "fakesink name=sink",
      folder);
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (errors_text_has (
                   run_failure_text (run, 0), "[resource-error open-read]|2"),
      "%s", run_failure_text (run, 0));
  run_free (run);
}

GST_END_TEST;

static Suite *
http_suite (void)
{
  Suite *s = suite_create ("http");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_faults);
  tcase_add_test (tc, test_in_flight_singly);
  tcase_add_test (tc, test_in_flight_in_groups);
  tcase_add_test (tc, test_threads);
  tcase_add_test (tc, test_chunks_keep_connection);
  tcase_add_test (tc, test_resume);
  tcase_add_test (tc, test_limits);
  tcase_add_test (tc, test_task_timeout);
  tcase_add_test (tc, test_retry_after);
  tcase_add_test (tc, test_headers);
  tcase_add_test (tc, test_tls);
  tcase_add_test (tc, test_stop_and_restart);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_group);
  tcase_add_test (tc, test_task_timeout_joined);
  tcase_add_test (tc, test_task_timeout_elsewhere);
  tcase_add_test (tc, test_flush);
#ifndef __SANITIZE_ADDRESS__
  tcase_add_test (tc, test_flush_at_timeout);
#endif
  tcase_add_test (tc, test_cancelled_at_random);
  return s;
}

GST_CHECK_MAIN (http);
