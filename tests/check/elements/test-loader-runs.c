/* gst-spdl: tests of a loader's stops and starts, and of its states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "loaders.h"

#define FOREVER GST_CLOCK_TIME_NONE

static void
look_at_policy (GstElement *element, GstBuffer *buffer, gpointer policy)
{
  *(gint *) policy = sched_getscheduler (0);
}

/* Streaming threads leave the core to who has it, the trainer, say. */
GST_START_TEST (test_patience)
{
  GstSpdlLoader *loader = loader_make (
      "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=8,height=8 "
      "! identity name=look signal-handoffs=true ! spdlbatch ! spdlsink");
  GstElement *look = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "look");
  const gint before = sched_getscheduler (0);
  gint policy = -1;

  g_signal_connect (look, "handoff", G_CALLBACK (look_at_policy), &policy);
  loader_start (loader);
  fail_unless_equals_int (loader_take (loader), 1);
  gst_spdl_loader_stop (loader);
  fail_unless_equals_int (policy, SCHED_BATCH);
  fail_unless_equals_int (sched_getscheduler (0), before);
  gst_object_unref (look);
  g_object_unref (loader);
}

GST_END_TEST;

static gpointer
wait_for_batch (gpointer loader)
{
  GError *error = NULL;

  do {
    g_clear_error (&error);
    fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
  } while (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY));
  return error;
}

/* A `next` that waits in another thread is woken, and says why. */
GST_START_TEST (test_stop_wakes)
{
  GstSpdlLoader *loader = loader_make ("identity ! spdlsink");

  gst_spdl_loader_stop (loader);
  for (guint i = 0; i < 20; i++) {
    GError *error = NULL;
    GThread *thread;

    loader_start (loader);
    thread = g_thread_new ("next", wait_for_batch, loader);
    /* Until it is in there. */
    while (TRUE) {
      gst_spdl_loader_next (loader, 0, &error);
      if (g_error_matches (
              error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY))
        break;
      g_clear_error (&error);
      g_thread_yield ();
    }
    g_clear_error (&error);
    gst_spdl_loader_stop (loader);
    error = g_thread_join (thread);
    fail_unless (g_error_matches (error, GST_SPDL_LOADER_ERROR,
                     GST_SPDL_LOADER_ERROR_STOPPED),
        "%s", error->message);
    g_error_free (error);
    loader_assert_next_fails (loader, GST_SPDL_LOADER_ERROR_STOPPED);
    gst_spdl_loader_stop (loader);
  }
  g_object_unref (loader);
}

GST_END_TEST;

static gpointer
stop_soon (gpointer loader)
{
  g_usleep (g_random_int_range (0, 8000));
  gst_spdl_loader_stop (loader);
  return NULL;
}

static void
stop_at_random (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;
  GThread *thread;

  loader_start (loader);
  thread = g_thread_new ("stop", stop_soon, loader);
  while (!error) {
    GstSpdlBatch *batch = gst_spdl_loader_next (loader, FOREVER, &error);

    if (batch)
      gst_spdl_batch_unref (batch);
  }
  fail_unless (g_error_matches (
                   error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STOPPED),
      "%s", error->message);
  g_thread_join (thread);
}

GST_START_TEST (test_stop_any_time)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, -1);
  guint n_threads, n_files;

  for (guint i = 0; i < 5; i++)
    stop_at_random (loader);
  /* What GStreamer makes once is made now. */
  g_usleep (600000);
  n_threads = files_count_entries ("/proc/self/task");
  n_files = files_count_entries ("/proc/self/fd");
  for (guint i = 0; i < 50; i++)
    stop_at_random (loader);
  /* Threads of GLib's pools may still be on their way out. */
  for (guint i = 0;
       i < 100 && files_count_entries ("/proc/self/task") > n_threads; i++)
    g_usleep (50000);
  fail_unless (files_count_entries ("/proc/self/task") <= n_threads);
  if (files_count_entries ("/proc/self/fd") != n_files) {
    g_autofree char *c = g_strdup_printf ("ls -l /proc/%d/fd", getpid ());
    system (c);
  }
  fail_unless_equals_int (files_count_entries ("/proc/self/fd"), n_files);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A start begins at the beginning; figures outlive the stop. */
