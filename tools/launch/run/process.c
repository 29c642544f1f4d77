/* gst-spdl-launch: resource usage, rank and interruption of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/process.h"

#include <glib-unix.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

guint64
process_get_cpu_time (void)
{
  struct timespec t = { 0 };

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * G_GUINT64_CONSTANT (1000000000) + t.tv_nsec;
}

guint64
process_get_memory (void)
{
  unsigned long size = 0, resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");

  if (!file)
    return 0;
  if (fscanf (file, "%lu %lu", &size, &resident) != 2)
    resident = 0;
  fclose (file);
  return (guint64) resident * sysconf (_SC_PAGESIZE);
}

guint64
process_get_peak_memory (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (guint64) usage.ru_maxrss * 1024;
}

guint
process_get_rank (void)
{
  static const gchar *names[] = { "RANK", "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK", "JOB_COMPLETION_INDEX" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *text = g_getenv (names[i]);
    guint64 rank;

    if (text &&
        g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &rank, NULL))
      return rank;
  }
  return 0;
}

/* Interruption */

static void
remove_sources (Interrupt *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->sources); i++)
    if (self->sources[i] != 0)
      g_source_remove (self->sources[i]);
  self->sources[0] = self->sources[1] = 0;
}

/* Removes the handlers, so that a second signal has its default effect. */
static gboolean
on_signal (gpointer data)
{
  Interrupt *self = data;

  self->came = TRUE;
  remove_sources (self);
  return G_SOURCE_REMOVE;
}

void
interrupt_begin (Interrupt *self)
{
  self->came = FALSE;
  self->sources[0] = g_unix_signal_add (SIGINT, on_signal, self);
  self->sources[1] = g_unix_signal_add (SIGTERM, on_signal, self);
}

void
interrupt_end (Interrupt *self)
{
  remove_sources (self);
}

gboolean
interrupt_came (Interrupt *self)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  return self->came;
}
