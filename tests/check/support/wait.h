/* gst-spdl: waits for events in tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Waits until @condition holds, for at most 60 s: only a hang takes as long. */
#define wait_until(condition)                                                  \
  G_STMT_START                                                                 \
  {                                                                            \
    const gint64 end_ = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;     \
                                                                               \
    while (!(condition)) {                                                     \
      if (g_get_monotonic_time () > end_)                                      \
        g_error ("%s:%d: waited in vain: %s", __FILE__, __LINE__, #condition); \
      g_usleep (200);                                                          \
    }                                                                          \
  }                                                                            \
  G_STMT_END

/* Hashes the threads of the process but the caller, with the number of times
 * that each has gone to sleep. Returns FALSE if one of them is awake. */
static inline gboolean
wait_look (guint64 *hash)
{
  GDir *dir = g_dir_open ("/proc/self/task", 0, NULL);
  gboolean asleep = TRUE;
  const gchar *name;

  *hash = 0;
  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *path =
        g_build_filename ("/proc/self/task", name, "status", NULL);
    g_autofree gchar *status = NULL;

    if (atoi (name) == gettid () ||
        !g_file_get_contents (path, &status, NULL, NULL))
      continue; /* the caller, or a thread that has just ended */
    asleep = asleep && strstr (status, "\nState:\tS");
    *hash = *hash * 31 + atoi (name);
    *hash =
        *hash * 31 + strtoull (strstr (status, "\nvoluntary_ctxt_switches:") +
                                   strlen ("\nvoluntary_ctxt_switches:"),
                         NULL, 10);
  }
  g_dir_close (dir);
  return asleep;
}

/* Waits until all other threads of the process sleep at the same moment, so
 * that nothing happens any more unless a timer or another process wakes one.
 * Between two looks with the same result no thread was awake. */
static inline void
wait_until_asleep (void)
{
  guint64 one, two;

  wait_until (wait_look (&one) && wait_look (&two) && one == two);
}
