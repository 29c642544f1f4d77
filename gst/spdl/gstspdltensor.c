/* gst-spdl: a tensor of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdltensor
 * @title: GstSpdlTensor
 * @short_description: a tensor of a batch
 *
 * A view of a batch's memory, for NumPy's and PyTorch's protocols: address,
 * shape and strides for `__array_interface__`, and a DLPack tensor that can be
 * freed without this library's help and without Python.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlcudamemory.h"
#include "gst/spdl/tensor/batch-private.h"

G_DEFINE_BOXED_TYPE (
    GstSpdlTensor, gst_spdl_tensor, gst_spdl_tensor_ref, gst_spdl_tensor_unref)

G_DEFINE_ENUM_TYPE (GstSpdlDeviceType, gst_spdl_device_type,
    { GST_SPDL_DEVICE_CPU, "GST_SPDL_DEVICE_CPU", "cpu" },
    { GST_SPDL_DEVICE_CUDA, "GST_SPDL_DEVICE_CUDA", "cuda" })

void
gst_spdl_tensor_set_info (GstSpdlTensor *self, const GstSpdlTensorInfo *info)
{
  gint64 stride = gst_spdl_tensor_type_get_size (info->type);

  self->type = info->type;
  self->n_dims = info->rank;
  for (guint i = 0; i < info->rank; i++) {
    const guint k = info->rank - 1 - i;

    self->shape[k] = info->dims[i];
    self->strides[k] = stride;
    stride *= info->dims[i];
  }
}

/* How many bytes there are from the first element to the last. */
static gsize
get_span (const GstSpdlTensor *self)
{
  gsize last = 0;

  for (guint i = 0; i < self->n_dims; i++) {
    if (self->shape[i] == 0)
      return 0;
    last += (self->shape[i] - 1) * self->strides[i];
  }
  return last + gst_spdl_tensor_type_get_size (self->type);
}

/* Not gst_memory_is_writable(), which wants the buffer's last reference: ours
 * is one of several. Memory that another buffer shares is not mapped for
 * writing. */
static gboolean
map_memory (GstSpdlTensor *self, GstMemory *memory, gboolean exclusive)
{
  self->writable =
      exclusive && gst_memory_map (memory, &self->map, GST_MAP_READWRITE);
  if (self->writable || gst_memory_map (memory, &self->map, GST_MAP_READ))
    return TRUE;
  self->map.memory = NULL;
  return FALSE;
}

/* Memory of a device is not mapped, but has an address there. */
static void
take_memory (GstSpdlTensor *self, GstMemory *memory, gboolean exclusive)
{
  self->device_type = GST_SPDL_DEVICE_CUDA;
  self->device_id = gst_spdl_cuda_memory_get_device_id (memory);
  self->writable = exclusive;
  self->map = (GstMapInfo){ .memory = memory,
    .data = gst_spdl_cuda_memory_get_address (memory),
    .size = memory->size };
}

gboolean
gst_spdl_tensor_map (GstSpdlTensor *self, GstMemory *memory, gsize offset,
    gboolean exclusive, GError **error)
{
  const gsize span = get_span (self);

  self->device_type = GST_SPDL_DEVICE_CPU;
  if (gst_spdl_is_cuda_memory (memory)) {
    take_memory (self, memory, exclusive);
  } else if (!map_memory (self, memory, exclusive)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "the memory of tensor \"%s\" (%s) cannot be mapped", self->name,
        memory->allocator ? memory->allocator->mem_type : "?");
    gst_memory_unref (memory);
    return FALSE;
  }
  if (offset > self->map.size || span > self->map.size - offset) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "tensor \"%s\" has %" G_GSIZE_FORMAT
        " bytes, but its buffer only %" G_GSIZE_FORMAT,
        self->name, span, self->map.size - MIN (offset, self->map.size));
    gst_spdl_tensor_unmap (self);
    return FALSE;
  }
  self->data = self->map.data + offset;
  self->size = span;
  return TRUE;
}

