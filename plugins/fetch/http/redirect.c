/* gst-spdl: HTTP redirects
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/logline.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/http/origin.h"
#include "plugins/fetch/http/request-private.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Same limit as in libsoup. */
#define MAX_REDIRECTS 20

void
spdl_redirect_begin (SpdlRedirect *self, gboolean foreign)
{
  spdl_redirect_clear (self);
  self->foreign = foreign;
}

void
spdl_redirect_clear (SpdlRedirect *self)
{
  g_clear_pointer (&self->uri, g_uri_unref);
  g_clear_pointer (&self->seen, g_ptr_array_unref);
  g_clear_object (&self->cookies);
}

static const gchar *
get_location (SoupMessage *message)
{
  return soup_message_headers_get_one (
      soup_message_get_response_headers (message), "Location");
}

gboolean
spdl_redirect_is (SoupMessage *message)
{
  switch (soup_message_get_status (message)) {
    case SOUP_STATUS_MULTIPLE_CHOICES:
    case SOUP_STATUS_MOVED_PERMANENTLY:
    case SOUP_STATUS_FOUND:
    case SOUP_STATUS_SEE_OTHER:
    case SOUP_STATUS_TEMPORARY_REDIRECT:
    case SOUP_STATUS_PERMANENT_REDIRECT:
      return get_location (message) != NULL;
    default:
      return FALSE;
  }
}

/* Returns @uri with the userinfo of @begin if it has none. */
static GUri *
add_credentials (GUri *uri, GUri *begin)
{
  if (g_uri_get_userinfo (uri) || !g_uri_get_userinfo (begin))
    return g_uri_ref (uri);
  return g_uri_build_with_user (g_uri_get_flags (uri), g_uri_get_scheme (uri),
      g_uri_get_user (begin), g_uri_get_password (begin), NULL,
      g_uri_get_host (uri), g_uri_get_port (uri), g_uri_get_path (uri),
      g_uri_get_query (uri), g_uri_get_fragment (uri));
}

/* Keeps the cookies of a redirect. Servers set one and redirect to the page
 * that needs it, which may be the same one. Returns whether there were any. */
static gboolean
take_cookies (SpdlRedirect *self, SoupMessage *message)
{
  GSList *cookies = soup_cookies_from_response (message);
  const gboolean any = cookies != NULL;

  if (any && !self->cookies)
    self->cookies = soup_cookie_jar_new ();
  for (GSList *link = cookies; link; link = link->next)
    soup_cookie_jar_add_cookie (self->cookies, link->data);
  g_slist_free (cookies);
  return any;
}

void
spdl_redirect_put (SpdlRedirect *self, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  const gchar *given;
  g_autofree gchar *text = NULL, *all = NULL;

  if (!self->cookies || !(text = soup_cookie_jar_get_cookies (self->cookies,
                              soup_message_get_uri (message), TRUE)))
    return;
  given = soup_message_headers_get_one (headers, "Cookie");
  all = g_strconcat (given ? given : "", given ? "; " : "", text, NULL);
  soup_message_headers_replace (headers, "Cookie", all);
}

static void
see_uri (SpdlRedirect *self, GUri *uri)
{
  if (!self->seen)
    self->seen = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->seen,
      g_uri_to_string_partial (uri, G_URI_HIDE_USERINFO | G_URI_HIDE_FRAGMENT));
}

/* Returns FALSE with @error set if there are too many redirects, or a loop.
 * @differs: the next request has cookies that the one before had not */
static gboolean
check_chain (
    SpdlRedirect *self, GUri *from, GUri *uri, gboolean differs, GError **error)
{
  g_autofree gchar *text =
      g_uri_to_string_partial (uri, G_URI_HIDE_USERINFO | G_URI_HIDE_FRAGMENT);
  g_autofree gchar *origin = spdl_origin_dup (from);
  gboolean again;

  if (!self->seen)
    see_uri (self, from);
  again = !differs && g_ptr_array_find_with_equal_func (
                          self->seen, text, g_str_equal, NULL);
  if (!again && self->seen->len <= MAX_REDIRECTS)
    return TRUE;
  if (again)
    return spdl_fail (error, GST_RESOURCE_ERROR_OPEN_READ,
        "The server %s redirects in a loop", origin);
  return spdl_fail (error, GST_RESOURCE_ERROR_OPEN_READ,
      "The server %s redirects again after %d redirects, the limit", origin,
      MAX_REDIRECTS);
}

/* Returns the next HTTP(S) URI, or NULL with @error set. */
static GUri *
get_next (SoupMessage *message, const gchar *from, const gchar *trusted,
    GError **error)
{
  const gchar *location = get_location (message);
  g_autoptr (GUri) uri = g_uri_parse_relative (
      soup_message_get_uri (message), location, SOUP_HTTP_URI_FLAGS, NULL);
  g_autofree gchar *origin = uri ? spdl_origin_dup (uri) : NULL;

  if (origin && !spdl_origin_is_http (origin)) {
    if (spdl_origin_is_trusted (origin, trusted) ||
        (g_str_equal (origin, "file:") &&
            spdl_origin_trusts (location, trusted)))
      g_set_error_literal (error, SPDL_HTTP_ELSEWHERE, 0, location);
    else
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "The redirect of the server %s to \"%s\" is refused: only http: and "
          "https:, and the schemes in trusted-origins, are allowed",
          from, origin);
    return NULL;
  }
  if (uri && g_uri_get_host (uri) && *g_uri_get_host (uri))
    return g_steal_pointer (&uri);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "The server %s redirects to an invalid URI", from);
  return NULL;
}

gboolean
spdl_redirect_follow (SpdlRedirect *self, GUri *begin, SoupMessage *message,
    const gchar *trusted, GError **error)
{
  GUri *from = soup_message_get_uri (message);
  g_autofree gchar *home = spdl_origin_dup (begin);
  g_autofree gchar *from_origin = spdl_origin_dup (from);
  g_autofree gchar *origin = NULL;
  g_autoptr (GUri) uri = get_next (message, from_origin, trusted, error);

  if (!uri ||
      !check_chain (self, from, uri, take_cookies (self, message), error))
    return FALSE;
  see_uri (self, uri);
  origin = spdl_origin_dup (uri);
  SPDL_DEBUG ("%s redirects to %s", from_origin, origin);
  self->foreign |=
      !g_str_equal (origin, home) && !spdl_origin_is_trusted (origin, trusted);
  g_clear_pointer (&self->uri, g_uri_unref);
  self->uri =
      self->foreign ? g_steal_pointer (&uri) : add_credentials (uri, begin);
  return TRUE;
}
