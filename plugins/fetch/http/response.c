/* gst-spdl: classification of HTTP responses
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/response.h"

#include <gst/gst.h>

#include <string.h>

#include "plugins/common/fail.h"

/* Returns the header of the received part that confirms its version, and its
 * value, which is NULL if there is none. A weak ETag does not guarantee equal
 * bytes. */
static const gchar *
get_condition (const SpdlRequestParams *self, const gchar **value)
{
  const gboolean has_tag = self->tag && !g_str_has_prefix (self->tag, "W/");

  *value = has_tag ? self->tag : self->date;
  return has_tag ? "ETag" : "Last-Modified";
}

/* Returns the header that shows that the response is of another version than
 * the received part, or NULL. With the same strong ETag, the bytes are the same
 * whatever the date is, which may differ between servers. */
static const gchar *
find_change (const SpdlRequestParams *self, SoupMessageHeaders *headers)
{
  const gchar *tag = soup_message_headers_get_one (headers, "ETag");
  const gchar *date = soup_message_headers_get_one (headers, "Last-Modified");

  if (tag && self->tag && strcmp (tag, self->tag) != 0)
    return "ETag";
  if (tag && self->tag && !g_str_has_prefix (tag, "W/"))
    return NULL;
  return date && self->date && strcmp (date, self->date) != 0 ? "Last-Modified"
                                                              : NULL;
}

gboolean
spdl_request_params_can_resume (const SpdlRequestParams *self)
{
  const gchar *condition;

  get_condition (self, &condition);
  return condition != NULL;
}

void
spdl_request_params_put (
    const SpdlRequestParams *self, SoupMessageHeaders *headers)
{
  const SpdlRange *range = &self->range;
  const gchar *condition;

  soup_message_headers_append (headers, "Accept-Encoding", "identity");
  if (spdl_request_params_is_partial (self))
    soup_message_headers_set_range (headers, range->first + self->have,
        spdl_range_is_open (range) ? -1 : (goffset) range->last);
  get_condition (self, &condition);
  if (self->have > 0 && condition)
    soup_message_headers_append (headers, "If-Range", condition);
}

void
spdl_request_params_keep (
    SpdlRequestParams *self, const SpdlResponse *response, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gboolean goes_on = self->have > 0 && !response->restart;

  if (!goes_on) {
    spdl_request_params_clear (self);
    self->tag = g_strdup (soup_message_headers_get_one (headers, "ETag"));
    self->date =
        g_strdup (soup_message_headers_get_one (headers, "Last-Modified"));
  }
  self->has_size = response->has_size;
  self->size = response->size;
  if (self->origin)
    spdl_validator_take (self->origin, message, response->has_size, goes_on);
}

gboolean
spdl_request_params_is_same (
    const SpdlRequestParams *self, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gchar *kept;
  const gchar *name = get_condition (self, &kept);

  return kept &&
         g_strcmp0 (kept, soup_message_headers_get_one (headers, name)) == 0 &&
         !find_change (self, headers);
}

void
spdl_request_params_clear (SpdlRequestParams *self)
{
  g_clear_pointer (&self->tag, g_free);
  g_clear_pointer (&self->date, g_free);
}

static gint
code_of_status (guint status)
{
  switch (status) {
    case SOUP_STATUS_UNAUTHORIZED:
    case SOUP_STATUS_FORBIDDEN:
    case SOUP_STATUS_PROXY_UNAUTHORIZED:
      return GST_RESOURCE_ERROR_NOT_AUTHORIZED;
    case SOUP_STATUS_NOT_FOUND:
    case SOUP_STATUS_GONE:
      return GST_RESOURCE_ERROR_NOT_FOUND;
    case SOUP_STATUS_REQUEST_TIMEOUT:
    case 429:
    case SOUP_STATUS_SERVICE_UNAVAILABLE:
      return GST_RESOURCE_ERROR_BUSY;
    default:
      return GST_RESOURCE_ERROR_READ;
  }
}

