/* gst-spdl: tests of the items that each rank of spdlsrc sends
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"

static gchar *
make_list (guint n)
{
  gchar *folder = files_make_folder ();
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%u.jpg\t%u\n", i, i);
  files_write (folder, "list.txt", text->str, text->len);
  g_string_free (text, TRUE);
  return folder;
}

static Run *
run_list (const gchar *folder, const gchar *properties)
{
  return run_pipeline ("spdlsrc location=%s/list.txt %s ! fakesink name=sink",
      folder, properties);
}

/* Returns the order of the items in an epoch, as indices. */
static gchar *
order_of (Run *run, guint64 epoch)
{
  GString *text = g_string_new (NULL);
  guint64 sequence = 0;

  fail_unless (run->error == NULL, "%s", run->error);
  for (guint i = 0; i < run->buffers->len; i++) {
    const GstSpdlItemMeta *item = run_item (run, i);

    if (item->epoch != epoch)
      continue;
    fail_unless_equals_uint64 (item->sequence, sequence++);
    fail_unless_equals_int64 (item->label, item->index);
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, item->index);
  }
  return g_string_free (text, FALSE);
}

GST_START_TEST (test_shuffle)
{
  gchar *folder = make_list (40);
  Run *run = run_list (folder, "shuffle=true epochs=3");
  Run *again = run_list (folder, "shuffle=true epochs=2 seed=0");
  Run *other = run_list (folder, "shuffle=true seed=18446744073709551615");
  Run *plain = run_list (folder, "seed=5");
  g_autofree gchar *first = order_of (run, 0);
  g_autofree gchar *second = order_of (run, 1);
  g_autofree gchar *third = order_of (run, 2);
  g_autofree gchar *second_again = order_of (again, 1);
  g_autofree gchar *other_first = order_of (other, 0);
  g_autofree gchar *plain_first = order_of (plain, 0);

  fail_if (g_str_equal (first, second) || g_str_equal (second, third) ||
           g_str_equal (first, third));
  fail_unless_equals_string (second, second_again);
  fail_if (g_str_equal (first, other_first));
  fail_unless (g_str_has_prefix (plain_first, " 0 1 2 3 4 5 6 7 8 9 10 11 "));
  fail_unless_equals_int (run->buffers->len, 120);
  fail_unless_equals_int (run->n_epochs, 3);
  run_free (run);
  run_free (again);
  run_free (other);
  run_free (plain);
  files_remove_folder (folder);
}

GST_END_TEST;

static const gchar *const modes[] = { "pad", "drop", "uneven" };

/* Returns the documented number of items of a rank. */
static guint
wanted_size (guint mode, guint n, guint rank, guint world)
{
  const guint sizes[] = { (n + world - 1) / world, n / world,
    n / world + (rank < n % world) };

  return sizes[mode];
}

static void
check_events (Run *run, guint size)
{
  guint64 wanted_epoch = 0;

  for (guint i = 0; i < run->stream->len; i++) {
    GstMiniObject *object = g_ptr_array_index (run->stream, i);
    guint64 epoch, n_items;

    if (!GST_IS_EVENT (object) ||
        !gst_spdl_event_parse_epoch (
            (GstEvent *) object, NULL, &epoch, &n_items))
      continue;
    fail_unless_equals_uint64 (epoch, wanted_epoch++);
    fail_unless_equals_uint64 (n_items, size);
  }
}

