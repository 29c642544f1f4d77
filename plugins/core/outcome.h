/* gst-spdl: detection of an epoch without a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Counts, from the events of the sources and the stages, how many items of an
 * epoch of the stream were sent and what became of those that are gone. An
 * epoch in which items were sent and none arrived is an error, unless functions
 * left all of them out. It is judged only if each of its items is known to be
 * gone: others may arrive by another path of a spdlroute, or have been taken
 * out by the application. An epoch that ends within one of spdlmix's belongs to
 * that one.
 *
 * It costs nothing for an item that is not gone. It has no lock. */

typedef struct {
  GPtrArray *sources;
  GPtrArray *fates; /* of the items of this epoch that are gone */
  guint n_announced;
  guint64 n_sent; /* of this epoch, in epochs of sources that have ended */
  guint64 n_dropped;
  gboolean arrived; /* an item of this epoch; set by who uses it */
  /* Where this run began: not at the very beginning; within an epoch. */
  gboolean is_resumed;
  gboolean is_partial; /* and that epoch has not ended yet */
} SpdlOutcome;

void spdl_outcome_init (SpdlOutcome *self);
void spdl_outcome_clear (SpdlOutcome *self);

/* Resets the counters for another run. */
void spdl_outcome_reset (SpdlOutcome *self);

/* Records a flush: the next epoch is not checked. */
void spdl_outcome_flush (SpdlOutcome *self);

/* Reads an event of any kind. */
void spdl_outcome_add_event (SpdlOutcome *self, GstEvent *event);

/* Checks the epoch that @event ends, if it ends one, and starts the next one.
 * Returns: (transfer full) (nullable): the error if nothing arrived */
GError *spdl_outcome_end_epoch (SpdlOutcome *self, GstEvent *event);

/* Checks the stream at its end if no source announced epochs. Returns:
 * (transfer full) (nullable): the error if nothing arrived */
GError *spdl_outcome_end_stream (SpdlOutcome *self);

G_END_DECLS
