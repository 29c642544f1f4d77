/* gst-spdl: classification of HTTP responses
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/fetch/http/validator.h"
#include "plugins/fetch/range/range.h"

G_BEGIN_DECLS

/* What was asked for: a range of the resource, of which the first @have bytes
 * came already. */
typedef struct {
  SpdlRange range;
  guint64 have;
  gboolean has_size;
  guint64 size;     /* of all, by the answer that brought the first part */
  gchar *validator; /* says whether it is still the same; nullable */

  /* The caller's. */
  const SpdlValidator *known; /* of what is at hand already; nullable */
  SpdlValidator *origin;      /* where good answers are noted; nullable */
} SpdlRequestParams;

/* What the answer is, if it is good. */
typedef struct {
  guint64 skip;     /* bytes of the body that come before what was asked for */
  gboolean restart; /* it begins from the start: what came is to be forgotten */
  gboolean has_size;
  guint64 size; /* of all that was asked for, with what came already */
} SpdlResponse;

typedef enum {
  SPDL_RESPONSE_ACTION_GOOD,
  SPDL_RESPONSE_ACTION_NO_MORE, /* what came already is all */
  SPDL_RESPONSE_ACTION_SAME,    /* what is at hand is what the server has */
  SPDL_RESPONSE_ACTION_OTHER,  /* it may not be: to be asked without a condition
                                */
  SPDL_RESPONSE_ACTION_AGAIN,  /* the same question, elsewhere */
  SPDL_RESPONSE_ACTION_MOVED,  /* to be asked elsewhere */
  SPDL_RESPONSE_ACTION_FAILED, /* for good */
  SPDL_RESPONSE_ACTION_LATER,  /* it may be another one next time */
  SPDL_RESPONSE_ACTION_ANEW,   /* it may, if all is asked for */
} SpdlResponseAction;

/* Whether a Range header is needed. */
static inline gboolean
spdl_request_params_is_partial (const SpdlRequestParams *self)
{
  return self->have > 0 || self->range.first > 0 ||
         !spdl_range_is_open (&self->range);
}

/* Says in @headers what is wanted. */
void spdl_request_params_put (
    const SpdlRequestParams *self, SoupMessageHeaders *headers);

/* Keeps what tells, should the body break off, whether the rest belongs to it.
 */
void spdl_request_params_keep (SpdlRequestParams *self,
    const SpdlResponse *response, SoupMessage *message);

/* Whether the answer says that it is of the same version as what came before.
 */
gboolean spdl_request_params_is_same (
    const SpdlRequestParams *self, SoupMessage *message);

void spdl_request_params_clear (SpdlRequestParams *self);

/* Judges status and headers. @error is set where it is not good. */
SpdlResponseAction spdl_response_classify (SpdlResponse *self,
    const SpdlRequestParams *params, SoupMessage *message, GError **error);

G_END_DECLS
