/* gst-spdl: places of an interrupted epoch that are left for a rank
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/partition.h"
#include "gst/spdl/progress/pieces.h"

G_BEGIN_DECLS

/* The part of an epoch that is left for a rank, after the number of ranks
 * changed within it (reshard.h). The epoch has as many sequence numbers as any
 * other, but those below `first` count as finished. The others go through
 *
 * - the rank's own places,
 * - its part of the shared places, which all ranks have in their states and
 *   take in turns, in whole rounds, as they do in a complete epoch,
 * - places that are repeated for SPDL_SHARD_PAD.
 *
 * Immutable after it was made. */
typedef struct {
  guint64 epoch;
  guint64 first;
  SpdlPieces own;
  SpdlPieces shared; /* have the run of `partition`, also if contiguous, and
                        whole runs */
  SpdlPieces repeated;
  SpdlPartition partition; /* of the shared places */
} SpdlLeft;

SPDL_PRIVATE_API
SpdlLeft *
spdl_left_new (guint64 epoch, guint64 first, const SpdlPartition *partition);
SPDL_PRIVATE_API
void spdl_left_free (SpdlLeft *self);

/* Returns the number of the rank's shared places. */
SPDL_PRIVATE_API
guint64 spdl_left_count_shared (const SpdlLeft *self);

/* Returns the number of sequence numbers of the epoch. */
SPDL_PRIVATE_API
guint64 spdl_left_get_size (const SpdlLeft *self);

/* Returns the place of a sequence number, which is not below `first`. */
SPDL_PRIVATE_API
guint64 spdl_left_get_place (const SpdlLeft *self, guint64 sequence);

/* Returns the highest place, 0 without places. */
SPDL_PRIVATE_API
guint64 spdl_left_get_last_place (const SpdlLeft *self);

/* The rest of several epochs, in order: an array of SpdlLeft, or NULL if
 * all epochs are complete. */

SPDL_PRIVATE_API
GPtrArray *spdl_lefts_new (void);

/* Returns what is left of the last interrupted epoch, or NULL. */
SPDL_PRIVATE_API
const SpdlLeft *spdl_lefts_get_last (const GPtrArray *lefts);

/* Returns what is left of @epoch, or NULL if it is a complete epoch. */
SPDL_PRIVATE_API
const SpdlLeft *spdl_lefts_find (const GPtrArray *lefts, guint64 epoch);

/* Returns the first sequence number of @epoch that is to be sent. */
SPDL_PRIVATE_API
guint64 spdl_lefts_get_first (const GPtrArray *lefts, guint64 epoch);

/* Appends what is left of @epoch and of later epochs, as the field "left", if
 * there is something. */
SPDL_PRIVATE_API
void spdl_lefts_write (const GPtrArray *lefts, guint64 epoch, GString *text);

/* Parses what spdl_lefts_write() writes. Returns its end, which is @text if
 * there is nothing, or NULL if it is malformed.
 *
 * @partition: the rank that has the state */
SPDL_PRIVATE_API
const gchar *spdl_lefts_read (
    GPtrArray **lefts, const gchar *text, const SpdlPartition *partition);

G_END_DECLS
