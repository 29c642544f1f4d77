/* gst-spdl: tests of GstSpdlStage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "rig.h"

static void
assert_sorted_log (Rig *rig, guint n)
{
  GString *expected = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (expected, "%u ", i);
  g_string_append (expected, "eos");
  rig_assert_log (rig, expected->str);
  g_string_free (expected, TRUE);
}

static guint64
get_stat (Rig *rig, const gchar *field)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (rig->element, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &value), "no %s", field);
  gst_structure_free (stats);
  return value;
}

GST_START_TEST (test_input_order)
{
  static const guint concurrencies[] = { 1, 2, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (concurrencies); i++) {
    Rig *rig = rig_new ("spdlteststage", "concurrency", concurrencies[i],
        "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, "jitter", (guint64) 200000,
        NULL);

    rig_start (rig, NULL);
    rig_push_range (rig, 0, 199);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    assert_sorted_log (rig, 200);
    rig_free (rig);
  }
}

GST_END_TEST;

/* With the first item delayed, at least 100 come before it; with input order
 * none does. */
GST_START_TEST (test_straggler)
{
  for (guint order = 0; order < 2; order++) {
    Rig *rig = rig_new ("spdlteststage", "concurrency", 4, "output-order",
        order, "sleep-first", (guint64) 500 * GST_MSECOND, NULL);
    guint position = 0;

    rig_start (rig, NULL);
    rig_push_range (rig, 0, 299);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig_count_items (rig), 300);
    while (gst_spdl_buffer_get_item_meta (
               g_ptr_array_index (rig->buffers, position))
               ->index != 0)
      position++;
    if (order == GST_SPDL_OUTPUT_ORDER_INPUT) {
      fail_unless_equals_int (position, 0);
    } else {
      fail_unless (position >= 100, "%u came before the first", position);
    }
    rig_free (rig);
  }
}

GST_END_TEST;

GST_START_TEST (test_concurrency)
{
  Rig *rig = rig_new (
      "spdlteststage", "concurrency", 6, "sleep", (guint64) 2000000, NULL);
  gint max_running;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 99);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  g_object_get (rig->element, "max-running", &max_running, NULL);
  fail_unless_equals_int (max_running, 6);
  rig_free (rig);
}

GST_END_TEST;

static gpointer
push_many (gpointer data)
{
  rig_push_range (data, 0, 999);
  rig_push_eos (data);
  return NULL;
}

/* A consumer that stops: the stage holds concurrency + queue-size, and the
 * buffer that it is pushing is one of them. */
GST_START_TEST (test_bounded)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 3, "queue-size", 4, NULL);
  GThread *thread;
  gint n_begun;

  rig_hold (rig, TRUE);
  rig_start (rig, NULL);
  thread = g_thread_new ("pusher", push_many, rig);
  do {
    g_usleep (1000);
    g_object_get (rig->element, "n-begun", &n_begun, NULL);
  } while (n_begun < 7);
  g_usleep (30000);
  g_object_get (rig->element, "n-begun", &n_begun, NULL);
  fail_unless_equals_int (n_begun, 7);

  /* Concurrency and queue-size may change meanwhile. */
  g_object_set (rig->element, "queue-size", 10, NULL);
  do {
    g_usleep (1000);
    g_object_get (rig->element, "n-begun", &n_begun, NULL);
  } while (n_begun < 13);
  rig_hold (rig, FALSE);
  g_thread_join (thread);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 1000);
  rig_free (rig);
}

GST_END_TEST;

/* Ends of epochs and the like keep their place in both orders. */
GST_START_TEST (test_barriers)
{
  for (guint order = 0; order < 2; order++) {
    Rig *rig = rig_new ("spdlteststage", "concurrency", 4, "output-order",
        order, "jitter", (guint64) 300000, NULL);
    guint n_since = 0, n_epochs = 0;

    rig_start (rig, NULL);
    for (guint e = 0; e < 20; e++) {
      rig_push_range (rig, e * 10, e * 10 + 9);
      gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, e, 10));
    }
    rig_push_eos (rig);
    rig_wait_eos (rig);
    for (guint i = 0; i < rig->log->len; i++) {
      const gchar *entry = g_ptr_array_index (rig->log, i);

      if (g_str_has_prefix (entry, "epoch")) {
        fail_unless_equals_int (n_since, 10);
        fail_unless_equals_int (atoi (entry + 6), n_epochs);
        n_since = 0;
        n_epochs++;
      } else if (g_ascii_isdigit (entry[0])) {
        fail_unless_equals_int (atoi (entry) / 10, n_epochs);
        n_since++;
      }
    }
    fail_unless_equals_int (n_epochs, 20);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Input caps that change with each item: each result has its own, in one caps
 * event before it, and nothing is drained. */
