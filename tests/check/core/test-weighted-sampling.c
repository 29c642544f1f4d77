/* gst-spdl: tests of weighted sampling
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define N_ITEMS 20
#define N_DRAWS 103
#define N_EPOCHS 3

/* Makes a list in which each fifth item has the weight 0. */
static gchar *
make_list (void)
{
  gchar *folder = files_make_folder ();
  GString *text = g_string_new ("uri,label,w\n");

  for (guint i = 0; i < N_ITEMS; i++)
    g_string_append_printf (text, "%u.jpg,%u,%g\n", i, i, i % 5 / 4.0);
  files_write (folder, "list.csv", text->str, text->len);
  g_string_free (text, TRUE);
  return folder;
}

static gchar *
start_of (Run *run)
{
  const gchar *state = NULL;

  for (guint i = 0; i < run->stream->len && !state; i++)
    if (GST_IS_EVENT (g_ptr_array_index (run->stream, i)))
      gst_spdl_event_parse_source (
          g_ptr_array_index (run->stream, i), NULL, NULL, &state);
  return g_strdup (state);
}

static Run *
run_list (const gchar *folder, const gchar *properties)
{
  Run *run =
      run_pipeline ("spdlsrc location=%s/list.csv seed=4 weight-column=w "
                    "epochs=%d %s ! fakesink name=sink",
          folder, N_EPOCHS, properties);

  fail_unless (run->error == NULL, "%s", run->error);
  return run;
}

typedef guint Draws[N_EPOCHS][N_DRAWS];

/* Stores the items of rank r of W at their positions in the overall order. */
static void
take (Run *run, guint rank, guint world, Draws draws)
{
  for (guint i = 0; i < run->buffers->len; i++) {
    const GstSpdlItemMeta *item = run_item (run, i);
    const guint64 place = rank + item->sequence * world;

    fail_unless (item->epoch < N_EPOCHS && place < N_DRAWS);
    fail_unless_equals_int64 (item->label, item->index);
    fail_unless (item->index % 5 != 0);
    fail_unless_equals_int (draws[item->epoch][place], G_MAXUINT);
    draws[item->epoch][place] = item->index;
  }
  run_free (run);
}

static void
draw (const gchar *folder, guint world, const gchar *more, Draws draws)
{
  memset (draws, 0xff, sizeof (Draws));
  for (guint rank = 0; rank < world; rank++) {
    g_autofree gchar *properties = g_strdup_printf (
        "items-per-epoch=%d rank=%u world-size=%u shard-mode=uneven %s",
        N_DRAWS, rank, world, more);

    take (run_list (folder, properties), rank, world, draws);
  }
}

