/* gst-spdl: threads that let others have their core
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PATIENCE_H__
#define __SPDL_PATIENCE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Whether this thread, when it wakes, pushes aside the one that has the core,
 * which may be the trainer's: not if it is patient. */
void spdl_set_patient (gboolean patient);

G_END_DECLS

#endif /* __SPDL_PATIENCE_H__ */