GST_START_TEST (test_caps_are_no_barrier)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 4, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, "sleep", (guint64) 2000000, NULL);
  gint max_running;

  rig_start (rig, "video/x-raw,width=1");
  for (guint i = 0; i < 40; i++) {
    GstCaps *caps =
        gst_caps_new_simple ("video/x-raw", "width", G_TYPE_INT, i + 1, NULL);

    gst_pad_push_event (rig->src, gst_event_new_caps (caps));
    gst_caps_unref (caps);
    rig_push (rig, i);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  g_object_get (rig->element, "max-running", &max_running, NULL);
  fail_unless_equals_int (max_running, 4);
  fail_unless_equals_string (g_ptr_array_index (rig->log, 0), "stream-start");
  fail_unless_equals_string (g_ptr_array_index (rig->log, 1), "caps");
  fail_unless_equals_string (g_ptr_array_index (rig->log, 2), "segment");
  fail_unless_equals_string (g_ptr_array_index (rig->log, 3), "0");
  for (guint i = 1; i < 40; i++) {
    g_autofree gchar *number = g_strdup_printf ("%u", i);

    fail_unless_equals_string (g_ptr_array_index (rig->log, 2 * i + 2), "caps");
    fail_unless_equals_string (g_ptr_array_index (rig->log, 2 * i + 3), number);
  }
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_failures)
{
  Rig *rig = rig_new ("spdlteststage", "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, "fail-every", 3, NULL);
  const GstStructure *s;
  GError *error = NULL;
  guint64 n;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 5);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  s = rig_find_message (rig, "spdl-item-failed");
  fail_unless_equals_string (gst_structure_get_string (s, "stage"), "stage");
  fail_unless_equals_string (gst_structure_get_string (s, "uri"), "test:5");
  fail_unless (gst_structure_get_uint64 (s, "index", &n) && n == 5);
  fail_unless (gst_structure_get_uint64 (s, "sequence", &n) && n == 5);
  fail_unless (gst_structure_get_uint64 (s, "epoch", &n) && n == 0);
  fail_unless (gst_structure_get_uint64 (s, "num-failures", &n) && n == 2);
  fail_unless (gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL));
  fail_unless (strstr (error->message, "told to fail at 5") != NULL);
  g_error_free (error);
  fail_unless_equals_int (get_stat (rig, "num-failures"), 2);
  fail_unless_equals_int (get_stat (rig, "num-tasks"), 6);
  fail_unless_equals_int (get_stat (rig, "num-items"), 6);
  fail_unless (rig_get_error (rig) == NULL);

  /* Announced in place; the messages come from another thread. */
  GString *log = g_string_new (NULL);
  for (guint i = 0; i < rig->log->len; i++) {
    const gchar *entry = g_ptr_array_index (rig->log, i);

    if (g_ascii_isdigit (entry[0]) || g_str_has_prefix (entry, "gone"))
      g_string_append_printf (log, "%s,", entry);
  }
  fail_unless_equals_string (log->str, "0,1,gone failed 2,3,4,gone failed 5,");
  g_string_free (log, TRUE);
  rig_free (rig);
}

GST_END_TEST;

