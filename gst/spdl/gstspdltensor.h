/* gst-spdl: tensor of a batch, with DLPack and array interface
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_TENSOR_H__
#define __GST_SPDL_TENSOR_H__

#include <gst/spdl/gstspdltensorsinfo.h>

G_BEGIN_DECLS

/**
 * GstSpdlDeviceType:
 * @GST_SPDL_DEVICE_CPU: memory of the CPU
 * @GST_SPDL_DEVICE_CUDA: memory of a CUDA device
 *
 * Device of a tensor's memory, with the numbers of DLPack.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_DEVICE_CPU = 1,
  GST_SPDL_DEVICE_CUDA = 2,
} GstSpdlDeviceType;

#define GST_TYPE_SPDL_DEVICE_TYPE (gst_spdl_device_type_get_type ())
GST_SPDL_API
GType gst_spdl_device_type_get_type (void);

/**
 * GstSpdlTensor:
 *
 * One tensor of a #GstSpdlBatch without a copy: an address, a type, a shape and
 * strides as in NumPy, outermost dimension first. A reference keeps the memory
 * of the batch, also after the batch, the loader and the pipeline were freed.
 * Opaque; all functions may be called from any thread.
 *
 * Since: 0.1
 */
typedef struct _GstSpdlTensor GstSpdlTensor;

#define GST_TYPE_SPDL_TENSOR (gst_spdl_tensor_get_type ())
GST_SPDL_API
GType gst_spdl_tensor_get_type (void);

GST_SPDL_API
GstSpdlTensor *gst_spdl_tensor_ref (GstSpdlTensor *tensor);

GST_SPDL_API
void gst_spdl_tensor_unref (GstSpdlTensor *tensor);

GST_SPDL_API
const gchar *gst_spdl_tensor_get_name (const GstSpdlTensor *tensor);

GST_SPDL_API
GstSpdlTensorType
gst_spdl_tensor_get_element_type (const GstSpdlTensor *tensor);

GST_SPDL_API
const gchar *gst_spdl_tensor_get_typestr (const GstSpdlTensor *tensor);

GST_SPDL_API
const gint64 *
gst_spdl_tensor_get_shape (const GstSpdlTensor *tensor, guint *n_dims);

GST_SPDL_API
const gint64 *
gst_spdl_tensor_get_strides (const GstSpdlTensor *tensor, guint *n_dims);

GST_SPDL_API
gboolean gst_spdl_tensor_is_contiguous (const GstSpdlTensor *tensor);

GST_SPDL_API
gpointer gst_spdl_tensor_get_address (const GstSpdlTensor *tensor);

GST_SPDL_API
gsize gst_spdl_tensor_get_size (const GstSpdlTensor *tensor);

GST_SPDL_API
gboolean gst_spdl_tensor_is_writable (const GstSpdlTensor *tensor);

GST_SPDL_API
GstSpdlDeviceType
gst_spdl_tensor_get_device (const GstSpdlTensor *tensor, gint *device_id);

GST_SPDL_API
gboolean
gst_spdl_tensor_wait (GstSpdlTensor *tensor, gpointer stream, GError **error);

GST_SPDL_API
gpointer gst_spdl_tensor_to_dlpack (GstSpdlTensor *tensor);

GST_SPDL_API
void gst_spdl_dlpack_free (gpointer managed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlTensor, gst_spdl_tensor_unref)

G_END_DECLS

#endif /* __GST_SPDL_TENSOR_H__ */
