/* gst-spdl: tests of shards in local files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/tars.h"

#define SIZE 3000

static gchar *folder;

static void
setup (void)
{
  folder = files_make_folder ();
}

static void
teardown (void)
{
  files_remove_folder (folder);
}

/* Writes three shards with 20, 1 and 19 samples. */
static void
write_shards (void)
{
  tar_write_shard (folder, "train-0000.tar", 0, 20, SIZE);
  tar_write_shard (folder, "train-0001.tar", 20, 1, SIZE);
  tar_write_shard (folder, "train-0002.tar", 21, 19, SIZE);
}

/* Checks that buffer @i has the bytes of its item, which is the sample with its
 * index. */
static void
assert_sample (Run *run, guint i)
{
  const GstSpdlItemMeta *item = run_item (run, i);
  const guint n = item->index;
  g_autofree guint8 *expected = g_malloc (SIZE + n);
  g_autofree gchar *key = g_strdup_printf ("train/%06u", n);
  g_autofree gchar *text = g_strdup_printf ("caption %u", n);
  g_autofree gchar *name = g_strdup_printf ("n%u", n);
  GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
  gint64 number = -1;
  gdouble half = 0;
  gboolean good = FALSE;

  tar_fill (expected, SIZE + n, n);
  fail_unless_equals_int (gst_buffer_get_size (buffer), SIZE + n);
  fail_unless (gst_buffer_memcmp (buffer, 0, expected, SIZE + n) == 0,
      "%s has other bytes", item->uri);
  fail_unless_equals_int64 (item->label, n);
  fail_unless_equals_string (
      gst_structure_get_string (item->extra, "key"), key);
  fail_unless_equals_string (
      gst_structure_get_string (item->extra, "txt"), text);
  fail_unless_equals_string (
      gst_structure_get_string (item->extra, "name"), name);
  fail_unless (gst_structure_get (item->extra, "number", G_TYPE_INT64, &number,
      "half", G_TYPE_DOUBLE, &half, "good", G_TYPE_BOOLEAN, &good, NULL));
  fail_unless_equals_int64 (number, n);
  fail_unless (half == n + 0.5 && good);
  fail_unless (g_str_has_prefix (
      gst_structure_get_string (item->extra, "json"), "{\"number\": "));
  fail_unless_equals_string (
      gst_structure_get_string (item->extra, "list"), "[1, 2]");
}

static void
assert_all (Run *run, guint n)
{
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, n);
  for (guint i = 0; i < n; i++)
    assert_sample (run, i);
}

static void
assert_in_order (Run *run, guint first, guint n)
{
  assert_all (run, n);
  for (guint i = 0; i < n; i++)
    fail_unless (run_item (run, i)->index == first + i, "%u: %s", i,
        run_item (run, i)->uri);
  run_free (run);
}

static Run *
fetch (const gchar *name, const gchar *source)
{
  return run_pipeline ("spdlsrc location=\"%s/%s\" %s ! spdlfetch "
                       "output-order=input ! fakesink name=sink",
      folder, name, source);
}

static void
assert_refused (const gchar *name, const gchar *source, const gchar *part)
{
  Run *run = fetch (name, source);

  fail_unless (run->error && errors_text_has (run->error, part), "%s: %s", name,
      run->error);
  fail_unless_equals_int (run->buffers->len, 0);
  run_free (run);
}

GST_START_TEST (test_samples)
{
  write_shards ();
  assert_in_order (fetch ("train-{0000..0002}.tar", ""), 0, 40);
  assert_in_order (fetch ("train-*.tar", ""), 0, 40);
  assert_in_order (fetch ("train-000[0-2].tar", "index-cache=none"), 0, 40);
  assert_in_order (fetch ("{train-0000,train-0001}.tar", ""), 0, 21);
  assert_in_order (fetch ("train-0000.tar", ""), 0, 20);
  /* These shards are too small for a sidecar by default. */
  fail_unless_equals_int (files_count_entries (folder), 3);
}

GST_END_TEST;

/* Tests that the number of names of fields is limited, not that of fields. */
GST_START_TEST (test_many_samples)
{
  tar_write_shard (folder, "train-0000.tar", 0, 1000, SIZE);
  assert_in_order (fetch ("train-0000.tar", ""), 0, 1000);
}

