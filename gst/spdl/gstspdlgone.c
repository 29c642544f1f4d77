/* gst-spdl: what goes wrong, and items that will not come: how that is said
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdlgone.h"

#include <gst/spdl/gstspdlbatchmeta.h>

typedef struct {
  guint32 source;
  guint64 epoch;
  guint64 sequence;
  GstSpdlGoneReason reason;
} GoneItem;

void
gst_spdl_post_item_failed (GstElement *element, const GstSpdlItemMeta *item,
    const GError *error, guint64 num_failures)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT (element));
  GstStructure *s = gst_structure_new ("spdl-item-failed", "stage",
      G_TYPE_STRING, name, "error", G_TYPE_ERROR, error, "num-failures",
      G_TYPE_UINT64, num_failures, NULL);

  if (item)
    gst_structure_set (s, "uri", G_TYPE_STRING, item->uri, "index",
        G_TYPE_UINT64, item->index, "source", G_TYPE_UINT, item->source,
        "epoch", G_TYPE_UINT64, item->epoch, "sequence", G_TYPE_UINT64,
        item->sequence, NULL);
  gst_element_post_message (
      element, gst_message_new_element (GST_OBJECT (element), s));
}

void
gst_spdl_post_error (GstElement *element, const GError *error)
{
  gst_element_message_full (element, GST_MESSAGE_ERROR, error->domain,
      error->code, g_strdup (error->message), NULL, __FILE__, GST_FUNCTION,
      __LINE__);
}

void
gst_spdl_gone_init (GstSpdlGone *self)
{
  self->items = g_array_new (FALSE, FALSE, sizeof (GoneItem));
}

void
gst_spdl_gone_clear (GstSpdlGone *self)
{
  g_clear_pointer (&self->items, g_array_unref);
}

void
gst_spdl_gone_add (
    GstSpdlGone *self, const GstSpdlItemMeta *item, GstSpdlGoneReason reason)
{
  const GoneItem gone = { item->source, item->epoch, item->sequence, reason };

  g_array_append_val (self->items, gone);
}

void
gst_spdl_gone_add_buffer (
    GstSpdlGone *self, GstBuffer *buffer, GstSpdlGoneReason reason)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  const GstSpdlBatchMeta *batch;

  if (item)
    gst_spdl_gone_add (self, item, reason);
  else if ((batch = gst_spdl_buffer_get_batch_meta (buffer)))
    for (guint i = 0; i < batch->num_items; i++)
      gst_spdl_gone_add (self, &batch->items[i], reason);
}

void
gst_spdl_gone_move (GstSpdlGone *self, GstSpdlGone *other)
{
  g_array_append_vals (self->items, other->items->data, other->items->len);
  gst_spdl_gone_reset (other);
}

void
gst_spdl_gone_reset (GstSpdlGone *self)
{
  g_array_set_size (self->items, 0);
}

static gboolean
same_run (const GoneItem *a, const GoneItem *b)
{
  return a->source == b->source && a->epoch == b->epoch &&
         a->reason == b->reason;
}

void
gst_spdl_gone_push (GstSpdlGone *self, GstPad *srcpad)
{
  const GoneItem *items = (const GoneItem *) self->items->data;
  const guint n = self->items->len;

  for (guint i = 0, end; i < n; i = end) {
    g_autofree guint64 *sequences = g_new (guint64, n - i);

    for (end = i; end < n && same_run (&items[i], &items[end]); end++)
      sequences[end - i] = items[end].sequence;
    gst_pad_push_event (
        srcpad, gst_spdl_event_new_items_gone (items[i].source, items[i].epoch,
                    sequences, end - i, items[i].reason));
  }
  gst_spdl_gone_reset (self);
}
