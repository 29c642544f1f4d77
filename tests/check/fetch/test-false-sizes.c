/* gst-spdl: tests of sizes in files and responses that exceed the memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gst/spdl/engine/cgroup.h"
#include "tests/check/support/arrays.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/served.h"
#include "tests/check/support/tars.h"

#define TB (G_GUINT64_CONSTANT (1) << 40)
#define TB_TEXT "1099511627776"

/* Inserts a hole of @n bytes at offset @at of a file and moves the rest behind
 * it. A hole takes no disk space. */
static void
insert_hole (const gchar *name, guint64 at, guint64 n)
{
  g_autofree gchar *path = g_build_filename (served.folder, name, NULL);
  g_autofree gchar *data = NULL;
  gsize size;
  int fd;

  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  fd = g_open (path, O_RDWR | O_TRUNC, 0);
  fail_unless (fd >= 0);
  fail_unless_equals_int (pwrite (fd, data, at, 0), at);
  fail_unless_equals_int (ftruncate (fd, size + n), 0);
  fail_unless_equals_int (
      pwrite (fd, data + at, size - at, at + n), (gssize) (size - at));
  fail_unless (g_close (fd, NULL));
}

/* Checks that only item @i failed, with @part in the message. */
static void
assert_one_fails (
    Run *run, guint n_items, guint i, gint code, const gchar *part)
{
  g_autoptr (GError) error = NULL;
  const GstStructure *failure;
  guint64 index;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, n_items - 1);
  fail_unless_equals_int (run->n_dropped, 1);
  fail_unless_equals_int (run->failures->len, 1);
  failure = g_ptr_array_index (run->failures, 0);
  fail_unless (gst_structure_get (failure, "index", G_TYPE_UINT64, &index,
      "error", G_TYPE_ERROR, &error, NULL));
  fail_unless_equals_uint64 (index, i);
  fail_unless (error->domain == GST_RESOURCE_ERROR, "%s", error->message);
  fail_unless_equals_int (error->code, code);
  fail_unless (
      errors_has (error, part), "not \"%s\": %s", part, error->message);
  fail_unless (run->n_epochs > 0);
  run_free (run);
}

static void
write_three_files (void)
{
  files_write_text (served.folder, "a.txt", "aaaaa");
  files_write_text (served.folder, "b.txt", "");
  files_write_text (served.folder, "c.txt", "ccc");
  insert_hole ("b.txt", 0, TB);
}