GST_END_TEST;

GST_START_TEST (test_shuffled)
{
  Run *run, *again;
  guint64 seen = 0;

  write_shards ();
  run = fetch ("train-*.tar", "shuffle=true seed=3 epochs=2");
  again =
      fetch ("train-*.tar", "shuffle=true seed=3 epochs=2 index-cache=always");
  assert_all (run, 80);
  for (guint i = 0; i < 40; i++)
    seen |= G_GUINT64_CONSTANT (1) << run_item (run, i)->index;
  fail_unless_equals_uint64_hex (seen, (G_GUINT64_CONSTANT (1) << 40) - 1);
  fail_unless_equals_int (run->n_epochs, 2);
  for (guint i = 0; i < 80; i++)
    fail_unless_equals_string (
        run_item (run, i)->uri, run_item (again, i)->uri);
  run_free (run);
  run_free (again);
}

GST_END_TEST;

GST_START_TEST (test_extensions)
{
  Run *run;

  write_shards ();
  run = fetch ("train-0001.tar", "extensions=\"png, .Txt\" label=none");
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless (gst_buffer_memcmp (g_ptr_array_index (run->buffers, 0), 0,
                   "caption 20", 10) == 0);
  fail_unless_equals_int64 (run_item (run, 0)->label, -1);
  run_free (run);
  assert_refused (
      "train-0001.tar", "extensions=png", "[resource-error not-found]");
}

GST_END_TEST;

/* Writes samples with several media files, without any, with class names, and
 * files that belong to no sample. */
static void
write_odd_shard (void)
{
  Tar tar;

  tar_begin (&tar);
  tar_add_text (&tar, "a.seg.png", "A1");
  tar_add_text (&tar, "a.jpg", "A2");
  tar_add_text (&tar, "a.cls", "cat");
  tar_add_text (&tar, "README", "x");
  tar_add_text (&tar, ".hidden.jpg", "x");
  tar_add_text (&tar, "__meta__/a.jpg", "x");
  tar_add_text (&tar, "b.txt", "only text");
  tar_add_text (&tar, "b.json", "[\"no object\"]");
  tar_add_text (&tar, "c.npy", "C1");
  tar_add_text (
      &tar, "c.json", "{\"key\": \"mine\", \"bad name\": 1, \"n\": 1");
  tar_add_text (&tar, "d.jpg", "");
  tar_add_text (&tar, "d.bin", "D1");
  tar_add_text (&tar, "d.cls", " 7 ");
  tar_add_text (
      &tar, "d.json", "{\"key\": \"mine\", \"bad name\": 1, \"n\": 1}");
  tar_add_text (&tar, "d.txt", "not \377 UTF-8");
  tar_add_text (&tar, "e.jpg", "E1");
  tar_add_text (&tar, "e.json", "{\"cls\": \"dog\", \"m\": 2}");
  tar_end (&tar, folder, "odd.tar");
}

static void
assert_text (Run *run, guint i, const gchar *key, const gchar *text)
{
  const GstSpdlItemMeta *item = run_item (run, i);

  fail_unless_equals_string (
      gst_structure_get_string (item->extra, "key"), key);
  fail_unless (gst_buffer_memcmp (g_ptr_array_index (run->buffers, i), 0, text,
                   strlen (text)) == 0);
}

