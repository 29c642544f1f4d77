/* gst-spdl: partition of an epoch among ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Rank r of W takes the places r, r + W, r + 2W ... of an epoch's order. The
 * modes differ in what becomes of the rest where W does not divide n. */
typedef enum {
  SPDL_SHARD_PAD,    /* ceil(n / W) each: the first places come again */
  SPDL_SHARD_DROP,   /* floor(n / W) each: the last places are left out */
  SPDL_SHARD_UNEVEN, /* each place once: some ranks have one more */
} SpdlShardMode;

typedef struct {
  guint64 rank;
  guint64 world_size;
  SpdlShardMode mode;
} SpdlRankPartition;

const gchar *spdl_shard_mode_get_name (SpdlShardMode mode);

/* Finds out rank and world size.
 *
 * @rank, @world_size: the settings; what is negative is taken from the
 *     environment: RANK and WORLD_SIZE, else Slurm's SLURM_PROCID and
 *     SLURM_NTASKS, else Open MPI's OMPI_COMM_WORLD_RANK and _SIZE, else
 *     Kubernetes's JOB_COMPLETION_INDEX with WORLD_SIZE: the first of these
 * that has all that is wanted. If nothing is known, rank 0 of 1.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * two do not make sense; @self is undefined then. */
gboolean spdl_rank_partition_init (SpdlRankPartition *self, gint rank,
    gint world_size, SpdlShardMode mode, GError **error);

/* How many of @n_items are in the shard. */
guint64
spdl_rank_partition_get_size (const SpdlRankPartition *self, guint64 n_items);

/* The place in the epoch's order of the shard's item @i. */
guint64 spdl_rank_partition_get_place (
    const SpdlRankPartition *self, guint64 n_items, guint64 i);

G_END_DECLS
