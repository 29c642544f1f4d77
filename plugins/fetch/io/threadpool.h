/* gst-spdl: thread pool for blocking work
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Threads, created on demand, for blocking work of threads that must not
 * block. */

typedef struct _SpdlThreadPool SpdlThreadPool;
typedef void (*SpdlThreadPoolFunc) (gpointer data);

SpdlThreadPool *spdl_thread_pool_new (const gchar *name, guint max_threads);

/* Waits for all pushed jobs. */
void spdl_thread_pool_free (SpdlThreadPool *self);

/* Can be called from any thread. */
void spdl_thread_pool_push (
    SpdlThreadPool *self, SpdlThreadPoolFunc func, gpointer data);

/* Returns the CPU time of finished jobs, in ns. Can be called from any
 * thread. */
guint64 spdl_thread_pool_get_cpu_time (SpdlThreadPool *self);

G_END_DECLS
