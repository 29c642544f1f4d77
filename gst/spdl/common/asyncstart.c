/* gst-spdl: asynchronous start of a source
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/asyncstart.h"

/* Data of an element, guarded by its object lock. */
typedef struct {
  SpdlAsyncStart state;
  gboolean watches_end;
  gboolean fails;                    /* its error is being posted */
  void (*func) (gpointer user_data); /* nullable */
  gpointer user_data;
} Start;

/* Object lock held. Returns: (nullable): NULL: the element has never started */
static Start *
get_start (GstElement *element)
{
  return g_object_get_data (G_OBJECT (element), "spdl-async-start");
}

/* The state lock of the element is held, or it is in READY. */
static Start *
need_start (GstElement *element)
{
  Start *start = get_start (element);

  if (!start)
    g_object_set_data_full (G_OBJECT (element), "spdl-async-start",
        start = g_new0 (Start, 1), g_free);
  return start;
}

/* Ends a start whose create() was never called, because the stream ended
 * before: after an error of another element, or without caps. */
static GstPadProbeReturn
on_event (GstPad *pad, GstPadProbeInfo *info, gpointer element)
{
  gboolean ends;

  GST_OBJECT_LOCK (element);
  ends = get_start (element)->state == SPDL_ASYNC_START_ACTIVE &&
         !get_start (element)->fails;
  GST_OBJECT_UNLOCK (element);
  if (ends && GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    spdl_async_start_end (element, TRUE);
  return GST_PAD_PROBE_OK;
}

/* The element is in READY. */
static void
watch_end (GstElement *element, Start *start)
{
  g_autoptr (GstPad) pad = NULL;

  if (start->watches_end)
    return;
  start->watches_end = TRUE;
  pad = gst_element_get_static_pad (element, "src");
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, element, NULL);
}

GstStateChangeReturn
spdl_async_start_begin (GstElement *element)
{
  Start *start = need_start (element);
  gboolean at_once;

  watch_end (element, start);
  GST_OBJECT_LOCK (element);
  start->state = SPDL_ASYNC_START_ACTIVE;
  start->fails = FALSE;
  at_once = start->func != NULL;
  GST_OBJECT_UNLOCK (element);
  if (at_once)
    return GST_STATE_CHANGE_SUCCESS;
  gst_element_post_message (
      element, gst_message_new_async_start (GST_OBJECT (element)));
  return GST_STATE_CHANGE_ASYNC;
}

void
spdl_async_start_fail (GstElement *element)
{
  GST_OBJECT_LOCK (element);
  if (get_start (element))
    get_start (element)->fails = TRUE;
  GST_OBJECT_UNLOCK (element);
}

static void
post_change (
    GstElement *element, GstState before, GstState state, GstState target)
{
  gst_element_post_message (
      element, gst_message_new_state_changed (GST_OBJECT (element), before,
                   state, state == target ? GST_STATE_VOID_PENDING : target));
}

static void
post_end (GstElement *element, GstState target)
{
  post_change (element, GST_STATE_READY, GST_STATE_PAUSED, target);
  gst_element_post_message (element,
      gst_message_new_async_done (GST_OBJECT (element), GST_CLOCK_TIME_NONE));
  if (target == GST_STATE_PLAYING)
    post_change (element, GST_STATE_PAUSED, GST_STATE_PLAYING, target);
  GST_STATE_BROADCAST (element);
}

/* Commits the state without the state lock, like GstBaseSink: a change of state
 * that waits for the streaming thread holds it. */
void
spdl_async_start_end (GstElement *element, gboolean ok)
{
  Start *start = get_start (element), copy;
  gboolean commits;
  GstState target;

  GST_OBJECT_LOCK (element);
  start->state = ok ? SPDL_ASYNC_START_DONE : SPDL_ASYNC_START_FAILED;
  copy = *start;
  target = GST_STATE_PENDING (element);
  commits = !copy.func && GST_STATE (element) < GST_STATE_PAUSED &&
            target >= GST_STATE_PAUSED;
  if (commits) {
    GST_STATE (element) = target;
    GST_STATE_NEXT (element) = GST_STATE_VOID_PENDING;
    GST_STATE_PENDING (element) = GST_STATE_VOID_PENDING;
    GST_STATE_RETURN (element) = GST_STATE_CHANGE_SUCCESS;
  }
  GST_OBJECT_UNLOCK (element);

  if (commits)
    post_end (element, target);
  if (copy.func)
    copy.func (copy.user_data);
}

void
spdl_async_start_clear (GstElement *element)
{
  Start *start = get_start (element);

  if (!start)
    return;
  GST_OBJECT_LOCK (element);
  start->state = SPDL_ASYNC_START_DONE;
  GST_OBJECT_UNLOCK (element);
}

SpdlAsyncStart
spdl_async_start_get (GstElement *element)
{
  Start *start = get_start (element);
  SpdlAsyncStart state;

  if (!start)
    return SPDL_ASYNC_START_DONE;
  GST_OBJECT_LOCK (element);
  state = start->state;
  GST_OBJECT_UNLOCK (element);
  return state;
}

void
spdl_async_start_set_func (
    GstElement *element, void (*func) (gpointer user_data), gpointer user_data)
{
  Start *start = need_start (element);

  GST_OBJECT_LOCK (element);
  start->func = func;
  start->user_data = user_data;
  GST_OBJECT_UNLOCK (element);
}
