/* gst-spdl: items that do not arrive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/droppeditems.h"

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"
#include "gst/spdl/common/showntext.h"

typedef struct {
  guint32 source;
  guint64 epoch;
  guint64 sequence;
  guint parts;
  GstSpdlDropReason reason;
} DroppedItem;

void
gst_spdl_post_item_failed (GstElement *element, const GstSpdlItemMeta *item,
    const GError *error, guint64 num_failures)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT (element));
  g_autoptr (GError) shown = g_error_copy (error);
  GstStructure *s;

  spdl_show_error (shown);
  s = gst_structure_new ("spdl-item-failed", "stage", G_TYPE_STRING, name,
      "error", G_TYPE_ERROR, shown, "num-failures", G_TYPE_UINT64, num_failures,
      NULL);
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
      error->code, spdl_show_text (error->message), NULL, __FILE__,
      GST_FUNCTION, __LINE__);
}

void
gst_spdl_post_warning (
    GstElement *element, GQuark domain, gint code, const gchar *text)
{
  gst_element_message_full (element, GST_MESSAGE_WARNING, domain, code,
      spdl_show_text (text), NULL, __FILE__, GST_FUNCTION, __LINE__);
}

void
gst_spdl_post_error_of_item (
    GstElement *element, const GError *error, const gchar *uri)
{
  gst_element_message_full_with_details (element, GST_MESSAGE_ERROR,
      error->domain, error->code, spdl_show_text (error->message), NULL,
      __FILE__, GST_FUNCTION, __LINE__,
      gst_structure_new ("details", "uri", G_TYPE_STRING, uri, NULL));
}

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
  g_clear_pointer (&self->last, g_free);
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
gst_spdl_dropped_items_note_failure (
    GstSpdlDroppedItems *self, const GstSpdlItemMeta *item, const GError *error)
{
  g_autofree gchar *name =
      item ? gst_spdl_item_meta_describe (item) : g_strdup ("a batch");

  g_free (self->last);
  self->last = g_strdup_printf ("%s: %s", name, error->message);
}

void
gst_spdl_dropped_items_move (
    GstSpdlDroppedItems *self, GstSpdlDroppedItems *other)
{
  if (G_UNLIKELY (other->last)) {
    g_free (self->last);
    self->last = g_steal_pointer (&other->last);
  }
  g_array_append_vals (self->items, other->items->data, other->items->len);
  gst_spdl_dropped_items_reset (other);
}

void
gst_spdl_dropped_items_reset (GstSpdlDroppedItems *self)
{
  g_array_set_size (self->items, 0);
  g_clear_pointer (&self->last, g_free);
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
  if (first->reason == GST_SPDL_DROP_REASON_FAILED && self->last)
    gst_structure_set (gst_event_writable_structure (event), "last",
        G_TYPE_STRING, self->last, NULL);
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

/* Failures of an epoch */

/* Number of failures of an epoch that are posted one by one. */
#define POSTED_AT_FIRST 3

GstSpdlLoss *
gst_spdl_loss_new (const GstSpdlItemMeta *item, const gchar *name,
    guint64 epoch, const GError *error)
{
  GstSpdlLoss *self = g_new0 (GstSpdlLoss, 1);

  self->epoch = item ? item->epoch : epoch;
  self->uri = item ? g_strdup (item->uri) : NULL;
  self->name = item ? gst_spdl_item_meta_describe (item)
                    : g_strdup (name ? name : "an item");
  self->error = g_error_copy (error);
  return self;
}

void
gst_spdl_loss_free (GstSpdlLoss *self)
{
  g_free (self->uri);
  g_free (self->name);
  g_error_free (self->error);
  g_free (self);
}

static void
post_error (const GstSpdlLosses *self, GstElement *element, guint64 epoch,
    gboolean summary, GQuark domain, gint code, const gchar *text)
{
  g_autofree gchar *stage = gst_object_get_name (GST_OBJECT (element));
  GstStructure *details = gst_structure_new (GST_SPDL_LOSSES_DETAILS, "stage",
      G_TYPE_STRING, stage, "epoch", G_TYPE_UINT64, epoch, "num-items",
      G_TYPE_UINT64, self->num_items, "num-failures", G_TYPE_UINT64,
      self->num_failures, "summary", G_TYPE_BOOLEAN, summary, NULL);

  if (self->last->uri)
    gst_structure_set (details, "uri", G_TYPE_STRING, self->last->uri, NULL);
  gst_element_message_full_with_details (element, GST_MESSAGE_WARNING, domain,
      code, spdl_show_text (text), NULL, __FILE__, GST_FUNCTION, __LINE__,
      details);
}

static gboolean
is_power_of_ten (guint64 n)
{
  while (n >= 10 && n % 10 == 0)
    n /= 10;
  return n == 1;
}

void
gst_spdl_losses_add (
    GstSpdlLosses *self, GstElement *element, GstSpdlLoss *loss)
{
  g_autofree gchar *text = NULL;

  g_clear_pointer (&self->last, gst_spdl_loss_free);
  self->last = loss;
  self->num_failures++;
  if (self->num_failures > POSTED_AT_FIRST &&
      !is_power_of_ten (self->num_failures))
    return;
  text = g_strdup_printf ("%s: %s (failure %" G_GUINT64_FORMAT
                          " in epoch %" G_GUINT64_FORMAT ")",
      loss->name, loss->error->message, self->num_failures, loss->epoch);
  post_error (self, element, loss->epoch, FALSE, loss->error->domain,
      loss->error->code, text);
}

void
gst_spdl_losses_end_epoch (
    GstSpdlLosses *self, GstElement *element, guint64 epoch)
{
  g_autofree gchar *text = NULL;

  if (self->last) {
    text = g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " items failed in epoch %" G_GUINT64_FORMAT
                            "; last: %s: %s",
        self->num_failures, self->num_items, epoch, self->last->name,
        self->last->error->message);
    post_error (self, element, epoch, TRUE, GST_STREAM_ERROR,
        GST_STREAM_ERROR_FAILED, text);
  }
  gst_spdl_losses_reset (self);
}

void
gst_spdl_losses_end_stream (GstSpdlLosses *self, GstElement *element)
{
  gst_spdl_losses_end_epoch (self, element, self->last ? self->last->epoch : 0);
}

void
gst_spdl_losses_reset (GstSpdlLosses *self)
{
  g_clear_pointer (&self->last, gst_spdl_loss_free);
  self->num_items = self->num_failures = 0;
}
