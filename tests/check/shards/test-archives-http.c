/* gst-spdl: tests of shards over HTTP and of coalesced requests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib/gstdio.h>
#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/served.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/tars.h"
#include "tests/check/support/wait.h"

/* The size of a sample's payload, which is large compared to a header. */
#define SIZE 60000
#define N_SHARDS 64
#define N_EACH 4

static void
write_shards (guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("train-%04u.tar", i);

    tar_write_shard (served.folder, name, i * N_EACH, N_EACH, SIZE);
  }
}

static guint64
shard_size (void)
{
  g_autofree gchar *path =
      g_build_filename (served.folder, "train-0000.tar", NULL);
  GStatBuf st;

  fail_unless_equals_int (g_stat (path, &st), 0);
  return st.st_size;
}

static Run *
run_shards (const gchar *shards, const gchar *source, const gchar *rest)
{
  Run *run = run_pipeline ("spdlsrc location=\"%s/shard/0/0/%s\" %s ! %s "
                           "! fakesink name=sink",
      server_get_base (served.server), shards, source, rest);

  fail_unless (run->error == NULL, "%s", run->error);
  return run;
}

static void
assert_samples (Run *run, guint n)
{
  guint64 sum = 0;

  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, n);
  for (guint i = 0; i < n; i++) {
    const GstSpdlItemMeta *item = run_item (run, i);
    const gsize size = SIZE + item->index;
    g_autofree guint8 *expected = g_malloc (size);
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);

    tar_fill (expected, size, item->index);
    fail_unless_equals_int (gst_buffer_get_size (buffer), size);
    fail_unless (
        gst_buffer_memcmp (buffer, 0, expected, size) == 0, "%s", item->uri);
    fail_unless_equals_int64 (item->label, item->index);
    sum += item->index;
  }
  fail_unless_equals_uint64 (sum, (guint64) n * (n - 1) / 2);
  run_free (run);
}

/* Returns the requests to the server since the last call. */
static ServerCounts
take_counts (void)
{
  static ServerCounts last;
  ServerCounts now, counts;

  server_get_counts (served.server, &now);
  if (now.requests < last.requests)
    memset (&last, 0, sizeof last);
  counts = now;
  counts.requests -= last.requests;
  counts.bytes -= last.bytes;
  last = now;
  return counts;
}

/* Tests 64 shards, of which only the headers are read, and then their indexes,
 * in the cache or next to the shards. */
GST_START_TEST (test_64_shards)
{
  guint64 whole;
  ServerCounts counts;

  write_shards (N_SHARDS);
  whole = N_SHARDS * shard_size ();
  take_counts ();
  run_free (
      run_shards ("train-{0000..0063}.tar", "index-cache=always", "identity"));
  counts = take_counts ();
  fail_unless (counts.bytes < whole / 4,
      "%" G_GUINT64_FORMAT " bytes of "
      "%" G_GUINT64_FORMAT,
      counts.bytes, whole);

  /* With a cached index, one byte of each shard validates it. */
  assert_samples (run_shards ("train-{0000..0063}.tar", "shuffle=true",
                      "spdlfetch concurrency=16"),
      N_SHARDS * N_EACH);
  counts = take_counts ();
  fail_unless_equals_int (counts.requests, N_SHARDS + N_SHARDS * N_EACH);
}

GST_END_TEST;

static void
index_beside (guint n)
{
  for (guint i = 0; i < n; i++) {
    Run *run =
        run_pipeline ("spdlsrc location=%s/train-%04u.tar index-cache=always "
                      "! fakesink name=sink",
            served.folder, i);

    fail_unless (run->error == NULL, "%s", run->error);
    run_free (run);
  }
}

/* Tests an index that was made from a local file. Some bytes of the shard
 * validate it first, and its ETag later. */
