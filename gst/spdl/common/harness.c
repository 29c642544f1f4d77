/* gst-spdl: harness that runs an element outside of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/harness.h"

#include "gst/spdl/common/logline.h"

static GstStaticPadTemplate out_template = GST_STATIC_PAD_TEMPLATE (
    "out", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

struct _GstSpdlHarness {
  GstElement *element;
  GstBus *bus;
  GstPad *first, *last; /* pads of the element; nullable */
  GstPad *to_element;
  GstPad *from_element;
  GstCaps *caps; /* of the input */
  gboolean has_segment;
  gboolean remembers; /* keeps state of previous buffers until it is stopped */
  const GstSpdlHarnessFuncs *funcs;
  gpointer user_data;

  /* An element may post messages from other threads. */
  GMutex lock;
  gchar *message;
  gchar *culprit;
};

/* Output */

static gboolean
on_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlHarness *self = gst_pad_get_element_private (pad);
  gboolean ok = TRUE;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    ok = self->funcs->caps (self->user_data, caps);
  }
  gst_event_unref (event);
  return ok;
}

static gboolean
on_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstSpdlHarness *self = gst_pad_get_element_private (pad);

  return self->funcs->query (self->user_data, query) ||
         gst_pad_query_default (pad, parent, query);
}

static GstFlowReturn
on_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstSpdlHarness *self = gst_pad_get_element_private (pad);

  return self->funcs->buffer (self->user_data, buffer);
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  GstSpdlHarness *self = user_data;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, &debug);
    SPDL_DEBUG ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message), error->message,
        GST_STR_NULL (debug));
    g_mutex_lock (&self->lock);
    if (!self->message) {
      self->message = g_strdup (error->message);
      self->culprit = g_strdup (GST_MESSAGE_SRC_NAME (message));
    }
    g_mutex_unlock (&self->lock);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* Creation */

/* Disables direct rendering of gst-libav, which creates a pool for each size
 * and fails for formats that GStreamer lacks. */
void
gst_spdl_harness_configure (GstElement *element, gboolean all)
{
  static const gchar *settings[][2] = { { "max-threads", "1" },
    { "max-errors", "0" }, { "use-threads", "false" },
    { "direct-rendering", "false" } };
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    GParamSpec *pspec = g_object_class_find_property (klass, settings[i][0]);
    g_auto (GValue) value = G_VALUE_INIT;

    if (!pspec)
      continue;
    g_value_init (&value, pspec->value_type);
    g_object_get_property (G_OBJECT (element), pspec->name, &value);
    if (all || g_param_value_defaults (pspec, &value))
      gst_util_set_object_arg (
          G_OBJECT (element), settings[i][0], settings[i][1]);
  }
}

static gboolean
link_pads (GstSpdlHarness *self)
{
  self->to_element = gst_object_ref_sink (
      gst_pad_new_from_static_template (&out_template, "out"));
  self->from_element = gst_object_ref_sink (
      gst_pad_new_from_static_template (self->funcs->end, "in"));
  gst_pad_set_element_private (self->from_element, self);
  gst_pad_set_chain_function (self->from_element, on_buffer);
  gst_pad_set_event_function (self->from_element, on_event);
  gst_pad_set_query_function (self->from_element, on_query);
  return self->first && self->last &&
         gst_pad_link (self->to_element, self->first) == GST_PAD_LINK_OK &&
         gst_pad_link (self->last, self->from_element) == GST_PAD_LINK_OK;
}

/* Returns TRUE for elements that must be restarted, since a flush does not
 * reset them: gdkpixbufdec does not handle flushes or a second size, and
 * FFmpeg's TIFF decoder keeps tags, such as the palette and the predictor, for
 * files without them. */
static gboolean
is_remembering (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *name = factory ? GST_OBJECT_NAME (factory) : "";

  return g_str_equal (name, "gdkpixbufdec") || g_str_equal (name, "avdec_tiff");
}

static gint
compare_remembering (gconstpointer item, gconstpointer user_data)
{
  return is_remembering (g_value_get_object (item)) ? 0 : 1;
}

static gboolean
has_remembering (GstElement *element)
{
  GstIterator *iterator;
  g_auto (GValue) found = G_VALUE_INIT;
  gboolean has;

  if (!GST_IS_BIN (element))
    return is_remembering (element);
  iterator = gst_bin_iterate_recurse (GST_BIN (element));
  has = gst_iterator_find_custom (iterator, compare_remembering, &found, NULL);
  gst_iterator_free (iterator);
  return has;
}

