/* gst-spdl: tests of spdlsrc
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

/* Returns the base names of the items, separated by blanks. */
static gchar *
names (Run *run)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < run->buffers->len; i++) {
    const GstSpdlItemMeta *item = run_item (run, i);
    g_autofree gchar *path = g_filename_from_uri (item->uri, NULL, NULL);
    g_autofree gchar *name = g_path_get_basename (path ? path : item->uri);

    g_string_append_printf (text, i ? " %s" : "%s", name);
    fail_unless_equals_uint64 (item->index, i);
    fail_unless_equals_uint64 (item->sequence, i);
  }
  return g_string_free (text, FALSE);
}

static void
assert_names (Run *run, const gchar *expected)
{
  g_autofree gchar *got = names (run);

  fail_unless_equals_string (got, expected);
  fail_unless (run->error == NULL, "%s", run->error);
  run_free (run);
}

GST_START_TEST (test_folder)
{
  gchar *folder = files_make_folder ();

  files_write_text (folder, "b/2.jpg", "x");
  files_write_text (folder, "b/10.JPG", "x");
  files_write_text (folder, "a/z/deep.jpeg", "x");
  files_write_text (folder, "a/y.jpg", "x");
  files_write_text (folder, "top.jpg", "x");
  files_write_text (folder, "B/1.jpg", "x");
  files_write_text (folder, "b/notes.txt", "x");
  assert_names (
      run_pipeline ("spdlsrc location=%s ! fakesink name=sink", folder),
      "1.jpg y.jpg deep.jpeg 10.JPG 2.jpg notes.txt top.jpg");
  assert_names (run_pipeline ("spdlsrc location=%s/ pattern=*.@(jpg|jpeg) ! "
                              "fakesink name=sink",
                    folder),
      "1.jpg y.jpg deep.jpeg 10.JPG 2.jpg top.jpg");

  /* The index of the top-level folder, in sorted order; -1 outside of
   * folders. */
  static const gint64 labels[] = { 0, 1, 1, 2, 2, -1 };
  Run *run = run_pipeline ("spdlsrc location=%s pattern=*.jp*g label=folder ! "
                           "fakesink name=sink",
      folder);
  for (guint i = 0; i < 6; i++)
    fail_unless_equals_int64 (run_item (run, i)->label, labels[i]);
  run_free (run);
  run = run_pipeline ("spdlsrc location=%s ! fakesink name=sink", folder);
  fail_unless_equals_int64 (run_item (run, 0)->label, -1);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_awkward_folder)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *loop = g_build_filename (folder, "a", "loop", NULL);
  g_autofree gchar *link = g_build_filename (folder, "linked", NULL);
  g_autofree gchar *nowhere = g_build_filename (folder, "nowhere.jpg", NULL);
  g_autofree gchar *pipe = g_build_filename (folder, "pipe.jpg", NULL);
  gchar *target;
  Run *run;

  files_write_text (folder, ".DS_Store", "x");
  files_write_text (folder, ".git/config", "x");
  files_write_text (folder, "README", "x");
  files_write_text (folder, "a/with space.jpg", "x");
  files_write_text (folder, "a/gr\303\274n \342\202\254 #1.jpg", "x");
  fail_unless_equals_int (symlink ("..", loop), 0);
  target = files_make_folder ();
  files_write_text (target, "in-link.jpg", "x");
  fail_unless_equals_int (symlink (target, link), 0);
  fail_unless_equals_int (symlink ("gone", nowhere), 0);
  fail_unless_equals_int (mkfifo (pipe, 0600), 0);

  run = run_pipeline (
      "spdlsrc location=%s pattern=*.jpg ! fakesink name=sink", folder);
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (errors_text_has (g_ptr_array_index (run->warnings, 0),
                   "[resource-error read]|a/loop"),
      "%s", (gchar *) g_ptr_array_index (run->warnings, 0));
  assert_names (run,
      "gr\303\274n \342\202\254 #1.jpg with space.jpg in-link.jpg nowhere.jpg");

  /* Links in procfs lead outside. */
  fail_unless_equals_int (unlink (loop), 0);
  fail_unless_equals_int (symlink ("/proc/self", loop), 0);
  run = run_pipeline (
      "spdlsrc location=%s/a pattern=*.jpg ! fakesink name=sink", folder);
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (errors_text_has (g_ptr_array_index (run->warnings, 0),
                   "[resource-error read]"),
      "%s", (gchar *) g_ptr_array_index (run->warnings, 0));
  assert_names (run, "gr\303\274n \342\202\254 #1.jpg with space.jpg");
  run_expect_error (
      run_pipeline ("spdlsrc location=/proc/self%s ! fakesink name=sink", ""),
      "[resource-error open-read]");

  /* No file matches the pattern. */
  run_expect_error (run_pipeline ("spdlsrc location=%s pattern=*.png ! "
                                  "fakesink name=sink",
                        folder),
      "[resource-error not-found]|pattern");
  files_remove_folder (target);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_nothing_there)
{
  gchar *folder = files_make_folder ();

  run_expect_error (
      run_pipeline ("spdlsrc location=%s ! fakesink name=sink", folder),
      "[resource-error not-found]|location");
  run_expect_error (
      run_pipeline ("spdlsrc location=%s/none ! fakesink name=sink", folder),
      "[resource-error not-found]");
  run_expect_error (run_pipeline ("spdlsrc ! fakesink name=sink"),
      "[resource-error settings]|location");
  files_write_text (folder, "list.dat", "x");
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s/list.dat ! fakesink name=sink", folder),
      "[resource-error settings]");
  files_write_text (folder, "a.parquet", "PAR1");
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s/a.parquet ! fakesink name=sink", folder),
      "[resource-error settings]|a.parquet|gstspdl.Loader");
  run_expect_error (
      run_pipeline (
          "spdlsrc location=\"%s/*.parquet\" ! fakesink name=sink", folder),
      "[resource-error settings]|gstspdl.Loader");
  run_expect_error (
      run_pipeline ("spdlsrc location=%s pattern=*.parquet ! fakesink "
                    "name=sink",
          folder),
      "[resource-error settings]|pattern=*.parquet|gstspdl.Loader");
  files_write_text (folder, "a.feather", "ARROW1");
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s/a.feather ! fakesink name=sink", folder),
      "[resource-error settings]|a.feather|source=table");
  files_write_text (folder, "empty.txt", "\n# nothing\n   \n");
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s/empty.txt ! fakesink name=sink", folder),
      "[resource-error not-found]");
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_list)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *below = NULL;
  Run *run;

  files_write_text (folder, "list.txt",
      "# a comment\n"
      "a b.jpg\t3\r\n"
      "\n"
      "sub/c.jpg\n"
      "/abs/d.jpg\t-7\n"
      "file:///e%20f.jpg\t12\n"
      "http://host/g.jpg?x=1#bytes=1-2\n"
      "tab\tin name.jpg\t4\n"
      "last.jpg\t9");
  run = run_pipeline (
      "spdlsrc location=%s/list.txt ! fakesink name=sink", folder);
  fail_unless_equals_int (run->buffers->len, 7);
  below = g_strconcat ("file://", folder, "/a%20b.jpg", NULL);
  fail_unless_equals_string (run_item (run, 0)->uri, below);
  fail_unless_equals_int64 (run_item (run, 0)->label, 3);
  fail_unless (g_str_has_suffix (run_item (run, 1)->uri, "/sub/c.jpg"));
  fail_unless_equals_int64 (run_item (run, 1)->label, -1);
  fail_unless_equals_string (run_item (run, 2)->uri, "file:///abs/d.jpg");
  fail_unless_equals_int64 (run_item (run, 2)->label, -7);
  fail_unless_equals_string (run_item (run, 3)->uri, "file:///e%20f.jpg");
  fail_unless_equals_int64 (run_item (run, 3)->label, 12);
  fail_unless_equals_string (
      run_item (run, 4)->uri, "http://host/g.jpg?x=1#bytes=1-2");
  fail_unless (
      g_str_has_suffix (run_item (run, 5)->uri, "/tab%09in%20name.jpg"));
  fail_unless_equals_int64 (run_item (run, 5)->label, 4);
  fail_unless_equals_int64 (run_item (run, 6)->label, 9);
  /* The buffer contains the URI. */
  GstBuffer *buffer = g_ptr_array_index (run->buffers, 3);
  fail_unless (gst_buffer_memcmp (buffer, 0, "file:///e%20f.jpg", 17) == 0);
  fail_unless_equals_int (gst_buffer_get_size (buffer), 17);
  run_free (run);

  run = run_pipeline (
      "spdlsrc location=%s/list.txt label=none ! fakesink name=sink", folder);
  fail_unless_equals_int64 (run_item (run, 0)->label, -1);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_csv)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *below = g_strconcat ("file://", folder, "/a,b.jpg", NULL);
  const GstStructure *extra;
  Run *run;

  files_write_text (folder, "list.csv",
      "caption,uri,label,split\n"
      "\"two\r\nlines, \"\"quoted\"\"\",\"a,b.jpg\",3,train\r\n"
      ",http://host/c.jpg#bytes=1-2,,\n"
      ",/abs/d.jpg,-4,\303\251");
  run = run_pipeline (
      "spdlsrc location=%s/list.csv ! fakesink name=sink", folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 3);
  fail_unless_equals_string (run_item (run, 0)->uri, below);
  fail_unless_equals_int64 (run_item (run, 0)->label, 3);
  extra = run_item (run, 0)->extra;
  fail_unless (gst_structure_has_name (extra, "extra"));
  fail_unless_equals_int (gst_structure_n_fields (extra), 2);
  fail_unless_equals_string (
      gst_structure_get_string (extra, "caption"), "two\r\nlines, \"quoted\"");
  fail_unless_equals_string (
      gst_structure_get_string (extra, "split"), "train");
  fail_unless_equals_string (
      run_item (run, 1)->uri, "http://host/c.jpg#bytes=1-2");
  fail_unless_equals_int64 (run_item (run, 1)->label, -1);
  fail_unless (run_item (run, 1)->extra == NULL);
  fail_unless_equals_string (run_item (run, 2)->uri, "file:///abs/d.jpg");
  extra = run_item (run, 2)->extra;
  fail_unless_equals_int (gst_structure_n_fields (extra), 1);
  fail_unless_equals_string (
      gst_structure_get_string (extra, "split"), "\303\251");
  run_free (run);

  /* Labels that are not requested are neither sent nor checked. */
  files_write_text (folder, "list.csv", "uri,label\nb.jpg,1\na.jpg,cat\n");
  run = run_pipeline (
      "spdlsrc location=%s/list.csv label=none ! fakesink name=sink", folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int64 (run_item (run, 0)->label, -1);
  run_free (run);
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s/list.csv ! fakesink name=sink", folder),
      "[resource-error read]|list.csv|3|\"cat\"|\"a.jpg\"");
  files_remove_folder (folder);
}

