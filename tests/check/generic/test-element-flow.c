/* gst-spdl: tests of state changes and flushes while data flows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/generic/elements.h"
#include "tests/check/support/slow.h"
#include "tests/check/support/suite.h"

#define SOURCE "spdlsrc epochs=-1 location=%s"
#define LOAD                           \
  SOURCE " ! spdlfetch concurrency=2 " \
         "! spdldecode concurrency=2 width=8 height=8 "

static const gchar *const compositions[] = {
  LOAD "! spdlbatch batch-size=4 ! fakesink",
  LOAD "! spdlbatch batch-size=4 ! spdlsink",
  LOAD "! spdlbatch batch-size=4 ! spdlsink async=false max-buffers=0",
  SOURCE " ! spdlaggregate size=3 ! spdlfetch ! spdldisaggregate "
         "! spdldecode width=8 height=8 ! queue ! spdlbatch ! spdlcache "
         "! fakesink sync=true",
  LOAD "! spdlpipe concurrency=2 chain=videoconvert "
       "! spdlbatch batch-size=4 ! fakesink",
  "spdlmix name=m order=arrival ! spdlfetch ! spdldecode width=8 height=8 "
  "! spdlbatch ! fakesink " SOURCE " ! m. " SOURCE " ! m.",
  SOURCE " ! spdlroute name=r src_0::condition=\"uri=*class-a*\" "
         "r.src_0 ! spdlfetch ! m. r.src_1 ! queue ! spdlfetch ! m. "
         "spdlmix name=m ! spdldecode width=8 height=8 ! spdlbatch ! fakesink",
  LOAD "! tee name=t t. ! queue ! spdlbatch ! fakesink t. ! queue ! fakesink",
};

typedef struct {
  GstElement *pipeline;
  gint stop; /* atomic */
} Stress;

static gpointer
change_states (gpointer user_data)
{
  Stress *stress = user_data;
  const guint n = spdl_test_slow_or (500, 15);

  for (guint i = 0; i < n; i++) {
    gst_element_set_state (stress->pipeline,
        g_random_int_range (GST_STATE_NULL, GST_STATE_PLAYING + 1));
    if (g_random_boolean ())
      gst_element_get_state (stress->pipeline, NULL, NULL, 10 * GST_MSECOND);
  }
  return NULL;
}

/* Flushes between state changes: GStreamer's own sources wait forever, with the
 * lock held, if the state changes between the start and the stop of a flush. */
static gpointer
flush (gpointer user_data)
{
  Stress *stress = user_data;

  while (!g_atomic_int_get (&stress->stop)) {
    GST_STATE_LOCK (stress->pipeline);
    gst_element_send_event (stress->pipeline, gst_event_new_flush_start ());
    gst_element_send_event (stress->pipeline, gst_event_new_flush_stop (TRUE));
    GST_STATE_UNLOCK (stress->pipeline);
    g_thread_yield ();
  }
  return NULL;
}

static GstElement *
make_pipeline (const gchar *description)
{
  GString *text = g_string_new (description);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline;

  g_string_replace (text, "%s", elements_get_folder (), 0);
  pipeline = gst_parse_launch (text->str, &error);
  g_assert_no_error (error);
  g_string_free (text, TRUE);
  return pipeline;
}

/* Tests random state changes from two threads, with and without flushes from a
 * third one. */
static void
stress_pipeline (const gchar *description, gboolean with_flushes)
{
  Stress stress = { make_pipeline (description), FALSE };
  GThread *flusher =
      with_flushes ? g_thread_new ("flush", flush, &stress) : NULL;
  GThread *other = g_thread_new ("states", change_states, &stress);

  change_states (&stress);
  g_thread_join (other);
  g_atomic_int_set (&stress.stop, TRUE);
  if (flusher)
    g_thread_join (flusher);
  fail_unless_equals_int (
      gst_element_set_state (stress.pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (stress.pipeline);
}

GST_START_TEST (test_states)
{
  elements_get_folder ();
  elements_begin_tracking ();
  stress_pipeline (compositions[__i__ / 2], __i__ % 2);
  elements_assert_no_leak (compositions[__i__ / 2]);
}

GST_END_TEST;

CHECK_SUITE (element_flow, FIXTURE (NULL, elements_tear_down),
    LOOP (test_states, 2 * G_N_ELEMENTS (compositions)))
