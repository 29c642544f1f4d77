/* gst-spdl: tests of killed worker processes and of killed parents
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check/ipc/worker-tools.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/wait.h"

#define N_ITEMS 200
#define N_EPOCHS 3

/* The batches and events that reach the sink. */
typedef struct {
  GMutex lock;
  GCond cond;
  GPtrArray *batches; /* GstBuffer */
  guint n_epochs;
  gboolean in_order; /* all epochs ended after all of their items */
} Seen;

static void
unref_buffer (gpointer buffer)
{
  gst_buffer_unref (buffer);
}

static void
note_event (Seen *seen, GstEvent *event)
{
  guint64 epoch;

  if (!gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL))
    return;
  seen->in_order &= epoch == seen->n_epochs;
  seen->n_epochs++;
}

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;

  g_mutex_lock (&seen->lock);
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *batch = GST_PAD_PROBE_INFO_BUFFER (info);

    seen->in_order &= gst_spdl_buffer_get_batch_meta (batch)->items[0].epoch ==
                      seen->n_epochs;
    /* A deep copy, as held slabs would be copied after a while, too. */
    g_ptr_array_add (seen->batches, gst_buffer_copy_deep (batch));
    g_cond_signal (&seen->cond);
  } else {
    note_event (seen, GST_PAD_PROBE_INFO_EVENT (info));
  }
  g_mutex_unlock (&seen->lock);
  return GST_PAD_PROBE_OK;
}

static void
seen_init (Seen *seen, GstElement *pipeline)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");

  *seen = (Seen){ .in_order = TRUE };
  g_mutex_init (&seen->lock);
  g_cond_init (&seen->cond);
  seen->batches = g_ptr_array_new_with_free_func (unref_buffer);
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data,
      seen, NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
}

static void
seen_clear (Seen *seen)
{
  g_ptr_array_unref (seen->batches);
  g_mutex_clear (&seen->lock);
  g_cond_clear (&seen->cond);
}

static void
seen_wait (Seen *seen, guint n)
{
  const gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&seen->lock);
  while (seen->batches->len < n)
    fail_unless (g_cond_wait_until (&seen->cond, &seen->lock, end));
  g_mutex_unlock (&seen->lock);
}

/* Checks that each item of each epoch came once. */
static void
seen_assert_once (Seen *seen)
{
  GPtrArray *epoch = g_ptr_array_new ();
  guint at = 0;

  fail_unless (seen->in_order);
  fail_unless_equals_int (seen->n_epochs, N_EPOCHS);
  for (guint i = 0; i < N_EPOCHS; i++) {
    g_ptr_array_set_size (epoch, 0);
    for (; at < seen->batches->len; at++) {
      GstBuffer *batch = g_ptr_array_index (seen->batches, at);

      if (gst_spdl_buffer_get_batch_meta (batch)->items[0].epoch != i)
        break;
      g_ptr_array_add (epoch, batch);
    }
    worker_assert_items_once (epoch, N_ITEMS);
  }
  fail_unless_equals_int (at, seen->batches->len);
  g_ptr_array_unref (epoch);
}

static GstElement *
make (const gchar *folder, const gchar *order, guint restarts)
{
  return worker_make (
      "spdlworkersrc name=worker restarts=%u pipeline=\"spdlsrc location=%s "
      "shuffle=true seed=1 epochs=%d ! spdlfetch output-order=%s "
      "! spdldecode concurrency=2 output-order=%s width=16 height=12 "
      "! spdlbatch batch-size=8 indices=true\" ! fakesink name=sink "
      "async=false",
      restarts, folder, N_EPOCHS, order, order);
}

/* Has workers killed that make no progress for 0.1 s. */
static void
set_timeout (GstElement *pipeline)
{
  g_autoptr (GstElement) worker =
      gst_bin_get_by_name (GST_BIN (pipeline), "worker");

  g_object_set (worker, "worker-timeout", 100 * GST_MSECOND, NULL);
}

/* Makes the stream infinite, as a worker on a busy machine could reach the end
 * before it is killed. */
static void
make_endless (GstElement *pipeline)
{
  g_autoptr (GstElement) worker =
      gst_bin_get_by_name (GST_BIN (pipeline), "worker");

  g_object_set (worker, "epochs", (gint64) -1, NULL);
}

static void
signal_worker (GstElement *pipeline, int number)
{
  const pid_t pid = worker_get_pid (pipeline);

  if (pid > 0)
    kill (pid, number);
}

