/* gst-spdl: HTTP request with retries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/logline.h"
#include "plugins/fetch/http/request-private.h"

#include <string.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/fetch/http/bodystream.h"
#include "plugins/fetch/http/response.h"
#include "plugins/fetch/io/soup.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

static void begin_try (SpdlRequest *self);
static void send_request (SpdlRequest *self);
static void check_slot (SpdlRequest *self);

static gboolean
add_header (GQuark field, const GValue *value, gpointer data)
{
  const gchar *name = g_quark_to_string (field);
  GValue text = G_VALUE_INIT;

  if (GST_VALUE_HOLDS_ARRAY (value) || GST_VALUE_HOLDS_LIST (value)) {
    const gboolean array = GST_VALUE_HOLDS_ARRAY (value);
    const guint n = array ? gst_value_array_get_size (value)
                          : gst_value_list_get_size (value);

    for (guint i = 0; i < n; i++)
      add_header (field,
          array ? gst_value_array_get_value (value, i)
                : gst_value_list_get_value (value, i),
          data);
    return TRUE;
  }
  g_value_init (&text, G_TYPE_STRING);
  if (g_value_transform (value, &text) && g_value_get_string (&text))
    soup_message_headers_append (data, name, g_value_get_string (&text));
  g_value_unset (&text);
  return TRUE;
}

void
spdl_http_settings_put (
    const SpdlHttpSettings *self, SoupMessageHeaders *headers)
{
  if (self->extra_headers)
    gst_structure_foreach (self->extra_headers, add_header, headers);
}

SpdlRequest *
spdl_request_new (const SpdlHttpSettings *settings, const SpdlHttpFetch *fetch)
{
  SpdlRequest *self = g_new0 (SpdlRequest, 1);

  self->link.data = self;
  self->settings = settings;
  self->uri = g_strdup (fetch->uri);
  self->params.range = fetch->range;
  self->params.known = fetch->known;
  self->params.origin = fetch->origin;
  self->foreign = fetch->foreign;
  self->max_size = fetch->max_size;
  self->deadline = fetch->deadline;
  self->outer = g_object_ref (fetch->cancellable);
  self->func = fetch->func;
  self->user_data = fetch->user_data;
  return self;
}

static void
finish_stream (gpointer user_data, GstBuffer *content, GError *error)
{
  spdl_body_stream_end (user_data, error);
}

SpdlRequest *
spdl_request_new_stream (const SpdlHttpSettings *settings, const gchar *uri,
    GCancellable *cancellable, SpdlBodyStream *body_stream)
{
  const SpdlHttpFetch fetch = { .uri = uri,
    .range = { 0, G_MAXUINT64 },
    .deadline = spdl_http_settings_get_deadline (settings),
    .cancellable = cancellable,
    .func = finish_stream,
    .user_data = body_stream };
  SpdlRequest *self = spdl_request_new (settings, &fetch);

  self->body_stream = body_stream;
  return self;
}

void
spdl_request_set_head (SpdlRequest *self, SpdlHttpHeadFunc head)
{
  self->head = head;
}

void
spdl_request_set_race (
    SpdlRequest *self, const SpdlRequestRace *race, gpointer user_data)
{
  self->race = race;
  self->race_data = user_data;
}

GList *
spdl_request_get_link (SpdlRequest *self)
{
  return &self->link;
}

static void
destroy_source (GSource **source)
{
  if (!*source)
    return;
  g_source_destroy (*source);
  g_source_unref (*source);
  *source = NULL;
}

static void
request_free (SpdlRequest *self)
{
  g_queue_unlink (&self->requests->active, &self->link);
  g_atomic_int_add (&self->requests->n_unfinished, -1);
  spdl_rate_slot_leave (&self->slot);
  g_clear_error (&self->reason);
  destroy_source (&self->timer);
  spdl_redirect_clear (&self->redirect);
  g_clear_pointer (&self->parsed, g_uri_unref);
  g_clear_pointer (&self->object, spdl_object_free);
  if (self->refusal)
    g_string_free (self->refusal, TRUE);
  g_object_unref (self->outer);
  spdl_request_params_clear (&self->params);
  g_free (self->unwanted);
  spdl_body_clear (&self->body);
  g_free (self->uri);
  g_free (self);
}

/* Finishes the fetch with @error (transfer full), with the received content, or
 * with neither if the resource has not changed. */
