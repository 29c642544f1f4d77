/* gst-spdl: spdlaggregate, which makes groups of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlaggregate
 * @title: spdlaggregate
 * @short_description: makes groups of items
 *
 * Collects `size` items and sends them on as one #GstBufferList, a *group*,
 * which a stage works on as one task. What is pending is sent before a
 * serialized event passes, at the end of an epoch and of the stream too; with
 * `drop-last` a group that is not full then is dropped instead, and its items
 * are announced as gone.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlaggregate size=32 ! spdlfetch concurrency=4
 *     ! spdldisaggregate ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>

#include "gst/spdl/gstspdlfilter.h"
#include "gst/spdl/gstspdlgone.h"
#include "spdlcore.h"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_SPDL_AGGREGATE_ELEMENT (gst_spdl_aggregate_element_get_type ())
GType gst_spdl_aggregate_element_get_type (void);
#define GST_SPDL_AGGREGATE_ELEMENT(obj) ((GstSpdlAggregateElement *) (obj))

typedef struct {
  GstSpdlFilter parent;

  guint size; /* under the object's lock */
  gboolean drop_last;

  GstBufferList *pending; /* under the stream lock; NULL: empty */
} GstSpdlAggregateElement;

typedef struct {
  GstSpdlFilterClass parent_class;
} GstSpdlAggregateElementClass;

enum {
  PROP_0,
  PROP_SIZE,
  PROP_DROP_LAST,
  N_PROPS,
};

#define DEFAULT_SIZE 1
#define DEFAULT_DROP_LAST FALSE

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE (
    GstSpdlAggregateElement, gst_spdl_aggregate_element, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (spdlaggregate, "spdlaggregate", GST_RANK_NONE,
    GST_TYPE_SPDL_AGGREGATE_ELEMENT)

static guint
get_size (GstSpdlAggregateElement *self)
{
  guint size;

  GST_OBJECT_LOCK (self);
  size = self->size;
  GST_OBJECT_UNLOCK (self);
  return size;
}

static GstFlowReturn
push_pending (GstSpdlAggregateElement *self)
{
  if (!self->pending)
    return GST_FLOW_OK;
  return gst_pad_push_list (
      self->parent.srcpad, g_steal_pointer (&self->pending));
}

static void
drop_pending (GstSpdlAggregateElement *self)
{
  GstSpdlGone gone;

  if (!self->pending)
    return;
  gst_spdl_gone_init (&gone);
  for (guint i = 0; i < gst_buffer_list_length (self->pending); i++)
    gst_spdl_gone_add_buffer (
        &gone, gst_buffer_list_get (self->pending, i), GST_SPDL_GONE_DROPPED);
  gst_spdl_gone_push (&gone, self->parent.srcpad);
  gst_spdl_gone_clear (&gone);
  gst_clear_buffer_list (&self->pending);
}

/* At the end of an epoch or of the stream. */
static void
end_pending (GstSpdlAggregateElement *self)
{
  gboolean drop;

  GST_OBJECT_LOCK (self);
  drop = self->drop_last;
  GST_OBJECT_UNLOCK (self);
  if (drop)
    drop_pending (self);
  else
    push_pending (self);
}

static GstFlowReturn
gst_spdl_aggregate_element_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlAggregateElement *self = GST_SPDL_AGGREGATE_ELEMENT (filter);
  const guint size = get_size (self);
  const gsize bytes = gst_buffer_get_size (buffer);

  gst_spdl_plain_stats_pass (filter->stats, 1, bytes, bytes);
  if (!self->pending)
    self->pending = gst_buffer_list_new_sized (size);
  gst_buffer_list_add (self->pending, buffer);
  if (gst_buffer_list_length (self->pending) < size)
    return GST_FLOW_OK;
  return push_pending (self);
}

static gboolean
gst_spdl_aggregate_element_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlAggregateElement *self = GST_SPDL_AGGREGATE_ELEMENT (filter);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
      gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
    end_pending (self);
  else if (GST_EVENT_IS_SERIALIZED (event) &&
           !gst_spdl_event_parse_items_gone (
               event, NULL, NULL, NULL, NULL, NULL))
    push_pending (self);
  return GST_SPDL_FILTER_CLASS (gst_spdl_aggregate_element_parent_class)
      ->event (filter, event);
}

static void
gst_spdl_aggregate_element_reset (GstSpdlFilter *filter)
{
  gst_clear_buffer_list (&GST_SPDL_AGGREGATE_ELEMENT (filter)->pending);
}

static void
gst_spdl_aggregate_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlAggregateElement *self = GST_SPDL_AGGREGATE_ELEMENT (object);

  switch (id) {
    case PROP_SIZE:
      GST_OBJECT_LOCK (self);
      self->size = g_value_get_uint (value);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_DROP_LAST:
      GST_OBJECT_LOCK (self);
      self->drop_last = g_value_get_boolean (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_aggregate_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlAggregateElement *self = GST_SPDL_AGGREGATE_ELEMENT (object);

  switch (id) {
    case PROP_SIZE:
      g_value_set_uint (value, get_size (self));
      break;
    case PROP_DROP_LAST:
      GST_OBJECT_LOCK (self);
      g_value_set_boolean (value, self->drop_last);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_aggregate_element_class_init (GstSpdlAggregateElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_spdl_aggregate_element_set_property;
  object_class->get_property = gst_spdl_aggregate_element_get_property;
  properties[PROP_SIZE] = g_param_spec_uint (
      "size", "Size", "Items of a group", 1, 1 << 20, DEFAULT_SIZE, flags);
  properties[PROP_DROP_LAST] = g_param_spec_boolean ("drop-last", "Drop last",
      "Drop a group that is not full at the end of an epoch or of the stream",
      DEFAULT_DROP_LAST, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item grouper",
      "Generic", "Makes groups of items, each a unit of work for a stage",
      "the gst-spdl developers");
  filter_class->chain = gst_spdl_aggregate_element_chain;
  filter_class->event = gst_spdl_aggregate_element_event;
  filter_class->reset = gst_spdl_aggregate_element_reset;
}

static void
gst_spdl_aggregate_element_init (GstSpdlAggregateElement *self)
{
  self->size = DEFAULT_SIZE;
  self->drop_last = DEFAULT_DROP_LAST;
  GST_PAD_SET_PROXY_CAPS (self->parent.sinkpad);
  GST_PAD_SET_PROXY_ALLOCATION (self->parent.sinkpad);
  GST_PAD_SET_PROXY_CAPS (self->parent.srcpad);
}
