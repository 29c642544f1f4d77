/* gst-spdl: tests of spdlaggregate and spdldisaggregate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

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

  /* Incoming groups are regrouped. */
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

/* Pending items are sent before a serialized event; announcements of dropped
 * items do not end a group. */
GST_START_TEST (test_events)
{
  for (guint drop = 0; drop < 2; drop++) {
    const guint64 gone[] = { 42 };
    Rig *rig = rig_new ("spdlaggregate", "size", 3, "drop-last", drop, NULL);
    GstCaps *caps = gst_caps_from_string ("video/x-raw,width=2");

    rig_start (rig, "video/x-raw,width=1");
    rig_push (rig, 0);
    gst_pad_push_event (rig->src, gst_spdl_event_new_items_dropped (0, 0, gone,
                                      1, GST_SPDL_DROP_REASON_FAILED));
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

static void
push_sized (Rig *rig, guint64 number, gsize size)
{
  gst_pad_push (rig->src, rig_make_item (number, size));
}

/* Groups do not exceed the limit, except for a single larger item. */
GST_START_TEST (test_max_bytes)
{
  static const gsize sizes[] = { 40, 60, 50, 51, 200, 1, 99, 1 };
  Rig *rig =
      rig_new ("spdlaggregate", "size", 0, "max-bytes", (guint64) 100, NULL);

  rig_start (rig, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    push_sized (rig, i, sizes[i]);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 1] [2] [3] [4] [5 6] [7] eos");
  rig_free (rig);

  rig = rig_new ("spdlaggregate", "size", 2, "max-bytes", (guint64) 100, NULL);
  rig_start (rig, NULL);
  for (guint i = 0; i < 5; i++)
    push_sized (rig, i, 10);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 1] [2 3] [4] eos");
  rig_free (rig);
}

GST_END_TEST;

static void
push_caps (Rig *rig, const gchar *format)
{
  GstCaps *caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, format, NULL);

  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  gst_caps_unref (caps);
}

/* Items with the same key are grouped, in the order of the groups' first
 * items. */
GST_START_TEST (test_keys)
{
  static const gsize sizes[] = { 10, 25, 19, 20, 29, 5 };
  Rig *rig = rig_new ("spdlaggregate", "size", 2, "key", "label/5", NULL);

  rig_start (rig, NULL);
  for (guint i = 0; i < 13; i += 3)
    rig_push (rig, i); /* labels are i % 10 */
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 5));
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 3] [6 9] [12] epoch 0 eos");
  rig_free (rig);

  rig = rig_new ("spdlaggregate", "size", 3, "key", "bytes/10", NULL);
  rig_start (rig, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    push_sized (rig, i, sizes[i]);
  rig_push_eos (rig);
  rig_assert_log (rig, "[1 3 4] [0 2] [5] eos");
  rig_free (rig);

  /* A third key exceeds the limit. */
  rig = rig_new (
      "spdlaggregate", "size", 3, "key", "bytes/10", "max-keys", 2, NULL);
  rig_start (rig, NULL);
  push_sized (rig, 0, 10);
  push_sized (rig, 1, 20);
  push_sized (rig, 2, 30);
  push_sized (rig, 3, 11);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0] [1] [2] [3] eos");
  rig_free (rig);

  rig = rig_new (
      "spdlaggregate", "size", 3, "key", "bytes/10", "drop-last", TRUE, NULL);
  rig_start (rig, NULL);
  push_sized (rig, 0, 10);
  push_sized (rig, 1, 20);
  rig_push_eos (rig);
  rig_assert_log (rig, "gone dropped 0 1 eos");
  rig_free (rig);
}

GST_END_TEST;

/* Extra fields of lists are text; items without the field have a common key. */
GST_START_TEST (test_extra)
{
  static const gchar *lengths[] = { "120", "20", NULL, "140", "23.5", NULL };
  Rig *rig =
      rig_new ("spdlaggregate", "size", 2, "key", "extra.length/50", NULL);

  rig_start (rig, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    GstBuffer *item = rig_make_item (i, 1);

    if (lengths[i])
      gst_spdl_buffer_get_item_meta (item)->extra = gst_structure_new (
          "extra", "length", G_TYPE_STRING, lengths[i], NULL);
    gst_pad_push (rig->src, item);
  }
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 3] [1 4] [2 5] eos");
  rig_free (rig);
}

GST_END_TEST;

/* With alternating caps, each group has a single format, and follows its
 * caps. */
GST_START_TEST (test_caps_as_key)
{
  static const gchar *keys[] = { "caps", "caps.format" };

  for (guint k = 0; k < 2; k++) {
    Rig *rig = rig_new ("spdlaggregate", "size", 2, "key", keys[k], NULL);
    GString *log = g_string_new (NULL);

    rig_start (rig, "video/x-raw,format=RGB");
    for (guint i = 0; i < 6; i++) {
      push_caps (rig, i % 2 ? "GRAY8" : "RGB");
      rig_push (rig, i);
    }
    rig_push_eos (rig);
    for (guint i = 0; i < rig->log->len; i++)
      g_string_append_printf (
          log, "%s ", (gchar *) g_ptr_array_index (rig->log, i));
    fail_unless_equals_string (log->str,
        "stream-start caps segment [0 2] caps [1 3] caps [4] caps [5] stats "
        "eos ");
    g_string_free (log, TRUE);
    rig_free (rig);
  }
}

GST_END_TEST;

GST_START_TEST (test_wrong_keys)
{
  static const gchar *keys[] = { "", "length", "label/0", "bytes/x", "caps/2",
    "caps.", "extra", "labels" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    Rig *rig = rig_new ("spdlaggregate", "key", keys[i], NULL);

    fail_unless (gst_element_set_state (rig->element, GST_STATE_PLAYING) ==
                     GST_STATE_CHANGE_FAILURE,
        "%s", keys[i]);
    fail_unless (errors_text_has (rig_get_error (rig), "extra.FIELD"));
    rig_free (rig);
  }
}