void
gst_spdl_tensor_unmap (GstSpdlTensor *self)
{
  GstMemory *memory = self->map.memory;

  if (!memory)
    return;
  if (self->device_type == GST_SPDL_DEVICE_CPU)
    gst_memory_unmap (memory, &self->map);
  gst_memory_unref (memory);
  self->map.memory = NULL;
}

/**
 * gst_spdl_tensor_ref:
 * @tensor: a tensor
 *
 * Returns: (transfer full): @tensor, with one more reference
 *
 * Since: 0.1
 */
GstSpdlTensor *
gst_spdl_tensor_ref (GstSpdlTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  gst_spdl_batch_ref (tensor->batch);
  return tensor;
}

/**
 * gst_spdl_tensor_unref:
 * @tensor: (transfer full): a tensor
 *
 * Drops a reference. With the last one to a batch and its tensors their memory
 * goes back to where it came from.
 *
 * Since: 0.1
 */
void
gst_spdl_tensor_unref (GstSpdlTensor *tensor)
{
  g_return_if_fail (tensor != NULL);

  gst_spdl_batch_unref (tensor->batch);
}

/**
 * gst_spdl_tensor_get_name:
 * @tensor: a tensor
 *
 * Returns: (transfer none): its name: `data`, `labels`, `indices`
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_tensor_get_name (const GstSpdlTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  return tensor->name;
}

/**
 * gst_spdl_tensor_get_element_type:
 * @tensor: a tensor
 *
 * Returns: the type of its elements
 *
 * Since: 0.1
 */
GstSpdlTensorType
gst_spdl_tensor_get_element_type (const GstSpdlTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, GST_SPDL_TENSOR_UINT8);

  return tensor->type;
}

/**
 * gst_spdl_tensor_get_typestr:
 * @tensor: a tensor
 *
 * Returns: (transfer none): the type of its elements as NumPy's
 *     `__array_interface__` writes it: `|u1`, `<f4`
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_tensor_get_typestr (const GstSpdlTensor *tensor)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define ORDER "<"
#else
#define ORDER ">"
#endif
  static const gchar *const names[] = {
    [GST_SPDL_TENSOR_INT8] = "|i1",
    [GST_SPDL_TENSOR_UINT8] = "|u1",
    [GST_SPDL_TENSOR_INT16] = ORDER "i2",
    [GST_SPDL_TENSOR_UINT16] = ORDER "u2",
    [GST_SPDL_TENSOR_INT32] = ORDER "i4",
    [GST_SPDL_TENSOR_UINT32] = ORDER "u4",
    [GST_SPDL_TENSOR_INT64] = ORDER "i8",
    [GST_SPDL_TENSOR_UINT64] = ORDER "u8",
    [GST_SPDL_TENSOR_FLOAT16] = ORDER "f2",
    [GST_SPDL_TENSOR_FLOAT32] = ORDER "f4",
    [GST_SPDL_TENSOR_FLOAT64] = ORDER "f8",
  };
#undef ORDER

  g_return_val_if_fail (tensor != NULL, NULL);

  return names[tensor->type];
}

/**
 * gst_spdl_tensor_get_shape:
 * @tensor: a tensor
 * @n_dims: (out): how many dimensions there are
 *
 * Returns: (array length=n_dims) (transfer none): the dimensions, the outermost
 *     first, as NumPy has them
 *
 * Since: 0.1
 */
const gint64 *
gst_spdl_tensor_get_shape (const GstSpdlTensor *tensor, guint *n_dims)
{
  g_return_val_if_fail (tensor != NULL && n_dims != NULL, NULL);

  *n_dims = tensor->n_dims;
  return tensor->shape;
}

/**
 * gst_spdl_tensor_get_strides:
 * @tensor: a tensor
 * @n_dims: (out): how many dimensions there are
 *
 * Returns: (array length=n_dims) (transfer none): for each dimension, how many
 *     bytes lie between two neighbours
 *
 * Since: 0.1
 */
