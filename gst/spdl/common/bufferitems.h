/* gst-spdl: items of a buffer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlbatchmeta.h"

G_BEGIN_DECLS

/* Returns the item of @buffer, or the items of a batch, and their number @n. */
static inline GstSpdlItemMeta *
spdl_buffer_get_items (GstBuffer *buffer, guint *n)
{
  GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  GstSpdlBatchMeta *batch =
      item ? NULL : gst_spdl_buffer_get_batch_meta (buffer);

  *n = batch ? batch->num_items : item != NULL;
  return batch ? batch->items : item;
}

G_END_DECLS
