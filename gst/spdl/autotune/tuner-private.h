/* gst-spdl: the search for the concurrency, inside
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_TUNER_PRIVATE_H__
#define __SPDL_TUNER_PRIVATE_H__

#include "gst/spdl/autotune/tuner.h"

G_BEGIN_DECLS

/* tuner.c takes laps, measures, and watches.
 * tunersearch.c is what is tried, and what is made of it. */

/* What is tried, one after the other where the one before gained nothing. */
#define SPDL_GROWTH 2.0
#define SPDL_SMALL_GROWTH 1.4
#define SPDL_LEAST_GROWTH 1.15

typedef struct {
  guint n;
  guint max;
  guint before; /* the trial */
  gboolean candidate;
  guint too_few;    /* the most that is known to be; 0 */
  double knee;      /* from where on more gain nothing, about; 0: not known */
  gboolean lowered; /* as far as it goes */
  double computing; /* the most of its tasks' time on a CPU */
  double time;      /* a task's, when it settled */
  guint settled;    /* the last time, at so many */
} SpdlTunerStage;

typedef enum {
  STEP_BEGIN, /* until tasks of all stages have ended */
  STEP_BASE,
  STEP_RAISE,
  STEP_FIT,
  STEP_LOWER,
  STEP_STEADY,
} SpdlTunerStep;

struct _SpdlTuner {
  guint num_cores;
  guint n_stages;
  SpdlTunerStage stages[SPDL_MAX_TUNED];
  SpdlTunerStep step;
  guint64 now;
  guint64 settling_until;
  gboolean throttled;
  SpdlWindow base;
  guint64 base_at;  /* when it ended */
  SpdlWindow trial; /* or what is watched */
  /* The search. */
  double growth; /* of the next raise; 0: enough */
  gboolean goes_down;
  guint fits; /* that are left */
  guint lowering;
  double kept; /* of the rate, after trials that lost a little */
  guint stalls;
  /* Since it is steady. */
  guint64 settled_at;
  guint64 patience;
  guint n_others; /* windows that were others */
  gboolean was_throttled;
  gboolean was_narrow; /* one of the stages */

  guint n_decisions;
  SpdlTunerDecision decisions[2 * SPDL_MAX_TUNED];
};

/* Sets a stage's number. */
SpdlTunerDecision *
spdl_tuner_decide (SpdlTuner *self, guint i, guint to, SpdlTunerReason reason);

/* From now on, after a while in which the pipeline settles. */
void spdl_tuner_measure (SpdlTuner *self, SpdlTunerStep step);

/* Remembers what there is, then come decisions and a measurement. Then the
 * trial stays, or is taken back; @ratio: its rate, as a multiple. */
void spdl_tuner_begin_trial (SpdlTuner *self);
void spdl_tuner_keep (SpdlTuner *self);
void spdl_tuner_take_back (SpdlTuner *self, double ratio);

/* Whether something waits before the stage, and nothing is in the way behind
 * it; and whether that is so for any. */
gboolean spdl_tuner_is_narrow (const SpdlWindow *window, guint i);
gboolean
spdl_tuner_any_narrow (const SpdlTuner *self, const SpdlWindow *window);

/* Begin a trial: up; down to what is busy; and down by one stage, to see. FALSE
 * if there is nothing to try. */
gboolean spdl_climb_raise (SpdlTuner *self);
gboolean spdl_climb_fit (SpdlTuner *self);
gboolean spdl_climb_lower (SpdlTuner *self);

/* End it. @noise: of the ratio */
void spdl_climb_conclude_raise (SpdlTuner *self, double ratio, double noise);
void spdl_climb_conclude_fit (SpdlTuner *self, double ratio, double noise);
void spdl_climb_conclude_lower (SpdlTuner *self, double ratio, double noise);

G_END_DECLS

#endif /* __SPDL_TUNER_PRIVATE_H__ */
