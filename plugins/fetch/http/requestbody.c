/* gst-spdl: body of an HTTP response
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/showntext.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/http/request-private.h"

#include "gst/spdl/common/redact.h"
#include "plugins/fetch/http/bodystream.h"
#include "plugins/fetch/http/origin.h"
#include "plugins/fetch/http/response.h"
#include "plugins/fetch/io/proxy.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Maximum number of bytes to keep of the body of an error. */
#define MAX_REFUSAL 4096

/* Maximum number of bytes and of reads of a body in one iteration of the main
 * loop, for fairness to other requests. */
#define MAX_AT_ONCE (256 * 1024)
#define MAX_READS 1024

static void
on_closed (GObject *stream, GAsyncResult *result, gpointer data)
{
  g_input_stream_close_finish (G_INPUT_STREAM (stream), result, NULL);
  spdl_request_end_try (data);
}

void
spdl_request_close_stream (SpdlRequest *self)
{
  g_input_stream_close_async (
      self->stream, G_PRIORITY_DEFAULT, self->cancellable, on_closed, self);
}

/* Body */

/* Returns whether only the connection needs the rest of the body. */
static gboolean
discards (const SpdlRequest *self)
{
  return self->action != SPDL_RESPONSE_ACTION_GOOD;
}

/* Counts @n skipped bytes, before the range or in an unneeded body. Returns
 * whether there are more to skip. */
static gboolean
skip_bytes (SpdlRequest *self, guint64 n)
{
  if (self->object && self->error && self->refusal->len < MAX_REFUSAL)
    g_string_append_len (self->refusal, (const gchar *) self->reading,
        MIN (n, MAX_REFUSAL - self->refusal->len));
  self->to_skip -= MIN (n, self->to_skip);
  return self->to_skip > 0;
}

/* Returns the maximum size of the body; 0: no limit. */
static guint64
get_max_size (const SpdlRequest *self)
{
  return self->max_size > 0 ? self->max_size : self->settings->max_size;
}

/* Returns FALSE with @error set if @size bytes are too many.
 * @is_part: more may follow */
static gboolean
check_size (SpdlRequest *self, guint64 size, gboolean is_part, GError **error)
{
  const guint64 max_size = self->settings->max_size;

  if (self->max_size == 0)
    return is_part ? spdl_check_max_part (size, max_size, error)
                   : spdl_check_max_size (size, max_size, error);
  if (size <= self->max_size)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The response has more than %" G_GUINT64_FORMAT " bytes, the limit",
      self->max_size);
}

/* Commits @n bytes to the body. Returns whether more are needed. */
static gboolean
add_bytes (SpdlRequest *self, gsize n)
{
  const SpdlRange *range = &self->params.range;
  GError *error = NULL;

  spdl_body_add (&self->body, n);
  if (self->body_stream) {
    spdl_body_stream_add (self->body_stream, n);
    self->n_tries = 1; /* from here on, counts the attempts for the rest */
    return TRUE;
  }
  if (!check_size (self, self->body.size, TRUE, &error)) {
    spdl_request_set_end (self, SPDL_REQUEST_END_FAILED, error);
    return FALSE;
  }
  if (spdl_range_is_open (range) ||
      self->body.size <= range->last - range->first)
    return TRUE;
  /* A server without support for ranges would send more. */
  self->body.size = range->last - range->first + 1;
  return FALSE;
}

static void
check_is_whole (SpdlRequest *self)
{
  const SpdlRange *range = &self->params.range;
  GError *error = NULL;
  guint64 size;

  if (self->response.has_size && self->body.size < self->response.size)
    spdl_request_set_broken_end (self, NULL);
  else if (!self->response.has_size &&
           !spdl_range_get_size (
               range, range->first + self->body.size, &size, &error))
    spdl_request_set_end (self, SPDL_REQUEST_END_FAILED, error);
}

/* At the end of a body, closing does not block. */
static void
close_at_end (SpdlRequest *self)
{
  g_input_stream_close (self->stream, self->cancellable, NULL);
  spdl_request_end_try (self);
}

/* Processes @n bytes of a body in chunks, or the end of the connection. Returns
 * the number of bytes of content, 0 at the end of the body, or -1 if there is
 * neither: @more is set if more bytes are needed, else the body has no correct
 * end. */
