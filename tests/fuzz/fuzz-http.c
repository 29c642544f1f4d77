/* gst-spdl: fuzz target of URIs and HTTP responses
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/fetch/http/response.h"
#include "tests/fuzz/fuzz.h"

/* The status line, through the linker's --wrap, as libsoup has no setter for
 * it. */

static guint status;
static const gchar *reason;

guint __wrap_soup_message_get_status (SoupMessage *message);
const char *__wrap_soup_message_get_reason_phrase (SoupMessage *message);

guint
__wrap_soup_message_get_status (SoupMessage *message)
{
  return status;
}

const char *
__wrap_soup_message_get_reason_phrase (SoupMessage *message)
{
  return reason;
}

static void
take_status (FuzzInput *input)
{
  static const guint all[] = { 200, 203, 206, 416, 408, 429, 503, 404, 401,
    304 };
  const guint8 i = fuzz_take (input);

  status = i < 128 ? all[i % G_N_ELEMENTS (all)] : fuzz_take_16 (input);
}

static SpdlRequestParams
take_question (FuzzInput *input)
{
  const guint8 flags = fuzz_take (input);
  SpdlRequestParams self = { .range = { 0, G_MAXUINT64 } };

  /* Ranges end at G_MAXINT64. */
  if (flags & 1)
    self.range.first = fuzz_take_64 (input) >> 1;
  if (flags & 2)
    self.range.last =
        self.range.first +
        (fuzz_take_64 (input) >> 1) % (G_MAXINT64 - self.range.first + 1);
  if (flags & 4)
    self.have = fuzz_take_64 (input) %
                (MIN (self.range.last, G_MAXINT64) - self.range.first + 1);
  self.has_size = flags >> 3 & 1;
  self.size = self.have + fuzz_take (input);
  return self;
}

/* Decisions that need no response. */
static void
decide (FuzzInput *input)
{
  const GQuark domains[] = { G_TLS_ERROR, SOUP_SESSION_ERROR, G_RESOLVER_ERROR,
    G_IO_ERROR, GST_STREAM_ERROR };
  const guint8 n = fuzz_take (input), code = fuzz_take (input);
  g_autoptr (GError) lost = g_error_new_literal (
      domains[n % G_N_ELEMENTS (domains)], code % 50, "lost");
  const gint64 delay = spdl_retry_get_delay (n);
  g_autoptr (GError) error = NULL;

  spdl_retry_is_error (lost);
  g_assert_cmpint (delay, >, 0);
  g_assert_cmpint (delay, <=, 30 * G_TIME_SPAN_SECOND);
  g_assert_true (spdl_check_max_size (code, n, &error) == !error);
}

static void
split (const gchar *text)
{
  g_autofree gchar *uri = g_strconcat ("s3://", text, NULL);
  g_autofree gchar *path = g_strconcat ("/", text, NULL);
  g_autoptr (GError) error = NULL;
  SpdlRange range;

  g_assert_true (spdl_range_split (path, &range, NULL));
  g_assert_true (spdl_range_is_open (&range) && range.first == 0);
  g_assert_cmpstr (path + 1, ==, text);
  if (!spdl_range_split (uri, &range, &error)) {
    g_assert_nonnull (error);
    return;
  }
  g_assert_null (error);
  g_assert_cmpuint (range.first, <=, range.last);
  g_assert_null (strstr (uri, "#bytes="));
}

static void
judge (SpdlRequestParams *params, SoupMessage *message)
{
  g_autoptr (GError) error = NULL;
  SpdlResponse response;
  const SpdlResponseAction action =
      spdl_response_classify (&response, params, message, &error);

  if (action == SPDL_RESPONSE_ACTION_SAME ||
      action == SPDL_RESPONSE_ACTION_OTHER)
    g_assert_true (params->known && params->have == 0);
  if (action == SPDL_RESPONSE_ACTION_FAILED ||
      action == SPDL_RESPONSE_ACTION_LATER ||
      action == SPDL_RESPONSE_ACTION_ANEW)
    fuzz_check_error (error);
  else
    g_assert_no_error (error);
  if (action != SPDL_RESPONSE_ACTION_GOOD)
    return;
  spdl_request_params_keep (params, &response, message);
  params->have += params->has_size && params->size > params->have;
  spdl_request_params_put (params, soup_message_get_request_headers (message));
}

/* Checks that a validator from a response can be sent, and that the same
 * response confirms it. */
static void
check_validator (const SpdlValidator *validator, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);

  g_assert_true ((validator->kind == SPDL_VALIDATOR_NONE) == !validator->text);
  spdl_validator_put (validator, message);
  g_assert_true (!validator->text || soup_message_headers_get_one (headers,
                                         validator->kind == SPDL_VALIDATOR_TAG
                                             ? "If-None-Match"
                                             : "If-Modified-Since"));
  g_assert_true (
      !validator->text || spdl_validator_is_confirmed (validator, message));
}

/* @head: the status line and headers, as received */
static void
answer (SpdlRequestParams *params, const gchar *head, gsize size)
{
  g_autoptr (SoupMessage) message = soup_message_new ("GET", "http://a/");
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  g_autofree gchar *line = NULL;
  SpdlValidator known = { 0 }, origin = { 0 };

  if (!soup_headers_parse_response (head, size, headers, NULL, NULL, &line))
    return;
  reason = line;
  spdl_request_params_put (params, soup_message_get_request_headers (message));
  g_assert_cmpint (spdl_retry_get_asked (headers), >=, 0);
  spdl_validator_take (&known, message, TRUE, FALSE);
  check_validator (&known, message);
  params->known = params->has_size ? &known : NULL;
  params->origin = &origin;
  judge (params, message);
  judge (params, message);
  spdl_request_params_clear (params);
  spdl_validator_clear (&known);
  spdl_validator_clear (&origin);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  g_autofree gchar *head = NULL;
  SpdlRequestParams params;

  take_status (&input);
  params = take_question (&input);
  decide (&input);
  head = g_strndup ((const gchar *) input.data, input.size);
  split (head);
  answer (&params, head, strlen (head));
  return 0;
}
