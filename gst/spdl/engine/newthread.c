/* gst-spdl: creation of threads, which may fail
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/newthread.h"

#include <errno.h>

void
spdl_thread_set_error (
    GError **error, const gchar *name, const gchar *purpose, int problem)
{
  g_set_error (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN,
      "Thread %s for %s cannot be created: %s: raise the limit of threads "
      "(ulimit -u; pids.max of the cgroup or container), or use fewer: lower "
      "concurrency, or start fewer loaders",
      name, purpose, g_strerror (problem));
}

GThread *
spdl_thread_try_new (const gchar *name, const gchar *purpose, GThreadFunc func,
    gpointer data, GError **error)
{
  GThread *thread = g_thread_try_new (name, func, data, NULL);

  /* GLib reports no other problem. */
  if (!thread)
    spdl_thread_set_error (error, name, purpose, EAGAIN);
  return thread;
}
