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

/* State of a chain of redirects. libsoup's own handling sends all request
 * headers to any server, so redirects are handled here: credentials are sent
 * only to the same origin or to trusted ones, and no more after an untrusted
 * origin in the chain. */

typedef struct {
  GUri *uri;        /* next URI to request; NULL: the original one */
  gboolean foreign; /* do not send credentials */
  GPtrArray
      *seen; /* nullable: of gchar: URIs visited so far, without userinfo */
} SpdlRedirect;

/* Resets the state for a new request.
 * @foreign: do not send credentials */
void spdl_redirect_begin (SpdlRedirect *self, gboolean foreign);
void spdl_redirect_clear (SpdlRedirect *self);

/* Returns TRUE if the response of @message is a redirect. */
gboolean spdl_redirect_is (SoupMessage *message);

/* Sets the next URI from the response of @message.
 * @begin: original URI
 * @trusted: (nullable): origins that may receive the credentials
 * Returns FALSE with @error set if the redirect is refused, in the domain
 * GST_RESOURCE_ERROR, or in SPDL_HTTP_ELSEWHERE if the caller must read a URI
 * of a trusted scheme. */
gboolean spdl_redirect_follow (SpdlRedirect *self, GUri *begin,
    SoupMessage *message, const gchar *trusted, GError **error);

G_END_DECLS
