/* gst-spdl: starts and ends a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <gst/gst.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Selects the variables of @all that a worker inherits. The list is in
 * workerprocess.c and in docs/reference/spdlworkersrc.md.
 *
 * @rank, @world_size: if they are not negative, RANK and WORLD_SIZE, in place
 *     of those of any scheduler
 *
 * Returns: (transfer full) */
GStrv
spdl_environment_select (const gchar *const *all, gint rank, gint world_size);

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

typedef struct {
  pid_t pid;  /* 0: none */
  int pidfd;  /* readable when it has ended; -1: the kernel has none */
  int socket; /* to it; the caller's to close */
  int output; /* what it writes to stdout and stderr; the caller's to close */
} SpdlProcess;

/* Starts gst-spdl-worker, which is killed when the calling thread ends: Linux's
 * parents are threads. It has stdin from /dev/null, no descriptors but these,
 * no blocked signals, and @environment. */
gboolean spdl_process_start (
    SpdlProcess *self, const gchar *const *environment, GError **error);

/* Waits @ms for its end, and kills it if it has not come by then.
 *
 * Returns: (transfer full): how it ended, to go behind "the process" */
gchar *spdl_process_wait (SpdlProcess *self, gint ms);

G_END_DECLS
