/* gst-spdl: metadata of a batch: items, tensor names, resume state
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlbatchmeta
 * @title: GstSpdlBatchMeta
 * @short_description: metadata of a batch's items
 *
 * A *batch* is one #GstBuffer of caps `other/tensors`: the stacked tensors of
 * N items, a #GstMemory each, with a #GstSpdlBatchMeta.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlbatchmeta.h"
#include "gst/spdl/common/metatype.h"

#include <string.h>

SPDL_DEFINE_META_API (GstSpdlBatchMeta, gst_spdl_batch_meta, NULL)

static gboolean
batch_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset ((guint8 *) meta + sizeof (GstMeta), 0,
      sizeof (GstSpdlBatchMeta) - sizeof (GstMeta));
  return TRUE;
}

static void
clear_items (GstSpdlBatchMeta *self)
{
  for (guint i = 0; i < self->num_items; i++)
    gst_spdl_item_meta_unassign (&self->items[i]);
  self->num_items = 0;
}

static void
batch_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstSpdlBatchMeta *self = (GstSpdlBatchMeta *) meta;

  clear_items (self);
  g_free (self->items);
  g_free (self->resume_state);
}

static gboolean
batch_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  GstSpdlBatchMeta *self = (GstSpdlBatchMeta *) meta, *copy;

  if (gst_spdl_buffer_get_batch_meta (dest))
    return TRUE;
  copy = gst_spdl_buffer_add_batch_meta (dest, self->num_items);
  if (!copy)
    return FALSE;
  for (guint i = 0; i < self->num_items; i++)
    gst_spdl_batch_meta_append (copy, &self->items[i]);
  copy->num_tensors = self->num_tensors;
  memcpy (copy->names, self->names, sizeof copy->names);
  copy->resume_state = g_strdup (self->resume_state);
  return TRUE;
}

/**
 * gst_spdl_batch_meta_get_info: (skip)
 *
 * Returns: the implementation of #GstSpdlBatchMeta
 *
 * Since: 0.1
 */
SPDL_DEFINE_META_INFO (GstSpdlBatchMeta, gst_spdl_batch_meta,
    sizeof (GstSpdlBatchMeta), batch_meta_init, batch_meta_free,
    batch_meta_transform)

/**
 * gst_spdl_buffer_add_batch_meta:
 * @buffer: (transfer none): a writable buffer
 * @capacity: maximum number of items
 *
 * Turns @buffer into a batch without items and tensors.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 0.1
 */
GstSpdlBatchMeta *
gst_spdl_buffer_add_batch_meta (GstBuffer *buffer, guint capacity)
{
  GstSpdlBatchMeta *self;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  self = (GstSpdlBatchMeta *) gst_buffer_add_meta (
      buffer, gst_spdl_batch_meta_get_info (), NULL);
  if (self)
    self->items = g_new0 (GstSpdlItemMeta, capacity);
  return self;
}

/**
 * gst_spdl_buffer_get_batch_meta:
 * @buffer: (transfer none): a buffer
 *
 * Gets the batch metadata of a buffer.
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL if
 *     @buffer is not a batch
 *
 * Since: 0.1
 */
GstSpdlBatchMeta *
gst_spdl_buffer_get_batch_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstSpdlBatchMeta *) gst_buffer_get_meta (
      buffer, GST_SPDL_BATCH_META_API_TYPE);
}

/**
 * gst_spdl_batch_meta_append:
 * @batch: a meta with fewer items than its capacity
 * @item: metadata of the next item in the tensors; copied
 *
 * Appends an item.
 *
 * Since: 0.1
 */
void
gst_spdl_batch_meta_append (
    GstSpdlBatchMeta *batch, const GstSpdlItemMeta *item)
{
  g_return_if_fail (batch != NULL && item != NULL);

  gst_spdl_item_meta_assign (&batch->items[batch->num_items++], item);
}

/**
 * gst_spdl_batch_meta_get_item:
 * @batch: a meta
 * @i: index of the item, less than `num_items`
 *
 * Gets the metadata of an item.
 *
 * Returns: (transfer none) (nullable): the metadata, valid as long as @batch
 *
 * Since: 0.1
 */
const GstSpdlItemMeta *
gst_spdl_batch_meta_get_item (GstSpdlBatchMeta *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->num_items ? &batch->items[i] : NULL;
}

/**
 * gst_spdl_batch_meta_add_name:
 * @batch: a meta with fewer than %GST_SPDL_MAX_TENSORS tensors
 * @name: the name of the next tensor
 *
 * Adds a tensor with a name.
 *
 * Since: 0.1
 */
void
gst_spdl_batch_meta_add_name (GstSpdlBatchMeta *batch, const gchar *name)
{
  g_return_if_fail (batch != NULL && name != NULL);
  g_return_if_fail (batch->num_tensors < GST_SPDL_MAX_TENSORS);

  batch->names[batch->num_tensors++] = g_intern_string (name);
}

/**
 * gst_spdl_batch_meta_get_name:
 * @batch: a meta
 * @i: index of the tensor, less than `num_tensors`
 *
 * Gets the name of a tensor.
 *
 * Returns: (transfer none) (nullable): the name, valid as long as @batch
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_batch_meta_get_name (GstSpdlBatchMeta *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->num_tensors ? batch->names[i] : NULL;
}