static void
finish_request (SpdlRequest *self, GError *error)
{
  GstBuffer *content =
      error || self->action == SPDL_RESPONSE_ACTION_SAME || self->body_stream
          ? NULL
          : spdl_body_steal (&self->body);
  SpdlHttpFunc func = self->func;
  gpointer user_data = self->user_data;

  request_free (self);
  func (user_data, content, error);
}

/* Timers */

void
spdl_request_set_timer (SpdlRequest *self, gint64 time)
{
  const gint64 ready = MIN (time, self->deadline);

  g_source_set_ready_time (self->timer, ready == G_MAXINT64 ? -1 : ready);
}

/* Returns when the attempt has stalled, unless more bytes arrive. */
static gint64
get_stall_time (SpdlRequest *self)
{
  const guint timeout = self->settings->timeout;

  return timeout > 0 ? self->active_at + timeout * G_TIME_SPAN_SECOND
                     : G_MAXINT64;
}

void
spdl_request_set_stall_timer (SpdlRequest *self)
{
  self->active_at = g_get_monotonic_time ();
  spdl_request_set_timer (self, get_stall_time (self));
}

static GError *
deadline_error (SpdlRequest *self)
{
  const gdouble limit = self->settings->task_timeout / (gdouble) GST_SECOND;

  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Fetching took longer than task-timeout (%g s): %" G_GSIZE_FORMAT
      " bytes arrived, in %u attempts",
      limit, self->body.size, self->n_tries);
}

static GError *
cancelled_error (void)
{
  return g_error_new_literal (
      G_IO_ERROR, G_IO_ERROR_CANCELLED, "Fetching was cancelled");
}

static gboolean
on_cancel_later (gpointer data)
{
  SpdlRequest *self = data;

  g_cancellable_cancel (self->cancellable);
  return G_SOURCE_REMOVE;
}

/* Cancels the current attempt.
 *
 * libsoup before 3.6.6 frees a request twice if it is cancelled after its
 * response headers have arrived and before libsoup's own callback for them has
 * run (docs/explanation/libsoup-cancellation.md). That callback waits as an
 * idle source of the request's priority. A source of a lower priority runs
 * only when no such callback is waiting, so it can cancel safely. Before the
 * headers arrive, and once this file reads the body, no such callback can be
 * waiting. */
static void
cancel_try (SpdlRequest *self)
{
  if (self->stream || soup_message_get_status (self->message) == 0) {
    g_cancellable_cancel (self->cancellable);
  } else if (!self->cancel_later) {
    self->cancel_later = g_idle_source_new ();
    g_source_set_callback (self->cancel_later, on_cancel_later, self, NULL);
    g_source_attach (self->cancel_later, g_main_context_get_thread_default ());
  }
}

/* Stops the current attempt, or the wait for the next one. */
static void
stop_request (SpdlRequest *self, SpdlRequestStop why)
{
  if (self->phase == SPDL_REQUEST_WAITS_FOR_CREDENTIALS)
    spdl_object_stop_waiting (self->object, self);
  if (self->phase == SPDL_REQUEST_WAITS_FOR_RETRY ||
      self->phase == SPDL_REQUEST_WAITS_FOR_SLOT ||
      self->phase == SPDL_REQUEST_WAITS_FOR_CREDENTIALS) {
    finish_request (self, why == SPDL_REQUEST_STOP_CANCELLED
                              ? cancelled_error ()
                          : self->reason ? g_steal_pointer (&self->reason)
                                         : deadline_error (self));
    return;
  }
  /* An attempt that has stalled may not have ended yet. The client cancels only
   * once, so the request must not be repeated. */
  if (self->stop == SPDL_REQUEST_STOP_NOT || why == SPDL_REQUEST_STOP_CANCELLED)
    self->stop = why;
  g_source_set_ready_time (self->timer, -1);
  if (self->phase == SPDL_REQUEST_ACTIVE) {
    cancel_try (self);
    return;
  }
  self->phase = SPDL_REQUEST_ACTIVE;
  spdl_request_close_stream (self);
}

