/* gst-spdl: validators of HTTP resources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/validator.h"

#include <string.h>

/* Minimum age of Last-Modified relative to Date. The resource may change again
 * within the same second without a change of its date. */
#define MIN_AGE (2 * G_TIME_SPAN_SECOND)

static void
get_place (SoupMessage *message, guint8 *place)
{
  g_autofree gchar *uri = g_uri_to_string_partial (
      soup_message_get_uri (message), G_URI_HIDE_USERINFO);

  spdl_digest (uri, place);
}

static gboolean
is_at (const SpdlValidator *self, SoupMessage *message)
{
  guint8 place[SPDL_DIGEST_SIZE];

  get_place (message, place);
  return memcmp (place, self->place, sizeof place) == 0;
}

/* Returns whether the ETag is strong. Weak ones do not guarantee identical
 * bytes. */
static gboolean
is_strong_tag (const gchar *text)
{
  const gsize n = text ? strlen (text) : 0;

  return n >= 2 && text[0] == '"' && strchr (text + 1, '"') == text + n - 1;
}

static gboolean
is_old_date (const gchar *text, SoupMessageHeaders *headers)
{
  const gchar *now_text = soup_message_headers_get_one (headers, "Date");
  g_autoptr (GDateTime) date = NULL;
  g_autoptr (GDateTime) now = NULL;

  if (!text || !now_text)
    return FALSE;
  date = soup_date_time_new_from_http_string (text);
  now = soup_date_time_new_from_http_string (now_text);
  return date && now && g_date_time_difference (now, date) >= MIN_AGE;
}

static gboolean
is_forbidden (SoupMessageHeaders *headers)
{
  const gchar *control =
      soup_message_headers_get_list (headers, "Cache-Control");

  return control && soup_header_contains (control, "no-store");
}

void
spdl_validator_take (SpdlValidator *self, SoupMessage *message,
    gboolean has_size, gboolean goes_on)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gchar *tag = soup_message_headers_get_one (headers, "ETag");
  const gchar *date = soup_message_headers_get_one (headers, "Last-Modified");
  const gboolean was_keepable = self->keepable;
  g_autofree gchar *before = g_steal_pointer (&self->text);

  self->kind = SPDL_VALIDATOR_NONE;
  if (is_strong_tag (tag)) {
    self->kind = SPDL_VALIDATOR_TAG;
    self->text = g_strdup (tag);
  } else if (is_old_date (date, headers)) {
    self->kind = SPDL_VALIDATOR_DATE;
    self->text = g_strdup (date);
  }
  self->keepable =
      has_size && !is_forbidden (headers) &&
      (!goes_on || (was_keepable && is_at (self, message) && before &&
                       g_strcmp0 (before, self->text) == 0));
  get_place (message, self->place);
}

void
spdl_validator_put (const SpdlValidator *self, SoupMessage *message)
{
  static const gchar *const names[] = { [SPDL_VALIDATOR_TAG] = "If-None-Match",
    [SPDL_VALIDATOR_DATE] = "If-Modified-Since" };
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);

  if (self->kind == SPDL_VALIDATOR_NONE)
    return;
  if (is_at (self, message))
    soup_message_headers_replace (headers, names[self->kind], self->text);
  else
    soup_message_headers_remove (headers, names[self->kind]);
}

gboolean
spdl_validator_is_confirmed (const SpdlValidator *self, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gchar *said = soup_message_headers_get_one (
      headers, self->kind == SPDL_VALIDATOR_TAG ? "ETag" : "Last-Modified");

  return self->kind != SPDL_VALIDATOR_NONE && is_at (self, message) &&
         (!said || strcmp (said, self->text) == 0);
}
