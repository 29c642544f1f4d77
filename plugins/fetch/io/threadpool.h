/* gst-spdl: threads for blocking work
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Some threads, made when they are needed, for what a thread that must not wait
 * leaves to them. */

typedef struct _SpdlThreadPool SpdlThreadPool;
typedef void (*SpdlThreadPoolFunc) (gpointer data);

SpdlThreadPool *spdl_thread_pool_new (const gchar *name, guint max_threads);

/* Waits for those that were pushed. */
void spdl_thread_pool_free (SpdlThreadPool *self);

/* From any thread. */
void spdl_thread_pool_push (
    SpdlThreadPool *self, SpdlThreadPoolFunc func, gpointer data);

/* The CPU time of jobs that are done, in ns. From any thread. */
guint64 spdl_thread_pool_get_cpu_time (SpdlThreadPool *self);

G_END_DECLS
