/* gst-spdl: base class of elements that work in the upstream thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/plainfilter.h"

#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/capsgate.h"

enum {
  PROP_0,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

static void gst_spdl_filter_class_init (gpointer klass, gpointer data);
static void gst_spdl_filter_init (GTypeInstance *instance, gpointer klass);

static gpointer parent_class = NULL;

/* Registers the type by hand, like GstSpdlStage, because the initializer needs
 * the subclass for its templates. */
GType
gst_spdl_filter_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_type_register_static_simple (GST_TYPE_ELEMENT,
                   g_intern_static_string ("GstSpdlFilter"),
                   sizeof (GstSpdlFilterClass), gst_spdl_filter_class_init,
                   sizeof (GstSpdlFilter), gst_spdl_filter_init,
                   G_TYPE_FLAG_ABSTRACT));
  return type;
}

static GstFlowReturn
filter_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return GST_SPDL_FILTER_GET_CLASS (parent)->chain (
      GST_SPDL_FILTER (parent), buffer);
}

static GstFlowReturn
filter_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  return GST_SPDL_FILTER_GET_CLASS (parent)->chain_list (
      GST_SPDL_FILTER (parent), list);
}

static gboolean
steal_buffer (GstBuffer **buffer, guint i, gpointer user_data)
{
  GstBuffer ***next = user_data;

  *(*next)++ = g_steal_pointer (buffer);
  return TRUE;
}

/* Splits a list into its buffers. The list must not keep a reference to them,
 * because later elements could then change them only with a copy. */
static GstBuffer **
take_apart (GstBufferList *list, guint n)
{
  GstBuffer **buffers = g_new0 (GstBuffer *, n);
  GstBuffer **next = buffers;

  if (gst_buffer_list_is_writable (list)) {
    gst_buffer_list_foreach (list, steal_buffer, &next);
  } else {
    for (guint i = 0; i < n; i++)
      buffers[i] = gst_buffer_ref (gst_buffer_list_get (list, i));
  }
  gst_buffer_list_unref (list);
  return buffers;
}

static GstFlowReturn
chain_each (GstSpdlFilter *self, GstBufferList *list)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);
  /* Stealing empties the list, so its length is read first. */
  const guint n = gst_buffer_list_length (list);
  g_autofree GstBuffer **buffers = take_apart (list, n);
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n; i++) {
    if (ret == GST_FLOW_OK)
      ret = klass->chain (self, buffers[i]);
    else
      gst_buffer_unref (buffers[i]);
  }
  return ret;
}

static gboolean
pass_event (GstSpdlFilter *self, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_plain_stats_finish (self->stats);
  return gst_pad_push_event (self->srcpad, event);
}

static void
reset_data (GstSpdlFilter *self)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);

  if (klass->reset)
    klass->reset (self);
}

static gboolean
filter_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (parent);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    reset_data (self);
  return GST_SPDL_FILTER_GET_CLASS (self)->event (self, event);
}

static void
gst_spdl_filter_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_set_interval (GST_SPDL_FILTER (object)->stats, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_filter_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (object);

  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_get_interval (self->stats, value);
  else if (id == PROP_STAGE_STATS)
    gst_spdl_plain_stats_get_stats (self->stats, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static gboolean
start_filter (GstSpdlFilter *self)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);
  g_autoptr (GError) error = NULL;

  if (klass->start && !klass->start (self, &error)) {
    gst_spdl_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  gst_spdl_plain_stats_start (self->stats);
  return TRUE;
}

static void
stop_filter (GstSpdlFilter *self)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);

  gst_spdl_plain_stats_stop (self->stats);
  reset_data (self);
  if (klass->stop)
    klass->stop (self);
}

static GstStateChangeReturn
gst_spdl_filter_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start_filter (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    stop_filter (self);
  return ret;
}

static void
gst_spdl_filter_finalize (GObject *object)
{
  gst_spdl_plain_stats_free (GST_SPDL_FILTER (object)->stats);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_spdl_filter_class_init (gpointer klass, gpointer data)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstSpdlFilterClass *filter_class = klass;

  parent_class = g_type_class_peek_parent (klass);
  object_class->set_property = gst_spdl_filter_set_property;
  object_class->get_property = gst_spdl_filter_get_property;
  object_class->finalize = gst_spdl_filter_finalize;
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);

  GST_ELEMENT_CLASS (klass)->change_state = gst_spdl_filter_change_state;
  filter_class->chain_list = chain_each;
  filter_class->event = pass_event;
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_FILTER, 0);
}

static void
gst_spdl_filter_init (GTypeInstance *instance, gpointer klass)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (instance);
  GstElement *element = (GstElement *) instance;
  GstPadTemplate *templ;

  self->stats =
      gst_spdl_plain_stats_new (element, GST_SPDL_FILTER_CLASS (klass)->fields);

  if ((templ = gst_element_class_get_pad_template (klass, "sink"))) {
    self->sinkpad = gst_pad_new_from_template (templ, "sink");
    gst_pad_set_chain_function (self->sinkpad, filter_chain);
    gst_pad_set_chain_list_function (self->sinkpad, filter_chain_list);
    gst_pad_set_event_function (self->sinkpad, filter_sink_event);
    gst_element_add_pad (element, self->sinkpad);
  }
  if ((templ = gst_element_class_get_pad_template (klass, "src"))) {
    self->srcpad = gst_pad_new_from_template (templ, "src");
    gst_element_add_pad (element, self->srcpad);
  }
}

void
gst_spdl_filter_set_proxy (GstSpdlFilter *self)
{
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  gst_spdl_pad_take_all_caps_events (self->sinkpad);
  GST_PAD_SET_PROXY_ALLOCATION (self->sinkpad);
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
}