static gboolean
on_timer (gpointer data)
{
  SpdlRequest *self = data;
  const gint64 now = g_get_monotonic_time ();

  if (now >= self->deadline)
    stop_request (self, SPDL_REQUEST_STOP_DEADLINE);
  else if (self->phase == SPDL_REQUEST_WAITS_FOR_SLOT)
    check_slot (self);
  else if (self->phase == SPDL_REQUEST_WAITS_FOR_RETRY)
    begin_try (self);
  else if (now < get_stall_time (self))
    spdl_request_set_timer (self, get_stall_time (self));
  else
    stop_request (self, SPDL_REQUEST_STOP_STALLED);
  return G_SOURCE_CONTINUE;
}

void
spdl_request_cancel (SpdlRequest *self)
{
  stop_request (self, SPDL_REQUEST_STOP_CANCELLED);
}

void
spdl_request_check_cancelled (SpdlRequest *self)
{
  if (g_cancellable_is_cancelled (self->outer))
    spdl_request_cancel (self);
}

void
spdl_request_check_stream (SpdlRequest *self)
{
  if (!self->body_stream)
    return;
  if (spdl_body_stream_is_closed (self->body_stream)) {
    spdl_request_cancel (self);
  } else if (self->phase == SPDL_REQUEST_WAITS_FOR_READER) {
    self->phase = SPDL_REQUEST_ACTIVE;
    spdl_request_set_stall_timer (self);
    spdl_request_read_more (self);
  }
}

static gboolean
dispatch_timer (GSource *source, GSourceFunc callback, gpointer data)
{
  g_source_set_ready_time (source, -1);
  return callback (data);
}

static void
make_timer (SpdlRequest *self)
{
  static GSourceFuncs timer_funcs = { NULL, NULL, dispatch_timer, NULL };

  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_attach (self->timer, g_main_context_get_thread_default ());
}

/* End of an attempt */

void
spdl_request_set_end (SpdlRequest *self, SpdlRequestEnd end, GError *error)
{
  if (self->error) {
    g_error_free (error);
    return;
  }
  self->end = end;
  self->error = error;
}

void
spdl_request_set_broken_end (SpdlRequest *self, const GError *reason)
{
  g_autofree gchar *size =
      self->response.has_size
          ? g_strdup_printf (" of %" G_GUINT64_FORMAT, self->response.size)
          : g_strdup ("");

  spdl_request_set_end (self,
      !reason || spdl_retry_is_error (reason) ? SPDL_REQUEST_END_RETRY
                                              : SPDL_REQUEST_END_FAILED,
      g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Response broke off after %" G_GSIZE_FORMAT "%s bytes%s%s",
          self->body.size, size, reason ? ": " : "",
          reason ? reason->message : ""));
}

static void
set_stopped_end (SpdlRequest *self)
{
  g_clear_error (&self->error);
  switch (self->stop) {
    case SPDL_REQUEST_STOP_CANCELLED:
      spdl_request_set_end (self, SPDL_REQUEST_END_FAILED, cancelled_error ());
      break;
    case SPDL_REQUEST_STOP_DEADLINE:
      spdl_request_set_end (
          self, SPDL_REQUEST_END_FAILED, deadline_error (self));
      break;
    default:
      spdl_request_set_end (self, SPDL_REQUEST_END_RETRY,
          g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
              "No data arrived for %u s (timeout), after %" G_GSIZE_FORMAT
              " bytes",
              self->settings->timeout, self->body.size));
      break;
  }
}

