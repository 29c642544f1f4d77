/* gst-spdl: export of tensors with DLPack
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/gstspdltensor.h"

#include <string.h>

#include "gst/spdl/tensor/layout.h"

/* Content of a capsule named `dltensor`, as in DLPack 0.x without a version.
 * The layout is an external ABI; the names are local. */

typedef enum {
  SPDL_DL_INT = 0,
  SPDL_DL_UINT = 1,
  SPDL_DL_FLOAT = 2,
  SPDL_DL_BFLOAT = 4,
  SPDL_DL_BOOL = 6,
} SpdlDlCode;

typedef struct {
  gint32 type; /* values of GstSpdlDeviceType */
  gint32 id;
} SpdlDlDevice;

typedef struct {
  guint8 code; /* SpdlDlCode */
  guint8 bits;
  guint16 lanes;
} SpdlDlType;

typedef struct {
  gpointer data;
  SpdlDlDevice device;
  gint32 n_dims;
  SpdlDlType type;
  gint64 *shape;
  gint64 *strides; /* in elements */
  guint64 byte_offset;
} SpdlDlTensor;

typedef struct _SpdlDlManaged SpdlDlManaged;
struct _SpdlDlManaged {
  SpdlDlTensor tensor;
  gpointer context;
  void (*deleter) (SpdlDlManaged *self);
};

typedef struct {
  SpdlDlManaged managed;
  GstSpdlTensor *tensor; /* owned */
  gint64 strides[GST_SPDL_MAX_RANK];
  gpointer copy; /* nullable */
} Exported;

/* May run in any thread, even after Python was finalized. */
static void
delete_exported (SpdlDlManaged *managed)
{
  Exported *self = managed->context;

  gst_spdl_tensor_unref (self->tensor);
  g_free (self->copy);
  g_free (self);
}

static SpdlDlType
type_of (const GstSpdlTensor *tensor)
{
  SpdlDlType type = { SPDL_DL_FLOAT,
    gst_spdl_tensor_type_get_size (tensor->type) * 8, 1 };

  switch (tensor->type) {
    case GST_SPDL_TENSOR_INT8:
    case GST_SPDL_TENSOR_INT16:
    case GST_SPDL_TENSOR_INT32:
    case GST_SPDL_TENSOR_INT64:
      type.code = SPDL_DL_INT;
      break;
    case GST_SPDL_TENSOR_UINT8:
    case GST_SPDL_TENSOR_UINT16:
    case GST_SPDL_TENSOR_UINT32:
    case GST_SPDL_TENSOR_UINT64:
      type.code = SPDL_DL_UINT;
      break;
    case GST_SPDL_TENSOR_BFLOAT16:
      type.code = SPDL_DL_BFLOAT;
      break;
    case GST_SPDL_TENSOR_BOOL:
      type.code = SPDL_DL_BOOL;
      break;
    default:
      break;
  }
  return type;
}

/* Copies dimension @dim and the inner ones. Returns the end of the copy. */
static guint8 *
pack_tensor (
    const GstSpdlTensor *tensor, guint dim, const guint8 *src, guint8 *dest)
{
  const gsize element = gst_spdl_tensor_type_get_size (tensor->type);

  if (dim == tensor->n_dims) {
    memcpy (dest, src, element);
    return dest + element;
  }
  if (dim + 1 == tensor->n_dims && tensor->strides[dim] == (gint64) element) {
    memcpy (dest, src, tensor->shape[dim] * element);
    return dest + tensor->shape[dim] * element;
  }
  for (gint64 i = 0; i < tensor->shape[dim]; i++)
    dest = pack_tensor (tensor, dim + 1, src + i * tensor->strides[dim], dest);
  return dest;
}

/* Makes a contiguous copy, because strides are counted in elements. Returns
 * FALSE if memory is exhausted. */
static gboolean
copy_elements (Exported *self)
{
  const GstSpdlTensor *tensor = self->tensor;
  gint64 stride = 1;

  for (guint i = tensor->n_dims; i > 0; i--) {
    self->strides[i - 1] = stride;
    stride *= tensor->shape[i - 1];
  }
  self->copy = g_try_malloc (
      MAX (stride * gst_spdl_tensor_type_get_size (tensor->type), 1));
  if (self->copy && tensor->data)
    pack_tensor (tensor, 0, tensor->data, self->copy);
  return self->copy != NULL;
}

static void
view_elements (Exported *self)
{
  const gint64 size = gst_spdl_tensor_type_get_size (self->tensor->type);

  for (guint i = 0; i < self->tensor->n_dims; i++)
    self->strides[i] = self->tensor->strides[i] / size;
}

/**
 * gst_spdl_tensor_to_dlpack:
 * @tensor: a tensor
 *
 * Creates a `DLManagedTensor` of DLPack 0.x, the content of a Python capsule
 * named `dltensor`. It keeps the batch's memory until the consumer calls its
 * deleter, or until gst_spdl_dlpack_free() is called. One of them must be
 * called once, in any thread, even after the loader, the pipeline or Python has
 * ended.
 *
 * DLPack 0.x cannot mark memory as read-only, so a tensor that is not writable
 * is copied.
 *
 * Returns: (transfer none) (nullable): the `DLManagedTensor *`, which the
 * caller or its consumer frees, or %NULL if memory for a copy is exhausted
 *
 * Since: 0.1
 */
gpointer
gst_spdl_tensor_to_dlpack (GstSpdlTensor *tensor)
{
  Exported *self;

  g_return_val_if_fail (tensor != NULL, NULL);

  self = g_new0 (Exported, 1);
  self->tensor = gst_spdl_tensor_ref (tensor);
  self->managed.context = self;
  self->managed.deleter = delete_exported;
  if (tensor->writable || tensor->device_type != GST_SPDL_DEVICE_CPU) {
    view_elements (self);
  } else if (!copy_elements (self)) {
    delete_exported (&self->managed);
    return NULL;
  }
  self->managed.tensor = (SpdlDlTensor){
    .data = self->copy ? self->copy : tensor->data,
    .device = { tensor->device_type, tensor->device_id },
    .n_dims = tensor->n_dims,
    .type = type_of (tensor),
    .shape = tensor->shape,
    .strides = self->strides,
  };
  return &self->managed;
}

/**
 * gst_spdl_dlpack_free:
 * @managed: (nullable): result of gst_spdl_tensor_to_dlpack() that was not
 *     consumed
 *
 * Calls the deleter of @managed, as the destructor of an unused capsule must.
 *
 * Since: 0.1
 */
void
gst_spdl_dlpack_free (gpointer managed)
{
  SpdlDlManaged *self = managed;

  if (self && self->deleter)
    self->deleter (self);
}
