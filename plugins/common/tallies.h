/* gst-spdl: what a sink knows of the items of all sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/progress/tally.h"

G_BEGIN_DECLS

/* The tallies of all sources that announced themselves, and what the trainer
 * has pulled.
 *
 * A batch counts as delivered when it comes, and gets its state at once: with
 * what came before it, nothing else. An item that comes singly counts when it
 * is pulled; news of items behind it that are gone may be counted earlier,
 * which does no harm. It has no lock. */

typedef struct {
  GPtrArray *sources; /* by their number */
  GString *text;      /* for reuse */
  gchar *others;      /* where all began that a source knows of; nullable */
  gchar *pulled;      /* the state of the last batch pulled; nullable */
  guint64 n_batches_waiting;
  guint64 n_items_waiting; /* that came singly */
  guint max_gaps;          /* of a source in a state */
} SpdlTallies;

void spdl_tallies_init (SpdlTallies *self);
void spdl_tallies_clear (SpdlTallies *self);

/* Forgets all. */
void spdl_tallies_reset (SpdlTallies *self);

/* An event came. Returns whether it was one of this project's, which are for
 * the tallies alone. */
gboolean spdl_tallies_handle_event (SpdlTallies *self, GstEvent *event);

/* Whether there are more gaps than may be in a state. */
gboolean spdl_tallies_is_full_of_gaps (const SpdlTallies *self);

/* A batch came. Returns its state (transfer full), NULL if no source is known
 * or there are too many gaps.
 * @cached: its items were delivered before: the state is that of what came
 *     before it. */
gchar *spdl_tallies_add_batch (
    SpdlTallies *self, const GstSpdlBatchMeta *batch, gboolean cached);

/* An item came singly. */
void spdl_tallies_add_item (SpdlTallies *self);

/* @buffer, an item or a batch, was pulled. */
void spdl_tallies_pull (SpdlTallies *self, GstBuffer *buffer);

/* What waited was flushed, and so was not delivered. */
void spdl_tallies_flush (SpdlTallies *self);

/* How many sources have announced themselves. */
guint spdl_tallies_count_sources (const SpdlTallies *self);

/* TRUE if all sources began in the same epoch, which is @epoch then. */
gboolean spdl_tallies_get_first_epoch (const SpdlTallies *self, guint64 *epoch);

/* The state at the beginning of @epoch of each source (transfer full), whatever
 * was delivered; NULL if no source is known. */
gchar *spdl_tallies_dup_epoch_state (SpdlTallies *self, guint64 epoch);

/* The state behind what was pulled (transfer full, nullable). */
gchar *spdl_tallies_dup_state (SpdlTallies *self);

G_END_DECLS