GST_START_TEST (test_index_on_server)
{
  ServerCounts counts;

  write_shards (2);
  index_beside (2);
  take_counts ();
  run_free (run_shards ("train-{0000..0001}.tar", "", "identity"));
  counts = take_counts ();
  /* A byte of the shard, a byte of its index, the index, and four samples. */
  fail_unless_equals_int (counts.requests, 2 * (1 + 1 + 1 + 4));
  fail_unless (counts.bytes < 2 * 20000);

  /* The index does not match another shard of the same size. */
  tar_write_shard (served.folder, "train-0001.tar", N_EACH, N_EACH, SIZE + 1);
  tar_write_shard (served.folder, "train-0000.tar", 0, N_EACH, SIZE);
  run_free (run_shards ("train-0000.tar", "", "identity"));
  assert_samples (
      run_shards ("train-0000.tar", "index-cache=none", "spdlfetch"), N_EACH);
}

GST_END_TEST;

/* Tests a shard that changes on the server. */
GST_START_TEST (test_changed)
{
  Run *run;

  write_shards (1);
  run_free (run_shards ("train-0000.tar", "index-cache=always", "identity"));
  tar_write_shard (served.folder, "train-0000.tar", 100, N_EACH, SIZE - 100);
  tar_set_time (served.folder, "train-0000.tar", 1);
  run = run_shards ("train-0000.tar", "index-cache=always", "identity");
  fail_unless_equals_int64 (run_item (run, 0)->label, 100);
  run_free (run);
}

GST_END_TEST;

static void
assert_refused (const gchar *path, const gchar *part)
{
  Run *run = run_pipeline ("spdlsrc location=\"%s/%s\" ! fakesink name=sink",
      server_get_base (served.server), path);

  fail_unless (run->error && errors_text_has (run->error, part), "%s: %s", path,
      run->error);
  run_free (run);
}

/* Tests that every request for a shard or its index has the extra headers, as
 * spdlfetch's have. */
GST_START_TEST (test_headers)
{
  static const gchar *const paths[] = { "/shard/0/0/train-0000.tar",
    "/shard/0/0/train-0000.tar.spdl-index" };
  Run *run;

  write_shards (1);
  index_beside (1);
  run = run_shards ("train-0000.tar",
      "user-agent=agent/7 timeout=9 retries=2 extra-headers=\"headers,"
      "Authorization=(string)\\\"Bearer abc\\\"\"",
      "identity");
  fail_unless_equals_int (run->buffers->len, N_EACH);
  run_free (run);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autofree gchar *request = server_dup_request (served.server, paths[i]);

    fail_unless (request && strstr (request, "Authorization: Bearer abc\r\n") &&
                     strstr (request, "User-Agent: agent/7"),
        "%s: %s", paths[i], request);
  }
  run = run_pipeline ("spdlsrc location=%s/shard/0/0/train-0000.tar "
                      "tls-ca-file=/none.pem ! fakesink name=sink",
      server_get_base (served.server));
  fail_unless (
      run->error && errors_text_has (run->error,
                        "[resource-error settings]|tls-ca-file|\"/none.pem\""));
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_refused)
{
  g_autofree gchar *path =
      g_build_filename (served.folder, "train-0000.tar", NULL);

  write_shards (1);
  assert_refused (
      "shard/0/0/none.tar", "[resource-error not-found]|none.tar|404");
  fail_unless_equals_int (truncate (path, 3 * SIZE), 0);
  assert_refused ("shard/0/0/train-0000.tar", "[resource-error read]");
  files_write_text (served.folder, "train-0000.tar", "not a tar");
  assert_refused ("shard/0/0/train-0000.tar", "[resource-error read]|ZIP");
}

GST_END_TEST;

/* Coalesced requests */

static void
index_all (guint n)
{
  write_shards (n);
  take_counts ();
  run_free (
      run_shards ("train-{0000..0003}.tar", "index-cache=always", "identity"));
  take_counts ();
}