/* Returns the time of the next attempt; -1: do not retry. */
static gint64
get_next_try (SpdlRequest *self)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 delay =
      MAX (spdl_retry_get_delay (self->n_tries), self->asked_delay);

  if (self->end != SPDL_REQUEST_END_RETRY ||
      self->n_tries > self->settings->retries ||
      (self->race && !self->race->may_retry (self->race_data)) ||
      self->asked_delay > SPDL_MAX_ASKED_DELAY || delay >= self->deadline - now)
    return -1;
  return now + delay;
}

/* Prefixes the error with the limit that the requested delay exceeds. */
static void
prefix_delay (SpdlRequest *self)
{
  const gint64 delay = self->asked_delay / G_TIME_SPAN_SECOND;

  if (self->asked_delay > SPDL_MAX_ASKED_DELAY)
    g_prefix_error (&self->error,
        "Server asked to retry after %" G_GINT64_FORMAT
        " s, more than the limit of %" G_GINT64_FORMAT " s: ",
        delay, SPDL_MAX_ASKED_DELAY / G_TIME_SPAN_SECOND);
  else
    g_prefix_error (&self->error,
        "Server asked to retry after %" G_GINT64_FORMAT
        " s, later than task-timeout allows: ",
        delay);
}

static GError *
take_last_error (SpdlRequest *self)
{
  if (self->error->domain == SPDL_HTTP_ELSEWHERE)
    return g_steal_pointer (&self->error);
  if (self->end == SPDL_REQUEST_END_RETRY && self->asked_delay > 0 &&
      self->n_tries <= self->settings->retries)
    prefix_delay (self);
  else if (self->n_tries > 1)
    g_prefix_error (&self->error, "After %u attempts: ", self->n_tries);
  return g_steal_pointer (&self->error);
}

static void
log_failure (SpdlRequest *self)
{
  g_autofree gchar *uri = spdl_redact_dup_uri (self->uri);

  SPDL_INFO ("%s: %s; retrying", uri, self->error->message);
}

/* Adds the object store's error code to the error, or schedules an immediate
 * retry if it may succeed. */
static void
take_refusal (SpdlRequest *self)
{
  g_autofree gchar *code = spdl_object_parse_code (
      self->message, self->refusal->str, self->refusal->len);
  const gchar *advice;
  gchar *text;

  if (spdl_object_correct (self->object, self->message, code,
          self->refusal->str, self->refusal->len)) {
    g_clear_error (&self->error);
    self->action = SPDL_RESPONSE_ACTION_AGAIN;
    return;
  }
  if (spdl_object_is_temporary (code))
    self->end = SPDL_REQUEST_END_RETRY;
  advice = spdl_object_get_advice (self->object, self->message, code);
  text = g_strconcat (self->error->message, code ? ": " : "", code ? code : "",
      advice ? ": " : "", advice, NULL);
  g_free (self->error->message);
  self->error->message = text;
}

void
spdl_request_end_try (SpdlRequest *self)
{
  gint64 next;

  /* A known error takes precedence over a stall while reading the rest. */
  if (self->stop != SPDL_REQUEST_STOP_NOT &&
      !(self->error && self->stop == SPDL_REQUEST_STOP_STALLED))
    set_stopped_end (self);
  else if (self->object && self->error && self->message &&
           self->error->domain != SPDL_HTTP_ELSEWHERE &&
           !self->redirect.foreign)
    take_refusal (self);
  spdl_rate_slot_leave (&self->slot);
  destroy_source (&self->cancel_later);
  g_clear_object (&self->stream);
  if (self->message)
    g_signal_handlers_disconnect_by_data (self->message, self);
  g_clear_object (&self->message);
  g_clear_pointer (&self->asked, g_uri_unref);
  g_clear_object (&self->cancellable);
  if (!self->error) {
    switch (self->action) {
      case SPDL_RESPONSE_ACTION_MOVED:
        send_request (self);
        break;
      case SPDL_RESPONSE_ACTION_OTHER:
      case SPDL_RESPONSE_ACTION_AGAIN:
        self->n_tries--;
        begin_try (self);
        break;
      default:
        finish_request (self, NULL);
        break;
    }
    return;
  }
  next = get_next_try (self);
  if (next < 0) {
    finish_request (self, take_last_error (self));
    return;
  }
  log_failure (self);
  g_clear_error (&self->reason);
  self->reason = g_steal_pointer (&self->error);
  if (self->rejected) {
    begin_try (self);
    return;
  }
  self->phase = SPDL_REQUEST_WAITS_FOR_RETRY;
  spdl_request_set_timer (self, next);
}

