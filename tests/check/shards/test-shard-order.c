/* gst-spdl: tests of shards whose files are in any order
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/dataset/archive/archivewriter.h"
#include "plugins/shards/archivestream.h"
#include "tests/check/support/files.h"
#include "tests/check/support/tars.h"

static const SpdlArchiveKey shard_key = { { 1 << 30, 1, 2 }, 3, 4 };

/* Adds file @i of 3 of a sample: an image, its label or a text, at an offset of
 * its own. */
static void
add_file (SpdlArchiveWriter *writer, guint sample, guint i)
{
  static const gchar *const extensions[] = { "JPG", "cls", "txt" };
  const SpdlArchivePacking packing = { 5, sample };
  g_autofree gchar *path = g_strdup_printf ("a/%06u.%s", sample, extensions[i]);
  g_autofree gchar *text = g_strdup_printf ("%u", sample);

  g_assert_null (spdl_archive_writer_add (writer, path, 3 * sample + i,
      i == 0 ? 100 : strlen (text), i == 0 ? &packing : NULL,
      i == 0 ? NULL : text, strlen (text)));
}

static SpdlArchiveIndex *
finish (SpdlArchiveWriter *writer)
{
  g_autofree gchar *path = NULL;
  const gchar *problem;
  guint8 *data;
  gsize size;

  g_assert_null (spdl_archive_writer_group (writer, &path));
  g_assert_null (path);
  data = spdl_archive_writer_finish (writer, &shard_key, &size);
  return spdl_archive_index_new (data, size, &problem);
}

static void
assert_sample (SpdlArchiveIndex *index, guint i, guint number)
{
  g_autofree gchar *key = g_strdup_printf ("a/%06u", number);
  g_autofree gchar *text = g_strdup_printf ("%u", number);
  SpdlArchiveSample sample;
  SpdlArchiveFile file;

  g_assert_true (spdl_archive_index_get_sample (index, i, NULL, &sample));
  g_assert_cmpmem (sample.key, sample.key_length, key, strlen (key));
  g_assert_cmpint (sample.label, ==, number);
  g_assert_cmpint (sample.n_files, ==, 3);
  while (spdl_archive_sample_next (&sample, &file)) {
    const guint role = file.kind == SPDL_ARCHIVE_MEDIA   ? 0
                       : file.kind == SPDL_ARCHIVE_LABEL ? 1
                                                         : 2;

    g_assert_cmpuint (file.first, ==, 3 * number + role);
    g_assert_cmpint (file.packed, ==, role == 0);
    if (role == 0)
      g_assert_cmpuint (file.packing.checksum, ==, number);
    if (role == 2)
      g_assert_cmpmem (file.text, file.text_length, text, strlen (text));
  }
}

/* Tests that the samples have the order of their first files. */
static void
test_grouped (void)
{
  enum { N = 5000 };
  g_autoptr (SpdlArchiveWriter) writer = spdl_archive_writer_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autofree guint *files = g_new (guint, 3 * N);
  g_autofree gboolean *seen = g_new0 (gboolean, N);
  SpdlArchiveIndex *index;
  guint n = 0;

  for (guint i = 0; i < 3 * N; i++) {
    const guint j = g_rand_int_range (rand, 0, i + 1);

    files[i] = files[j];
    files[j] = i;
  }
  for (guint i = 0; i < 3 * N; i++)
    add_file (writer, files[i] / 3, files[i] % 3);
  index = finish (writer);
  g_assert_cmpuint (spdl_archive_index_get_size (index), ==, N);
  g_assert_true (spdl_archive_index_has_payloads (index));
  for (guint i = 0; i < 3 * N; i++)
    if (!seen[files[i] / 3]) {
      seen[files[i] / 3] = TRUE;
      assert_sample (index, n++, files[i] / 3);
    }
  spdl_archive_index_free (index);
}

/* Tests that shards without a key that comes back keep the hash that resume
 * states contain. */
