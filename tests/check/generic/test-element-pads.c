/* gst-spdl: tests of the pads, queries and events of all elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/generic/elements.h"

#include <gst/base/gstbasesink.h>
#include <gst/base/gstbasesrc.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

static void
start (GstElement *element)
{
  fail_if (gst_element_set_state (element, GST_STATE_PAUSED) ==
               GST_STATE_CHANGE_FAILURE,
      "%s does not start", GST_OBJECT_NAME (element));
}

static const gchar *const media[] = { "text/uri-list", "image/jpeg",
  "video/x-h264", "video/x-raw,format=RGB,width=8,height=8,framerate=0/1",
  "video/x-raw,format=I420,width=8,height=8,framerate=0/1",
  "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved",
  "audio/x-raw,format=S24_32LE,rate=8000,channels=1,layout=interleaved",
  "other/tensors,format=static,num-tensors=1,types=uint8,dimensions=(string)3,"
  "framerate=0/1",
  "other/tensors,format=flexible,framerate=0/1", GST_SPDL_SAMPLE_CAPS, "x/y" };

/* Tests that the pad accepts no caps that are not in the answer to a caps
 * query. */
static void
check_accepted (GstElement *element, GstPad *pad)
{
  g_autoptr (GstCaps) known = gst_pad_query_caps (pad, NULL);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);

  fail_unless (gst_caps_is_subset (known, template),
      "%s:%s has caps that its template has not", GST_DEBUG_PAD_NAME (pad));
  for (guint i = 0; i < G_N_ELEMENTS (media); i++) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (media[i]);
    g_autoptr (GstCaps) filtered = gst_pad_query_caps (pad, caps);

    fail_unless (gst_caps_is_subset (filtered, caps));
    /* GstBaseSrc does not answer, which counts as acceptance. */
    fail_if (!GST_IS_BASE_SRC (element) &&
                 gst_pad_query_accept_caps (pad, caps) &&
                 !gst_caps_can_intersect (known, caps),
        "%s:%s accepts %s, but does not tell", GST_DEBUG_PAD_NAME (pad),
        media[i]);
  }
}

/* Tests that the pads of the other direction are linked to @pad within the
 * element, if any are. */
static void
check_internal_links (GstElement *element, GstPad *pad)
{
  GstIterator *links = gst_pad_iterate_internal_links (pad);
  GValue value = G_VALUE_INIT;

  while (links && gst_iterator_next (links, &value) == GST_ITERATOR_OK) {
    GstPad *other = g_value_get_object (&value);

    fail_unless (GST_PAD_DIRECTION (other) != GST_PAD_DIRECTION (pad));
    fail_unless (GST_PAD_PARENT (other) == element);
    g_value_unset (&value);
  }
  if (links)
    gst_iterator_free (links);
}

static void
check_pad (GstElement *element, GstPad *pad)
{
  GstPadTemplate *templ = gst_pad_get_pad_template (pad);

  fail_unless (GST_PAD_DIRECTION (pad) == GST_PAD_TEMPLATE_DIRECTION (templ));
  gst_object_unref (templ);
  check_accepted (element, pad);
  check_internal_links (element, pad);
}

/* Tests all pads while the caps after @element are restricted. */
static void
check_before_filter (GstElement *element)
{
  GstElement *filter = gst_element_factory_make ("capsfilter", NULL);
  g_autoptr (GstCaps) caps = gst_caps_from_string ("video/x-raw");
  GstPad *sink = gst_element_get_static_pad (filter, "sink");
  GstPad *src = gst_element_get_compatible_pad (element, sink, NULL);

  g_object_set (filter, "caps", caps, NULL);
  if (src && gst_pad_link (src, sink) == GST_PAD_LINK_OK) {
    elements_for_each_pad (element, check_pad);
    gst_pad_unlink (src, sink);
  }
  if (src)
    elements_release_pad (element, src);
  gst_object_unref (sink);
  gst_object_unref (filter);
}

/* Tests that several pads can be requested, with and without a name, and that
 * released ones are gone. */
