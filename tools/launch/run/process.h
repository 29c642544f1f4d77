/* gst-spdl-launch: resource usage, rank and interruption of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the CPU time of all threads, in ns. */
guint64 process_get_cpu_time (void);
/* Return the resident memory and its peak, in bytes. */
guint64 process_get_memory (void);
guint64 process_get_peak_memory (void);
/* Returns the rank in a distributed job, from the environment; 0 if it is not
 * set. */
guint process_get_rank (void);

/* Handler of Ctrl-C between two runs; a run handles it by itself. A second
 * Ctrl-C terminates the process. */
typedef struct {
  guint sources[2];
  gboolean came;
} Interrupt;

void interrupt_begin (Interrupt *self);
gboolean interrupt_came (Interrupt *self);
void interrupt_end (Interrupt *self);

G_END_DECLS
