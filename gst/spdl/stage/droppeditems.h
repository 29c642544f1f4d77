/* gst-spdl: items that do not arrive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/gstspdlevents.h>
#include "gst/spdl/stage/failure.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Items that will not come and have not been announced. */
typedef struct {
  GArray *items;
  /* (nullable): last item that failed, which is announced with the others. Set
   * before the push; not owned. */
  const GstSpdlFailure *last;
} GstSpdlDroppedItems;

void gst_spdl_dropped_items_init (GstSpdlDroppedItems *self);
void gst_spdl_dropped_items_clear (GstSpdlDroppedItems *self);

/* Adds an item: that of @buffer, or all items of @buffer if it is a batch. */
void gst_spdl_dropped_items_add (GstSpdlDroppedItems *self,
    const GstSpdlItemMeta *item, GstSpdlDropReason reason);
void gst_spdl_dropped_items_add_buffer (
    GstSpdlDroppedItems *self, GstBuffer *buffer, GstSpdlDropReason reason);

static inline gboolean
gst_spdl_dropped_items_is_empty (const GstSpdlDroppedItems *self)
{
  return self->items->len == 0;
}

/* Moves all items of @other to the end of @self. */
void gst_spdl_dropped_items_move (
    GstSpdlDroppedItems *self, GstSpdlDroppedItems *other);

/* Removes all items. */
static inline void
gst_spdl_dropped_items_reset (GstSpdlDroppedItems *self)
{
  if (G_UNLIKELY (self->items->len > 0))
    g_array_set_size (self->items, 0);
  self->last = NULL;
}

/* Pushes an `spdl-items-dropped` event for each run of items of one source,
 * epoch, number of parts and reason, and removes them. */
void gst_spdl_dropped_items_push (GstSpdlDroppedItems *self, GstPad *srcpad);

/* Pushes them like gst_spdl_dropped_items_push(), and calls @note (nullable)
 * before each event. */
void
gst_spdl_dropped_items_push_noted (GstSpdlDroppedItems *self, GstPad *srcpad,
    void (*note) (GstEvent *event, gpointer user_data), gpointer user_data);

SPDL_END_PRIVATE_API
G_END_DECLS
