/* gst-spdl: tests of spdlfetch's cache: damaged entries, write errors and
 * eviction
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/support/cached.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* Damaged entries */

#define HEAD 104
#define TAG 4 /* "v0" */

typedef void (*DamageFunc) (const gchar *path, guint i);

/* Damages each of @n entries. Checks that no damaged entry is used, even
 * without validation, and that new entries replace them. */
static void
check_damage (guint n, gsize size, DamageFunc damage)
{
  g_autoptr (GPtrArray) files = NULL;

  files_remove_folder (g_build_filename (cached_folder, "cache", NULL));
  cached_write_many ("kept", n, size);
  cached_expect ("", n, 0, 0);
  files = cached_list_files (FALSE);
  fail_unless_equals_int (files->len, n);
  for (guint i = 0; i < n; i++)
    damage (g_ptr_array_index (files, i), i);
  cached_expect ("cache-validate=none", n, 0, 0);
  cached_expect ("cache-validate=none", n, 0, n);
  cached_expect ("", n, 0, n);
}

static void
flip_byte (const gchar *path, guint i)
{
  g_autofree gchar *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  data[i] ^= 1 << i % 8;
  g_assert_true (g_file_set_contents (path, data, size, NULL));
}

static void
cut_off (const gchar *path, guint i)
{
  g_assert_cmpint (truncate (path, i), ==, 0);
}

static void
lengthen (const gchar *path, guint i)
{
  g_assert_cmpint (truncate (path, HEAD + TAG + 40 + 1 + i), ==, 0);
}

/* Simulates a power loss: the file has its full length, but its blocks are
 * zeros. */
static void
blank (const gchar *path, guint i)
{
  g_assert_cmpint (truncate (path, i), ==, 0);
  g_assert_cmpint (truncate (path, HEAD + TAG + 40), ==, 0);
}

static void
replace (const gchar *path, guint i)
{
  const gchar *const others[] = { "", "not an entry", "spdlitm\1", "\177ELF" };

  g_assert_true (
      g_file_set_contents (path, others[i % G_N_ELEMENTS (others)], -1, NULL));
}

/* Swaps the names of each pair of entries. */
static void
rotate (const gchar *path, guint i)
{
  static gchar *last = NULL;
  g_autofree gchar *data = NULL;
  gsize size;

  if (i % 2 == 0) {
    g_free (last);
    last = g_strdup (path);
    return;
  }
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_assert_cmpint (rename (last, path), ==, 0);
  g_assert_true (g_file_set_contents (last, data, size, NULL));
}

GST_START_TEST (test_damage)
{
  const guint n = HEAD + TAG + 40;

  check_damage (n, 40, flip_byte);
  check_damage (n, 40, cut_off);
  check_damage (10, 40, lengthen);
  /* The last bytes of some bodies may be zeros anyway. */
  check_damage (n - 40, 40, blank);
  check_damage (8, 40, replace);
  check_damage (8, 40, rotate);
}

GST_END_TEST;

/* Tests that entries that cannot be written are counted and cause one warning
 * and no failure. */
GST_START_TEST (test_no_room)
{
  CachedLoad *load;

  for (guint i = 0; i < 256; i++) {
    g_autofree gchar *name = g_strdup_printf ("cache/%02x", i);

    files_write_text (cached_folder, name, "no folder");
  }
  cached_write_many ("kept", 20, 1000);
  for (guint i = 0; i < 2; i++) {
    load = cached_load_again ("");
    cached_assert_whole (load, 20, 0);
    fail_unless_equals_uint64 (load->errors, 20);
    fail_unless_equals_uint64 (load->misses, 20);
    fail_unless_equals_int (load->warnings->len, 1);
    fail_unless (
        errors_text_has (g_ptr_array_index (load->warnings, 0), "cache-dir"));
    cached_load_free (load);
  }
}

GST_END_TEST;

GST_START_TEST (test_no_folder)
{
  CachedLoad *load;

  cached_write_many ("kept", 2, 10);
  files_write_text (cached_folder, "cache", "a file");
  load = cached_load_again ("");
  fail_unless (load->error && errors_text_has (load->error, "cache-dir"), "%s",
      load->error);
  fail_unless_equals_int (load->buffers->len, 0);
  cached_load_free (load);
}

GST_END_TEST;

/* Eviction */

/* Sets the last use of the entries that are not in @seen yet to @hours ago. */
static void
make_older (GHashTable *seen, guint hours)
{
  g_autoptr (GPtrArray) files = cached_list_files (FALSE);

  for (guint i = 0; i < files->len; i++) {
    gchar *path = g_ptr_array_index (files, i);
    struct timespec times[2] = { { time (NULL) - hours * 3600, 0 } };

    times[1] = times[0];
    if (!g_hash_table_add (seen, g_strdup (path)))
      continue;
    g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
  }
}

static void
load_one (guint i, const gchar *more, guint64 hits)
{
  g_autofree gchar *path = g_strdup_printf ("/kept/0/10000/%u", i);
  const gchar *paths[] = { path };

  cached_expect_paths (paths, 1, more, 0, hits);
}

