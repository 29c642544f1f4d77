/* gst-spdl: tests of resuming
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/slow.h"
#include "tests/check/support/suite.h"

#define N_ITEMS 83
#define N_EPOCHS 3

/* Depending on their index, some items have no file, some fail in a stage, and
 * some are filtered. */
#define MISSING_EVERY 13
#define FAIL_EVERY 11
#define FILTER_EVERY 7

static gboolean
is_good (guint index)
{
  return index % MISSING_EVERY != 3 && index % FAIL_EVERY != FAIL_EVERY - 1 &&
         index % FILTER_EVERY != FILTER_EVERY - 1;
}

static gchar *
make_list (guint n)
{
  gchar *folder = files_make_folder ();
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("%u.bin", i);

    g_string_append_printf (text, "%s\t%u\n", name, i);
    if (i % MISSING_EVERY != 3)
      files_write (folder, name, &i, sizeof i);
  }
  files_write (folder, "list.txt", text->str, text->len);
  g_string_free (text, TRUE);
  return folder;
}

/* Settings that all runs of a training have in common. */
typedef struct {
  const gchar *folder;
  guint n_items;
  const gchar *order; /* output order of the stages */
  gboolean shuffle;
  guint group;
  guint batch; /* 0: no batches */
  gboolean drop_last;
  guint rank;
  guint world;
  const gchar *mode;
  guint n_epochs;
  guint shard_run; /* 0: 1 */
} Plan;

static void
append_stage (GString *text, GRand *rand, const Plan *plan, const gchar *stage)
{
  g_string_append_printf (text,
      "! %s concurrency=%d queue-size=%d output-order=%s ", stage,
      g_rand_int_range (rand, 1, 7), g_rand_int_range (rand, 1, 6),
      plan->order);
}

/* Describes a pipeline with varying concurrency. */
static gchar *
describe (const Plan *plan, GRand *rand)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text,
      "spdlsrc name=src location=%s/list.txt shuffle=%d seed=9 epochs=%u "
      "rank=%u world-size=%u shard-mode=%s shard-run=%u ",
      plan->folder, plan->shuffle, plan->n_epochs, plan->rank, plan->world,
      plan->mode, MAX (plan->shard_run, 1));
  if (plan->group > 1)
    g_string_append_printf (text, "! spdlaggregate size=%u ", plan->group);
  append_stage (text, rand, plan,
      "spdlfetch caps=\"other/tensors,format=static,num_tensors=1,"
      "types=(string)uint8,dimensions=(string)4,framerate=0/1\"");
  if (plan->group > 1)
    g_string_append (text, "! spdldisaggregate ");
  append_stage (text, rand, plan, "spdlteststage");
  g_string_append_printf (text, "jitter=%d fail-every=%u filter-every=%u ",
      g_rand_int_range (rand, 0, 300000), FAIL_EVERY, FILTER_EVERY);
  if (plan->batch > 0)
    g_string_append_printf (text, "! spdlbatch batch-size=%u drop-last=%d ",
        plan->batch, plan->drop_last);
  g_string_append (text, "! spdlsink name=sink");
  return g_string_free (text, FALSE);
}

/* How often each item was used in each epoch, on all ranks. */
typedef struct {
  guint counts[N_EPOCHS][N_ITEMS];
  guint n_used;
  guint n_gaps; /* in all states that were resumed from */
} Log;

static void
use_item (Log *log, const GstSpdlItemMeta *item, const guint8 *data)
{
  guint content;

  memcpy (&content, data, sizeof content);
  fail_unless (item->epoch < N_EPOCHS && item->index < N_ITEMS);
  fail_unless_equals_int (content, item->index);
  fail_unless (is_good (item->index));
  log->counts[item->epoch][item->index]++;
  log->n_used++;
}

static void
use (Log *log, GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  if (!batch)
    use_item (log, gst_spdl_buffer_get_item_meta (buffer), map.data);
  for (guint i = 0; batch && i < batch->num_items; i++)
    use_item (log, &batch->items[i], map.data + i * sizeof (guint));
  gst_buffer_unmap (buffer, &map);
}

static gchar *
state_of (GstElement *sink, GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  gchar *state;

  if (batch)
    return g_strdup (batch->resume_state);
  g_object_get (sink, "resume-state", &state, NULL);
  return state;
}

