/* gst-spdl: types and shapes of tensors, and their caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_TENSORS_INFO_H__
#define __GST_SPDL_TENSORS_INFO_H__

#include <gst/spdl/gstspdlbatchmeta.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_MAX_RANK:
 *
 * Maximum number of dimensions of a tensor, as in NNStreamer.
 *
 * Since: 0.1
 */
#define GST_SPDL_MAX_RANK 16

/**
 * GST_SPDL_TENSORS_CAPS:
 *
 * Template caps of tensors in system memory.
 *
 * Since: 0.1
 */
#define GST_SPDL_TENSORS_CAPS "other/tensors, format=(string)static"

/**
 * GstSpdlTensorType:
 * @GST_SPDL_TENSOR_INT8: 8 bits, signed
 * @GST_SPDL_TENSOR_UINT8: 8 bits
 * @GST_SPDL_TENSOR_INT16: 16 bits, signed
 * @GST_SPDL_TENSOR_UINT16: 16 bits
 * @GST_SPDL_TENSOR_INT32: 32 bits, signed
 * @GST_SPDL_TENSOR_UINT32: 32 bits
 * @GST_SPDL_TENSOR_INT64: 64 bits, signed
 * @GST_SPDL_TENSOR_UINT64: 64 bits
 * @GST_SPDL_TENSOR_FLOAT16: IEEE half precision
 * @GST_SPDL_TENSOR_FLOAT32: IEEE single precision
 * @GST_SPDL_TENSOR_FLOAT64: IEEE double precision
 * @GST_SPDL_TENSOR_BFLOAT16: the upper half of IEEE single precision, as in
 *     PyTorch and JAX; not part of NNStreamer
 * @GST_SPDL_TENSOR_BOOL: 8 bits, 0 or 1; `uint8` for NNStreamer
 *
 * Type of a tensor's elements, in the byte order of the machine. The nicks are
 * NNStreamer's names.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_TENSOR_INT8,
  GST_SPDL_TENSOR_UINT8,
  GST_SPDL_TENSOR_INT16,
  GST_SPDL_TENSOR_UINT16,
  GST_SPDL_TENSOR_INT32,
  GST_SPDL_TENSOR_UINT32,
  GST_SPDL_TENSOR_INT64,
  GST_SPDL_TENSOR_UINT64,
  GST_SPDL_TENSOR_FLOAT16,
  GST_SPDL_TENSOR_FLOAT32,
  GST_SPDL_TENSOR_FLOAT64,
  GST_SPDL_TENSOR_BFLOAT16,
  GST_SPDL_TENSOR_BOOL,
} GstSpdlTensorType;

#define GST_TYPE_SPDL_TENSOR_TYPE (gst_spdl_tensor_type_get_type ())
GST_SPDL_API
GType gst_spdl_tensor_type_get_type (void);

typedef struct _GstSpdlTensorInfo GstSpdlTensorInfo;
typedef struct _GstSpdlTensorsInfo GstSpdlTensorsInfo;

/**
 * GstSpdlTensorInfo:
 * @type: type of the elements
 * @rank: number of dimensions; 0: a single number
 * @dims: (array fixed-size=16): dimensions, innermost first: NumPy's shape (32,
 *     224, 224, 3) is 3, 224, 224, 32
 *
 * Type and shape of one tensor.
 *
 * #GstSpdlTensorsInfo has an array of this structure, which programs have on
 * their stacks, so new fields take the place of the reserved ones. Initialize
 * it with zeros.
 *
 * Since: 0.1
 */
struct _GstSpdlTensorInfo {
  GstSpdlTensorType type;
  guint rank;
  guint32 dims[GST_SPDL_MAX_RANK];

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

/**
 * GstSpdlTensorsInfo:
 * @num_tensors: number of tensors
 * @tensors: (array fixed-size=16): the tensors
 *
 * Types and shapes of the tensors of a buffer, with one #GstMemory per tensor.
 * gst_spdl_tensors_info_init() initializes it.
 *
 * Since: 0.1
 */
struct _GstSpdlTensorsInfo {
  guint num_tensors;
  GstSpdlTensorInfo tensors[GST_SPDL_MAX_TENSORS];

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

GST_SPDL_API
gsize gst_spdl_tensor_type_get_size (GstSpdlTensorType type);

GST_SPDL_API
gsize gst_spdl_tensor_info_get_size (const GstSpdlTensorInfo *info);

GST_SPDL_API
gboolean gst_spdl_tensor_info_is_equal (
    const GstSpdlTensorInfo *a, const GstSpdlTensorInfo *b);

GST_SPDL_API
gchar *gst_spdl_tensor_info_to_string (const GstSpdlTensorInfo *info);

GST_SPDL_API
void gst_spdl_tensors_info_init (GstSpdlTensorsInfo *info);

GST_SPDL_API
GstSpdlTensorInfo *gst_spdl_tensors_info_add (GstSpdlTensorsInfo *info,
    GstSpdlTensorType type, guint rank, const guint32 *dims);

GST_SPDL_API
GstCaps *gst_spdl_tensors_info_to_caps (const GstSpdlTensorsInfo *info);

GST_SPDL_API
gboolean gst_spdl_tensors_info_from_caps (
    GstSpdlTensorsInfo *info, const GstCaps *caps, GError **error);

GST_SPDL_API
void gst_spdl_caps_set_tensor_names (
    GstCaps *caps, const gchar *const *names, guint n_names);

GST_SPDL_API
const gchar *gst_spdl_caps_get_tensor_name (const GstCaps *caps, guint i);

G_END_DECLS

#endif /* __GST_SPDL_TENSORS_INFO_H__ */