GST_START_TEST (test_coalesce)
{
  /* Groups of 8, with 16 samples in 4 shards. */
  index_all (4);
  assert_samples (run_shards ("train-{0000..0003}.tar", "",
                      "spdlaggregate size=8 ! spdlfetch coalesce=4096 "
                      "concurrency=3 ! spdldisaggregate"),
      4 * N_EACH);
  /* Each shard takes one more request for validation. */
  fail_unless_equals_int (take_counts ().requests, 4 + 4);
  assert_samples (run_shards ("train-{0000..0003}.tar", "",
                      "spdlaggregate size=8 ! spdlfetch coalesce=512 "
                      "concurrency=3 ! spdldisaggregate"),
      4 * N_EACH);
  fail_unless_equals_int (take_counts ().requests, 4 + 4 * N_EACH);
  /* The order within a group does not matter, and no request exceeds
   * max-size. */
  assert_samples (run_shards ("train-{0000..0003}.tar", "shuffle=true",
                      "spdlaggregate size=16 ! spdlfetch coalesce=4096 "
                      "concurrency=16 ! spdldisaggregate"),
      4 * N_EACH);
  fail_unless_equals_int (take_counts ().requests, 4 + 4);
  assert_samples (run_shards ("train-{0000..0003}.tar", "",
                      "spdlaggregate size=8 ! spdlfetch coalesce=4096 "
                      "max-size=130000 ! spdldisaggregate"),
      4 * N_EACH);
  fail_unless_equals_int (take_counts ().requests, 4 + 8);
}

GST_END_TEST;

GST_START_TEST (test_coalesce_files)
{
  Run *run;

  write_shards (4);
  assert_samples (
      run_pipeline ("spdlsrc location=%s/train-*.tar shuffle=true "
                    "! spdlaggregate size=8 ! spdlfetch "
                    "coalesce=4096 concurrency=4 ! spdldisaggregate ! fakesink "
                    "name=sink",
          served.folder),
      4 * N_EACH);
  run = run_pipeline (
      "spdlsrc location=%s/train-0000.tar ! spdlaggregate size=8 ! spdlfetch "
      "coalesce=4096 output-order=input ! spdldisaggregate ! fakesink "
      "name=sink",
      served.folder);
  fail_unless_equals_int (run->buffers->len, N_EACH);
  /* The items share one memory. */
  for (guint i = 1; i < N_EACH; i++)
    fail_unless (gst_buffer_peek_memory (g_ptr_array_index (run->buffers, i), 0)
                     ->parent ==
                 gst_buffer_peek_memory (g_ptr_array_index (run->buffers, 0), 0)
                     ->parent);
  run_free (run);
}

GST_END_TEST;

/* Tests that an invalid item drops only itself. The range that covers both ends
 * beyond the end of the file. */
GST_START_TEST (test_coalesce_failures)
{
  g_autofree gchar *list = g_strdup_printf (
      "%s/bytes/0/5000#bytes=0-99\n%s/bytes/0/5000#bytes=4900-5000\n"
      "%s/bytes/0/5000#bytes=200-299\n%s/bytes/0/5000#bytes=x\n"
      "%s/bytes/0/5000\n",
      server_get_base (served.server), server_get_base (served.server),
      server_get_base (served.server), server_get_base (served.server),
      server_get_base (served.server));
  Run *run;

  files_write_text (served.folder, "list.txt", list);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlaggregate size=5 ! "
                      "spdlfetch coalesce=10000 output-order=input retries=0 ! "
                      "spdldisaggregate ! fakesink name=sink",
      served.folder);
  fail_unless_equals_int (run->buffers->len, 3);
  fail_unless_equals_int (run_item (run, 0)->index, 0);
  fail_unless_equals_int (run_item (run, 1)->index, 2);
  fail_unless_equals_int (run_item (run, 2)->index, 4);
  fail_unless_equals_int (run->failures->len, 2);
  fail_unless_equals_int (
      server_count_path (served.server, "/bytes/0/5000"), 5);
  run_free (run);
}

GST_END_TEST;

/* Tests a server that breaks off large responses; items are then requested
 * singly. */
GST_START_TEST (test_coalesce_alone)
{
  g_autofree gchar *uri = g_strdup_printf (
      "%s/shard/1000/70000/train-0000.tar", server_get_base (served.server));
  Run *run;

  write_shards (1);
  run = run_pipeline (
      "spdlsrc location=%s index-cache=none ! spdlaggregate size=4 ! "
      "spdlfetch coalesce=10000 retries=0 ! spdldisaggregate ! "
      "fakesink name=sink",
      uri);
  fail_unless (run->error == NULL, "%s", run->error);
  assert_samples (run, N_EACH);
  /* Items that were requested singly are cached as well. */
  for (guint i = 0; i < 2; i++) {
    run = run_pipeline (
        "spdlsrc location=%s index-cache=none ! spdlaggregate size=4 "
        "! spdlfetch coalesce=10000 retries=0 cache-dir=%s/items "
        "cache-validate=none ! spdldisaggregate ! fakesink "
        "name=sink",
        uri, served.cache);
    fail_unless (run->error == NULL, "%s", run->error);
    assert_samples (run, N_EACH);
  }
}

