/* gst-spdl: search for the best concurrency of stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/window.h"

G_BEGIN_DECLS

/* Finds the concurrency of a pipeline's stages, all of one pipeline together:
 * what one gains is taken from another, and a stage alone does not know
 * whether it is the limit.
 *
 * It is a function of what it is told: an interval after the other, and the
 * time. It has no clock and no thread, and changes nothing itself: it says what
 * to change.
 *
 * It climbs. A *trial* sets other numbers, lets the pipeline settle, and
 * measures until the rate is sure, or for so long as it may; what brings
 * nothing is taken back. First it goes up: stages whose workers are in tasks
 * all the time, and those that would be next, get twice as many, as long as
 * that gains. Then it goes down: stages whose workers are idle keep as many as
 * are busy, and of a stage that is busy all the time (it may wait for a core,
 * or for a server that serves no more) a third are tried, and what that loses
 * tells where the knee is. Then it is *steady*, and only watches: where the
 * rate or the tasks' times are others for long, it begins again, each time
 * later if that was in vain. */

typedef enum {
  SPDL_TUNER_LIMITS,  /* raised: its workers are in tasks all the time */
  SPDL_TUNER_FOLLOWS, /* raised: it would be the next limit */
  SPDL_TUNER_IDLE,    /* lowered: as many as are busy */
  SPDL_TUNER_SPARE,   /* lowered: to see whether fewer do as well */
  SPDL_TUNER_NO_GAIN, /* taken back: more brought nothing */
  SPDL_TUNER_LOSS,    /* taken back: fewer were slower */
  SPDL_TUNER_HELD,    /* taken back: somebody else began to hold tasks back */
  SPDL_TUNER_SETTLED, /* stays */
  SPDL_TUNER_LOAD,    /* stays, and the search begins again */
} SpdlTunerReason;

typedef struct {
  guint stage;
  guint from, to;
  SpdlTunerReason reason;
  /* What was measured with @from. */
  double throughput; /* items a second of the stage */
  double occupancy;
  double busy; /* workers that are in tasks, as a share of @from */
  double gain; /* of a trial that is taken back: its rate, as a multiple */
} SpdlTunerDecision;

typedef struct _SpdlTuner SpdlTuner;

/* @num_cores: that the process may use */
SpdlTuner *spdl_tuner_new (guint num_cores);
void spdl_tuner_free (SpdlTuner *self);

/* Begins a search, with as many stages as are then added. */
void spdl_tuner_begin (SpdlTuner *self);

/* @concurrency: to begin with; @max: the bound. Returns the stage's index. */
guint spdl_tuner_add_stage (SpdlTuner *self, guint concurrency, guint max);

/* An interval has ended at @now (ns). @intervals: one for each stage;
 * @throttled: somebody else holds tasks back, so that no trial would tell
 * anything: there is none then. Returns
 * @n decisions, the tuner's until the next call. */
const SpdlTunerDecision *spdl_tuner_end_interval (SpdlTuner *self,
    const SpdlInterval *intervals, guint64 now, gboolean throttled, guint *n);

gboolean spdl_tuner_is_steady (const SpdlTuner *self);

G_END_DECLS
