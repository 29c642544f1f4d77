/* gst-spdl: tests of the indexes of shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <unistd.h>

#include "plugins/dataset/archive/archiveopen.h"
#include "plugins/dataset/archive/archivewriter.h"
#include "plugins/dataset/archive/shardpattern.h"

static void
test_names (void)
{
  static const struct {
    const gchar *path;
    const gchar *key; /* NULL: not part of a sample */
    const gchar *extension;
    SpdlArchiveKind kind;
  } names[] = {
    { "a.jpg", "a", "jpg", SPDL_ARCHIVE_MEDIA },
    { "a/b.c/d.seg.png", "a/b.c/d", "seg.png", SPDL_ARCHIVE_MEDIA },
    { "a.cls", "a", "cls", SPDL_ARCHIVE_LABEL },
    { "a.second.cls", "a", "second.cls", SPDL_ARCHIVE_TEXT },
    { "a.b.txt", "a", "b.txt", SPDL_ARCHIVE_TEXT },
    { "a.json", "a", "json", SPDL_ARCHIVE_JSON },
    { "a.pyd", "a", "pyd", SPDL_ARCHIVE_OTHER },
    { "a.", "a", "", SPDL_ARCHIVE_OTHER },
    { "./a.jpg", "./a", "jpg", SPDL_ARCHIVE_MEDIA },
    { "a", NULL },
    { "a.b/c", NULL },
    { ".a.jpg", NULL },
    { "a/.b.jpg", NULL },
    { "__meta__/a.jpg", NULL },
    { "__meta__", NULL },
    { "___.jpg", "___", "jpg", SPDL_ARCHIVE_MEDIA },
    { "a/__b__.jpg", "a/__b__", "jpg", SPDL_ARCHIVE_MEDIA },
    { "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gsize key;
    const gchar *extension = spdl_archive_name_split (names[i].path, &key);

    g_test_message ("%s", names[i].path);
    g_assert_cmpstr (extension, ==, names[i].extension);
    if (!extension)
      continue;
    g_assert_cmpmem (names[i].path, key, names[i].key, strlen (names[i].key));
    g_assert_cmpint (spdl_archive_name_get_kind (extension, strlen (extension)),
        ==, names[i].kind);
  }
}

static void
assert_expanded (const gchar *text, const gchar *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) texts = spdl_braces_expand (text, &error);
  g_autofree gchar *joined = NULL;

  g_assert_no_error (error);
  g_ptr_array_add (texts, NULL);
  joined = g_strjoinv (" ", (gchar **) texts->pdata);
  g_assert_cmpstr (joined, ==, expected);
}

static void
test_braces (void)
{
  static const gchar *const too_many[] = { "{0..1000000}",
    "{0..999}{0..999}{0..1}", "{0..9223372036854775807}" };

  assert_expanded ("a.tar", "a.tar");
  assert_expanded ("", "");
  assert_expanded ("a{0..3}.tar", "a0.tar a1.tar a2.tar a3.tar");
  assert_expanded ("{08..11}", "08 09 10 11");
  assert_expanded ("{8..011}", "008 009 010 011");
  assert_expanded ("{2..0}", "2 1 0");
  assert_expanded ("{0..0}", "0");
  assert_expanded ("{a,b,}x{1..2}", "ax1 ax2 bx1 bx2 x1 x2");
  assert_expanded ("{a}{}{1..}{..2}{x..z}", "{a}{}{1..}{..2}{x..z}");
  assert_expanded ("{1..2", "{1..2");
  assert_expanded ("1..2}{", "1..2}{");
  assert_expanded ("{a{b,c}d}", "{abd} {acd}");
  for (guint i = 0; i < G_N_ELEMENTS (too_many); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (spdl_braces_expand (too_many[i], &error));
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
  }
}

static void
test_is_one (void)
{
  static const gchar *const some[] = { "a.tar", "a.TAR", "b.zip", "a.tar.gz",
    "http://h/a.tar?sig=1", "a-{0..9}.tar", "https://h/a.tar#x",
    "a.{tar,zip}" };
  static const gchar *const none[] = { "a", "a.txt", "tar", "a.tar.txt",
    "http://h/a.txt?b.tar", "a.csv" };

  for (guint i = 0; i < G_N_ELEMENTS (some); i++)
    g_assert_true (spdl_archive_names_is_one (some[i]));
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    g_assert_false (spdl_archive_names_is_one (none[i]));
}

static void
assert_sidecar (const gchar *location, const gchar *expected)
{
  g_autofree gchar *sidecar = spdl_archive_sidecar_of (location);

  g_assert_cmpstr (sidecar, ==, expected);
}