/* Counts the items of two epochs on all ranks. */
static void
check_world (guint mode, guint n, guint world)
{
  gchar *folder = make_list (n);
  g_autofree guint *counts = g_new0 (guint, 2 * n);
  /* The complete order, which the ranks divide. */
  Run *whole = run_list (folder, "shuffle=true seed=3 epochs=2");

  for (guint rank = 0; rank < world; rank++) {
    const guint size = wanted_size (mode, n, rank, world);
    g_autofree gchar *properties = g_strdup_printf (
        "shuffle=true seed=3 epochs=2 rank=%u world-size=%u shard-mode=%s",
        rank, world, modes[mode]);
    Run *run = run_list (folder, properties);

    if (mode == 1 && size == 0) {
      fail_unless (
          run->error && errors_text_has (run->error,
                            "[resource-error settings]|shard-mode=drop"),
          "%s", run->error);
      run_free (run);
      continue;
    }
    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->buffers->len, 2 * size);
    fail_unless_equals_int (run->n_epochs, 2);
    check_events (run, size);
    for (guint i = 0; i < run->buffers->len; i++) {
      const GstSpdlItemMeta *item = run_item (run, i);
      const guint place = (rank + item->sequence * world) % n;

      fail_unless_equals_uint64 (item->epoch, i / size);
      fail_unless_equals_uint64 (item->sequence, i % size);
      fail_unless_equals_uint64 (
          item->index, run_item (whole, item->epoch * n + place)->index);
      counts[item->epoch * n + place]++;
    }
    run_free (run);
  }
  for (guint i = 0; i < 2 * n; i++) {
    const guint place = i % n;
    const guint padding = (world - n % world) % world;
    const guint wanted[] = { 1 + padding / n + (place < padding % n),
      place < n - n % world, 1 };

    fail_unless_equals_int (counts[i], wanted[mode]);
  }
  run_free (whole);
  files_remove_folder (folder);
}

GST_START_TEST (test_worlds)
{
  static const guint worlds[] = { 1, 2, 3, 7, 64 };
  static const guint sizes[] = { 1, 5, 64, 100 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint w = 0; w < G_N_ELEMENTS (worlds); w++)
      check_world (__i__, sizes[s], worlds[w]);
}

GST_END_TEST;

static void
assert_refused (const gchar *folder, const gchar *properties, const gchar *text)
{
  Run *run = run_list (folder, properties);

  fail_unless (
      run->error && errors_text_has (run->error, text), "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 0);
  run_free (run);
}

GST_START_TEST (test_environment)
{
  gchar *folder = make_list (9);
  g_autofree gchar *order = NULL;
  Run *run;

  assert_refused (folder, "rank=1", "[resource-error settings]|world-size");
  assert_refused (folder, "world-size=1", "[resource-error settings]|rank");
  assert_refused (folder, "rank=2 world-size=2", "[resource-error settings]|0");
  g_setenv ("RANK", "1", TRUE);
  assert_refused (folder, "", "[resource-error settings]|RANK|1|world-size");
  g_setenv ("WORLD_SIZE", "3 ", TRUE);
  assert_refused (folder, "", "[resource-error settings]|WORLD_SIZE|\"3 \"");
  g_setenv ("WORLD_SIZE", "3", TRUE);
  run = run_list (folder, "");
  order = order_of (run, 0);
  fail_unless_equals_string (order, " 1 4 7");
  run_free (run);
  g_clear_pointer (&order, g_free);
  run = run_list (folder, "rank=0 world-size=5");
  order = order_of (run, 0);
  fail_unless_equals_string (order, " 0 5");
  run_free (run);
  g_unsetenv ("RANK");
  g_unsetenv ("WORLD_SIZE");
  files_remove_folder (folder);
}

GST_END_TEST;

/* A rank without items ends like the others, after all stages. */
GST_START_TEST (test_empty_shard)
{
  gchar *folder = make_list (2);
  Run *run = run_pipeline (
      "spdlsrc location=%s/list.txt rank=2 world-size=3 shard-mode=uneven "
      "epochs=3 ! spdlaggregate size=2 ! spdlfetch concurrency=2 "
      "! spdldisaggregate ! spdldecode width=8 height=8 ! spdlbatch "
      "batch-size=2 "
      "! fakesink name=sink",
      folder);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 0);
  fail_unless_equals_int (run->n_epochs, 3);
  check_events (run, 0);
  run_free (run);
  assert_refused (folder,
      "rank=2 world-size=3 shard-mode=uneven epochs=-1 shuffle=true",
      "epochs=-1");
  assert_refused (folder, "rank=0 world-size=2 shard-mode=drop shard-run=8",
      "shard-mode=drop|shard-run is 8");
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_properties)
{
  gchar *folder = make_list (10);
  g_autofree gchar *list = g_build_filename (folder, "list.txt", NULL);
  GstElement *src = gst_element_factory_make ("spdlsrc", NULL);
  gint rank, world_size, mode;
  gboolean shuffle;
  guint64 seed, n;

  g_object_get (src, "rank", &rank, "world-size", &world_size, "shard-mode",
      &mode, "shuffle", &shuffle, "seed", &seed, "num-items", &n, NULL);
  fail_unless_equals_int (rank, -1);
  fail_unless_equals_int (world_size, -1);
  fail_unless_equals_int (mode, 0);
  fail_unless_equals_int (shuffle, FALSE);
  fail_unless_equals_uint64 (seed, 0);
  fail_unless_equals_uint64 (n, 0);

  g_object_set (
      src, "location", list, "rank", 2, "world-size", 3, "seed", 7ULL, NULL);
  gst_util_set_object_arg (G_OBJECT (src), "shard-mode", "drop");
  /* Nothing is linked: the source is only opened. */
  gst_element_set_state (src, GST_STATE_PAUSED);
  g_object_get (src, "rank", &rank, "world-size", &world_size, "shard-mode",
      &mode, "seed", &seed, "num-items", &n, NULL);
  fail_unless_equals_int (rank, 2);
  fail_unless_equals_int (world_size, 3);
  fail_unless_equals_int (mode, 1);
  fail_unless_equals_uint64 (seed, 7);
  fail_unless_equals_uint64 (n, 3);

  /* Properties are read again at the next start. */
  gst_element_set_state (src, GST_STATE_READY);
  gst_util_set_object_arg (G_OBJECT (src), "shard-mode", "pad");
  gst_element_set_state (src, GST_STATE_PAUSED);
  g_object_get (src, "num-items", &n, NULL);
  fail_unless_equals_uint64 (n, 4);
  gst_element_set_state (src, GST_STATE_NULL);
  gst_object_unref (src);
  files_remove_folder (folder);
}

