/* gst-spdl: resume state of a restarted worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/common/progresstracker.h"

G_BEGIN_DECLS

/* Tracks the items that were pushed into the pipeline, like spdlsink tracks
 * those that leave it. A process that resumes from this state sends all
 * missing items and no duplicates. An epoch that was complete, but whose end
 * event was not pushed yet, would have no end; this object supplies it. Stream
 * lock held. */
typedef struct {
  SpdlProgressTracker tracker;
  GArray *sources; /* of Source */
} SpdlRestart;

void spdl_restart_init (SpdlRestart *self);
void spdl_restart_clear (SpdlRestart *self);
/* Resets the state for a new run. */
void spdl_restart_reset (SpdlRestart *self);

/* Call these for everything that is pushed. spdl_restart_add_event() returns
 * FALSE for an event that an earlier process has already sent. */
gboolean spdl_restart_add_event (SpdlRestart *self, GstEvent *event);
void spdl_restart_add_buffer (SpdlRestart *self, GstBuffer *buffer);

/* Returns: (transfer full) (nullable): the state; NULL if there was no
 * source */
gchar *spdl_restart_dup_state (SpdlRestart *self);

/* Call it after a restart until it returns NULL.
 * Returns: (transfer full) (nullable): the missing end event of an epoch */
GstEvent *spdl_restart_next_epoch (SpdlRestart *self);

G_END_DECLS