/* A bad item of a group costs only itself; a group stays a group. */
GST_START_TEST (test_groups)
{
  Rig *rig = rig_new ("spdlteststage", "fail-every", 4, NULL);

  rig_start (rig, NULL);
  rig_push_group (rig, 0, 4);
  rig_push_group (rig, 7, 7);
  rig_push_group (rig, 8, 9);
  rig_push (rig, 10);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  GString *log = g_string_new (NULL);
  for (guint i = 0; i < rig->log->len; i++) {
    const gchar *entry = g_ptr_array_index (rig->log, i);

    if (g_ascii_isdigit (entry[0]) || entry[0] == '[' ||
        g_str_has_prefix (entry, "gone"))
      g_string_append_printf (log, "%s,", entry);
  }
  fail_unless_equals_string (
      log->str, "[0 1 2 4],gone failed 3,gone failed 7,[8 9],10,");
  g_string_free (log, TRUE);
  fail_unless_equals_int (get_stat (rig, "num-tasks"), 4);
  fail_unless_equals_int (get_stat (rig, "num-items"), 9);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_filter_and_many)
{
  Rig *rig = rig_new ("spdlteststage", "filter-every", 2, "yield", 3, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 3);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "0 0 0 gone filtered 1 2 2 2 gone filtered 3 eos");
  for (guint i = 0; i < 6; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, i));

    fail_unless_equals_int (item->part, i % 3);
    fail_unless_equals_int (item->parts, 3);
  }
  fail_unless_equals_int (get_stat (rig, "num-filtered"), 2);
  fail_unless_equals_int (get_stat (rig, "num-failures"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Results without metas get those of their item. */
GST_START_TEST (test_metas_follow)
{
  Rig *rig = rig_new ("spdlteststage", "copy", TRUE, NULL);
  GstBuffer *batch = gst_buffer_new_allocate (NULL, 4, NULL);
  GstSpdlItemMeta other = { .index = 7, .uri = NULL };

  gst_spdl_batch_meta_append (
      gst_spdl_buffer_add_batch_meta (batch, 1), &other);
  rig_start (rig, NULL);
  rig_push (rig, 5);
  gst_pad_push (rig->src, batch);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "5 batch eos");
  const GstSpdlItemMeta *item =
      gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, 0));
  fail_unless_equals_string (item->uri, "test:5");
  fail_unless_equals_int (item->label, 5);
  fail_unless_equals_int (item->parts, 1);
  rig_free (rig);
}

GST_END_TEST;

/* SPDL's own case: of 0 to 9 the odd ones fail, 3 are tolerated. */
GST_START_TEST (test_failure_budget)
{
  Rig *rig = rig_new ("spdlteststage", "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, "fail-every", 2, "max-failures", 3, NULL);
  const gchar *log_end = "gone failed 7 error eos";
  g_autofree gchar *log = NULL;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 9);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  /* All that was good first, then the error, then the end. */
  log = rig_take_log (rig);
  fail_unless (g_str_has_suffix (log, log_end), "%s", log);
  fail_unless_equals_int (rig_count_items (rig), 4);
  fail_unless (strstr (rig_get_error (rig), "test:7") != NULL, "%s",
      rig_get_error (rig));
  fail_unless (strstr (rig_get_error (rig), "told to fail at 7") != NULL);
  fail_unless_equals_int (rig_push (rig, 11), GST_FLOW_EOS);
  rig_free (rig);

  /* As many as are tolerated. */
  rig = rig_new ("spdlteststage", "fail-every", 2, "max-failures", 5, NULL);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 9);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  fail_unless_equals_int (rig_count_items (rig), 5);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_failure_rate)
{
  /* 20 % of 90: not judged yet. */
  Rig *rig = rig_new (
      "spdlteststage", "fail-every", 5, "max-failure-rate", 0.01, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 89);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  rig_free (rig);

  rig = rig_new (
      "spdlteststage", "fail-every", 5, "max-failure-rate", 0.19, NULL);
  rig_start (rig, NULL);
  fail_unless_equals_int (rig_push_range (rig, 0, 999), GST_FLOW_EOS);
  rig_wait_eos (rig);
  fail_unless (strstr (rig_get_error (rig), "max-failure-rate") != NULL);
  fail_unless_equals_int (get_stat (rig, "num-failures"), 20);
  rig_free (rig);

  rig = rig_new (
      "spdlteststage", "fail-every", 5, "max-failure-rate", 0.21, NULL);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 999);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_worker_cannot_be_opened)
{
  Rig *rig =
      rig_new ("spdlteststage", "concurrency", 3, "fail-open", TRUE, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 9);
  rig_wait_eos (rig);
  rig_assert_log (rig, "error eos");
  fail_unless (strstr (rig_get_error (rig), "opening a worker") != NULL);
  rig_free (rig);
}

GST_END_TEST;

/* Without metas the first stage numbers; behind one that did, a buffer without
 * is an error, after the good results. */
