/* gst-spdl: a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlbatch
 * @title: GstSpdlBatch
 * @short_description: a batch
 *
 * The tensors of a buffer by name, and the items that lie in them. A buffer
 * that is no batch can be looked at, too: a raw image is a tensor of rows by
 * columns by channels, whatever else is one of bytes, and the items are the one
 * whose meta it bears.
 *
 * Nothing is copied. The buffer stays mapped, and what a pool gave goes back to
 * it, when neither the batch nor any of its tensors is referred to any more.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlbatch.h"

#include "gst/spdl/tensor/layout.h"
#include <unistd.h>

#include "gst/spdl/tensor/batch-private.h"

G_DEFINE_BOXED_TYPE (
    GstSpdlBatch, gst_spdl_batch, gst_spdl_batch_ref, gst_spdl_batch_unref)

/**
 * gst_spdl_batch_new:
 * @buffer: (transfer none): a buffer
 * @caps: (transfer none) (nullable): what it holds; without, it is bytes
 * @error: (nullable): %GST_STREAM_ERROR or %GST_RESOURCE_ERROR
 *
 * Looks at a buffer. Its memory may be written if the caller's reference to it
 * is the only one.
 *
 * Returns: (transfer full): the view, or %NULL with @error set if caps and
 *     buffer do not go together, or it cannot be mapped
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
 * Returns: (transfer full): @batch, with one more reference
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
 * Drops a reference. Tensors that are referred to keep the batch. A child of
 * the process that made it gives nothing back.
 *
 * Since: 0.1
 */
void
gst_spdl_batch_unref (GstSpdlBatch *batch)
{
  g_return_if_fail (batch != NULL);

  if (!g_atomic_int_dec_and_test (&batch->n_refs) || batch->pid != getpid ())
    return;
  for (guint i = 0; i < batch->n_tensors; i++)
    gst_spdl_tensor_unmap (&batch->tensors[i]);
  gst_buffer_unref (batch->buffer);
  gst_clear_caps (&batch->caps);
  g_free (batch);
}

/**
 * gst_spdl_batch_get_n_tensors:
 * @batch: a batch
 *
 * Returns: how many tensors it has
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
 * @i: which tensor
 *
 * Returns: (transfer none) (nullable): its name; %NULL if there is none
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
 * gst_spdl_batch_get_tensor:
 * @batch: a batch
 * @i: which tensor
 *
 * Returns: (transfer full) (nullable): the tensor; %NULL if there is none
 *
 * Since: 0.1
 */
GstSpdlTensor *
gst_spdl_batch_get_tensor (GstSpdlBatch *batch, guint i)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return i < batch->n_tensors ? gst_spdl_tensor_ref (&batch->tensors[i]) : NULL;
}

/**
 * gst_spdl_batch_find_tensor:
 * @batch: a batch
 * @name: a name
 *
 * Returns: (transfer full) (nullable): the tensor of that name; %NULL if there
 *     is none
 *
 * Since: 0.1
 */
GstSpdlTensor *
gst_spdl_batch_find_tensor (GstSpdlBatch *batch, const gchar *name)
{
  g_return_val_if_fail (batch != NULL && name != NULL, NULL);

  for (guint i = 0; i < batch->n_tensors; i++)
    if (g_str_equal (batch->tensors[i].name, name))
      return gst_spdl_tensor_ref (&batch->tensors[i]);
  return NULL;
}

/**
 * gst_spdl_batch_get_n_items:
 * @batch: a batch
 *
 * Returns: how many items lie in it; 0 if nobody numbered them
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
 * @i: which item, in the order of the tensors
 *
 * Returns: (transfer none) (nullable): its meta, valid as long as @batch; %NULL
 *     if there is none
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
 * gst_spdl_batch_get_labels:
 * @batch: a batch
 * @n_items: (out): how many items there are
 *
 * Returns: (array length=n_items) (transfer full): the items' labels, -1 where
 *     there is none
 *
 * Since: 0.1
 */
gint64 *
gst_spdl_batch_get_labels (const GstSpdlBatch *batch, guint *n_items)
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
 * gst_spdl_batch_get_indices:
 * @batch: a batch
 * @n_items: (out): how many items there are
 *
 * Returns: (array length=n_items) (transfer full): the items' places in the
 *     dataset
 *
 * Since: 0.1
 */
guint64 *
gst_spdl_batch_get_indices (const GstSpdlBatch *batch, guint *n_items)
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
 * gst_spdl_batch_get_keys:
 * @batch: a batch
 *
 * Returns: (array zero-terminated=1) (transfer full): the items' URIs, empty
 *     where there is none
 *
 * Since: 0.1
 */
gchar **
gst_spdl_batch_get_keys (const GstSpdlBatch *batch)
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
 * @i: which item
 *
 * Returns: (transfer full) (nullable): what a list or an element says of the
 *     item besides; %NULL if nothing
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
 * Returns: the epoch of its first item; 0 without items
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
 * Returns: (transfer none) (nullable): where to begin after this batch, for
 *     gst_spdl_loader_restore_state(); %NULL if that is not known
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
 * Returns: (transfer none) (nullable): the buffer's caps
 *
 * Since: 0.1
 */
GstCaps *
gst_spdl_batch_get_caps (const GstSpdlBatch *batch)
{
  g_return_val_if_fail (batch != NULL, NULL);

  return batch->caps;
}
