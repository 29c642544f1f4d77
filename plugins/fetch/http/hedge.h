/* gst-spdl: second requests to servers that respond late
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/http/request.h"

G_BEGIN_DECLS

/* Hedged requests: a fetch whose response has not begun after the time in which
 * nearly all others have is requested again. The request that is answered first
 * continues, and the other one is cancelled.
 *
 * The share of second requests is limited. The delay follows from it: with 2 %,
 * 99 % of the recent responses came earlier. After a response with the status
 * 429 or 503 no second request is sent for a minute, as it would burden an
 * overloaded server. */

typedef struct _SpdlHedge SpdlHedge;

/* Starts a request in its thread of the client. */
typedef void (*SpdlHedgeBeginFunc) (gpointer user_data, SpdlRequest *request);

/* @settings must outlive the result. */
SpdlHedge *spdl_hedge_new (const SpdlHttpSettings *settings,
    SpdlHedgeBeginFunc begin, gpointer user_data);
/* All fetches and the thread of the client must have finished. */
void spdl_hedge_free (SpdlHedge *self);

/* Returns: the first request of a fetch, for the caller to begin. Can be called
 * from any thread. */
SpdlRequest *spdl_hedge_add (SpdlHedge *self, const SpdlHttpFetch *fetch);

G_END_DECLS
