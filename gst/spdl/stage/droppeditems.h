/* gst-spdl: messages and events about failed and dropped items
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

/* The functions that post a message change its text like spdl_show_text(). The
 * URI of an item stays exact. */

/* Posts `spdl-item-failed` for one item. @item: (nullable): metadata of the
 * item, if it is known */
SPDL_PRIVATE_API
void gst_spdl_post_item_failed (GstElement *element,
    const GstSpdlItemMeta *item, const GError *error, guint64 num_failures);

/* Posts an error message with the text, the domain and the code of @error. */
SPDL_PRIVATE_API
void gst_spdl_post_error (GstElement *element, const GError *error);

/* Posts a warning. */
SPDL_PRIVATE_API
void gst_spdl_post_warning (
    GstElement *element, GQuark domain, gint code, const gchar *text);

/* Posts the error of an item, with its URI in the details of the message. @uri:
 * (nullable) */
SPDL_PRIVATE_API
void gst_spdl_post_error_of_item (
    GstElement *element, const GError *error, const gchar *uri);

/* Items that will not come and have not been announced. */
typedef struct {
  GArray *items;
  gchar *last; /* nullable: last item that failed, and the reason */
} GstSpdlDroppedItems;

SPDL_PRIVATE_API
void gst_spdl_dropped_items_init (GstSpdlDroppedItems *self);
SPDL_PRIVATE_API
void gst_spdl_dropped_items_clear (GstSpdlDroppedItems *self);

/* Adds an item: that of @buffer, or all items of @buffer if it is a batch. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_add (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, GstSpdlDropReason reason);
SPDL_PRIVATE_API
void gst_spdl_dropped_items_add_buffer (
    GstSpdlDroppedItems *self, GstBuffer *buffer, GstSpdlDropReason reason);

/* Stores why an added item failed; the last failure is announced with the
 * items. @item: (nullable) */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_note_failure (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, const GError *error);

static inline gboolean
gst_spdl_dropped_items_is_empty (const GstSpdlDroppedItems *self)
{
  return self->items->len == 0;
}

/* Moves all items of @other to the end of @self. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_move (
    GstSpdlDroppedItems *self, GstSpdlDroppedItems *other);

/* Removes all items. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_reset (GstSpdlDroppedItems *self);

/* Pushes an `spdl-items-dropped` event for each run of items of one source,
 * epoch, number of parts and reason, and removes them. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_push (GstSpdlDroppedItems *self, GstPad *srcpad);

/* Pushes them like gst_spdl_dropped_items_push(), and calls @note (nullable)
 * before each event. */
SPDL_PRIVATE_API
void
gst_spdl_dropped_items_push_noted (GstSpdlDroppedItems *self, GstPad *srcpad,
    void (*note) (GstEvent *event, gpointer user_data), gpointer user_data);

G_END_DECLS
