/* gst-spdl: tests of spdlfetch's cache: concurrent processes, kills and full
 * disks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check/support/cached.h"
#include "tests/check/support/files.h"
#include "tests/check/support/wait.h"

/* Other processes */

/* Runs this program again as a child that loads the list and expects all items
 * in version 0. */
static GPid
begin_child (const gchar *more)
{
  gchar *argv[] = { (gchar *) "/proc/self/exe", NULL };
  g_auto (GStrv) env = g_get_environ ();
  g_autoptr (GError) error = NULL;
  GPid pid;

  env = g_environ_setenv (env, "SPDL_TEST_CHILD", cached_folder, TRUE);
  env = g_environ_setenv (env, "SPDL_TEST_MORE", more, TRUE);
  argv[0] = g_file_read_link ("/proc/self/exe", NULL);
  g_spawn_async (
      NULL, argv, env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, &error);
  g_assert_no_error (error);
  g_free (argv[0]);
  return pid;
}

static void
end_child (GPid pid, int *status)
{
  while (waitpid (pid, status, 0) < 0)
    g_assert_cmpint (errno, ==, EINTR);
  g_spawn_close_pid (pid);
}

static int
wait_for_child (GPid pid)
{
  int status;

  end_child (pid, &status);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

/* Exit statuses of a child. */
enum {
  CHILD_GOOD = 0,
  CHILD_BAD = 1,
  CHILD_ERRORS = 2, /* all items came, but some were not cached */
  CHILD_SKIPPED = 77,
};

static int
run_child (const gchar *child_folder, const gchar *more)
{
  g_autofree gchar *list = g_build_filename (child_folder, "list.txt", NULL);
  g_autofree gchar *cache = g_build_filename (child_folder, "cache", NULL);
  CachedLoad *load = cached_load_list (list, cache, more);
  int status = load->errors > 0 ? CHILD_ERRORS : CHILD_GOOD;

  if (load->error || load->n_failures > 0 || load->buffers->len == 0 ||
      load->hits + load->misses != load->buffers->len ||
      load->warnings->len != (load->errors > 0))
    status = CHILD_BAD;
  for (guint i = 0; i < load->buffers->len; i++)
    if (!cached_is_of_version (g_ptr_array_index (load->buffers, i), 0))
      status = CHILD_BAD;
  cached_load_free (load);
  return status;
}

GST_START_TEST (test_processes)
{
  GPid pids[3];

  cached_write_many ("kept", 150, 20000);
  /* The first round has a limit at which processes evict what others read. */
  for (guint round = 0; round < 2; round++) {
    const gchar *more = round == 0 ? "cache-size=1500000" : "";

    for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
      pids[i] = begin_child (more);
    for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
      fail_unless_equals_int (wait_for_child (pids[i]), CHILD_GOOD);
    if (round == 0)
      fail_unless (cached_sum_files () <= 1500000, "%" G_GUINT64_FORMAT,
          cached_sum_files ());
  }
  cached_expect ("cache-validate=none", 150, 0, 150);
  fail_unless_equals_int (cached_count_files (TRUE), 0);
}

GST_END_TEST;

static guint
count_requests (void)
{
  ServerCounts counts;

  server_get_counts (cached_server, &counts);
  return counts.requests;
}

/* Tests kills until one has left a temporary file. Every other child is killed
 * while it writes, if the test is fast enough to see that, and the others at
 * any moment. The last item never comes, so no child exits by itself. */
GST_START_TEST (test_kills)
{
  const guint n = 16, n_rounds = 24;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autofree gchar *list_name =
      g_build_filename (cached_folder, "list.txt", NULL);
  g_autofree gchar *list = NULL, *endless = NULL;
  guint n_temporary = 0;

  cached_write_many ("kept", n, 1000000);
  g_assert_true (g_file_get_contents (list_name, &list, NULL, NULL));
  endless = g_strdup_printf (
      "%s%s/stall-body/99/10\n", list, server_get_base (cached_server));
  files_write_text (cached_folder, "list.txt", endless);
  for (guint i = 0; i < n_rounds || n_temporary == 0; i++) {
    const guint begun = count_requests ();
    guint n_requests;
    GPid pid;
    int status;

    if (i % 2)
      files_remove_folder (g_build_filename (cached_folder, "cache", NULL));
    pid = begin_child (i % 3 ? "" : "cache-size=10000000");
    n_requests = i % 2 ? n + 1 : (guint) g_rand_int_range (rand, 1, n + 2);
    wait_until (count_requests () >= begun + n_requests ||
                (i % 2 && cached_count_files (TRUE) > 0));
    kill (pid, SIGKILL);
    end_child (pid, &status);
    fail_unless (WIFSIGNALED (status));
    n_temporary += cached_count_files (TRUE);
  }
  files_write_text (cached_folder, "list.txt", list);
  for (guint i = 0; i < 2; i++) {
    CachedLoad *load = cached_load_again ("cache-validate=none");

    cached_assert_whole (load, n, 0);
    fail_unless (load->hits == n || i == 0);
    cached_load_free (load);
  }
  fail_unless_equals_int (cached_count_files (TRUE), 0);
}

GST_END_TEST;

/* Tests that an abandoned temporary file is removed, and that one in use by a
 * writer is kept. */
GST_START_TEST (test_left_behind)
{
  g_autofree gchar *cache = g_build_filename (cached_folder, "cache", NULL);
  g_autofree gchar *parent = g_build_filename (cache, "ab", NULL);
  g_autofree gchar *living = g_build_filename (cache, "ab/.spdl-living", NULL);
  int fd;

  files_write_text (cached_folder, "cache/ab/.spdl-dead00", "half");
  files_write_text (cached_folder, "cache/ab/.spdl-living", "half");
  files_write_text (cached_folder, "cache/ab/notes.txt", "not ours");
  files_write_text (cached_folder, "cache/notes.txt", "not ours");
  fd = open (living, O_RDWR | O_CLOEXEC);
  fail_unless_equals_int (flock (fd, LOCK_EX), 0);
  cached_write_many ("kept", 3, 10000);
  cached_expect ("cache-size=16384", 3, 0, 0);
  fail_unless_equals_int (cached_count_files (TRUE), 1);
  fail_unless (g_file_test (living, G_FILE_TEST_EXISTS));
  close (fd);
  cached_write_many ("kept", 3, 11000);
  cached_expect ("cache-size=1", 3, 0, 0);
  fail_unless_equals_int (cached_count_files (TRUE), 0);
  /* Files that the cache did not write are kept: notes.txt in both folders. */
  fail_unless_equals_int (cached_count_files (FALSE), 1);
  fail_unless_equals_int (files_count_entries (parent), 1);
}

GST_END_TEST;

/* Disks that are full */

/* Runs in the child: limits all files to 50,000 bytes. */
static gboolean
limit_files (void)
{
  const struct rlimit limit = { 50000, 50000 };

  signal (SIGXFSZ, SIG_IGN);
  return setrlimit (RLIMIT_FSIZE, &limit) == 0;
}

/* Runs in the child: mounts a file system of 1 MiB for the cache, in a separate
 * mount namespace. */
static gboolean
mount_small_disk (const gchar *child_folder)
{
  g_autofree gchar *cache = g_build_filename (child_folder, "cache", NULL);

  return g_mkdir_with_parents (cache, 0700) == 0 &&
         unshare (CLONE_NEWNS) == 0 &&
         mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount ("spdl", cache, "tmpfs", 0, "size=1m,mode=0700") == 0;
}

GST_START_TEST (test_large_files)
{
  g_autofree gchar *base = g_strdup (server_get_base (cached_server));
  g_autofree gchar *list =
      g_strdup_printf ("%s/kept/0/10000/1\n%s/kept/0/100000/2\n"
                       "%s/kept/0/10000/3\n%s/kept/0/60000/4\n",
          base, base, base, base);

  files_write_text (cached_folder, "list.txt", list);
  g_setenv ("SPDL_TEST_DISK", "limited", TRUE);
  fail_unless_equals_int (wait_for_child (begin_child ("")), CHILD_ERRORS);
  g_unsetenv ("SPDL_TEST_DISK");
  fail_unless_equals_int (cached_count_files (FALSE), 2);
  fail_unless_equals_int (cached_count_files (TRUE), 0);
  cached_expect ("", 4, 0, 2);
}

GST_END_TEST;

GST_START_TEST (test_full_disk)
{
  int status;

  cached_write_many ("kept", 100, 30000);
  g_setenv ("SPDL_TEST_DISK", "small", TRUE);
  status = wait_for_child (begin_child (""));
  g_unsetenv ("SPDL_TEST_DISK");
  if (status == CHILD_SKIPPED)
    g_printerr ("test_full_disk # SKIP nothing may be mounted here\n");
  else
    fail_unless_equals_int (status, CHILD_ERRORS);
}

GST_END_TEST;

static Suite *
disk_cache_processes_suite (void)
{
  Suite *s = suite_create ("disk-cache-processes");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, cached_setup, cached_teardown);
  tcase_add_test (tc, test_processes);
  tcase_add_test (tc, test_kills);
  tcase_add_test (tc, test_left_behind);
  tcase_add_test (tc, test_large_files);
  tcase_add_test (tc, test_full_disk);
  return s;
}

int
main (int argc, char **argv)
{
  const gchar *child_folder = g_getenv ("SPDL_TEST_CHILD");
  const gchar *disk = g_getenv ("SPDL_TEST_DISK");

  if (!child_folder) {
    gst_check_init (&argc, &argv);
    return gst_check_run_suite (
        disk_cache_processes_suite (), "disk-cache-processes", __FILE__);
  }
  if (g_strcmp0 (disk, "small") == 0 && !mount_small_disk (child_folder))
    return CHILD_SKIPPED;
  if (g_strcmp0 (disk, "limited") == 0 && !limit_files ())
    return CHILD_SKIPPED;
  gst_init (&argc, &argv);
  return run_child (child_folder, g_getenv ("SPDL_TEST_MORE"));
}
