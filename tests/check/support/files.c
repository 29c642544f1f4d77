/* gst-spdl: files and folders for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/files.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

gchar *
files_make_folder (void)
{
  gchar *folder = g_dir_make_tmp ("spdl-test-XXXXXX", NULL);

  g_assert_nonnull (folder);
  return folder;
}

void
files_remove_folder (gchar *folder)
{
  gchar *argv[] = { (gchar *) "rm", (gchar *) "-rf", folder, NULL };

  g_assert_true (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
      NULL, NULL, NULL, NULL, NULL));
  g_free (folder);
}

void
files_write (
    const gchar *folder, const gchar *name, gconstpointer data, gsize size)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree gchar *parent = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
}

void
files_write_text (const gchar *folder, const gchar *name, const gchar *text)
{
  files_write (folder, name, text, strlen (text));
}

GBytes *
files_make_jpeg (guint width, guint height, guint seed)
{
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  unsigned char *data = NULL;
  unsigned long size = 0;
  g_autofree JSAMPLE *row = g_new (JSAMPLE, width * 3);
  GBytes *bytes;

  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_compress (&cinfo);
  jpeg_mem_dest (&cinfo, &data, &size);
  cinfo.image_width = width;
  cinfo.image_height = height;
  cinfo.input_components = 3;
  cinfo.in_color_space = JCS_RGB;
  jpeg_set_defaults (&cinfo);
  jpeg_start_compress (&cinfo, TRUE);
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      row[3 * x] = 255 * x / width;
      row[3 * x + 1] = 255 * y / height;
      row[3 * x + 2] = seed * 37 + (x * y >> 5);
    }
    jpeg_write_scanlines (&cinfo, &row, 1);
  }
  jpeg_finish_compress (&cinfo);
  jpeg_destroy_compress (&cinfo);
  bytes = g_bytes_new (data, size);
  free (data);
  return bytes;
}

void
files_write_jpeg (const gchar *folder, const gchar *name, guint width,
    guint height, guint seed)
{
  g_autoptr (GBytes) bytes = files_make_jpeg (width, height, seed);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  files_write (folder, name, data, size);
}

gchar *
files_make_dataset (guint n)
{
  gchar *folder = files_make_folder ();

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name =
        g_strdup_printf ("class-%c/%04u.jpg", 'a' + i % 3, i);

    files_write_jpeg (folder, name, 40 + i * 7 % 90, 30 + i * 11 % 70, i);
  }
  return folder;
}

guint
files_count_entries (const gchar *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir))
    n++;
  return n;
}

guint
files_count_threads (void)
{
  g_thread_pool_stop_unused_threads ();
  return files_count_entries ("/proc/self/task");
}
