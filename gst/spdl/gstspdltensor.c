/* gst-spdl: tensor of a batch, with DLPack and array interface
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
 * A view of a batch's memory for NumPy and PyTorch: address, shape and strides
 * for `__array_interface__`, and a DLPack tensor that can be freed without this
 * library and without Python.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlcudamemory.h"
#include "gst/spdl/tensor/layout.h"

G_DEFINE_BOXED_TYPE (
    GstSpdlTensor, gst_spdl_tensor, gst_spdl_tensor_ref, gst_spdl_tensor_unref)

G_DEFINE_ENUM_TYPE (GstSpdlDeviceType, gst_spdl_device_type,
    { GST_SPDL_DEVICE_CPU, "GST_SPDL_DEVICE_CPU", "cpu" },
    { GST_SPDL_DEVICE_CUDA, "GST_SPDL_DEVICE_CUDA", "cuda" })

/**
 * gst_spdl_tensor_ref:
 * @tensor: a tensor
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @tensor
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
 * Drops a reference. With the last reference to a batch and its tensors, their
 * memory returns to its pool.
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
 * Gets the name, such as `data`, `labels` or `indices`.
 *
 * Returns: (transfer none): the name, valid as long as @tensor
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
 * Gets the type of the elements.
 *
 * Returns: the type
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
 * Gets the type of the elements as in NumPy's `__array_interface__`: `|u1`,
 * `<f4`. For #GST_SPDL_TENSOR_BFLOAT16 it is `<V2`, as for the package
 * ml_dtypes.
 *
 * Returns: (transfer none): the type
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
    [GST_SPDL_TENSOR_BFLOAT16] = ORDER "V2",
    [GST_SPDL_TENSOR_BOOL] = "|b1",
  };
#undef ORDER

  g_return_val_if_fail (tensor != NULL, NULL);

  return names[tensor->type];
}

/**
 * gst_spdl_tensor_get_shape:
 * @tensor: a tensor
 * @n_dims: (out): number of dimensions
 *
 * Gets the shape, outermost dimension first, as in NumPy.
 *
 * Returns: (array length=n_dims) (transfer none): the dimensions, valid as long
 *     as @tensor
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
 * @n_dims: (out): number of dimensions
 *
 * Gets the strides: for each dimension, the distance between two neighbours in
 * bytes.
 *
 * Returns: (array length=n_dims) (transfer none): the strides, valid as long as
 *     @tensor
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
 * Checks whether the elements are in C order without gaps.
 *
 * Returns: %TRUE if the tensor is contiguous
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
 * Gets the address of the first element, on the tensor's device.
 *
 * Returns: (transfer none) (nullable): the address, valid as long as @tensor
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
 * Gets the number of bytes from the first element to the last, including gaps.
 *
 * Returns: the size in bytes
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
 * Checks whether the memory may be written, because no other buffer shares it.
 * Otherwise, for example if an element keeps the buffer, others would see the
 * change.
 *
 * Returns: %TRUE if the memory may be written
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
 * @device_id: (out) (optional): number of the device, 0 for the CPU
 *
 * Gets the device of the memory.
 *
 * Returns: the type of the device
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
 * @stream: (nullable): a `cudaStream_t`; %NULL: the legacy default stream. It
 *     must exist until the batch is freed
 * @error: (nullable): %GST_RESOURCE_ERROR
 *
 * Makes a CUDA stream wait until the content of the tensor is valid, like
 * gst_spdl_cuda_memory_wait(); the CPU does not wait. Call it for each stream
 * that uses the tensor. It does nothing for a tensor in CPU memory.
 *
 * Returns: %FALSE with @error set if the content is not available or @stream is
 *     invalid
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
