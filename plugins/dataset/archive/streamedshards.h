/* gst-spdl: dataset of shards that are read sequentially
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/carried.h"
#include "plugins/dataset/archive/archiveset.h"
#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_STREAM_SAMPLE,
  SPDL_STREAM_END,      /* of the shard */
  SPDL_STREAM_FAILED,   /* there may be more, which cannot be had */
  SPDL_STREAM_FLUSHING, /* who waits is to wait no more */
} SpdlStreamStatus;

/* Where a server knows no byte ranges, a shard is read from its beginning to
 * its end, one after the other, and samples go through a buffer of which one is
 * drawn at a time. How many there are is known at the end. For one thread at a
 * time, but for spdl_streamed_shards_set_flushing(). */

typedef struct _SpdlStreamedShards SpdlStreamedShards;

/* A place in the dataset: the number of the shard, and in the lower 32 bits
 * that of the sample in it. */
#define SPDL_STREAMED_SHARDS_SHARD_SHIFT 32

typedef struct {
  guint64 index;
  gchar *uri;
  gint64 label;
  GstStructure *extra;
  GstSpdlCarried *carried; /* what its URIs name */
} SpdlStreamedShardsItem;

/* Where the samples of an epoch come from: the numbers of the shards in their
 * order. Returns FALSE behind the last one. */
typedef gboolean (*SpdlNextShardFunc) (gpointer user_data, guint64 *shard);

/* @options: its functions are called later, too
 * @buffer: samples from among which one is drawn; 0 or 1: they stay in order
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlStreamedShards *spdl_streamed_shards_open (const gchar *location,
    const SpdlArchiveSetOptions *options, guint buffer, GError **error);

void spdl_streamed_shards_free (SpdlStreamedShards *self);

guint64 spdl_streamed_shards_get_n_shards (const SpdlStreamedShards *self);

/* Of the shards' URLs, of what chooses the payloads, and of the buffer. */
guint64 spdl_streamed_shards_get_hash (const SpdlStreamedShards *self);

/* Begins an epoch. What is drawn depends on @seed, @epoch and the samples. */
void spdl_streamed_shards_begin_epoch (
    SpdlStreamedShards *self, guint64 seed, guint64 epoch);

/* Waits for the next item, of which the fields are (transfer full).
 *
 * @n_lost: (inout): 1 is added for each shard that failed before it, of which a
 *     warning has told
 *
 * Returns SPDL_STREAM_FAILED with @error set where no shard of the epoch had an
 * item. */
SpdlStreamStatus spdl_streamed_shards_next (SpdlStreamedShards *self,
    SpdlNextShardFunc next_shard, gpointer user_data,
    SpdlStreamedShardsItem *item, guint *n_lost, GError **error);

void spdl_streamed_shards_item_clear (SpdlStreamedShardsItem *item);

/* Whether nobody is to wait. From any thread. */
void
spdl_streamed_shards_set_flushing (SpdlStreamedShards *self, gboolean flushing);

G_END_DECLS
