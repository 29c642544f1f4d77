/* gst-spdl: figures of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* Outlives the cache, so that figures can be read after the end. */

typedef struct {
  guint64 hits;
  guint64 misses;
  guint64 bytes;  /* of the hits */
  guint64 errors; /* what could not be kept */
} SpdlDiskCounts;

typedef struct {
  SpdlMutex lock; /* guards: */
  gboolean active;
  SpdlDiskCounts total;
  SpdlDiskCounts at_lap; /* the total when the lap began */
} SpdlDiskTally;

void spdl_disk_tally_init (SpdlDiskTally *self);
void spdl_disk_tally_clear (SpdlDiskTally *self);

/* Begins anew. Where there is no cache, there are no figures. */
void spdl_disk_tally_begin (SpdlDiskTally *self, gboolean active);

void spdl_disk_tally_add_hit (SpdlDiskTally *self, guint64 bytes);
void spdl_disk_tally_add_miss (SpdlDiskTally *self);

/* Returns whether it is the first. */
gboolean spdl_disk_tally_add_error (SpdlDiskTally *self);

/* Sets the fields of `stage-stats`; ends the lap if @lap. */
void
spdl_disk_tally_tell (SpdlDiskTally *self, gboolean lap, GstStructure *stats);

G_END_DECLS
