/* gst-spdl: tests of failures in GstSpdlStage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

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
  fail_unless (errors_has (error, "[stream-error failed]|5"));
  g_error_free (error);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 2);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-tasks"), 6);
  fail_unless_equals_int (rig_get_stat (rig->element, "num-items"), 6);
  fail_unless (rig_get_error (rig) == NULL);

  /* Failures are announced in order; the messages come from another thread. */
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

/* SPDL's test case: of items 0 to 9 the odd ones fail, and 3 failures are
 * tolerated. */
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
  /* All valid items come first, then the error, then EOS. */
  log = rig_take_log (rig);
  fail_unless (g_str_has_suffix (log, log_end), "%s", log);
  fail_unless_equals_int (rig_count_items (rig), 4);
  fail_unless (errors_text_has (rig_get_error (rig), "test:7"), "%s",
      rig_get_error (rig));
  fail_unless (errors_text_has (rig_get_error (rig), "test:7"));
  fail_unless_equals_int (rig_push (rig, 11), GST_FLOW_EOS);
  rig_free (rig);

  /* Exactly as many items fail as are tolerated. */
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
  /* 20 % of 90 items: not judged yet. */
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
  fail_unless (errors_text_has (rig_get_error (rig), "max-failure-rate"));
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 20);
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
  fail_unless (errors_text_has (rig_get_error (rig), "[library-error init]"));
  rig_free (rig);
}

GST_END_TEST;

/* A failing batch reports each of its items. */
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
  /* The upstream element posts the error, not the stage. */
  fail_unless (rig_get_error (rig) == NULL);
  rig_free (rig);

  /* After EOS, upstream does not get the flow return. */
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
  /* EOS is forwarded nevertheless. */
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (stage_failures, TIMEOUT (120), TEST (test_failures),
    TEST (test_failure_budget), TEST (test_failure_rate),
    TEST (test_worker_cannot_be_opened), TEST (test_batch_fails),
    TEST (test_downstream_error))