static void
test_unchanged (void)
{
  static const gchar *const names[] = { "a-b.jpg", "a-b.cls", "a.jpg", "a.txt",
    "c.txt", "b.txt" };
  g_autoptr (SpdlArchiveWriter) writer = spdl_archive_writer_new ();
  SpdlArchiveSample sample;
  SpdlArchiveFile file;
  SpdlArchiveIndex *index;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_null (spdl_archive_writer_add (
        writer, names[i], 512 * i, 1, NULL, i % 2 ? "7" : NULL, i % 2));
  index = finish (writer);
  g_assert_cmphex (spdl_archive_index_get_hash (index), ==,
      G_GUINT64_CONSTANT (0x41d17f339aef0403));
  g_assert_true (spdl_archive_index_get_sample (index, 0, NULL, &sample));
  g_assert_true (spdl_archive_sample_next (&sample, &file));
  g_assert_cmpint (file.kind, ==, SPDL_ARCHIVE_MEDIA);
  spdl_archive_index_free (index);
}

static void
test_two_files (void)
{
  static const gchar *const names[] = { "a.jpg", "b.jpg", "a.JPG" };
  g_autoptr (SpdlArchiveWriter) writer = spdl_archive_writer_new ();
  g_autofree gchar *path = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_null (
        spdl_archive_writer_add (writer, names[i], i, 1, NULL, NULL, 0));
  g_assert_nonnull (spdl_archive_writer_group (writer, &path));
  g_assert_cmpstr (path, ==, "a.jpg");
}

/* Streams */

static gboolean
read_bytes (
    gpointer user_data, const guint8 **data, gsize *size, GError **error)
{
  GBytes **bytes = user_data;

  *data = *bytes ? g_bytes_get_data (*bytes, size) : NULL;
  *size = *bytes ? *size : 0;
  *bytes = NULL;
  return TRUE;
}

static gboolean
note_sample (SpdlSample *sample, gpointer user_data)
{
  GString *text = user_data;
  SpdlArchiveSample files;

  g_assert_true (
      spdl_archive_index_get_sample (sample->index, 0, NULL, &files));
  g_string_append_printf (text, "%.*s%u%s ", files.key_length, files.key,
      files.n_files, sample->unchecked ? "?" : "");
  spdl_sample_free (sample);
  return TRUE;
}

/* Returns keys, numbers of files, and which samples were not checked. */
static gchar *
stream (const gchar *names, gsize max_seen, GError **error)
{
  g_auto (GStrv) words = g_strsplit (names, " ", -1);
  gchar *folder = files_make_folder ();
  g_autofree gchar *path = g_build_filename (folder, "s.tar", NULL);
  GString *text = g_string_new (NULL);
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GBytes *left;
  Tar tar;

  tar_begin (&tar);
  for (guint i = 0; words[i]; i++)
    tar_add_text (&tar, words[i], "x");
  tar_end (&tar, folder, "s.tar");
  file = g_mapped_file_new (path, FALSE, NULL);
  g_assert_nonnull (file);
  left = bytes = g_mapped_file_get_bytes (file);
  g_assert_cmpint (spdl_archive_stream (&(SpdlArchiveInput){ "s.tar",
                                            read_bytes, &left, max_seen },
                       note_sample, text, error),
      ==, *error == NULL);
  files_remove_folder (folder);
  return g_string_free (text, FALSE);
}

static void
assert_streamed (
    const gchar *names, gsize max_seen, gboolean fails, const gchar *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = stream (names, max_seen, &error);

  if (fails)
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
  else
    g_assert_no_error (error);
  g_assert_cmpstr (text, ==, expected);
}

/* Tests that a key that comes back is an error, and that samples beyond the
 * limit are marked. */
static void
test_streamed (void)
{
  assert_streamed ("a.jpg a.txt b.jpg d/b.jpg", 0, FALSE, "a2 b1 d/b1 ");
  assert_streamed ("b.jpg a.jpg c.jpg a.txt", 0, TRUE, "b1 a1 c1 ");
  assert_streamed ("a.jpg b.jpg b.txt c.jpg d.jpg", 4, FALSE, "a1 b2 c1 d1? ");
  assert_streamed (
      "a.jpg b.jpg c.jpg d.jpg a.txt", 4, FALSE, "a1 b1 c1 d1? a1? ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/shard-order/grouped", test_grouped);
  g_test_add_func ("/shard-order/unchanged", test_unchanged);
  g_test_add_func ("/shard-order/two-files", test_two_files);
  g_test_add_func ("/shard-order/streamed", test_streamed);
  return g_test_run ();
}
