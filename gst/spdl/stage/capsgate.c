/* gst-spdl: delay of events until caps are known
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/capsgate.h"

#include "gst/spdl/stage/refusal.h"

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
gst_spdl_caps_gate_open (GstSpdlCapsGate *self, GstCaps *caps)
{
  if (caps && caps != self->caps) {
    const gboolean same = self->caps && gst_caps_is_equal (caps, self->caps);

    gst_caps_replace (&self->caps, caps);
    if (!same)
      gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  }
  if (G_UNLIKELY (!g_queue_is_empty (&self->early)))
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