/* Ends an attempt whose server sends responses 1xx without end.
 *
 * Cancelling is safe here with every version of libsoup: before the dispatch
 * that calls this ends, libsoup looks at the cancellable, even if the actual
 * response has arrived with this one, so no callback without an error can be
 * waiting (see cancel_try()). */
static void
on_informational (SoupMessage *message, gpointer data)
{
  SpdlRequest *self = data;

  if (++self->n_informational != SPDL_MAX_INFORMATIONAL)
    return;
  spdl_request_set_end (self, SPDL_REQUEST_END_RETRY,
      g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
          "The server sent %d informational responses (last: %u) instead of "
          "the actual one",
          SPDL_MAX_INFORMATIONAL, soup_message_get_status (message)));
  g_cancellable_cancel (self->cancellable);
}

static GUri *
get_uri (SpdlRequest *self)
{
  return self->redirect.uri ? self->redirect.uri : self->parsed;
}

/* Sends the request to the current URI of the attempt. */
static void
send_now (SpdlRequest *self)
{
  GUri *uri = get_uri (self);
  SoupMessageHeaders *headers;

  g_clear_error (&self->reason);
  self->rejected = FALSE;
  self->stop = SPDL_REQUEST_STOP_NOT;
  self->asked_delay = 0;
  self->n_informational = 0;
  self->chunks.raw = NULL;
  self->to_skip = 0;
  self->action = SPDL_RESPONSE_ACTION_GOOD;
  /* Without an ETag or a date, nothing would show that the rest is of the same
   * version. A stream cannot take back what it has delivered. */
  if (!self->body_stream && !spdl_request_params_can_resume (&self->params))
    spdl_body_clear (&self->body);
  self->params.have = self->body.size;
  self->cancellable = g_cancellable_new ();
  /* SOUP_METHOD_GET reads a variable that another thread may be writing. */
  self->message = soup_message_new_from_uri ("GET", uri);
  self->asked = g_uri_ref (soup_message_get_uri (self->message));
  g_signal_connect (
      self->message, "got-informational", G_CALLBACK (on_informational), self);
  soup_message_add_flags (self->message, SOUP_MESSAGE_NO_REDIRECT);
  if (self->object)
    soup_message_add_flags (self->message, SOUP_MESSAGE_DO_NOT_USE_AUTH_CACHE);
  headers = soup_message_get_request_headers (self->message);
  spdl_request_params_put (&self->params, headers);
  if (self->redirect.foreign)
    soup_message_add_flags (self->message, SOUP_MESSAGE_DO_NOT_USE_AUTH_CACHE);
  else
    spdl_http_settings_put (self->settings, headers);
  spdl_redirect_put (&self->redirect, self->message);
  if (self->object && !self->redirect.foreign)
    spdl_object_sign (self->object, self->message);
  if (self->params.known && self->params.have == 0)
    spdl_validator_put (self->params.known, self->message);
  spdl_http1_require (self->message);
  spdl_request_set_stall_timer (self);
  soup_session_send_async (self->session, self->message, SPDL_SOUP_PRIORITY,
      self->cancellable, spdl_request_on_response, self);
}