GST_START_TEST (test_any_world)
{
  gchar *folder = make_list ();
  Draws one, other;

  draw (folder, 1, "", one);
  for (guint world = 2; world < 5; world++) {
    draw (folder, world, "", other);
    fail_unless (memcmp (one, other, sizeof one) == 0);
  }
  /* Shuffling has no effect. */
  draw (folder, 1, "shuffle=true", other);
  fail_unless (memcmp (one, other, sizeof one) == 0);
  /* Each epoch and each seed has a different sample. */
  fail_unless (memcmp (one[0], one[1], sizeof one[0]) != 0);
  fail_unless (memcmp (one[1], one[2], sizeof one[0]) != 0);
  draw (folder, 1, "seed=5", other);
  fail_unless (memcmp (one[0], other[0], sizeof one[0]) != 0);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A resumed run continues from any position like an uninterrupted one. */
GST_START_TEST (test_resume)
{
  gchar *folder = make_list ();
  g_autofree gchar *number = g_strdup_printf ("items-per-epoch=%d", N_DRAWS);
  Run *run = run_list (folder, number);
  g_autofree gchar *state = start_of (run);
  g_auto (GStrv) parts = g_strsplit (state, "epoch=0,mark=0,", 2);

  fail_unless (
      strstr (
          state, ",shard-mode=pad,weight-column=w,items-per-epoch=103,epoch="),
      "%s", state);
  for (guint skip = 0; skip < N_EPOCHS * N_DRAWS; skip += 47) {
    g_autofree gchar *from =
        g_strdup_printf ("%s resume-state=\"%sepoch=%u,mark=%u,%s\"", number,
            parts[0], skip / N_DRAWS, skip % N_DRAWS, parts[1]);
    Run *rest = run_list (folder, from);

    fail_unless_equals_int (rest->buffers->len, run->buffers->len - skip);
    for (guint i = 0; i < rest->buffers->len; i++) {
      const GstSpdlItemMeta *item = run_item (rest, i);
      const GstSpdlItemMeta *before = run_item (run, i + skip);

      fail_unless_equals_uint64 (item->index, before->index);
      fail_unless_equals_uint64 (item->sequence, before->sequence);
      fail_unless_equals_uint64 (item->epoch, before->epoch);
    }
    run_free (rest);
  }
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

static guint64
count_items (const gchar *folder, const gchar *properties)
{
  Run *run = run_list (folder, properties);
  guint64 n = G_MAXUINT64;

  for (guint i = 0; i < run->stream->len; i++)
    if (GST_IS_EVENT (g_ptr_array_index (run->stream, i)))
      gst_spdl_event_parse_epoch (
          g_ptr_array_index (run->stream, i), NULL, NULL, &n);
  fail_unless_equals_uint64 (run->buffers->len, N_EPOCHS * n);
  run_free (run);
  return n;
}

/* The number of items is that of the samples. */
GST_START_TEST (test_counts)
{
  gchar *folder = make_list ();

  fail_unless_equals_uint64 (count_items (folder, ""), N_ITEMS);
  fail_unless_equals_uint64 (count_items (folder, "items-per-epoch=7"), 7);
  fail_unless_equals_uint64 (count_items (folder, "items-per-epoch=45"), 45);
  fail_unless_equals_uint64 (
      count_items (folder, "items-per-epoch=7 rank=1 world-size=2"), 4);
  fail_unless_equals_uint64 (
      count_items (
          folder, "items-per-epoch=7 rank=1 world-size=2 shard-mode=drop"),
      3);
  files_remove_folder (folder);
}

GST_END_TEST;

static void
assert_error (const gchar *folder, const gchar *properties, const gchar *part)
{
  run_expect_error (run_pipeline ("spdlsrc location=%s/%s ! fakesink name=sink",
                        folder, properties),
      part);
}

GST_START_TEST (test_errors)
{
  gchar *folder = make_list ();

  assert_error (
      folder, "list.csv weight-column=v", "[resource-error settings]|list.csv");
  assert_error (folder, "list.csv weight-column=uri",
      "[resource-error settings]|\"uri\"");
  assert_error (folder, "list.csv items-per-epoch=5",
      "[resource-error settings]|items-per-epoch|5|weight-column");
  assert_error (
      folder, " weight-column=w", "[resource-error settings]|location");
  files_write_text (folder, "list.txt", "a\n");
  assert_error (folder, "list.txt weight-column=w",
      "[resource-error settings]|weight-column=w");
  assert_error (
      folder, "list.txt weight-column=w", "[resource-error settings]|list.txt");
  files_write_text (folder, "list.csv", "uri,w\na,0\nb,0.0\n");
  assert_error (
      folder, "list.csv weight-column=w", "[resource-error settings]|\"w\"|0");
  files_write_text (folder, "list.csv", "uri,w\na,0\nb,-0.5\nc,nan\nd,1\ne,\n");
  assert_error (folder, "list.csv weight-column=w",
      "list.csv\" line 3: weight \"-0.5\" ");
  files_remove_folder (folder);
}

GST_END_TEST;

/* A state with other sampling settings is rejected. */
GST_START_TEST (test_refused)
{
  static const struct {
    const gchar *before, *now, *text;
  } cases[] = {
    { "weight-column=w", "",
        "[resource-error settings]|weight-column=w|weight-column" },
    { "", "weight-column=w",
        "[resource-error settings]|weight-column=(unset)|weight-column" },
    { "weight-column=label", "weight-column=w",
        "[resource-error settings]|weight-column=label|weight-column" },
    { "weight-column=w", "weight-column=w items-per-epoch=21",
        "[resource-error settings]|items-per-epoch=20|items-per-epoch|21" },
  };
  gchar *folder = make_list ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Run *run = run_pipeline ("spdlsrc location=%s/list.csv %s ! "
                             "fakesink name=sink",
        folder, cases[i].before);
    g_autofree gchar *state = start_of (run);
    g_autofree gchar *properties = g_strdup_printf (
        "list.csv resume-state=\"%s\" %s", state, cases[i].now);

    fail_unless (run->error == NULL, "%s", run->error);
    assert_error (folder, properties, cases[i].text);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (weighted_sampling, g_unsetenv ("RANK"), g_unsetenv ("WORLD_SIZE"),
    TEST (test_any_world), TEST (test_resume), TEST (test_counts),
    TEST (test_errors), TEST (test_refused))
