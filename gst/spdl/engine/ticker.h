/* gst-spdl: thread that calls a function at intervals
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

typedef struct _SpdlTicker SpdlTicker;

/* Calls @func from a thread of its own each @interval ns, from one interval
 * from now on. @free_data: (nullable): called when the thread ends. */
SpdlTicker *spdl_ticker_new (guint64 interval, void (*func) (gpointer data),
    gpointer data, GDestroyNotify free_data);

/* Ends it. When this returns, @func does not run, unless it is what calls
 * this. */
void spdl_ticker_stop (SpdlTicker *self);

G_END_DECLS