GST_START_TEST (test_oldest_goes)
{
  /* Room for ten entries of three blocks each. */
  const gchar *more = "cache-size=122880 cache-validate=none";
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < 10; i++) {
    load_one (i, more, 0);
    make_older (seen, 100 - i);
  }
  load_one (0, more, 1);
  fail_unless_equals_int (cached_count_files (FALSE), 10);
  /* Eviction stops at 7/8 of the size, which is 8 entries: it removes 1, 2 and
   * 3. */
  load_one (10, more, 0);
  fail_unless_equals_int (cached_count_files (FALSE), 8);
  for (guint i = 0; i < 11; i++)
    if (i < 1 || i > 3)
      load_one (i, more, 1);
  for (guint i = 1; i < 3; i++)
    load_one (i, more, 0);
  fail_unless_equals_uint64 (cached_sum_files (), 122880);

  /* An entry over the size of the cache is not kept and evicts no other.
   * Entries over a lowered limit are evicted, unless the run ends before. */
  do
    load_one (20, "cache-size=8192", 0);
  while (cached_count_files (FALSE) > 0);
  load_one (20, "cache-size=0", 0);
  fail_unless_equals_int (cached_count_files (FALSE), 1);
}

GST_END_TEST;

GST_START_TEST (test_bound)
{
  const guint64 bound = 1000000;

  cached_write_many ("kept", 300, 10000);
  for (guint i = 0; i < 3; i++) {
    CachedLoad *load = cached_load_again ("cache-size=1000000");

    cached_assert_whole (load, 300, 0);
    cached_load_free (load);
    fail_unless (cached_sum_files () <= bound, "%" G_GUINT64_FORMAT,
        cached_sum_files ());
    fail_unless (
        cached_count_files (FALSE) > 40, "%u", cached_count_files (FALSE));
  }
}

GST_END_TEST;

/* The recorded size */

/* Fetches an item, and waits until no thread counts files any more. */
static void
expect_idle (void)
{
  g_autofree gchar *cache = g_build_filename (cached_folder, "cache", NULL);
  Rig *rig = rig_new ("spdlfetch", "cache-dir", cache, "cache-size",
      G_GUINT64_CONSTANT (1000000), NULL);
  GstBuffer *item =
      rig_make_uri_item (0, server_get_base (cached_server), "/kept/0/1000/0");

  rig_start (rig, "text/uri-list");
  fail_unless_equals_int (gst_pad_push (rig->src, item), GST_FLOW_OK);
  rig_wait_items (rig, 1);
  wait_until_asleep ();
  rig_free (rig);
}

/* Tests that a damaged total is replaced by that of the next count. */
GST_START_TEST (test_damaged_size)
{
  g_autofree gchar *path =
      g_build_filename (cached_folder, "cache", ".spdl-size", NULL);
  const guint64 damaged[] = { G_MAXUINT64, (guint64) G_MAXINT64 + 1, G_MAXINT64,
    1 };

  cached_write_many ("kept", 1, 1000);
  cached_expect ("", 1, 0, 0);
  for (guint i = 0; i < G_N_ELEMENTS (damaged); i++) {
    const guint64 size = GUINT64_TO_LE (damaged[i]);
    g_autofree gchar *data = NULL;
    gsize n;

    files_write (cached_folder, "cache/.spdl-size", &size, sizeof size);
    expect_idle ();
    fail_unless (g_file_get_contents (path, &data, &n, NULL));
    fail_unless_equals_uint64 (n, sizeof size);
    fail_unless_equals_uint64 (
        GUINT64_FROM_LE (*(guint64 *) data), cached_sum_files ());
  }
}

GST_END_TEST;