GST_START_TEST (test_numbering)
{
  Rig *rig = rig_new (
      "spdlteststage", "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
  GstBufferList *list = gst_buffer_list_new ();

  rig_start (rig, NULL);
  gst_pad_push (rig->src, gst_buffer_new ());
  gst_buffer_list_add (list, gst_buffer_new ());
  gst_buffer_list_add (list, gst_buffer_new ());
  gst_pad_push_list (rig->src, list);
  gst_pad_push (rig->src, gst_buffer_new ());
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "0 [1 2] 3 eos");
  rig_free (rig);

  rig = rig_new (
      "spdlteststage", "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
  rig_start (rig, NULL);
  rig_push (rig, 0);
  rig_wait_items (rig, 1);
  fail_unless_equals_int (
      gst_pad_push (rig->src, gst_buffer_new ()), GST_FLOW_EOS);
  rig_wait_eos (rig);
  rig_assert_log (rig, "0 error eos");
  fail_unless (strstr (rig_get_error (rig), "meta") != NULL);
  rig_free (rig);
}

GST_END_TEST;

/* A batch that fails names each of its items. */
GST_START_TEST (test_batch_fails)
{
  Rig *rig = rig_new ("spdlteststage", "fail-at", (guint64) 0, NULL);
  GstBuffer *buffer = gst_buffer_new ();
  GstSpdlBatchMeta *batch = gst_spdl_buffer_add_batch_meta (buffer, 3);
  g_autofree gchar *log = NULL;

  for (guint i = 4; i < 7; i++) {
    GstSpdlItemMeta item = { .index = i, .sequence = i };

    gst_spdl_batch_meta_append (batch, &item);
  }
  rig_start (rig, NULL);
  gst_pad_push (rig->src, buffer);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  log = rig_take_log (rig);
  fail_unless_equals_string (
      log, "failed 4 failed 5 failed 6 gone failed 4 5 6 eos");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_downstream_error)
{
  Rig *rig = rig_new ("spdlteststage", "queue-size", 4, NULL);

  rig->answer = GST_FLOW_ERROR;
  rig_start (rig, NULL);
  fail_unless_equals_int (rig_push_range (rig, 0, 999), GST_FLOW_ERROR);
  /* Whoever pushes posts it, not the stage. */
  fail_unless (rig_get_error (rig) == NULL);
  rig_free (rig);

  /* But nobody upstream hears of it after the end. */
  rig = rig_new ("spdlteststage", "queue-size", 4, NULL);
  rig_hold (rig, TRUE);
  rig_start (rig, NULL);
  rig_push (rig, 0);
  rig_push_eos (rig);
  g_mutex_lock (&rig->lock);
  rig->answer = GST_FLOW_ERROR;
  g_mutex_unlock (&rig->lock);
  rig_hold (rig, FALSE);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) != NULL);
  rig_free (rig);

  rig = rig_new ("spdlteststage", NULL, NULL);
  rig->answer = GST_FLOW_EOS;
  rig_start (rig, NULL);
  fail_unless_equals_int (rig_push_range (rig, 0, 999), GST_FLOW_EOS);
  /* The end gets through all the same. */
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 2, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, "sleep", (guint64) 60 * GST_SECOND, NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 3);
  /* Running tasks are cancelled: nothing waits for a minute. */
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  g_object_set (rig->element, "sleep", (guint64) 0, NULL);
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  rig_push_range (rig, 10, 12);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  /* What was flushed has neither come nor failed. */
  rig_assert_log (rig, "flush-start flush-stop 10 11 12 eos");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_restart)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 2, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, NULL);
  gint n_workers;

  for (guint i = 0; i < 3; i++) {
    rig_start (rig, "video/x-raw");
    rig_push_range (rig, 0, 4);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    rig_assert_log (rig, "0 1 2 3 4 eos");
    gst_element_set_state (rig->element, GST_STATE_NULL);
    fail_unless_equals_int (get_stat (rig, "num-tasks"), 5);
    g_object_get (rig->element, "n-workers", &n_workers, NULL);
    fail_unless_equals_int (n_workers, 0);
    gst_pad_set_active (rig->src, FALSE);
    gst_pad_set_active (rig->sink, FALSE);
  }
  rig_free (rig);
}

GST_END_TEST;