GST_END_TEST;

/* Describes the labels of the items, followed by a colon and the classes in
 * use. */
static gchar *
describe_labels (const gchar *folder, const gchar *name, const gchar *settings)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *line = g_strdup_printf (
      "spdlsrc location=%s/%s %s ! spdlsink", folder, name, settings);
  g_autoptr (GstSpdlLoader) loader = gst_spdl_loader_new (line, &error);
  GString *got = g_string_new (NULL);
  g_auto (GStrv) classes = NULL;
  g_autofree gchar *names = NULL;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  if (!gst_spdl_loader_start (loader, &error)) {
    g_string_free (got, TRUE);
    return errors_format (error);
  }
  classes = gst_spdl_loader_dup_classes (loader, &error);
  for (;;) {
    g_autoptr (GstSpdlBatch) batch =
        gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);

    if (!batch)
      break;
    g_string_append_printf (got, "%s%d", got->len ? " " : "",
        (gint) gst_spdl_batch_get_item (batch, 0)->label);
  }
  gst_spdl_loader_stop (loader);
  if (error) {
    g_autofree gchar *text = errors_format (error);

    g_string_append_printf (got, " %s", text);
  }
  names = classes ? g_strjoinv (",", classes) : g_strdup ("none");
  g_string_append_printf (got, ": %s", names);
  return g_string_free (got, FALSE);
}