GST_END_TEST;

/* Decides for items 2, 3 and 4 of five: before, after, and include. */
static GstSpdlGroupingPolicy
say (GstElement *element, GstBufferList *group, GstSample *item, gpointer data)
{
  guint *n_pending = data;
  const GstSpdlItemMeta *meta =
      gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (item));

  *n_pending += gst_buffer_list_length (group);
  fail_unless (gst_caps_is_any (gst_sample_get_caps (item)) == FALSE);
  return meta->index % 5 == 2   ? GST_SPDL_GROUPING_POLICY_EMIT_BEFORE
         : meta->index % 5 == 3 ? GST_SPDL_GROUPING_POLICY_EMIT_AFTER
                                : GST_SPDL_GROUPING_POLICY_TAKE;
}

GST_START_TEST (test_accept)
{
  guint n_pending = 0;
  Rig *rig = rig_new ("spdlaggregate", "size", 0, NULL);

  g_signal_connect (rig->element, "accept", G_CALLBACK (say), &n_pending);
  rig_start (rig, "video/x-raw");
  rig_push_range (rig, 0, 11);
  rig_push_eos (rig);
  rig_assert_log (rig, "[0 1] [2 3] [4 5 6] [7 8] [9 10 11] eos");
  fail_unless_equals_int (n_pending, 1 + 2 + 1 + 1 + 2 + 3 + 1 + 1 + 2);
  rig_free (rig);
}

GST_END_TEST;

static void
say_nothing (GClosure *closure, GValue *result, guint n, const GValue *values,
    gpointer hint, gpointer data)
{
}

GST_START_TEST (test_no_answer)
{
  Rig *rig = rig_new ("spdlaggregate", NULL, NULL);
  GClosure *closure = g_closure_new_simple (sizeof (GClosure), NULL);

  g_closure_set_marshal (closure, say_nothing);
  g_signal_connect_closure (rig->element, "accept", closure, FALSE);
  rig_start (rig, NULL);
  fail_unless_equals_int (rig_push (rig, 0), GST_FLOW_EOS);
  fail_unless (errors_text_has (rig_get_error (rig), "[stream-error failed]"));
  rig_free (rig);
}

GST_END_TEST;

/* Bucketing by length */

#define N_SEQUENCES 10000
#define N_BUCKETS 8
#define BUCKET 64
#define GROUP 32

static gsize
length_of (guint i)
{
  return i * 2654435761u / 16 % (N_BUCKETS * BUCKET);
}

/* Returns the padding that makes all items of a group as long as the
 * longest. */
static gsize
padding_of (const gsize *lengths, guint n)
{
  gsize longest = 0, padding = 0;

  for (guint i = 0; i < n; i++)
    longest = MAX (longest, lengths[i]);
  for (guint i = 0; i < n; i++)
    padding += longest - lengths[i];
  return padding;
}

static gsize
compute_padding (void)
{
  gsize pending[N_BUCKETS][GROUP], padding = 0;
  guint n_pending[N_BUCKETS] = { 0 };

  for (guint i = 0; i < N_SEQUENCES; i++) {
    const guint b = length_of (i) / BUCKET;

    pending[b][n_pending[b]++] = length_of (i);
    if (n_pending[b] == GROUP) {
      padding += padding_of (pending[b], GROUP);
      n_pending[b] = 0;
    }
  }
  for (guint b = 0; b < N_BUCKETS; b++)
    padding += padding_of (pending[b], n_pending[b]);
  return padding;
}

/* Parses the groups in the log; marks the items that they contain. */
static gsize
measure_padding (Rig *rig, gboolean *seen)
{
  gsize lengths[GROUP], padding = 0;
  guint n_items = 0;

  for (guint i = 0; i < rig->log->len; i++) {
    const gchar *entry = g_ptr_array_index (rig->log, i);
    g_auto (GStrv) words = g_strsplit (entry, " ", -1);
    const guint n = g_strv_length (words);

    if (entry[0] != '[')
      continue;
    fail_unless (n <= GROUP);
    for (guint k = 0; k < n; k++) {
      GstBuffer *item = g_ptr_array_index (rig->buffers, n_items++);
      const guint64 index = gst_spdl_buffer_get_item_meta (item)->index;

      lengths[k] = gst_buffer_get_size (item);
      fail_unless_equals_uint64 (lengths[k], length_of (index));
      fail_unless_equals_uint64 (lengths[k] / BUCKET, lengths[0] / BUCKET);
      fail_unless (!seen[index]);
      seen[index] = TRUE;
    }
    padding += padding_of (lengths, n);
  }
  return padding;
}

GST_START_TEST (test_buckets)
{
  Rig *rig = rig_new ("spdlaggregate", "size", GROUP, "key", "bytes/64", NULL);
  gboolean seen[N_SEQUENCES] = { FALSE };

  rig_start (rig, NULL);
  for (guint i = 0; i < N_SEQUENCES; i++)
    push_sized (rig, i, length_of (i));
  rig_push_eos (rig);
  fail_unless_equals_uint64 (measure_padding (rig, seen), compute_padding ());
  for (guint i = 0; i < N_SEQUENCES; i++)
    fail_unless (seen[i], "%u is lost", i);
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

CHECK_SUITE (aggregate, TEST (test_groups), TEST (test_events),
    TEST (test_flush), TEST (test_max_bytes), TEST (test_keys),
    TEST (test_extra), TEST (test_caps_as_key), TEST (test_wrong_keys),
    TEST (test_accept), TEST (test_no_answer), TEST (test_buckets),
    TEST (test_disaggregate))
