/* gst-spdl: tests of states, threads and statistics of GstSpdlStage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

GST_START_TEST (test_flush)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 2, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, "sleep", (guint64) 60 * GST_SECOND, NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 3);
  /* Running tasks are cancelled, so nothing waits for a minute. */
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  g_object_set (rig->element, "sleep", (guint64) 0, NULL);
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  rig_push_range (rig, 10, 12);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  /* Flushed items are neither delivered nor reported as failed. */
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
    fail_unless_equals_int (rig_get_stat (rig->element, "num-tasks"), 5);
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
      errors_text_has (rig_get_error (rig), text), "%s", rig_get_error (rig));
  rig_free (rig);
}

GST_START_TEST (test_thread_pool)
{
  Rig *a = rig_new (
      "spdlteststage", "thread-pool", "t:2", "concurrency", 8, "wait", 2, NULL);
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
  fail_unless (rig_get_stat (a->element, "cpu-time") > 0);
  rig_free (a);
}

GST_END_TEST;

static guint
count_intervals (Rig *rig)
{
  guint n = 0;

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->log->len; i++)
    n += g_str_equal (g_ptr_array_index (rig->log, i), "stats");
  g_mutex_unlock (&rig->lock);
  return n;
}

/* An interval without data is reported, with zeros. */
GST_START_TEST (test_intervals)
{
  Rig *rig = rig_new (
      "spdlteststage", "stats-interval", (guint64) 20 * GST_MSECOND, NULL);
  gdouble occupancy;
  gboolean interval;

  rig_start (rig, NULL);
  rig_push (rig, 0);
  rig_wait_items (rig, 1);
  /* The interval in which the item arrived, followed by some without data. */
  const guint n_before = count_intervals (rig);
  wait_until (count_intervals (rig) >= n_before + 4);
  const GstStructure *s = rig_find_message (rig, "spdl-stage-stats");
  guint64 n;
  fail_unless (
      gst_structure_get_boolean (s, "interval", &interval) && interval);
  fail_unless (gst_structure_get_uint64 (s, "num-tasks", &n) && n == 0);
  fail_unless (gst_structure_get_double (s, "occupancy-rate", &occupancy) &&
               occupancy == 0);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  s = rig_find_message (rig, "spdl-stage-stats");
  fail_unless (
      gst_structure_get_boolean (s, "interval", &interval) && !interval);
  fail_unless (gst_structure_get_uint64 (s, "num-tasks", &n) && n == 1);
  rig_free (rig);
}

GST_END_TEST;

/* Each documented field exists, with the documented type. */
GST_START_TEST (test_stats_fields)
{
  static const gchar *times[] = { "elapsed", "num-tasks", "num-failures",
    "num-filtered", "ave-time", "p90-time", "p99-time", "cpu-time", "num-items",
    "bytes-in", "bytes-out", "ave-put-time", "p90-put-time", "p99-put-time",
    "ave-get-time", "p90-get-time", "p99-get-time" };
  Rig *rig =
      rig_new ("spdlteststage", "sleep", (guint64) 20 * GST_MSECOND, NULL);
  GstStructure *stats;
  guint concurrency, max_concurrency, queue_size;
  gdouble number;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 9);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    rig_get_stat (rig->element, times[i]);
  g_object_get (rig->element, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_has_name (stats, "spdl-stage-stats"));
  fail_unless (gst_structure_get (stats, "concurrency", G_TYPE_UINT,
      &concurrency, "max-concurrency", G_TYPE_UINT, &max_concurrency,
      "queue-size", G_TYPE_UINT, &queue_size, "qps", G_TYPE_DOUBLE, &number,
      "occupancy-rate", G_TYPE_DOUBLE, &number, NULL));
  fail_unless_equals_int (concurrency, 1);
  fail_unless (max_concurrency >= 64, "%u", max_concurrency);
  fail_unless_equals_int (queue_size, 2);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "stage"), "stage");
  /* A sleeping worker with a full queue: upstream waits, the worker does
   * not. */
  fail_unless (number > 0.5, "occupancy %f", number);
  gst_structure_free (stats);
  fail_unless (rig_get_stat (rig->element, "ave-time") >= 20 * GST_MSECOND);
  fail_unless (rig_get_stat (rig->element, "cpu-time") <
               rig_get_stat (rig->element, "elapsed") / 2);
  fail_unless (rig_get_stat (rig->element, "ave-put-time") > GST_MSECOND);
  fail_unless_equals_int (rig_get_stat (rig->element, "bytes-in"), 160);
  fail_unless_equals_int (rig_get_stat (rig->element, "bytes-out"), 160);
  rig_free (rig);
}

GST_END_TEST;

/* Serialized queries are answered immediately: waiting in a full stage would
 * deadlock. */
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

/* The stage can be stopped at any time and in any way, with slow tasks and a
 * slow consumer. */
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
    pusher = g_thread_new ("pusher", rig_push_many, rig);
    if (i % 10 == 0)
      disturber = g_thread_new ("disturber", disturb, rig);
    g_usleep (g_rand_int_range (rand, 0, 8000));
    rig_hold (rig, i % 3 == 0);
    g_usleep (g_rand_int_range (rand, 0, 3000));
    switch (way) {
      case 0: /* state NULL */
        break;
      case 1: /* flush from another thread */
        gst_pad_push_event (rig->src, gst_event_new_flush_start ());
        g_usleep (g_rand_int_range (rand, 0, 1000));
        break;
      case 2: /* early EOS from the consumer */
        g_mutex_lock (&rig->lock);
        rig->answer = GST_FLOW_EOS;
        g_mutex_unlock (&rig->lock);
        break;
      default: /* error */
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

CHECK_SUITE (stage_runs, TIMEOUT (120), TEST (test_flush), TEST (test_restart),
    TEST (test_thread_pool), TEST (test_intervals), TEST (test_stats_fields),
    TEST (test_queries), TEST (test_stop_any_time))
