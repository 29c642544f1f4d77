/* gst-spdl: named tensors of a batch and their items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlbatch
 * @title: GstSpdlBatch
 * @short_description: named tensors of a buffer and their items
 *
 * A view of the tensors of a buffer by name, and of the items in them. A buffer
 * without a #GstSpdlBatchMeta works too: a raw image becomes a tensor of rows
 * by columns by channels, other data a tensor of bytes, and the only item is
 * that of the buffer's #GstSpdlItemMeta.
 *
 * No data is copied. The buffer stays mapped until the last reference to the
 * batch and its tensors is dropped; then its memory returns to its pool.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlbatch.h"

#include "gst/spdl/tensor/layout.h"
#include <unistd.h>

G_DEFINE_BOXED_TYPE (
    GstSpdlBatch, gst_spdl_batch, gst_spdl_batch_ref, gst_spdl_batch_unref)

/**
 * gst_spdl_batch_new:
 * @buffer: (transfer none): a buffer
 * @caps: (transfer none) (nullable): format of @buffer; %NULL: bytes
 * @error: (nullable): %GST_STREAM_ERROR or %GST_RESOURCE_ERROR
 *
 * Creates a view of a buffer. Its memory is writable if the caller's reference
 * is the only one.
 *
 * Returns: (transfer full): the batch, or %NULL with @error set if @caps do not
 *     fit @buffer or it cannot be mapped
 *
 * Since: 0.1
 */
GstSpdlBatch *
gst_spdl_batch_new (GstBuffer *buffer, GstCaps *caps, GError **error)
{
  GstSpdlLayout layout = { NULL };
  GstSpdlBatch *self = NULL;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (!caps || gst_caps_is_fixed (caps), NULL);

  if (gst_spdl_layout_set_caps (&layout, caps, error))
    self = gst_spdl_layout_view (
        &layout, buffer, gst_buffer_is_writable (buffer), error);
  gst_spdl_layout_clear (&layout);
  return self;
}

/**
 * gst_spdl_batch_ref:
 * @batch: a batch
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @batch
 *
 * Since: 0.1
 */
GstSpdlBatch *
gst_spdl_batch_ref (GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, NULL);

  g_atomic_int_inc (&batch->n_refs);
  return batch;
}

/**
 * gst_spdl_batch_unref:
 * @batch: (transfer full): a batch
 *
 * Drops a reference. A tensor that is still referenced keeps the memory of the
 * batch. In a forked child, memory is not returned to the pool.
 *
 * Since: 0.1
 */
void
gst_spdl_batch_unref (GstSpdlBatch *batch)
{
  g_return_if_fail (batch != NULL);

  if (g_atomic_int_dec_and_test (&batch->n_refs) && batch->pid == getpid ())
    gst_spdl_batch_free (batch);
}

/**
 * gst_spdl_batch_get_n_tensors:
 * @batch: a batch
 *
 * Gets the number of tensors.
 *
 * Returns: the number of tensors
 *
 * Since: 0.1
 */
guint
gst_spdl_batch_get_n_tensors (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, 0);

  return batch->n_tensors;
}

/**
 * gst_spdl_batch_get_name:
 * @batch: a batch
 * @i: index of the tensor, from 0
 *
 * Gets the name of a tensor.
 *
 * Returns: (transfer none) (nullable): the name, valid as long as @batch; %NULL
 *     if @i is out of range
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_batch_get_name (const GstSpdlBatch *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->n_tensors ? batch->tensors[i].name : NULL;
}

/**
 * gst_spdl_batch_dup_tensor:
 * @batch: a batch
 * @i: index of the tensor, from 0
 *
 * Gets a tensor by its index.
 *
 * Returns: (transfer full) (nullable): the tensor; %NULL if @i is out of range
 *
 * Since: 0.1
 */
GstSpdlTensor *
gst_spdl_batch_dup_tensor (GstSpdlBatch *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->n_tensors ? &gst_spdl_batch_ref (batch)->tensors[i] : NULL;
}

/**
 * gst_spdl_batch_find_tensor:
 * @batch: a batch
 * @name: name of the tensor
 *
 * Gets a tensor by its name.
 *
 * Returns: (transfer full) (nullable): the tensor; %NULL if no tensor has that
 *     name
 *
 * Since: 0.1
 */
GstSpdlTensor *
gst_spdl_batch_find_tensor (GstSpdlBatch *batch, const gchar *name)
{
  g_return_val_if_fail (batch != NULL && name != NULL, NULL);

  for (guint i = 0; i < batch->n_tensors; i++)
    if (g_str_equal (batch->tensors[i].name, name))
      return &gst_spdl_batch_ref (batch)->tensors[i];
  return NULL;
}

