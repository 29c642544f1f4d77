/* gst-spdl: the samples of a shard, as they come
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SHARD_STREAM_H__
#define __SPDL_SHARD_STREAM_H__

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

/* A thread that reads a shard from its beginning, some samples ahead of who
 * takes them. */

typedef struct _SpdlShardStream SpdlShardStream;

typedef enum {
  SPDL_STREAM_SAMPLE,
  SPDL_STREAM_END,      /* of the shard */
  SPDL_STREAM_FAILED,   /* there may be more, which cannot be had */
  SPDL_STREAM_FLUSHING, /* who waits is to wait no more */
} SpdlStreamVerdict;

/* @indexer: must live as long */
SpdlShardStream *spdl_shard_stream_new (SpdlIndexer *indexer, const gchar *uri);

/* Waits for the thread; it ends soon where the shard has ended, or the indexer
 * was cancelled. */
void spdl_shard_stream_free (SpdlShardStream *self);

/* Waits for the next sample (transfer full). */
SpdlStreamVerdict spdl_shard_stream_pop (
    SpdlShardStream *self, SpdlSample **sample, GError **error);

/* Whether nobody is to wait. From any thread. */
void spdl_shard_stream_set_flushing (SpdlShardStream *self, gboolean flushing);

G_END_DECLS

#endif /* __SPDL_SHARD_STREAM_H__ */
