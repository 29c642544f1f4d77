/* gst-spdl: classification of HTTP responses
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/fetch/http/validator.h"
#include "plugins/fetch/io/range.h"

G_BEGIN_DECLS

/* Parameters of a request: a range of the resource, of which the first @have
 * bytes were already received. */
typedef struct {
  SpdlRange range;
  guint64 have;
  gboolean has_size;
  guint64 size; /* total size, from the response with the first part */
  /* Headers of the response with the first part. */
  gchar *tag;  /* nullable: ETag, weak or strong */
  gchar *date; /* nullable: Last-Modified */

  /* Set by the caller. */
  const SpdlValidator *known; /* nullable: validator of the cached version */
  SpdlValidator *origin; /* nullable: receives the validator of the response */
} SpdlRequestParams;

/* Properties of a valid response. */
typedef struct {
  guint64 skip; /* bytes of the body before the requested ones */
  gboolean
      restart; /* the body starts at the beginning: discard received data */
  gboolean has_size;
  guint64 size; /* of the whole requested range, including received data */
} SpdlResponse;

typedef enum {
  SPDL_RESPONSE_ACTION_GOOD,
  SPDL_RESPONSE_ACTION_NO_MORE, /* all data was already received */
  SPDL_RESPONSE_ACTION_SAME,    /* the cached version is current */
  SPDL_RESPONSE_ACTION_OTHER,   /* the cached version may be outdated: repeat
                                   without a condition */
  SPDL_RESPONSE_ACTION_AGAIN,   /* repeat at the new address of an object */
  SPDL_RESPONSE_ACTION_MOVED,   /* redirect */
  SPDL_RESPONSE_ACTION_FAILED,  /* permanently */
  SPDL_RESPONSE_ACTION_LATER,   /* retry the same request */
  SPDL_RESPONSE_ACTION_ANEW,    /* retry from the beginning */
} SpdlResponseAction;

/* Returns whether a Range header is needed. */
static inline gboolean
spdl_request_params_is_partial (const SpdlRequestParams *self)
{
  return self->have > 0 || self->range.first > 0 ||
         !spdl_range_is_open (&self->range);
}

/* Returns whether a response with the rest can be of the version that the
 * received part is known to have. */
gboolean spdl_request_params_can_resume (const SpdlRequestParams *self);

/* Sets the request headers. */
void spdl_request_params_put (
    const SpdlRequestParams *self, SoupMessageHeaders *headers);

/* Stores what is needed to verify, after an interruption, that the rest belongs
 * to the same version. */
void spdl_request_params_keep (SpdlRequestParams *self,
    const SpdlResponse *response, SoupMessage *message);

/* Returns whether the response confirms that it is of the same version as the
 * received data. */
gboolean spdl_request_params_is_same (
    const SpdlRequestParams *self, SoupMessage *message);

void spdl_request_params_clear (SpdlRequestParams *self);

/* Classifies a response by status and headers. Sets @error if it is not
 * successful. */
SpdlResponseAction spdl_response_classify (SpdlResponse *self,
    const SpdlRequestParams *params, SoupMessage *message, GError **error);

/* Returns whether a response status is temporary. */
gboolean spdl_retry_is_status (guint status);

/* Returns whether @error, of a request or its response, is temporary. */
gboolean spdl_retry_is_error (const GError *error);

/* Returns the delay before retry @n, starting at 1, in us: exponential backoff
 * with jitter between a half and the whole, so that requests that failed
 * together are not retried together. */
gint64 spdl_retry_get_delay (guint n);

/* Returns the delay of a Retry-After header, in us; 0 if there is none. */
gint64 spdl_retry_get_asked (SoupMessageHeaders *headers);

G_END_DECLS