static void
assert_cannot_start (const gchar *pool, const gchar *text)
{
  Rig *rig = rig_new ("spdlteststage", "thread-pool", pool, NULL);

  fail_unless_equals_int (
      gst_element_set_state (rig->element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  fail_unless (
      strstr (rig_get_error (rig), text) != NULL, "%s", rig_get_error (rig));
  rig_free (rig);
}

GST_START_TEST (test_thread_pool)
{
  Rig *a = rig_new ("spdlteststage", "thread-pool", "t:2", "concurrency", 8,
      "sleep", (guint64) 1000000, NULL);
  gint max_running;

  rig_start (a, NULL);
  assert_cannot_start ("t:3", "t");
  assert_cannot_start ("t", "NAME:THREADS");
  assert_cannot_start (":2", "NAME:THREADS");
  assert_cannot_start ("t:0", "NAME:THREADS");
  rig_push_range (a, 0, 49);
  rig_push_eos (a);
  rig_wait_eos (a);
  g_object_get (a->element, "max-running", &max_running, NULL);
  fail_unless_equals_int (max_running, 2);
  fail_unless (get_stat (a, "cpu-time") > 0);
  rig_free (a);
}

GST_END_TEST;

static guint
count_laps (Rig *rig)
{
  guint n = 0;

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->log->len; i++)
    n += g_str_equal (g_ptr_array_index (rig->log, i), "stats");
  g_mutex_unlock (&rig->lock);
  return n;
}

/* A lap in which nothing moves is reported all the same, and says 0. */
GST_START_TEST (test_laps)
{
  Rig *rig = rig_new (
      "spdlteststage", "stats-interval", (guint64) 20 * GST_MSECOND, NULL);
  gdouble occupancy;
  gboolean lap;

  rig_start (rig, NULL);
  rig_push (rig, 0);
  rig_wait_items (rig, 1);
  /* The lap in which the item came, and then some without any. */
  const guint n_before = count_laps (rig);
  while (count_laps (rig) < n_before + 4)
    g_usleep (10000);
  const GstStructure *s = rig_find_message (rig, "spdl-stage-stats");
  guint64 n;
  fail_unless (gst_structure_get_boolean (s, "lap", &lap) && lap);
  fail_unless (gst_structure_get_uint64 (s, "num-tasks", &n) && n == 0);
  fail_unless (gst_structure_get_double (s, "occupancy-rate", &occupancy) &&
               occupancy == 0);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  s = rig_find_message (rig, "spdl-stage-stats");
  fail_unless (gst_structure_get_boolean (s, "lap", &lap) && !lap);
  fail_unless (gst_structure_get_uint64 (s, "num-tasks", &n) && n == 1);
  rig_free (rig);
}

GST_END_TEST;

/* Every field of the table, once, with the type that it promises. */
GST_START_TEST (test_stats_fields)
{
  static const gchar *times[] = { "elapsed", "num-tasks", "num-failures",
    "num-filtered", "ave-time", "p90-time", "p99-time", "cpu-time", "num-items",
    "bytes-in", "bytes-out", "ave-put-time", "p90-put-time", "p99-put-time",
    "ave-get-time", "p90-get-time", "p99-get-time" };
  Rig *rig =
      rig_new ("spdlteststage", "sleep", (guint64) 20 * GST_MSECOND, NULL);
  GstStructure *stats;
  guint concurrency, queue_size;
  gdouble number;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 9);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    get_stat (rig, times[i]);
  g_object_get (rig->element, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_has_name (stats, "spdl-stage-stats"));
  fail_unless (gst_structure_get (stats, "concurrency", G_TYPE_UINT,
      &concurrency, "queue-size", G_TYPE_UINT, &queue_size, "qps",
      G_TYPE_DOUBLE, &number, "occupancy-rate", G_TYPE_DOUBLE, &number, NULL));
  fail_unless_equals_int (concurrency, 1);
  fail_unless_equals_int (queue_size, 2);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "stage"), "stage");
  /* One sleeper behind a full queue: upstream waits, the worker does not. */
  fail_unless (number > 0.5, "occupancy %f", number);
  gst_structure_free (stats);
  fail_unless (get_stat (rig, "ave-time") >= 20 * GST_MSECOND);
  fail_unless (get_stat (rig, "cpu-time") < get_stat (rig, "elapsed") / 2);
  fail_unless (get_stat (rig, "ave-put-time") > GST_MSECOND);
  fail_unless_equals_int (get_stat (rig, "bytes-in"), 160);
  fail_unless_equals_int (get_stat (rig, "bytes-out"), 160);
  rig_free (rig);
}

