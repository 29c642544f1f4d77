/* gst-spdl: threads and atomics of the model of the engine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* Included before the sources of the engine. */

#include <errno.h>
#include <glib.h>
#include <pthread.h>

#include "tests/check/gst/engine/model/scheduler.h"

static inline int
model_pthread_create (
    pthread_t *id, const pthread_attr_t *attr, ModelFunc func, void *data)
{
  if (!model_take_thread ())
    return EAGAIN;
  *id = model_thread_start (func, data);
  return 0;
}

static inline int
model_pthread_join (pthread_t id, void **result)
{
  model_thread_join (id);
  return 0;
}

/* Values per coroutine, for one key. */
gpointer model_private_get (GPrivate *key);
void model_private_set (GPrivate *key, gpointer value);

#define pthread_create model_pthread_create
#define pthread_join model_pthread_join
#define pthread_getcpuclockid(id, clock) 1
#define pthread_setname_np(id, name) ((void) 0)
#define g_private_get model_private_get
#define g_private_set model_private_set

#undef g_atomic_int_get
#undef g_atomic_int_set
#define g_atomic_int_get(atomic) \
  (model_yield (), __atomic_load_n (atomic, __ATOMIC_SEQ_CST))
#define g_atomic_int_set(atomic, value) \
  (model_yield (), __atomic_store_n (atomic, value, __ATOMIC_SEQ_CST))
#define __atomic_load_n(atomic, order) \
  (model_yield (), __atomic_load_n (atomic, order))
#define __atomic_store_n(atomic, value, order) \
  (model_yield (), __atomic_store_n (atomic, value, order))