static void
assert_labels (const gchar *folder, const gchar *name, const gchar *settings,
    const gchar *wanted)
{
  g_autofree gchar *got = describe_labels (folder, name, settings);

  fail_unless (errors_text_has (got, wanted), "%s", got);
}

GST_START_TEST (test_classes)
{
  gchar *folder = files_make_folder ();

  files_write_text (folder, "b/2.jpg", "x");
  files_write_text (folder, "a/z/deep.jpg", "x");
  files_write_text (folder, "top.jpg", "x");
  files_write_text (folder, "c/notes.md", "x");
  files_write_text (folder, "B\303\251 b/1.jpg", "x");
  files_write_text (folder, "d\351/1.jpg", "x");
  assert_labels (folder, "", "label=folder pattern=*.jpg",
      "0 1 2 4 -1: B\303\251 b,a,b,c,d%E9");
  /* Given classes take precedence, and may include more. */
  assert_labels (folder, "",
      "label=folder pattern=*.jpg "
      "classes=\"<a,none,\\\"d%E9\\\",b,\\\"B\303\251 b\\\">\"",
      "4 0 3 2 -1: a,none,d%E9,b,B\303\251 b");
  assert_labels (folder, "", "label=folder classes=<b,a>",
      "[resource-error settings]|2|classes");
  assert_labels (
      folder, "", "label=folder classes=<b,b>", "\"b\", appears twice");
  assert_labels (folder, "", "pattern=2.jpg", "-1: none");

  files_write_text (folder, "list.txt", "a.jpg\tdog\nb.jpg\ncc.jpg\tcat\n");
  assert_labels (folder, "list.txt", "", "1 -1 0: cat,dog");
  assert_labels (
      folder, "list.txt", "classes=<dog,cat,emu>", "0 -1 1: dog,cat,emu");
  assert_labels (folder, "list.txt", "label=none", "-1 -1 -1: none");
  assert_labels (folder, "list.txt", "classes=<dog,emu>",
      "list.txt\" line 3: label \"cat\" of item \"cc.jpg\" is not among the 2 "
      "classes");
  files_write_text (folder, "list.csv", "uri,label\na.jpg,20\nb.jpg,10\n");
  assert_labels (folder, "list.csv", "", "20 10: none");
  assert_labels (folder, "list.csv", "classes=<10,20>", "1 0: 10,20");
  files_remove_folder (folder);
}

