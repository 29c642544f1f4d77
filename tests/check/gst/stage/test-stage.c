/* gst-spdl: tests of the data flow through GstSpdlStage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

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

/* An item that waits until 110 others have begun is overtaken by those that are
 * not in the queue: at least 100. With input order none overtakes it. */
GST_START_TEST (test_straggler)
{
  for (guint order = 0; order < 2; order++) {
    Rig *rig =
        rig_new ("spdlteststage", "concurrency", 4, "output-order", order,
            "wait-first", order == GST_SPDL_OUTPUT_ORDER_INPUT ? 4 : 110, NULL);
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
  Rig *rig = rig_new ("spdlteststage", "concurrency", 6, "wait", 6, NULL);
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

static gint
count_begun (Rig *rig)
{
  gint n;

  g_object_get (rig->element, "n-begun", &n, NULL);
  return n;
}

/* With a consumer that stops, the stage holds concurrency + queue-size items,
 * including the buffer that is being pushed. */
GST_START_TEST (test_bounded)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 3, "queue-size", 4, NULL);
  GThread *thread;

  rig_hold (rig, TRUE);
  rig_start (rig, NULL);
  thread = g_thread_new ("pusher", rig_push_many, rig);
  wait_until (count_begun (rig) >= 7);
  wait_until_asleep ();
  fail_unless_equals_int (count_begun (rig), 7);

  /* Concurrency and queue-size may change at run time. */
  g_object_set (rig->element, "queue-size", 10, NULL);
  wait_until (count_begun (rig) >= 13);
  rig_hold (rig, FALSE);
  g_thread_join (thread);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 1000);
  rig_free (rig);
}

GST_END_TEST;

/* Events such as the end of an epoch keep their place in both orders. */
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

/* Input caps change with each item: each result is preceded by one caps event,
 * and the stage is not drained. */
GST_START_TEST (test_caps_are_no_barrier)
{
  Rig *rig = rig_new ("spdlteststage", "concurrency", 4, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, "wait", 4, NULL);
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

/* A failed item of a group does not affect the others; groups are preserved. */
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
  fail_unless_equals_int (rig_get_stat (rig->element, "num-tasks"), 4);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-items"), 9);
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
  fail_unless_equals_int (rig_get_stat (rig->element, "num-filtered"), 2);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Results without metas get the metas of their item. */
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

/* The first stage numbers items without metas. After a numbered item, a buffer
 * without a meta is an error, which comes after the valid results. */
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
  fail_unless (errors_text_has (rig_get_error (rig), "[stream-error failed]"));
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (stage, TIMEOUT (120), TEST (test_input_order),
    TEST (test_straggler), TEST (test_concurrency), TEST (test_bounded),
    TEST (test_barriers), TEST (test_caps_are_no_barrier), TEST (test_groups),
    TEST (test_filter_and_many), TEST (test_metas_follow),
    TEST (test_numbering))