GST_START_TEST (test_odd_samples)
{
  Run *run;
  gint64 n;

  write_odd_shard ();
  run = fetch ("odd.tar", "");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 4);
  assert_text (run, 0, "a", "A2");
  assert_text (run, 1, "c", "C1");
  assert_text (run, 2, "d", "D1");
  /* A member of the JSON is not a label. */
  assert_text (run, 3, "e", "E1");
  fail_if (gst_structure_has_field (run_item (run, 3)->extra, "cls"));
  fail_unless (gst_structure_get_int64 (run_item (run, 3)->extra, "m", &n));
  fail_unless_equals_int64 (run_item (run, 0)->label, -1);
  fail_unless_equals_string (
      gst_structure_get_string (run_item (run, 0)->extra, "cls"), "cat");
  /* The field names the location of the sample's other file. */
  fail_unless (g_str_has_suffix (
      gst_structure_get_string (run_item (run, 0)->extra, "seg.png"),
      "/odd.tar#bytes=512-513"));
  fail_if (gst_structure_has_field (run_item (run, 0)->extra, "jpg"));
  fail_if (gst_structure_has_field (run_item (run, 1)->extra, "n"));
  fail_unless_equals_int64 (run_item (run, 2)->label, 7);
  fail_unless (gst_structure_get_int64 (run_item (run, 2)->extra, "n", &n));
  fail_unless_equals_string (
      gst_structure_get_string (run_item (run, 2)->extra, "txt"),
      "not \357\277\275 UTF-8");
  fail_unless_equals_int (run->warnings->len, 5);
  fail_unless (errors_text_has (
      g_ptr_array_index (run->warnings, 0), "[resource-error read]|1|5"));
  fail_unless (
      errors_text_has (g_ptr_array_index (run->warnings, 1), "2|4|\"c\""));
  /* A text that is not a label causes a warning. */
  fail_unless (
      errors_text_has (g_ptr_array_index (run->warnings, 2), "\"cat\""));
  fail_unless (
      errors_text_has (g_ptr_array_index (run->warnings, 3), "\"c\"|JSON"));
  fail_unless (
      errors_text_has (g_ptr_array_index (run->warnings, 4), "\"d.txt\""));
  run_free (run);

  run = fetch ("odd.tar", "label=none");
  fail_unless_equals_int (run->warnings->len, 3);
  fail_unless_equals_int64 (run_item (run, 2)->label, -1);
  run_free (run);
}

GST_END_TEST;

/* Tests values that a field, or JSON, cannot contain: Python's module json
 * writes them. The other members stay. */
GST_START_TEST (test_odd_json)
{
  static const gchar *const values[] = { "NaN", "-Infinity",
    "9223372036854775808", "-9223372036854775809", "1e999", "\"a\\u0000b\"" };
  Tar tar;
  Run *run;

  tar_begin (&tar);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    g_autofree gchar *image = g_strdup_printf ("%u.jpg", i);
    g_autofree gchar *name = g_strdup_printf ("%u.json", i);
    g_autofree gchar *text = g_strdup_printf (
        "{\"text\": \"NaN \\\" NaN\", \"odd\": %s, \"n\": %" G_GINT64_FORMAT
        ", \"x\": [%s, 1.5e-3], \"y\": -0.5}",
        values[i], G_MININT64, values[i]);

    tar_add_text (&tar, image, "x");
    tar_add_text (&tar, name, text);
  }
  tar_end (&tar, folder, "odd.tar");
  run = fetch ("odd.tar", "");
  fail_unless_equals_int (run->buffers->len, G_N_ELEMENTS (values));
  for (guint i = 0; i < run->buffers->len; i++) {
    const GstStructure *extra = run_item (run, i)->extra;
    gdouble y = 0.0;
    gint64 n = 0;

    fail_unless_equals_string (
        gst_structure_get_string (extra, "text"), "NaN \" NaN");
    fail_unless (gst_structure_get_int64 (extra, "n", &n) && n == G_MININT64);
    fail_unless (gst_structure_get_double (extra, "y", &y) && y == -0.5);
    fail_if (gst_structure_has_field (extra, "odd"));
  }
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (
      errors_text_has (g_ptr_array_index (run->warnings, 0), "\"0\"|JSON"));
  run_free (run);
}

GST_END_TEST;

/* Tests that JSON with duplicate keys or excessive nesting is treated as text,
 * and that what cannot be a field is left out. */
