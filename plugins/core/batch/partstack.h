/* gst-spdl: samples of several media on their way into a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/core/batch/batchpool.h"
#include "plugins/core/batch/stacker.h"

G_BEGIN_DECLS

/* Which is the longest one is known when all have come: they are held until
 * then. What may differ is the samples of sound, and else the outermost
 * dimension of an item's first tensor. */

typedef struct {
  GstBuffer *buffer;
  SpdlStacker stacker; /* by its own caps and length */
} SpdlHeld;

typedef struct {
  GArray *held; /* of SpdlHeld */
} SpdlPad;

void spdl_pad_init (SpdlPad *self);
void spdl_pad_clear (SpdlPad *self);

/* Whether items of this kind may differ in length: images may not. */
gboolean spdl_pad_can (const SpdlStacker *stacker);

/* Holds @item; FALSE with @error set if it differs in more than length. */
gboolean spdl_pad_take (
    SpdlPad *self, const SpdlStacker *stacker, GstBuffer *item, GError **error);

/* Lets go of all. */
void spdl_pad_forget (SpdlPad *self);

/* What one of the longest ones is. */
const SpdlStacker *spdl_pad_get_longest (const SpdlPad *self);

/* How long item @i is. */
guint32 spdl_pad_get_length (const SpdlPad *self, guint i);

/* Writes item @i, and zeros behind it; silence behind sound of uint8. */
gboolean spdl_pad_write (const SpdlPad *self, guint i,
    const SpdlStacker *longest, guint8 *const *places, GError **error);

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

/* Each part of a sample is a tensor of the batch, named after it, which a
 * stacker of its own writes. Parts that are bytes are of unequal length: they
 * are kept until the batch is full, and then padded to the longest; among the
 * other tensors lie their lengths. */

typedef struct {
  SpdlStackSettings stack;
  const gchar *part; /* interned: which one they count for; NULL: the first */
  gboolean pad;      /* whether bytes are taken */
} SpdlPartSettings;

typedef struct _SpdlPartStack SpdlPartStack;

SpdlPartStack *spdl_part_stack_new (void);
void spdl_part_stack_free (SpdlPartStack *self);

/* For the items that come next. The batch that was begun stays. */
void
spdl_part_stack_set (SpdlPartStack *self, const SpdlPartSettings *settings);

/* Sees what the parts of @item are as tensors, and says it in @stacker. FALSE
 * with @error set if they cannot be stacked. */
gboolean spdl_part_stack_look (
    SpdlPartStack *self, GstBuffer *item, SpdlStacker *stacker, GError **error);

/* Writes the tensors of @item, which was looked at and is compatible with the
 * batch, to @places. FALSE with @error set if it holds less than its caps say.
 */
gboolean spdl_part_stack_write (SpdlPartStack *self, GstBuffer *item,
    guint8 *const *places, GError **error);

/* Tensors that are padded, and come behind all others: of the sample that was
 * looked at. */
guint spdl_part_stack_count_padded (const SpdlPartStack *self);

/* The sample that was looked at begins a batch: adds the names of its padded
 * tensors. */
void spdl_part_stack_begin (SpdlPartStack *self, GstSpdlBatchMeta *batch);

/* Adds the padded tensors of the batch to @buffer and @info. FALSE with @error
 * set if there is no memory for them. */
gboolean spdl_part_stack_end (SpdlPartStack *self, GstBuffer *buffer,
    GstSpdlTensorsInfo *info, GError **error);

/* Forgets the batch. */
void spdl_part_stack_cancel (SpdlPartStack *self);

G_END_DECLS