const gint64 *
gst_spdl_tensor_get_strides (const GstSpdlTensor *tensor, guint *n_dims)
{
  g_return_val_if_fail (tensor != NULL && n_dims != NULL, NULL);

  *n_dims = tensor->n_dims;
  return tensor->strides;
}

/**
 * gst_spdl_tensor_is_contiguous:
 * @tensor: a tensor
 *
 * Returns: whether its elements lie in NumPy's order (C's), without gaps
 *
 * Since: 0.1
 */
gboolean
gst_spdl_tensor_is_contiguous (const GstSpdlTensor *tensor)
{
  gint64 stride;

  g_return_val_if_fail (tensor != NULL, FALSE);

  stride = gst_spdl_tensor_type_get_size (tensor->type);
  for (guint i = tensor->n_dims; i > 0; i--) {
    if (tensor->shape[i - 1] != 1 && tensor->strides[i - 1] != stride)
      return FALSE;
    stride *= tensor->shape[i - 1];
  }
  return TRUE;
}

/**
 * gst_spdl_tensor_get_address:
 * @tensor: a tensor
 *
 * Returns: (transfer none) (nullable): where its first element lies, valid as
 *     long as @tensor; on its device
 *
 * Since: 0.1
 */
gpointer
gst_spdl_tensor_get_address (const GstSpdlTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  return tensor->data;
}

/**
 * gst_spdl_tensor_get_size:
 * @tensor: a tensor
 *
 * Returns: how many bytes there are from its first element to its last, gaps
 *     among them
 *
 * Since: 0.1
 */
gsize
gst_spdl_tensor_get_size (const GstSpdlTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, 0);

  return tensor->size;
}

/**
 * gst_spdl_tensor_is_writable:
 * @tensor: a tensor
 *
 * Returns: whether its memory may be written: it is this batch's alone. Where
 *     an element of the pipeline keeps the buffer, say, it is not, and what is
 *     written would be seen by others
 *
 * Since: 0.1
 */
gboolean
gst_spdl_tensor_is_writable (const GstSpdlTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, FALSE);

  return tensor->writable;
}

/**
 * gst_spdl_tensor_get_device:
 * @tensor: a tensor
 * @device_id: (out) (optional): the device's number, 0 for the CPU
 *
 * Returns: which device's memory it lies in
 *
 * Since: 0.1
 */
GstSpdlDeviceType
gst_spdl_tensor_get_device (const GstSpdlTensor *tensor, gint *device_id)
{
  g_return_val_if_fail (tensor != NULL, GST_SPDL_DEVICE_CPU);

  if (device_id)
    *device_id = tensor->device_id;
  return tensor->device_type;
}

/**
 * gst_spdl_tensor_wait: (skip)
 * @tensor: a tensor
 * @stream: (nullable): a `cudaStream_t`; %NULL is the legacy default stream. It
 *     has to exist until the batch is let go of
 * @error: (nullable): %GST_RESOURCE_ERROR
 *
 * Makes a stream of a CUDA device wait until the tensor's content is there, as
 * gst_spdl_cuda_memory_wait() does; the CPU waits for nothing. Each stream that
 * is to use the tensor has to be made to. Of a tensor in the CPU's memory the
 * content is there, and nothing is done.
 *
 * Returns: %FALSE with @error set if the content will not come, or the stream
 *     is none
 *
 * Since: 0.1
 */
gboolean
gst_spdl_tensor_wait (GstSpdlTensor *tensor, gpointer stream, GError **error)
{
  g_return_val_if_fail (tensor != NULL, FALSE);

  return tensor->device_type == GST_SPDL_DEVICE_CPU || !tensor->map.memory ||
         gst_spdl_cuda_memory_wait (tensor->map.memory, stream, error);
}