static SpdlResponseAction
classify_status (guint status, const gchar *phrase, GError **error)
{
  if (!phrase || !g_utf8_validate (phrase, -1, NULL))
    phrase = soup_status_get_phrase (status);
  g_set_error (error, GST_RESOURCE_ERROR, code_of_status (status),
      "The server responded with %u (%s)", status, phrase);
  return spdl_retry_is_status (status) ? SPDL_RESPONSE_ACTION_LATER
                                       : SPDL_RESPONSE_ACTION_FAILED;
}

/* Classifies a response with the whole resource: it was requested, the server
 * does not support ranges, or the resource has changed since its first part was
 * received. */
static SpdlResponseAction
classify_whole (SpdlResponse *self, const SpdlRequestParams *params,
    SoupMessageHeaders *headers, GError **error)
{
  self->restart = params->have > 0;
  self->skip = params->range.first;
  if (soup_message_headers_get_encoding (headers) !=
      SOUP_ENCODING_CONTENT_LENGTH)
    return SPDL_RESPONSE_ACTION_GOOD;
  self->has_size = TRUE;
  return spdl_range_get_size (&params->range,
             soup_message_headers_get_content_length (headers), &self->size,
             error)
             ? SPDL_RESPONSE_ACTION_GOOD
             : SPDL_RESPONSE_ACTION_FAILED;
}

static SpdlResponseAction
classify_part (SpdlResponse *self, const SpdlRequestParams *params,
    SoupMessage *message, GError **error)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const guint64 wanted = params->range.first + params->have;
  const gchar *kept;
  goffset start, end, whole;

  if (!spdl_request_params_is_partial (params) ||
      !soup_message_headers_get_content_range (headers, &start, &end, &whole) ||
      start < 0 || end < start || (guint64) start != wanted) {
    const gchar *range =
        soup_message_headers_get_one (headers, "Content-Range");

    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Server sent the wrong byte range: requested from byte "
        "%" G_GUINT64_FORMAT " on, but Content-Range is \"%s\"",
        wanted, range ? range : "");
    return params->have > 0 ? SPDL_RESPONSE_ACTION_ANEW
                            : SPDL_RESPONSE_ACTION_FAILED;
  }
  /* Servers may ignore If-Range. A rest without the ETag of the beginning may
   * be of any version. */
  if (params->have > 0 && !spdl_request_params_is_same (params, message)) {
    const gchar *changed = find_change (params, headers);

    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        changed ? "Item changed while it was fetched: %s differs"
                : "Item may have changed while it was fetched: the rest came "
                  "without the %s of the beginning",
        changed ? changed : get_condition (params, &kept));
    return SPDL_RESPONSE_ACTION_ANEW;
  }
  self->has_size = TRUE;
  if (!spdl_range_get_size (&params->range,
          whole >= 0 ? (guint64) whole : (guint64) end + 1, &self->size, error))
    return SPDL_RESPONSE_ACTION_FAILED;
  if (params->have == 0 || !params->has_size || self->size == params->size)
    return SPDL_RESPONSE_ACTION_GOOD;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Item changed while it was fetched: its size is %" G_GUINT64_FORMAT
      " bytes, and was %" G_GUINT64_FORMAT,
      self->size, params->size);
  return SPDL_RESPONSE_ACTION_ANEW;
}

/* Classifies a response for an unsatisfiable range, which is valid at the end
 * of the resource. */
static SpdlResponseAction
classify_beyond (const SpdlRequestParams *params, SoupMessageHeaders *headers,
    GError **error)
{
  const gchar *range = soup_message_headers_get_one (headers, "Content-Range");
  guint64 whole;

  if (params->have > 0 && range && g_str_has_prefix (range, "bytes */") &&
      g_ascii_string_to_unsigned (
          range + strlen ("bytes */"), 10, 0, G_MAXINT64, &whole, NULL) &&
      whole == params->range.first + params->have &&
      spdl_range_is_open (&params->range))
    return SPDL_RESPONSE_ACTION_NO_MORE;
  classify_status (SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE, NULL, error);
  return params->have > 0 ? SPDL_RESPONSE_ACTION_ANEW
                          : SPDL_RESPONSE_ACTION_FAILED;
}

