/* gst-spdl: resume state of a restarted worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/sync.h"
#include "plugins/common/progresstracker.h"

G_BEGIN_DECLS

/* Tracks the items that were pushed into the pipeline, like spdlsink tracks
 * those that leave it. A process that resumes from this state sends all
 * missing items and no duplicates. An epoch that was complete, but whose end
 * event was not pushed yet, would have no end; this object supplies it. Stream
 * lock held.
 *
 * Items that failed ahead of the state fail again in the next process, which
 * reports them again. This object recognizes the repeated reports. */
typedef struct {
  SpdlProgressTracker tracker;
  GArray *sources; /* of Source */

  SpdlMutex lock;       /* of what follows, which another thread uses as well */
  GHashTable *failures; /* Failure: those that may be reported again */
  guint n_processes;
  guint max_failures; /* that are kept before the finished ones are removed */
} SpdlRestart;

void spdl_restart_init (SpdlRestart *self);
void spdl_restart_clear (SpdlRestart *self);
/* Resets the state for a new run. */
void spdl_restart_reset (SpdlRestart *self);

/* Call these for everything that is pushed. spdl_restart_add_event() returns
 * FALSE for an event that an earlier process has already sent. */
gboolean spdl_restart_add_event (SpdlRestart *self, GstEvent *event);
void spdl_restart_add_buffer (SpdlRestart *self, GstBuffer *buffer);

/* Records the message of a failed item. Returns FALSE if an earlier process has
 * reported this failure. Other messages are always new. May be called from any
 * thread. */
gboolean spdl_restart_add_message (SpdlRestart *self, GstMessage *message);

/* Call it after the last message of a process. */
void spdl_restart_end_process (SpdlRestart *self);

/* Returns: (transfer full) (nullable): the state; NULL if there was no
 * source */
gchar *spdl_restart_dup_state (SpdlRestart *self);

/* Call it after a restart until it returns NULL.
 * Returns: (transfer full) (nullable): the missing end event of an epoch */
GstEvent *spdl_restart_next_epoch (SpdlRestart *self);

G_END_DECLS
