/* gst-spdl: detection of processes that are stopped
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Default of `timeout`, in ns. */
#define SPDL_PROCESS_WATCH_TIMEOUT G_GUINT64_CONSTANT (300000000000)

/* Finds out whether another process that owes an answer makes progress. The
 * thread that waits for the answer looks from time to time. A process that was
 * stopped by a signal, whose cgroup is frozen, or that hangs in a system call
 * neither answers nor uses CPU time. A process that only sleeps may run an item
 * that waits for something: it counts as stopped only if it would have answered
 * a ping. */
typedef struct {
  gint pid;        /* 0: not known, which is never stopped */
  guint64 timeout; /* in ns; 0: no limit */
  gboolean is_pinged;
  gint cancel_fd; /* readable: the timeout is a second at most; 0: none */
  /* Since the process answered last. */
  guint64 looked;   /* time of the last look; 0: none */
  guint64 silent;   /* time without progress, in ns */
  guint64 cpu_time; /* in clock ticks, at the last look */
  gchar state;      /* as in /proc/PID/stat; F: its cgroup is frozen */
} SpdlProcessWatch;

/* Begins again, after an answer. */
SPDL_PRIVATE_API
void spdl_process_watch_reset (SpdlProcessWatch *self);

/* Returns the time to wait between two looks, in ms. */
SPDL_PRIVATE_API
gint spdl_process_watch_get_interval (const SpdlProcessWatch *self);

/* Looks at the process. If it has made no progress for the timeout, kills it
 * and returns TRUE. A time in which this process did not run either, such as
 * that between Ctrl-Z and `fg`, does not count. */
SPDL_PRIVATE_API
gboolean spdl_process_watch_look (SpdlProcessWatch *self);

/* Waits for events of poll() on a socket of the process. Returns FALSE with
 * @error set if the process was killed: G_IO_ERROR_TIMED_OUT. */
SPDL_PRIVATE_API
gboolean spdl_process_watch_wait (
    SpdlProcessWatch *self, gint socket, gshort events, GError **error);

/* Returns: (transfer full): what happened to the process that was killed */
SPDL_PRIVATE_API
gchar *spdl_process_watch_describe (const SpdlProcessWatch *self);

/* Returns the CPU time of this process, in ns. */
SPDL_PRIVATE_API
guint64 spdl_process_get_cpu_time (void);

/* @status: as of waitpid()
 * Returns: (transfer full): how a process ended: "was killed by signal 9
 * (Killed)" */
SPDL_PRIVATE_API
gchar *spdl_process_describe_status (gint status);

G_END_DECLS
