/* gst-spdl: what a server's answer means for a fetch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/answer.h"

#include <gst/gst.h>

#include <string.h>

#include "plugins/fetch/http/retry.h"

void
spdl_question_put (const SpdlQuestion *self, SoupMessageHeaders *headers)
{
  const SpdlRange *range = &self->range;

  soup_message_headers_append (headers, "Accept-Encoding", "identity");
  if (spdl_question_is_partial (self))
    soup_message_headers_set_range (headers, range->first + self->have,
        spdl_range_is_open (range) ? -1 : (goffset) range->last);
  if (self->have > 0 && self->validator)
    soup_message_headers_append (headers, "If-Range", self->validator);
}

static const gchar *
find_validator (SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gchar *validator = soup_message_headers_get_one (headers, "ETag");

  if (!validator || g_str_has_prefix (validator, "W/"))
    validator = soup_message_headers_get_one (headers, "Last-Modified");
  return validator;
}

void
spdl_question_keep (
    SpdlQuestion *self, const SpdlAnswer *answer, SoupMessage *message)
{
  g_free (self->validator);
  self->validator = g_strdup (find_validator (message));
  self->has_size = answer->has_size;
  self->size = answer->size;
  if (self->origin)
    spdl_validator_take (self->origin, message, answer->has_size,
        self->have > 0 && !answer->restart);
}

gboolean
spdl_question_is_same (const SpdlQuestion *self, SoupMessage *message)
{
  return self->validator &&
         g_strcmp0 (self->validator, find_validator (message)) == 0;
}

void
spdl_question_clear (SpdlQuestion *self)
{
  g_clear_pointer (&self->validator, g_free);
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

static SpdlVerdict
judge_status (guint status, const gchar *phrase, GError **error)
{
  if (!phrase || !g_utf8_validate (phrase, -1, NULL))
    phrase = soup_status_get_phrase (status);
  g_set_error (error, GST_RESOURCE_ERROR, code_of_status (status),
      "The server answered %u (%s)", status, phrase);
  return spdl_retry_is_status (status) ? SPDL_VERDICT_LATER
                                       : SPDL_VERDICT_FAILED;
}

/* The whole resource: because it was asked for, because the server knows no
 * ranges, or because it changed since its first part came. */
static SpdlVerdict
judge_whole (SpdlAnswer *self, const SpdlQuestion *question,
    SoupMessageHeaders *headers, GError **error)
{
  self->restart = question->have > 0;
  self->skip = question->range.first;
  if (soup_message_headers_get_encoding (headers) !=
      SOUP_ENCODING_CONTENT_LENGTH)
    return SPDL_VERDICT_GOOD;
  self->has_size = TRUE;
  return spdl_range_get_size (&question->range,
             soup_message_headers_get_content_length (headers), &self->size,
             error)
             ? SPDL_VERDICT_GOOD
             : SPDL_VERDICT_FAILED;
}

/* The rest of another version, though If-Range asked for that of ours. */
static gboolean
has_other_tag (const SpdlQuestion *question, SoupMessageHeaders *headers)
{
  const gchar *tag = soup_message_headers_get_one (headers, "ETag");

  return question->have > 0 && tag && question->validator &&
         *question->validator == '"' && strcmp (tag, question->validator) != 0;
}

static SpdlVerdict
judge_part (SpdlAnswer *self, const SpdlQuestion *question,
    SoupMessageHeaders *headers, GError **error)
{
  const guint64 wanted = question->range.first + question->have;
  goffset start, end, whole;

  if (!spdl_question_is_partial (question) ||
      !soup_message_headers_get_content_range (headers, &start, &end, &whole) ||
      start < 0 || end < start || (guint64) start != wanted) {
    const gchar *range =
        soup_message_headers_get_one (headers, "Content-Range");

    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The server sent another part than was asked for: bytes from "
        "%" G_GUINT64_FORMAT " on were, Content-Range is \"%s\"",
        wanted, range ? range : "");
    return question->have > 0 ? SPDL_VERDICT_ANEW : SPDL_VERDICT_FAILED;
  }
  if (has_other_tag (question, headers)) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "It changed while it was fetched: it has another ETag");
    return SPDL_VERDICT_ANEW;
  }
  self->has_size = TRUE;
  if (!spdl_range_get_size (&question->range,
          whole >= 0 ? (guint64) whole : (guint64) end + 1, &self->size, error))
    return SPDL_VERDICT_FAILED;
  if (question->have == 0 || !question->has_size ||
      self->size == question->size)
    return SPDL_VERDICT_GOOD;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "It changed while it was fetched: it has %" G_GUINT64_FORMAT
      " bytes and had %" G_GUINT64_FORMAT,
      self->size, question->size);
  return SPDL_VERDICT_ANEW;
}

/* There is nothing at the place that was asked for: good if that is the end. */
static SpdlVerdict
judge_beyond (
    const SpdlQuestion *question, SoupMessageHeaders *headers, GError **error)
{
  const gchar *range = soup_message_headers_get_one (headers, "Content-Range");
  guint64 whole;

  if (question->have > 0 && range && g_str_has_prefix (range, "bytes */") &&
      g_ascii_string_to_unsigned (
          range + strlen ("bytes */"), 10, 0, G_MAXINT64, &whole, NULL) &&
      whole == question->range.first + question->have &&
      spdl_range_is_open (&question->range))
    return SPDL_VERDICT_NO_MORE;
  judge_status (SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE, NULL, error);
  return question->have > 0 ? SPDL_VERDICT_ANEW : SPDL_VERDICT_FAILED;
}

static gboolean
is_as_stored (SoupMessageHeaders *headers, GError **error)
{
  const gchar *encoding =
      soup_message_headers_get_list (headers, "Content-Encoding");

  if (!encoding || !*encoding || g_ascii_strcasecmp (encoding, "identity") == 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "The server sent it with Content-Encoding \"%s\", though it was asked "
      "for as it is stored",
      encoding);
  return FALSE;
}

SpdlVerdict
spdl_answer_judge (SpdlAnswer *self, const SpdlQuestion *question,
    SoupMessage *message, GError **error)
{
  const guint status = soup_message_get_status (message);
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const SpdlAnswer none = { 0 };

  *self = none;
  switch (status) {
    case SOUP_STATUS_OK:
    case SOUP_STATUS_NON_AUTHORITATIVE:
      return is_as_stored (headers, error)
                 ? judge_whole (self, question, headers, error)
                 : SPDL_VERDICT_FAILED;
    case SOUP_STATUS_PARTIAL_CONTENT:
      return is_as_stored (headers, error)
                 ? judge_part (self, question, headers, error)
                 : SPDL_VERDICT_FAILED;
    case SOUP_STATUS_NOT_MODIFIED:
      if (question->known && question->have == 0)
        return spdl_validator_is_confirmed (question->known, message)
                   ? SPDL_VERDICT_SAME
                   : SPDL_VERDICT_OTHER;
      return judge_status (status, NULL, error);
    case SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE:
      return judge_beyond (question, headers, error);
    default:
      return judge_status (
          status, soup_message_get_reason_phrase (message), error);
  }
}