GST_START_TEST (test_restart)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 1);
  static const gchar *const names[] = { "spdlsrc", "spdlfetch", "spdldecode",
    "spdlbatch", "spdlsink" };

  for (guint i = 0; i < 3; i++) {
    g_autofree guint64 *indices = NULL;
    g_autoptr (GstSpdlBatch) batch = NULL;
    GList *stats;
    guint n, k = 0;

    loader_start (loader);
    batch = gst_spdl_loader_next (loader, FOREVER, NULL);
    indices = gst_spdl_batch_get_indices (batch, &n);
    fail_unless (n == 8 && indices[0] == 0);
    if (i > 0)
      while (loader_take (loader))
        ;
    gst_spdl_loader_stop (loader);
    stats = gst_spdl_loader_dup_stats (loader);
    fail_unless_equals_int (g_list_length (stats), G_N_ELEMENTS (names));
    for (GList *l = stats; l; l = l->next, k++)
      fail_unless (g_str_has_prefix (
          gst_structure_get_string (l->data, "stage"), names[k]));
    g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
  }
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Marks the items of the next batch; returns whether there was one. */
static gboolean
mark_items (GstSpdlLoader *loader, guint *counts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstSpdlBatch) batch =
      gst_spdl_loader_next (loader, FOREVER, &error);
  g_autofree guint64 *indices = NULL;
  guint n;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  if (!batch)
    return FALSE;
  indices = gst_spdl_batch_get_indices (batch, &n);
  for (guint i = 0; i < n; i++)
    counts[indices[i]]++;
  return TRUE;
}

/* Another loader goes on behind the batch that was handed out last, and does so
 * at each start. */
GST_START_TEST (test_resume)
{
  gchar *folder = files_make_dataset (50);
  GstSpdlLoader *first = loader_make (LOADER_JOB, folder, 1);
  GstSpdlLoader *second = loader_make (LOADER_JOB, folder, 1);
  g_autofree gchar *state = NULL;
  g_autoptr (GError) error = NULL;
  guint before[50] = { 0 };

  loader_start (first);
  for (guint i = 0; i < 3; i++)
    fail_unless (mark_items (first, before));
  state = gst_spdl_loader_dup_state (first);
  fail_unless (state != NULL);
  g_object_unref (first);

  fail_unless (gst_spdl_loader_restore_state (second, state, &error));
  for (guint round = 0; round < 2; round++) {
    g_autofree gchar *same = NULL;
    g_autofree gchar *other = NULL;
    guint counts[50];

    memcpy (counts, before, sizeof counts);
    loader_start (second);
    same = gst_spdl_loader_dup_state (second);
    fail_unless_equals_string (same, state);
    while (mark_items (second, counts))
      ;
    for (guint i = 0; i < 50; i++)
      fail_unless_equals_int (counts[i], 1);
    gst_spdl_loader_stop (second);
    other = gst_spdl_loader_dup_state (second);
    fail_if (g_str_equal (other, state));
  }
  fail_unless (gst_spdl_loader_restore_state (second, NULL, NULL));
  loader_start (second);
  memset (before, 0, sizeof before);
  while (mark_items (second, before))
    ;
  for (guint i = 0; i < 50; i++)
    fail_unless_equals_int (before[i], 1);
  gst_spdl_loader_stop (second);

  fail_unless (gst_spdl_loader_restore_state (second, "no state", NULL));
  fail_if (gst_spdl_loader_start (second, &error));
  fail_unless (error != NULL);
  g_object_unref (second);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_state)
{
  gchar *folder = files_make_dataset (3);
  GstSpdlLoader *without = loader_make ("videotestsrc ! spdlsink");
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 1);
  g_autoptr (GError) error = NULL;

  fail_if (gst_spdl_loader_restore_state (without, "spdl1;", &error));
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE));
  fail_unless (strstr (error->message, "spdlsrc") != NULL);
  g_clear_error (&error);
  loader_start (loader);
  fail_if (gst_spdl_loader_restore_state (loader, NULL, &error));
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STARTED));
  g_object_unref (loader);
  g_object_unref (without);
  files_remove_folder (folder);
}

GST_END_TEST;

static Suite *
loader_runs_suite (void)
{
  Suite *s = suite_create ("loader-runs");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 180);
  tcase_add_test (tc, test_stop_wakes);
  tcase_add_test (tc, test_stop_any_time);
  tcase_add_test (tc, test_patience);
  tcase_add_test (tc, test_restart);
  tcase_add_test (tc, test_resume);
  tcase_add_test (tc, test_state);
  return s;
}

GST_CHECK_MAIN (loader_runs);