static void
test_sidecar (void)
{
  assert_sidecar ("/a/b?c.tar", "/a/b?c.tar.spdl-index");
  assert_sidecar ("http://h/a.tar", "http://h/a.tar.spdl-index");
  assert_sidecar ("http://h/a.tar?s=1#b", "http://h/a.tar.spdl-index?s=1#b");
}

static SpdlArchiveIndex *
make_index (guint n, guint8 **data, gsize *size)
{
  static const SpdlArchiveKey key = { { 1 << 20, -1, 2 }, 3, 4 };
  g_autoptr (SpdlArchiveWriter) writer = spdl_archive_writer_new ();
  const gchar *flaw;

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *image = g_strdup_printf ("%u.jpg", i);
    g_autofree gchar *text = g_strdup_printf ("%u.txt", i);

    g_assert_null (
        spdl_archive_writer_add (writer, image, 1000 * i, 99, NULL, NULL, 0));
    g_assert_null (
        spdl_archive_writer_add (writer, text, 1, i, NULL, text, i % 4));
  }
  *data = spdl_archive_writer_finish (writer, &key, size);
  return spdl_archive_index_new (g_memdup2 (*data, *size), *size, &flaw);
}

/* Tests that an index with any byte changed is rejected. */
static void
test_damage (void)
{
  g_autofree guint8 *data = NULL;
  gsize size;
  SpdlArchiveIndex *index = make_index (9, &data, &size);
  SpdlArchiveKey key;
  const gchar *flaw;

  spdl_archive_index_get_key (index, &key);
  g_assert_cmpuint (key.stamp.size, ==, 1 << 20);
  g_assert_cmpint (key.stamp.seconds, ==, -1);
  g_assert_cmpuint (key.validator, ==, 4);
  g_assert_cmpuint (spdl_archive_index_get_size (index), ==, 9);
  spdl_archive_index_free (index);
  for (gsize i = 0; i < size; i++) {
    data[i] ^= 4;
    g_assert_null (
        spdl_archive_index_new (g_memdup2 (data, size), size, &flaw));
    g_assert_nonnull (flaw);
    data[i] ^= 4;
    g_assert_null (spdl_archive_index_new (g_memdup2 (data, size), i, &flaw));
  }
}

/* Tests the hash by which a resume state identifies a dataset. The modification
 * times of the shards are not part of it. */
static void
test_hash (void)
{
  g_autofree guint8 *data = NULL;
  g_autofree guint8 *other_data = NULL;
  gsize size, other_size;
  SpdlArchiveIndex *index = make_index (9, &data, &size);
  SpdlArchiveIndex *other = make_index (8, &other_data, &other_size);
  const guint64 hash = spdl_archive_index_get_hash (index);

  g_assert_cmpuint (hash, !=, spdl_archive_index_get_hash (other));
  spdl_archive_index_restamp (index, 77);
  g_assert_cmpuint (hash, ==, spdl_archive_index_get_hash (index));
  spdl_archive_index_free (index);
  spdl_archive_index_free (other);
}

/* Checks sample @i of an index in a file against the same one in memory. */
static void
assert_same_sample (SpdlArchiveIndex *file, SpdlArchiveCursor *cursor,
    SpdlArchiveIndex *memory, guint64 i)
{
  SpdlArchiveSample a, b;
  SpdlArchiveFile x, y;

  g_assert_true (spdl_archive_index_get_sample (file, i, cursor, &a));
  g_assert_true (spdl_archive_index_get_sample (memory, i, NULL, &b));
  g_assert_cmpint (a.label, ==, b.label);
  g_assert_cmpmem (a.key, a.key_length, b.key, b.key_length);
  g_assert_cmpuint (a.n_files, ==, b.n_files);
  while (spdl_archive_sample_next (&b, &y)) {
    g_assert_true (spdl_archive_sample_next (&a, &x));
    g_assert_cmpuint (x.first, ==, y.first);
    g_assert_cmpuint (x.size, ==, y.size);
    g_assert_cmpmem (
        x.extension, x.extension_length, y.extension, y.extension_length);
    g_assert_cmpmem (x.text, x.text_length, y.text, y.text_length);
  }
  g_assert_false (spdl_archive_sample_next (&a, &x));
}

/* Returns the path of a file with the index of @n samples, some of which have
 * texts that are longer than what is read at once. */
