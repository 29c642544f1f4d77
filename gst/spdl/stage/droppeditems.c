/* gst-spdl: items that do not arrive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/droppeditems.h"

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"

typedef struct {
  guint32 source;
  guint64 epoch;
  guint64 sequence;
  guint parts;
  GstSpdlDropReason reason;
} DroppedItem;

void
gst_spdl_dropped_items_init (GstSpdlDroppedItems *self)
{
  self->items = g_array_new (FALSE, FALSE, sizeof (DroppedItem));
  self->last = NULL;
}

void
gst_spdl_dropped_items_clear (GstSpdlDroppedItems *self)
{
  g_clear_pointer (&self->items, g_array_unref);
}

void
gst_spdl_dropped_items_add (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, GstSpdlDropReason reason)
{
  const DroppedItem dropped = { item->source, item->epoch, item->sequence,
    item->parts, reason };

  g_array_append_val (self->items, dropped);
}

void
gst_spdl_dropped_items_add_buffer (
    GstSpdlDroppedItems *self, GstBuffer *buffer, GstSpdlDropReason reason)
{
  guint n;
  const GstSpdlItemMeta *items = spdl_buffer_get_items (buffer, &n);

  for (guint i = 0; i < n; i++)
    gst_spdl_dropped_items_add (self, &items[i], reason);
}

void
gst_spdl_dropped_items_move (
    GstSpdlDroppedItems *self, GstSpdlDroppedItems *other)
{
  g_array_append_vals (self->items, other->items->data, other->items->len);
  gst_spdl_dropped_items_reset (other);
}

static gboolean
same_run (const DroppedItem *a, const DroppedItem *b)
{
  return a->source == b->source && a->epoch == b->epoch &&
         a->parts == b->parts && a->reason == b->reason;
}

/* Adds the element that lost the items and the last failure, for the element
 * that sums up an epoch. Items that functions filtered need no explanation. */
static GstEvent *
make_event (const GstSpdlDroppedItems *self, const DroppedItem *first,
    const guint64 *sequences, guint n, GstPad *srcpad)
{
  GstEvent *event = gst_spdl_event_new_items_dropped (
      first->source, first->epoch, sequences, n, first->reason);

  gst_spdl_event_set_dropped_parts (event, first->parts);
  if (first->reason != GST_SPDL_DROP_REASON_FILTERED) {
    g_autofree gchar *stage = gst_object_get_name (GST_OBJECT_PARENT (srcpad));

    gst_structure_set (gst_event_writable_structure (event), "stage",
        G_TYPE_STRING, stage, NULL);
  }
  if (first->reason == GST_SPDL_DROP_REASON_FAILED && self->last) {
    g_autofree gchar *last = gst_spdl_failure_describe (self->last);

    gst_structure_set (gst_event_writable_structure (event), "last",
        G_TYPE_STRING, last, NULL);
  }
  return event;
}

void
gst_spdl_dropped_items_push (GstSpdlDroppedItems *self, GstPad *srcpad)
{
  gst_spdl_dropped_items_push_noted (self, srcpad, NULL, NULL);
}

void
gst_spdl_dropped_items_push_noted (GstSpdlDroppedItems *self, GstPad *srcpad,
    void (*note) (GstEvent *event, gpointer user_data), gpointer user_data)
{
  const DroppedItem *items = (const DroppedItem *) self->items->data;
  const guint n = self->items->len;

  for (guint i = 0, end; i < n; i = end) {
    g_autofree guint64 *sequences = g_new (guint64, n - i);

    for (end = i; end < n && same_run (&items[i], &items[end]); end++)
      sequences[end - i] = items[end].sequence;
    GstEvent *event = make_event (self, &items[i], sequences, end - i, srcpad);
    if (note)
      note (event, user_data);
    gst_pad_push_event (srcpad, event);
  }
  gst_spdl_dropped_items_reset (self);
}
