/* gst-spdl: tests of spdlpipe's signal process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

typedef GstSample *(*Function) (
    GstElement *element, GstSample *sample, gpointer user_data);

static Rig *
new_rig (Function function, gpointer user_data, guint concurrency)
{
  Rig *rig = rig_new ("spdlpipe", "concurrency", concurrency, "output-order",
      GST_SPDL_OUTPUT_ORDER_INPUT, NULL);

  g_signal_connect (rig->element, "process", G_CALLBACK (function), user_data);
  return rig;
}

static guint64
index_of (GstBuffer *buffer)
{
  return gst_spdl_buffer_get_item_meta (buffer)->index;
}

/* Passes every third item through, creates a new result, or drops the item;
 * every tenth one fails. */
static GstSample *
do_various (GstElement *element, GstSample *sample, gpointer user_data)
{
  const guint64 i = index_of (gst_sample_get_buffer (sample));
  GstCaps *caps;
  GstBuffer *buffer;
  GstSample *result;

  if (i % 10 == 9)
    return gst_spdl_sample_new_failed ("it is a tenth");
  if (i % 3 == 0)
    return gst_sample_ref (sample);
  if (i % 3 == 1)
    return NULL;
  caps = gst_caps_new_empty_simple ("made/anew");
  buffer = gst_buffer_new_allocate (NULL, 3, NULL);
  result = gst_sample_new (buffer, caps, NULL, NULL);
  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
  return result;
}

GST_START_TEST (test_items)
{
  Rig *rig = new_rig (do_various, NULL, 1);
  GError *error = NULL;

  rig_start (rig, "came/so");
  rig_push_range (rig, 0, 8);
  rig_wait_items (rig, 6);
  rig_push (rig, 9);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig,
      "0 gone filtered 1 2 3 gone filtered 4 5 6 gone filtered "
      "7 8 failed 9 gone failed 9 eos");
  gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
      G_TYPE_ERROR, &error, NULL);
  fail_unless_equals_string (error->message, "it is a tenth");
  g_error_free (error);
  fail_unless_equals_int (
      gst_buffer_get_size (g_ptr_array_index (rig->buffers, 0)), 16);
  fail_unless_equals_int (
      gst_buffer_get_size (g_ptr_array_index (rig->buffers, 1)), 3);
  rig_free (rig);
}

GST_END_TEST;

/* No result, as when a PyGObject callback raises an exception. */
static void
give_nothing (GClosure *closure, GValue *result, guint n, const GValue *values,
    gpointer hint, gpointer data)
{
}

GST_START_TEST (test_no_result)
{
  Rig *rig = rig_new ("spdlpipe", NULL, NULL);
  GClosure *closure = g_closure_new_simple (sizeof (GClosure), NULL);

  g_closure_set_marshal (closure, give_nothing);
  g_signal_connect_closure (rig->element, "process", closure, FALSE);
  rig_start (rig, NULL);
  rig_push (rig, 0);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "failed 0 gone failed 0 eos");
  rig_free (rig);
}

GST_END_TEST;

typedef struct {
  GMutex lock;
  GCond cond;
  guint n_inside;
  guint n_wanted;
} Barrier;

static GstSample *
wait_for_all (GstElement *element, GstSample *sample, gpointer user_data)
{
  Barrier *barrier = user_data;

  g_mutex_lock (&barrier->lock);
  barrier->n_inside++;
  g_cond_broadcast (&barrier->cond);
  while (barrier->n_inside < barrier->n_wanted)
    g_cond_wait (&barrier->cond, &barrier->lock);
  g_mutex_unlock (&barrier->lock);
  return gst_sample_ref (sample);
}

/* None of eight calls returns before all have started. */
GST_START_TEST (test_at_once)
{
  Barrier barrier = { .n_wanted = 8 };
  Rig *rig = new_rig (wait_for_all, &barrier, 8);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 7);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "0 1 2 3 4 5 6 7 eos");
  rig_free (rig);
}

GST_END_TEST;

/* Results for a group: unchanged, reversed, without the second item, each item
 * twice, all merged into one, the same number without metas, one fewer without
 * metas, and none. */
