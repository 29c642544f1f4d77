/* gst-spdl: boxes and keypoints of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/common/shapes.h"
#include "plugins/core/batch/batchbuilder.h"

G_BEGIN_DECLS

/* Boxes, labels and keypoints become tensors of a batch with the names of their
 * fields, padded to the most rows of an item, and NAME_lengths those numbers of
 * rows. Labels and keypoints of boxes have the numbers of the boxes. */

/* Reads the fields of @item that no element before has read, and checks that
 * the shapes belong to an image that @collator describes. Returns FALSE with
 * @error set if they do not.
 *
 * @item: (inout): is made writable if that changes it */
gboolean spdl_batch_shapes_look (
    GstBuffer **item, const SpdlCollator *collator, GError **error);

/* Returns FALSE with @error set if an item with the fields @extra has other
 * shapes than the first one of its batch. */
gboolean spdl_batch_shapes_fit (
    const GstStructure *first, const GstStructure *extra, GError **error);

/* Returns the number of tensors for items with @extra. */
guint spdl_batch_shapes_count (const GstStructure *extra);

/* Adds the tensors of the items in @meta to @batch and @info. Returns FALSE
 * with
 * @error set if a name is taken, or if memory is exhausted. */
gboolean spdl_batch_shapes_add (GstBuffer *batch, GstSpdlBatchMeta *meta,
    GstSpdlTensorsInfo *info, GError **error);

G_END_DECLS
