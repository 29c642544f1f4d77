/* gst-spdl: tests of files that stay open between reads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "plugins/fetch/io/disk.h"
#include "tests/check/support/files.h"

static gchar *folder;

static gchar *
write_file (const gchar *name, const gchar *text)
{
  gchar *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents_full (
      path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  return path;
}

static gboolean
is_open (int fd)
{
  return fcntl (fd, F_GETFD) >= 0;
}

/* Checks that bytes 1 to 2 of a file are @wanted; NULL: that it is not there.
 */
static void
assert_read (SpdlOpenFiles *files, const gchar *path, const gchar *wanted)
{
  const SpdlRange range = { 1, 2 };
  const SpdlDiskLimits limits = { 0, G_MAXINT64 };
  g_autoptr (GError) error = NULL;
  GstBuffer *buffer =
      spdl_disk_read (path, &range, files, &limits, NULL, &error);

  if (!wanted) {
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND);
    return;
  }
  g_assert_no_error (error);
  g_assert_cmpint (gst_buffer_get_size (buffer), ==, 2);
  g_assert_cmpint (gst_buffer_memcmp (buffer, 0, wanted, 2), ==, 0);
  gst_buffer_unref (buffer);
}

static int
take_fd (SpdlOpenFiles *files, const gchar *path)
{
  SpdlOpenFile file;

  g_assert_true (spdl_open_files_take (files, path, &file));
  spdl_open_files_give (files, &file);
  return file.fd;
}

static void
test_kept (void)
{
  SpdlOpenFiles *files = spdl_open_files_new ();
  g_autofree gchar *path = write_file ("kept", "abcd");
  SpdlOpenFile one, other;
  int fd;

  assert_read (files, path, "bc");
  fd = take_fd (files, path);
  assert_read (files, path, "bc");
  g_assert_cmpint (take_fd (files, path), ==, fd);
  /* Two readers at once have different files. */
  g_assert_true (spdl_open_files_take (files, path, &one));
  g_assert_true (spdl_open_files_take (files, path, &other));
  g_assert_cmpint (one.fd, !=, other.fd);
  spdl_open_files_give (files, &one);
  spdl_open_files_give (files, &other);
  spdl_open_files_free (files);
  g_assert_false (is_open (one.fd));
  g_assert_false (is_open (other.fd));
}

/* A file that was replaced, changed or removed is not read as it was. */
static void
test_changes (void)
{
  SpdlOpenFiles *files = spdl_open_files_new ();
  g_autofree gchar *path = write_file ("changed", "abcd");
  g_autofree gchar *other = write_file ("other", "efgh");

  assert_read (files, path, "bc");
  g_assert_cmpint (g_rename (other, path), ==, 0);
  assert_read (files, path, "fg");
  g_free (write_file ("changed", "ijklm"));
  assert_read (files, path, "jk");
  g_assert_cmpint (g_unlink (path), ==, 0);
  assert_read (files, path, NULL);
  g_assert_cmpint (symlink ("other", path), ==, 0);
  assert_read (files, path, NULL);
  g_free (write_file ("other", "nopq"));
  assert_read (files, path, "op");
  spdl_open_files_free (files);
}

static guint
count_open (void)
{
  GDir *dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir))
    n++;
  g_dir_close (dir);
  return n;
}

/* The files that were used last stay open. */
static void
test_many (void)
{
  SpdlOpenFiles *files = spdl_open_files_new ();
  g_autofree gchar *first = write_file ("first", "abcd");
  const guint n = count_open ();
  const int fd = take_fd (files, first);

  for (guint i = 0; i < 2 * SPDL_OPEN_FILES_MAX; i++) {
    g_autofree gchar *name = g_strdup_printf ("%u", i);
    g_autofree gchar *path = write_file (name, "abcd");

    g_assert_cmpint (take_fd (files, path), !=, fd);
    g_assert_cmpint (take_fd (files, first), ==, fd);
  }
  g_assert_cmpint (count_open (), ==, n + SPDL_OPEN_FILES_MAX);
  spdl_open_files_free (files);
  g_assert_cmpint (count_open (), ==, n);
}

int
main (int argc, char **argv)
{
  int result;

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  folder = files_make_folder ();
  g_test_add_func ("/open-files/kept", test_kept);
  g_test_add_func ("/open-files/changes", test_changes);
  g_test_add_func ("/open-files/many", test_many);
  result = g_test_run ();
  files_remove_folder (folder);
  return result;
}
