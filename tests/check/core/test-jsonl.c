/* gst-spdl: tests of spdlsrc with .jsonl lists
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define N_ITEMS 50

/* Makes a .csv, a .jsonl and a .ndjson list of the same items. */
static gchar *
make_lists (void)
{
  gchar *folder = files_make_folder ();
  g_autoptr (GString) csv = g_string_new ("id,image,label,w,mask\n");
  g_autoptr (GString) jsonl = g_string_new (NULL);

  for (guint i = 0; i < N_ITEMS; i++) {
    const gchar *label = i % 3 ? "dog" : "a cat";

    g_string_append_printf (
        csv, "i%u,a/%u.jpg,%s,%g,m/%u.png\n", i, i, label, i % 5 / 4.0, i);
    g_string_append_printf (jsonl,
        i % 2 ? "{\"id\": \"i%u\", \"image\": \"a/%u.jpg\", \"label\": \"%s\", "
                "\"w\": %g, \"mask\": \"m\\/%u.png\"}\n"
              : "\r\n{\"id\":\"i%u\",\"image\":\"a\\/%u.jpg\",\"label\":\"%s\","
                "\"w\":%g,\"mask\":\"m/%u.png\"}\r\n",
        i, i, label, i % 5 / 4.0, i);
  }
  files_write (folder, "list.csv", csv->str, csv->len);
  files_write (folder, "list.jsonl", jsonl->str, jsonl->len);
  files_write (folder, "list.ndjson", jsonl->str, jsonl->len);
  return folder;
}

static Run *
run_list (const gchar *folder, const gchar *name, const gchar *properties)
{
  return run_pipeline ("spdlsrc name=src uri-column=image location=%s/%s %s ! "
                       "fakesink name=sink",
      folder, name, properties);
}

static gchar *
get_state (Run *run)
{
  const gchar *state = NULL;

  for (guint i = 0; i < run->stream->len && !state; i++)
    if (GST_IS_EVENT (g_ptr_array_index (run->stream, i)))
      gst_spdl_event_parse_source (
          g_ptr_array_index (run->stream, i), NULL, NULL, &state);
  return g_strdup (state);
}

static void
assert_equal (Run *run, Run *other)
{
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless (other->error == NULL, "%s", other->error);
  fail_unless (run->buffers->len > 0);
  fail_unless_equals_int (run->buffers->len, other->buffers->len);
  fail_unless_equals_int (run->n_epochs, other->n_epochs);
  for (guint i = 0; i < run->buffers->len; i++) {
    const GstSpdlItemMeta *a = run_item (run, i), *b = run_item (other, i);

    fail_unless_equals_string (a->uri, b->uri);
    fail_unless_equals_int64 (a->label, b->label);
    fail_unless_equals_uint64 (a->index, b->index);
    fail_unless_equals_uint64 (a->sequence, b->sequence);
    fail_unless_equals_uint64 (a->epoch, b->epoch);
    fail_unless_equals_string (gst_structure_get_string (a->extra, "id"),
        gst_structure_get_string (b->extra, "id"));
    fail_unless_equals_string (gst_structure_get_string (a->extra, "mask"),
        gst_structure_get_string (b->extra, "mask"));
  }
}

