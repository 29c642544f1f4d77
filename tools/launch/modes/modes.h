/* gst-spdl-launch: modes other than a single run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/modes/options.h"
#include "tools/launch/run/process.h"

G_BEGIN_DECLS

/* Series of runs with one setting after the other */

/* A setting of a sweep: "a.b=1,2;c.d=3" has two axes, with two values and
 * one. */
typedef struct {
  gchar *target; /* "a.b" */
  gchar **values;
  guint n_values;
} Axis;

/* Returns the cost of a value: its number, or the index of a word in the
 * list. */
double axis_get_cost (const Axis *axis, guint i);
/* Returns: (transfer full) (element-type Axis) */
GPtrArray *sweep_parse (const gchar *text, GError **error);
guint sweep_count (GPtrArray *axes);
/* Returns the settings of combination @k. The last axis varies fastest.
 * @cost: (out): sum of the values */
gchar **sweep_get_settings (GPtrArray *axes, guint k, double *cost);

typedef struct _Series Series;

struct _Series {
  const Options *options;
  GPtrArray *axes;
  /* The values rise: the series ends at an error, or when two further values
   * had little effect. */
  gboolean rises;
  /* Creates a session with all @settings, those of the user and of a point. */
  Session *(*make) (Series *self, gchar **settings, GError **error);
  /* Returns (transfer full) the last column of a point. */
  gchar *(*describe) (const Snapshot *result);

  SessionLimits limits;
  GPtrArray *points; /* of Point */
  Interrupt interrupt;
};

/* Prepares a series. @duration: of each run, in s; 0: without a limit */
void series_init (Series *self, double duration);
void series_clear (Series *self);
/* Runs all combinations, and the best ones twice. Returns the recommended
 * point, or POINTS_NONE after Ctrl-C. */
guint series_measure (Series *self);

/* Modes: each returns the exit status. */

/* Runs all combinations and prints a table and a recommendation. */
int sweep_run (const Options *options, GError **error);

/* Records items before a stage, then runs only this stage on the recording at
 * several concurrencies, and drops its output. */
int isolate_run (const Options *options, GError **error);

/* Runs the pipeline with loading and from cached batches in turn, with the same
 * training step, and prints how much faster training would be without
 * loading. */
int headspace_run (const Options *options, GError **error);

/* Comparison of rounds of runs with loading and from cached batches: the
 * reduction of the time per batch. */

/* Over several runs. */
typedef struct {
  double median, least, most;
} Spread;

typedef struct {
  guint n_rounds;
  Spread base, cached; /* s per batch */
  double headspace;    /* of the medians, relative to the base */
  double least, most;  /* of single rounds */
} Gains;

/* @base, @cached: seconds per batch in each of @n rounds */
void
gains_init (Gains *self, const double *base, const double *cached, guint n);

/* Returns "stop", "small" or "worth-it". */
const gchar *gains_get_advice (const Gains *self);

/* Returns whether single rounds lead to the same conclusion. */
gboolean gains_agree (const Gains *self);

/* Returns a sentence for the user. */
gchar *gains_describe (const Gains *self);

G_END_DECLS
