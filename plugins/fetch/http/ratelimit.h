/* gst-spdl: requests to servers that limit their rate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/fetch/io/counts.h"

G_BEGIN_DECLS

/* Limits the requests to each origin that asks for it with the status 429 or
 * 503: a pause for all of them, and a number of requests in flight that is
 * halved, and grows by one when as many requests have succeeded. All functions
 * can be called from any thread. */
typedef struct _SpdlRateLimits SpdlRateLimits;
typedef struct _SpdlRateOrigin SpdlRateOrigin;

/* Place of a request in the limit of an origin. Zero: none. */
typedef struct {
  SpdlRateLimits *limits;
  SpdlRateOrigin *origin; /* nullable: waits for a place, or has one */
  GList link;
  GSource *timer;  /* is ready when the place may be there */
  gint64 deadline; /* and at this monotonic time in us; G_MAXINT64: none */
  gboolean waits;
  gboolean first; /* after a pause */
  guint round;
} SpdlRateSlot;

typedef enum {
  SPDL_RATE_ALONE,    /* the request backs off by itself */
  SPDL_RATE_COUNTED,  /* the origin pauses, and this was an attempt */
  SPDL_RATE_FOR_FREE, /* the origin pauses, and this was none */
} SpdlRateReaction;

/* @counts: (nullable): must outlive the limits
 * @count_requests: returns the number of requests in flight to all servers */
SpdlRateLimits *spdl_rate_limits_new (SpdlCounts *counts,
    guint (*count_requests) (gpointer user_data), gpointer user_data);
void spdl_rate_limits_free (SpdlRateLimits *self);

/* Returns whether a request to @uri may be sent now. Otherwise @slot waits, and
 * @timer is ready when spdl_rate_slot_may_go() is to be called.
 * @again: the request was rejected, and comes before those that were not */
gboolean spdl_rate_limits_enter (SpdlRateLimits *self, SpdlRateSlot *slot,
    GUri *uri, GSource *timer, gint64 deadline, gboolean again);

/* Returns whether a slot that waits has got its place. */
gboolean spdl_rate_slot_may_go (SpdlRateSlot *slot);

/* Ends the wait, or gives the place back. */
void spdl_rate_slot_leave (SpdlRateSlot *slot);

/* Reports a response other than 429 and 503, to a request with a place. */
void spdl_rate_slot_succeed (SpdlRateSlot *slot, SoupMessage *message);

/* Reports a response with the status 429 or 503.
 * @slot: of the request, with a place or without
 * @asked: delay that the response names, in us; 0: none */
SpdlRateReaction spdl_rate_limits_reject (SpdlRateLimits *self,
    SpdlRateSlot *slot, SoupMessage *message, gint64 asked);

/* Returns the delay in us until more requests are permitted, by RateLimit and
 * RateLimit-Reset; 0: the headers name none, or requests are left. */
gint64 spdl_rate_get_asked (SoupMessageHeaders *headers);

G_END_DECLS