GST_START_TEST (test_broken_json)
{
  g_autofree gchar *nested = g_strnfill (60000, '[');
  Run *run;
  Tar tar;

  tar_begin (&tar);
  tar_add_text (&tar, "a.jpg", "A1");
  tar_add_text (&tar, "a.json", nested);
  tar_add_text (&tar, "b.jpg", "B1");
  tar_add_text (&tar, "b.json", "{\"n\": 1, \"n\": 2}");
  tar_add_text (&tar, "c.jpg", "C1");
  tar_add_text (&tar, "c.json",
      "\n{ \"a\": {\"b\": [NaN, \"x\"]},\n\"c\": \"\\u0000\", \"d\": [1]}\n");
  tar_end (&tar, folder, "json.tar");
  run = fetch ("json.tar", "");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 3);
  fail_unless_equals_string (
      gst_structure_get_string (run_item (run, 2)->extra, "a"),
      "{\"b\": [null, \"x\"]}");
  fail_if (gst_structure_has_field (run_item (run, 2)->extra, "d"));
  fail_unless_equals_int (run->warnings->len, 1);
  for (guint i = 0; i < 2; i++) {
    fail_unless (gst_structure_has_field (run_item (run, i)->extra, "json"));
    fail_if (gst_structure_has_field (run_item (run, i)->extra, "n"));
  }
  run_free (run);
}

GST_END_TEST;

/* Tests that text labels get the indices of the given classes. */
GST_START_TEST (test_classes)
{
  static const gint64 labels[] = { 2, -1, 1, -1 };
  Run *run;

  write_odd_shard ();
  run = fetch ("odd.tar", "classes=<dog,7,cat>");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->warnings->len, 4);
  fail_unless_equals_int (run->buffers->len, 4);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int64 (run_item (run, i)->label, labels[i]);
  fail_unless_equals_string (
      gst_structure_get_string (run_item (run, 0)->extra, "cls"), "cat");
  run_free (run);

  /* The error names the label that is not a class, a text or an integer. */
  run = fetch ("odd.tar", "classes=<dog,7>");
  fail_unless (
      run->error &&
          errors_text_has (run->error, "[resource-error read]|\"cat\"") &&
          errors_text_has (run->error, "[resource-error read]|odd.tar") &&
          errors_text_has (run->error, "[resource-error read]|2|classes"),
      "%s", run->error);
  run_free (run);
  run = fetch ("odd.tar", "classes=<dog,cat>");
  fail_unless (run->error && errors_text_has (
                                 run->error, "[resource-error read]|7|label"),
      "%s", run->error);
  run_free (run);
}

GST_END_TEST;

/* Tests that other files of a sample become parts on request. */
GST_START_TEST (test_parts)
{
  Run *run;

  write_odd_shard ();
  run = run_pipeline ("spdlsrc location=%s/odd.tar extensions=jpg ! spdlfetch "
                      "parts=seg.png coalesce=4096 ! fakesink name=sink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless (gst_buffer_memcmp (
                   g_ptr_array_index (run->buffers, 0), 0, "A2A1", 4) == 0);
  run_free (run);
}

GST_END_TEST;

/* Replaces the shard by one of the same size with another modification time. */
static void
change_shard (guint first)
{
  tar_write_shard (folder, "train-0000.tar", first, 20, SIZE - first);
  tar_set_time (folder, "train-0000.tar", 1);
}

static gint64
index_time (void)
{
  g_autofree gchar *path =
      g_build_filename (folder, "train-0000.tar.spdl-index", NULL);
  struct stat st;
  struct timespec time;

  fail_unless_equals_int (stat (path, &st), 0);
  time = spdl_compat_get_mtime (&st);
  return time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec +
         st.st_ino;
}

GST_START_TEST (test_index_file)
{
  gint64 first;

  tar_write_shard (folder, "train-0000.tar", 0, 20, SIZE);
  assert_in_order (fetch ("train-0000.tar", "index-cache=always"), 0, 20);
  first = index_time ();
  assert_in_order (fetch ("train-0000.tar", "index-cache=always"), 0, 20);
  assert_in_order (fetch ("train-*.tar", ""), 0, 20);
  fail_unless_equals_int64 (index_time (), first);

  /* An index that is damaged or of another shard is ignored and replaced. */
  files_write_text (folder, "train-0000.tar.spdl-index", "spdltar\3...");
  first = index_time ();
  assert_in_order (fetch ("train-0000.tar", ""), 0, 20);
  fail_unless_equals_int64 (index_time (), first);
  assert_in_order (fetch ("train-0000.tar", "index-cache=always"), 0, 20);
  fail_if (index_time () == first);
  first = index_time ();
  tar_write_shard (folder, "train-0000.tar", 0, 19, SIZE);
  assert_in_order (fetch ("train-0000.tar", "index-cache=always"), 0, 19);
  fail_if (index_time () == first);
}

