/* gst-spdl: items that do not arrive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/gstspdlevents.h>
#include <gst/spdl/gstspdlitemmeta.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* The functions that post a message change its text like spdl_show_text(). The
 * URI of an item stays exact. */

/* Posts `spdl-item-failed` for one item. @item: (nullable): metadata of the
 * item, if it is known */
void gst_spdl_post_item_failed (GstElement *element,
    const GstSpdlItemMeta *item, const GError *error, guint64 num_failures);

/* Posts an error message with the text, the domain and the code of @error. */
void gst_spdl_post_error (GstElement *element, const GError *error);

/* Posts a warning. */
void gst_spdl_post_warning (
    GstElement *element, GQuark domain, gint code, const gchar *text);

/* Posts the error of an item, with its URI in the details of the message. @uri:
 * (nullable) */
void gst_spdl_post_error_of_item (
    GstElement *element, const GError *error, const gchar *uri);

/* Items that will not come and have not been announced. */
typedef struct {
  GArray *items;
  gchar *last; /* nullable: last item that failed, and the reason */
} GstSpdlDroppedItems;

void gst_spdl_dropped_items_init (GstSpdlDroppedItems *self);
void gst_spdl_dropped_items_clear (GstSpdlDroppedItems *self);

/* Adds an item: that of @buffer, or all items of @buffer if it is a batch. */
void gst_spdl_dropped_items_add (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, GstSpdlDropReason reason);
void gst_spdl_dropped_items_add_buffer (
    GstSpdlDroppedItems *self, GstBuffer *buffer, GstSpdlDropReason reason);

/* Stores why an added item failed; the last failure is announced with the
 * items. @item: (nullable) */
void gst_spdl_dropped_items_note_failure (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, const GError *error);

static inline gboolean
gst_spdl_dropped_items_is_empty (const GstSpdlDroppedItems *self)
{
  return self->items->len == 0;
}

/* Moves all items of @other to the end of @self. */
void gst_spdl_dropped_items_move (
    GstSpdlDroppedItems *self, GstSpdlDroppedItems *other);

/* Removes all items. */
void gst_spdl_dropped_items_reset (GstSpdlDroppedItems *self);

/* Pushes an `spdl-items-dropped` event for each run of items of one source,
 * epoch, number of parts and reason, and removes them. */
void gst_spdl_dropped_items_push (GstSpdlDroppedItems *self, GstPad *srcpad);

/* Pushes them like gst_spdl_dropped_items_push(), and calls @note (nullable)
 * before each event. */
void
gst_spdl_dropped_items_push_noted (GstSpdlDroppedItems *self, GstPad *srcpad,
    void (*note) (GstEvent *event, gpointer user_data), gpointer user_data);

/* Name of the details that these warnings carry: `stage` (string), `epoch`,
 * `num-items` and `num-failures` (uint64: of that epoch, so far), `uri`
 * (string, if it is known) and `summary` (boolean). */
#define GST_SPDL_LOSSES_DETAILS "spdl-items-failed"

/* An item that failed. */
typedef struct {
  guint64 epoch;
  gchar *uri;    /* nullable */
  gchar *name;   /* for messages */
  GError *error; /* reason */
} GstSpdlLoss;

/* Failed items of one element in the current epoch. Used only by the thread
 * that pushes. */
typedef struct {
  guint64 num_items; /* number of processed items; counted by the element */
  guint64 num_failures;
  GstSpdlLoss *last; /* nullable, owned */
} GstSpdlLosses;

/* Creates a loss.
 *
 * @item: (nullable): the item, if it is known
 * @name: (nullable): name of the item if @item is NULL
 * Returns: (transfer full) */
GstSpdlLoss *gst_spdl_loss_new (const GstSpdlItemMeta *item, const gchar *name,
    guint64 epoch, const GError *error);
void gst_spdl_loss_free (GstSpdlLoss *self);

/* Counts @loss (transfer full). Posts a warning with its domain and code if it
 * is one of the first three of the epoch, or the 10th, 100th, 1000th ... */
void gst_spdl_losses_add (
    GstSpdlLosses *self, GstElement *element, GstSpdlLoss *loss);

/* Ends @epoch: posts a summary as a warning if an item failed, and starts again
 * at 0. */
void gst_spdl_losses_end_epoch (
    GstSpdlLosses *self, GstElement *element, guint64 epoch);
/* Ends the epoch like gst_spdl_losses_end_epoch() when the stream ends within
 * it. */
void gst_spdl_losses_end_stream (GstSpdlLosses *self, GstElement *element);

/* Removes all losses. */
void gst_spdl_losses_reset (GstSpdlLosses *self);

SPDL_END_PRIVATE_API
G_END_DECLS
