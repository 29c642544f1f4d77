/* gst-spdl: proxies that the environment names
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/proxy.h"

#include <gst/gst.h>
#include <string.h>

/* Returns the value of a variable, whose name in capital letters is read if
 * there is none in small letters. Empty values are unset ones. */
static const gchar *
get_variable (const gchar *name, const gchar *capitals)
{
  const gchar *value = g_getenv (name);

  /* A server sets HTTP_PROXY from the header "Proxy" of a request to a CGI
   * program. */
  if (!value &&
      !(g_str_equal (name, "http_proxy") && g_getenv ("REQUEST_METHOD")))
    value = g_getenv (capitals);
  return value && *value ? value : NULL;
}

/* Splits the user and the password of an HTTP proxy off its address, into
 * @credentials: from the address "http://host:port" to the value of a header.
 *
 * All versions of libsoup (3.2.3 measured; 3.0.0 to 3.7.1 by their source) take
 * a user in the proxy's address for one of the message's URI when the proxy
 * responds with 407: they replace that URI by the proxy's address, and the
 * front page of the proxy becomes the response (authenticate_auth() of
 * soup-auth-manager.c). */
static gchar *
parse_proxy (const gchar *name, const gchar *text, GHashTable *credentials,
    GError **error)
{
  g_autofree gchar *full = strstr (text, "://")
                               ? g_strdup (text)
                               : g_strconcat ("http://", text, NULL);
  g_autoptr (GUri) uri = g_uri_parse (
      full, G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_PARSE_RELAXED, NULL);
  const gchar *scheme = uri ? g_uri_get_scheme (uri) : "";
  const gchar *user = uri ? g_uri_get_user (uri) : NULL;
  const gchar *password = uri ? g_uri_get_password (uri) : NULL;
  const gboolean http = g_str_equal (scheme, "http");
  const gboolean https = g_str_equal (scheme, "https");
  g_autoptr (GUri) plain = NULL;
  gchar *address;

  if (!uri || !g_uri_get_host (uri) || !*g_uri_get_host (uri) ||
      (!http && !https && !g_str_has_prefix (scheme, "socks"))) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The environment variable %s is not the address of a proxy: write "
        "http://host:port or http://user:password@host:port, with characters "
        "of the password other than letters and digits escaped, such as / as "
        "%%2F",
        name);
    return NULL;
  }
  /* GIO's socks5 leaves names to the proxy. */
  if (g_str_equal (scheme, "socks5h"))
    scheme = "socks5";
  plain = g_uri_build_with_user (G_URI_FLAGS_HAS_PASSWORD, scheme,
      http ? NULL : user, http ? NULL : password, NULL, g_uri_get_host (uri),
      g_uri_get_port (uri) > 0 ? g_uri_get_port (uri)
      : http                   ? 80
      : https                  ? 443
                               : 1080,
      "", NULL, NULL);
  address = g_uri_to_string (plain);
  if (http && user) {
    g_autofree gchar *pair =
        g_strconcat (user, ":", password ? password : "", NULL);
    g_autofree gchar *base64 =
        g_base64_encode ((const guchar *) pair, strlen (pair));

    g_hash_table_replace (
        credentials, g_strdup (address), g_strconcat ("Basic ", base64, NULL));
  }
  return address;
}

/* Adds the user and the password of the proxy that the message is sent to. */
static void
on_starting (SoupMessage *message, gpointer credentials)
{
  static const gchar header[] = "Proxy-Authorization";
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  GSocketAddress *address = soup_message_get_remote_address (message);
  const gchar *value = NULL;

  /* In the tunnel to an HTTPS server, the request is the server's. */
  if (G_IS_PROXY_ADDRESS (address) &&
      (g_str_equal (soup_message_get_method (message), "CONNECT") ||
          g_str_equal (
              g_uri_get_scheme (soup_message_get_uri (message)), "http")))
    value = g_hash_table_lookup (
        credentials, g_proxy_address_get_uri (G_PROXY_ADDRESS (address)));
  if (value)
    soup_message_headers_replace (headers, header, value);
}

