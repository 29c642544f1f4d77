/* gst-spdl: elements with numbered request pads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/numberedpads.h"

#include <stdio.h>
#include <string.h>

/* Pads */

G_DEFINE_ABSTRACT_TYPE (GstSpdlNumberedPad, gst_spdl_numbered_pad, GST_TYPE_PAD)

/* Implements `num-items`, which the lock of the element guards. */
static void
get_num_items (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlNumberedPad *self = (GstSpdlNumberedPad *) object;
  GstSpdlNumberedPads *parent =
      GST_SPDL_NUMBERED_PADS (gst_object_get_parent (GST_OBJECT (self)));

  if (parent)
    spdl_mutex_lock (&parent->lock);
  g_value_set_uint64 (value, self->n_items);
  if (!parent)
    return;
  spdl_mutex_unlock (&parent->lock);
  gst_object_unref (parent);
}

static void
gst_spdl_numbered_pad_class_init (GstSpdlNumberedPadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = get_num_items;
  g_object_class_install_property (object_class, 1,
      g_param_spec_uint64 ("num-items", "Number of items",
          "Number of items that passed this pad since the start", 0,
          G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spdl_numbered_pad_init (GstSpdlNumberedPad *self)
{
}

/* Elements */

static void implement_children (gpointer iface, gpointer data);

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstSpdlNumberedPads, gst_spdl_numbered_pads,
    gst_spdl_filter_get_type (),
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, implement_children))

static GstSpdlNumberedPad *
get_pad (const GstSpdlNumberedPads *self, guint i)
{
  return g_ptr_array_index (self->pads, i);
}

GstSpdlNumberedPad *
spdl_numbered_pads_find (const GstSpdlNumberedPads *self, guint number)
{
  for (guint i = 0; i < self->pads->len; i++)
    if (get_pad (self, i)->number == number)
      return get_pad (self, i);
  return NULL;
}

/* Returns the length of a template's name before the number. */
static gsize
get_stem (GstPadTemplate *templ)
{
  return strlen (GST_PAD_TEMPLATE_NAME_TEMPLATE (templ)) - strlen ("%u");
}

/* Lock held. Returns FALSE if the number in @name (nullable) is taken; without
 * one, it is the lowest free number. */
static gboolean
choose_number (GstSpdlNumberedPads *self, GstPadTemplate *templ,
    const gchar *name, guint *number)
{
  const gsize stem = get_stem (templ);

  *number = 0;
  if (name &&
      strncmp (name, GST_PAD_TEMPLATE_NAME_TEMPLATE (templ), stem) == 0 &&
      sscanf (name + stem, "%u", number) == 1)
    return !spdl_numbered_pads_find (self, *number);
  while (spdl_numbered_pads_find (self, *number))
    (*number)++;
  return TRUE;
}

static GstPad *
make_pad (GType type, GstPadTemplate *templ, guint number)
{
  g_autofree gchar *name = g_strdup_printf ("%.*s%u", (gint) get_stem (templ),
      GST_PAD_TEMPLATE_NAME_TEMPLATE (templ), number);
  GstPad *pad = g_object_new (type, "name", name, "direction",
      GST_PAD_TEMPLATE_DIRECTION (templ), "template", templ, NULL);

  ((GstSpdlNumberedPad *) pad)->number = number;
  return pad;
}

static GstPad *
request_new_pad (GstElement *element, GstPadTemplate *templ, const gchar *name,
    const GstCaps *caps)
{
  GstSpdlNumberedPads *self = GST_SPDL_NUMBERED_PADS (element);
  GstSpdlNumberedPadsClass *klass =
      GST_SPDL_NUMBERED_PADS_CLASS (G_OBJECT_GET_CLASS (element));
  GstPad *pad = NULL;
  guint number;

  spdl_mutex_lock (&self->lock);
  if ((!klass->may_add || klass->may_add (self)) &&
      choose_number (self, templ, name, &number)) {
    pad = make_pad (klass->pad_type, templ, number);
    g_ptr_array_add (self->pads, gst_object_ref_sink (pad));
  }
  spdl_mutex_unlock (&self->lock);
  if (!pad) {
    GST_WARNING_OBJECT (self,
        "cannot add a pad: the name is taken, or the element has started");
    return NULL;
  }
  gst_element_add_pad (element, pad);
  gst_child_proxy_child_added (
      GST_CHILD_PROXY (self), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  return pad;
}

static void
release_pad (GstElement *element, GstPad *pad)
{
  GstSpdlNumberedPadsClass *klass =
      GST_SPDL_NUMBERED_PADS_CLASS (G_OBJECT_GET_CLASS (element));

  gst_object_ref (pad);
  klass->remove (GST_SPDL_NUMBERED_PADS (element), (GstSpdlNumberedPad *) pad);
  gst_child_proxy_child_removed (
      GST_CHILD_PROXY (element), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  gst_element_remove_pad (element, pad);
  gst_object_unref (pad);
}

static GObject *
get_child (GstChildProxy *proxy, guint i)
{
  GstSpdlNumberedPads *self = GST_SPDL_NUMBERED_PADS (proxy);
  GObject *pad = NULL;

  spdl_mutex_lock (&self->lock);
  if (i < self->pads->len)
    pad = g_object_ref (g_ptr_array_index (self->pads, i));
  spdl_mutex_unlock (&self->lock);
  return pad;
}

static guint
count_children (GstChildProxy *proxy)
{
  GstSpdlNumberedPads *self = GST_SPDL_NUMBERED_PADS (proxy);
  guint n;

  spdl_mutex_lock (&self->lock);
  n = self->pads->len;
  spdl_mutex_unlock (&self->lock);
  return n;
}

static void
implement_children (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_child_by_index = get_child;
  proxy->get_children_count = count_children;
}

void
spdl_numbered_pads_reset_counts (GstSpdlNumberedPads *self)
{
  for (guint i = 0; i < self->pads->len; i++)
    get_pad (self, i)->n_items = get_pad (self, i)->n_interval_items = 0;
}

static void
add_figures (GstElement *element, const SpdlMeterStats *stats, GstStructure *s)
{
  GstSpdlNumberedPads *self = GST_SPDL_NUMBERED_PADS (element);
  GstSpdlNumberedPadsClass *klass =
      GST_SPDL_NUMBERED_PADS_CLASS (G_OBJECT_GET_CLASS (element));

  spdl_mutex_lock (&self->lock);
  for (guint i = 0; i < self->pads->len; i++) {
    GstSpdlNumberedPad *pad = get_pad (self, i);
    g_autofree gchar *field =
        g_strdup_printf ("num-items-%s", GST_OBJECT_NAME (pad));

    gst_structure_set (s, field, G_TYPE_UINT64,
        stats->interval ? pad->n_interval_items : pad->n_items, NULL);
    if (stats->interval)
      pad->n_interval_items = 0;
  }
  if (klass->add_figures)
    klass->add_figures (self, stats, s);
  spdl_mutex_unlock (&self->lock);
}

static void
gst_spdl_numbered_pads_finalize (GObject *object)
{
  GstSpdlNumberedPads *self = GST_SPDL_NUMBERED_PADS (object);

  g_ptr_array_unref (self->pads);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_numbered_pads_parent_class)->finalize (object);
}

static void
gst_spdl_numbered_pads_class_init (GstSpdlNumberedPadsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_spdl_numbered_pads_finalize;
  GST_ELEMENT_CLASS (klass)->request_new_pad = request_new_pad;
  GST_ELEMENT_CLASS (klass)->release_pad = release_pad;
}

static void
gst_spdl_numbered_pads_init (GstSpdlNumberedPads *self)
{
  spdl_mutex_init (&self->lock);
  self->pads = g_ptr_array_new_with_free_func (gst_object_unref);
  self->parent.stats->add_figures = add_figures;
}
