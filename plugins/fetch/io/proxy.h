/* gst-spdl: proxies that the environment names
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Proxies of http_proxy, https_proxy, all_proxy and no_proxy, as curl and
 * Python's requests read them. */
typedef struct {
  gboolean named;           /* else GIO chooses the proxy */
  GProxyResolver *resolver; /* nullable: NULL: no proxies */
  /* Address "http://host:port" to value of Proxy-Authorization. */
  GHashTable *credentials; /* nullable */
} SpdlProxies;

/* Reads the environment. Returns FALSE with @error set, in the domain of
 * GST_RESOURCE_ERROR, if a variable is not the address of a proxy. */
gboolean spdl_proxies_init (SpdlProxies *self, GError **error);
void spdl_proxies_clear (SpdlProxies *self);

/* Makes @session use them. */
void spdl_proxies_apply (const SpdlProxies *self, SoupSession *session);

/* Returns whether the response of @message is to the request for @uri, its URI
 * before it was sent. */
gboolean spdl_proxy_is_answer_to (SoupMessage *message, GUri *uri);

/* Returns what to do about a proxy that asks for authentication. */
const gchar *spdl_proxy_get_advice (void);

G_END_DECLS
