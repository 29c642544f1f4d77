/* gst-spdl: partition of an epoch among ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Ranks take runs of places in turn: with runs of N places, rank r of W gets
 * the places r N to r N + N - 1, then those W N further, and so on. With N = 1
 * these are r, r + W, r + 2W ... A round is the W N places of one turn of all
 * ranks. The modes differ in the last round, if it is incomplete. With N = 0,
 * each rank gets a single run, and these differ by at most one place. */
typedef enum {
  SPDL_SHARD_PAD,    /* as many items as the first rank: the first places are
                        repeated */
  SPDL_SHARD_DROP,   /* as many items as the last rank: the rest is dropped */
  SPDL_SHARD_UNEVEN, /* each place once; some ranks get more */
} SpdlShardMode;

typedef struct {
  guint64 rank;
  guint64 world_size; /* at most G_MAXINT */
  guint64 run;        /* at most G_MAXINT; 0: a single one per rank */
  SpdlShardMode mode;
} SpdlPartition;

const gchar *spdl_shard_mode_get_name (SpdlShardMode mode);

/* Returns FALSE if no mode has that name. */
gboolean spdl_shard_mode_find (const gchar *name, SpdlShardMode *mode);

/* Returns the number of items of the rank, out of @n_places. It never falls
 * when @n_places grows. */
guint64 spdl_partition_get_size (const SpdlPartition *self, guint64 n_places);

/* Returns the number of items of all lower ranks. */
guint64 spdl_partition_get_offset (const SpdlPartition *self, guint64 n_places);

/* Returns the first place of the rank with a single run per rank. */
guint64 spdl_partition_get_begin (const SpdlPartition *self, guint64 n_places);

/* Returns the place in the order of the epoch of the rank's item @i. */
guint64 spdl_partition_get_place (
    const SpdlPartition *self, guint64 n_places, guint64 i);

SPDL_END_PRIVATE_API
G_END_DECLS
