/* gst-spdl-launch: estimate of the gain from faster loading
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Compares rounds of runs with loading and from cached batches: the reduction
 * of the time per batch. */

/* A gain of at least the first value is worth optimizing for; one below the
 * second is negligible. */
#define GAINS_WORTH_IT 0.10
#define GAINS_NONE 0.05

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