static gssize
take_chunks (SpdlRequest *self, gssize n, gboolean *more)
{
  g_autoptr (GError) reason = NULL;
  const SpdlChunksResult result =
      n > 0 ? spdl_chunks_take (&self->chunks, self->reading, n, self->stream)
            : SPDL_CHUNKS_INVALID;

  *more = result == SPDL_CHUNKS_FRAMING && self->stop == SPDL_REQUEST_STOP_NOT;
  if (result == SPDL_CHUNKS_INVALID && n > 0 && !discards (self) &&
      self->stop == SPDL_REQUEST_STOP_NOT) {
    reason = g_error_new_literal (
        G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "its chunked encoding is invalid");
    spdl_request_set_broken_end (self, reason);
  }
  return result == SPDL_CHUNKS_CONTENT ? n : result == SPDL_CHUNKS_END ? 0 : -1;
}

/* Processes the result of a read: @n bytes, the end of the body, or @error.
 * Returns whether more are needed; else the stream is closed, and @self may
 * have been freed. */
static gboolean
take_bytes (SpdlRequest *self, gssize n, const GError *error)
{
  gboolean more = FALSE;

  if (n >= 0 && spdl_chunks_is_used (&self->chunks))
    n = take_chunks (self, n, &more);
  if (more)
    return TRUE;
  more = n > 0;
  /* Changing the timer for each read would wake the main loop each time. */
  if (n > 0)
    self->active_at = g_get_monotonic_time ();
  if (self->to_skip > 0 && n > 0)
    more = skip_bytes (self, n) || !discards (self);
  else if (n > 0)
    more = add_bytes (self, n);
  else if (!discards (self) && n < 0 && self->stop == SPDL_REQUEST_STOP_NOT)
    spdl_request_set_broken_end (self, error);
  else if (!discards (self) && n == 0)
    check_is_whole (self);
  if (more && self->stop == SPDL_REQUEST_STOP_NOT)
    return TRUE;
  if (n == 0)
    close_at_end (self);
  else
    spdl_request_close_stream (self);
  return FALSE;
}

static void
on_read (GObject *stream, GAsyncResult *result, gpointer data)
{
  SpdlRequest *self = data;
  g_autoptr (GError) error = NULL;
  const gssize n =
      g_input_stream_read_finish (G_INPUT_STREAM (stream), result, &error);

  if (take_bytes (self, n, error))
    spdl_request_read_more (self);
}

/* Pauses while the stream is full. The timeout is suspended, because the reader
 * causes the delay. */
static void
pause_reading (SpdlRequest *self)
{
  self->phase = SPDL_REQUEST_WAITS_FOR_READER;
  spdl_request_set_timer (self, G_MAXINT64);
}

/* Returns the address for the next bytes. Returns NULL with @error set if
 * memory cannot be allocated, or without an error if the stream is full. */
static guint8 *
reserve_bytes (SpdlRequest *self, gsize *capacity, GError **error)
{
  const guint64 expected = self->response.has_size ? self->response.size : 0;

  if (spdl_chunks_is_used (&self->chunks) &&
      !spdl_chunks_is_in_content (&self->chunks)) {
    *capacity = sizeof self->chunks.framing;
    return self->chunks.framing;
  }
  return self->body_stream
             ? spdl_body_stream_reserve (self->body_stream, capacity)
             : spdl_body_reserve (
                   &self->body, expected, get_max_size (self), capacity, error);
}

/* Returns the address for the next bytes, or NULL if nothing can be read now,
 * because the stream is full or the attempt ends. */
static guint8 *
prepare_buffer (SpdlRequest *self, gsize *capacity)
{
  GError *error = NULL;
  guint8 *data;

  if (self->to_skip > 0) {
    if (!self->unwanted)
      self->unwanted = g_malloc (MAX_UNWANTED);
    data = self->unwanted;
    *capacity = MIN (self->to_skip, MAX_UNWANTED);
  } else if (!(data = reserve_bytes (self, capacity, &error)) && !error) {
    pause_reading (self);
    return NULL;
  } else if (!data) {
    spdl_request_set_end (self, SPDL_REQUEST_END_FAILED, error);
    spdl_request_close_stream (self);
    return NULL;
  }
  if (spdl_chunks_is_used (&self->chunks))
    *capacity = MIN (*capacity, spdl_chunks_get_wanted (&self->chunks));
  self->reading = data;
  return data;
}

/* Reads available data directly: an asynchronous read would take an iteration
 * of the main loop, which also serves other requests. */
