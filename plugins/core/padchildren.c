/* gst-spdl: request pads as GstChildProxy children
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/padchildren.h"

/* Object lock held. Finds request pad @i.
 *
 * @n: (out): number of request pads, if @i is not found
 *
 * Returns: (transfer none) (nullable) */
static GstPad *
find_pad (GstElement *element, guint i, guint *n)
{
  *n = 0;
  for (GList *l = element->pads; l; l = l->next) {
    const GstPadTemplate *template = GST_PAD_PAD_TEMPLATE (l->data);

    if (template && GST_PAD_TEMPLATE_PRESENCE (template) == GST_PAD_REQUEST &&
        (*n)++ == i)
      return l->data;
  }
  return NULL;
}

static GObject *
get_child (GstChildProxy *proxy, guint i)
{
  GObject *pad;
  guint n;

  GST_OBJECT_LOCK (proxy);
  pad = (GObject *) find_pad (GST_ELEMENT (proxy), i, &n);
  if (pad)
    g_object_ref (pad);
  GST_OBJECT_UNLOCK (proxy);
  return pad;
}

static guint
count_children (GstChildProxy *proxy)
{
  guint n;

  GST_OBJECT_LOCK (proxy);
  find_pad (GST_ELEMENT (proxy), G_MAXUINT, &n);
  GST_OBJECT_UNLOCK (proxy);
  return n;
}

void
spdl_padding_children_init (gpointer g_iface, gpointer data)
{
  GstChildProxyInterface *iface = g_iface;

  iface->get_child_by_index = get_child;
  iface->get_children_count = count_children;
}