GST_END_TEST;

static guint
count_items (GstBuffer *buffer, guint64 epoch)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  if (item) {
    fail_unless_equals_uint64 (item->epoch, epoch);
    return 1;
  }
  for (guint i = 0; i < batch->num_items; i++)
    fail_unless_equals_uint64 (
        gst_spdl_batch_meta_get_item (batch, i)->epoch, epoch);
  return batch->num_items;
}

/* Checks that everything delivered or dropped is between the events of its
 * epoch. */
static void
check_epochs (Run *run, guint n_epochs, guint n_items, guint n_bad)
{
  guint64 now = 0;
  guint n_delivered = 0, n_dropped = 0;

  fail_unless (run->error == NULL, "%s", run->error);
  for (guint i = 0; i < run->stream->len; i++) {
    GstMiniObject *object = g_ptr_array_index (run->stream, i);
    GstEvent *event = (GstEvent *) object;
    guint64 epoch, n;
    guint n_sequences;

    if (GST_IS_BUFFER (object)) {
      n_delivered += count_items ((GstBuffer *) object, now);
    } else if (gst_spdl_event_parse_items_dropped (
                   event, NULL, &epoch, NULL, &n_sequences, NULL)) {
      fail_unless_equals_uint64 (epoch, now);
      n_dropped += n_sequences;
    } else if (gst_spdl_event_parse_epoch (event, NULL, &epoch, &n)) {
      fail_unless_equals_uint64 (epoch, now++);
      fail_unless_equals_uint64 (n, n_items);
      fail_unless_equals_int (n_dropped, n_bad);
      fail_unless_equals_int (n_delivered + n_dropped, n_items);
      n_delivered = n_dropped = 0;
    }
  }
  fail_unless_equals_uint64 (now, n_epochs);
  fail_unless_equals_int (n_delivered + n_dropped, 0);
}

/* Ends of epochs keep their place, even if items within them overtake each
 * other. */
