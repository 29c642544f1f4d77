/* gst-spdl: tests of the indexes of lists and of their sidecar files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/engine/random.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/list.h"
#include "plugins/dataset/list/sidecar.h"
#include "tests/check/support/errors.h"

#define N_ITEMS 1000
#define LONG_AGO 1700000000

typedef struct {
  gchar *folder;
  gchar *list;
  gchar *sidecar;
  GPtrArray *logged; /* log messages about indexes */
} Fixture;

static void
note (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer user_data)
{
  Fixture *f = user_data;

  if (g_str_equal (gst_debug_category_get_name (category), "spdlindex"))
    g_ptr_array_add (f->logged, g_strdup (gst_debug_message_get (message)));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->folder = g_dir_make_tmp ("spdl-test-XXXXXX", NULL);
  f->list = g_build_filename (f->folder, "a.txt", NULL);
  f->sidecar = g_build_filename (f->folder, ".a.txt.spdl-index", NULL);
  f->logged = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_from_string ("spdlindex:4", FALSE);
  gst_debug_add_log_function (note, f, NULL);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gst_debug_remove_log_function_by_data (f);
  g_unlink (f->list);
  g_unlink (f->sidecar);
  g_assert_cmpint (g_rmdir (f->folder), ==, 0);
  g_free (f->folder);
  g_free (f->list);
  g_free (f->sidecar);
  g_ptr_array_unref (f->logged);
}

/* Returns whether a log message with @part names the list. */
static gboolean
was_logged (const Fixture *f, const gchar *part)
{
  for (guint i = 0; i < f->logged->len; i++)
    if (strstr (g_ptr_array_index (f->logged, i), part) &&
        strstr (g_ptr_array_index (f->logged, i), f->list))
      return TRUE;
  return FALSE;
}

