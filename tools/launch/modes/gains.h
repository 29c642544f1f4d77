/* gst-spdl-launch: estimate of the gain from faster loading
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A pipeline as it is, and from the cache, was run in rounds: how much less
 * time a batch takes from the cache. */

/* From here on a gain is worth its work; below the other one, it is none. */
#define GAINS_WORTH_IT 0.10
#define GAINS_NONE 0.05

/* Of several runs. */
typedef struct {
  double median, least, most;
} Spread;

typedef struct {
  guint n_rounds;
  Spread base, cached; /* s a batch */
  double headspace;    /* of the medians, a share of the base's time */
  double least, most;  /* of the rounds' own */
} Gains;

/* @base, @cached: seconds a batch of each of @n rounds. */
void
gains_init (Gains *self, const double *base, const double *cached, guint n);

/* "stop", "small" or "worth-it" */
const gchar *gains_get_advice (const Gains *self);

/* Whether the rounds themselves say what the whole does. */
gboolean gains_agree (const Gains *self);

/* A sentence. */
gchar *gains_describe (const Gains *self);

G_END_DECLS