static GstSample *
do_group (GstElement *element, GstSample *sample, gpointer user_data)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);
  g_autoptr (GstBufferList) list = gst_buffer_list_new ();
  const guint n = gst_buffer_list_length (group);
  GstSample *result = gst_sample_new (NULL, NULL, NULL, NULL);

  fail_unless_equals_int (n, 3);
  for (guint i = 0; i < n; i++) {
    GstBuffer *item = gst_buffer_list_get (group, i);

    switch (index_of (gst_buffer_list_get (group, 0)) / 3) {
      case 0:
        gst_buffer_list_add (list, gst_buffer_ref (item));
        break;
      case 1:
        gst_buffer_list_insert (list, 0, gst_buffer_ref (item));
        break;
      case 2:
        if (i != 1)
          gst_buffer_list_add (list, gst_buffer_ref (item));
        break;
      case 3:
        gst_buffer_list_add (list, gst_buffer_copy (item));
        gst_buffer_list_add (list, gst_buffer_copy (item));
        break;
      case 4:
        if (i == 0)
          gst_buffer_list_add (list, gst_buffer_new_allocate (NULL, 9, NULL));
        break;
      case 5:
        gst_buffer_list_add (list, gst_buffer_new_allocate (NULL, 9, NULL));
        break;
      case 6:
        if (i > 0)
          gst_buffer_list_add (list, gst_buffer_new_allocate (NULL, 9, NULL));
        break;
      default:
        break;
    }
  }
  gst_sample_set_buffer_list (result, list);
  return result;
}

GST_START_TEST (test_groups)
{
  Rig *rig = new_rig (do_group, NULL, 1);
  GstSpdlBatchMeta *batch;
  const GstSpdlItemMeta *item;

  rig_start (rig, NULL);
  for (guint i = 0; i < 8; i++) {
    /* A failure is posted immediately, while results are pushed later. */
    rig_wait_items (rig, i == 6 ? 18 : 0);
    rig_push_group (rig, i * 3, i * 3 + 2);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig,
      "[0 1 2] [5 4 3] [6 8] gone filtered 7 [9 9 10 10 11 11] [batch] "
      "[15 16 17] failed 18 failed 19 failed 20 gone failed 18 19 20 "
      "gone filtered 21 22 23 eos");
  batch = gst_spdl_buffer_get_batch_meta (g_ptr_array_index (rig->buffers, 14));
  fail_unless_equals_int (batch->num_items, 3);
  fail_unless_equals_int (batch->items[2].index, 14);
  item = gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, 9));
  fail_unless_equals_int (item->part, 1);
  fail_unless_equals_int (item->parts, 2);
  rig_free (rig);
}

GST_END_TEST;

/* Returns the buffers of a group, without or with a copy of the last one. */
static GstSample *
do_siblings (GstElement *element, GstSample *sample, gpointer user_data)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);
  g_autoptr (GstBufferList) list = gst_buffer_list_new ();
  const guint n = gst_buffer_list_length (group);
  const guint64 index = index_of (gst_buffer_list_get (group, 0));
  GstSample *result = gst_sample_new (NULL, NULL, NULL, NULL);

  for (guint i = 0; i < n - (index == 1); i++)
    gst_buffer_list_add (list, gst_buffer_ref (gst_buffer_list_get (group, i)));
  if (index == 2)
    gst_buffer_list_add (
        list, gst_buffer_copy (gst_buffer_list_get (group, 1)));
  gst_sample_set_buffer_list (result, list);
  return result;
}

/* Two of four buffers of an item are in each group: all are results, one is
 * filtered, and one is split. */