/* Writes a list with a modification time of @seconds. */
static void
write_list (const gchar *path, const GString *text, gint64 seconds)
{
  struct timespec times[2] = { { 0, UTIME_OMIT }, { seconds, 123456789 } };

  g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

static void
make_list (Fixture *f, guint n)
{
  g_autoptr (GString) text = g_string_new ("# so\n");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (
        text, i % 7 ? "%u.jpg\t%u\n" : "\n%u.jpg\t%u\n", i, i * 2);
  write_list (f->list, text, LONG_AGO);
}

/* Makes a list with text labels. */
static void
make_text_list (Fixture *f, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%u.jpg\t%s\n", i, i % 3 ? "dog" : "an emu");
  write_list (f->list, text, LONG_AGO);
}

static SpdlList *
open_list (const gchar *path, SpdlSidecarUse use)
{
  const SpdlDatasetOptions options = { { TRUE }, NULL, use };
  g_autoptr (GError) error = NULL;
  SpdlList *list = spdl_list_open (path, &options, &error);

  g_assert_no_error (error);
  return list;
}

static void
assert_item (SpdlList *list, guint64 i, const gchar *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *wanted = g_strdup_printf ("%s%u.jpg", name, (guint) i);
  GstStructure *extra;
  gint64 label;
  g_autofree gchar *path = spdl_list_get_item (list, i, &label, &extra, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (path, ==, wanted);
  g_assert_cmpint (label, ==, i * 2);
  g_clear_pointer (&extra, gst_structure_free);
}

/* Checks all items in order, in reverse, with strides and at random. */
static void
assert_all (SpdlList *list, const gchar *name)
{
  SpdlRandom random = { { 1, 2, 3, 4 } };

  g_assert_cmpuint (spdl_list_get_size (list), ==, N_ITEMS);
  for (guint i = 0; i < N_ITEMS; i++)
    assert_item (list, i, name);
  for (guint i = N_ITEMS; i > 0; i--)
    assert_item (list, i - 1, name);
  for (guint i = 0; i < N_ITEMS; i += 5)
    assert_item (list, i, name);
  for (guint i = 0; i < N_ITEMS; i++)
    assert_item (list, spdl_random_below (&random, N_ITEMS), name);
}

/* Tests that the index is thinned out when it is full. */
static void
test_bound (Fixture *f, gconstpointer data)
{
  for (guint max = 2; max <= 16; max += 2) {
    SpdlIndex *index = spdl_index_new (max);
    guint64 offset, end;
    guint n;

    for (guint64 i = 0; i < 5000; i++) {
      spdl_index_add (index, i * i);
      spdl_index_get_offsets (index, &n);
      g_assert_cmpuint (n, <=, max);
      g_assert_cmpuint (n, ==, (i >> spdl_index_get_shift (index)) + 1);
      g_assert_cmpuint (
          spdl_index_get_shift (index), <, SPDL_INDEX_FIRST_SHIFT + 10);
    }
    for (guint64 i = 0; i < 5000; i++) {
      guint64 item = spdl_index_find (index, i, &offset, &end);

      g_assert_cmpuint (item, <=, i);
      g_assert_cmpuint (
          i - item, <, G_GUINT64_CONSTANT (1) << spdl_index_get_shift (index));
      g_assert_cmpuint (offset, ==, item * item);
      item += G_GUINT64_CONSTANT (1) << spdl_index_get_shift (index);
      g_assert_cmpuint (end, ==, item < 5000 ? item * item : G_MAXUINT64);
    }
    spdl_index_free (index);
  }
}

/* Tests more items than fit in 32 bits. */
static void
test_many (Fixture *f, gconstpointer data)
{
  const guint64 n = (G_GUINT64_CONSTANT (1) << 33) + 5;
  guint64 *offsets = g_new (guint64, 9);
  SpdlIndex *index;
  guint64 offset, end;

  for (guint i = 0; i < 9; i++)
    offsets[i] = i * (G_GUINT64_CONSTANT (1) << 36);
  index = spdl_index_new_from_memory (offsets, offsets, n, 30);
  g_assert_cmpuint (spdl_index_get_size (index), ==, n);
  g_assert_cmpuint (spdl_index_find (index, n - 1, &offset, &end), ==, n - 5);
  g_assert_cmpuint (offset, ==, offsets[8]);
  g_assert_cmpuint (end, ==, G_MAXUINT64);
  g_assert_cmpuint (spdl_index_find (index, n - 6, &offset, &end), ==,
      G_GUINT64_CONSTANT (7) << 30);
  g_assert_cmpuint (end, ==, offsets[8]);
  spdl_index_free (index);
}

static void
test_order (Fixture *f, gconstpointer data)
{
  SpdlList *list;

  make_list (f, N_ITEMS);
  list = open_list (f->list, SPDL_SIDECAR_NONE);
  assert_all (list, "");
  spdl_list_free (list);
  g_assert_false (g_file_test (f->sidecar, G_FILE_TEST_EXISTS));
}

/* Tests records that span lines, and one that is longer than a block. */
static void
test_csv (Fixture *f, gconstpointer data)
{
  g_autofree gchar *path = g_build_filename (f->folder, "a.csv", NULL);
  g_autofree gchar *caption = g_strnfill (40000, 'x');
  g_autoptr (GString) text = g_string_new ("label,caption,uri\n");
  SpdlList *list;

  for (guint i = 0; i < N_ITEMS; i++)
    g_string_append_printf (text,
        "%s%u,\"\303\251, \"\"\n%s\n\",\"\n%u.jpg\"\r\n", i % 7 ? "" : "  \n\n",
        i * 2, i % 100 == 50 ? caption : "", i);
  g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
  list = open_list (path, SPDL_SIDECAR_NONE);
  assert_all (list, "\n");
  spdl_list_free (list);
  g_unlink (path);
}

/* Tests objects with and without blanks and escapes, and one that is longer
 * than a block. */
static void
test_jsonl (Fixture *f, gconstpointer data)
{
  g_autofree gchar *path = g_build_filename (f->folder, "a.jsonl", NULL);
  g_autofree gchar *caption = g_strnfill (80000, 'x');
  g_autoptr (GString) text = g_string_new (NULL);
  SpdlList *list;

  for (guint i = 0; i < N_ITEMS; i++)
    g_string_append_printf (text,
        i % 2
            ? "{\"label\":%u,\"caption\":\"\\u00e9%s\",\"uri\":\"\\/%u.jpg\"}\n"
            : "\r\n{ \"label\" : \"%u\", \"x\": [{}, \"%s\"], \"uri\": "
              "\"\\u002f%u.jpg\" }\r\n",
        i * 2, i % 100 == 51 ? caption : "", i);
  g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
  list = open_list (path, SPDL_SIDECAR_NONE);
  assert_all (list, "/");
  spdl_list_free (list);
  g_unlink (path);
}

/* Tests that an index belongs to the column of the URI. */
static void
test_uri_column (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  SpdlDatasetOptions options = { .sidecar = SPDL_SIDECAR_ALWAYS,
    .uri = "image" };
  g_autoptr (GError) error = NULL;
  SpdlList *list;

  g_free (f->list);
  g_free (f->sidecar);
  f->list = g_build_filename (f->folder, "a.jsonl", NULL);
  f->sidecar = g_build_filename (f->folder, ".a.jsonl.spdl-index", NULL);
  for (guint i = 0; i < N_ITEMS; i++)
    g_string_append_printf (text,
        i % 3 ? "{\"image\":\"%u\",\"uri\":\"a\"}\n" : "{\"image\":\"%u\"}\n",
        i);
  write_list (f->list, text, LONG_AGO);
  list = spdl_list_open (f->list, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (spdl_list_get_size (list), ==, N_ITEMS);
  spdl_list_free (list);
  g_assert_true (was_logged (f, "was written to"));
  list = spdl_list_open (f->list, &options, &error);
  g_assert_no_error (error);
  g_assert_true (was_logged (f, "has the index"));
  spdl_list_free (list);
  options.uri = NULL;
  g_assert_null (spdl_list_open (f->list, &options, &error));
  g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
  g_assert_true (g_pattern_match_simple ("* line 1: *\"uri\"*(334 malformed "
                                         "lines, of 1000)",
      error->message));
  g_assert_true (was_logged (f, "uri-column"));
}

/* Tests that a list gives the same items with and without a sidecar. */
static void
test_sidecar (Fixture *f, gconstpointer data)
{
  SpdlList *list;
  guint64 hash;

  make_list (f, N_ITEMS);
  list = open_list (f->list, SPDL_SIDECAR_ALWAYS);
  hash = spdl_list_get_hash (list);
  spdl_list_free (list);
  g_assert_true (g_file_test (f->sidecar, G_FILE_TEST_EXISTS));
  g_assert_true (was_logged (f, "was written to"));
  g_assert_false (was_logged (f, "has the index"));

  list = open_list (f->list, SPDL_SIDECAR_ALWAYS);
  g_assert_true (was_logged (f, "has the index"));
  g_assert_cmpuint (spdl_list_get_hash (list), ==, hash);
  assert_all (list, "");
  spdl_list_free (list);

  list = open_list (f->list, SPDL_SIDECAR_NONE);
  g_assert_cmpuint (spdl_list_get_hash (list), ==, hash);
  spdl_list_free (list);
}

/* Tests the documented format, so that versions can read each other's
 * indexes. */
static void
test_format (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("uri,label\n");
  g_autofree gchar *path = g_build_filename (f->folder, "a.csv", NULL);
  g_autofree gchar *sidecar =
      g_build_filename (f->folder, ".a.csv.spdl-index", NULL);
  g_autofree gchar *content = NULL;
  gsize size;

  for (guint i = 0; i < 33; i++)
    g_string_append_printf (text, "%02u,1\n", i);
  write_list (path, text, LONG_AGO);
  spdl_list_free (open_list (path, SPDL_SIDECAR_ALWAYS));
  g_assert_true (g_file_get_contents (sidecar, &content, &size, NULL));
  g_assert_cmpuint (size, ==, 120 + 2 * 8);
  const guint64 words[] = { G_GUINT64_CONSTANT (0x037864696c647073),
    G_GUINT64_CONSTANT (0x500000001), 10 + 33 * 5, LONG_AGO, 123456789 };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    g_assert_cmpuint (GUINT64_FROM_LE (((guint64 *) content)[i]), ==, words[i]);
  g_assert_cmpuint (GUINT64_FROM_LE (((guint64 *) content)[7]), ==, 33);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (
        GUINT64_FROM_LE (((guint64 *) content)[15 + i]), ==, 10 + i * 32 * 5);
  g_unlink (path);
  g_unlink (sidecar);
}

/* Writes the sidecar without g_file_set_contents(), which would call
 * fsync(). */
static void
write_sidecar (const Fixture *f, const gchar *content, gsize size)
{
  const int fd = open (f->sidecar, O_WRONLY | O_TRUNC);

  g_assert_cmpint (write (fd, content, size), ==, size);
  close (fd);
}

/* Tests that a truncated index or one with a flipped bit is ignored and
 * replaced. */
static void
test_damaged (Fixture *f, gconstpointer data)
{
  g_autofree gchar *content = NULL, *again = NULL;
  gsize size, size_again;

  make_text_list (f, N_ITEMS);
  spdl_list_free (open_list (f->list, SPDL_SIDECAR_ALWAYS));
  g_assert_true (g_file_get_contents (f->sidecar, &content, &size, NULL));
  g_ptr_array_set_size (f->logged, 0);
  for (gsize i = 0; i < size; i++) {
    SpdlTextFile file;
    guint64 hash;

    g_assert_true (spdl_text_file_open (&file, f->list, NULL));
    content[i] ^= 1 << i % 8;
    write_sidecar (f, content, size);
    g_assert_null (spdl_sidecar_load (&file, TRUE, 0, 0, &hash));
    content[i] ^= 1 << i % 8;
    write_sidecar (f, content, i);
    g_assert_null (spdl_sidecar_load (&file, TRUE, 0, 0, &hash));
    spdl_text_file_close (&file);
  }
  g_assert_cmpuint (f->logged->len, ==, 2 * size);
  g_assert_true (was_logged (f, "is ignored: the index is cut off"));
  g_assert_true (was_logged (f, "is ignored: the offsets are damaged"));
  g_assert_true (was_logged (f, "is ignored: the class names are damaged"));

  SpdlList *list = open_list (f->list, SPDL_SIDECAR_ALWAYS);
  g_assert_cmpuint (spdl_list_get_size (list), ==, N_ITEMS);
  spdl_list_free (list);
  g_assert_true (g_file_get_contents (f->sidecar, &again, &size_again, NULL));
  g_assert_cmpmem (again, size_again, content, size);
}

static void
assert_stale (Fixture *f, const gchar *why)
{
  SpdlList *list;

  g_ptr_array_set_size (f->logged, 0);
  list = open_list (f->list, SPDL_SIDECAR_ALWAYS);
  g_assert_true (was_logged (f, why));
  g_assert_true (was_logged (f, "was written to"));
  assert_all (list, "");
  spdl_list_free (list);
}

/* Tests that a rewritten list is detected by its size, time or contents. */
static void
test_stale (Fixture *f, gconstpointer data)
{
  static const gchar changed[] = "is ignored: the list has changed";
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gchar *content = NULL;
  gsize size;

  make_list (f, 16);
  spdl_list_free (open_list (f->list, SPDL_SIDECAR_ALWAYS));
  make_list (f, N_ITEMS);
  assert_stale (f, changed);

  g_assert_true (g_file_get_contents (f->list, &content, &size, NULL));
  g_string_append_len (text, content, size);
  write_list (f->list, text, LONG_AGO + 1);
  assert_stale (f, changed);

  /* Other contents of the same size, with the modification time set back. */
  content[2] = 'S';
  g_string_overwrite (text, 0, content);
  write_list (f->list, text, LONG_AGO + 1);
  assert_stale (f, "is ignored: the index belongs to another list");
}

/* Tests that labels which the index has not checked yet are checked. */
static void
test_labels (Fixture *f, gconstpointer data)
{
  const SpdlDatasetOptions without = { { FALSE }, NULL, SPDL_SIDECAR_ALWAYS };
  const SpdlDatasetOptions with = { { TRUE }, NULL, SPDL_SIDECAR_ALWAYS };
  g_autoptr (GString) text = g_string_new ("uri,label\na,1\nb,cat\n");
  g_autofree gchar *path = g_build_filename (f->folder, "a.csv", NULL);
  g_autofree gchar *sidecar =
      g_build_filename (f->folder, ".a.csv.spdl-index", NULL);
  g_autoptr (GError) error = NULL;
  SpdlList *list;

  write_list (path, text, LONG_AGO);
  list = spdl_list_open (path, &without, &error);
  g_assert_no_error (error);
  spdl_list_free (list);
  g_assert_null (spdl_list_open (path, &with, &error));
  g_assert_true (
      errors_has (error, "[resource-error read]|\"cat\"|\"b\"|label"));
  g_unlink (path);
  g_unlink (sidecar);
}

static SpdlClasses *
make_classes (const gchar *list)
{
  g_auto (GStrv) names = g_strsplit (list, ",", -1);

  return spdl_classes_new_from_names ((const gchar *const *) names, NULL);
}

/* @classes: (nullable): the given classes; @wanted: the classes in use and the
 * labels */
static void
assert_labels (Fixture *f, const gchar *classes, const gchar *wanted)
{
  g_autoptr (SpdlClasses) given = classes ? make_classes (classes) : NULL;
  const SpdlDatasetOptions options = { { TRUE, .classes = given }, NULL,
    SPDL_SIDECAR_ALWAYS };
  g_autoptr (GError) error = NULL;
  SpdlList *list = spdl_list_open (f->list, &options, &error);
  GString *got = g_string_new (NULL);

  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++) {
    GstStructure *extra;
    gint64 label;

    g_free (spdl_list_get_item (list, i, &label, &extra, &error));
    g_assert_no_error (error);
    g_string_append_printf (got, " %d", (gint) label);
  }
  g_autofree gchar *names = g_strjoinv (
      ",", (GStrv) spdl_classes_get_names (spdl_list_get_classes (list)));
  g_string_prepend (got, names);
  g_assert_cmpstr (got->str, ==, wanted);
  g_string_free (got, TRUE);
  spdl_list_free (list);
}

/* Tests that the index stores the classes, and is valid only for the same given
 * classes. */
static void
test_classes (Fixture *f, gconstpointer data)
{
  static const gchar other[] =
      "is ignored: the index was made for other classes";
  g_autoptr (GString) text =
      g_string_new ("a\tdog\nb\tan emu, \303\251\nc\tcat\n");

  write_list (f->list, text, LONG_AGO);
  assert_labels (f, NULL, "an emu, \303\251,cat,dog 2 0 1");
  g_assert_true (was_logged (f, "was written to"));
  g_ptr_array_set_size (f->logged, 0);
  assert_labels (f, NULL, "an emu, \303\251,cat,dog 2 0 1");
  g_assert_true (was_logged (f, "has the index"));

  g_string_assign (text, "a\tdog\nb\temu\nc\tcat\n");
  write_list (f->list, text, LONG_AGO);
  assert_labels (f, "dog,cat,emu", "dog,cat,emu 0 2 1");
  g_ptr_array_set_size (f->logged, 0);
  assert_labels (f, "dog,cat,emu", "dog,cat,emu 0 2 1");
  g_assert_true (was_logged (f, "has the index"));
  assert_labels (f, "emu,cat,dog", "emu,cat,dog 2 0 1");
  g_assert_true (was_logged (f, other));
  g_ptr_array_set_size (f->logged, 0);
  assert_labels (f, NULL, "cat,dog,emu 1 2 0");
  g_assert_true (was_logged (f, other));
}

/* Tests an index of version 1, which had no classes: text after a tab was part
 * of the path. */
static void
test_old_version (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("a\tdog\nb\temu\nc\tcat\n");
  guint64 old[11] = { GUINT64_TO_LE (G_GUINT64_CONSTANT (0x017864696c647073)),
    GUINT64_TO_LE (G_GUINT64_CONSTANT (0x500000001)) };
  const guint64 offset = 0;
  SpdlTextFile list;

  write_list (f->list, text, LONG_AGO);
  g_assert_true (spdl_text_file_open (&list, f->list, NULL));
  old[2] = GUINT64_TO_LE (list.stamp.size);
  old[3] = GUINT64_TO_LE (list.stamp.seconds);
  old[4] = GUINT64_TO_LE (list.stamp.nanoseconds);
  old[5] = GUINT64_TO_LE (spdl_text_file_hash_samples (&list));
  old[6] = GUINT64_TO_LE (spdl_fingerprint_add (0, text->str, text->len));
  old[7] = GUINT64_TO_LE (3);
  old[8] = GUINT64_TO_LE (spdl_fingerprint_add (0, &offset, sizeof offset));
  old[9] = GUINT64_TO_LE (spdl_fingerprint_add (0, old, 72));
  spdl_text_file_close (&list);
  g_assert_true (
      g_file_set_contents (f->sidecar, (const gchar *) old, sizeof old, NULL));
  assert_labels (f, NULL, "cat,dog,emu 1 2 0");
  g_assert_true (was_logged (f, "has another version"));
  g_assert_true (was_logged (f, "was written to"));
  g_ptr_array_set_size (f->logged, 0);
  assert_labels (f, NULL, "cat,dog,emu 1 2 0");
  g_assert_true (was_logged (f, "has the index"));
}

/* Tests that with index-cache=auto only large lists get a sidecar. */
static void
test_auto (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  SpdlList *list;

  make_list (f, N_ITEMS);
  spdl_list_free (open_list (f->list, SPDL_SIDECAR_AUTO));
  g_assert_false (g_file_test (f->sidecar, G_FILE_TEST_EXISTS));
  while (text->len < SPDL_SIDECAR_MIN_SIZE)
    g_string_append (text, "the same name again and again.jpg\n");
  write_list (f->list, text, LONG_AGO);
  list = open_list (f->list, SPDL_SIDECAR_AUTO);
  g_assert_true (g_file_test (f->sidecar, G_FILE_TEST_EXISTS));
  /* The list was hashed in blocks. */
  g_assert_cmpuint (spdl_list_get_hash (list), ==,
      spdl_fingerprint_add (0, text->str, text->len));
  spdl_list_free (list);
}

/* Tests that no index is stored for a list that was just written. It may change
 * again without a later time. */
static void
test_unsettled (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("a\nb\n");

  write_list (f->list, text, g_get_real_time () / G_USEC_PER_SEC);
  spdl_list_free (open_list (f->list, SPDL_SIDECAR_ALWAYS));
  g_assert_false (g_file_test (f->sidecar, G_FILE_TEST_EXISTS));
}

static guint
count_cached (const gchar *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  if (!dir)
    return 0;
  for (const gchar *name; (name = g_dir_read_name (dir)); n++) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);

    g_assert_true (g_str_has_suffix (name, ".spdl-index"));
    g_unlink (path);
  }
  g_dir_close (dir);
  return n;
}

