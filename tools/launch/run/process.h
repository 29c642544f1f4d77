/* gst-spdl-launch: resource usage, rank and interruption of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* CPU time of all threads, in ns. */
guint64 process_get_cpu_time (void);
/* Resident memory, in bytes; and the most there ever was. */
guint64 process_get_memory (void);
guint64 process_get_peak_memory (void);
/* Of a distributed job, from the environment; 0 where it says nothing. */
guint process_get_rank (void);

/* A run ends by Ctrl-C itself. This tells it where it comes between two runs,
 * too. A second one ends the process. */
typedef struct {
  guint sources[2];
  gboolean came;
} Interrupt;

void interrupt_begin (Interrupt *self);
gboolean interrupt_came (Interrupt *self);
void interrupt_end (Interrupt *self);

G_END_DECLS
