/* gst-spdl: a wall clock that jumps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Preloaded: the wall clock is an hour late in every other 0.3 seconds. */

#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#define JUMP 3600
#define PERIOD 300 /* ms */

typedef int (*GetTime) (clockid_t clock, struct timespec *time);

int
clock_gettime (clockid_t clock, struct timespec *now)
{
  static GetTime real;
  struct timespec monotonic;
  int ret;

  if (!real)
    real = (GetTime) dlsym (RTLD_NEXT, "clock_gettime");
  ret = real (clock, now);
  if (ret != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
    return ret;
  real (CLOCK_MONOTONIC, &monotonic);
  if ((monotonic.tv_sec * 1000 + monotonic.tv_nsec / 1000000) / PERIOD % 2)
    now->tv_sec -= JUMP;
  return ret;
}

int
gettimeofday (struct timeval *restrict now, void *restrict zone)
{
  struct timespec ts;

  clock_gettime (CLOCK_REALTIME, &ts);
  now->tv_sec = ts.tv_sec;
  now->tv_usec = ts.tv_nsec / 1000;
  return 0;
}

time_t
time (time_t *seconds)
{
  struct timespec ts;

  clock_gettime (CLOCK_REALTIME, &ts);
  if (seconds)
    *seconds = ts.tv_sec;
  return ts.tv_sec;
}