/* Tests that the index is stored in the cache folder if it cannot be stored
 * next to the list, and otherwise kept in memory. A folder with the name of the
 * sidecar prevents this, also for root. */
static void
test_elsewhere (Fixture *f, gconstpointer data)
{
  g_autofree gchar *cache =
      g_build_filename (g_get_user_cache_dir (), "gst-spdl", NULL);
  SpdlList *list;

  make_list (f, N_ITEMS);
  g_assert_cmpint (g_mkdir (f->sidecar, 0700), ==, 0);
  spdl_list_free (open_list (f->list, SPDL_SIDECAR_ALWAYS));
  g_assert_true (was_logged (f, "failed to write"));
  g_assert_false (was_logged (f, "has the index"));
  list = open_list (f->list, SPDL_SIDECAR_ALWAYS);
  g_assert_true (was_logged (f, "has the index"));
  assert_all (list, "");
  spdl_list_free (list);
  g_assert_cmpuint (count_cached (cache), ==, 1);

  g_assert_cmpint (g_rmdir (cache), ==, 0);
  g_assert_true (g_file_set_contents (cache, "", 0, NULL));
  list = open_list (f->list, SPDL_SIDECAR_ALWAYS);
  assert_all (list, "");
  spdl_list_free (list);
  g_unlink (cache);
  g_assert_cmpint (g_rmdir (f->sidecar), ==, 0);
}