/* Orders, ranks, weights and classes are those of an equal .csv list. */
GST_START_TEST (test_as_csv)
{
  static const gchar *const cases[] = { "", "epochs=3 shuffle=true seed=5",
    "shuffle=true rank=1 world-size=3", "rank=2 world-size=3 shard-mode=drop",
    "shuffle=true rank=0 world-size=3 shard-mode=uneven shard-run=4",
    "seed=2 epochs=2 weight-column=w items-per-epoch=77",
    "seed=2 weight-column=w rank=1 world-size=2 shard-mode=uneven",
    "label=none", "index-cache=always", "index-cache=always shuffle=true",
    "classes=\"<\\\"a cat\\\",dog,emu>\"", "classes=\"<dog,\\\"a cat\\\">\"" };
  gchar *folder = make_lists ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Run *csv = run_list (folder, "list.csv", cases[i]);
    Run *jsonl = run_list (folder, "list.jsonl", cases[i]);
    Run *ndjson = run_list (folder, "list.ndjson", cases[i]);

    assert_equal (csv, jsonl);
    assert_equal (csv, ndjson);
    run_free (csv);
    run_free (jsonl);
    run_free (ndjson);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Runs from the @skip th item of the first epoch. */
static Run *
resume (const gchar *folder, const gchar *name, const gchar *more, guint skip)
{
  Run *run = run_list (folder, name, more);
  g_autofree gchar *state = get_state (run);
  g_auto (GStrv) parts = g_strsplit (state, "mark=0,", 2);
  g_autofree gchar *properties = g_strdup_printf (
      "%s resume-state=\"%smark=%u,%s\"", more, parts[0], skip, parts[1]);

  run_free (run);
  return run_list (folder, name, properties);
}

/* A resumed run continues as with an equal .csv list. */
GST_START_TEST (test_resume)
{
  static const gchar *const cases[] = { "epochs=2 shuffle=true seed=5",
    "epochs=2 shuffle=true rank=1 world-size=3",
    "epochs=2 weight-column=w items-per-epoch=77" };
  gchar *folder = make_lists ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint skip = 1; skip < 17; skip += 5) {
      Run *csv = resume (folder, "list.csv", cases[i], skip);
      Run *jsonl = resume (folder, "list.jsonl", cases[i], skip);

      assert_equal (csv, jsonl);
      fail_unless_equals_uint64 (run_item (csv, 0)->sequence, skip);
      run_free (csv);
      run_free (jsonl);
    }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Relative paths belong to the list, and values keep their types. */
GST_START_TEST (test_values)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *uri =
      g_strconcat ("file://", folder, "/a/caf%C3%A9%20%231.jpg", NULL);
  const GstStructure *extra;
  gint64 number;
  gdouble real;
  gboolean is_true;
  Run *run;

  files_write_text (folder, "list.jsonl",
      "{\"uri\":\"a\\/caf\\u00e9 #1.jpg\",\"n\":7,\"r\":0.25,\"t\":true,"
      "\"z\":null,\"talk\":[{\"from\": \"human\", \"value\": "
      "\"\\\"Hi\\\"\"}]}\n"
      "{\"uri\":\"s3://bucket/b.jpg\"}\n{\"uri\":\"/abs/c.jpg\"}\n");
  run = run_pipeline (
      "spdlsrc location=%s/list.jsonl ! fakesink name=sink", folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 3);
  fail_unless_equals_string (run_item (run, 0)->uri, uri);
  extra = run_item (run, 0)->extra;
  fail_unless (gst_structure_has_name (extra, "extra"));
  fail_unless_equals_int (gst_structure_n_fields (extra), 4);
  fail_unless (gst_structure_get_int64 (extra, "n", &number) && number == 7);
  fail_unless (gst_structure_get_double (extra, "r", &real) && real == 0.25);
  fail_unless (gst_structure_get_boolean (extra, "t", &is_true) && is_true);
  fail_unless_equals_string (gst_structure_get_string (extra, "talk"),
      "[{\"from\": \"human\", \"value\": \"\\\"Hi\\\"\"}]");
  fail_unless_equals_string (run_item (run, 1)->uri, "s3://bucket/b.jpg");
  fail_unless (run_item (run, 1)->extra == NULL);
  fail_unless_equals_string (run_item (run, 2)->uri, "file:///abs/c.jpg");
  run_free (run);
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
  gchar *folder = make_lists ();

  files_write_text (folder, "bad.jsonl",
      "{\"uri\":\"a\",\"w\":1}\n\n{\"uri\":\"b\",\"w\":-1}\n{\"uri\":\"c\"}\n"
      "{\"uri\":\"d\",\"w\":\"1\"}\nb.jpg\n");
  assert_error (folder, "bad.jsonl",
      "[resource-error read]|bad.jsonl|6|byte 1|\"b.jpg\"|1 malformed|5");
  assert_error (folder, "bad.jsonl weight-column=w",
      "[resource-error read]|bad.jsonl|3|\"-1\"|4 malformed|5");
  assert_error (folder, "list.jsonl weight-column=v uri-column=image",
      "[resource-error read]|list.jsonl|2|\"v\"|weight-column|50 malformed");
  assert_error (folder, "list.jsonl weight-column=uri",
      "[resource-error settings]|\"uri\"|list.jsonl");
  assert_error (folder, "list.jsonl weight-column=\"a b\" uri-column=image",
      "[resource-error read]|weight-column|\"a b\"|50 malformed");
  assert_error (folder, "list.jsonl",
      "[resource-error read]|list.jsonl|2|\"uri\"|uri-column|50 malformed");
  assert_error (folder, "list.csv", "[resource-error read]|1|\"uri\"");
  /* Only lists with names have columns. */
  files_write_text (folder, "list.txt", "a.jpg\n");
  assert_error (folder, "list.txt uri-column=image",
      "[resource-error settings]|uri-column=image|list.txt");
  assert_error (folder, " uri-column=image",
      "[resource-error settings]|uri-column=image|folder");
  files_remove_folder (folder);
}

GST_END_TEST;

/* A state belongs to the column of the URI. */
GST_START_TEST (test_other_column)
{
  gchar *folder = make_lists ();
  Run *run = run_list (folder, "list.jsonl", "");
  g_autofree gchar *state = get_state (run);
  g_autofree gchar *properties =
      g_strdup_printf ("list.jsonl uri-column=mask resume-state=\"%s\"", state);

  run_free (run);
  assert_error (folder, properties, "[resource-error settings]|list.jsonl");
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (jsonl, TIMEOUT (120), TEST (test_as_csv), TEST (test_resume),
    TEST (test_values), TEST (test_errors), TEST (test_other_column))
