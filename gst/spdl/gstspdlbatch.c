/* gst-spdl: a batch, as a trainer sees it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlbatch
 * @title: GstSpdlBatch
 * @short_description: a batch, as a trainer sees it
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

#include "gstspdlbatch.h"

#include "gstspdllayout.h"
#include "gstspdltensor-private.h"

struct _GstSpdlBatch {
  gint n_refs;
  GstBuffer *buffer;
  GstCaps *caps;                /* nullable */
  const GstSpdlBatchMeta *meta; /* nullable: the buffer's */
  const GstSpdlItemMeta *items; /* the buffer's */
  guint n_items;
  guint n_tensors;
  GstSpdlTensor tensors[];
};

G_DEFINE_BOXED_TYPE (
    GstSpdlBatch, gst_spdl_batch, gst_spdl_batch_ref, gst_spdl_batch_unref)

static GstSpdlBatch *
make_batch (GstBuffer *buffer, GstCaps *caps, guint n_tensors)
{
  GstSpdlBatch *self =
      g_malloc0 (sizeof (GstSpdlBatch) + n_tensors * sizeof (GstSpdlTensor));

  self->n_refs = 1;
  self->buffer = gst_buffer_ref (buffer);
  self->caps = caps ? gst_caps_ref (caps) : NULL;
  self->n_tensors = n_tensors;
  self->meta = gst_spdl_buffer_get_batch_meta (buffer);
  if (self->meta) {
    self->items = self->meta->items;
    self->n_items = self->meta->num_items;
  } else if ((self->items = gst_spdl_buffer_get_item_meta (buffer))) {
    self->n_items = 1;
  }
  return self;
}

static const gchar *
name_of (const GstSpdlBatch *self, guint i)
{
  g_autofree gchar *name = NULL;

  if (self->meta && i < self->meta->num_tensors)
    return self->meta->names[i];
  if (i == 0)
    return "data";
  name = g_strdup_printf ("data%u", i);
  return g_intern_string (name);
}

static GstSpdlTensor *
name_tensor (GstSpdlBatch *self, guint i)
{
  GstSpdlTensor *tensor = &self->tensors[i];

  tensor->batch = self;
  tensor->name = name_of (self, i);
  tensor->device_type = GST_SPDL_DEVICE_CPU;
  return tensor;
}

/* Returns: (transfer full) (nullable): all of @buffer as one memory */
static GstMemory *
get_whole (GstBuffer *buffer)
{
  return gst_buffer_n_memory (buffer) > 0 ? gst_buffer_get_all_memory (buffer)
                                          : NULL;
}

static gboolean
map_whole (
    GstSpdlTensor *tensor, gsize offset, gboolean exclusive, GError **error)
{
  GstBuffer *buffer = tensor->batch->buffer;
  GstMemory *memory = get_whole (buffer);

  if (memory)
    return gst_spdl_tensor_map (tensor, memory, offset,
        exclusive || gst_buffer_n_memory (buffer) > 1, error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "tensor \"%s\" has no memory", tensor->name);
  return FALSE;
}

static gboolean
view_bytes (GstSpdlBatch *self, gboolean exclusive, GError **error)
{
  GstSpdlTensor *tensor = name_tensor (self, 0);

  tensor->type = GST_SPDL_TENSOR_UINT8;
  tensor->n_dims = 1;
  tensor->shape[0] = gst_buffer_get_size (self->buffer);
  tensor->strides[0] = 1;
  return tensor->shape[0] == 0 || map_whole (tensor, 0, exclusive, error);
}

static gboolean
view_image (GstSpdlBatch *self, const GstSpdlLayout *layout, gboolean exclusive,
    GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (self->buffer);
  GstSpdlTensor *tensor = name_tensor (self, 0);
  gint64 stride;

  gst_spdl_tensor_set_info (tensor, &layout->info.tensors[0]);
  stride =
      meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE (&layout->video, 0);
  if (stride < tensor->strides[0]) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "the rows of an image lie %" G_GINT64_FORMAT
        " bytes apart, but have %" G_GINT64_FORMAT,
        stride, tensor->strides[0]);
    return FALSE;
  }
  tensor->strides[0] = stride;
  return map_whole (tensor, meta ? meta->offset[0] : 0, exclusive, error);
}

/* A memory a tensor, as we make them; or all of them one behind the other. */
static gboolean
view_tensors (GstSpdlBatch *self, const GstSpdlLayout *layout,
    gboolean exclusive, GError **error)
{
  const gboolean apart = gst_buffer_n_memory (self->buffer) == self->n_tensors;
  gsize offset = 0;

  for (guint i = 0; i < self->n_tensors; i++) {
    const GstSpdlTensorInfo *info = &layout->info.tensors[i];
    GstSpdlTensor *tensor = name_tensor (self, i);
    gboolean ok;

    gst_spdl_tensor_set_info (tensor, info);
    if (apart)
      ok = gst_spdl_tensor_map (
          tensor, gst_buffer_get_memory (self->buffer, i), 0, exclusive, error);
    else
      ok = map_whole (tensor, offset, exclusive, error);
    if (!ok)
      return FALSE;
    offset += gst_spdl_tensor_info_get_size (info);
  }
  return TRUE;
}

GstSpdlBatch *
gst_spdl_layout_view (const GstSpdlLayout *layout, GstBuffer *buffer,
    gboolean exclusive, GError **error)
{
  const gboolean tensors = layout->kind == GST_SPDL_LAYOUT_TENSORS;
  GstSpdlBatch *self =
      make_batch (buffer, layout->caps, tensors ? layout->info.num_tensors : 1);
  gboolean ok;

  if (tensors)
    ok = view_tensors (self, layout, exclusive, error);
  else if (layout->kind == GST_SPDL_LAYOUT_IMAGE)
    ok = view_image (self, layout, exclusive, error);
  else
    ok = view_bytes (self, exclusive, error);
  if (!ok)
    g_clear_pointer (&self, gst_spdl_batch_unref);
  return self;
}

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
 * Drops a reference. Tensors that are referred to keep the batch.
 *
 * Since: 0.1
 */
void
gst_spdl_batch_unref (GstSpdlBatch *batch)
{
  g_return_if_fail (batch != NULL);

  if (!g_atomic_int_dec_and_test (&batch->n_refs))
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
