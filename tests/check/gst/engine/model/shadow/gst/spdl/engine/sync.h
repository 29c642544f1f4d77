/* gst-spdl: mutexes and conditions of the model of the engine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* Takes the place of the engine's header of this name, see scheduler.h. */

#include "gst/spdl/engine/compat.h"

#include "tests/check/gst/engine/model/scheduler.h"

typedef ModelMutex SpdlMutex;
typedef ModelCond SpdlCond;

#undef PTHREAD_MUTEX_INITIALIZER
#define PTHREAD_MUTEX_INITIALIZER \
  {                               \
    MODEL_MAGIC, 0                \
  }

#define spdl_mutex_init model_mutex_init
#define spdl_mutex_clear model_mutex_clear
#define spdl_mutex_lock model_mutex_lock
#define spdl_mutex_trylock model_mutex_trylock
#define spdl_mutex_unlock model_mutex_unlock
#define spdl_cond_init model_cond_init
#define spdl_cond_clear model_cond_clear
#define spdl_cond_wait(cond, mutex) model_cond_wait (cond, mutex, FALSE)
#define spdl_cond_wait_for(cond, mutex, ns) model_cond_wait (cond, mutex, TRUE)
#define spdl_cond_signal model_cond_signal
#define spdl_cond_broadcast model_cond_broadcast
