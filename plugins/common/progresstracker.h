/* gst-spdl: progress of all sources in a sink, for resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/progress/tally.h"

G_BEGIN_DECLS

/* Progress of all announced sources, and of the batches that the trainer has
 * pulled.
 *
 * A batch counts as delivered when it arrives, and gets its state at once,
 * which includes all earlier batches. A single item counts when it is pulled;
 * items after it that were dropped may be counted earlier, which is harmless.
 * The tracker has no lock. */

typedef struct {
  GPtrArray *sources; /* sorted by number */
  GString *text;      /* for reuse */
  gchar *others; /* start of all sources according to the last announcement;
                    nullable */
  gchar *pulled; /* state of the last pulled batch; nullable */
  guint64 n_batches_waiting;
  guint64 n_items_waiting; /* not in batches */
  guint max_gaps;          /* per source in a state */
  /* A number was announced again for another dataset: there are no states, as
   * they would mix the progress of both. */
  gboolean has_conflict;
  guint32 conflict; /* that number */
} SpdlProgressTracker;

void spdl_progress_tracker_init (SpdlProgressTracker *self);
void spdl_progress_tracker_clear (SpdlProgressTracker *self);

/* Resets the tracker. */
void spdl_progress_tracker_reset (SpdlProgressTracker *self);

/* Handles an event. Returns TRUE if it is an event of this project that only
 * the tracker uses. */
gboolean
spdl_progress_tracker_handle_event (SpdlProgressTracker *self, GstEvent *event);

/* Returns TRUE if there are more gaps than a state may hold. */
gboolean
spdl_progress_tracker_is_full_of_gaps (const SpdlProgressTracker *self);

/* Adds a batch and returns its state (transfer full); NULL if no source is
 * known, two have the same number, or there are too many gaps.
 *
 * @cached: TRUE if its items were delivered before: its state is then that of
 * the previous batch */
gchar *spdl_progress_tracker_add_batch (
    SpdlProgressTracker *self, const GstSpdlBatchMeta *batch, gboolean cached);

/* Adds a single item. */
void spdl_progress_tracker_add_item (SpdlProgressTracker *self);

/* Records that @buffer, an item or a batch, was pulled. */
void spdl_progress_tracker_pull (SpdlProgressTracker *self, GstBuffer *buffer);

/* Records that the end of an epoch was pulled.
 *
 * @state: (transfer full) (nullable): what
 * spdl_progress_tracker_dup_end_state() returned when the end arrived */
void spdl_progress_tracker_pull_end (SpdlProgressTracker *self, gchar *state);

/* Returns the state after all batches and events that have arrived (transfer
 * full, nullable): after an epoch has ended, that of its end. */
gchar *spdl_progress_tracker_dup_end_state (SpdlProgressTracker *self);

/* Records a flush: waiting buffers were not delivered. */
void spdl_progress_tracker_flush (SpdlProgressTracker *self);

/* Returns the number of announced sources. */
guint spdl_progress_tracker_count_sources (const SpdlProgressTracker *self);

/* Returns TRUE if all sources started in the same epoch, and that epoch in
 * @epoch. */
gboolean spdl_progress_tracker_get_first_epoch (
    const SpdlProgressTracker *self, guint64 *epoch);

/* Returns the state at the start of @epoch of each source (transfer full),
 * whatever was delivered; NULL if no source is known. */
gchar *spdl_progress_tracker_dup_epoch_state (
    SpdlProgressTracker *self, guint64 epoch);

/* Returns the state after the last pulled buffer (transfer full, nullable). */
gchar *spdl_progress_tracker_dup_state (SpdlProgressTracker *self);

G_END_DECLS