GST_START_TEST (test_siblings)
{
  static const guint parts[][2] = { { 0, 4 }, { 1, 4 }, { 0, 4 }, { 0, 4 },
    { 2, 8 }, { 3, 8 } };
  Rig *rig = new_rig (do_siblings, NULL, 1);

  rig_start (rig, NULL);
  for (guint i = 0; i < 3; i++) {
    GstBufferList *list = gst_buffer_list_new ();

    for (guint part = 0; part < 2; part++) {
      GstBuffer *buffer = rig_make_item (i, 16);
      GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

      item->part = part;
      item->parts = 4;
      gst_buffer_list_add (list, buffer);
    }
    gst_pad_push_list (rig->src, list);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "[0 0] [1] gone filtered 1/4 [2 2 2] eos");
  for (guint i = 0; i < 6; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, i));

    fail_unless_equals_int (item->part, parts[i][0]);
    fail_unless_equals_int (item->parts, parts[i][1]);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Returns a buffer, or a list with one buffer. */
static GstSample *
do_single (GstElement *element, GstSample *sample, gpointer user_data)
{
  GstBufferList *group = gst_sample_get_buffer_list (sample);
  GstSample *result = gst_sample_new (NULL, NULL, NULL, NULL);
  g_autoptr (GstBuffer) made = gst_buffer_new_allocate (NULL, 9, NULL);

  fail_unless_equals_int (gst_buffer_list_length (group), 1);
  if (index_of (gst_buffer_list_get (group, 0)) == 0) {
    gst_sample_set_buffer (result, made);
  } else {
    g_autoptr (GstBufferList) list = gst_buffer_list_new ();

    gst_buffer_list_add (list, g_steal_pointer (&made));
    gst_sample_set_buffer_list (result, list);
  }
  return result;
}

/* The result of a group is a batch, for any number of items. */
GST_START_TEST (test_single_group)
{
  Rig *rig = new_rig (do_single, NULL, 1);
  GstSpdlBatchMeta *batch;

  rig_start (rig, NULL);
  rig_push_group (rig, 0, 0);
  rig_push_group (rig, 1, 1);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "[batch] [1] eos");
  batch = gst_spdl_buffer_get_batch_meta (g_ptr_array_index (rig->buffers, 0));
  fail_unless_equals_int (batch->num_items, 1);
  fail_unless_equals_int (batch->items[0].index, 0);
  rig_free (rig);
}

GST_END_TEST;

static GstSample *
halve (GstElement *element, GstSample *sample, gpointer user_data)
{
  GstBuffer *half = gst_buffer_copy_region (
      gst_sample_get_buffer (sample), GST_BUFFER_COPY_MEMORY, 0, 32);
  GstSample *result = gst_sample_new (half, NULL, NULL, NULL);

  gst_buffer_unref (half);
  return result;
}

/* The metas of a batch are kept if the result has none. */
GST_START_TEST (test_batches)
{
  Rig *rig = new_rig (halve, NULL, 2);
  GstBuffer *batch = gst_buffer_new_allocate (NULL, 64, NULL);
  GstSpdlBatchMeta *meta = gst_spdl_buffer_add_batch_meta (batch, 4);
  GstSpdlItemMeta item = { .uri = NULL };

  for (item.index = 0; item.index < 4; item.index++)
    gst_spdl_batch_meta_append (meta, &item);
  rig_start (rig, "other/tensors");
  gst_pad_push (rig->src, batch);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "batch eos");
  batch = g_ptr_array_index (rig->buffers, 0);
  fail_unless_equals_int (gst_buffer_get_size (batch), 32);
  fail_unless_equals_int (gst_spdl_buffer_get_batch_meta (batch)->num_items, 4);
  rig_free (rig);
}

GST_END_TEST;

static GstSample *
pass (GstElement *element, GstSample *sample, gpointer user_data)
{
  return gst_sample_ref (sample);
}

GST_START_TEST (test_one_work_each)
{
  Rig *rig = new_rig (pass, NULL, 1);

  g_object_set (rig->element, "chain", "identity", NULL);
  fail_unless (gst_element_set_state (rig->element, GST_STATE_PLAYING) ==
               GST_STATE_CHANGE_FAILURE);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[library-error settings]"));
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (function, TEST (test_items), TEST (test_no_result),
    TEST (test_at_once), TEST (test_groups), TEST (test_siblings),
    TEST (test_single_group), TEST (test_batches), TEST (test_one_work_each))
