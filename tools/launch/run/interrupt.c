/* gst-spdl-launch: Ctrl-C during several runs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/interrupt.h"

#include <glib-unix.h>

static void
remove_sources (Interrupt *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->sources); i++)
    if (self->sources[i] != 0)
      g_source_remove (self->sources[i]);
  self->sources[0] = self->sources[1] = 0;
}

/* Without the sources, a second signal does what it does by default. */
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