static guint
count_gaps (const gchar *state)
{
  return strlen (strstr (state, "done=") + 5) / 2;
}

/* Resumes from *@state, which may be that of all ranks, uses @n_uses batches,
 * pulls some that are not used, and stops. Returns whether the stream ended
 * before these uses. */
static gboolean
run_for (const Plan *plan, GRand *rand, guint n_uses, guint n_unused,
    gchar **state, Log *log)
{
  g_autofree gchar *description = describe (plan, rand);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, &error);
  g_autoptr (GstElement) src = NULL;
  g_autoptr (GstElement) sink = NULL;
  gboolean ended = FALSE;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (src, "resume-state", *state, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_free (*state);
  g_object_get (src, "start-state", state, NULL);
  fail_unless (*state != NULL);
  for (guint i = 0; i < n_uses + n_unused && !ended; i++) {
    GstSample *sample;

    g_signal_emit_by_name (sink, "pull-sample", &sample);
    /* The end of the stream only counts if it is reached by used batches. */
    ended = sample == NULL && i < n_uses;
    if (sample && i < n_uses) {
      use (log, gst_sample_get_buffer (sample));
      g_free (*state);
      *state = state_of (sink, gst_sample_get_buffer (sample));
      fail_unless (*state != NULL);
    }
    g_clear_pointer (&sample, gst_sample_unref);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (ended) {
    /* Includes items that failed after the last batch. */
    g_free (*state);
    g_object_get (sink, "resume-state", state, NULL);
  }
  if (!ended)
    log->n_gaps += count_gaps (*state);
  return ended;
}

/* Returns how often an epoch has an item, on all ranks. Without shuffle, the
 * items that are repeated as padding are known. */
static guint
count_wanted (const Plan *plan, guint index)
{
  const guint padding = (plan->world - N_ITEMS % plan->world) % plan->world;

  if (!is_good (index))
    return 0;
  if (g_str_equal (plan->mode, "pad"))
    return 1 + (index < padding);
  if (g_str_equal (plan->mode, "drop"))
    return index < N_ITEMS - N_ITEMS % plan->world;
  return 1;
}

static void
check_log (const Plan *plan, const Log *log)
{
  for (guint epoch = 0; epoch < N_EPOCHS; epoch++) {
    guint n = 0, n_wanted = 0;

    for (guint i = 0; i < N_ITEMS; i++) {
      const guint count = log->counts[epoch][i];
      guint wanted = count_wanted (plan, i);

      n += count;
      n_wanted += wanted;
      if (plan->drop_last || (plan->shuffle && plan->world > 1))
        wanted = MIN (count, 1u + g_str_equal (plan->mode, "pad"));
      fail_unless (count == wanted, "item %u of epoch %u came %u times", i,
          epoch, count);
    }
    /* With complete batches only, less than a batch is left over. */
    if (plan->drop_last)
      n_wanted -= n_wanted % plan->batch;
    if (plan->world == 1)
      fail_unless_equals_int (n, n_wanted);
  }
}

/* Runs a training on each of its ranks, stopping repeatedly. */
static void
check_plan (Plan *plan, guint seed, Log *log)
{
  GRand *rand = g_rand_new_with_seed (seed);

  memset (log->counts, 0, sizeof log->counts);
  for (plan->rank = 0; plan->rank < plan->world; plan->rank++) {
    gchar *state = NULL;

    while (!run_for (plan, rand, g_rand_int_range (rand, 1, 25),
        g_rand_int_range (rand, 0, 3), &state, log))
      ;
    g_free (state);
  }
  check_log (plan, log);
  g_rand_free (rand);
}

static const gchar *const orders[] = { "completion", "input" };
static const gchar *const modes[] = { "pad", "drop", "uneven" };

/* All combinations of intermediate elements; in the normal mode six of the 16,
 * with and without each element. */
GST_START_TEST (test_again_and_again)
{
  gchar *folder = make_list (N_ITEMS);
  Log log = { 0 };

  for (guint i = 0; i < 16; i += spdl_test_slow_or (1, 3)) {
    Plan plan = { folder, N_ITEMS, orders[__i__], i & 1, i & 2 ? 4 : 1,
      i & 4 ? 8 : 3, (i & 8) != 0, 0, 1, "pad", N_EPOCHS };

    check_plan (&plan, i, &log);
  }
  /* Items overtook others, or did not with the other order. */
  fail_unless (__i__ == 1 || log.n_gaps > 0);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Stops once, after each number of batches, of which the normal mode tests
 * some.
 */
GST_START_TEST (test_everywhere)
{
  gchar *folder = make_list (N_ITEMS);
  Plan plan = { folder, N_ITEMS, orders[__i__], TRUE, 1, 4, FALSE, 0, 1, "pad",
    N_EPOCHS };
  GRand *rand = g_rand_new_with_seed (1);
  gboolean ended = FALSE;

  for (guint k = 1; !ended; k += spdl_test_slow_or (2, 7)) {
    gchar *state = NULL;
    Log log = { 0 };

    ended = run_for (&plan, rand, k, k % 3, &state, &log);
    if (!ended)
      run_for (&plan, rand, G_MAXINT, 0, &state, &log);
    check_log (&plan, &log);
    g_free (state);
  }
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_ranks)
{
  gchar *folder = make_list (N_ITEMS);
  Log log = { 0 };

  for (guint i = 0; i < 3 * 2 * 2; i += spdl_test_slow_or (1, 3)) {
    Plan plan = { folder, N_ITEMS, orders[i & 1], (i & 2) != 0, 1, 5, FALSE, 0,
      1 + __i__, modes[i / 4], N_EPOCHS };

    check_plan (&plan, i, &log);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Without batches, the sink's property has the state. */
GST_START_TEST (test_single_items)
{
  gchar *folder = make_list (N_ITEMS);
  Log log = { 0 };

  for (guint i = 0; i < spdl_test_slow_or (8, 2); i++) {
    Plan plan = { folder, N_ITEMS, orders[__i__], i & 1, 1, 0, FALSE, 0, 1,
      "pad", N_EPOCHS };

    check_plan (&plan, i, &log);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Runs until EOS and returns the sink's final state. */
static gchar *
run_to_end (const Plan *plan, const gchar *state, Log *log)
{
  GRand *rand = g_rand_new_with_seed (plan->rank);
  g_autofree gchar *description = describe (plan, rand);
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample;
  gchar *end;

  g_object_set (src, "resume-state", state, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;) {
    g_signal_emit_by_name (sink, "pull-sample", &sample);
    if (!sample)
      break;
    use (log, gst_sample_get_buffer (sample));
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  /* The state is available after the end. */
  g_object_get (sink, "resume-state", &end, NULL);
  g_rand_free (rand);
  return end;
}

/* The number of processes may change between epochs. */
GST_START_TEST (test_other_world)
{
  gchar *folder = make_list (N_ITEMS);
  Plan plan = { folder, N_ITEMS, "completion", TRUE, 1, 4, TRUE, 0, 1, "uneven",
    1 };
  Log log = { 0 };
  g_autofree gchar *state = run_to_end (&plan, NULL, &log);

  fail_unless (g_str_has_suffix (state, ",epoch=1,mark=0,done=;"), "%s", state);
  plan.world = 3;
  plan.n_epochs = 3;
  plan.drop_last = FALSE;
  for (plan.rank = 0; plan.rank < plan.world; plan.rank++) {
    g_autofree gchar *end = run_to_end (&plan, state, &log);
    g_autofree gchar *again = NULL;
    const guint n_used = log.n_used;

    fail_unless (g_str_has_suffix (end, ",epoch=3,mark=0,done=;"), "%s", end);
    /* Everything is done. */
    again = run_to_end (&plan, end, &log);
    fail_unless_equals_int (log.n_used, n_used);
    fail_unless_equals_string (again, end);
  }
  for (guint i = 0; i < N_ITEMS; i++) {
    fail_unless_equals_int (log.counts[1][i], is_good (i));
    fail_unless_equals_int (log.counts[2][i], is_good (i));
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Runs all ranks from the states of other ranks. Returns whether all have
 * ended. */
static gboolean
run_world (Plan *plan, GRand *rand, GStrv *states, Log *log)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *joined =
      *states ? gst_spdl_state_merge ((const gchar *const *) *states, &error)
              : NULL;
  gboolean ended = TRUE;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  g_strfreev (*states);
  *states = g_new0 (gchar *, plan->world + 1);
  for (plan->rank = 0; plan->rank < plan->world; plan->rank++) {
    gchar **state = &(*states)[plan->rank];

    *state = g_strdup (joined);
    ended &= run_for (plan, rand, g_rand_int_range (rand, 0, 12),
        g_rand_int_range (rand, 0, 3), state, log);
  }
  return ended;
}

/* The number of processes may change at any time if the states of all of them
 * are given. */
GST_START_TEST (test_changing_worlds)
{
  gchar *folder = make_list (N_ITEMS);
  GRand *rand = g_rand_new_with_seed (36 + __i__);

  for (guint i = 0; i < spdl_test_slow_or (6, 4); i++) {
    Plan plan = { folder, N_ITEMS, orders[__i__], i & 1, 1, 3, FALSE, 0, 1,
      "uneven", N_EPOCHS, i / 2 % 2 ? 3 : 1 };
    Log log = { 0 };
    GStrv states = NULL;

    do
      plan.world = g_rand_int_range (rand, 1, 6);
    while (!run_world (&plan, rand, &states, &log));
    for (guint epoch = 0; epoch < N_EPOCHS; epoch++)
      for (guint k = 0; k < N_ITEMS; k++)
        fail_unless_equals_int (log.counts[epoch][k], is_good (k));
    g_strfreev (states);
  }
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

static void
assert_refused (const gchar *folder, const gchar *properties,
    const gchar *state, const gchar *text)
{
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc name=src location=%s/list.txt %s ! fakesink",
          folder, properties);
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  g_object_set (src, "resume-state", state, NULL);
  if (!text) {
    fail_unless (gst_element_set_state (pipeline, GST_STATE_PAUSED) !=
                 GST_STATE_CHANGE_FAILURE);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    return;
  }
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
  fail_unless (errors_has (error, text), "%s", error->message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* Returns the state of a source before its first item, with one part
 * replaced. */
static gchar *
make_state_with (const gchar *folder, const gchar *properties,
    const gchar *part, const gchar *other)
{
  Run *run =
      run_pipeline ("spdlsrc location=%s/list.txt %s ! fakesink name=sink",
          folder, properties);
  g_auto (GStrv) parts = NULL;
  const gchar *state = NULL;

  for (guint i = 0; i < run->stream->len && !state; i++)
    if (GST_IS_EVENT (g_ptr_array_index (run->stream, i)))
      gst_spdl_event_parse_source (
          g_ptr_array_index (run->stream, i), NULL, NULL, &state);
  fail_unless (state != NULL);
  parts = g_strsplit (state, part, 2);
  fail_unless (g_strv_length (parts) == 2, "%s: %s", state, part);
  run_free (run);
  return g_strconcat (parts[0], other, parts[1], NULL);
}

static gchar *
make_state (const gchar *folder, const gchar *part, const gchar *other)
{
  return make_state_with (folder, "seed=5 rank=1 world-size=4", part, other);
}

GST_START_TEST (test_refused)
{
  static const gchar ours[] = "seed=5 rank=1 world-size=4";
  static const gchar within[] = "epoch=2,mark=3,done=BB;";
  gchar *folder = make_list (20);
  gchar *other = make_list (21);
  g_autofree gchar *start = make_state (folder, "spdl1;", "spdl1;");
  g_autofree gchar *state =
      make_state (folder, "epoch=0,mark=0,done=;", within);
  g_autofree gchar *hash = make_state (folder, "hash=", "hash=1");
  g_autofree gchar *too_far =
      make_state (folder, "epoch=0,mark=0,done=;", "epoch=2,mark=3,done=BC;");
  g_autofree gchar *cut = g_strndup (state, strlen (state) - 1);

  assert_refused (folder, ours, state, NULL);
  assert_refused (folder, ours, "", "[resource-error settings]");
  assert_refused (other, ours, state, "[resource-error settings]|20");
  files_write_text (other, "list.txt",
      "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  assert_refused (other, ours, state, "[resource-error settings]|20");
  assert_refused (folder, "seed=6 rank=1 world-size=4", state,
      "[resource-error settings]|seed=5|6");
  assert_refused (folder, "seed=5 rank=1 world-size=4 shuffle=true", start,
      "[resource-error settings]|shuffle=false");
  assert_refused (folder, "seed=5 rank=1 world-size=5", state,
      "[resource-error settings]|world-size=4|world-size|5");
  assert_refused (folder, "seed=5 rank=2 world-size=4", state,
      "[resource-error settings]|rank=1|2");
  assert_refused (folder, "seed=5 rank=1 world-size=4 shard-mode=drop", state,
      "[resource-error settings]|shard-mode=pad|shard-mode");
  assert_refused (
      folder, "seed=5 rank=2 world-size=3 shard-mode=drop", start, NULL);
  assert_refused (folder, ours, too_far, "[resource-error settings]|6|5");
  assert_refused (folder, ours, cut, "[resource-error settings]");
  assert_refused (folder, ours, hash, "[resource-error settings]");
  assert_refused (folder, ours, "spdl1;", "[resource-error settings]|0");
  assert_refused (folder, ours, "spdl9;source=0",
      "[resource-error settings]|\"spdl9;so\"|\"spdl1;\"");
  files_remove_folder (folder);
  files_remove_folder (other);
}

GST_END_TEST;

static void
assert_not_joined (const gchar *a, const gchar *b, const gchar *text)
{
  const gchar *const states[] = { a, b, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) other_error = NULL;

  fail_unless (gst_spdl_state_merge (states, &error) == NULL);
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE));
  fail_unless (errors_has (error, text), "%s", error->message);
  fail_unless (gst_spdl_state_reshard (states, 3, &other_error) == NULL);
  fail_unless (g_error_matches (
      other_error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE));
}

/* States that are not those of all ranks of a run. */
GST_START_TEST (test_not_joined)
{
  static const gchar part[] = "epoch=0,mark=0,done=;";
  gchar *folder = make_list (20);
  g_autofree gchar *first = make_state_with (
      folder, "rank=0 world-size=2", part, "epoch=0,mark=3,done=BB;");
  g_autofree gchar *second = make_state_with (
      folder, "rank=1 world-size=2", part, "epoch=1,mark=3,done=;");
  g_autofree gchar *other_second = make_state_with (
      folder, "rank=1 world-size=2", part, "epoch=1,mark=4,done=;");
  g_autofree gchar *other_seed =
      make_state_with (folder, "seed=1 rank=1 world-size=2", part, part);
  g_autofree gchar *other_run =
      make_state_with (folder, "shard-run=2 rank=1 world-size=2", part, part);
  g_autofree gchar *other_world =
      make_state_with (folder, "rank=1 world-size=3", part, part);
  g_autofree gchar *too_far = make_state_with (
      folder, "rank=1 world-size=2", part, "epoch=0,mark=30,done=;");
  g_autofree gchar *cut = g_strndup (second, strlen (second) - 1);
  const gchar *const both[] = { second, first, second, NULL };
  const gchar *const impossible[] = { first, too_far, NULL };
  const gchar *const parts[] = { NULL, NULL };
  g_autofree gchar *joined = gst_spdl_state_merge (both, NULL);
  g_auto (GStrv) same = gst_spdl_state_reshard (both, 2, NULL);
  g_auto (GStrv) three = gst_spdl_state_reshard (both, 3, NULL);

  fail_unless (joined != NULL && same != NULL && three != NULL);
  fail_unless_equals_int (g_strv_length (three), 3);
  /* Two of the ranks before the change, or one of each. */
  assert_not_joined (first, NULL, "1");
  assert_not_joined (second, NULL, "0");
  assert_not_joined (first, other_seed, "0|1");
  assert_not_joined (first, other_run, "0|1");
  assert_not_joined (first, other_world, "2|3");
  assert_not_joined (first, cut, "1");
  assert_not_joined (joined, other_second, "1");
  assert_not_joined (same[0], second, "0|1");
  assert_not_joined ("spdl1;", first, "0");
  fail_unless (gst_spdl_state_merge (parts, NULL) == NULL);
  fail_unless (gst_spdl_state_reshard (impossible, 3, NULL) == NULL);
  fail_unless (gst_spdl_state_reshard (both, 0, NULL) == NULL);
  fail_unless (gst_spdl_state_reshard (both, G_MAXUINT, NULL) == NULL);
  files_remove_folder (folder);
}

GST_END_TEST;

static gchar *
make_streamed_state (const gchar *folder, guint rank, const gchar *progress)
{
  g_autofree gchar *properties = g_strdup_printf ("rank=%u world-size=2", rank);
  g_autofree gchar *other = g_strdup_printf ("streamed=1,%s", progress);

  return make_state_with (folder, properties, "epoch=0,mark=0,done=;", other);
}

/* Items of streamed shards have no place, so they can be divided only between
 * epochs. */
GST_START_TEST (test_streamed_ranks)
{
  gchar *folder = make_list (20);
  g_autofree gchar *rank_0 =
      make_streamed_state (folder, 0, "epoch=1,mark=3,done=BB;");
  g_autofree gchar *rank_1 =
      make_streamed_state (folder, 1, "epoch=2,mark=0,done=;");
  g_autofree gchar *end_0 =
      make_streamed_state (folder, 0, "epoch=2,mark=0,done=;");
  const gchar *const within[] = { rank_0, rank_1, NULL };
  const gchar *const between[] = { end_0, rank_1, NULL };
  g_auto (GStrv) same = gst_spdl_state_reshard (within, 2, NULL);
  g_auto (GStrv) moved = gst_spdl_state_reshard (between, 3, NULL);
  g_autofree gchar *joined = gst_spdl_state_merge (within, NULL);
  g_autoptr (GError) error = NULL;

  fail_unless (gst_spdl_state_reshard (within, 3, &error) == NULL);
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE));
  fail_unless_equals_string (same[0], rank_0);
  fail_unless_equals_string (same[1], rank_1);
  fail_unless_equals_int (g_strv_length (moved), 3);
  fail_unless (strstr (moved[2], "rank=2,world-size=3") != NULL);
  fail_unless (strstr (moved[2], "epoch=2,mark=0,done=,") != NULL);
  /* Before anything plays. */
  assert_refused (
      folder, "rank=0 world-size=3", joined, "[resource-error settings]|1");
  files_remove_folder (folder);
}

GST_END_TEST;

/* A state determines the meaning of labels. */
GST_START_TEST (test_other_classes)
{
  static const gchar start[] = "spdl1;";
  gchar *folder = files_make_folder ();

  files_write_text (folder, "list.txt", "a\tdog\nb\tcat\nc\temu\n");
  g_autofree gchar *found = make_state_with (folder, "", start, start);
  g_autofree gchar *given =
      make_state_with (folder, "classes=<dog,cat,emu>", start, start);
  g_autofree gchar *none = make_state_with (folder, "label=none", start, start);

  fail_unless (strstr (found, ",classes=") != NULL, "%s", found);
  fail_unless (strstr (none, "classes=") == NULL, "%s", none);
  assert_refused (folder, "", found, NULL);
  /* The same classes from another source are accepted. */
  assert_refused (folder, "classes=<cat,dog,emu>", found, NULL);
  assert_refused (folder, "classes=<dog,cat,emu>", given, NULL);
  assert_refused (folder, "label=none", none, NULL);
  assert_refused (folder, "", given, "[resource-error settings]");
  assert_refused (
      folder, "classes=<dog,cat,emu,fox>", given, "[resource-error settings]");
  assert_refused (
      folder, "classes=<dog,cat,emu>", found, "[resource-error settings]");
  assert_refused (folder, "", none, "[resource-error settings]");
  assert_refused (folder, "label=none", found, "[resource-error settings]");
  files_remove_folder (folder);
}

GST_END_TEST;

/* State of another epoch of the same sources. */
GST_START_TEST (test_epoch)
{
  gchar *folder = make_list (20);
  g_autofree gchar *state = make_state (folder, "epoch=0,mark=0,done=;",
      "epoch=2,mark=3,done=BBBB,dropped-upstream=2,dropped-upstream-before=9;");
  g_autofree gchar *moved = gst_spdl_state_dup_at_epoch (state, 7);
  g_autofree gchar *expected =
      make_state (folder, "epoch=0,mark=0,done=;", "epoch=7,mark=0,done=;");
  g_autofree gchar *two =
      g_strconcat (moved, "source=1", state + strlen ("spdl1;source=0"), NULL);
  g_autofree gchar *ranks =
      g_strconcat (moved, state + strlen ("spdl1;"), NULL);
  g_autofree gchar *both = gst_spdl_state_dup_at_epoch (two, 4);
  g_autofree gchar *cut = g_strndup (state, strlen (state) - 1);
  gboolean is_beginning = TRUE;
  guint64 epoch = 0;

  fail_unless (gst_spdl_state_get_epoch (state, &epoch, &is_beginning));
  fail_unless_equals_uint64 (epoch, 2);
  fail_if (is_beginning);
  fail_unless_equals_string (moved, expected);
  fail_unless (gst_spdl_state_get_epoch (moved, &epoch, &is_beginning));
  fail_unless_equals_uint64 (epoch, 7);
  fail_unless (is_beginning);

  fail_unless (gst_spdl_state_get_epoch (two, &epoch, &is_beginning));
  fail_unless_equals_uint64 (epoch, 7);
  fail_if (is_beginning);
  /* The lowest epoch of several ranks. */
  fail_unless (gst_spdl_state_get_epoch (ranks, &epoch, &is_beginning));
  fail_unless_equals_uint64 (epoch, 2);
  fail_if (is_beginning);
  fail_unless (gst_spdl_state_get_epoch (both, &epoch, &is_beginning));
  fail_unless_equals_uint64 (epoch, 4);
  fail_unless (is_beginning);

  fail_if (gst_spdl_state_get_epoch (cut, &epoch, NULL));
  fail_if (gst_spdl_state_get_epoch ("spdl1;", &epoch, NULL));
  fail_if (gst_spdl_state_get_epoch (NULL, &epoch, NULL));
  fail_unless_equals_uint64 (epoch, 4);
  fail_unless (gst_spdl_state_dup_at_epoch (cut, 1) == NULL);
  fail_unless (gst_spdl_state_dup_at_epoch ("spdl1;", 1) == NULL);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Items that a resumed run skips. */
GST_START_TEST (test_is_done)
{
  gchar *folder = make_list (20);
  /* Items 0, 1, 2 are done and, after two gaps, 4 and 6. */
  g_autofree gchar *state =
      make_state (folder, "epoch=0,mark=0,done=;", "epoch=2,mark=3,done=BBBB;");
  g_autofree gchar *cut = g_strndup (state, strlen (state) - 1);

  for (guint64 i = 0; i < 9; i++) {
    fail_unless_equals_int (
        gst_spdl_state_is_done (state, 0, 2, i), i < 3 || i == 4 || i == 6);
    fail_unless (gst_spdl_state_is_done (state, 0, 1, i));
    fail_if (gst_spdl_state_is_done (state, 0, 3, i));
    fail_if (gst_spdl_state_is_done (state, 1, 1, i));
    fail_if (gst_spdl_state_is_done (cut, 0, 1, i));
    fail_if (gst_spdl_state_is_done (NULL, 0, 0, i));
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* A dataset is recognized at another location, but not if a name in it has
 * changed. */
GST_START_TEST (test_fingerprint)
{
  g_autofree gchar *known = NULL;

  for (guint i = 0; i < 3; i++) {
    gchar *folder = files_make_folder ();
    Run *run;
    const gchar *start = NULL;

    files_write_text (folder, "a/1.jpg", "x");
    files_write_text (folder, i < 2 ? "a/2.jpg" : "a/3.jpg", "x");
    run = run_pipeline ("spdlsrc location=%s ! fakesink name=sink", folder);
    for (guint k = 0; k < run->stream->len && !start; k++)
      if (GST_IS_EVENT (g_ptr_array_index (run->stream, k)))
        gst_spdl_event_parse_source (
            g_ptr_array_index (run->stream, k), NULL, NULL, &start);
    if (i == 0)
      known = g_strdup (start);
    else
      fail_unless_equals_int (g_str_equal (known, start), i == 1);
    run_free (run);
    files_remove_folder (folder);
  }
}

GST_END_TEST;

CHECK_SUITE (resume, g_unsetenv ("RANK"), g_unsetenv ("WORLD_SIZE"),
    TIMEOUT (240), LOOP (test_again_and_again, G_N_ELEMENTS (orders)),
    LOOP (test_everywhere, G_N_ELEMENTS (orders)), LOOP (test_ranks, 3),
    LOOP (test_single_items, G_N_ELEMENTS (orders)), TEST (test_other_world),
    LOOP (test_changing_worlds, G_N_ELEMENTS (orders)), TEST (test_refused),
    TEST (test_not_joined), TEST (test_streamed_ranks),
    TEST (test_other_classes), TEST (test_epoch), TEST (test_is_done),
    TEST (test_fingerprint))
