/* gst-spdl: HTTP redirects
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/fetch/http/httpfuncs.h"

G_BEGIN_DECLS

/* libsoup follows redirects with all headers of the request, to any server. So
 * they are followed here: secrets go on only to the same origin, or to a
 * trusted one, and no longer once another one was on the way. */

typedef struct {
  GUri *uri;        /* where to ask next; NULL: where the request began */
  gboolean foreign; /* an origin to which no secrets are sent */
  GPtrArray *seen;  /* gchar: the URIs so far, without userinfo; nullable */
} SpdlRedirect;

/* Begins anew, for a request that gets secrets, or not if @foreign. */
void spdl_redirect_begin (SpdlRedirect *self, gboolean foreign);
void spdl_redirect_clear (SpdlRedirect *self);

/* Returns TRUE if the response of @message is a redirect. */
gboolean spdl_redirect_is (SoupMessage *message);

/* Notes where the answer of @message leads.
 *
 * @begin: where the request began
 * @trusted: (nullable): the origins that get its secrets, too
 *
 * Returns FALSE with @error set if that is refused: in the domain of
 * GST_RESOURCE_ERROR, or, where a trusted scheme is the caller's to read, in
 * SPDL_HTTP_ELSEWHERE. */
gboolean spdl_redirect_follow (SpdlRedirect *self, GUri *begin,
    SoupMessage *message, const gchar *trusted, GError **error);

G_END_DECLS