static void
on_queued (SoupSession *session, SoupMessage *message, gpointer credentials)
{
  /* After libsoup's own handler, which sets or removes the header. */
  g_signal_connect_after (
      message, "starting", G_CALLBACK (on_starting), credentials);
}

/* Sets the hosts that are requested directly. */
static void
set_direct_hosts (SpdlProxies *self, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, ", ", -1);
  g_autoptr (GPtrArray) hosts = g_ptr_array_new ();

  for (guint i = 0; words[i]; i++)
    if (*words[i])
      g_ptr_array_add (hosts, words[i]);
  if (hosts->len == 1 && g_str_equal (hosts->pdata[0], "*")) {
    g_clear_object (&self->resolver);
    return;
  }
  g_ptr_array_add (hosts, NULL);
  g_simple_proxy_resolver_set_ignore_hosts (
      G_SIMPLE_PROXY_RESOLVER (self->resolver), (gchar **) hosts->pdata);
}

gboolean
spdl_proxies_init (SpdlProxies *self, GError **error)
{
  static const gchar *const names[][3] = {
    { "http_proxy", "HTTP_PROXY", "http" },
    { "https_proxy", "HTTPS_PROXY", "https" },
    { "all_proxy", "ALL_PROXY", NULL },
  };
  const gchar *direct = get_variable ("no_proxy", "NO_PROXY");

  *self = (SpdlProxies){ 0 };
  self->credentials =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->resolver = g_simple_proxy_resolver_new (NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *text = get_variable (names[i][0], names[i][1]);
    g_autofree gchar *proxy = NULL;

    /* GIO's module for libproxy would read these variables by other rules. */
    self->named |= g_getenv (names[i][0]) || g_getenv (names[i][1]);
    if (!text)
      continue;
    proxy = parse_proxy (names[i][0], text, self->credentials, error);
    if (!proxy) {
      spdl_proxies_clear (self);
      return FALSE;
    }
    if (names[i][2])
      g_simple_proxy_resolver_set_uri_proxy (
          G_SIMPLE_PROXY_RESOLVER (self->resolver), names[i][2], proxy);
    else
      g_simple_proxy_resolver_set_default_proxy (
          G_SIMPLE_PROXY_RESOLVER (self->resolver), proxy);
  }
  if (self->named && direct)
    set_direct_hosts (self, direct);
  return TRUE;
}

void
spdl_proxies_clear (SpdlProxies *self)
{
  g_clear_object (&self->resolver);
  g_clear_pointer (&self->credentials, g_hash_table_unref);
}

void
spdl_proxies_apply (const SpdlProxies *self, SoupSession *session)
{
  if (!self->named)
    return;
  soup_session_set_proxy_resolver (session, self->resolver);
  if (!self->resolver || g_hash_table_size (self->credentials) == 0)
    return;
  g_object_set_data_full (G_OBJECT (session), "spdl-proxy-credentials",
      g_hash_table_ref (self->credentials),
      (GDestroyNotify) g_hash_table_unref);
  g_signal_connect (
      session, "request-queued", G_CALLBACK (on_queued), self->credentials);
}

gboolean
spdl_proxy_is_answer_to (SoupMessage *message, GUri *uri)
{
  const GUriHideFlags hide = G_URI_HIDE_USERINFO | G_URI_HIDE_FRAGMENT;
  GUri *answered = soup_message_get_uri (message);
  g_autofree gchar *a = NULL, *b = NULL;

  /* libsoup removes a user from the URI that it has sent. */
  if (answered == uri)
    return TRUE;
  a = g_uri_to_string_partial (answered, hide);
  b = g_uri_to_string_partial (uri, hide);
  return g_str_equal (a, b);
}

const gchar *
spdl_proxy_get_advice (void)
{
  return "the proxy asks for a user and a password: set "
         "http_proxy=http://user:password@host:port (https_proxy for https "
         "URLs)";
}