typedef void (*Change) (const gchar *path);

static void
change_nothing (const gchar *path)
{
  g_assert_cmpint (g_chmod (path, 0400), ==, 0);
}

static void
cut_off (const gchar *path)
{
  g_assert_cmpint (truncate (path, 0), ==, 0);
}

static void
append (const gchar *path)
{
  FILE *file = g_fopen (path, "a");

  fputs ("more\n", file);
  fclose (file);
}

static void
overwrite (const gchar *path)
{
  const int fd = open (path, O_WRONLY);

  g_assert_cmpint (pwrite (fd, "#", 1, 1000), ==, 1);
  close (fd);
}

/* Renames another list over this one; the open file stays unchanged. */
static void
replace (const gchar *path)
{
  g_autofree gchar *aside = g_strconcat (path, ".new", NULL);

  g_assert_true (g_file_set_contents (aside, "other\n", -1, NULL));
  g_assert_cmpint (g_rename (aside, path), ==, 0);
}

/* Tests that a change to a list in use fails with an error that names the
 * list. */
static void
test_changed (Fixture *f, gconstpointer data)
{
  static const struct {
    Change change;
    gboolean refused;
  } changes[] = { { change_nothing, FALSE }, { replace, FALSE },
    { cut_off, TRUE }, { append, TRUE }, { overwrite, TRUE } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (changes); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree gchar *path = NULL;
    GstStructure *extra;
    gint64 label;
    SpdlList *list;

    make_list (f, N_ITEMS);
    list = open_list (f->list, i % 2 ? SPDL_SIDECAR_ALWAYS : SPDL_SIDECAR_NONE);
    assert_item (list, 500, "");
    changes[i / 2].change (f->list);
    if (!changes[i / 2].refused)
      assert_all (list, "");
    else
      path = spdl_list_get_item (list, 501, &label, &extra, &error);
    g_assert_null (path);
    if (changes[i / 2].refused) {
      g_assert_nonnull (error);
      g_assert_true (errors_has (error, f->list));
      g_assert_true (errors_has (error, "[resource-error read]"));
    }
    spdl_list_free (list);
  }
}

