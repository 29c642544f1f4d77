/* gst-spdl: the source pads of spdlroute
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/gone.h"
#include "plugins/core/route/route-private.h"

enum {
  PROP_0,
  PROP_WHEN,
  PROP_NUM_ITEMS,
};

G_DEFINE_TYPE (GstSpdlRoutePad, gst_spdl_route_pad, GST_TYPE_PAD)

static GstSpdlRouteElement *
dup_route (GstSpdlRoutePad *self)
{
  return (GstSpdlRouteElement *) gst_object_get_parent (GST_OBJECT (self));
}

static guint64
get_num_items (GstSpdlRoutePad *self)
{
  GstSpdlRouteElement *route = dup_route (self);
  guint64 n;

  if (!route)
    return self->n_items;
  spdl_mutex_lock (&route->lock);
  n = self->n_items;
  spdl_mutex_unlock (&route->lock);
  gst_object_unref (route);
  return n;
}

/* While it runs there is no start that could tell of a flaw. */
static void
tell_flaw (GstSpdlRoutePad *self, const GError *flaw)
{
  GstSpdlRouteElement *route = dup_route (self);
  gboolean started;

  if (!route)
    return;
  spdl_mutex_lock (&route->lock);
  started = route->started;
  spdl_mutex_unlock (&route->lock);
  if (started)
    gst_spdl_post_error (GST_ELEMENT (route), flaw);
  gst_object_unref (route);
}

static void
set_when (GstSpdlRoutePad *self, const gchar *when)
{
  GError *flaw = NULL;
  g_autoptr (GError) told = NULL;
  SpdlCondition *condition = when ? spdl_condition_parse (when, &flaw) : NULL;

  if (flaw) {
    g_prefix_error (&flaw, "%s: ", GST_OBJECT_NAME (self));
    told = g_error_copy (flaw);
  }
  GST_OBJECT_LOCK (self);
  g_free (self->when);
  self->when = g_strdup (when);
  g_clear_error (&self->flaw);
  self->flaw = flaw;
  g_clear_pointer (&self->condition, spdl_condition_free);
  self->condition = condition;
  GST_OBJECT_UNLOCK (self);
  if (told)
    tell_flaw (self, told);
}

static void
gst_spdl_route_pad_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_WHEN)
    set_when (GST_SPDL_ROUTE_PAD (object), g_value_get_string (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_route_pad_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlRoutePad *self = GST_SPDL_ROUTE_PAD (object);

  switch (id) {
    case PROP_WHEN:
      GST_OBJECT_LOCK (self);
      g_value_set_string (value, self->when);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_NUM_ITEMS:
      g_value_set_uint64 (value, get_num_items (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_route_pad_finalize (GObject *object)
{
  GstSpdlRoutePad *self = GST_SPDL_ROUTE_PAD (object);

  spdl_route_join_ender (self);
  spdl_route_pad_reset (self);
  g_clear_pointer (&self->condition, spdl_condition_free);
  g_clear_error (&self->flaw);
  g_free (self->when);
  G_OBJECT_CLASS (gst_spdl_route_pad_parent_class)->finalize (object);
}

static void
gst_spdl_route_pad_class_init (GstSpdlRoutePadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_spdl_route_pad_set_property;
  object_class->get_property = gst_spdl_route_pad_get_property;
  object_class->finalize = gst_spdl_route_pad_finalize;
  g_object_class_install_property (object_class, PROP_WHEN,
      g_param_spec_string ("when", "When",
          "Which items go here: label=NUMBER, uri=GLOB, caps=CAPS or "
          "extra.FIELD=VALUE (NULL = all that are left)",
          NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_NUM_ITEMS,
      g_param_spec_uint64 ("num-items", "Number of items",
          "Items that went here since the start", 0, G_MAXUINT64, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spdl_route_pad_init (GstSpdlRoutePad *self)
{
  gst_spdl_caps_gate_init (&self->gate, GST_PAD (self));
  g_queue_init (&self->ends);
  self->is_new = TRUE;
}

void
spdl_route_pad_reset (GstSpdlRoutePad *self)
{
  g_queue_clear_full (&self->ends, (GDestroyNotify) gst_event_unref);
  gst_spdl_caps_gate_clear (&self->gate);
  self->is_new = TRUE;
  self->result = GST_FLOW_OK;
}

gboolean
spdl_route_pad_takes (GstSpdlRoutePad *self, GstBuffer *item, GstCaps *caps)
{
  gboolean takes;

  GST_OBJECT_LOCK (self);
  if (self->condition)
    takes = spdl_condition_holds (self->condition, item, caps);
  else
    takes = self->flaw == NULL;
  GST_OBJECT_UNLOCK (self);
  return takes;
}

GstSpdlRoutePad *
spdl_route_pad_new (GstPadTemplate *templ, guint number)
{
  g_autofree gchar *name = g_strdup_printf ("src_%u", number);
  GstSpdlRoutePad *self = g_object_new (GST_TYPE_SPDL_ROUTE_PAD, "name", name,
      "direction", GST_PAD_SRC, "template", templ, NULL);

  self->number = number;
  gst_pad_use_fixed_caps (GST_PAD (self));
  return self;
}
