/* gst-spdl: threads that run errands
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

typedef struct _SpdlErrands SpdlErrands;
typedef void (*SpdlErrandFunc) (gpointer data);

SpdlErrands *spdl_errands_new (const gchar *name, guint max_threads);

/* Waits for those that were pushed. */
void spdl_errands_free (SpdlErrands *self);

/* From any thread. */
void spdl_errands_push (SpdlErrands *self, SpdlErrandFunc func, gpointer data);

/* The CPU time of errands that are done, in ns. From any thread. */
guint64 spdl_errands_get_cpu_time (SpdlErrands *self);

G_END_DECLS