GST_END_TEST;

/* Tests a flush while requests are in flight and while items wait for one. */
GST_START_TEST (test_coalesce_flush)
{
  Rig *rig = rig_new ("spdlfetch", "coalesce", G_GUINT64_CONSTANT (10000),
      "concurrency", 4, NULL);
  GstBufferList *group = gst_buffer_list_new ();

  rig_start (rig, "text/uri-list");
  for (guint i = 0; i < 8; i++) {
    gchar *uri = g_strdup_printf ("%s/stall-body/9/5000#bytes=%u-%u",
        server_get_base (served.server), i * 100, i * 100 + 99);
    GstBuffer *item = rig_make_item (i, 1);

    gst_buffer_replace_all_memory (
        item, gst_memory_new_wrapped (
                  0, uri, strlen (uri), 0, strlen (uri), uri, g_free));
    gst_buffer_list_add (group, item);
  }
  fail_unless_equals_int (gst_pad_push_list (rig->src, group), GST_FLOW_OK);
  while (server_count_path (served.server, "/stall-body/9/5000") == 0)
    g_thread_yield ();
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (rig_count_items (rig), 0);
  rig_free (rig);
  fail_unless_equals_int (
      server_count_path (served.server, "/stall-body/9/5000"), 1);
}

GST_END_TEST;

/* Starts */

#define SILENT "/stall-head/99/0/a.tar"
#define HERE "/shard/0/0/train-0000.tar"

static GstElement *
make_source (const gchar *path)
{
  g_autofree gchar *location =
      g_strconcat (server_get_base (served.server), path, NULL);
  GstElement *src = gst_element_factory_make ("spdlsrc", NULL);

  g_object_set (
      src, "location", location, "timeout", 0, "index-cache", 0, NULL);
  return src;
}

static GstElement *
make_pipeline (GstElement *src)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);

  gst_bin_add_many (GST_BIN (pipeline), src, sink, NULL);
  fail_unless (gst_element_link (src, sink));
  return pipeline;
}

static GstMessage *
take_message (GstElement *pipeline, GstMessageType types, GstClockTime timeout)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, timeout, types);

  gst_object_unref (bus);
  return message;
}

static void
assert_message (GstElement *pipeline, GstMessageType type)
{
  GstMessage *message =
      take_message (pipeline, type | GST_MESSAGE_ERROR, 60 * GST_SECOND);

  fail_unless (message && GST_MESSAGE_TYPE (message) == type,
      "%" GST_PTR_FORMAT, message);
  gst_message_unref (message);
}

static void
assert_open (GstElement *src, guint n)
{
  g_autofree gchar *start = NULL;
  guint64 num_items;

  g_object_get (src, "num-items", &num_items, "start-state", &start, NULL);
  fail_unless_equals_uint64 (num_items, n);
  fail_unless (start != NULL);
}

/* A source whose server never answers changes its state at once, up and down,
 * and without an error. */