GST_START_TEST (test_file)
{
  write_three_files ();
  assert_one_fails (
      run_pipeline ("spdlsrc location=%s ! spdlfetch ! fakesink name=sink",
          served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, TB_TEXT);
}

GST_END_TEST;

/* Tests a byte range in a URI. */
GST_START_TEST (test_range)
{
  g_autofree gchar *list = NULL;

  write_three_files ();
  list = g_strdup_printf ("a.txt\nfile://%s/b.txt#bytes=5-%" G_GUINT64_FORMAT
                          "\nfile://%s/b.txt#bytes=%" G_GUINT64_FORMAT
                          "-%" G_GUINT64_FORMAT "\n",
      served.folder, TB - 1, served.folder, TB - 4, TB - 1);
  files_write_text (served.folder, "list.txt", list);
  assert_one_fails (run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch ! "
                                  "fakesink name=sink",
                        served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, "1099511627771");
}

GST_END_TEST;

/* Sets the size in a tar header, in base 256, as octal has too few digits. */
static void
set_tar_size (GByteArray *tar, guint64 size)
{
  guint8 *header = tar->data + tar->len - 1024;
  guint sum = 0;

  memset (header + 124, 0, 12);
  header[124] = 0x80;
  for (guint i = 0; i < 8; i++)
    header[135 - i] = size >> 8 * i;
  memset (header + 148, ' ', 8);
  for (guint i = 0; i < 512; i++)
    sum += header[i];
  g_snprintf ((gchar *) header + 148, 8, "%06o", sum);
}

/* Writes a shard in which the second sample's file has a size of a terabyte.
 * @has: whether the shard has that data, as a hole */
static void
write_tar (gboolean has)
{
  Tar tar;
  gsize at;

  tar_begin (&tar);
  tar_add_text (&tar, "a.txt.jpg", "first");
  tar_add_text (&tar, "b.txt.jpg", "second");
  set_tar_size (tar.data, TB);
  at = tar.data->len;
  tar_add_text (&tar, "c.txt.jpg", "third");
  tar_end (&tar, served.folder, "s.tar");
  if (has)
    insert_hole ("s.tar", at, TB - 512);
}

GST_START_TEST (test_tar)
{
  write_tar (TRUE);
  assert_one_fails (run_pipeline ("spdlsrc location=%s/s.tar ! spdlfetch ! "
                                  "fakesink name=sink",
                        served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, TB_TEXT);
  assert_one_fails (
      run_pipeline ("spdlsrc location=%s/s.tar ! spdlaggregate size=3 ! "
                    "spdlfetch coalesce=2000000000000 ! spdldisaggregate ! "
                    "fakesink name=sink",
          served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, TB_TEXT);
}

GST_END_TEST;

/* Tests that a local shard with a false size ends the stream with an error. */
GST_START_TEST (test_false_size_in_tar)
{
  Run *run;

  write_tar (FALSE);
  run = run_pipeline ("spdlsrc location=%s/s.tar ! spdlfetch ! "
                      "fakesink name=sink",
      served.folder);
  fail_unless (run->error != NULL);
  fail_unless (errors_text_has (run->error, "b.txt.jpg"), "%s", run->error);
  run_free (run);
}

GST_END_TEST;

/* Tests that a streamed shard ends at a false size, and that the next shard
 * follows. */
GST_START_TEST (test_streamed_tar)
{
  Run *run;

  write_tar (FALSE);
  tar_write_shard (served.folder, "t.tar", 0, 4, 100);
  run = run_pipeline ("spdlsrc location=\"%s/tape/0/0/{s,t}.tar\" label=none ! "
                      "spdlfetch ! fakesink name=sink",
      server_get_base (served.server));
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1 + 4);
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (
      errors_text_has (g_ptr_array_index (run->warnings, 0), "b.txt.jpg"), "%s",
      (gchar *) g_ptr_array_index (run->warnings, 0));
  run_free (run);
}

GST_END_TEST;

static GBytes *
make_text (const gchar *text)
{
  return g_bytes_new (text, strlen (text));
}

#define NAME "b.jpg"
#define ENTRY "PK\1\2"
#define LOCAL "PK\3\4"
#define END_64 "PK\6\6"
#define LOCATOR "PK\6\7"

static void
patch (
    GBytes **file, const gchar *mark, gsize offset, gsize size, guint64 value)
{
  GBytes *patched = arrays_patch (*file, mark, 4, offset, size, value);

  g_bytes_unref (*file);
  *file = patched;
}

/* Tests a ZIP whose last file is stored and has a terabyte. */
GST_START_TEST (test_zip)
{
  const gsize n = strlen ("second"), name = strlen (NAME);
  const guint64 hole = TB - n;
  GBytes *file = arrays_make_zip (ARRAYS_ZIP64, "a.jpg", make_text ("first"),
      NAME, make_text ("second"), NULL);
  gsize size, directory = 0;
  const gchar *data = g_bytes_get_data (file, &size);

  /* The first entry of the central directory. */
  while (memcmp (data + directory, ENTRY, 4) != 0)
    directory++;
  for (guint i = 0; i < 2; i++) {
    patch (&file, LOCAL, 30 + name + 11 + 8 * i, 8, TB);
    patch (&file, ENTRY, 46 + name + 11 + 8 * i, 8, TB);
  }
  patch (&file, END_64, 48, 8, directory + hole);
  data = g_bytes_get_data (file, &size);
  for (gsize i = directory; i < size; i++) {
    if (memcmp (data + i, END_64, 4) == 0) {
      patch (&file, LOCATOR, 8, 8, i + hole);
      break;
    }
  }
  data = g_bytes_get_data (file, &size);
  files_write (served.folder, "s.zip", data, size);
  insert_hole ("s.zip", directory, hole);
  g_bytes_unref (file);
  assert_one_fails (run_pipeline ("spdlsrc location=%s/s.zip ! spdlfetch ! "
                                  "fakesink name=sink",
                        served.folder),
      2, 1, GST_RESOURCE_ERROR_READ, TB_TEXT);
}

GST_END_TEST;

/* Tests a deflated file, of which the header gives a false size. */
GST_START_TEST (test_packed_zip)
{
  static const gchar *const limits[] = { "", "max-size=-1" };
  GBytes *file = arrays_make_zip (ARRAYS_DEFLATED, "a.jpg", make_text ("first"),
      NAME, make_text ("second"), NULL);
  gconstpointer data;
  gsize size;

  patch (&file, LOCAL, 22, 4, G_MAXUINT32 - 1);
  patch (&file, ENTRY, 24, 4, G_MAXUINT32 - 1);
  data = g_bytes_get_data (file, &size);
  files_write (served.folder, "s.zip", data, size);
  g_bytes_unref (file);
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    assert_one_fails (
        run_pipeline ("spdlsrc location=%s/s.zip ! spdlfetch %s ! "
                      "fakesink name=sink",
            served.folder, limits[i]),
        2, 1, GST_RESOURCE_ERROR_READ, "");
}

GST_END_TEST;

/* Tests that a Content-Length over max-size fails without a retry. The server
 * closes the connection after 10 bytes. */
GST_START_TEST (test_server)
{
  g_autofree gchar *list = NULL;
  const gchar *base = server_get_base (served.server);

  list = g_strdup_printf (
      "%s/bytes/0/100\n%s/huge/99/10\n%s/bytes/0/200\n", base, base, base);
  files_write_text (served.folder, "list.txt", list);
  assert_one_fails (run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch ! "
                                  "fakesink name=sink",
                        served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, "max-size");
  fail_unless_equals_int (server_count_path (served.server, "/huge/99/10"), 1);
  /* Without a limit, memory is allocated as bytes arrive, and only 10
   * arrive. */
  assert_one_fails (
      run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch max-size=-1 "
                    "retries=0 ! fakesink name=sink",
          served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, "");
}

GST_END_TEST;

static void
write_bytes (const gchar *name, GBytes *bytes)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  files_write (served.folder, name, data, size);
  g_bytes_unref (bytes);
}

static GBytes *
make_npy (const gchar *shape)
{
  return arrays_make_npy (1, "'|u1'", FALSE, shape, "12345678", 8);
}

/* Writes an archive in which the header of an array gives a terabyte, then one
 * in which the directory gives it for a member. */
static void
write_npz (ArraysFlags flags, const gchar *lying_array, const gchar *lying_zip)
{
  const gsize at = strlen ("x.npy") + 11;
  GBytes *file;

  write_bytes (lying_array,
      arrays_make_zip (flags, "x.npy", make_npy ("(1048576, 1048576)"), NULL));
  file = arrays_make_zip (
      flags | ARRAYS_ZIP64, "x.npy", make_npy ("(2, 4)"), NULL);
  patch (&file, LOCAL, 30 + at, 8, TB);
  patch (&file, ENTRY, 46 + at, 8, TB);
  if (!(flags & ARRAYS_DEFLATED)) {
    patch (&file, LOCAL, 30 + at + 8, 8, TB);
    patch (&file, ENTRY, 46 + at + 8, 8, TB);
  }
  write_bytes (lying_zip, file);
}

GST_START_TEST (test_arrays)
{
  Run *run;

  write_bytes ("a.npy", make_npy ("(2, 4)"));
  write_bytes ("b.npy", make_npy ("(1048576, 1048576)"));
  write_bytes ("c.safetensors",
      arrays_make_safetensors ("{'x':{'dtype':'U8','shape':[1048576,1048576],"
                               "'data_offsets':[0," TB_TEXT "]}}",
          "12345678", 8));
  write_bytes ("d.safetensors",
      arrays_make_safetensors (
          "{'x':{'dtype':'U8','shape':[2,4],'data_offsets':[0,8]}}", "12345678",
          8));
  write_npz (0, "e.npz", "f.npz");
  write_npz (ARRAYS_DEFLATED, "g.npz", "h.npz");
  write_bytes ("i.npz",
      arrays_make_zip (ARRAYS_DEFLATED, "x.npy", make_npy ("(2, 4)"), NULL));
  run = run_pipeline (
      "spdlsrc location=%s pattern=* ! spdlfetch ! spdldecode "
      "max-decompressed-bytes=18446744073709551615 ! fakesink name=sink",
      served.folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 3);
  fail_unless_equals_int (run->failures->len, 6);
  for (guint i = 0; i < run->failures->len; i++) {
    g_autoptr (GError) error = NULL;

    gst_structure_get (g_ptr_array_index (run->failures, i), "error",
        G_TYPE_ERROR, &error, NULL);
    fail_unless (
        g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE),
        "%s", error->message);
  }
  run_free (run);
}