static void
check_requests (GstElement *element)
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (element);
  const guint n_before = element->numpads;

  for (GList *l = gst_element_class_get_pad_template_list (klass); l;
       l = l->next) {
    GstPadTemplate *templ = l->data;
    g_autofree gchar *name = NULL;
    GString *named;
    GstPad *pads[3];

    if (GST_PAD_TEMPLATE_PRESENCE (templ) != GST_PAD_REQUEST)
      continue;
    named = g_string_new (GST_PAD_TEMPLATE_NAME_TEMPLATE (templ));
    g_string_replace (named, "%u", "7", 0);
    name = g_string_free (named, FALSE);
    pads[0] = gst_element_request_pad (element, templ, name, NULL);
    pads[1] = gst_element_request_pad (element, templ, NULL, NULL);
    pads[2] = gst_element_request_pad (element, templ, NULL, NULL);
    fail_unless_equals_string (GST_OBJECT_NAME (pads[0]), name);
    for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
      elements_release_pad (element, pads[i]);
  }
  fail_unless_equals_int (element->numpads, n_before);
}

static void
check_pads (GstElement *element, gboolean starts)
{
  elements_for_each_pad (element, check_pad);
  check_before_filter (element);
  check_requests (element);
  if (!starts)
    return;
  start (element);
  elements_for_each_pad (element, check_pad);
  check_requests (element);
}

GST_START_TEST (test_pads)
{
  elements_for_each (check_pads);
}

GST_END_TEST;

/* Queries */

static GstQuery *
make_query (guint i)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (media[3]);

  switch (i) {
    case 0:
      return gst_query_new_position (GST_FORMAT_TIME);
    case 1:
      return gst_query_new_duration (GST_FORMAT_TIME);
    case 2:
      return gst_query_new_latency ();
    case 3:
      return gst_query_new_convert (GST_FORMAT_BYTES, 1, GST_FORMAT_TIME);
    case 4:
      return gst_query_new_segment (GST_FORMAT_TIME);
    case 5:
      return gst_query_new_seeking (GST_FORMAT_TIME);
    case 6:
      return gst_query_new_formats ();
    case 7:
      return gst_query_new_buffering (GST_FORMAT_BYTES);
    case 8:
      return gst_query_new_uri ();
    case 9:
      return gst_query_new_scheduling ();
    case 10:
      return gst_query_new_drain ();
    case 11:
      return gst_query_new_context ("gst.test");
    case 12:
      return gst_query_new_bitrate ();
    case 13:
      return gst_query_new_accept_caps (caps);
    case 14:
      return gst_query_new_caps (NULL);
    case 15:
      return gst_query_new_allocation (caps, TRUE);
    case 16:
      return gst_query_new_allocation (NULL, FALSE);
    case 17:
      return gst_query_new_custom (
          GST_QUERY_CUSTOM, gst_structure_new_empty ("test"));
    default:
      return NULL;
  }
}

static void
send_queries (GstElement *element, GstPad *pad)
{
  GstQuery *query;

  for (guint i = 0; (query = make_query (i)); i++) {
    if (GST_PAD_IS_SINK (pad) ? GST_QUERY_IS_DOWNSTREAM (query)
                              : GST_QUERY_IS_UPSTREAM (query))
      gst_pad_query (pad, query);
    gst_query_unref (query);
  }
  for (guint i = 0; (query = make_query (i)); i++) {
    if (GST_QUERY_IS_UPSTREAM (query))
      gst_element_query (element, query);
    gst_query_unref (query);
  }
}

/* Events */

/* Returns events in an order in which a stream may have them. */
static GstEvent *
make_downstream_event (guint i)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (media[3]);
  g_autoptr (GstToc) toc = NULL;
  g_autoptr (GstStreamCollection) collection = NULL;
  g_autoptr (GstMessage) message = NULL;
  GstSegment segment;

  switch (i) {
    case 0:
      return gst_event_new_flush_start ();
    case 1:
      return gst_event_new_flush_stop (TRUE);
    case 2:
      return gst_event_new_stream_start ("test");
    case 3:
      return gst_spdl_event_new_source (0, 10, "test");
    case 4:
      collection = gst_stream_collection_new ("test");
      return gst_event_new_stream_collection (collection);
    case 5:
      return gst_event_new_caps (caps);
    case 6:
      gst_segment_init (&segment, GST_FORMAT_TIME);
      return gst_event_new_segment (&segment);
    case 7:
      return gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "test", NULL));
    case 8:
      toc = gst_toc_new (GST_TOC_SCOPE_GLOBAL);
      return gst_event_new_toc (toc, FALSE);
    case 9:
      return gst_event_new_buffer_size (GST_FORMAT_BYTES, 1, 2, FALSE);
    case 10:
      message = gst_message_new_eos (NULL);
      return gst_event_new_sink_message ("test", message);
    case 11:
      return gst_event_new_gap (0, GST_SECOND);
    case 12:
      return gst_event_new_instant_rate_change (1.0, 0);
    case 13:
      return gst_event_new_custom (
          GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("test"));
    case 14:
      return gst_event_new_custom (
          GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty ("test"));
    case 15:
      return gst_event_new_custom (
          GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, gst_structure_new_empty ("test"));
    case 16:
      return gst_event_new_custom (
          GST_EVENT_CUSTOM_BOTH, gst_structure_new_empty ("test"));
    case 17:
      return gst_event_new_custom (
          GST_EVENT_CUSTOM_BOTH_OOB, gst_structure_new_empty ("test"));
    case 18:
      return gst_spdl_event_new_epoch (0, 0, 10);
    case 19:
      return gst_event_new_segment_done (GST_FORMAT_TIME, 1);
    case 20:
      return gst_event_new_stream_group_done (1);
    case 21:
      return gst_event_new_eos ();
    case 22:
      return gst_event_new_flush_start ();
    case 23:
      return gst_event_new_flush_stop (FALSE);
    default:
      return NULL;
  }
}

