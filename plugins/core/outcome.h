/* gst-spdl: detection of an epoch without a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Counts, from the events of sources and stages, the items of an epoch that
 * were sent and those that were lost. An epoch in which items were sent and
 * none arrived is an error, unless functions filtered all of them. The check
 * requires that each item is known to be lost, because others may arrive
 * through another branch of spdlroute or may have been taken by the
 * application. A partial epoch within an epoch of spdlmix belongs to the
 * latter.
 *
 * Items that arrive are not counted. There is no lock. */

typedef struct {
  GPtrArray *sources;
  GPtrArray *fates; /* Fate: lost items of this epoch */
  guint n_announced;
  guint64 n_sent; /* in this epoch, counting sources that have ended it */
  guint64 n_dropped;
  gboolean arrived; /* an item of this epoch has arrived; set by the caller */
  gboolean is_resumed; /* the run did not start at the very beginning */
  gboolean is_partial; /* the current epoch was entered in the middle */
} SpdlOutcome;

void spdl_outcome_init (SpdlOutcome *self);
void spdl_outcome_clear (SpdlOutcome *self);

/* Resets the counters for another run. */
void spdl_outcome_reset (SpdlOutcome *self);

/* Records a flush: the next epoch is not checked. */
void spdl_outcome_flush (SpdlOutcome *self);

/* Counts an event; events of other kinds are ignored. */
void spdl_outcome_add_event (SpdlOutcome *self, GstEvent *event);

/* Checks the epoch that @event ends, if it ends one, and starts the next one.
 * Returns: (transfer full) (nullable): the error if nothing arrived */
GError *spdl_outcome_end_epoch (SpdlOutcome *self, GstEvent *event);

/* Checks the stream at its end if no source announced epochs. Returns:
 * (transfer full) (nullable): the error if nothing arrived */
GError *spdl_outcome_end_stream (SpdlOutcome *self);

G_END_DECLS
