/* gst-spdl: creation of threads, which may fail
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* The number of processes and threads is limited, in containers often to few
 * hundreds, so each thread may be the one that cannot be created.
 * g_thread_new() would end the trainer. */

/* Creates a thread, like g_thread_try_new().
 *
 * @name: at most 15 characters
 * @purpose: what the thread is for, to follow "for" in a message
 *
 * Returns NULL with @error set (%G_THREAD_ERROR) if it cannot be created. */
SPDL_PRIVATE_API
GThread *spdl_thread_try_new (const gchar *name, const gchar *purpose,
    GThreadFunc func, gpointer data, GError **error);

/* Sets the error of a thread that cannot be created.
 *
 * @problem: error number of the system */
SPDL_PRIVATE_API
void spdl_thread_set_error (
    GError **error, const gchar *name, const gchar *purpose, int problem);

G_END_DECLS
