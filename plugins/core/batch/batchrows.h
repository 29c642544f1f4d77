/* gst-spdl: the batch that is being filled
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/core/batch/slab.h"
#include "plugins/core/batch/stacker.h"

G_BEGIN_DECLS

/* Tensors one after the other in a slab, in which each item has a row: those
 * that the stacker writes, then its length, label and index where they are
 * wanted. What is above the line is set by who uses it, before each batch. */
typedef struct {
  SpdlStacker stacker; /* what its items are */
  guint size;          /* the rows, more than 0 */
  gboolean labels;
  gboolean indices;
  gboolean lengths;

  /* Of a batch that was begun: */
  SpdlSlab *slab;
  GstBuffer *batch;
  GstSpdlBatchMeta *meta;
  guint n_tensors;
  gsize offsets[GST_SPDL_MAX_TENSORS];
  gsize item_sizes[GST_SPDL_MAX_TENSORS];
} SpdlBatchRows;

guint spdl_batch_rows_count_tensors (const SpdlBatchRows *self);
gsize spdl_batch_rows_plan (SpdlBatchRows *self, GstSpdlTensorsInfo *info);
gboolean spdl_batch_rows_begin (SpdlBatchRows *self, GstBuffer *memory);

gboolean spdl_batch_rows_has_free_names (
    const SpdlBatchRows *self, const SpdlStacker *item, GError **error);
void spdl_batch_rows_get_places (const SpdlBatchRows *self, guint8 **places);
void spdl_batch_rows_end_row (
    SpdlBatchRows *self, const GstSpdlItemMeta *item, gint64 length);

guint spdl_batch_rows_get_n (const SpdlBatchRows *self);
void spdl_batch_rows_end (SpdlBatchRows *self, GstSpdlTensorsInfo *info);
void spdl_batch_rows_clear (SpdlBatchRows *self);

G_END_DECLS
