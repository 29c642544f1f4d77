/* gst-spdl: periodic timer thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

typedef struct _SpdlTicker SpdlTicker;

/* Creates a thread that calls @func every @interval ns, for the first time
 * after one interval. @free_data: (nullable): called when the thread ends.
 * @purpose: what it is for, as in spdl_thread_try_new(). Returns NULL with
 * @error set (%G_THREAD_ERROR) if the thread cannot be created; @free_data is
 * not called then. */
SpdlTicker *
spdl_ticker_new (guint64 interval, void (*func) (gpointer data), gpointer data,
    GDestroyNotify free_data, const gchar *purpose, GError **error);

/* Stops the ticker. @func does not run any more when this returns, unless @func
 * is the caller. */
void spdl_ticker_stop (SpdlTicker *self);

G_END_DECLS