/* Tests an index that is intact, but has wrong offsets. */
static void
test_wrong_offsets (Fixture *f, gconstpointer data)
{
  const SpdlDatasetOptions options = { { TRUE }, NULL, SPDL_SIDECAR_ALWAYS };
  g_autoptr (GError) error = NULL;
  SpdlIndex *index = spdl_index_new (SPDL_INDEX_MAX_ENTRIES);
  GstStructure *extra;
  SpdlTextFile file;
  SpdlList *list;
  gint64 label;

  make_list (f, N_ITEMS);
  g_assert_true (spdl_text_file_open (&file, f->list, NULL));
  for (guint i = 0; i < N_ITEMS; i++)
    spdl_index_add (index, i < 990 ? i : file.stamp.size - 30);
  g_assert_true (spdl_sidecar_store (&file, index, TRUE, 0, 0, 1));
  spdl_text_file_close (&file);
  spdl_index_free (index);
  list = spdl_list_open (f->list, &options, &error);
  g_assert_no_error (error);
  g_assert_null (
      spdl_list_get_item (list, N_ITEMS - 1, &label, &extra, &error));
  g_assert_true (errors_has (error, f->list));
  g_assert_true (errors_has (error, "[resource-error read]|999"));
  spdl_list_free (list);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *cache = g_dir_make_tmp ("spdl-cache-XXXXXX", NULL);
  int failed;

  /* GLib reads the variable only once. */
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  gst_init (&argc, &argv);
  gst_debug_remove_log_function (gst_debug_log_default);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) \
  g_test_add ("/index/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("bound", test_bound);
  ADD ("many", test_many);
  ADD ("order", test_order);
  ADD ("csv", test_csv);
  ADD ("jsonl", test_jsonl);
  ADD ("uri-column", test_uri_column);
  ADD ("sidecar", test_sidecar);
  ADD ("format", test_format);
  ADD ("damaged", test_damaged);
  ADD ("stale", test_stale);
  ADD ("labels", test_labels);
  ADD ("classes", test_classes);
  ADD ("old-version", test_old_version);
  ADD ("auto", test_auto);
  ADD ("unsettled", test_unsettled);
  ADD ("elsewhere", test_elsewhere);
  ADD ("changed", test_changed);
  ADD ("wrong-offsets", test_wrong_offsets);
  failed = g_test_run ();
  g_rmdir (cache);
  return failed;
}