GST_END_TEST;

/* Tests the index in the cache if none can be written next to the shard. */
GST_START_TEST (test_index_in_cache)
{
  g_autofree gchar *beside =
      g_build_filename (folder, "train-0000.tar.spdl-index", NULL);
  g_autofree gchar *kept = g_build_filename (folder, "cache/gst-spdl", NULL);
  g_autofree gchar *cache = g_path_get_dirname (kept);

  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  fail_unless_equals_int (g_mkdir (beside, 0700), 0);
  tar_write_shard (folder, "train-0000.tar", 0, 20, SIZE);
  assert_in_order (fetch ("train-0000.tar", "index-cache=always"), 0, 20);
  fail_unless_equals_int (files_count_entries (kept), 1);
  assert_in_order (fetch ("train-0000.tar", ""), 0, 20);
  fail_unless_equals_int (files_count_entries (kept), 1);
}

GST_END_TEST;

GST_START_TEST (test_changed_before)
{
  Run *run;

  tar_write_shard (folder, "train-0000.tar", 0, 20, SIZE);
  assert_in_order (fetch ("train-0000.tar", "index-cache=always"), 0, 20);
  change_shard (100);
  run = fetch ("train-0000.tar", "");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int64 (run_item (run, 0)->label, 100);
  run_free (run);
}

GST_END_TEST;

/* What happens to a file after some items. */
typedef struct {
  void (*change) (const gchar *path);
  const gchar *path;
  guint n_items;
} Change;

static GstPadProbeReturn
on_item (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Change *change = user_data;

  if (++change->n_items == 5)
    change->change (change->path);
  return GST_PAD_PROBE_OK;
}

/* Reads shards, and changes a file after five items.
 *
 * @wanted: (nullable): parts of the error, which comes after @n items; NULL:
 *     none, and there are @n items */
static void
assert_changed (const gchar *shards, const gchar *order,
    void (*func) (const gchar *path), const gchar *name, guint n,
    const gchar *wanted)
{
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc name=source location=\"%s/%s\" %s ! fakesink",
          folder, shards, order);
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  Change change = { func, path, 0 };
  GstElement *pipeline, *source;
  GstMessage *message;
  GError *error = NULL;
  GstBus *bus;
  GstPad *pad;

  pipeline = gst_parse_launch (description, NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  pad = gst_element_get_static_pad (source, "src");
  bus = gst_element_get_bus (pipeline);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_item, &change, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  fail_unless ((error != NULL) == (wanted != NULL), "%s: %s", name,
      error ? error->message : "no error");
  fail_unless (
      !error || errors_has (error, wanted), "%s", error ? error->message : "");
  fail_unless_equals_int (change.n_items, n);
  g_clear_error (&error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (source);
  gst_object_unref (pipeline);
}

static void
change_first_shard (const gchar *path)
{
  change_shard (100);
}

GST_START_TEST (test_changed_while_in_use)
{
  tar_write_shard (folder, "train-0000.tar", 0, 20, SIZE);
  assert_changed ("train-0000.tar", "", change_first_shard, "train-0000.tar", 5,
      "[resource-error read]|train-0000");
}

GST_END_TEST;

/* Indexes the shards that match, and gives their indexes an old time. */
static void
write_indexes (const gchar *shards, guint n_shards, guint n_items)
{
  const struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };

  assert_in_order (fetch (shards, "index-cache=always"), 0, n_items);
  for (guint i = 0; i < n_shards; i++) {
    g_autofree gchar *path =
        g_strdup_printf ("%s/train-%04u.tar.spdl-index", folder, i);

    fail_unless_equals_int (utimensat (AT_FDCWD, path, times, 0), 0);
  }
}

static void
truncate_to_nothing (const gchar *path)
{
  fail_unless_equals_int (truncate (path, 0), 0);
}

static void
truncate_to_header (const gchar *path)
{
  fail_unless_equals_int (truncate (path, 88), 0);
}