static void
kill_worker (GstElement *pipeline)
{
  signal_worker (pipeline, SIGKILL);
}

/* Kills a process other than @before. Returns its pid. */
static pid_t
kill_next_worker (GstElement *pipeline, pid_t before)
{
  pid_t pid;

  wait_until ((pid = worker_get_pid (pipeline)) != 0 && pid != before);
  kill (pid, SIGKILL);
  return pid;
}

/* Tests that a worker killed at a random moment causes one error, which names
 * the signal. */
GST_START_TEST (test_killed)
{
  gchar *folder = files_make_dataset (N_ITEMS);
  GRand *random = g_rand_new_with_seed (1);
  const guint n = worker_get_cycles (30);

  for (guint i = 0; i < n; i++) {
    GstElement *pipeline = make (folder, i % 2 ? "input" : "completion", 0);
    g_autofree gchar *text = NULL;
    Seen seen;

    make_endless (pipeline);
    seen_init (&seen, pipeline);
    worker_play (pipeline);
    seen_wait (&seen, g_rand_int_range (random, 0, 40));
    g_usleep (g_rand_int_range (random, 0, 3000));
    kill_worker (pipeline);
    text = worker_take_error (pipeline);
    fail_unless (
        errors_text_has (text, "[resource-error failed]|9"), "%s", text);
    worker_stop (pipeline);
    fail_unless (seen.in_order);
    seen_clear (&seen);
  }
  g_rand_free (random);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that with restarts all epochs are complete, with both output orders and
 * any number of kills. */
GST_START_TEST (test_restarted)
{
  static const gchar *const orders[] = { "input", "completion" };
  gchar *folder = files_make_dataset (N_ITEMS);
  GRand *random = g_rand_new_with_seed (2);
  const guint n = worker_get_cycles (6);
  guint64 n_restarts = 0;

  for (guint i = 0; i < n; i++) {
    GstElement *pipeline = make (folder, orders[i % 2], 100);
    Seen seen;

    seen_init (&seen, pipeline);
    worker_play (pipeline);
    for (guint at = 0; at < 70; at += g_rand_int_range (random, 1, 25)) {
      seen_wait (&seen, at);
      g_usleep (g_rand_int_range (random, 0, 3000));
      kill_worker (pipeline);
    }
    worker_run_to_end (pipeline);
    n_restarts += worker_get_figure (pipeline, "num-restarts");
    worker_stop (pipeline);
    seen_assert_once (&seen);
    seen_clear (&seen);
  }
  /* A process may have ended before the first signal. */
  fail_unless (n_restarts > 0);
  g_rand_free (random);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that a worker that was stopped at a random moment causes one error, and
 * that the end of the pipeline does not wait for another one. */
GST_START_TEST (test_stopped)
{
  gchar *folder = files_make_dataset (N_ITEMS);
  GRand *random = g_rand_new_with_seed (3);
  const guint n = worker_get_cycles (2);

  for (guint i = 0; i < n; i++) {
    GstElement *pipeline = make (folder, i % 2 ? "input" : "completion", 0);
    g_autofree gchar *text = NULL;
    Seen seen;

    make_endless (pipeline);
    set_timeout (pipeline);
    seen_init (&seen, pipeline);
    worker_play (pipeline);
    seen_wait (&seen, g_rand_int_range (random, 0, 40));
    signal_worker (pipeline, SIGSTOP);
    text = worker_take_error (pipeline);
    fail_unless (errors_text_has (text, "[resource-error failed]"), "%s", text);
    fail_unless (
        worker_get_figure (pipeline, "silent-time") >= 100 * GST_MSECOND);
    worker_stop (pipeline);
    fail_unless (seen.in_order);
    seen_clear (&seen);
  }
  g_rand_free (random);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that all epochs are complete if workers are stopped and replaced. */
GST_START_TEST (test_stopped_and_restarted)
{
  gchar *folder = files_make_dataset (N_ITEMS);
  GRand *random = g_rand_new_with_seed (4);
  const guint n = worker_get_cycles (2);
  guint64 n_restarts = 0;

  for (guint i = 0; i < n; i++) {
    GstElement *pipeline = make (folder, i % 2 ? "input" : "completion", 100);
    Seen seen;

    set_timeout (pipeline);
    seen_init (&seen, pipeline);
    worker_play (pipeline);
    for (guint at = 0; at < 70; at += g_rand_int_range (random, 35, 45)) {
      seen_wait (&seen, at);
      signal_worker (pipeline, SIGSTOP);
    }
    worker_run_to_end (pipeline);
    n_restarts += worker_get_figure (pipeline, "num-restarts");
    worker_stop (pipeline);
    seen_assert_once (&seen);
    seen_clear (&seen);
  }
  /* A process may have ended before the first signal. */
  fail_unless (n_restarts > 0);
  g_rand_free (random);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that a worker is stopped before it has read a configuration that does
 * not fit into its socket. */
GST_START_TEST (test_stopped_at_the_start)
{
  g_autofree gchar *path =
      g_build_filename (g_get_tmp_dir (), "spdl-stops-XXXXXX", NULL);
  const gchar *script = "#!/bin/sh\nkill -STOP $$\n";
  const int fd = g_mkstemp_full (path, O_WRONLY, 0700);
  g_autofree gchar *name = g_strnfill (4096, 'a');
  g_autofree gchar *before = g_strdup (g_getenv ("SPDL_WORKER"));
  GValue classes = G_VALUE_INIT, value = G_VALUE_INIT;
  g_autofree gchar *text = NULL;
  GstElement *pipeline, *worker;

  fail_unless (write (fd, script, strlen (script)) == (gssize) strlen (script));
  close (fd);
  g_setenv ("SPDL_WORKER", path, TRUE);
  pipeline = worker_make ("spdlworkersrc name=worker pipeline=\"spdlsrc "
                          "location=/\" ! fakesink name=sink");
  set_timeout (pipeline);
  gst_value_array_init (&classes, 256);
  for (guint i = 0; i < 256; i++) {
    g_value_init (&value, G_TYPE_STRING);
    g_value_take_string (&value, g_strdup_printf ("%u%s", i, name));
    gst_value_array_append_and_take_value (&classes, &value);
  }
  worker = gst_bin_get_by_name (GST_BIN (pipeline), "worker");
  g_object_set_property (G_OBJECT (worker), "classes", &classes);
  gst_object_unref (worker);
  g_value_unset (&classes);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
      GST_STATE_CHANGE_ASYNC);
  text = worker_take_error (pipeline);
  fail_unless (errors_text_has (text, "[resource-error failed]"), "%s", text);
  worker_stop (pipeline);
  if (before)
    g_setenv ("SPDL_WORKER", before, TRUE);
  else
    g_unsetenv ("SPDL_WORKER");
  g_unlink (path);
}

GST_END_TEST;

/* Tests that a worker whose item sleeps for longer than the timeout is not
 * killed: it answers pings. */
GST_START_TEST (test_sleeping)
{
  gchar *folder = files_make_dataset (2);
  GstElement *pipeline = worker_make (
      "spdlworkersrc name=worker pipeline=\"spdlsrc location=%s ! spdlfetch "
      "! identity sleep-time=300000\" ! fakesink name=sink async=false",
      folder);

  set_timeout (pipeline);
  worker_run_to_end (pipeline);
  worker_stop (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests a kill between the last batch of an epoch and the end of the epoch,
 * which the old process then cannot send. */
GST_START_TEST (test_restarted_at_an_end)
{
  gchar *folder = files_make_dataset (N_ITEMS);

  for (guint i = 0; i < 6; i++) {
    GstElement *pipeline = make (folder, "input", 100);
    const guint end = (1 + i % N_EPOCHS) * N_ITEMS / 8;
    Seen seen;

    seen_init (&seen, pipeline);
    worker_play (pipeline);
    seen_wait (&seen, end);
    kill_worker (pipeline);
    worker_run_to_end (pipeline);
    worker_stop (pipeline);
    seen_assert_once (&seen);
    seen_clear (&seen);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests the limit on restarts, and streams without a resume state, which are
 * not restarted. */
GST_START_TEST (test_given_up)
{
  gchar *folder = files_make_dataset (N_ITEMS);
  GstElement *pipeline = make (folder, "input", 1);
  g_autofree gchar *text = NULL, *other = NULL;
  pid_t first;
  Seen seen;

  make_endless (pipeline);
  seen_init (&seen, pipeline);
  worker_play (pipeline);
  seen_wait (&seen, 3);
  first = kill_next_worker (pipeline, 0);
  kill_next_worker (pipeline, first);
  text = worker_take_error (pipeline);
  fail_unless (errors_text_has (text, "[resource-error failed]"), "%s", text);
  worker_stop (pipeline);
  seen_clear (&seen);

  pipeline = worker_make (
      "spdlworkersrc name=worker restarts=3 pipeline=\"videotestsrc "
      "! video/x-raw,format=RGB,width=8,height=8 ! spdlbatch batch-size=4\" "
      "! fakesink name=sink async=false");
  seen_init (&seen, pipeline);
  worker_play (pipeline);
  seen_wait (&seen, 3);
  kill_worker (pipeline);
  other = worker_take_error (pipeline);
  fail_unless (errors_text_has (other, "[resource-error failed]"), "%s", other);
  worker_stop (pipeline);
  seen_clear (&seen);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that batches stay intact after their worker has exited. */
GST_START_TEST (test_kept)
{
  gchar *folder = files_make_dataset (N_ITEMS);
  GstElement *pipeline = worker_make (
      "spdlworkersrc name=worker restarts=3 slabs=16 pipeline=\"spdlsrc "
      "location=%s ! spdlfetch ! spdldecode width=16 height=12 "
      "! spdlbatch batch-size=8 indices=true\" ! appsink name=sink sync=false "
      "max-buffers=1",
      folder);
  GPtrArray *kept = g_ptr_array_new_with_free_func (unref_buffer), *rest;

  worker_play (pipeline);
  for (guint i = 0; i < 6; i++) {
    g_ptr_array_add (kept, worker_pull (pipeline));
    if (i == 3)
      kill_worker (pipeline);
  }
  rest = worker_pull_all (pipeline);
  g_ptr_array_extend_and_steal (kept, rest);
  fail_unless_equals_uint64 (worker_get_figure (pipeline, "num-restarts"), 1);
  worker_stop (pipeline);
  worker_assert_items_once (kept, N_ITEMS);
  g_ptr_array_unref (kept);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Forks a process that runs a pipeline. Returns its process ID, and that of its
 * worker in @worker. */
static pid_t
run_parent (const gchar *folder, pid_t *worker)
{
  pid_t parent;
  int pipes[2];

  fail_unless (pipe (pipes) == 0);
  parent = fork ();
  fail_unless (parent >= 0);
  if (parent == 0) {
    GstElement *pipeline = worker_make (
        "spdlworkersrc name=worker pipeline=\"spdlsrc location=%s epochs=-1 "
        "! spdlfetch ! spdldecode width=16 height=12 ! spdlbatch "
        "batch-size=8\" "
        "! fakesink name=sink async=false",
        folder);
    pid_t pid;

    worker_play (pipeline);
    pid = worker_get_pid (pipeline);
    if (write (pipes[1], &pid, sizeof pid) != sizeof pid)
      _exit (1);
    pause ();
    _exit (0);
  }
  close (pipes[1]);
  fail_unless (read (pipes[0], worker, sizeof *worker) == sizeof *worker);
  close (pipes[0]);
  return parent;
}

/* Tests that the worker exits when its parent is killed, and that the shared
 * memory is freed with both. */
GST_START_TEST (test_orphans)
{
  gchar *folder = files_make_dataset (20);

  for (guint i = 0; i < 5; i++) {
    pid_t worker = 0;
    const pid_t parent = run_parent (folder, &worker);

    fail_unless (worker > 0 && kill (worker, 0) == 0);
    kill (parent, SIGKILL);
    waitpid (parent, NULL, 0);
    /* The worker is a zombie until its new parent waits for it. */
    wait_until (!worker_is_alive (worker));
  }
  files_remove_folder (folder);
}

GST_END_TEST;

static Suite *
worker_kills_suite (void)
{
  Suite *s = suite_create ("worker-kills");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  /* This test is first, as it forks and needs a process without threads. */
  tcase_add_test (tc, test_orphans);
  tcase_add_test (tc, test_killed);
  tcase_add_test (tc, test_restarted);
  tcase_add_test (tc, test_stopped);
  tcase_add_test (tc, test_stopped_and_restarted);
  tcase_add_test (tc, test_stopped_at_the_start);
  tcase_add_test (tc, test_sleeping);
  tcase_add_test (tc, test_restarted_at_an_end);
  tcase_add_test (tc, test_given_up);
  tcase_add_test (tc, test_kept);
  return s;
}

GST_CHECK_MAIN (worker_kills);
