/* gst-spdl: rows and padding of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/core/batch/batchpool.h"
#include "plugins/core/batch/collator.h"

G_BEGIN_DECLS

/* Which is the longest one is known when all have come: they are held until
 * then. What may differ is the samples of sound, and else the outermost
 * dimension of an item's first tensor. */

typedef struct {
  GstBuffer *buffer;
  SpdlCollator collator; /* by its own caps and length */
} SpdlPaddedItem;

typedef struct {
  GArray *items; /* of SpdlPaddedItem */
} SpdlPadding;

void spdl_padding_init (SpdlPadding *self);
void spdl_padding_clear (SpdlPadding *self);

/* Returns TRUE if items of this kind may differ in length; images may not. */
gboolean spdl_padding_can (const SpdlCollator *collator);

/* Holds @item; FALSE with @error set if it differs in more than length. */
gboolean spdl_padding_take (SpdlPadding *self, const SpdlCollator *collator,
    GstBuffer *item, GError **error);

/* Releases all items. */
void spdl_padding_forget (SpdlPadding *self);

/* Returns the description of one of the longest items. */
const SpdlCollator *spdl_padding_get_longest (const SpdlPadding *self);

/* Returns the length of item @i. */
guint32 spdl_padding_get_length (const SpdlPadding *self, guint i);

/* Writes item @i followed by zeros, or by silence for uint8 audio. */
gboolean spdl_padding_write (const SpdlPadding *self, guint i,
    const SpdlCollator *longest, guint8 *const *places, GError **error);

/* Tensors one after the other in a slab, in which each item has a row: those
 * that the collator writes, then its length, label and index where they are
 * wanted. What is above the line is set by who uses it, before each batch. */
typedef struct {
  SpdlCollator collator; /* what its items are */
  guint size;            /* the rows, more than 0 */
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
    const SpdlBatchRows *self, const SpdlCollator *item, GError **error);
void spdl_batch_rows_get_places (const SpdlBatchRows *self, guint8 **places);
void spdl_batch_rows_end_row (
    SpdlBatchRows *self, const GstSpdlItemMeta *item, gint64 length);

guint spdl_batch_rows_get_n (const SpdlBatchRows *self);
void spdl_batch_rows_end (SpdlBatchRows *self, GstSpdlTensorsInfo *info);
void spdl_batch_rows_clear (SpdlBatchRows *self);

/* Each part of a sample is a tensor of the batch, named after it, which a
 * collator of its own writes. Parts that are bytes are of unequal length: they
 * are kept until the batch is full, and then padded to the longest; among the
 * other tensors lie their lengths. */

typedef struct {
  SpdlCollateSettings stack;
  const gchar *part; /* interned: which one they count for; NULL: the first */
  gboolean pad;      /* whether bytes are taken */
} SpdlPartSettings;

typedef struct _SpdlBatchBuilder SpdlBatchBuilder;

SpdlBatchBuilder *spdl_batch_builder_new (void);
void spdl_batch_builder_free (SpdlBatchBuilder *self);

/* Sets the settings for further items. A started batch keeps its own. */
void spdl_batch_builder_set (
    SpdlBatchBuilder *self, const SpdlPartSettings *settings);

/* Sees what the parts of @item are as tensors, and says it in @collator. FALSE
 * with @error set if they cannot be stacked. */
gboolean spdl_batch_builder_look (SpdlBatchBuilder *self, GstBuffer *item,
    SpdlCollator *collator, GError **error);

/* Writes the tensors of @item, which was looked at and is compatible with the
 * batch, to @places. FALSE with @error set if it holds less than its caps say.
 */
gboolean spdl_batch_builder_write (SpdlBatchBuilder *self, GstBuffer *item,
    guint8 *const *places, GError **error);

/* Returns the number of padded tensors of the last sample, which follow all
 * others. */
guint spdl_batch_builder_count_padded (const SpdlBatchBuilder *self);

/* The sample that was looked at begins a batch: adds the names of its padded
 * tensors. */
void spdl_batch_builder_begin (SpdlBatchBuilder *self, GstSpdlBatchMeta *batch);

/* Adds the padded tensors of the batch to @buffer and @info. FALSE with @error
 * set if there is no memory for them. */
gboolean spdl_batch_builder_end (SpdlBatchBuilder *self, GstBuffer *buffer,
    GstSpdlTensorsInfo *info, GError **error);

/* Drops the batch. */
void spdl_batch_builder_cancel (SpdlBatchBuilder *self);

G_END_DECLS
