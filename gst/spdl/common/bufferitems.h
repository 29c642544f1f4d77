/* gst-spdl: items of a buffer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlbatchmeta.h"
#include <gst/gst.h>

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

/* Returns the number of items of a buffer; one without metadata is an item. */
static inline guint
spdl_buffer_count_items (GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  return batch ? batch->num_items : 1;
}

/* Returns: (nullable): the item of @buffer, or the first item of a batch */
static inline const GstSpdlItemMeta *
spdl_buffer_get_first_item (GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  if (!batch)
    return gst_spdl_buffer_get_item_meta (buffer);
  return batch->num_items > 0 ? batch->items : NULL;
}

/* Gives @buffer (transfer full) an item with a number of @source. Returns
 * (transfer full). */
static inline GstBuffer *
spdl_buffer_number_item (
    GstBuffer *buffer, guint32 source, guint64 number, GstClockTime created)
{
  GstSpdlItemMeta *meta;

  buffer = gst_buffer_make_writable (buffer);
  meta = gst_spdl_buffer_add_item_meta (buffer);
  meta->source = source;
  meta->index = meta->sequence = number;
  meta->created = created;
  return buffer;
}

/* Gives @buffer the item of @from, or its batch. */
static inline void
spdl_buffer_copy_items (GstBuffer *buffer, GstBuffer *from)
{
  GstMetaTransformCopy copy = { FALSE, 0, -1 };
  GstMeta *meta = (GstMeta *) gst_spdl_buffer_get_item_meta (from);

  if (!meta)
    meta = (GstMeta *) gst_spdl_buffer_get_batch_meta (from);
  if (meta)
    meta->info->transform_func (
        buffer, meta, from, _gst_meta_transform_copy, &copy);
}

/* A function that chooses a branch returns no sample. The item keeps the extra
 * fields that it leaves with its sample. */

static inline GQuark
spdl_new_extra_quark (void)
{
  return g_quark_from_static_string ("spdl-new-extra");
}

/* @extra: (transfer full) */
static inline void
spdl_sample_set_new_extra (GstSample *sample, GstStructure *extra)
{
  gst_mini_object_set_qdata (GST_MINI_OBJECT (sample), spdl_new_extra_quark (),
      extra, (GDestroyNotify) gst_structure_free);
}

/* Returns: (transfer full) (nullable) */
static inline GstStructure *
spdl_sample_steal_new_extra (GstSample *sample)
{
  return gst_mini_object_steal_qdata (
      GST_MINI_OBJECT (sample), spdl_new_extra_quark ());
}

G_END_DECLS
