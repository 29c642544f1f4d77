/* gst-spdl: private parts of an HTTP request
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/http/redirect.h"
#include "plugins/fetch/http/request.h"
#include "plugins/fetch/http/response.h"
#include "plugins/fetch/io/body.h"
#include "plugins/fetch/store/objectstore.h"

G_BEGIN_DECLS

/* request.c is its life and its tries: when one begins, how it ends, and
 * what comes then.
 * requestbody.c is what comes in a try: the answer and the body. */

/* What is read of an answer that nobody wants, so that its connection can be
 * used again. */
#define MAX_UNWANTED (64 * 1024)

typedef enum {
  SPDL_REQUEST_STOP_NOT,
  SPDL_REQUEST_STOP_CANCELLED,
  SPDL_REQUEST_STOP_DEADLINE, /* of the whole fetch */
  SPDL_REQUEST_STOP_STALLED,  /* nothing came for too long */
} SpdlRequestStop;

typedef enum {
  SPDL_REQUEST_END_GOOD,
  SPDL_REQUEST_END_FAILED,
  SPDL_REQUEST_END_RETRY,
} SpdlRequestEnd;

struct _SpdlRequest {
  GList link;
  const SpdlHttpSettings *settings;
  SoupSession *session;
  gchar *uri;
  GUri *parsed;          /* of HTTP; of an object where it is asked for now */
  SpdlObject *object;    /* nullable */
  GString *refusal;      /* the beginning of an error's body; of an object */
  gboolean foreign;      /* it gets no extra headers */
  SpdlHttpHeadFunc head; /* nullable */
  SpdlHttpFunc func;
  gpointer user_data;
  GCancellable *outer; /* the caller's */
  GQueue *active;      /* that it is in; NULL before it begins */
  GSource *timer;
  gint64 deadline; /* G_MAXINT64: none */
  guint n_tries;
  gboolean waiting;           /* for the next try */
  gboolean wants_credentials; /* and waits for them */
  SpdlBodyStream
      *body_stream; /* where the body goes; nullable: it is collected */
  gboolean paused;  /* until that has room */

  /* What came, over all tries. */
  SpdlRequestParams params;
  SpdlBody body;
  SpdlResponse response;

  /* Of this try. */
  SpdlRedirect redirect;
  SoupMessage *message;
  GInputStream *stream;
  GCancellable *cancellable;
  GSource *cancel_later; /* nullable, see cancel_try() */
  SpdlRequestStop stop;
  guint8 *reading;  /* where bytes are read to */
  guint8 *unwanted; /* where bytes go that are read over; nullable */
  guint64 to_skip;
  gboolean discard; /* the rest of the answer, when all that is skipped */
  gboolean same;    /* the server has what the caller has */
  gboolean at_once; /* the next try is another question, no repetition */
  gboolean moved;   /* and goes to where the server redirects */
  gint64 asked_delay;
  SpdlRequestEnd end;
  GError *error;
};

/* Time */

/* Wakes up at @time, or at the deadline. */
void spdl_request_set_timer (SpdlRequest *self, gint64 time);
/* Something came: the time in which nothing does begins anew. */
void spdl_request_set_stall_timer (SpdlRequest *self);

/* The end of a try */

/* Notes how the try ends, if nothing did before. Takes @error. */
void
spdl_request_set_end (SpdlRequest *self, SpdlRequestEnd end, GError *error);
/* A transfer ended early, by @reason (nullable), or by us. */
void spdl_request_set_broken_end (SpdlRequest *self, const GError *reason);
/* Goes on as was noted. */
void spdl_request_end_try (SpdlRequest *self);

/* What comes */

void
spdl_request_on_answer (GObject *session, GAsyncResult *result, gpointer data);
void spdl_request_read_more (SpdlRequest *self);
/* Ends the try then. */
void spdl_request_close_stream (SpdlRequest *self);

G_END_DECLS
