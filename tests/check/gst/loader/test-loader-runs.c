/* gst-spdl: tests of starting, stopping and resuming a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define FOREVER GST_CLOCK_TIME_NONE

static void
look_at_policy (GstElement *element, GstBuffer *buffer, gpointer policy)
{
  *(gint *) policy = sched_getscheduler (0);
}

/* Streaming threads use SCHED_BATCH, so that they do not preempt the trainer,
 * or SCHED_IDLE in the background. */
GST_START_TEST (test_patience)
{
  const gint before = sched_getscheduler (0);

  for (guint i = 0; i < 3; i++) {
    GstSpdlLoader *loader = loader_make (
        "videotestsrc num-buffers=1 ! "
        "video/x-raw,format=GRAY8,width=8,height=8 ! identity name=look "
        "signal-handoffs=true ! spdlbatch ! spdlsink");
    GstElement *look = gst_bin_get_by_name (
        GST_BIN (gst_spdl_loader_get_pipeline (loader)), "look");
    gint policy = -1;

    gst_spdl_set_background (i == 1);
    g_signal_connect (look, "handoff", G_CALLBACK (look_at_policy), &policy);
    for (guint run = 0; run < 2; run++) {
      loader_start (loader);
      fail_unless_equals_int (loader_take (loader), 1);
      gst_spdl_loader_stop (loader);
      fail_unless_equals_int (policy, i == 1 ? SCHED_IDLE : SCHED_BATCH);
    }
    fail_unless_equals_int (sched_getscheduler (0), before);
    gst_object_unref (look);
    g_object_unref (loader);
  }
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

/* A waiting `next` in another thread is woken with an error. */
GST_START_TEST (test_stop_wakes)
{
  GstSpdlLoader *loader = loader_make ("identity ! spdlsink");

  gst_spdl_loader_stop (loader);
  for (guint i = 0; i < 20; i++) {
    GError *error = NULL;
    GThread *thread;

    loader_start (loader);
    thread = g_thread_new ("next", wait_for_batch, loader);
    /* Wait until the thread is inside the call. */
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
  n_threads = files_count_threads ();
  n_files = files_count_entries ("/proc/self/fd");
  for (guint i = 0; i < 50; i++)
    stop_at_random (loader);
  /* Threads of GLib's pools may still be exiting. */
  wait_until (files_count_threads () <= n_threads &&
              files_count_entries ("/proc/self/fd") <= n_files);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A restart begins with the first epoch; statistics remain readable after a
 * stop. */
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
    indices = gst_spdl_batch_dup_indices (batch, &n);
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

static guint64
count_cpu_time (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return t.tv_sec * GST_SECOND + t.tv_nsec;
}

/* Computes for @ns. */
static void
train (guint64 ns)
{
  const guint64 begun = count_cpu_time (CLOCK_THREAD_CPUTIME_ID);

  while (count_cpu_time (CLOCK_THREAD_CPUTIME_ID) < begun + ns)
    ;
}

/* The diagnosis knows elements of other projects. It stays the same after the
 * stop. The CPU time of an item does not include the trainer's. */
GST_START_TEST (test_diagnosis)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader =
      loader_make ("spdlsrc location=%s epochs=-1 ! spdlfetch ! identity "
                   "name=lazy sleep-time=20000 ! spdldecode width=16 height=12 "
                   "! spdlbatch batch-size=2 ! spdlsink",
          folder);
  g_autoptr (GstSpdlDiagnosis) before = gst_spdl_loader_diagnose (loader);
  g_autoptr (GstSpdlDiagnosis) after = NULL;
  const GstStructure *roofline;
  guint64 cpu_time, begun;
  double rate;

  fail_unless (gst_spdl_diagnosis_get_limit (before) == GST_SPDL_LIMIT_TOO_FEW);
  fail_unless (gst_spdl_diagnosis_get_roofline (before) == NULL);

  loader_start (loader);
  begun = count_cpu_time (CLOCK_PROCESS_CPUTIME_ID);
  for (guint n = 0; n < 40;) {
    if (loader_take (loader) == 0)
      continue; /* the end of an epoch */
    train (2 * GST_MSECOND);
    n++;
  }
  gst_spdl_loader_stop (loader);
  after = gst_spdl_loader_diagnose (loader);
  fail_unless (gst_spdl_diagnosis_get_limit (after) == GST_SPDL_LIMIT_ELEMENT,
      "%s", gst_spdl_diagnosis_get_sentence (after));
  fail_unless_equals_string (gst_spdl_diagnosis_get_element (after), "lazy");
  roofline = gst_spdl_diagnosis_get_roofline (after);
  fail_unless (roofline != NULL);
  fail_unless_equals_string (
      gst_structure_get_string (roofline, "limit"), "element");
  fail_unless (gst_structure_get_double (roofline, "items-per-second", &rate));
  fail_unless (rate > 0 && rate <= 51, "%f", rate);
  fail_unless (gst_structure_get_uint64 (roofline, "cpu-time", &cpu_time));
  fail_unless (cpu_time > 0);
  fail_unless (cpu_time * 80 + 78 * GST_MSECOND <
               count_cpu_time (CLOCK_PROCESS_CPUTIME_ID) - begun);

  g_autoptr (GstSpdlDiagnosis) later = gst_spdl_loader_diagnose (loader);
  fail_unless (gst_structure_is_equal (
      gst_spdl_diagnosis_get_roofline (later), roofline));
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Marks the items of the next batch. Returns whether there was one. */
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
  indices = gst_spdl_batch_dup_indices (batch, &n);
  for (guint i = 0; i < n; i++)
    counts[indices[i]]++;
  return TRUE;
}

/* Another loader resumes after the last delivered batch, at each start. */
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
  fail_unless (errors_has (error, "spdlsrc"));
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

/* Skipping the rest of an epoch */

static void
assert_first_of (GstSpdlLoader *loader, guint64 epoch)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstSpdlBatch) batch =
      gst_spdl_loader_next (loader, FOREVER, &error);
  g_autofree guint64 *indices = NULL;
  guint n;

  fail_unless (batch != NULL, "%s", error ? error->message : "an end");
  fail_unless_equals_uint64 (gst_spdl_batch_get_epoch (batch), epoch);
  indices = gst_spdl_batch_dup_indices (batch, &n);
  fail_unless_equals_uint64 (indices[0], 0);
}