GST_START_TEST (test_start_of_silence)
{
  GstElement *src = make_source (SILENT), *pipeline = make_pipeline (src);

  for (guint i = 0; i < 8; i++) {
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED),
        GST_STATE_CHANGE_ASYNC);
    if (i & 4)
      wait_until (server_count_path (served.server, SILENT) > i - 4);
    fail_unless_equals_int (
        gst_element_get_state (src, NULL, NULL, 0), GST_STATE_CHANGE_ASYNC);
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i & 2 ? GST_STATE_NULL : GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
  }
  fail_unless (take_message (pipeline, GST_MESSAGE_ERROR, 0) == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* The end of the stream ends the wait for a server, too. */
GST_START_TEST (test_end_of_silence)
{
  GstElement *pipeline = make_pipeline (make_source (SILENT));

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_until (server_count_path (served.server, SILENT) > 0);
  fail_unless (gst_element_send_event (pipeline, gst_event_new_eos ()));
  assert_message (pipeline, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* The change to PAUSED ends when the dataset is open, in a pipeline and of the
 * element alone. */
GST_START_TEST (test_start)
{
  GstElement *src = make_source (HERE), *pipeline = make_pipeline (src);
  GstElement *alone = gst_object_ref_sink (make_source (HERE));
  GstState state;

  write_shards (1);
  server_set_latency (served.server, 20);
  for (guint i = 0; i < 2; i++) {
    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
        GST_STATE_CHANGE_ASYNC);
    assert_message (pipeline, GST_MESSAGE_ASYNC_DONE);
    assert_open (src, N_EACH);
    gst_element_set_state (pipeline, GST_STATE_READY);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  assert_message (pipeline, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);

  for (state = GST_STATE_PAUSED; state <= GST_STATE_PLAYING; state++) {
    GstState reached;

    fail_unless_equals_int (
        gst_element_set_state (alone, state), GST_STATE_CHANGE_ASYNC);
    fail_unless_equals_int (
        gst_element_get_state (alone, &reached, NULL, GST_CLOCK_TIME_NONE),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (reached, state);
    assert_open (alone, N_EACH);
    gst_element_set_state (alone, GST_STATE_NULL);
  }
  gst_object_unref (alone);
}

GST_END_TEST;

/* A local dataset is open when the state has been set. */
GST_START_TEST (test_start_of_files)
{
  GstElement *src =
      gst_object_ref_sink (gst_element_factory_make ("spdlsrc", NULL));
  g_autofree gchar *path =
      g_build_filename (served.folder, "train-0000.tar", NULL);

  write_shards (1);
  g_object_set (src, "location", path, NULL);
  fail_unless_equals_int (
      gst_element_set_state (src, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  assert_open (src, N_EACH);
  gst_element_set_state (src, GST_STATE_NULL);
  g_object_set (src, "location", "/nowhere", NULL);
  fail_unless_equals_int (
      gst_element_set_state (src, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (src, GST_STATE_NULL);
  gst_object_unref (src);
}

GST_END_TEST;

/* The error of a server is posted once, before the change of state ends. The
 * element can start again. */
GST_START_TEST (test_start_fails)
{
  GstElement *src = make_source ("/404/99/0/a.tar");
  GstElement *pipeline = make_pipeline (src);
  g_autofree gchar *location =
      g_strconcat (server_get_base (served.server), HERE, NULL);

  for (guint i = 0; i < 4; i++) {
    GError *error = NULL;
    GstMessage *message;

    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED),
        GST_STATE_CHANGE_ASYNC);
    message = take_message (
        pipeline, GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE, 60 * GST_SECOND);
    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ERROR);
    fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (src));
    gst_message_parse_error (message, &error, NULL);
    fail_unless (errors_has (error, "[resource-error not-found]|404"));
    g_error_free (error);
    gst_message_unref (message);
    /* GstBin's answer after an error. */
    fail_unless_equals_int (
        gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
        GST_STATE_CHANGE_FAILURE);
    fail_unless_equals_int (
        gst_element_get_state (src, NULL, NULL, GST_CLOCK_TIME_NONE),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless (take_message (pipeline, GST_MESSAGE_ERROR, 0) == NULL);
    gst_element_set_state (pipeline, i & 2 ? GST_STATE_NULL : GST_STATE_READY);
  }
  write_shards (1);
  g_object_set (src, "location", location, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  assert_message (pipeline, GST_MESSAGE_EOS);
  assert_open (src, N_EACH);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

CHECK_SUITE (archives_http, FIXTURE (served_setup, served_teardown),
    TEST (test_64_shards), TEST (test_index_on_server), TEST (test_changed),
    TEST (test_headers), TEST (test_refused), TEST (test_coalesce),
    TEST (test_coalesce_files), TEST (test_coalesce_failures),
    TEST (test_coalesce_alone), TEST (test_coalesce_flush),
    TEST (test_start_of_silence), TEST (test_end_of_silence), TEST (test_start),
    TEST (test_start_of_files), TEST (test_start_fails))