/**
 * gst_spdl_batch_get_n_items:
 * @batch: a batch
 *
 * Gets the number of items in the batch.
 *
 * Returns: the number of items; 0 if the buffer has no item metadata
 *
 * Since: 0.1
 */
guint
gst_spdl_batch_get_n_items (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, 0);

  return batch->n_items;
}

/**
 * gst_spdl_batch_get_item:
 * @batch: a batch
 * @i: index of the item, in the order of the tensors, from 0
 *
 * Gets the metadata of an item.
 *
 * Returns: (transfer none) (nullable): the metadata, valid as long as @batch;
 *     %NULL if @i is out of range
 *
 * Since: 0.1
 */
const GstSpdlItemMeta *
gst_spdl_batch_get_item (const GstSpdlBatch *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->n_items ? &batch->items[i] : NULL;
}

/**
 * gst_spdl_batch_dup_labels:
 * @batch: a batch
 * @n_items: (out): number of items
 *
 * Gets the labels of all items.
 *
 * Returns: (array length=n_items) (transfer full): the labels, -1 for an item
 *     without a label; free with g_free()
 *
 * Since: 0.1
 */
gint64 *
gst_spdl_batch_dup_labels (const GstSpdlBatch *batch, guint *n_items)
{
  gint64 *labels;

  g_return_val_if_fail (batch != NULL && n_items != NULL, NULL);

  labels = g_new (gint64, batch->n_items);
  for (guint i = 0; i < batch->n_items; i++)
    labels[i] = batch->items[i].label;
  *n_items = batch->n_items;
  return labels;
}

/**
 * gst_spdl_batch_dup_indices:
 * @batch: a batch
 * @n_items: (out): number of items
 *
 * Gets the indices of all items in the dataset.
 *
 * Returns: (array length=n_items) (transfer full): the indices; free with
 *     g_free()
 *
 * Since: 0.1
 */
guint64 *
gst_spdl_batch_dup_indices (const GstSpdlBatch *batch, guint *n_items)
{
  guint64 *indices;

  g_return_val_if_fail (batch != NULL && n_items != NULL, NULL);

  indices = g_new (guint64, batch->n_items);
  for (guint i = 0; i < batch->n_items; i++)
    indices[i] = batch->items[i].index;
  *n_items = batch->n_items;
  return indices;
}

/**
 * gst_spdl_batch_dup_keys:
 * @batch: a batch
 *
 * Gets the URIs of all items.
 *
 * Returns: (array zero-terminated=1) (transfer full): the URIs, empty for an
 *     item without one; free with g_strfreev()
 *
 * Since: 0.1
 */
gchar **
gst_spdl_batch_dup_keys (const GstSpdlBatch *batch)
{
  gchar **keys;

  g_return_val_if_fail (batch != NULL, NULL);

  keys = g_new0 (gchar *, batch->n_items + 1);
  for (guint i = 0; i < batch->n_items; i++)
    keys[i] = g_strdup (batch->items[i].uri ? batch->items[i].uri : "");
  return keys;
}

/**
 * gst_spdl_batch_dup_extra:
 * @batch: a batch
 * @i: index of the item, from 0
 *
 * Copies the extra fields of an item, from a list, a shard or an element.
 *
 * Returns: (transfer full) (nullable): the fields; %NULL if there are none
 *
 * Since: 0.1
 */
GstStructure *
gst_spdl_batch_dup_extra (const GstSpdlBatch *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->n_items && batch->items[i].extra
             ? gst_structure_copy (batch->items[i].extra)
             : NULL;
}

/**
 * gst_spdl_batch_get_epoch:
 * @batch: a batch
 *
 * Gets the epoch of the first item.
 *
 * Returns: the epoch, from 0; 0 without items
 *
 * Since: 0.1
 */
guint64
gst_spdl_batch_get_epoch (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, 0);

  return batch->n_items > 0 ? batch->items[0].epoch : 0;
}

/**
 * gst_spdl_batch_get_state:
 * @batch: a batch
 *
 * Gets the state with which a run resumes after this batch, for
 * gst_spdl_loader_restore_state().
 *
 * Returns: (transfer none) (nullable): the state, valid as long as @batch;
 *     %NULL if it is not known
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_batch_get_state (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return batch->meta ? batch->meta->resume_state : NULL;
}

/**
 * gst_spdl_batch_get_buffer:
 * @batch: a batch
 *
 * Gets the buffer of the batch.
 *
 * Returns: (transfer none): the buffer
 *
 * Since: 0.1
 */
GstBuffer *
gst_spdl_batch_get_buffer (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return batch->buffer;
}

/**
 * gst_spdl_batch_get_caps:
 * @batch: a batch
 *
 * Gets the caps of the buffer.
 *
 * Returns: (transfer none) (nullable): the caps, or %NULL
 *
 * Since: 0.1
 */
GstCaps *
gst_spdl_batch_get_caps (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return batch->caps;
}
