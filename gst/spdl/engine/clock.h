/* gst-spdl: clock of the statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <time.h>

/* Source of the engine's time. Tests provide one, so that a fixed schedule
 * gives exact statistics. */
typedef struct {
  guint64 (*now) (gpointer user_data); /* nanoseconds; NULL: monotonic */
  gpointer user_data;
} SpdlClock;

static inline guint64
spdl_timespec_to_ns (const struct timespec *ts)
{
  return (guint64) ts->tv_sec * G_GUINT64_CONSTANT (1000000000) + ts->tv_nsec;
}

static inline guint64
spdl_clock_now (const SpdlClock *clock)
{
  struct timespec ts;

  if (G_UNLIKELY (clock->now != NULL))
    return clock->now (clock->user_data);
  clock_gettime (CLOCK_MONOTONIC, &ts);
  return spdl_timespec_to_ns (&ts);
}