GstSpdlHarness *
gst_spdl_harness_new (GstElement *element, GstPad *first, GstPad *last,
    const GstSpdlHarnessFuncs *funcs, gpointer user_data)
{
  GstSpdlHarness *self = g_new0 (GstSpdlHarness, 1);

  g_mutex_init (&self->lock);
  self->element = gst_object_ref_sink (element);
  self->first = first;
  self->last = last;
  self->funcs = funcs;
  self->user_data = user_data;
  self->remembers = has_remembering (element);
  /* Without a message queue, which would need file descriptors. */
  self->bus = g_object_new (GST_TYPE_BUS, "enable-async", FALSE, NULL);
  gst_object_ref_sink (self->bus);
  gst_bus_set_sync_handler (self->bus, on_message, self, NULL);
  gst_element_set_bus (element, self->bus);
  if (!link_pads (self))
    g_clear_pointer (&self, gst_spdl_harness_free);
  return self;
}

static void
stop_element (GstSpdlHarness *self, GstState state)
{
  gst_element_set_state (self->element, state);
  gst_pad_set_active (self->to_element, FALSE);
  gst_pad_set_active (self->from_element, FALSE);
  self->has_segment = FALSE;
}

void
gst_spdl_harness_free (GstSpdlHarness *self)
{
  stop_element (self, GST_STATE_NULL);
  gst_element_set_bus (self->element, NULL);
  gst_bus_set_sync_handler (self->bus, NULL, NULL, NULL);
  gst_clear_object (&self->first);
  gst_clear_object (&self->last);
  gst_clear_object (&self->element);
  gst_clear_object (&self->bus);
  gst_clear_object (&self->to_element);
  gst_clear_object (&self->from_element);
  gst_clear_caps (&self->caps);
  g_free (self->message);
  g_free (self->culprit);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static gboolean
push_segment (GstSpdlHarness *self)
{
  GstSegment segment;

  /* TIME format: each buffer is a whole item. */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  self->has_segment = TRUE;
  return gst_pad_push_event (
      self->to_element, gst_event_new_segment (&segment));
}

static gboolean
push_caps (GstSpdlHarness *self, GstCaps *caps)
{
  if (!caps || self->caps == caps)
    return TRUE;
  gst_caps_replace (&self->caps, caps);
  return gst_pad_push_event (self->to_element, gst_event_new_caps (caps));
}

gboolean
gst_spdl_harness_start (GstSpdlHarness *self, GstCaps *caps)
{
  gst_pad_set_active (self->from_element, TRUE);
  if (gst_element_set_state (self->element, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE)
    return FALSE;
  gst_pad_set_active (self->to_element, TRUE);
  gst_pad_push_event (self->to_element, gst_event_new_stream_start ("spdl"));
  return !caps || (push_caps (self, caps) && push_segment (self));
}

gboolean
gst_spdl_harness_restart (GstSpdlHarness *self)
{
  stop_element (self, GST_STATE_READY);
  /* They are sent again with the next buffer. */
  gst_clear_caps (&self->caps);
  return gst_spdl_harness_start (self, NULL);
}

/* Data */

GstFlowReturn
gst_spdl_harness_push (GstSpdlHarness *self, GstBuffer *buffer, GstCaps *caps)
{
  if (push_caps (self, caps) && (self->has_segment || push_segment (self)))
    return gst_pad_push (self->to_element, buffer);
  gst_buffer_unref (buffer);
  return GST_FLOW_NOT_NEGOTIATED;
}

void
gst_spdl_harness_drain (GstSpdlHarness *self)
{
  gst_pad_push_event (self->to_element, gst_event_new_eos ());
}

void
gst_spdl_harness_flush (GstSpdlHarness *self)
{
  if (self->remembers) {
    gst_spdl_harness_restart (self);
    return;
  }
  gst_pad_push_event (self->to_element, gst_event_new_flush_start ());
  gst_pad_push_event (self->to_element, gst_event_new_flush_stop (TRUE));
  self->has_segment = FALSE;
  if (self->caps) /* which come before the segment */
    push_segment (self);
}

void
gst_spdl_harness_interrupt (GstSpdlHarness *self)
{
  gst_pad_push_event (self->to_element, gst_event_new_flush_start ());
}

void
gst_spdl_harness_reconfigure (GstSpdlHarness *self)
{
  gst_pad_push_event (self->from_element, gst_event_new_reconfigure ());
}

gchar *
gst_spdl_harness_take_message (GstSpdlHarness *self, gchar **element)
{
  gchar *message;

  g_mutex_lock (&self->lock);
  message = g_steal_pointer (&self->message);
  if (element)
    *element = g_steal_pointer (&self->culprit);
  else
    g_clear_pointer (&self->culprit, g_free);
  g_mutex_unlock (&self->lock);
  return message;
}
