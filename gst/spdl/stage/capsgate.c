/* gst-spdl: caps: events that wait for them, and their refusal
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/capsgate.h"

void
gst_spdl_caps_gate_init (GstSpdlCapsGate *self, GstPad *srcpad)
{
  self->srcpad = srcpad;
  self->caps = NULL;
  g_queue_init (&self->early);
}

void
gst_spdl_caps_gate_flush (GstSpdlCapsGate *self)
{
  for (GList *l = self->early.head, *next; l; l = next) {
    next = l->next;
    if (GST_EVENT_TYPE (l->data) != GST_EVENT_SEGMENT &&
        GST_EVENT_IS_STICKY (l->data))
      continue;
    gst_event_unref (l->data);
    g_queue_delete_link (&self->early, l);
  }
}

void
gst_spdl_caps_gate_clear (GstSpdlCapsGate *self)
{
  g_queue_clear_full (&self->early, (GDestroyNotify) gst_event_unref);
  gst_clear_caps (&self->caps);
}

static void
send_early (GstSpdlCapsGate *self)
{
  GstEvent *event;

  while ((event = g_queue_pop_head (&self->early)))
    gst_pad_push_event (self->srcpad, event);
}

/* Returns TRUE if @event must follow the caps. */
static gboolean
needs_caps (GstEvent *event)
{
  const GstStructure *s = gst_event_get_structure (event);

  return GST_EVENT_TYPE (event) > GST_EVENT_CAPS &&
         !(s && g_str_has_prefix (gst_structure_get_name (s), "spdl-"));
}

/* Makes @gap (transfer full) the end of a gap that was held back. */
static void
extend_gap (GstEvent **held, GstEvent *gap)
{
  GstClockTime start, begin, duration;

  gst_event_parse_gap (*held, &start, NULL);
  gst_event_parse_gap (gap, &begin, &duration);
  if (GST_CLOCK_TIME_IS_VALID (duration) && begin + duration > start)
    gst_event_take (held, gst_event_new_gap (start, begin + duration - start));
  gst_event_unref (gap);
}

/* A stream may consist of gaps for hours, so they are joined. */
static void
hold_back (GstSpdlCapsGate *self, GstEvent *event)
{
  GList *last = self->early.tail;

  if (last && GST_EVENT_TYPE (event) == GST_EVENT_GAP &&
      GST_EVENT_TYPE (last->data) == GST_EVENT_GAP)
    extend_gap ((GstEvent **) &last->data, event);
  else
    g_queue_push_tail (&self->early, event);
}

void
gst_spdl_caps_gate_push_event (GstSpdlCapsGate *self, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    send_early (self);
  } else if (!self->caps && needs_caps (event)) {
    hold_back (self, event);
    return;
  }
  gst_pad_push_event (self->srcpad, event);
}

void
gst_spdl_caps_gate_send (GstSpdlCapsGate *self, GstCaps *caps)
{
  if (caps && caps != self->caps) {
    const gboolean same = self->caps && gst_caps_is_equal (caps, self->caps);

    gst_caps_replace (&self->caps, caps);
    if (!same)
      gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  }
  if (self->early.head)
    send_early (self);
}

GError *
gst_spdl_caps_gate_explain (const GstSpdlCapsGate *self)
{
  g_autoptr (GstCaps) taken = NULL;
  g_autofree gchar *has = NULL, *takes = NULL;
  GError *reason;

  if (!self->caps || gst_pad_peer_query_accept_caps (self->srcpad, self->caps))
    return NULL;
  taken = gst_pad_peer_query_caps (self->srcpad, NULL);
  if ((reason = gst_spdl_pad_ask_refusal (self->srcpad, self->caps, taken)))
    return reason;
  has = gst_caps_to_string (self->caps);
  takes = gst_caps_to_string (taken);
  return g_error_new (GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
      "The results are %s, but the next element accepts only %s: change the "
      "caps filter after this element, or the properties that determine the "
      "results",
      has, takes);
}

/* Refusal */

#define REFUSAL "spdl-refusal" /* name of the query */

/* Pad that got a caps event in this thread and is asked next, by GStreamer, if
 * it accepts the caps. */
static __thread GstPad *asked_next = NULL;

static GstPadProbeReturn
see_event (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const gboolean is_caps =
      GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CAPS;

  asked_next = is_caps ? pad : NULL;
  return GST_PAD_PROBE_OK;
}

static gboolean
answer_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  const GstPadQueryFunction answer = (GstPadQueryFunction) pad->querydata;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS || asked_next != pad)
    return answer (pad, parent, query);
  asked_next = NULL;
  gst_query_set_accept_caps_result (query, TRUE);
  return TRUE;
}

void
gst_spdl_pad_take_all_caps_events (GstPad *sinkpad)
{
  gst_pad_set_query_function_full (
      sinkpad, answer_query, (gpointer) GST_PAD_QUERYFUNC (sinkpad), NULL);
  gst_pad_add_probe (
      sinkpad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, see_event, NULL, NULL);
}

GError *
gst_spdl_pad_ask_refusal (GstPad *srcpad, GstCaps *caps, GstCaps *taken)
{
  GstQuery *query = gst_query_new_custom (GST_QUERY_CUSTOM,
      gst_structure_new (REFUSAL, "caps", GST_TYPE_CAPS, caps, NULL));
  g_autoptr (GstCaps) known = NULL;
  GError *error = NULL;

  if (gst_pad_peer_query (srcpad, query))
    gst_structure_get (gst_query_get_structure (query), "error", G_TYPE_ERROR,
        &error, "known", GST_TYPE_CAPS, &known, NULL);
  gst_query_unref (query);
  /* Otherwise an element before the one that answers has refused the caps. */
  if (known && !gst_caps_can_intersect (known, taken))
    g_clear_error (&error);
  return error;
}

GstCaps *
gst_spdl_query_parse_refusal (GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_CUSTOM ||
      !gst_structure_has_name (gst_query_get_structure (query), REFUSAL))
    return NULL;
  return g_value_get_boxed (
      gst_structure_get_value (gst_query_get_structure (query), "caps"));
}

void
gst_spdl_query_set_refusal (GstQuery *query, GstPad *pad, const GError *error)
{
  g_autoptr (GstCaps) known = gst_pad_get_pad_template_caps (pad);

  gst_structure_set (gst_query_writable_structure (query), "error",
      G_TYPE_ERROR, error, "known", GST_TYPE_CAPS, known, NULL);
}
