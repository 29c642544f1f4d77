/* gst-spdl: figures of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/disktally.h"

#include <string.h>

void
spdl_disk_tally_init (SpdlDiskTally *self)
{
  memset (self, 0, sizeof *self);
  spdl_mutex_init (&self->lock);
}

void
spdl_disk_tally_clear (SpdlDiskTally *self)
{
  spdl_mutex_clear (&self->lock);
}

void
spdl_disk_tally_begin (SpdlDiskTally *self, gboolean active)
{
  spdl_mutex_lock (&self->lock);
  self->active = active;
  memset (&self->total, 0, sizeof self->total);
  memset (&self->at_lap, 0, sizeof self->at_lap);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_disk_tally_add_hit (SpdlDiskTally *self, guint64 bytes)
{
  spdl_mutex_lock (&self->lock);
  self->total.hits++;
  self->total.bytes += bytes;
  spdl_mutex_unlock (&self->lock);
}

void
spdl_disk_tally_add_miss (SpdlDiskTally *self)
{
  spdl_mutex_lock (&self->lock);
  self->total.misses++;
  spdl_mutex_unlock (&self->lock);
}

gboolean
spdl_disk_tally_add_error (SpdlDiskTally *self)
{
  gboolean first;

  spdl_mutex_lock (&self->lock);
  first = self->total.errors++ == 0;
  spdl_mutex_unlock (&self->lock);
  return first;
}

void
spdl_disk_tally_tell (SpdlDiskTally *self, gboolean lap, GstStructure *stats)
{
  SpdlDiskCounts since = { 0 }, counts;
  gboolean active;

  spdl_mutex_lock (&self->lock);
  active = self->active;
  counts = self->total;
  if (lap) {
    since = self->at_lap;
    self->at_lap = self->total;
  }
  spdl_mutex_unlock (&self->lock);
  if (!active)
    return;
  gst_structure_set (stats, "cache-hits", G_TYPE_UINT64,
      counts.hits - since.hits, "cache-misses", G_TYPE_UINT64,
      counts.misses - since.misses, "cache-bytes", G_TYPE_UINT64,
      counts.bytes - since.bytes, "cache-errors", G_TYPE_UINT64,
      counts.errors - since.errors, NULL);
}
