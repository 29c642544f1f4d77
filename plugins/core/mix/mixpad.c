/* gst-spdl: the sink pads of spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/mix/mix-private.h"

enum {
  PROP_0,
  PROP_WEIGHT,
  PROP_NUM_ITEMS,
};

#define DEFAULT_WEIGHT 1.0

G_DEFINE_TYPE (GstSpdlMixPad, gst_spdl_mix_pad, GST_TYPE_PAD)

static GstSpdlMixElement *
dup_mix (GstSpdlMixPad *self)
{
  return (GstSpdlMixElement *) gst_object_get_parent (GST_OBJECT (self));
}

static guint64
get_num_items (GstSpdlMixPad *self)
{
  GstSpdlMixElement *mix = dup_mix (self);
  guint64 n;

  if (!mix)
    return self->n_items;
  spdl_mutex_lock (&mix->lock);
  n = self->n_items;
  spdl_mutex_unlock (&mix->lock);
  gst_object_unref (mix);
  return n;
}

static void
gst_spdl_mix_pad_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  if (id != PROP_WEIGHT) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  self->weight = g_value_get_double (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spdl_mix_pad_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  switch (id) {
    case PROP_WEIGHT:
      GST_OBJECT_LOCK (self);
      g_value_set_double (value, self->weight);
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
gst_spdl_mix_pad_finalize (GObject *object)
{
  GstSpdlMixPad *self = GST_SPDL_MIX_PAD (object);

  spdl_mix_pad_reset (self);
  g_array_unref (self->sources);
  spdl_cond_clear (&self->called);
  G_OBJECT_CLASS (gst_spdl_mix_pad_parent_class)->finalize (object);
}

static void
gst_spdl_mix_pad_class_init (GstSpdlMixPadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_spdl_mix_pad_set_property;
  object_class->get_property = gst_spdl_mix_pad_get_property;
  object_class->finalize = gst_spdl_mix_pad_finalize;
  g_object_class_install_property (object_class, PROP_WEIGHT,
      g_param_spec_double ("weight", "Weight",
          "Its share of the items is this over the sum of all; above 0, and "
          "read when the state goes from READY to PAUSED",
          -G_MAXDOUBLE, G_MAXDOUBLE, DEFAULT_WEIGHT,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_NUM_ITEMS,
      g_param_spec_uint64 ("num-items", "Number of items",
          "Items that came from it since the start", 0, G_MAXUINT64, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spdl_mix_pad_init (GstSpdlMixPad *self)
{
  self->weight = DEFAULT_WEIGHT;
  self->flushing = TRUE;
  self->sources = g_array_new (FALSE, FALSE, sizeof (SpdlMixSource));
  g_queue_init (&self->held);
  spdl_cond_init (&self->called);
}

void
spdl_mix_pad_reset (GstSpdlMixPad *self)
{
  self->is_part = self->seen = self->waiting = FALSE;
  self->ended = self->in_epoch = FALSE;
  self->epoch = self->count = 0;
  g_queue_clear_full (&self->held, (GDestroyNotify) gst_event_unref);
  g_array_set_size (self->sources, 0);
  gst_clear_caps (&self->caps);
  gst_clear_event (&self->segment);
}

GstSpdlMixPad *
spdl_mix_pad_new (GstPadTemplate *templ, guint number)
{
  g_autofree gchar *name = g_strdup_printf ("sink_%u", number);
  GstSpdlMixPad *self = g_object_new (GST_TYPE_SPDL_MIX_PAD, "name", name,
      "direction", GST_PAD_SINK, "template", templ, NULL);

  self->number = number;
  spdl_mix_flow_init_pad (self);
  return self;
}
