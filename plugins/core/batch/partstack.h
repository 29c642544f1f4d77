/* gst-spdl: samples of several media on their way into a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/batch/stacker.h"

G_BEGIN_DECLS

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