static gboolean
is_as_stored (SoupMessageHeaders *headers, GError **error)
{
  const gchar *encoding =
      soup_message_headers_get_list (headers, "Content-Encoding");

  if (!encoding || !*encoding || g_ascii_strcasecmp (encoding, "identity") == 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "Server used Content-Encoding \"%s\", although the request excludes it",
      encoding);
}

SpdlResponseAction
spdl_response_classify (SpdlResponse *self, const SpdlRequestParams *params,
    SoupMessage *message, GError **error)
{
  const guint status = soup_message_get_status (message);
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const SpdlResponse none = { 0 };

  *self = none;
  switch (status) {
    case SOUP_STATUS_OK:
    case SOUP_STATUS_NON_AUTHORITATIVE:
      return is_as_stored (headers, error)
                 ? classify_whole (self, params, headers, error)
                 : SPDL_RESPONSE_ACTION_FAILED;
    case SOUP_STATUS_PARTIAL_CONTENT:
      return is_as_stored (headers, error)
                 ? classify_part (self, params, message, error)
                 : SPDL_RESPONSE_ACTION_FAILED;
    case SOUP_STATUS_NOT_MODIFIED:
      if (params->known && params->have == 0)
        return spdl_validator_is_confirmed (params->known, message)
                   ? SPDL_RESPONSE_ACTION_SAME
                   : SPDL_RESPONSE_ACTION_OTHER;
      return classify_status (status, NULL, error);
    case SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE:
      return classify_beyond (params, headers, error);
    default:
      return classify_status (
          status, soup_message_get_reason_phrase (message), error);
  }
}

/* Retries */

#define FIRST_DELAY (500 * G_TIME_SPAN_MILLISECOND)
#define MAX_DELAY (30 * G_TIME_SPAN_SECOND)

gboolean
spdl_retry_is_status (guint status)
{
  return status == SOUP_STATUS_REQUEST_TIMEOUT || status == 425 ||
         status == 429 || status >= 500;
}

gboolean
spdl_retry_is_error (const GError *error)
{
  /* Errors of certificates and URIs are permanent. A connection that is reset
   * during the handshake counts as one to a peer without TLS. */
  if (error->domain == G_TLS_ERROR)
    return error->code == G_TLS_ERROR_EOF || error->code == G_TLS_ERROR_MISC ||
           error->code == G_TLS_ERROR_NOT_TLS;
  if (error->domain == SOUP_SESSION_ERROR)
    return error->code == SOUP_SESSION_ERROR_PARSING ||
           error->code == SOUP_SESSION_ERROR_ENCODING;
  if (error->domain == G_RESOLVER_ERROR)
    return error->code == G_RESOLVER_ERROR_TEMPORARY_FAILURE;
  if (error->domain == G_IO_ERROR)
    return error->code != G_IO_ERROR_INVALID_ARGUMENT &&
           error->code != G_IO_ERROR_NOT_SUPPORTED &&
           error->code != G_IO_ERROR_PERMISSION_DENIED;
  return FALSE;
}

gint64
spdl_retry_get_delay (guint n)
{
  gint64 delay = FIRST_DELAY;

  for (guint i = 1; i < n && delay < MAX_DELAY; i++)
    delay *= 2;
  return MIN (delay, MAX_DELAY) * g_random_double_range (0.5, 1.0);
}

gint64
spdl_retry_get_asked (SoupMessageHeaders *headers)
{
  const gchar *text = soup_message_headers_get_one (headers, "Retry-After");
  g_autoptr (GDateTime) date = NULL;
  g_autoptr (GDateTime) now = NULL;
  guint64 seconds;

  if (!text)
    return 0;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT32, &seconds, NULL))
    return seconds * G_TIME_SPAN_SECOND;
  date = soup_date_time_new_from_http_string (text);
  if (!date)
    return 0;
  now = g_date_time_new_now_utc ();
  return MAX (g_date_time_difference (date, now), 0);
}
