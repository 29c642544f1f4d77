/* gst-spdl: threads that cannot be created, on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/failing-threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <gmodule.h>
#include <pthread.h>

static gint n_created; /* atomic */
static gint first;     /* atomic: number of the first one that fails */
static gint last;      /* atomic: number after the last one */
static gint n_failed;  /* atomic */

/* A symbol that the program exports takes precedence over that of the library,
 * for all callers. */
G_MODULE_EXPORT int
pthread_create (pthread_t *id, const pthread_attr_t *attr,
    void *(*func) (void *data), void *data)
{
  const __typeof__ (&pthread_create) create =
      (__typeof__ (&pthread_create)) dlsym (RTLD_NEXT, "pthread_create");
  const gint number = g_atomic_int_add (&n_created, 1) + 1;

  if (number < g_atomic_int_get (&first) || number >= g_atomic_int_get (&last))
    return create (id, attr, func, data);
  g_atomic_int_inc (&n_failed);
  return EAGAIN;
}

void
failing_threads_let_fail (guint n, guint count)
{
  const gint begin = n > 0 ? g_atomic_int_get (&n_created) + (gint) n : 0;

  g_atomic_int_set (&last, 0);
  g_atomic_int_set (&n_failed, 0);
  g_atomic_int_set (&first, begin);
  g_atomic_int_set (&last, n > 0 ? begin + (gint) count : 0);
}

guint
failing_threads_count (void)
{
  return g_atomic_int_get (&n_failed);
}
