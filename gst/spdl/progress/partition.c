/* gst-spdl: partition of an epoch among ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/partition.h"

static const gchar *const names[] = {
  [SPDL_SHARD_PAD] = "pad",
  [SPDL_SHARD_DROP] = "drop",
  [SPDL_SHARD_UNEVEN] = "uneven",
};

const gchar *
spdl_shard_mode_get_name (SpdlShardMode mode)
{
  return names[mode];
}

gboolean
spdl_shard_mode_find (const gchar *name, SpdlShardMode *mode)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!g_str_equal (names[i], name))
      continue;
    *mode = i;
    return TRUE;
  }
  return FALSE;
}

/* Returns the number of places that @rank has in the last, incomplete round. */
static guint64
count_last (const SpdlPartition *self, guint64 n_places, guint64 rank)
{
  const guint64 left = n_places % (self->world_size * self->run);
  const guint64 begin = rank * self->run;

  return left > begin ? MIN (left - begin, self->run) : 0;
}

/* Returns the number of places of @rank in one run per rank. */
static guint64
count_single (const SpdlPartition *self, guint64 n_places, guint64 rank)
{
  return n_places / self->world_size + (rank < n_places % self->world_size);
}

static guint64
count_whole (const SpdlPartition *self, guint64 n_places)
{
  return n_places / (self->world_size * self->run) * self->run;
}

guint64
spdl_partition_get_size (const SpdlPartition *self, guint64 n_places)
{
  guint64 rank = self->rank;

  if (self->mode == SPDL_SHARD_PAD)
    rank = 0;
  else if (self->mode == SPDL_SHARD_DROP)
    rank = self->world_size - 1;
  if (self->run == 0)
    return count_single (self, n_places, rank);
  return count_whole (self, n_places) + count_last (self, n_places, rank);
}

guint64
spdl_partition_get_begin (const SpdlPartition *self, guint64 n_places)
{
  return self->rank * (n_places / self->world_size) +
         MIN (n_places % self->world_size, self->rank);
}

guint64
spdl_partition_get_offset (const SpdlPartition *self, guint64 n_places)
{
  if (self->mode != SPDL_SHARD_UNEVEN)
    return self->rank * spdl_partition_get_size (self, n_places);
  if (self->run == 0)
    return spdl_partition_get_begin (self, n_places);
  return self->rank * count_whole (self, n_places) +
         MIN (
             n_places % (self->world_size * self->run), self->rank * self->run);
}

guint64
spdl_partition_get_place (
    const SpdlPartition *self, guint64 n_places, guint64 i)
{
  if (self->run == 0)
    return (spdl_partition_get_begin (self, n_places) + i) % n_places;
  return (self->rank * self->run +
             i / self->run * self->run * self->world_size + i % self->run) %
         n_places;
}
