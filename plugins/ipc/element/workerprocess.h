/* gst-spdl: start and end of a worker process
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
 * @rank, @world_size: if not negative, RANK and WORLD_SIZE, which replace the
 * variables of any scheduler
 * Returns: (transfer full) */
GStrv
spdl_environment_select (const gchar *const *all, gint rank, gint world_size);

/* Forwards the output of the worker to stderr, with its name before each
 * line. */
typedef struct {
  int fd; /* -1: closed */
  int pid;
  GString *line;
} SpdlOutput;

void spdl_output_init (SpdlOutput *self, int fd, int pid);
/* Writes an incomplete last line, and closes the descriptor. */
void spdl_output_clear (SpdlOutput *self);

/* Forwards available output without blocking. Returns FALSE if there is no more
 * for now. */
gboolean spdl_output_read (SpdlOutput *self);

typedef struct {
  pid_t pid;  /* 0: none */
  int pidfd;  /* readable when the process has ended; -1: not supported by the
                 kernel */
  int socket; /* to the process; closed by the caller */
  int output; /* its stdout and stderr; closed by the caller */
} SpdlProcess;

/* Starts gst-spdl-worker. The kernel kills it when the calling thread exits,
 * because its parent-death signal refers to the parent thread. Its stdin is
 * /dev/null; it has no other descriptors, no blocked signals, and the
 * environment @environment. */
gboolean spdl_process_start (
    SpdlProcess *self, const gchar *const *environment, GError **error);

/* Waits up to @ms for the process to end, and then kills it.
 * Returns: (transfer full): description of its end, to follow the words "the
 * process" */
gchar *spdl_process_wait (SpdlProcess *self, gint ms);

G_END_DECLS