void
spdl_request_read_more (SpdlRequest *self)
{
  GInputStream *stream = self->chunks.raw ? self->chunks.raw : self->stream;
  gsize capacity, n_read = 0;
  guint n_reads = 0;
  guint8 *data;

  while ((data = prepare_buffer (self, &capacity))) {
    g_autoptr (GError) error = NULL;
    gssize n = -1;

    if (n_read < MAX_AT_ONCE && n_reads++ < MAX_READS)
      n = g_pollable_input_stream_read_nonblocking (
          G_POLLABLE_INPUT_STREAM (stream), data, capacity, self->cancellable,
          &error);
    if (n < 0 && (!error || g_error_matches (
                                error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))) {
      g_input_stream_read_async (stream, data, capacity, G_PRIORITY_DEFAULT,
          self->cancellable, on_read, self);
      return;
    }
    if (!take_bytes (self, n, error))
      return;
    n_read += n;
  }
}

/* Response */

/* Prepares to read the body of the response. */
static void
begin_body (SpdlRequest *self)
{
  SoupMessageHeaders *headers =
      soup_message_get_response_headers (self->message);

  if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED)
    spdl_chunks_begin (&self->chunks, self->stream);
  spdl_request_set_stall_timer (self);
  spdl_request_read_more (self);
}

static void
log_no_ranges (SpdlRequest *self)
{
  g_autofree gchar *uri = spdl_redact_dup_uri (self->uri);

  SPDL_WARNING ("%s: the server supports no byte ranges: %" G_GUINT64_FORMAT
                " bytes are discarded",
      uri, self->to_skip);
}

static void
take_response (SpdlRequest *self)
{
  if (self->head)
    self->head (self->user_data, self->message);
  if (self->response.restart)
    spdl_body_clear (&self->body);
  self->to_skip = self->response.skip;
  if (self->to_skip > 0)
    log_no_ranges (self);
  spdl_request_params_keep (&self->params, &self->response, self->message);
}

/* Handles a full response to a request for the rest. For a stream, whose
 * beginning is no longer available, the received part is skipped if the
 * resource has not changed. */
static SpdlResponseAction
classify_restart (SpdlRequest *self, GError **error)
{
  const SpdlRequestParams *params = &self->params;
  SpdlResponse *response = &self->response;

  if (!self->body_stream || !response->restart)
    return SPDL_RESPONSE_ACTION_GOOD;
  if (spdl_request_params_is_same (params, self->message) &&
      response->has_size == params->has_size &&
      (!response->has_size || response->size == params->size)) {
    response->restart = FALSE;
    response->skip = params->have;
    return SPDL_RESPONSE_ACTION_GOOD;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Response broke off after %" G_GUINT64_FORMAT
      " bytes and cannot be resumed: the server sends the whole item again, "
      "and does not confirm that it is unchanged",
      (guint64) params->have);
  return SPDL_RESPONSE_ACTION_FAILED;
}

/* Adds a hint to an error of a server that received no credentials. */
static void
explain_refusal (SpdlRequest *self, GError *error)
{
  g_autofree gchar *home = spdl_origin_dup (self->parsed);
  g_autofree gchar *origin =
      spdl_origin_dup (soup_message_get_uri (self->message));
  gchar *text;

  if (!self->redirect.foreign ||
      error->code != GST_RESOURCE_ERROR_NOT_AUTHORIZED ||
      (!self->settings->extra_headers && !g_uri_get_userinfo (self->parsed)))
    return;
  text = g_strdup_printf (
      "%s. %s%s refers to %s, which received no extra-headers and credentials: "
      "to send them there, set trusted-origins=%s",
      error->message, self->foreign ? "A field of an item" : "The server ",
      self->foreign ? "" : home, origin, origin);
  g_free (error->message);
  error->message = text;
}

static SpdlResponseAction
classify_response (SpdlRequest *self, GError **error)
{
  SpdlResponseAction action;

  if (!spdl_proxy_is_answer_to (self->message, self->asked) ||
      soup_message_get_status (self->message) ==
          SOUP_STATUS_PROXY_UNAUTHORIZED) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "The request did not reach the server: %s", spdl_proxy_get_advice ());
    return SPDL_RESPONSE_ACTION_FAILED;
  }
  if (self->object && !self->redirect.foreign &&
      spdl_object_correct_region (self->object, self->message))
    return SPDL_RESPONSE_ACTION_AGAIN;
  if (spdl_redirect_is (self->message))
    return spdl_redirect_follow (&self->redirect, self->parsed, self->message,
               self->settings->trusted_origins, error)
               ? SPDL_RESPONSE_ACTION_MOVED
               : SPDL_RESPONSE_ACTION_FAILED;
  action = spdl_response_classify (
      &self->response, &self->params, self->message, error);
  if (action == SPDL_RESPONSE_ACTION_FAILED)
    explain_refusal (self, *error);
  return action;
}

