/* gst-spdl: what a worker process writes to its terminal
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_OUTPUT_H__
#define __SPDL_OUTPUT_H__

#include <glib.h>

G_BEGIN_DECLS

/* Passes lines on to this process's stderr, with the worker's name before
 * each. */
typedef struct {
  int fd; /* -1: it has ended */
  int pid;
  GString *line;
} SpdlOutput;

void spdl_output_init (SpdlOutput *self, int fd, int pid);
/* Passes on what was not a whole line, and closes the descriptor. */
void spdl_output_clear (SpdlOutput *self);

/* Reads what is there, without waiting; FALSE: there is no more for now. */
gboolean spdl_output_read (SpdlOutput *self);

G_END_DECLS

#endif /* __SPDL_OUTPUT_H__ */
