/* gst-spdl: state at which a new worker process starts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/common/progresstracker.h"

G_BEGIN_DECLS

/* Keeps count of what went into the pipeline, as spdlsink does of what leaves
 * it. Another process that begins at its state sends all that is missing, and
 * nothing twice; but an epoch that was complete, and whose end was not told
 * yet, has no end there. So that is told here. Under the stream lock. */
typedef struct {
  SpdlProgressTracker tracker;
  GArray *sources; /* Source */
} SpdlRestart;

void spdl_restart_init (SpdlRestart *self);
void spdl_restart_clear (SpdlRestart *self);
/* Begins anew. */
void spdl_restart_reset (SpdlRestart *self);

/* These go into the pipeline now. FALSE: an event that was there already, from
 * an earlier process. */
gboolean spdl_restart_add_event (SpdlRestart *self, GstEvent *event);
void spdl_restart_add_buffer (SpdlRestart *self, GstBuffer *buffer);

/* Returns: (transfer full) (nullable): NULL if nothing announced itself */
gchar *spdl_restart_dup_state (SpdlRestart *self);

/* After a restart, until it is NULL. Returns: (transfer full) (nullable): the
 * end of an epoch that was not told */
GstEvent *spdl_restart_next_epoch (SpdlRestart *self);

G_END_DECLS
