/* gst-spdl: private declarations of an HTTP request
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/http/chunks.h"
#include "plugins/fetch/http/http.h"
#include "plugins/fetch/http/request.h"
#include "plugins/fetch/http/response.h"
#include "plugins/fetch/io/body.h"
#include "plugins/fetch/store/objectstore.h"

G_BEGIN_DECLS

/* request.c implements the lifetime of a request and its attempts.
 * requestbody.c handles the response and body of an attempt. redirect.c follows
 * redirects. */

/* Maximum number of bytes of an unneeded body that are read to keep the
 * connection usable. */
#define MAX_UNWANTED (64 * 1024)

/* Maximum Retry-After; a server that requests a longer delay is not retried. */
#define SPDL_MAX_ASKED_DELAY (5 * G_TIME_SPAN_MINUTE)

typedef enum {
  SPDL_REQUEST_ACTIVE, /* an attempt is under way */
  SPDL_REQUEST_WAITS_FOR_RETRY,
  SPDL_REQUEST_WAITS_FOR_SLOT, /* in the limit of an origin */
  SPDL_REQUEST_WAITS_FOR_CREDENTIALS,
  SPDL_REQUEST_WAITS_FOR_READER, /* until the stream has free space */
} SpdlRequestPhase;

typedef enum {
  SPDL_REQUEST_STOP_NOT,
  SPDL_REQUEST_STOP_CANCELLED,
  SPDL_REQUEST_STOP_DEADLINE, /* of the whole fetch */
  SPDL_REQUEST_STOP_STALLED,  /* no data before the timeout */
} SpdlRequestStop;

typedef enum {
  SPDL_REQUEST_END_GOOD,
  SPDL_REQUEST_END_FAILED,
  SPDL_REQUEST_END_RETRY,
} SpdlRequestEnd;

/* State of a chain of redirects. libsoup's own handling sends all request
 * headers to any server, so redirects are handled here: credentials are sent
 * only to the same origin or to trusted ones, and no more after an untrusted
 * origin in the chain. */

typedef struct {
  GUri *uri;              /* next URI to request; NULL: the original one */
  gboolean foreign;       /* do not send credentials */
  SoupCookieJar *cookies; /* nullable: of this chain only */
  GPtrArray
      *seen; /* nullable: of gchar: URIs visited so far, without userinfo */
} SpdlRedirect;

struct _SpdlRequest {
  GList link;
  const SpdlHttpSettings *settings;
  SoupSession *session;
  gchar *uri;
  GUri *parsed;       /* HTTP(S) URI; of an object, its current address */
  SpdlObject *object; /* nullable: object in a store */
  GString *refusal;   /* nullable: beginning of an error response of a store */
  gboolean foreign;   /* do not send extra headers */
  SpdlHttpHeadFunc head; /* nullable */
  SpdlHttpFunc func;
  gpointer user_data;
  const SpdlRequestRace *race; /* nullable */
  gpointer race_data;
  GCancellable *outer;    /* cancellable of the caller */
  SpdlRequests *requests; /* NULL before it starts */
  GSource *timer;
  guint64 max_size; /* of a response; 0: that of the settings */
  gint64 deadline;  /* monotonic time in us; G_MAXINT64: none */
  gint64 active_at; /* when bytes arrived last */
  guint n_tries;
  SpdlRequestPhase phase;
  SpdlRateSlot slot; /* in the limit of an origin */
  gboolean rejected; /* by a server that limits its rate */
  GError *reason;    /* nullable: to repeat the attempt before */
  SpdlBodyStream
      *body_stream; /* nullable: destination of the body; NULL: collect it */

  /* Data received in all attempts. */
  SpdlRequestParams params;
  SpdlBody body;
  SpdlResponse response;

  /* State of the current attempt. */
  SpdlRedirect redirect;
  SoupMessage *message;
  GUri *asked; /* URI of the message when it was sent */
  GInputStream *stream;
  GCancellable *cancellable;
  GSource *cancel_later; /* nullable; see cancel_try() */
  SpdlRequestStop stop;
  SpdlChunks chunks;
  guint8 *reading;       /* destination of the current read */
  guint8 *unwanted;      /* nullable: buffer for skipped bytes */
  guint n_informational; /* responses before the actual one (1xx) */
  guint64 to_skip;
  /* Unless it is GOOD, the bytes to skip are all that is left to read. */
  SpdlResponseAction action;
  gint64 asked_delay;
  SpdlRequestEnd end;
  GError *error;
};

/* Timers */

/* Sets the timer to @time, or to the deadline if that is earlier. */
void spdl_request_set_timer (SpdlRequest *self, gint64 time);
/* Restarts the timeout for a stalled transfer. */
void spdl_request_set_stall_timer (SpdlRequest *self);

/* End of an attempt */

/* Sets the outcome of the attempt, unless it is already set. Takes ownership of
 * @error. */
void
spdl_request_set_end (SpdlRequest *self, SpdlRequestEnd end, GError *error);
/* Sets the outcome after an interrupted transfer, with @reason (nullable). */
void spdl_request_set_broken_end (SpdlRequest *self, const GError *reason);
/* Ends the attempt and continues according to its outcome. */
void spdl_request_end_try (SpdlRequest *self);

/* Redirects */

/* Resets the state for a new request.
 * @foreign: do not send credentials */
void spdl_redirect_begin (SpdlRedirect *self, gboolean foreign);
void spdl_redirect_clear (SpdlRedirect *self);

/* Returns TRUE if the response of @message is a redirect. */
gboolean spdl_redirect_is (SoupMessage *message);

/* Adds the cookies that servers of the chain have set for its next URI. */
void spdl_redirect_put (SpdlRedirect *self, SoupMessage *message);

/* Sets the next URI from the response of @message.
 * @begin: original URI
 * @trusted: (nullable): origins that may receive the credentials
 * Returns FALSE with @error set if the redirect is refused, in the domain
 * GST_RESOURCE_ERROR, or in SPDL_HTTP_ELSEWHERE if the caller must read a URI
 * of a trusted scheme. */
gboolean spdl_redirect_follow (SpdlRedirect *self, GUri *begin,
    SoupMessage *message, const gchar *trusted, GError **error);

/* Response */

void spdl_request_on_response (
    GObject *session, GAsyncResult *result, gpointer data);
void spdl_request_read_more (SpdlRequest *self);
/* Closes the stream, then ends the attempt. */
void spdl_request_close_stream (SpdlRequest *self);

G_END_DECLS
