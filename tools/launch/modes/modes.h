/* gst-spdl-launch: modes other than a single run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/modes/options.h"

G_BEGIN_DECLS

/* Runs the pipeline as it is and from a cache, with the same trainer, in turn,
 * and says what perfect loading would bring. Returns the exit status. */
int headspace_run (const Options *options, GError **error);

/* Records items in front of a stage, then runs it alone with them, from memory,
 * at several concurrencies. What it yields is dropped. Returns the exit
 * status. */
int isolate_run (const Options *options, GError **error);

/* Settings of a sweep: "a.b=1,2;c.d=3" are two lists of two and one. */
typedef struct {
  gchar *target; /* "a.b" */
  gchar **values;
  guint n_values;
} Axis;

/* (element-type Axis) */
GPtrArray *sweep_parse (const gchar *text, GError **error);
guint sweep_count (GPtrArray *axes);
/* What to set for the @k-th of all combinations, the last axis changing first.
 * @cost: (out): the sum of the numbers. */
gchar **sweep_get_settings (GPtrArray *axes, guint k, double *cost);

/* Runs all combinations and prints a table and what to take. Returns the exit
 * status. */
int sweep_run (const Options *options, GError **error);

G_END_DECLS
