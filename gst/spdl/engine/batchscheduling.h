/* gst-spdl: threads that let others have their core
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Whether this thread, when it wakes, pushes aside the one that has the core,
 * which may be the trainer's: not if it is patient. */
void spdl_set_patient (gboolean patient);

/* Returns TRUE if this thread is patient, and so one that loads: a stage's
 * worker, or a streaming thread. */
SPDL_PRIVATE_API
gboolean spdl_is_loading_thread (void);

G_END_DECLS