/* Lets the response slow the requests to its origin, or speed them up. */
static void
adapt_rate (SpdlRequest *self, SpdlResponseAction action)
{
  const guint status = soup_message_get_status (self->message);
  SpdlRateReaction reaction;

  if (status != 429 && status != SOUP_STATUS_SERVICE_UNAVAILABLE) {
    spdl_rate_slot_succeed (&self->slot, self->message);
    /* A stream may wait for its reader, who may wait for another stream. */
    if (self->body_stream)
      spdl_rate_slot_leave (&self->slot);
    return;
  }
  self->asked_delay = MAX (self->asked_delay,
      spdl_rate_get_asked (soup_message_get_response_headers (self->message)));
  if (action != SPDL_RESPONSE_ACTION_LATER ||
      self->asked_delay > SPDL_MAX_ASKED_DELAY)
    return;
  reaction = spdl_rate_limits_reject (
      self->requests->limits, &self->slot, self->message, self->asked_delay);
  self->rejected = reaction != SPDL_RATE_ALONE;
  if (reaction == SPDL_RATE_FOR_FREE)
    self->n_tries--;
}

/* Decides what the response means for this request. */
static SpdlResponseAction
choose_action (SpdlRequest *self, GError **error)
{
  SpdlResponseAction action = classify_response (self, error);

  if (action == SPDL_RESPONSE_ACTION_GOOD)
    action = classify_restart (self, error);
  if (action == SPDL_RESPONSE_ACTION_ANEW && self->body_stream)
    return SPDL_RESPONSE_ACTION_FAILED; /* the data was already delivered */
  if (action == SPDL_RESPONSE_ACTION_GOOD && self->response.has_size &&
      !check_size (self, self->response.size, FALSE, error))
    return SPDL_RESPONSE_ACTION_FAILED;
  return action;
}

/* Returns whether the request ends with a response of that meaning. */
static gboolean
is_final (SpdlResponseAction action)
{
  return action == SPDL_RESPONSE_ACTION_GOOD ||
         action == SPDL_RESPONSE_ACTION_NO_MORE ||
         action == SPDL_RESPONSE_ACTION_SAME ||
         action == SPDL_RESPONSE_ACTION_FAILED;
}

static void
handle_response (SpdlRequest *self)
{
  GError *error = NULL;
  const SpdlResponseAction action = choose_action (self, &error);

  if (self->race)
    self->race->answered (self->race_data,
        soup_message_get_status (self->message), is_final (action));
  if (error)
    self->asked_delay = spdl_retry_get_asked (
        soup_message_get_response_headers (self->message));
  adapt_rate (self, action);
  self->action = action;
  if (action == SPDL_RESPONSE_ACTION_OTHER)
    self->params.known = NULL;
  else if (action == SPDL_RESPONSE_ACTION_ANEW)
    spdl_body_clear (&self->body);
  if (error)
    spdl_request_set_end (self,
        action == SPDL_RESPONSE_ACTION_FAILED ? SPDL_REQUEST_END_FAILED
                                              : SPDL_REQUEST_END_RETRY,
        error);
  if (action == SPDL_RESPONSE_ACTION_GOOD)
    take_response (self);
  else
    self->to_skip = MAX_UNWANTED;
  begin_body (self);
}

void
spdl_request_on_response (GObject *session, GAsyncResult *result, gpointer data)
{
  SpdlRequest *self = data;
  g_autoptr (GError) reason = NULL;

  self->stream = soup_session_send_finish (self->session, result, &reason);
  if (!self->stream) {
    spdl_show_error (reason);
    if (self->stop == SPDL_REQUEST_STOP_NOT)
      spdl_request_set_end (self,
          spdl_retry_is_error (reason) ? SPDL_REQUEST_END_RETRY
                                       : SPDL_REQUEST_END_FAILED,
          g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
              "Request failed: %s", reason->message));
    spdl_request_end_try (self);
  } else if (self->stop != SPDL_REQUEST_STOP_NOT) {
    g_cancellable_cancel (self->cancellable);
    spdl_request_close_stream (self);
  } else {
    handle_response (self);
  }
}