GST_END_TEST;

/* Serialized queries are answered, not queued: a full stage would deadlock. */
GST_START_TEST (test_queries)
{
  Rig *rig = rig_new ("spdlteststage", NULL, NULL);
  GstCaps *caps = gst_caps_new_empty_simple ("video/x-raw");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  rig_hold (rig, TRUE);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 2);
  fail_if (gst_pad_peer_query (rig->src, query));
  gst_query_unref (query);
  query = gst_query_new_drain ();
  fail_if (gst_pad_peer_query (rig->src, query));
  gst_query_unref (query);
  fail_unless (gst_pad_peer_query_accept_caps (rig->src, caps));
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

static gpointer
disturb (gpointer data)
{
  Rig *rig = data;

  for (guint i = 0; i < 40; i++) {
    g_object_set (
        rig->element, "concurrency", 1 + i % 5, "queue-size", i % 7, NULL);
    g_usleep (500);
  }
  return NULL;
}

/* Stopped at any moment, in any way, with a slow stage and a slow consumer. */
GST_START_TEST (test_stop_any_time)
{
  GRand *rand = g_rand_new_with_seed (23);

  for (guint i = 0; i < 100; i++) {
    const guint way = i % 4;
    Rig *rig = rig_new ("spdlteststage", "concurrency", 3, "jitter",
        (guint64) 2000000, "output-order", i / 4 % 2, "fail-every", 7,
        "max-failures", way == 3 ? 2 : -1, NULL);
    GThread *pusher, *disturber = NULL;

    rig_start (rig, NULL);
    pusher = g_thread_new ("pusher", push_many, rig);
    if (i % 10 == 0)
      disturber = g_thread_new ("disturber", disturb, rig);
    g_usleep (g_rand_int_range (rand, 0, 8000));
    rig_hold (rig, i % 3 == 0);
    g_usleep (g_rand_int_range (rand, 0, 3000));
    switch (way) {
      case 0: /* NULL */
        break;
      case 1: /* a flush, from another thread than the pusher's */
        gst_pad_push_event (rig->src, gst_event_new_flush_start ());
        g_usleep (g_rand_int_range (rand, 0, 1000));
        break;
      case 2: /* an early end from the consumer */
        g_mutex_lock (&rig->lock);
        rig->answer = GST_FLOW_EOS;
        g_mutex_unlock (&rig->lock);
        break;
      default: /* an error */
        break;
    }
    g_mutex_lock (&rig->lock);
    rig->flushing = TRUE;
    g_cond_broadcast (&rig->cond);
    g_mutex_unlock (&rig->lock);
    gst_element_set_state (rig->element, GST_STATE_NULL);
    gst_pad_set_active (rig->src, FALSE);
    g_thread_join (pusher);
    if (disturber)
      g_thread_join (disturber);
    gint n_workers;
    g_object_get (rig->element, "n-workers", &n_workers, NULL);
    fail_unless_equals_int (n_workers, 0);
    rig_free (rig);
  }
  g_rand_free (rand);
}

GST_END_TEST;

static Suite *
stage_suite (void)
{
  Suite *s = suite_create ("stage");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_input_order);
  tcase_add_test (tc, test_straggler);
  tcase_add_test (tc, test_concurrency);
  tcase_add_test (tc, test_bounded);
  tcase_add_test (tc, test_barriers);
  tcase_add_test (tc, test_caps_are_no_barrier);
  tcase_add_test (tc, test_failures);
  tcase_add_test (tc, test_groups);
  tcase_add_test (tc, test_filter_and_many);
  tcase_add_test (tc, test_metas_follow);
  tcase_add_test (tc, test_failure_budget);
  tcase_add_test (tc, test_failure_rate);
  tcase_add_test (tc, test_worker_cannot_be_opened);
  tcase_add_test (tc, test_numbering);
  tcase_add_test (tc, test_batch_fails);
  tcase_add_test (tc, test_downstream_error);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_restart);
  tcase_add_test (tc, test_thread_pool);
  tcase_add_test (tc, test_laps);
  tcase_add_test (tc, test_stats_fields);
  tcase_add_test (tc, test_queries);
  tcase_add_test (tc, test_stop_any_time);
  return s;
}

GST_CHECK_MAIN (stage);