GST_END_TEST;

/* Without a folder, an item has no class. */
GST_START_TEST (test_no_folders)
{
  gchar *folder = files_make_folder ();
  Run *run;

  files_write_text (folder, "a.jpg", "x");
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s label=folder ! fakesink name=sink", folder),
      "[resource-error settings]|1|a.jpg");
  run = run_pipeline ("spdlsrc location=%s label=folder label-missing=keep ! "
                      "fakesink name=sink",
      folder);
  fail_unless_equals_int (run->warnings->len, 0);
  fail_unless_equals_int64 (run_item (run, 0)->label, -1);
  run_free (run);

  files_write_text (folder, "b/2.jpg", "x");
  run = run_pipeline (
      "spdlsrc location=%s label=folder ! fakesink name=sink", folder);
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (errors_text_has (g_ptr_array_index (run->warnings, 0),
      "[resource-error read]|1 items|a.jpg"));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Many malformed lines cause a single message. */
GST_START_TEST (test_malformed)
{
  gchar *folder = files_make_folder ();
  GString *text = g_string_new ("uri,label\n");

  for (guint i = 0; i < 16; i++)
    g_string_append_printf (text, "%u.jpg,1\n", i);
  for (guint i = 0; i < 1000000; i++)
    g_string_append (text, "x.jpg\n");
  files_write (folder, "list.csv", text->str, text->len);
  g_string_free (text, TRUE);
  run_expect_error (
      run_pipeline (
          "spdlsrc location=%s/list.csv ! fakesink name=sink", folder),
      "[resource-error read]|list.csv|18|1|2|1000000|1000016");
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_epochs)
{
  gchar *folder = files_make_folder ();
  Run *run;

  files_write_text (folder, "1", "x");
  files_write_text (folder, "2", "x");
  run = run_pipeline (
      "spdlsrc location=%s epochs=3 ! fakesink name=sink", folder);
  fail_unless_equals_int (run->buffers->len, 6);
  fail_unless_equals_int (run->n_epochs, 3);
  for (guint i = 0; i < 6; i++) {
    fail_unless_equals_uint64 (run_item (run, i)->epoch, i / 2);
    fail_unless_equals_uint64 (run_item (run, i)->sequence, i % 2);
  }
  run_free (run);
  run = run_pipeline (
      "spdlsrc location=%s epochs=0 ! fakesink name=sink", folder);
  fail_unless_equals_int (run->buffers->len, 0);
  fail_unless (run->error == NULL);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests the files of `index-cache`, and that items are the same with an
 * index. */
GST_START_TEST (test_index)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *list = g_build_filename (folder, "list.txt", NULL);
  g_autofree gchar *sidecar =
      g_build_filename (folder, ".list.txt.spdl-index", NULL);
  g_autofree gchar *link = NULL;
  struct timespec times[2] = { { 0, UTIME_OMIT }, { 1700000000, 0 } };
  GstElement *src;
  gint index;

  files_write_text (folder, "list.txt", "a\n\nb\n#\nc\n");
  fail_unless_equals_int (utimensat (AT_FDCWD, list, times, 0), 0);
  assert_names (
      run_pipeline ("spdlsrc location=%s ! fakesink name=sink", list), "a b c");
  fail_if (g_file_test (sidecar, G_FILE_TEST_EXISTS));
  for (guint i = 0; i < 2; i++) {
    assert_names (run_pipeline ("spdlsrc location=%s index-cache=always ! "
                                "fakesink name=sink",
                      list),
        "a b c");
    fail_unless (g_file_test (sidecar, G_FILE_TEST_EXISTS));
  }
  /* A link with another suffix has its own index. */
  link = g_build_filename (folder, "list.csv", NULL);
  files_write_text (folder, "list.txt", "uri\n\nb\n#\nc\n");
  fail_unless_equals_int (utimensat (AT_FDCWD, list, times, 0), 0);
  fail_unless_equals_int (symlink (list, link), 0);
  for (guint i = 0; i < 2; i++)
    assert_names (run_pipeline ("spdlsrc location=%s index-cache=always ! "
                                "fakesink name=sink",
                      i == 0 ? link : list),
        i == 0 ? "b # c" : "uri b c");
  fail_unless_equals_int (unlink (link), 0);
  /* The index is not an item of the folder. */
  assert_names (
      run_pipeline ("spdlsrc location=%s ! fakesink name=sink", folder),
      "list.txt");
  files_remove_folder (folder);

  src = gst_element_factory_make ("spdlsrc", NULL);
  g_object_get (src, "index-cache", &index, NULL);
  fail_unless_equals_int (index, 1);
  gst_object_unref (src);
}