static void
leave (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;

  fail_unless (gst_spdl_loader_next_epoch (loader, &error), "%s",
      error ? error->message : "");
}

static void
assert_cannot_leave (GstSpdlLoader *loader, GstSpdlLoaderError code)
{
  g_autoptr (GError) error = NULL;

  fail_if (gst_spdl_loader_next_epoch (loader, &error));
  fail_unless (g_error_matches (error, GST_SPDL_LOADER_ERROR, code), "%s",
      error ? error->message : "no error");
}

GST_START_TEST (test_next_epoch)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 5);
  g_autofree gchar *state = NULL;

  assert_cannot_leave (loader, GST_SPDL_LOADER_ERROR_NOT_STARTED);
  loader_start (loader);
  /* No batch was taken yet. */
  leave (loader);
  assert_first_of (loader, 0);
  leave (loader);
  leave (loader);
  fail_unless_equals_uint64 (gst_spdl_loader_get_epoch (loader), 1);
  state = gst_spdl_loader_dup_state (loader);
  fail_unless (strstr (state, "epoch=1,mark=0,done=;") != NULL, "%s", state);
  assert_first_of (loader, 1);
  fail_unless_equals_int (loader_take (loader), 8);
  fail_unless_equals_int (loader_take (loader), 4);
  /* The end of the epoch was not delivered. */
  leave (loader);
  assert_first_of (loader, 2);
  while (loader_take (loader))
    ;
  /* The end of the epoch was delivered. */
  leave (loader);
  assert_first_of (loader, 3);
  leave (loader);
  assert_first_of (loader, 4);
  fail_if (gst_spdl_loader_is_finished (loader));
  leave (loader);
  fail_unless_equals_int (loader_take (loader), 0);
  fail_unless (gst_spdl_loader_is_finished (loader));
  leave (loader);
  fail_unless_equals_int (loader_take (loader), 0);

  /* A restart is not affected. */
  gst_spdl_loader_stop (loader);
  loader_start (loader);
  assert_first_of (loader, 0);
  gst_spdl_loader_stop (loader);
  assert_cannot_leave (loader, GST_SPDL_LOADER_ERROR_STOPPED);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A source's `resume-state` that was set manually applies to each start. */
GST_START_TEST (test_next_epoch_of_a_state)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 5);
  GstElement *source = NULL;
  g_autofree gchar *state = NULL, *set = NULL;
  GstIterator *sources =
      gst_bin_iterate_sources (GST_BIN (gst_spdl_loader_get_pipeline (loader)));
  GValue item = G_VALUE_INIT;

  fail_unless (gst_iterator_next (sources, &item) == GST_ITERATOR_OK);
  source = g_value_get_object (&item);
  loader_start (loader);
  assert_first_of (loader, 0);
  leave (loader);
  assert_first_of (loader, 1);
  state = gst_spdl_loader_dup_state (loader);
  gst_spdl_loader_stop (loader);
  g_object_set (source, "resume-state", state, NULL);
  for (guint i = 0; i < 2; i++) {
    loader_start (loader);
    fail_unless_equals_int (loader_take (loader), 8);
    fail_unless_equals_uint64 (gst_spdl_loader_get_epoch (loader), 1);
    leave (loader);
    assert_first_of (loader, 2);
    g_clear_pointer (&set, g_free);
    g_object_get (source, "resume-state", &set, NULL);
    fail_unless_equals_string (set, state);
    gst_spdl_loader_stop (loader);
  }
  g_value_unset (&item);
  gst_iterator_free (sources);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