GST_START_TEST (test_order_of_epochs)
{
  static const gchar *const orders[] = { "input", "completion" };
  static const gchar *const ends[] = { "fakesink name=sink",
    "spdlbatch batch-size=8 ! fakesink name=sink",
    "spdlbatch batch-size=8 ! spdlsink name=sink max-buffers=0 "
    "wait-on-eos=false" };
  gchar *folder = files_make_dataset (50);

  for (guint i = 0; i < 5; i++) {
    g_autofree gchar *name = g_strdup_printf ("class-b/bad-%u.jpg", i);

    files_write_text (folder, name, i ? "no picture" : "");
  }
  for (guint i = 0; i < 3 * 2 * 3; i++) {
    const gchar *order = orders[i % 2];
    Run *run = run_pipeline (
        "spdlsrc location=%s shuffle=true seed=%u epochs=5 "
        "! spdlaggregate size=%u "
        "! spdlfetch concurrency=4 output-order=%s ! spdldisaggregate "
        "! spdldecode concurrency=3 output-order=%s width=16 height=12 ! %s",
        folder, i, 1 + i % 4, order, order, ends[i / 2 % 3]);

    check_epochs (run, 5, 55, 5);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

typedef struct {
  GMutex lock;
  GCond cond;
  gboolean begun;  /* the second epoch has reached the last stage */
  gboolean waited; /* the first item has waited for that */
} Gate;

static GstPadProbeReturn
on_prefetched (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Gate *gate = user_data;

  if (gst_spdl_buffer_get_item_meta (GST_PAD_PROBE_INFO_BUFFER (info))->epoch ==
      1) {
    g_mutex_lock (&gate->lock);
    gate->begun = TRUE;
    g_cond_signal (&gate->cond);
    g_mutex_unlock (&gate->lock);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_first (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;
  Gate *gate = user_data;

  g_mutex_lock (&gate->lock);
  while (!gate->begun && g_cond_wait_until (&gate->cond, &gate->lock, end))
    ;
  gate->waited = gate->begun;
  g_mutex_unlock (&gate->lock);
  return GST_PAD_PROBE_REMOVE;
}

static void
add_probe (GstElement *pipeline, const gchar *name, GstPadProbeCallback func,
    Gate *gate)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, func, gate, NULL);
}

/* Before the first item of the first epoch is delivered, items of the second
 * one have passed a stage. */
GST_START_TEST (test_prefetch)
{
  gchar *folder = make_list (3);
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s/list.txt epochs=2 ! spdlteststage concurrency=2 "
      "! spdlteststage name=last queue-size=8 ! fakesink name=sink",
      folder);
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  Gate gate = { 0 };

  add_probe (pipeline, "last", on_prefetched, &gate);
  add_probe (pipeline, "sink", on_first, &gate);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  fail_unless (gate.waited);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  files_remove_folder (folder);
}

GST_END_TEST;

/* The number of items is announced before the first one. */
GST_START_TEST (test_announced)
{
  gchar *folder = make_list (10);
  Run *run = run_list (folder, "rank=1 world-size=3 epochs=2");
  const gchar *state;
  guint32 source;
  guint64 n;
  guint i = 0;

  while (!GST_IS_EVENT (g_ptr_array_index (run->stream, i)) ||
         !gst_spdl_event_parse_source (
             g_ptr_array_index (run->stream, i), &source, &n, &state))
    fail_unless (!GST_IS_BUFFER (g_ptr_array_index (run->stream, i++)));
  fail_unless_equals_uint64 (n, 4);
  fail_unless_equals_int (source, 0);
  fail_unless (g_str_has_prefix (state, "spdl1;source=0,count=10,hash="));
  fail_unless (g_str_has_suffix (state,
      ",shuffle=0,seed=0,rank=1,world-size=3,shard-mode=pad,epoch=0,mark=0,"
      "done=;"));
  /* It is announced once. */
  for (i++; i < run->stream->len; i++)
    fail_if (GST_IS_EVENT (g_ptr_array_index (run->stream, i)) &&
             gst_spdl_event_parse_source (
                 g_ptr_array_index (run->stream, i), NULL, NULL, NULL));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

static Suite *
shards_suite (void)
{
  Suite *s = suite_create ("shards");
  TCase *tc = tcase_create ("general");

  /* Remove variables that a scheduler may have set. */
  g_unsetenv ("RANK");
  g_unsetenv ("WORLD_SIZE");
  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 180);
  tcase_add_test (tc, test_shuffle);
  tcase_add_loop_test (tc, test_worlds, 0, G_N_ELEMENTS (modes));
  tcase_add_test (tc, test_environment);
  tcase_add_test (tc, test_empty_shard);
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_order_of_epochs);
  tcase_add_test (tc, test_prefetch);
  tcase_add_test (tc, test_announced);
  return s;
}

GST_CHECK_MAIN (shards);
