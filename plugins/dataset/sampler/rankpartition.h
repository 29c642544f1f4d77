/* gst-spdl: partition of an epoch among ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Rank r of W gets the places r, r + W, r + 2W ... in the order of the epoch.
 * The modes differ in the remainder if W does not divide n. */
typedef enum {
  SPDL_SHARD_PAD,    /* ceil(n / W) each; the first places are repeated */
  SPDL_SHARD_DROP,   /* floor(n / W) each; the last places are dropped */
  SPDL_SHARD_UNEVEN, /* each place once; some ranks get one more */
} SpdlShardMode;

typedef struct {
  guint64 rank;
  guint64 world_size;
  SpdlShardMode mode;
} SpdlRankPartition;

const gchar *spdl_shard_mode_get_name (SpdlShardMode mode);

/* Determines rank and world size.
 *
 * @rank, @world_size: the properties. A negative value is taken from the
 *     environment: RANK and WORLD_SIZE, else Slurm's SLURM_PROCID and
 *     SLURM_NTASKS, else Open MPI's OMPI_COMM_WORLD_RANK and
 *     OMPI_COMM_WORLD_SIZE, else Kubernetes's JOB_COMPLETION_INDEX with
 *     WORLD_SIZE. The first of these that is complete is used. If nothing is
 *     set, the result is rank 0 of 1.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * values are inconsistent; @self is undefined then. */
gboolean spdl_rank_partition_init (SpdlRankPartition *self, gint rank,
    gint world_size, SpdlShardMode mode, GError **error);

/* Returns the number of items of the rank, out of @n_items. */
guint64
spdl_rank_partition_get_size (const SpdlRankPartition *self, guint64 n_items);

/* Returns the place in the order of the epoch of the rank's item @i. */
guint64 spdl_rank_partition_get_place (
    const SpdlRankPartition *self, guint64 n_items, guint64 i);

G_END_DECLS