/* As `cp` does with the same file. */
static void
write_again (const gchar *path)
{
  g_autofree gchar *content = NULL;
  FILE *file;
  gsize size;

  fail_unless (g_file_get_contents (path, &content, &size, NULL));
  file = fopen (path, "w");
  fail_unless_equals_int (fwrite (content, 1, size, file), size);
  fail_unless_equals_int (fclose (file), 0);
}

static void
replace_by_equal (const gchar *path)
{
  g_autofree gchar *content = NULL;
  gsize size;

  fail_unless (g_file_get_contents (path, &content, &size, NULL));
  fail_unless_equals_int (unlink (path), 0);
  fail_unless (g_file_set_contents (path, content, size, NULL));
}

static void
replace_by_other (const gchar *path)
{
  g_autofree gchar *other =
      g_build_filename (folder, "train-0001.tar.spdl-index", NULL);

  fail_unless_equals_int (rename (other, path), 0);
}

static void
remove_file (const gchar *path)
{
  fail_unless_equals_int (unlink (path), 0);
}

/* Tests that an index which is changed in place while it is in use is an error,
 * and that one which is replaced or removed stays in use. */
GST_START_TEST (test_index_changed_while_in_use)
{
  static void (*const bad[]) (const gchar *path) = { truncate_to_nothing,
    truncate_to_header, write_again };
  static void (*const good[]) (
      const gchar *path) = { replace_by_equal, remove_file };
  const gchar *name = "train-0000.tar.spdl-index";

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    tar_write_shard (folder, "train-0000.tar", 0, 20, SIZE);
    write_indexes ("train-0000.tar", 1, 20);
    assert_changed ("train-0000.tar", "shuffle=true", bad[i], name, 5,
        "[resource-error read]|train-0000.tar.spdl-index");
  }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    write_indexes ("train-0000.tar", 1, 20);
    assert_changed ("train-0000.tar", "shuffle=true", good[i], name, 20, NULL);
  }
}

GST_END_TEST;

/* Tests indexes that do not stay open, because there are more shards than the
 * process should have descriptors for. */
GST_START_TEST (test_many_indexes)
{
  static const struct {
    void (*change) (const gchar *path);
    gboolean is_bad;
  } changes[] = { { replace_by_equal, FALSE }, { truncate_to_header, TRUE },
    { write_again, FALSE }, { replace_by_other, TRUE }, { remove_file, TRUE } };
  const guint n = 70, last = n - 1;
  struct rlimit limit, low;
  g_autofree gchar *name = g_strdup_printf ("train-%04u.tar.spdl-index", last);
  g_autofree gchar *wanted = g_strdup_printf ("[resource-error read]|%s", name);

  fail_unless_equals_int (getrlimit (RLIMIT_NOFILE, &limit), 0);
  low = limit;
  low.rlim_cur = 256;
  fail_unless_equals_int (setrlimit (RLIMIT_NOFILE, &low), 0);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *shard = g_strdup_printf ("train-%04u.tar", i);

    tar_write_shard (folder, shard, i, 1, SIZE);
  }
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    write_indexes ("train-*.tar", n, n);
    assert_changed ("train-*.tar", "", changes[i].change, name,
        changes[i].is_bad ? last : n, changes[i].is_bad ? wanted : NULL);
  }
  setrlimit (RLIMIT_NOFILE, &limit);
}

GST_END_TEST;

static void
cut_shard (gsize size)
{
  g_autofree gchar *path = g_build_filename (folder, "cut.tar", NULL);

  tar_write_shard (folder, "cut.tar", 0, 2, SIZE);
  fail_unless_equals_int (truncate (path, size), 0);
}

