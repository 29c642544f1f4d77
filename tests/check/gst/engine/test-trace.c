/* gst-spdl: tests of the trace
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/trace.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define N_THREADS 70
#define N_EVENTS 700

static gchar *path;

static void
begin (void)
{
  g_autoptr (GError) error = NULL;

  spdl_trace_start (path, &error);
  g_assert_no_error (error);
}

/* Ends the trace. Returns: (transfer full): the contents of the file */
static gchar *
end (void)
{
  g_autoptr (GError) error = NULL;
  guint64 n_dropped = 1;
  gchar *text;

  spdl_trace_stop (&n_dropped, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_dropped, ==, 0);
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_suffix (text, "\n]}\n"));
  return text;
}

/* AddressSanitizer's strstr () measures the whole text each time, which takes a
 * minute for these. */
static guint
count (const gchar *text, const gchar *part)
{
  const gsize size = strlen (part);
  guint n = 0;

  for (const gchar *at = text; *at; at++)
    n += *at == *part && strncmp (at, part, size) == 0;
  return n;
}

static void
test_off (void)
{
  g_autoptr (GError) error = NULL;
  guint64 n_dropped = 1;

  g_assert_null (spdl_trace_get_track ("fetch"));
  g_assert_true (spdl_trace_stop (&n_dropped, &error));
  g_assert_cmpuint (n_dropped, ==, 0);
}

static void
test_kinds (void)
{
  g_autofree gchar *text = NULL;
  const gchar *track;
  guint64 now;

  begin ();
  now = g_get_monotonic_time () * 1000 + 5000000;
  track = spdl_trace_get_track ("a\"b\\c\nd");
  spdl_trace_add (track, SPDL_TRACE_TASK, now, now + 1500, 7, 2);
  spdl_trace_add (track, SPDL_TRACE_ASYNC_TASK, now, now + 1, G_MAXUINT64, 1);
  spdl_trace_add (track, SPDL_TRACE_PUSH, now, now, G_MAXUINT64, 0);
  text = end ();

  g_assert_cmpuint (count (text, "\"name\":\"a\\\"b\\\\c\\u000ad"), ==, 4);
  g_assert_cmpuint (count (text, "\"dur\":1.500,"), ==, 1);
  g_assert_cmpuint (count (text, "\"args\":{\"items\":2,\"first\":7}"), ==, 1);
  g_assert_cmpuint (count (text, "\"args\":{\"items\":1}"), ==, 1);
  g_assert_cmpuint (count (text, "\"ph\":\"b\""), ==, 1);
  g_assert_cmpuint (count (text, "\"ph\":\"e\""), ==, 1);
  g_assert_cmpuint (count (text, "\"dur\":0.000}"), ==, 1);
}

static gpointer
add_events (gpointer track)
{
  for (guint i = 0; i < N_EVENTS; i++)
    spdl_trace_add (track, SPDL_TRACE_TASK, 1, 2, i, 1);
  return NULL;
}

static void
add_in_threads (const gchar *track)
{
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("adder", add_events, (gpointer) track);
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
}

/* Threads that have ended before the trace does, and one that has not. */
static void
test_threads (void)
{
  const gchar *track;
  g_autofree gchar *text = NULL;
  g_autofree gchar *last = NULL;

  begin ();
  track = spdl_trace_get_track ("decode");
  add_in_threads (track);
  add_events ((gpointer) track);
  text = end ();
  g_assert_cmpuint (
      count (text, "\"ph\":\"X\""), ==, (N_THREADS + 1) * N_EVENTS);
  g_assert_cmpuint (count (text, "{\"name\":\"adder\"}"), ==, N_THREADS);
  g_assert_cmpuint (count (text, "\"first\":699"), ==, N_THREADS + 1);

  /* Between two traces nothing is collected. */
  add_in_threads (track);
  add_events ((gpointer) track);
  begin ();
  spdl_trace_add (track, SPDL_TRACE_STEP, 1, 2, G_MAXUINT64, 0);
  last = end ();
  g_assert_cmpuint (count (last, "\"ph\":\"X\""), ==, 1);
  g_assert_cmpuint (count (last, "adder"), ==, 0);
}

typedef struct {
  const gchar *track;
  guint round; /* atomic; 0: the last one has ended */
} Adder;

/* Adds events in each round. Their number is limited, as a trace writes all of
 * them. */
static gpointer
add_in_rounds (gpointer data)
{
  Adder *self = data;
  guint last = 0, round;

  while ((round = g_atomic_int_get (&self->round)) > 0) {
    if (round != last)
      add_events ((gpointer) self->track);
    else
      g_thread_yield ();
    last = round;
  }
  return NULL;
}

/* Threads that go on while traces end and begin. */
static void
test_while_running (void)
{
  Adder adder = { .round = 1 };
  GThread *threads[3];

  begin ();
  adder.track = spdl_trace_get_track ("fetch");
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("adder", add_in_rounds, &adder);
  for (guint i = 0; i < 30; i++) {
    g_atomic_int_inc (&adder.round);
    g_assert_true (spdl_trace_stop (NULL, NULL));
    begin ();
  }
  g_atomic_int_set (&adder.round, 0);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_true (spdl_trace_stop (NULL, NULL));
}

static void
test_errors (void)
{
  g_autofree gchar *missing = g_build_filename (path, "missing", NULL);
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = NULL;

  g_assert_false (spdl_trace_start (missing, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY);
  g_clear_error (&error);

  begin ();
  g_assert_false (spdl_trace_start (path, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_clear_error (&error);
  text = end ();

  if (!g_file_test ("/dev/full", G_FILE_TEST_EXISTS))
    return;
  g_assert_true (spdl_trace_start ("/dev/full", NULL));
  g_assert_false (spdl_trace_stop (NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *folder = g_dir_make_tmp ("spdl-trace-XXXXXX", NULL);
  int status;

  path = g_build_filename (folder, "trace.json", NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trace/off", test_off);
  g_test_add_func ("/trace/kinds", test_kinds);
  g_test_add_func ("/trace/threads", test_threads);
  g_test_add_func ("/trace/while-running", test_while_running);
  g_test_add_func ("/trace/errors", test_errors);
  status = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  return status;
}