static void
push_items (GstSpdlLoader *loader, guint n)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++) {
    g_autoptr (GBytes) bytes = g_bytes_new (&i, sizeof i);
    g_autoptr (GstCaps) caps = gst_caps_from_string (
        "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
        "dimensions=(string)\"4\",framerate=0/1");

    fail_unless (gst_spdl_loader_push_bytes (
                     loader, bytes, caps, -1, NULL, FOREVER, &error),
        "%s", error ? error->message : "");
  }
}

/* The program must have stopped pushing; items that it pushes then belong to
 * the next epoch. */
GST_START_TEST (test_next_epoch_of_a_program)
{
  GstSpdlLoader *loader = loader_make ("spdlbatch batch-size=4 ! spdlsink");

  loader_start (loader);
  for (guint i = 0; i < 3; i++) {
    push_items (loader, 10);
    assert_first_of (loader, i);
    assert_cannot_leave (loader, GST_SPDL_LOADER_ERROR_STARTED);
    gst_spdl_loader_stop (loader);
    leave (loader);
    fail_unless (gst_spdl_loader_is_running (loader));
  }
  push_items (loader, 6);
  fail_unless (gst_spdl_loader_end_epoch (loader, NULL));
  assert_first_of (loader, 3);
  fail_unless_equals_int (loader_take (loader), 2);
  fail_unless_equals_int (loader_take (loader), 0);
  leave (loader);
  push_items (loader, 4);
  assert_first_of (loader, 4);
  g_object_unref (loader);
}

GST_END_TEST;

/* Stops the loader in a thread of the pipeline, which cannot wait for
 * itself. */

static void
stop_loader (GstElement *element, GstBuffer *buffer, gpointer loader)
{
  gst_spdl_loader_stop (loader);
}

static gint has_started; /* atomic */

static void
unref_loader (GstElement *element, GstBuffer *buffer, gpointer user_data)
{
  gpointer *loader = user_data;

  while (!g_atomic_int_get (&has_started))
    g_thread_yield ();
  g_clear_object (loader);
}

static void
note_end (gpointer over, GObject *pipeline)
{
  g_atomic_int_set ((gint *) over, TRUE);
}

#define LOOK_JOB                                                          \
  "videotestsrc ! video/x-raw,format=GRAY8,width=8,height=8 "             \
  "! identity name=look signal-handoffs=true ! spdlbatch batch-size=2 ! " \
  "spdlsink"

static GstElement *
get_look (GstSpdlLoader *loader)
{
  return gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "look");
}

GST_START_TEST (test_stop_in_pipeline)
{
  GstSpdlLoader *loader = loader_make (LOOK_JOB);
  GstElement *look = get_look (loader);
  /* The pipeline's thread may access these after this function has returned. */
  static gpointer held;
  static gint over;
  gulong handler;

  for (guint i = 0; i < 20; i++) {
    guint n;
    GError *error;

    handler =
        g_signal_connect (look, "handoff", G_CALLBACK (stop_loader), loader);
    loader_start (loader);
    error = loader_take_until_error (loader, &n);
    fail_unless (g_error_matches (error, GST_SPDL_LOADER_ERROR,
                     GST_SPDL_LOADER_ERROR_STOPPED),
        "%s", error->message);
    g_error_free (error);
    fail_if (gst_spdl_loader_is_running (loader));
    g_signal_handler_disconnect (look, handler);
    /* A start or stop waits for the end of that run. */
    if (i % 2)
      gst_spdl_loader_stop (loader);
    loader_start (loader);
    fail_unless_equals_int (loader_take (loader), 2);
    gst_spdl_loader_stop (loader);
  }

  /* A thread of the pipeline must not run when the process exits. */
  held = loader;
  g_object_weak_ref (
      G_OBJECT (gst_spdl_loader_get_pipeline (loader)), note_end, &over);
  g_signal_connect (look, "handoff", G_CALLBACK (unref_loader), &held);
  gst_object_unref (look);
  loader_start (loader);
  g_atomic_int_set (&has_started, TRUE);
  while (!g_atomic_int_get (&over))
    g_thread_yield ();
}

GST_END_TEST;

CHECK_SUITE (loader_runs, TIMEOUT (180), TEST (test_stop_wakes),
    TEST (test_stop_any_time), TEST (test_patience), TEST (test_restart),
    TEST (test_diagnosis), TEST (test_resume), TEST (test_state),
    TEST (test_next_epoch), TEST (test_next_epoch_of_a_state),
    TEST (test_next_epoch_of_a_program), TEST (test_stop_in_pipeline))
