/* gst-spdl: shuffled order of rows that are read in parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Order of the rows of a table in parts, such as row groups, of which only a
 * few are in memory. Successive parts of the order form a block, whose rows
 * follow each other. A shuffled order has the parts in random order, and the
 * rows of each block.
 *
 * The order is a pure function of (sizes of the parts, buffer, seed, epoch) and
 * must never change, on any machine or in any version, because resume states
 * depend on it. Not thread-safe. */
typedef struct _SpdlBlockOrder SpdlBlockOrder;

/* @sizes: number of rows of each part, which may be 0
 * @buffer: smallest number of rows of a block, except of the last one; 0: each
 *     part is a block */
SpdlBlockOrder *
spdl_block_order_new (const guint64 *sizes, guint n_parts, guint64 buffer);

void spdl_block_order_free (SpdlBlockOrder *self);

void spdl_block_order_begin_epoch (
    SpdlBlockOrder *self, gboolean shuffle, guint64 seed, guint64 epoch);

/* Returns the row at @place of the order, below the number of rows. */
guint64 spdl_block_order_get_item (SpdlBlockOrder *self, guint64 place);

/* Returns the number of the block with @place. */
guint spdl_block_order_find_block (SpdlBlockOrder *self, guint64 place);

/* Returns the parts from those of block @block on, in their order.
 *
 * @n_block: number of parts of the block
 * @n: number of parts up to the one with @last, the last place to be used */
const guint32 *spdl_block_order_get_parts (
    SpdlBlockOrder *self, guint block, guint64 last, guint *n_block, guint *n);

G_END_DECLS
