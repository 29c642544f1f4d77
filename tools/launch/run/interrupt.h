/* gst-spdl-launch: Ctrl-C during several runs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A run ends by Ctrl-C itself. This tells it where it comes between two runs,
 * too. A second one ends the process. */
typedef struct {
  guint sources[2];
  gboolean came;
} Interrupt;

void interrupt_begin (Interrupt *self);
gboolean interrupt_came (Interrupt *self);
void interrupt_end (Interrupt *self);

G_END_DECLS
