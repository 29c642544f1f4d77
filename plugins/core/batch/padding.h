/* gst-spdl: items of unequal length on their way into a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

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

G_END_DECLS
