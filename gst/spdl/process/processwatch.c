/* gst-spdl: detection of processes that are stopped
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/processwatch.h"

#include <errno.h>
#include <gio/gio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define NS_PER_MS 1000000
#define NS_PER_S G_GUINT64_CONSTANT (1000000000)
#define MAX_INTERVAL 1000
#define MIN_INTERVAL 5
/* Number of looks before a process is killed. */
#define N_LOOKS 4

void
spdl_process_watch_reset (SpdlProcessWatch *self)
{
  self->looked = self->silent = 0;
}

gint
spdl_process_watch_get_interval (const SpdlProcessWatch *self)
{
  const guint64 ms = self->timeout / (N_LOOKS * NS_PER_MS);

  return self->timeout == 0 ? MAX_INTERVAL
                            : (gint) CLAMP (ms, MIN_INTERVAL, MAX_INTERVAL);
}

static gboolean
read_file (const gchar *path, gchar *text, gsize size)
{
  FILE *file = fopen (path, "re");
  gsize n = 0;

  if (file) {
    n = fread (text, 1, size - 1, file);
    fclose (file);
  }
  text[n] = '\0';
  return n > 0;
}

static gboolean
read_stat (gint pid, gchar *state, guint64 *cpu_time)
{
  unsigned long user, system;
  gchar path[64], text[1024];
  const gchar *rest;

  g_snprintf (path, sizeof path, "/proc/%d/stat", pid);
  if (!read_file (path, text, sizeof text))
    return FALSE;
  /* The name before it may contain anything. */
  rest = strrchr (text, ')');
  if (!rest ||
      sscanf (rest + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu",
          state, &user, &system) != 3)
    return FALSE;
  *cpu_time = (guint64) user + system;
  return TRUE;
}

/* Returns whether the cgroup (version 2) of a process is frozen. Such a process
 * seems to sleep. */
static gboolean
is_frozen (gint pid)
{
  gchar path[64], text[4096];
  const gchar *line;

  g_snprintf (path, sizeof path, "/proc/%d/cgroup", pid);
  if (!read_file (path, text, sizeof text))
    return FALSE;
  line = g_str_has_prefix (text, "0::") ? text : strstr (text, "\n0::");
  if (line) {
    const gchar *name = strstr (line, "::") + 2;
    g_autofree gchar *events = g_strdup_printf (
        "/sys/fs/cgroup%.*s/cgroup.events", (int) strcspn (name, "\n"), name);

    return read_file (events, text, sizeof text) && strstr (text, "frozen 1");
  }
  return FALSE;
}

/* Returns whether a process that does not answer can be without progress. */
static gboolean
may_be_stopped (SpdlProcessWatch *self)
{
  switch (self->state) {
    case 'T':
    case 't':
    case 'D':
      return TRUE;
    case 'S':
      if (is_frozen (self->pid))
        self->state = 'F';
      return self->state == 'F' || self->is_pinged;
    default:
      return FALSE;
  }
}

gboolean
spdl_process_watch_look (SpdlProcessWatch *self)
{
  const guint64 now = (guint64) g_get_monotonic_time () * 1000;
  const guint64 before = self->looked, used = self->cpu_time;

  self->looked = 0;
  if (self->pid <= 0 || !read_stat (self->pid, &self->state, &self->cpu_time) ||
      !may_be_stopped (self) || (before > 0 && self->cpu_time != used)) {
    self->silent = 0;
    self->looked = now;
    return FALSE;
  }
  self->looked = now;
  if (before > 0)
    self->silent += MIN (now - before,
        (guint64) 2 * NS_PER_MS * spdl_process_watch_get_interval (self));
  if (self->timeout == 0 || self->silent < self->timeout)
    return FALSE;
  kill (self->pid, SIGKILL);
  return TRUE;
}

gboolean
spdl_process_watch_wait (
    SpdlProcessWatch *self, gint socket, gshort events, GError **error)
{
  struct pollfd fds[] = { { .fd = socket, .events = events },
    { .fd = self->cancel_fd > 0 ? self->cancel_fd : -1, .events = POLLIN } };
  const guint64 timeout = self->timeout;
  gboolean killed = FALSE;

  spdl_process_watch_reset (self);
  for (;;) {
    const gint interval = spdl_process_watch_get_interval (self);
    const gint n = poll (fds, G_N_ELEMENTS (fds), interval);

    if (n > 0 && fds[0].revents)
      break;
    if (n == 0 && (killed = spdl_process_watch_look (self)))
      break;
    if (n > 0) {
      fds[1].fd = -1;
      self->timeout = timeout == 0 ? NS_PER_S : MIN (timeout, NS_PER_S);
    }
  }
  self->timeout = timeout;
  if (killed) {
    g_autofree gchar *how = spdl_process_watch_describe (self);

    g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "The process %d %s",
        self->pid, how);
  }
  return !killed;
}

gchar *
spdl_process_watch_describe (const SpdlProcessWatch *self)
{
  const gchar *state = self->state == 'T'   ? "it was stopped by a signal"
                       : self->state == 't' ? "a debugger stopped it"
                       : self->state == 'F' ? "its cgroup was frozen"
                       : self->state == 'D' ? "a device or file system hung"
                                            : "it slept";

  return g_strdup_printf ("neither answered nor used CPU time for %.1f s (%s: "
                          "find out why, or raise "
                          "worker-timeout) and was killed",
      self->silent / 1e9, state);
}

guint64
spdl_process_get_cpu_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * NS_PER_S + time.tv_nsec;
}

gchar *
spdl_process_describe_status (gint status)
{
  const int number = WIFSIGNALED (status) ? WTERMSIG (status) : 0;

  if (number > 0)
    return g_strdup_printf (
        "was killed by signal %d (%s)", number, strsignal (number));
  return g_strdup_printf ("ended with status %d", WEXITSTATUS (status));
}
