/* gst-spdl: search for the best concurrency of stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/window.h"

G_BEGIN_DECLS

/* Searches the concurrency of all stages of a pipeline together, because stages
 * compete for the same cores, and a stage alone cannot tell whether it is the
 * bottleneck. The tuner depends only on its arguments: the counters of each
 * interval, and the time. It has no clock and no thread, and returns decisions
 * that the caller applies.
 *
 * The search is a hill climb. A *trial* changes concurrencies, lets the
 * pipeline settle, and measures until the rate is accurate or a time limit is
 * reached; a trial without gain is reverted. First the tuner raises: it doubles
 * the concurrency of stages whose workers are always busy, and of those that
 * would be the next bottleneck, as long as the throughput increases. Then it
 * lowers: stages with idle workers keep as many as are busy. For a stage that
 * is always busy (it may wait for a core, or for a server that serves no more),
 * it tries a third of the concurrency, and the loss shows where the knee is.
 * Then it is *steady* and only watches: if the rate or the task times have
 * changed for some time, the search starts again, after a delay that doubles
 * each time the result is the same. */

typedef enum {
  SPDL_TUNER_LIMITS,  /* raised: its workers are always busy */
  SPDL_TUNER_FOLLOWS, /* raised: it would be the next bottleneck */
  SPDL_TUNER_IDLE,    /* lowered: to the number of busy workers */
  SPDL_TUNER_SPARE,   /* lowered: to test whether fewer suffice */
  SPDL_TUNER_NO_GAIN, /* reverted: raising did not help */
  SPDL_TUNER_LOSS,    /* reverted: lowering reduced the rate */
  SPDL_TUNER_HELD,    /* reverted: the CPU budget throttles tasks now */
  SPDL_TUNER_SETTLED, /* settled: no change */
  SPDL_TUNER_LOAD,    /* the load has changed: a new search starts */
} SpdlTunerReason;

typedef struct {
  guint stage;
  guint from, to;
  SpdlTunerReason reason;
  /* Measured with @from. */
  double throughput; /* items per second of the stage */
  double occupancy;
  double busy; /* share of busy workers */
  double gain; /* of a reverted trial: rate relative to the base */
} SpdlTunerDecision;

typedef struct _SpdlTuner SpdlTuner;

/* @num_cores: number of cores that the process may use */
SpdlTuner *spdl_tuner_new (guint num_cores);
void spdl_tuner_free (SpdlTuner *self);

/* Starts a search with the stages that are added afterwards. */
void spdl_tuner_begin (SpdlTuner *self);

/* Adds a stage with the initial @concurrency and the limit @max. Returns its
 * index. */
guint spdl_tuner_add_stage (SpdlTuner *self, guint concurrency, guint max);

/* Ends an interval at the time @now (ns).
 *
 * @intervals: counters, one per stage
 * @throttled: whether a CPU budget throttles tasks, in which case there are no
 *     trials because they would be meaningless
 *
 * Returns @n decisions, which are valid until the next call. */
const SpdlTunerDecision *spdl_tuner_end_interval (SpdlTuner *self,
    const SpdlInterval *intervals, guint64 now, gboolean throttled, guint *n);

gboolean spdl_tuner_is_steady (const SpdlTuner *self);

G_END_DECLS