GST_START_TEST (test_refused)
{
  Tar tar;

  assert_refused ("none.tar", "", "[resource-error not-found]|none.tar");
  assert_refused ("none-*.tar", "", "[resource-error not-found]");
  assert_refused ("none-{0..2}.tar", "", "[resource-error not-found]|none-0");
  assert_refused (
      "none-{0..9999999}.tar", "", "[resource-error settings]|1000000");
  files_write (folder, "empty.tar", "", 0);
  assert_refused ("empty.tar", "", "[resource-error read]|empty.tar");
  files_write_text (folder, "text.tar", "this is no archive at all");
  assert_refused ("text.tar", "", "[resource-error read]|ZIP");
  files_write (folder, "a.tar.gz", "\037\213\10\0\0\0\0\0\0\0\0\0", 12);
  assert_refused ("a.tar.gz", "", "[resource-error read]");
  files_write (folder, "a.tar", "(\265/\375\0\0\0\0", 8);
  assert_refused ("a.tar", "", "[resource-error read]");

  /* Truncated in a header, in a payload and after a payload. */
  cut_shard (512 + 512 + 100);
  assert_refused ("cut.tar", "", "[resource-error read]");
  cut_shard (512 + 512 + 512 + 1000);
  assert_refused ("cut.tar", "", "[resource-error read]|\"train/000000.JPG\"");
  cut_shard (512 + 512 + 512 + 3072 + 1024 + 1024);
  assert_refused ("cut.tar", "", "[resource-error read]");

  tar_begin (&tar);
  tar_end (&tar, folder, "nothing.tar");
  assert_refused ("nothing.tar", "", "[resource-error not-found]");
  tar_begin (&tar);
  tar_add_text (&tar, "a.jpg", "1");
  tar_add_text (&tar, "a.JPG", "2");
  tar_end (&tar, folder, "twice.tar");
  assert_refused ("twice.tar", "", "[resource-error read]|\"a.JPG\"");
  write_shards ();
  assert_refused (
      "train-*.tar", "weight-column=w", "[resource-error settings]");
}

GST_END_TEST;

GST_START_TEST (test_ranks)
{
  guint n = 0;

  write_shards ();
  for (guint rank = 0; rank < 2; rank++) {
    g_autofree gchar *source =
        g_strdup_printf ("rank=%u world-size=2 shuffle=true", rank);
    Run *run = fetch ("train-*.tar", source);

    assert_all (run, 20);
    for (guint i = 0; i < 20; i++)
      n += run_item (run, i)->index;
    run_free (run);
  }
  fail_unless_equals_int (n, 39 * 40 / 2);
}

GST_END_TEST;

/* Pulls @n items and returns the resume state after them. */
static gchar *
pull_some (guint n, guint64 *seen)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s/train-*.tar shuffle=true ! spdlsink name=sink",
      folder);
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gchar *state;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < n; i++) {
    GstSample *sample;

    g_signal_emit_by_name (sink, "pull-sample", &sample);
    *seen |= G_GUINT64_CONSTANT (1)
             << gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample))
                    ->index;
    gst_sample_unref (sample);
  }
  g_object_get (sink, "resume-state", &state, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return state;
}

GST_START_TEST (test_resume)
{
  g_autofree gchar *state = NULL;
  g_autofree gchar *source = NULL;
  guint64 seen = 0;
  Run *run;

  write_shards ();
  state = pull_some (17, &seen);
  source = g_strdup_printf ("shuffle=true resume-state=\"%s\"", state);
  run = fetch ("train-{0000..0002}.tar", source);
  assert_all (run, 23);
  for (guint i = 0; i < 23; i++)
    seen |= G_GUINT64_CONSTANT (1) << run_item (run, i)->index;
  fail_unless_equals_uint64_hex (seen, (G_GUINT64_CONSTANT (1) << 40) - 1);
  run_free (run);

  /* Other shards are another dataset, and so are other parts. */
  assert_refused (
      "train-{0000,0002,0001}.tar", source, "[resource-error settings]");
  g_free (source);
  source = g_strdup_printf (
      "shuffle=true extensions=txt resume-state=\"%s\"", state);
  assert_refused ("train-*.tar", source, "[resource-error settings]");
}

GST_END_TEST;

CHECK_SUITE (archives, FIXTURE (setup, teardown), TEST (test_samples),
    TEST (test_many_samples), TEST (test_shuffled), TEST (test_extensions),
    TEST (test_odd_samples), TEST (test_odd_json), TEST (test_broken_json),
    TEST (test_classes), TEST (test_parts), TEST (test_index_file),
    TEST (test_index_in_cache), TEST (test_changed_before),
    TEST (test_changed_while_in_use), TEST (test_index_changed_while_in_use),
    TEST (test_many_indexes), TEST (test_refused), TEST (test_ranks),
    TEST (test_resume))
