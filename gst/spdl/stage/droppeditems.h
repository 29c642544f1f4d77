/* gst-spdl: errors, failures and dropped items: messages and events
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

/* Posts `spdl-item-failed` for one item.
 * @item: (nullable): which one, where it is known. */
SPDL_PRIVATE_API
void gst_spdl_post_item_failed (GstElement *element,
    const GstSpdlItemMeta *item, const GError *error, guint64 num_failures);

/* Posts an error message with the text, the domain and the code of @error. */
SPDL_PRIVATE_API
void gst_spdl_post_error (GstElement *element, const GError *error);

/* The same of an item, whose URI is in the message's details.
 * @uri: (nullable): where it is known */
SPDL_PRIVATE_API
void gst_spdl_post_error_of_item (
    GstElement *element, const GError *error, const gchar *uri);

/* Collects items that will not come, until they are announced. */
typedef struct {
  GArray *items;
  gchar *last; /* nullable: the last one that failed, and why */
} GstSpdlDroppedItems;

SPDL_PRIVATE_API
void gst_spdl_dropped_items_init (GstSpdlDroppedItems *self);
SPDL_PRIVATE_API
void gst_spdl_dropped_items_clear (GstSpdlDroppedItems *self);

/* Adds an item; or @buffer's item, or all of its items if it is a batch. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_add (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, GstSpdlDropReason reason);
SPDL_PRIVATE_API
void gst_spdl_dropped_items_add_buffer (
    GstSpdlDroppedItems *self, GstBuffer *buffer, GstSpdlDropReason reason);

/* Notes why an item that was added failed; the last one is announced with it.
 * @item: (nullable) */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_note_failure (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, const GError *error);

static inline gboolean
gst_spdl_dropped_items_is_empty (const GstSpdlDroppedItems *self)
{
  return self->items->len == 0;
}

/* Moves all of @other's to the end of @self's. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_move (
    GstSpdlDroppedItems *self, GstSpdlDroppedItems *other);

/* Forgets all. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_reset (GstSpdlDroppedItems *self);

/* Pushes an `spdl-items-dropped` event for each run of items of one source,
 * epoch and reason, and forgets them. */
SPDL_PRIVATE_API
void gst_spdl_dropped_items_push (GstSpdlDroppedItems *self, GstPad *srcpad);

/* Likewise, with a call of @note (nullable) before each. */
SPDL_PRIVATE_API
void
gst_spdl_dropped_items_push_noted (GstSpdlDroppedItems *self, GstPad *srcpad,
    void (*note) (GstEvent *event, gpointer user_data), gpointer user_data);

G_END_DECLS