/* Tests a total above the limit that cannot be written. */
GST_START_TEST (test_fixed_size)
{
  const guint64 size = GUINT64_TO_LE (2000000);
  const struct rlimit none = { 0, RLIM_INFINITY };
  struct rlimit limit;

  files_write (cached_folder, "cache/.spdl-size", &size, sizeof size);
  fail_unless_equals_int (getrlimit (RLIMIT_FSIZE, &limit), 0);
  signal (SIGXFSZ, SIG_IGN);
  fail_unless_equals_int (setrlimit (RLIMIT_FSIZE, &none), 0);
  expect_idle ();
  fail_unless_equals_int (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

GST_END_TEST;

/* Other users */

static gchar *
make_path (const gchar *name)
{
  return g_build_filename (cached_folder, "cache", name, NULL);
}

/* Loads the last list with @more; the start must fail if @is_refused. */
static void
expect_start (const gchar *more, gboolean is_refused)
{
  CachedLoad *load = cached_load_again (more);

  if (is_refused)
    fail_unless (load->error && errors_text_has (load->error,
                                    "[resource-error settings]|cache-dir|"
                                    "cache-shared"),
        "%s", load->error);
  else
    cached_assert_whole (load, 1, 0);
  cached_load_free (load);
}

/* Tests that a folder which others can write is refused, unless it is shared,
 * and that a new folder is private. */
GST_START_TEST (test_writers)
{
  static const struct {
    mode_t mode;
    gboolean is_refused;
  } folders[] = { { 0700, FALSE }, { 0755, FALSE }, { 0720, TRUE },
    { 0702, TRUE }, { 0775, TRUE }, { 01777, TRUE }, { 02770, TRUE } };
  g_autofree gchar *cache = make_path (NULL);
  struct stat st;

  cached_write_many ("kept", 1, 1000);
  umask (002);
  cached_expect ("", 1, 0, 0);
  fail_unless_equals_int (stat (cache, &st), 0);
  fail_unless_equals_int_hex (st.st_mode & 07777, 0700);
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    fail_unless_equals_int (chmod (cache, folders[i].mode), 0);
    expect_start ("", folders[i].is_refused);
    cached_expect ("cache-shared=true", 1, 0, 1);
  }
}

GST_END_TEST;

/* Tests the folder of another user. Only the superuser can make one. */
GST_START_TEST (test_owner)
{
  g_autofree gchar *cache = make_path (NULL);

  if (geteuid () != 0)
    return;
  cached_write_many ("kept", 1, 1000);
  fail_unless_equals_int (chmod (cached_folder, 0755), 0);
  fail_unless_equals_int (g_mkdir (cache, 0755), 0);
  fail_unless_equals_int (chown (cache, 4321, -1), 0);
  expect_start ("", FALSE);
  fail_unless_equals_int (seteuid (4322), 0);
  expect_start ("", TRUE);
  fail_unless_equals_int (seteuid (0), 0);
  fail_unless_equals_int (seteuid (4321), 0);
  expect_start ("", FALSE);
  fail_unless_equals_int (seteuid (0), 0);
  fail_unless_equals_int (chown (cache, 0, -1), 0);
  fail_unless_equals_int (seteuid (4322), 0);
  expect_start ("", FALSE);
  fail_unless_equals_int (seteuid (0), 0);
}

GST_END_TEST;

/* Tests entries that others own or may write, and an entry that is a link. */
GST_START_TEST (test_planted_entries)
{
  g_autofree gchar *moved = g_build_filename (cached_folder, "moved", NULL);
  g_autoptr (GPtrArray) files = NULL;
  const gchar *path;

  cached_write_many ("kept", 1, 1000);
  umask (0);
  cached_expect ("", 1, 0, 0);
  cached_expect ("cache-validate=none", 1, 0, 1);
  files = cached_list_files (FALSE);
  path = g_ptr_array_index (files, 0);
  fail_unless_equals_int (chmod (path, 0664), 0);
  cached_expect ("cache-validate=none cache-shared=true", 1, 0, 1);
  cached_expect ("cache-validate=none", 1, 0, 0);
  cached_expect ("cache-validate=none", 1, 0, 1);
  if (geteuid () == 0) {
    fail_unless_equals_int (chown (path, 4321, -1), 0);
    cached_expect ("cache-validate=none cache-shared=true", 1, 0, 1);
    cached_expect ("cache-validate=none", 1, 0, 0);
    cached_expect ("cache-validate=none", 1, 0, 1);
  }
  fail_unless_equals_int (rename (path, moved), 0);
  fail_unless_equals_int (symlink (moved, path), 0);
  cached_expect ("cache-validate=none cache-shared=true", 1, 0, 0);
  cached_expect ("cache-validate=none", 1, 0, 0);
  cached_expect ("cache-validate=none", 1, 0, 1);
}

GST_END_TEST;

/* Tests that nothing is written through links in the folder. */
GST_START_TEST (test_links)
{
  static const gchar *const names[] = { ".spdl-size", ".spdl-lock" };
  g_autofree gchar *victim = g_build_filename (cached_folder, "victim", NULL);

  cached_write_many ("kept", 1, 1000);
  for (guint i = 0; i < 8; i++) {
    const gchar *shared = i & 1 ? "cache-shared=true" : "";
    g_autofree gchar *path = make_path (names[i >> 1 & 1]);
    g_autofree gchar *data = NULL;
    struct stat st;

    files_write_text (cached_folder, "victim", "important data");
    g_unlink (path);
    cached_expect (shared, 1, 0, i > 0);
    g_unlink (path);
    fail_unless_equals_int (
        i & 4 ? link (victim, path) : symlink (victim, path), 0);
    cached_expect (shared, 1, 0, 1);
    expect_idle ();
    fail_unless (g_file_get_contents (victim, &data, NULL, NULL));
    fail_unless_equals_string (data, "important data");
    fail_unless (lstat (path, &st) == 0 && S_ISREG (st.st_mode));
    fail_unless_equals_int (st.st_nlink, 1);
  }
}

GST_END_TEST;

CHECK_SUITE (disk_cache_folder, FIXTURE (cached_setup, cached_teardown),
    TEST (test_damage), TEST (test_no_room), TEST (test_no_folder),
    TEST (test_oldest_goes), TEST (test_bound), TEST (test_damaged_size),
    TEST (test_fixed_size), TEST (test_writers), TEST (test_owner),
    TEST (test_planted_entries), TEST (test_links))
