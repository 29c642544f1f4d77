/* gst-spdl: dataset of shards that are read sequentially
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archiveset.h"
#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/list/item.h"

G_BEGIN_DECLS

/* Dataset of shards on servers without byte ranges. The shards are read
 * sequentially, one after the other. Samples pass through a shuffle buffer,
 * from which one is drawn at a time. The number of samples is unknown until the
 * end. Not thread-safe, except spdl_streamed_shards_set_flushing(). */

typedef struct _SpdlStreamedShards SpdlStreamedShards;

/* Position of an item in the dataset: the number of the shard, and in the lower
 * 32 bits the number of the sample in the shard. */
#define SPDL_STREAMED_SHARDS_SHARD_SHIFT 32

/* Returns the number of the next shard of an epoch in @shard, or FALSE after
 * the last one. */
typedef gboolean (*SpdlNextShardFunc) (gpointer user_data, guint64 *shard);

/* Opens the dataset.
 *
 * @options: its callback is also used after this call
 * @buffer: size of the shuffle buffer in samples; 0 or 1: keep the order
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlStreamedShards *spdl_streamed_shards_open (
    const SpdlDatasetOptions *options, guint buffer, GError **error);

void spdl_streamed_shards_free (SpdlStreamedShards *self);

guint64 spdl_streamed_shards_get_n_shards (const SpdlStreamedShards *self);

/* Returns a hash of the shards' URLs, the options that choose payloads, and the
 * size of the buffer. */
guint64 spdl_streamed_shards_get_hash (const SpdlStreamedShards *self);

/* Begins an epoch. The draws are determined by @seed, @epoch and the
 * samples. */
void spdl_streamed_shards_begin_epoch (
    SpdlStreamedShards *self, guint64 seed, guint64 epoch);

/* Waits for the next item, all fields of which but its sequence are set.
 *
 * @n_lost: (inout): incremented for each shard that failed before this item; a
 *     warning was given for each
 *
 * Returns SPDL_DATASET_FAILED with @error set if the epoch has no items. */
SpdlDatasetStatus spdl_streamed_shards_next (SpdlStreamedShards *self,
    SpdlNextShardFunc next_shard, gpointer user_data, SpdlDatasetItem *item,
    guint *n_lost, GError **error);

/* While @flushing is TRUE, spdl_streamed_shards_next() does not block. Callable
 * from any thread. */
void
spdl_streamed_shards_set_flushing (SpdlStreamedShards *self, gboolean flushing);

G_END_DECLS
