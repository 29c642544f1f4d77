/* gst-spdl: HTTP request with retries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/fetch/http/http.h"
#include "plugins/fetch/store/objectstore.h"

G_BEGIN_DECLS

/* A request fetches a resource: it retries after temporary errors, resumes
 * interrupted bodies, and enforces timeout, deadline and maximum size. It calls
 * its function once at the end and frees itself. All functions except the
 * constructors run on the session's thread. */

typedef struct _SpdlRequest SpdlRequest;

/* Called by one of the two requests of a fetch, see hedge.h. */
typedef struct {
  /* The request begins. */
  void (*begun) (gpointer user_data);
  /* Returns whether the request may be repeated. */
  gboolean (*may_retry) (gpointer user_data);
  /* A response has begun.
   *
   * @is_final: whether the request ends with this response */
  void (*answered) (gpointer user_data, guint status, gboolean is_final);
} SpdlRequestRace;

/* Adds the extra headers. Each field of the structure is a header; a list or an
 * array gives several headers of that name. */
void spdl_http_settings_put (
    const SpdlHttpSettings *self, SoupMessageHeaders *headers);

/* @settings must outlive the request. */
SpdlRequest *
spdl_request_new (const SpdlHttpSettings *settings, const SpdlHttpFetch *fetch);

/* Same for the whole resource, received into @body_stream. */
SpdlRequest *spdl_request_new_stream (const SpdlHttpSettings *settings,
    const gchar *uri, GCancellable *cancellable, SpdlBodyStream *body_stream);

/* @head: (nullable)
 * Call it before the request starts. */
void spdl_request_set_head (SpdlRequest *self, SpdlHttpHeadFunc head);
/* Makes the request one of two for the same fetch. Call it before the request
 * starts. */
void spdl_request_set_race (
    SpdlRequest *self, const SpdlRequestRace *race, gpointer user_data);

/* Returns the list link of the request, for a queue of requests to start. */
GList *spdl_request_get_link (SpdlRequest *self);

/* Requests of a session. */
typedef struct {
  GQueue active;     /* of SpdlRequest; used only by the session's thread */
  gint n_unfinished; /* atomic: those in @active, and those to start */
  SpdlRateLimits *limits;
} SpdlRequests;

/* Starts the request, which n_unfinished already counts. It is in @requests
 * until it ends.
 *
 * @store: belongs to the session's thread, lives as long as the request */
void spdl_request_begin (SpdlRequest *self, SoupSession *session,
    SpdlStore *store, SpdlRequests *requests);

/* Resumes a request that waits for free space in its stream, and stops it if
 * the stream is closed. */
void spdl_request_check_stream (SpdlRequest *self);

/* Cancels the request, immediately or soon: its function gets
 * G_IO_ERROR_CANCELLED. */
void spdl_request_cancel (SpdlRequest *self);
/* Same, if the caller's cancellable is cancelled. */
void spdl_request_check_cancelled (SpdlRequest *self);

G_END_DECLS
