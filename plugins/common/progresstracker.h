/* gst-spdl: items that are done, of all sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/progress/tally.h"

G_BEGIN_DECLS

/* The progress of all sources that announced themselves, and what the trainer
 * has pulled.
 *
 * A batch counts as delivered when it comes, and gets its state at once: with
 * what came before it, nothing else. An item that comes singly counts when it
 * is pulled; items behind it that were dropped may be counted earlier,
 * which does no harm. It has no lock. */

typedef struct {
  GPtrArray *sources; /* by their number */
  GString *text;      /* for reuse */
  gchar *others;      /* where all began that a source knows of; nullable */
  gchar *pulled;      /* the state of the last batch pulled; nullable */
  guint64 n_batches_waiting;
  guint64 n_items_waiting; /* that came singly */
  guint max_gaps;          /* of a source in a state */
} SpdlProgressTracker;

void spdl_progress_tracker_init (SpdlProgressTracker *self);
void spdl_progress_tracker_clear (SpdlProgressTracker *self);

/* Forgets all. */
void spdl_progress_tracker_reset (SpdlProgressTracker *self);

/* An event came. Returns whether it was one of this project's, which are for
 * the tracker alone. */
gboolean
spdl_progress_tracker_handle_event (SpdlProgressTracker *self, GstEvent *event);

/* Whether there are more gaps than may be in a state. */
gboolean
spdl_progress_tracker_is_full_of_gaps (const SpdlProgressTracker *self);

/* A batch came. Returns its state (transfer full), NULL if no source is known
 * or there are too many gaps.
 * @cached: its items were delivered before: the state is that of what came
 *     before it. */
gchar *spdl_progress_tracker_add_batch (
    SpdlProgressTracker *self, const GstSpdlBatchMeta *batch, gboolean cached);

/* An item came singly. */
void spdl_progress_tracker_add_item (SpdlProgressTracker *self);

/* @buffer, an item or a batch, was pulled. */
void spdl_progress_tracker_pull (SpdlProgressTracker *self, GstBuffer *buffer);

/* What waited was flushed, and so was not delivered. */
void spdl_progress_tracker_flush (SpdlProgressTracker *self);

/* How many sources have announced themselves. */
guint spdl_progress_tracker_count_sources (const SpdlProgressTracker *self);

/* TRUE if all sources began in the same epoch, which is @epoch then. */
gboolean spdl_progress_tracker_get_first_epoch (
    const SpdlProgressTracker *self, guint64 *epoch);

/* The state at the beginning of @epoch of each source (transfer full), whatever
 * was delivered; NULL if no source is known. */
gchar *spdl_progress_tracker_dup_epoch_state (
    SpdlProgressTracker *self, guint64 epoch);

/* The state behind what was pulled (transfer full, nullable). */
gchar *spdl_progress_tracker_dup_state (SpdlProgressTracker *self);

G_END_DECLS
