/* gst-spdl: tests of spdlfetch with local files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gio/gio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

static gboolean
has_text (Run *run, guint i, const gchar *text)
{
  GstBuffer *buffer = g_ptr_array_index (run->buffers, i);

  return gst_buffer_get_size (buffer) == strlen (text) &&
         gst_buffer_memcmp (buffer, 0, text, strlen (text)) == 0;
}

GST_START_TEST (test_files_and_ranges)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *list = NULL;
  Run *run;

  files_write_text (folder, "a b#1.dat", "0123456789");
  files_write_text (folder, "empty.dat", "");
  list = g_strdup_printf ("a b#1.dat\n"
                          "file://%s/a%%20b%%231.dat\n"
                          "file://%s/a%%20b%%231.dat#bytes=2-4\n"
                          "file://%s/a%%20b%%231.dat#bytes=9-9\n"
                          "file://%s/a%%20b%%231.dat#bytes=0-9\n"
                          "empty.dat\n",
      folder, folder, folder, folder);
  files_write_text (folder, "list.txt", list);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                      "concurrency=3 output-order=input ! fakesink name=sink",
      folder);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, 6);
  fail_unless (has_text (run, 0, "0123456789"));
  fail_unless (has_text (run, 1, "0123456789"));
  fail_unless (has_text (run, 2, "234"));
  fail_unless (has_text (run, 3, "9"));
  fail_unless (has_text (run, 4, "0123456789"));
  fail_unless (has_text (run, 5, ""));
  fail_unless_equals_uint64 (run_item (run, 5)->index, 5);
  fail_unless (gst_structure_has_name (
      gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0),
      "application/octet-stream"));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_failures)
{
  static const gchar *reasons[] = { "[resource-error not-found]",
    "[resource-error read]", "[resource-error read]|10",
    "[resource-error settings]", "[resource-error settings]",
    "[resource-error open-read]|URI", "[resource-error open-read]",
    "Input/output error", "[resource-error read]" };
  gchar *folder = files_make_folder ();
  g_autofree gchar *list = NULL;
  g_autofree gchar *pipe = g_build_filename (folder, "pipe", NULL);
  g_autofree gchar *unreadable = g_build_filename (folder, "unreadable", NULL);
  Run *run;

  files_write_text (folder, "good", "0123456789");
  fail_unless_equals_int (mkfifo (pipe, 0600), 0);
  /* This file cannot be read, not even by root. */
  fail_unless_equals_int (symlink ("/proc/self/mem", unreadable), 0);
  list = g_strdup_printf ("missing\n"
                          "pipe\n"
                          "file://%s/good#bytes=5-10\n"
                          "file://%s/good#bytes=5-4\n"
                          "file://%s/good#bytes=x\n"
                          "http:///x\n"
                          "smb://bucket/x\n"
                          "file://%s/unreadable#bytes=0-0\n"
                          "/tmp\n"
                          "good\n",
      folder, folder, folder, folder);
  files_write_text (folder, "list.txt", list);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                      "output-order=input ! fakesink name=sink",
      folder);
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless (has_text (run, 0, "0123456789"));
  fail_unless_equals_int (run->failures->len, 9);
  fail_unless_equals_int (run->n_dropped, 9);
  for (guint i = 0; i < 9; i++) {
    if (i == 7) /* /proc has no file sizes, so the reason varies */
      continue;
    fail_unless (errors_text_has (run_failure_text (run, i), reasons[i]),
        "%u: %s", i, run_failure_text (run, i));
  }
  fail_unless (run->error == NULL);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests a file without read permission. Root changes its effective user ID for
 * this, as the test has a process to itself. */
GST_START_TEST (test_no_right)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *path = g_build_filename (folder, "secret", NULL);
  Run *run;

  files_write_text (folder, "open", "x");
  files_write_text (folder, "secret", "x");
  fail_unless_equals_int (chmod (path, 0), 0);
  fail_unless_equals_int (chmod (folder, 0755), 0);
  /* Loads the plugins first, as the other user may not be able to read them. */
  gst_object_unref (gst_parse_launch ("spdlsrc ! spdlfetch ! fakesink", NULL));
  if (geteuid () == 0)
    fail_unless_equals_int (seteuid (65534), 0);
  run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch ! fakesink name=sink", folder);
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless_equals_int (run->failures->len, 1);
  fail_unless (errors_text_has (run_failure_text (run, 0), "Permission denied"),
      "%s", run_failure_text (run, 0));
  run_free (run);
  if (geteuid () == 65534)
    seteuid (0);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_caps)
{
  gchar *folder = files_make_folder ();
  Run *run;

  files_write_text (folder, "f", "x");
  run = run_pipeline ("spdlsrc location=%s ! spdlfetch ! image/jpeg ! "
                      "fakesink name=sink",
      folder);
  fail_unless (gst_structure_has_name (
      gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0),
      "image/jpeg"));
  run_free (run);
  run = run_pipeline ("spdlsrc location=%s ! spdlfetch caps=text/plain ! "
                      "fakesink name=sink",
      folder);
  fail_unless (gst_structure_has_name (
      gst_caps_get_structure (g_ptr_array_index (run->caps, 0), 0),
      "text/plain"));
  run_free (run);
  run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch ! "
      "capsfilter caps=\"image/jpeg;image/png\" ! fakesink name=sink",
      folder);
  fail_unless (run->error && errors_text_has (run->error,
                                 "[stream-error type-not-found]|caps"));
  run_free (run);
  run = run_pipeline ("spdlsrc location=%s ! spdlfetch thread-pool=a:1 ! "
                      "fakesink name=sink",
      folder);
  fail_unless (run->error && errors_text_has (run->error, "thread-pool"));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

static GFile *
file_of_test_uri (GVfs *vfs, const char *identifier, gpointer user_data)
{
  return g_file_new_for_path (identifier + strlen ("test://"));
}

/* Tests a URI scheme that GIO supports through an extension, as gvfs does. */
GST_START_TEST (test_gio)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *list = NULL;
  Run *run;

  fail_unless (g_vfs_register_uri_scheme (g_vfs_get_default (), "test",
      file_of_test_uri, NULL, NULL, file_of_test_uri, NULL, NULL));
  files_write_text (folder, "a", "0123456789");
  list = g_strdup_printf ("test://%s/a\ntest://%s/a#bytes=2-4\n"
                          "test://%s/a#bytes=8-10\ntest://%s/b\ntest://%s\n",
      folder, folder, folder, folder, folder);
  files_write_text (folder, "list.txt", list);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch "
                      "output-order=input ! fakesink name=sink",
      folder);
  fail_unless_equals_int (run->buffers->len, 2);
  fail_unless (has_text (run, 0, "0123456789"));
  fail_unless (has_text (run, 1, "234"));
  fail_unless_equals_int (run->failures->len, 3);
  fail_unless (
      errors_text_has (run_failure_text (run, 0), "[resource-error read]|10"));
  fail_unless (errors_text_has (
      run_failure_text (run, 1), "[resource-error not-found]"));
  fail_unless (
      errors_text_has (run_failure_text (run, 2), "[resource-error read]"));
  run_free (run);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch max-size=9 ! "
                      "fakesink name=sink",
      folder);
  fail_unless_equals_int (run->buffers->len, 1);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (fetch, TEST (test_files_and_ranges), TEST (test_failures),
    TEST (test_no_right), TEST (test_caps), TEST (test_gio))