GST_END_TEST;

typedef struct {
  gchar *list;
  guint n;
} Changing;

static GstPadProbeReturn
change_list (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Changing *changing = user_data;

  if (++changing->n == 5)
    fail_unless_equals_int (truncate (changing->list, 3), 0);
  return GST_PAD_PROBE_OK;
}

/* A list that changes while in use causes a single error that names it,
 * followed by EOS. */
GST_START_TEST (test_changed_list)
{
  gchar *folder = files_make_folder ();
  Changing changing = { g_build_filename (folder, "list.txt", NULL), 0 };
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc name=src location=%s shuffle=true epochs=-1 ! fakesink "
      "async=false",
      changing.list);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) src = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstBus) bus = NULL;
  GstMessage *message;
  GError *error;

  for (guint i = 0; i < 100; i++)
    g_string_append_printf (text, "%u.jpg\n", i);
  files_write (folder, "list.txt", text->str, text->len);
  pipeline = gst_parse_launch (description, NULL);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  pad = gst_element_get_static_pad (src, "src");
  bus = gst_element_get_bus (pipeline);
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER, change_list, &changing, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (errors_has (error, changing.list) &&
                   errors_has (error, "[resource-error read]|690|3"),
      "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  fail_unless_equals_int (changing.n, 5);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_free (changing.list);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (src, TEST (test_folder), TEST (test_awkward_folder),
    TEST (test_nothing_there), TEST (test_list), TEST (test_csv),
    TEST (test_classes), TEST (test_no_folders), TEST (test_malformed),
    TEST (test_epochs), TEST (test_index), TEST (test_changed_list))
