/* gst-spdl: reasons why caps are refused
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/refusal.h"

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