static void
check_slot (SpdlRequest *self)
{
  if (!spdl_rate_slot_may_go (&self->slot))
    return;
  self->phase = SPDL_REQUEST_ACTIVE;
  send_now (self);
}

/* Same, once the limit of the origin permits it. */
static void
send_request (SpdlRequest *self)
{
  if (spdl_rate_limits_enter (self->requests->limits, &self->slot,
          get_uri (self), self->timer, self->deadline, self->rejected))
    send_now (self);
  else
    self->phase = SPDL_REQUEST_WAITS_FOR_SLOT;
}

static void prepare_object (SpdlRequest *self);

static void
on_credentials (gpointer data)
{
  SpdlRequest *self = data;

  self->phase = SPDL_REQUEST_ACTIVE;
  prepare_object (self);
}

/* Sends the request once credentials to sign it are available. */
static void
prepare_object (SpdlRequest *self)
{
  GError *error = NULL;

  switch (spdl_object_prepare (self->object, on_credentials, self, &error)) {
    case SPDL_OBJECT_READY:
      g_clear_pointer (&self->parsed, g_uri_unref);
      self->parsed = spdl_object_get_http_uri (self->object);
      g_string_truncate (self->refusal, 0);
      send_request (self);
      break;
    case SPDL_OBJECT_WAITS:
      self->phase = SPDL_REQUEST_WAITS_FOR_CREDENTIALS;
      spdl_request_set_timer (self, G_MAXINT64);
      break;
    default:
      /* Credentials may become available later. */
      spdl_request_set_end (self,
          error->code == GST_RESOURCE_ERROR_SETTINGS ||
                  error->code == GST_RESOURCE_ERROR_NOT_AUTHORIZED
              ? SPDL_REQUEST_END_FAILED
              : SPDL_REQUEST_END_RETRY,
          error);
      spdl_request_end_try (self);
      break;
  }
}

static void
begin_try (SpdlRequest *self)
{
  self->phase = SPDL_REQUEST_ACTIVE;
  self->n_tries++;
  spdl_redirect_begin (&self->redirect, self->foreign);
  if (self->object)
    prepare_object (self);
  else
    send_request (self);
}

/* GLib's message could contain a part of the password. */
static GError *
invalid_error (SpdlRequest *self, const GError *reason)
{
  g_autofree gchar *uri = spdl_redact_dup_uri (self->uri);

  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "\"%s\" is not a valid URI: %s", uri,
      !reason ? "the URI has no host"
      : strstr (self->uri, "@")
          ? "escape characters of a password other than letters and digits, "
            "such as / as %2F"
          : reason->message);
}

/* Returns NULL if the URI is valid. */
static GError *
parse_uri (SpdlRequest *self, SpdlStore *store)
{
  g_autoptr (GError) reason = NULL;
  GError *error = NULL;

  if (spdl_store_is_uri (self->uri)) {
    self->object = spdl_object_new (store, self->uri, self->foreign, &error);
    self->refusal = g_string_new (NULL);
    return error;
  }
  self->parsed = g_uri_parse (self->uri, SOUP_HTTP_URI_FLAGS, &reason);
  return self->parsed && g_uri_get_host (self->parsed) &&
                 *g_uri_get_host (self->parsed)
             ? NULL
             : invalid_error (self, reason);
}

void
spdl_request_begin (SpdlRequest *self, SoupSession *session, SpdlStore *store,
    SpdlRequests *requests)
{
  GError *error = parse_uri (self, store);

  self->session = session;
  self->requests = requests;
  g_queue_push_tail_link (&requests->active, &self->link);
  if (error) {
    finish_request (self, error);
    return;
  }
  if (g_cancellable_is_cancelled (self->outer)) {
    finish_request (self, cancelled_error ());
    return;
  }
  make_timer (self);
  if (self->race)
    self->race->begun (self->race_data);
  begin_try (self);
}
