/* gst-spdl-launch: modes other than a single run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/modes/options.h"

G_BEGIN_DECLS

/* Runs the pipeline with loading and from cached batches in turn, with the same
 * training step, and prints how much faster training would be without loading.
 * Returns the exit status. */
int headspace_run (const Options *options, GError **error);

/* Records items before a stage, then runs only this stage on the recording at
 * several concurrencies, and drops its output. Returns the exit status. */
int isolate_run (const Options *options, GError **error);

/* A setting of a sweep: "a.b=1,2;c.d=3" has two axes, with two values and
 * one. */
typedef struct {
  gchar *target; /* "a.b" */
  gchar **values;
  guint n_values;
} Axis;

/* Returns: (transfer full) (element-type Axis) */
GPtrArray *sweep_parse (const gchar *text, GError **error);
guint sweep_count (GPtrArray *axes);
/* Returns the settings of combination @k. The last axis varies fastest.
 * @cost: (out): sum of the values */
gchar **sweep_get_settings (GPtrArray *axes, guint k, double *cost);

/* Runs all combinations and prints a table and a recommendation. Returns the
 * exit status. */
int sweep_run (const Options *options, GError **error);

G_END_DECLS
