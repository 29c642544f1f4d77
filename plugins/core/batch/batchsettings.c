/* gst-spdl: properties of spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchsettings.h"

SPDL_DEFINE_ENUM_TYPE (GstSpdlBatchType, spdl_collate_dtype,
    { SPDL_COLLATE_DTYPE_AS_IS, "Same as the items", "as-is" },
    { SPDL_COLLATE_DTYPE_UINT8, "8-bit unsigned integer", "uint8" },
    { SPDL_COLLATE_DTYPE_FLOAT16, "IEEE half precision; uint8 becomes 0 to 1",
        "float16" },
    { SPDL_COLLATE_DTYPE_FLOAT32, "IEEE single precision; uint8 becomes 0 to 1",
        "float32" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlBatchLayout, spdl_collate_layout,
    { SPDL_COLLATE_LAYOUT_AS_IS, "Same as the items", "as-is" },
    { SPDL_COLLATE_LAYOUT_NHWC, "Channels last", "nhwc" },
    { SPDL_COLLATE_LAYOUT_NCHW, "Channels first", "nchw" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlOnShapeMismatch, spdl_on_shape_mismatch,
    { SPDL_ON_SHAPE_MISMATCH_AUTO,
        "Error in the first batch of a run from the beginning, otherwise skip",
        "auto" },
    { SPDL_ON_SHAPE_MISMATCH_ERROR, "End the stream with an error", "error" },
    { SPDL_ON_SHAPE_MISMATCH_SKIP, "Fail the item and continue", "skip" })

const SpdlProperty spdl_batch_properties[] = {
  SPDL_PROPERTY_UINT (SpdlBatchSettings, size, PLAYING, "batch-size",
      "Batch size", "Number of items in a batch", 1, 1 << 20, 32),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, drop_last, PLAYING, "drop-last",
      "Drop last",
      "Drop an incomplete batch at the end of an epoch or of the stream",
      FALSE),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, labels, PLAYING, "labels", "Labels",
      "Add an int64 tensor of the items' labels", FALSE),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, indices, PLAYING, "indices",
      "Indices", "Add an int64 tensor of the items' indices in the dataset",
      FALSE),
  SPDL_PROPERTY_ENUM (SpdlBatchSettings, stack.type, READY, "dtype",
      "Data type",
      "Data type of the batch; for floating point, uint8 samples are divided "
      "by 255",
      spdl_collate_dtype_get_type, SPDL_COLLATE_DTYPE_AS_IS),
  SPDL_PROPERTY_ENUM (SpdlBatchSettings, stack.layout, READY, "layout",
      "Layout", "Order of the dimensions; items must be nhwc",
      spdl_collate_layout_get_type, SPDL_COLLATE_LAYOUT_AS_IS),
  SPDL_PROPERTY_MEAN (SpdlBatchSettings, stack.mean, stack.n_mean),
  SPDL_PROPERTY_STD (SpdlBatchSettings, stack.std, stack.n_std),
  SPDL_PROPERTY_INTERNED (SpdlBatchSettings, part, READY, "part", "Part",
      "Part of samples of several media that dtype, layout, mean and std apply "
      "to "
      "(unset = the first)"),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, pad, READY, "pad-to-longest",
      "Pad to longest",
      "Pad items of unequal length with zeros to the longest of the batch, and "
      "add a tensor of their lengths; in samples of several media, for parts "
      "that "
      "are bytes or audio",
      FALSE),
  SPDL_PROPERTY_ENUM (SpdlBatchSettings, on_shape_mismatch, PLAYING,
      "on-shape-mismatch", "On shape mismatch",
      "Action for an item whose shape, type, or number or names of tensors "
      "differ from those of the first item of its batch",
      spdl_on_shape_mismatch_get_type, SPDL_ON_SHAPE_MISMATCH_AUTO),
  SPDL_PROPERTY_END
};