static gchar *
write_index (guint n, SpdlArchiveIndex **memory, gsize *size)
{
  static const SpdlArchiveKey key = { { 1 << 30, -1, 2 }, 3, 4 };
  g_autoptr (SpdlArchiveWriter) writer = spdl_archive_writer_new ();
  g_autofree gchar *text = g_strnfill (3 << 20, 'x');
  const gchar *problem;
  gchar *path = NULL;
  guint8 *data;
  int fd;

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *image = g_strdup_printf ("%u.jpg", i);
    g_autofree gchar *note = g_strdup_printf ("%u.txt", i);
    const gsize length = i % 500 == 250 ? 3 << 20 : i * 37 % 300;

    g_assert_null (
        spdl_archive_writer_add (writer, image, 1000 * i, 99, NULL, NULL, 0));
    g_assert_null (
        spdl_archive_writer_add (writer, note, 1, length, NULL, text, length));
  }
  data = spdl_archive_writer_finish (writer, &key, size);
  fd = g_file_open_tmp ("spdl-index-XXXXXX", &path, NULL);
  g_assert_cmpint (write (fd, data, *size), ==, *size);
  close (fd);
  *memory = spdl_archive_index_new (data, *size, &problem);
  return path;
}

/* Tests the samples of an index in a file, in order and in any order, and after
 * the file was closed. */
static void
test_file (void)
{
  const guint n = 2000;
  SpdlArchiveIndex *memory, *file;
  SpdlArchiveCursor cursor = { NULL };
  g_autoptr (GError) error = NULL;
  const gchar *problem;
  gsize size;
  g_autofree gchar *path = write_index (n, &memory, &size);

  file = spdl_archive_index_open (path, &cursor, &problem);
  g_assert_nonnull (file);
  g_assert_null (spdl_archive_index_get_data (file, &size));
  g_assert_true (spdl_archive_index_is_equal (file, memory));
  for (guint i = 0; i < n; i++)
    assert_same_sample (file, &cursor, memory, i);
  for (guint i = 0; i < n; i++) {
    assert_same_sample (file, &cursor, memory, i * 1009 % n);
    g_assert_cmpuint (cursor.records.room, <=, 4 << 20);
    if (i % 100 == 0)
      spdl_archive_index_close (file);
  }
  g_assert_cmpuint (cursor.records.room, <=, 1 << 20);
  g_assert_true (spdl_archive_index_check (file, &error));
  spdl_archive_cursor_clear (&cursor);
  spdl_archive_index_free (file);
  spdl_archive_index_free (memory);
  g_unlink (path);
}

/* Tests an index file that is truncated after it was opened: no sample is
 * wrong, and the check fails. */
static void
test_truncated_file (void)
{
  const guint n = 100;
  SpdlArchiveIndex *memory;
  gsize size;
  g_autofree gchar *path = write_index (n, &memory, &size);
  g_autofree gchar *content = NULL;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  for (gsize cut = 0; cut < size; cut += 61) {
    SpdlArchiveCursor cursor = { NULL };
    SpdlArchiveSample sample;
    g_autoptr (GError) error = NULL;
    const gchar *problem;
    SpdlArchiveIndex *file;

    g_assert_true (g_file_set_contents (path, content, size, NULL));
    file = spdl_archive_index_open (path, &cursor, &problem);
    g_assert_nonnull (file);
    spdl_archive_cursor_reset (&cursor);
    g_assert_cmpint (truncate (path, cut), ==, 0);
    g_assert_false (
        spdl_archive_index_get_sample (file, n - 1, &cursor, &sample));
    g_assert_false (spdl_archive_index_check (file, &error));
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
    g_assert_nonnull (strstr (error->message, path));
    spdl_archive_cursor_clear (&cursor);
    spdl_archive_index_free (file);
  }
  spdl_archive_index_free (memory);
  g_unlink (path);
}

/* Tests the check of a sample against the size of its shard. */
static void
test_within (void)
{
  g_autofree guint8 *data = NULL;
  gsize size;
  SpdlArchiveIndex *index = make_index (9, &data, &size);
  SpdlArchiveSample sample;

  g_assert_true (spdl_archive_index_get_sample (index, 8, NULL, &sample));
  g_assert_true (spdl_archive_sample_is_within (&sample, 8099));
  g_assert_false (spdl_archive_sample_is_within (&sample, 8098));
  g_assert_false (spdl_archive_sample_is_within (&sample, 0));
  spdl_archive_index_free (index);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/archive/names", test_names);
  g_test_add_func ("/archive/braces", test_braces);
  g_test_add_func ("/archive/is-one", test_is_one);
  g_test_add_func ("/archive/sidecar", test_sidecar);
  g_test_add_func ("/archive/damage", test_damage);
  g_test_add_func ("/archive/hash", test_hash);
  g_test_add_func ("/archive/file", test_file);
  g_test_add_func ("/archive/truncated-file", test_truncated_file);
  g_test_add_func ("/archive/within", test_within);
  return g_test_run ();
}
