/* gst-spdl: tests of spdlaggregate and spdldisaggregate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "rig.h"

GST_START_TEST (test_groups)
{
  Rig *rig = rig_new ("spdlaggregate", "size", 4, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 12);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 1 2 3] [4 5 6 7] [8 9 10 11] [12] eos");
  rig_free (rig);

  rig = rig_new ("spdlaggregate", "size", 4, "drop-last", TRUE, NULL);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 12);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 1 2 3] [4 5 6 7] [8 9 10 11] gone dropped 12 eos");
  rig_free (rig);

  /* Groups that come are put together anew. */
  rig = rig_new ("spdlaggregate", "size", 3, NULL);
  rig_start (rig, NULL);
  rig_push_group (rig, 0, 3);
  rig_push (rig, 4);
  rig_push_group (rig, 5, 6);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 1 2] [3 4 5] [6] eos");
  rig_free (rig);
}

GST_END_TEST;

/* What is pending goes before a serialized event; news of items that are gone
 * does not cut a group short. */
GST_START_TEST (test_events)
{
  for (guint drop = 0; drop < 2; drop++) {
    const guint64 gone[] = { 42 };
    Rig *rig = rig_new ("spdlaggregate", "size", 3, "drop-last", drop, NULL);
    GstCaps *caps = gst_caps_from_string ("video/x-raw,width=2");

    rig_start (rig, "video/x-raw,width=1");
    rig_push (rig, 0);
    gst_pad_push_event (rig->src,
        gst_spdl_event_new_items_gone (0, 0, gone, 1, GST_SPDL_GONE_FAILED));
    rig_push (rig, 1);
    gst_pad_push_event (rig->src, gst_event_new_caps (caps));
    rig_push (rig, 2);
    gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 3));
    rig_push (rig, 3);
    rig_push_eos (rig);
    rig_assert_log (rig,
        drop ? "gone failed 42 [0 1] gone dropped 2 epoch 0 gone dropped 3 eos"
             : "gone failed 42 [0 1] [2] epoch 0 [3] eos");
    gst_caps_unref (caps);
    rig_free (rig);
  }
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Rig *rig = rig_new ("spdlaggregate", "size", 3, NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 1);
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  rig_push_range (rig, 10, 12);
  rig_push_eos (rig);
  rig_assert_log (rig, "flush-start flush-stop [10 11 12] eos");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_disaggregate)
{
  Rig *rig = rig_new ("spdldisaggregate", NULL, NULL);
  GstStructure *stats;
  guint64 n;

  rig_start (rig, NULL);
  rig_push_group (rig, 0, 2);
  rig_push (rig, 3);
  rig_push_group (rig, 4, 4);
  rig_push_eos (rig);
  rig_assert_log (rig, "0 1 2 3 4 eos");
  g_object_get (rig->element, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "num-items", &n) && n == 5);
  fail_unless (gst_structure_get_uint64 (stats, "bytes-in", &n) && n == 80);
  gst_structure_free (stats);
  fail_unless (rig_find_message (rig, "spdl-stage-stats") != NULL);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
aggregate_suite (void)
{
  Suite *s = suite_create ("aggregate");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_groups);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_disaggregate);
  return s;
}

GST_CHECK_MAIN (aggregate);