static GstEvent *
make_upstream_event (guint i)
{
  switch (i) {
    case 0:
      return gst_event_new_reconfigure ();
    case 1:
      return gst_event_new_qos (GST_QOS_TYPE_OVERFLOW, 1.0, 0, 0);
    case 2:
      return gst_event_new_latency (5);
    case 3:
      return gst_event_new_step (GST_FORMAT_BUFFERS, 1, 1.0, TRUE, FALSE);
    case 4:
      return gst_event_new_navigation (gst_structure_new_empty ("test"));
    case 5:
      return gst_event_new_toc_select ("test");
    case 6:
      return gst_event_new_custom (
          GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty ("test"));
    case 7:
      return gst_event_new_seek (1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
          GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0);
    case 8:
      return gst_event_new_seek (1.0, GST_FORMAT_BYTES, GST_SEEK_FLAG_NONE,
          GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0);
    case 9:
      return gst_event_new_instant_rate_sync_time (1.0, 1, 1);
    default:
      return NULL;
  }
}

static gpointer
send_to_pad (gpointer pad)
{
  GstEvent *event;

  for (guint i = 0; (event = GST_PAD_IS_SINK (pad) ? make_downstream_event (i)
                                                   : make_upstream_event (i));
       i++)
    gst_pad_send_event (pad, event);
  return NULL;
}

/* Sends all events. A sink may wait at one of them until it plays, so that
 * another thread sends them. */
static void
send_events (GstElement *element, GstPad *pad)
{
  GThread *sender = g_thread_new ("sender", send_to_pad, pad);

  wait_until_asleep ();
  if (GST_STATE (element) == GST_STATE_PAUSED)
    gst_element_set_state (element, GST_STATE_PLAYING);
  g_thread_join (sender);
}

/* Returns FALSE for what GStreamer's base classes do wrong. */
static gboolean
is_safe (GstElement *element, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEEK: /* makes the start of a source fail that cannot seek */
      return !GST_IS_BASE_SRC (element);
    case GST_EVENT_STEP: /* needs a segment, which is not checked */
    case GST_EVENT_INSTANT_RATE_SYNC_TIME:
      return !GST_IS_BASE_SINK (element);
    default:
      return TRUE;
  }
}

static void
send_to_element (GstElement *element)
{
  GstEvent *event;

  for (guint i = 0; (event = make_upstream_event (i)); i++) {
    if (is_safe (element, event))
      gst_element_send_event (element, gst_event_ref (event));
    gst_event_unref (event);
  }
  if (GST_IS_BASE_SRC (element)) {
    gst_element_send_event (element, gst_event_new_flush_start ());
    gst_element_send_event (element, gst_event_new_flush_stop (TRUE));
  }
  /* GstBaseSrc leaks an EOS that comes before the start. */
  if (GST_STATE (element) > GST_STATE_READY)
    gst_element_send_event (element, gst_event_new_eos ());
}

static void
send_all (GstElement *element, gboolean starts)
{
  elements_for_each_pad (element, send_queries);
  elements_for_each_pad (element, send_events);
  send_to_element (element);
  if (!starts)
    return;
  start (element);
  elements_for_each_pad (element, send_queries);
  elements_for_each_pad (element, send_events);
  elements_for_each_pad (element, send_queries);
  send_to_element (element);
}

/* Tests that no query and no event, in NULL and while the element runs, has an
 * effect that remains. */
GST_START_TEST (test_queries_and_events)
{
  elements_for_each (send_all);
}

GST_END_TEST;

CHECK_SUITE (element_pads, FIXTURE (NULL, elements_tear_down), TEST (test_pads),
    TEST (test_queries_and_events))