GST_END_TEST;

static gchar *
make_cgroup (const gchar *max)
{
  gchar *root = files_make_folder ();

  files_write_text (root, "proc/self/cgroup", "0::/jobs/a\n");
  files_write_text (root, "proc/self/mountinfo",
      "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  files_write_text (root, "sys/fs/cgroup/jobs/memory.max", max);
  return root;
}

/* Tests the default limit, a quarter of the cgroup's memory limit. */
GST_START_TEST (test_default)
{
  static const gchar *const larger[] = { "max-size=10001",
    "max-size=18446744073709551615", "max-size=-1" };
  gchar *root = make_cgroup ("40000\n");
  Run *run;

  files_write_text (served.folder, "a.txt", "aaaaa");
  files_write_text (served.folder, "b.txt", "");
  files_write_text (served.folder, "c.txt", "");
  insert_hole ("b.txt", 0, 10001);
  insert_hole ("c.txt", 0, 10000);
  spdl_cgroup_pretend (root);
  assert_one_fails (
      run_pipeline ("spdlsrc location=%s ! spdlfetch ! fakesink name=sink",
          served.folder),
      3, 1, GST_RESOURCE_ERROR_READ, "(10000)");
  for (guint i = 0; i < G_N_ELEMENTS (larger); i++) {
    run =
        run_pipeline ("spdlsrc location=%s ! spdlfetch %s ! fakesink name=sink",
            served.folder, larger[i]);
    fail_unless_equals_int (run->buffers->len, 3);
    fail_unless_equals_int (run->failures->len, 0);
    run_free (run);
  }
  spdl_cgroup_pretend (NULL);
  files_remove_folder (root);
}

GST_END_TEST;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Limits the address space to @more bytes above its current size. */
static void
limit_memory (guint64 more)
{
  g_autofree gchar *text = NULL;
  struct rlimit limit;
  guint64 n_pages;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  n_pages = g_ascii_strtoull (text, NULL, 10);
  fail_unless_equals_int (getrlimit (RLIMIT_AS, &limit), 0);
  limit.rlim_cur = n_pages * sysconf (_SC_PAGESIZE) + more;
  fail_unless_equals_int (setrlimit (RLIMIT_AS, &limit), 0);
}

/* Each test runs in a separate process, so the limit stays in force. */
GST_START_TEST (test_address_space)
{
  write_three_files ();
  /* Loads the plugins before the limit is set. */
  run_free (run_pipeline ("spdlsrc location=%s pattern=a.txt ! spdlfetch "
                          "max-size=-1 ! fakesink name=sink",
      served.folder));
  limit_memory (512 << 20);
  assert_one_fails (run_pipeline ("spdlsrc location=%s ! spdlfetch "
                                  "max-size=-1 ! fakesink name=sink",
                        served.folder),
      3, 1, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "");
}

GST_END_TEST;
#endif

static Suite *
false_sizes_suite (void)
{
  Suite *s = suite_create ("false-sizes");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, served_setup, served_teardown);
  tcase_add_test (tc, test_file);
  tcase_add_test (tc, test_range);
  tcase_add_test (tc, test_tar);
  tcase_add_test (tc, test_false_size_in_tar);
  tcase_add_test (tc, test_streamed_tar);
  tcase_add_test (tc, test_zip);
  tcase_add_test (tc, test_packed_zip);
  tcase_add_test (tc, test_server);
  tcase_add_test (tc, test_arrays);
  tcase_add_test (tc, test_default);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  tcase_add_test (tc, test_address_space);
#endif
  return s;
}

GST_CHECK_MAIN (false_sizes);
