/* gst-spdl: tests of the state changes of all elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/generic/elements.h"
#include "tests/check/support/slow.h"
#include "tests/check/support/suite.h"

/* Changes states in all ways. Returns without waiting for asynchronous changes:
 * a sink alone gets no data. */
static void
change_states (GstElement *element, gboolean starts)
{
  static const GstState states[] = { GST_STATE_READY, GST_STATE_PAUSED,
    GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL,
    GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PAUSED, GST_STATE_READY,
    GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_READY, GST_STATE_PLAYING,
    GST_STATE_NULL, GST_STATE_READY, GST_STATE_NULL };

  for (guint i = 0; i < G_N_ELEMENTS (states); i++) {
    const GstStateChangeReturn ret = gst_element_set_state (element, states[i]);

    fail_if (ret == GST_STATE_CHANGE_FAILURE &&
                 (starts || states[i] <= GST_STATE_READY),
        "%s: %u. change, to %s, failed", GST_OBJECT_NAME (element), i,
        gst_element_state_get_name (states[i]));
    /* A source is live or not, and a sink waits for data. */
    if (states[i] <= GST_STATE_READY)
      fail_unless_equals_int (ret, GST_STATE_CHANGE_SUCCESS);
  }
}

GST_START_TEST (test_one_thread)
{
  elements_for_each (change_states);
}

GST_END_TEST;

static gpointer
change_at_random (gpointer element)
{
  const guint n = spdl_test_slow_or (500, 20);

  for (guint i = 0; i < n; i++)
    gst_element_set_state (
        element, g_random_int_range (GST_STATE_NULL, GST_STATE_PLAYING + 1));
  return NULL;
}

static void
change_from_threads (GstElement *element, gboolean starts)
{
  GThread *other = g_thread_new ("states", change_at_random, element);

  change_at_random (element);
  g_thread_join (other);
}

GST_START_TEST (test_two_threads)
{
  elements_for_each (change_from_threads);
}

GST_END_TEST;

/* Reads all properties, as a program that shows them does, until told to stop.
 */
static gpointer
read_properties (gpointer element)
{
  g_autofree GParamSpec **all = NULL;
  guint n;

  all = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  while (!g_object_get_data (element, "stop"))
    for (guint i = 0; i < n; i++)
      if (all[i]->flags & G_PARAM_READABLE) {
        GValue value = G_VALUE_INIT;

        g_object_get_property (element, all[i]->name, &value);
        g_value_unset (&value);
      }
  return NULL;
}

static void
change_and_read (GstElement *element, gboolean starts)
{
  GThread *reader = g_thread_new ("reader", read_properties, element);

  change_at_random (element);
  g_object_set_data (G_OBJECT (element), "stop", element);
  g_thread_join (reader);
}

GST_START_TEST (test_reading)
{
  elements_for_each (change_and_read);
}

GST_END_TEST;

CHECK_SUITE (element_states, FIXTURE (NULL, elements_tear_down),
    TEST (test_one_thread), TEST (test_two_threads), TEST (test_reading))
