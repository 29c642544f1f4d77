/* gst-spdl: one fetch over HTTP, with all its tries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlrequest.h"

#include "spdlanswer.h"
#include "spdlbody.h"
#include "spdlretry.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Who asks to be left alone for longer is not waited for. */
#define MAX_ASKED_DELAY (5 * G_TIME_SPAN_MINUTE)
/* What is read of an answer that nobody wants, so that its connection can be
 * used again. */
#define MAX_UNWANTED (64 * 1024)

typedef enum {
  STOP_NOT,
  STOP_CANCELLED,
  STOP_DEADLINE, /* of the whole fetch */
  STOP_STALLED,  /* nothing came for too long */
} Stop;

typedef enum {
  END_GOOD,
  END_FAILED,
  END_RETRY,
} End;

struct _SpdlRequest {
  GList link;
  const SpdlHttpSettings *settings;
  SoupSession *session;
  gchar *uri;
  GUri *parsed;
  SpdlHttpHeadFunc head; /* nullable */
  SpdlHttpFunc func;
  gpointer user_data;
  GCancellable *outer; /* the caller's */
  GQueue *active;      /* that it is in; NULL before it begins */
  GSource *timer;
  gint64 deadline; /* G_MAXINT64: none */
  guint n_tries;
  gboolean waiting; /* for the next try */

  /* What came, over all tries. */
  SpdlQuestion question;
  SpdlBody body;
  SpdlAnswer answer;

  /* Of this try. */
  SoupMessage *message;
  GInputStream *stream;
  GCancellable *cancellable;
  Stop stop;
  guint8 *reading;  /* where bytes are read to */
  guint8 *unwanted; /* where bytes go that are read over; nullable */
  guint64 to_skip;
  gboolean discard; /* the rest of the answer, when all that is skipped */
  gboolean same;    /* the server has what the caller has */
  gboolean at_once; /* the next try is another question, no repetition */
  gint64 asked_delay;
  End end;
  GError *error;
};

static void begin_try (SpdlRequest *self);

SpdlRequest *
spdl_request_new (const SpdlHttpSettings *settings, const gchar *uri,
    const SpdlRange *range, GCancellable *cancellable, SpdlHttpFunc func,
    gpointer user_data)
{
  SpdlRequest *self = g_new0 (SpdlRequest, 1);

  self->link.data = self;
  self->settings = settings;
  self->uri = g_strdup (uri);
  self->question.range = *range;
  self->func = func;
  self->user_data = user_data;
  self->outer = g_object_ref (cancellable);
  self->deadline =
      settings->task_timeout > 0
          ? g_get_monotonic_time () + (gint64) (settings->task_timeout / 1000)
          : G_MAXINT64;
  return self;
}

void
spdl_request_set_head (SpdlRequest *self, SpdlHttpHeadFunc head)
{
  self->head = head;
}

void
spdl_request_set_validators (
    SpdlRequest *self, const SpdlValidator *known, SpdlValidator *origin)
{
  self->question.known = known;
  self->question.origin = origin;
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
  if (self->active)
    g_queue_unlink (self->active, &self->link);
  destroy_source (&self->timer);
  g_clear_pointer (&self->parsed, g_uri_unref);
  g_object_unref (self->outer);
  spdl_question_clear (&self->question);
  g_free (self->unwanted);
  spdl_body_clear (&self->body);
  g_free (self->uri);
  g_free (self);
}

/* Ends the fetch: with @error (transfer full), or with what came, or with
 * nothing where that is at hand already. */
static void
finish (SpdlRequest *self, GError *error)
{
  GstBuffer *content =
      error || self->same ? NULL : spdl_body_steal (&self->body);
  SpdlHttpFunc func = self->func;
  gpointer user_data = self->user_data;

  request_free (self);
  func (user_data, content, error);
}

/* Time */

/* Wakes up at @time, or at the deadline. */
static void
set_timer (SpdlRequest *self, gint64 time)
{
  const gint64 ready = MIN (time, self->deadline);

  g_source_set_ready_time (self->timer, ready == G_MAXINT64 ? -1 : ready);
}

/* Something came: the time in which nothing does begins anew. */
static void
set_stall_timer (SpdlRequest *self)
{
  const guint timeout = self->settings->timeout;

  set_timer (self, timeout > 0
                       ? g_get_monotonic_time () + timeout * G_TIME_SPAN_SECOND
                       : G_MAXINT64);
}

static GError *
deadline_error (SpdlRequest *self)
{
  const gdouble limit = self->settings->task_timeout / (gdouble) GST_SECOND;

  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "It took longer than task-timeout (%g s): %" G_GSIZE_FORMAT
      " bytes came, in %u tries",
      limit, self->body.size, self->n_tries);
}

static GError *
cancelled_error (void)
{
  return g_error_new_literal (
      G_IO_ERROR, G_IO_ERROR_CANCELLED, "It was cancelled");
}

/* Lets the try under way end, or the wait for the next one. */
static void
stop (SpdlRequest *self, Stop why)
{
  if (self->waiting) {
    finish (self,
        why == STOP_CANCELLED ? cancelled_error () : deadline_error (self));
    return;
  }
  if (self->stop == STOP_NOT)
    self->stop = why;
  g_source_set_ready_time (self->timer, -1);
  g_cancellable_cancel (self->cancellable);
}

static gboolean
on_timer (gpointer data)
{
  SpdlRequest *self = data;

  if (g_get_monotonic_time () >= self->deadline)
    stop (self, STOP_DEADLINE);
  else if (self->waiting)
    begin_try (self);
  else
    stop (self, STOP_STALLED);
  return G_SOURCE_CONTINUE;
}

void
spdl_request_check_cancelled (SpdlRequest *self)
{
  if (g_cancellable_is_cancelled (self->outer))
    stop (self, STOP_CANCELLED);
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

/* The end of a try */

/* Notes how the try ends, if nothing did before. */
static void
set_end (SpdlRequest *self, End end, GError *error)
{
  if (self->error) {
    g_error_free (error);
    return;
  }
  self->end = end;
  self->error = error;
}

/* A transfer ended early, by @reason (nullable), or by us. */
static void
set_broken_end (SpdlRequest *self, const GError *reason)
{
  g_autofree gchar *size =
      self->answer.has_size
          ? g_strdup_printf (" of %" G_GUINT64_FORMAT, self->answer.size)
          : g_strdup ("");

  set_end (self,
      !reason || spdl_retry_is_error (reason) ? END_RETRY : END_FAILED,
      g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Its body broke off after %" G_GSIZE_FORMAT "%s bytes%s%s",
          self->body.size, size, reason ? ": " : "",
          reason ? reason->message : ""));
}

static void
set_stopped_end (SpdlRequest *self)
{
  g_clear_error (&self->error);
  switch (self->stop) {
    case STOP_CANCELLED:
      set_end (self, END_FAILED, cancelled_error ());
      break;
    case STOP_DEADLINE:
      set_end (self, END_FAILED, deadline_error (self));
      break;
    default:
      set_end (self, END_RETRY,
          g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
              "Nothing came for %u s (timeout), after %" G_GSIZE_FORMAT
              " bytes",
              self->settings->timeout, self->body.size));
      break;
  }
}

/* When to try again; -1: never. */
static gint64
get_next_try (SpdlRequest *self)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 delay =
      MAX (spdl_retry_get_delay (self->n_tries), self->asked_delay);

  if (self->end != END_RETRY || self->n_tries > self->settings->retries ||
      self->asked_delay > MAX_ASKED_DELAY || delay >= self->deadline - now)
    return -1;
  return now + delay;
}

static GError *
take_last_error (SpdlRequest *self)
{
  if (self->end == END_RETRY && self->asked_delay > 0 &&
      self->n_tries <= self->settings->retries)
    g_prefix_error (&self->error,
        "It cannot be waited for %" G_GINT64_FORMAT " s, as the server asks: ",
        self->asked_delay / G_TIME_SPAN_SECOND);
  else if (self->n_tries > 1)
    g_prefix_error (&self->error, "After %u tries: ", self->n_tries);
  return g_steal_pointer (&self->error);
}

/* Redirected: what is known may be of where it goes now, or of elsewhere. */
static void
on_restarted (SoupMessage *message, gpointer known)
{
  spdl_validator_put (known, message);
}

static void
end_try (SpdlRequest *self)
{
  gint64 next;

  /* What is known to be wrong is not unsaid by the rest that did not come. */
  if (self->stop != STOP_NOT && !(self->error && self->stop == STOP_STALLED))
    set_stopped_end (self);
  g_clear_object (&self->stream);
  if (self->message)
    g_signal_handlers_disconnect_matched (
        self->message, G_SIGNAL_MATCH_FUNC, 0, 0, NULL, on_restarted, NULL);
  g_clear_object (&self->message);
  g_clear_object (&self->cancellable);
  if (!self->error && self->at_once) {
    self->n_tries--;
    begin_try (self);
    return;
  }
  if (!self->error) {
    finish (self, NULL);
    return;
  }
  next = get_next_try (self);
  if (next < 0) {
    finish (self, take_last_error (self));
    return;
  }
  GST_INFO ("%s: %s; trying again", self->uri, self->error->message);
  g_clear_error (&self->error);
  self->waiting = TRUE;
  set_timer (self, next);
}

static void
on_closed (GObject *stream, GAsyncResult *result, gpointer data)
{
  g_input_stream_close_finish (G_INPUT_STREAM (stream), result, NULL);
  end_try (data);
}

static void
close_stream (SpdlRequest *self)
{
  g_input_stream_close_async (
      self->stream, G_PRIORITY_DEFAULT, self->cancellable, on_closed, self);
}

/* The body */

static void read_more (SpdlRequest *self);

/* Reads over what comes before the range, or what nobody wants. Returns whether
 * that goes on. */
static gboolean
skip (SpdlRequest *self, guint64 n)
{
  self->to_skip -= MIN (n, self->to_skip);
  return self->to_skip > 0;
}

/* @n bytes were added to the body. Returns whether more are wanted. */
static gboolean
add (SpdlRequest *self, gsize n)
{
  const SpdlRange *range = &self->question.range;
  GError *error = NULL;

  spdl_body_add (&self->body, n);
  if (!spdl_check_max_size (
          self->body.size, self->settings->max_size, &error)) {
    set_end (self, END_FAILED, error);
    return FALSE;
  }
  if (spdl_range_is_open (range) ||
      self->body.size <= range->last - range->first)
    return TRUE;
  /* A server that knows no ranges would go on. */
  self->body.size = range->last - range->first + 1;
  return FALSE;
}

/* libsoup before 3.6.5 takes a connection that closes between two chunks for
 * the end of the body. Until 3.3 it reads the line that ends the chunks into
 * the buffer that it was given, which tells the true end. */
static gboolean
is_cut_between_chunks (SpdlRequest *self)
{
  SoupMessageHeaders *headers =
      soup_message_get_response_headers (self->message);

  return !soup_check_version (3, 3, 0) &&
         soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED &&
         *self->reading == '\0';
}

static void
check_is_whole (SpdlRequest *self)
{
  const SpdlRange *range = &self->question.range;
  GError *error = NULL;
  guint64 size;

  if (self->answer.has_size ? self->body.size < self->answer.size
                            : is_cut_between_chunks (self))
    set_broken_end (self, NULL);
  else if (!self->answer.has_size &&
           !spdl_range_get_size (
               range, range->first + self->body.size, &size, &error))
    set_end (self, END_FAILED, error);
}

static void
on_read (GObject *stream, GAsyncResult *result, gpointer data)
{
  SpdlRequest *self = data;
  g_autoptr (GError) error = NULL;
  const gssize n =
      g_input_stream_read_finish (G_INPUT_STREAM (stream), result, &error);
  gboolean more = n > 0;

  if (n > 0)
    set_stall_timer (self);
  if (self->to_skip > 0 && n > 0)
    more = skip (self, n) || !self->discard;
  else if (n > 0)
    more = add (self, n);
  else if (!self->discard && n < 0 && self->stop == STOP_NOT)
    set_broken_end (self, error);
  else if (!self->discard && n == 0)
    check_is_whole (self);

  if (more && self->stop == STOP_NOT)
    read_more (self);
  else
    close_stream (self);
}

static void
read_more (SpdlRequest *self)
{
  const guint64 expected = self->answer.has_size ? self->answer.size : 0;
  GError *error = NULL;
  guint8 *data;
  gsize room;

  if (self->to_skip > 0) {
    if (!self->unwanted)
      self->unwanted = g_malloc (MAX_UNWANTED);
    data = self->unwanted;
    room = MIN (self->to_skip, MAX_UNWANTED);
  } else if (!(data = spdl_body_reserve (
                   &self->body, expected, &room, &error))) {
    set_end (self, END_FAILED, error);
    close_stream (self);
    return;
  }
  *data = '\0';
  self->reading = data;
  g_input_stream_read_async (self->stream, data, room, G_PRIORITY_DEFAULT,
      self->cancellable, on_read, self);
}

/* The answer */

static void
take_answer (SpdlRequest *self)
{
  if (self->head)
    self->head (self->user_data, self->message);
  if (self->answer.restart)
    spdl_body_clear (&self->body);
  self->to_skip = self->answer.skip;
  if (self->to_skip > 0)
    GST_WARNING ("%s: the server knows no ranges: %" G_GUINT64_FORMAT
                 " bytes come for nothing",
        self->uri, self->to_skip);
  spdl_question_keep (&self->question, &self->answer, self->message);
}

static void
on_answer (GObject *session, GAsyncResult *result, gpointer data)
{
  SpdlRequest *self = data;
  g_autoptr (GError) reason = NULL;
  GError *error = NULL;
  SpdlVerdict verdict;

  self->stream = soup_session_send_finish (self->session, result, &reason);
  if (!self->stream) {
    if (self->stop == STOP_NOT)
      set_end (self, spdl_retry_is_error (reason) ? END_RETRY : END_FAILED,
          g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
              "It cannot be fetched: %s", reason->message));
    end_try (self);
    return;
  }

  verdict =
      spdl_answer_judge (&self->answer, &self->question, self->message, &error);
  if (verdict == SPDL_VERDICT_GOOD && self->answer.has_size &&
      !spdl_check_max_size (
          self->answer.size, self->settings->max_size, &error))
    verdict = SPDL_VERDICT_FAILED;
  if (verdict == SPDL_VERDICT_GOOD) {
    take_answer (self);
  } else if (verdict == SPDL_VERDICT_NO_MORE || verdict == SPDL_VERDICT_SAME ||
             verdict == SPDL_VERDICT_OTHER) {
    self->same = verdict == SPDL_VERDICT_SAME;
    self->at_once = verdict == SPDL_VERDICT_OTHER;
    if (self->at_once)
      self->question.known = NULL;
    self->to_skip = MAX_UNWANTED;
    self->discard = TRUE;
  } else {
    self->asked_delay = spdl_retry_get_asked (
        soup_message_get_response_headers (self->message));
    if (verdict == SPDL_VERDICT_ANEW)
      spdl_body_clear (&self->body);
    set_end (
        self, verdict == SPDL_VERDICT_FAILED ? END_FAILED : END_RETRY, error);
    self->to_skip = MAX_UNWANTED;
    self->discard = TRUE;
  }
  set_stall_timer (self);
  read_more (self);
}

static void
ask_for_changes (SpdlRequest *self)
{
  const SpdlValidator *known = self->question.known;

  if (!known || self->question.have > 0)
    return;
  spdl_validator_put (known, self->message);
  g_signal_connect (
      self->message, "restarted", G_CALLBACK (on_restarted), (gpointer) known);
}

static void
begin_try (SpdlRequest *self)
{
  SoupMessageHeaders *headers;

  self->waiting = FALSE;
  self->n_tries++;
  self->stop = STOP_NOT;
  self->asked_delay = 0;
  self->to_skip = 0;
  self->discard = FALSE;
  self->same = FALSE;
  self->at_once = FALSE;
  self->question.have = self->body.size;
  self->cancellable = g_cancellable_new ();
  self->message = soup_message_new_from_uri (SOUP_METHOD_GET, self->parsed);
  headers = soup_message_get_request_headers (self->message);
  spdl_question_put (&self->question, headers);
  spdl_http_settings_put (self->settings, headers);
  ask_for_changes (self);
  set_stall_timer (self);
  soup_session_send_async (self->session, self->message, G_PRIORITY_DEFAULT,
      self->cancellable, on_answer, self);
}

void
spdl_request_begin (SpdlRequest *self, SoupSession *session, GQueue *active)
{
  g_autoptr (GError) error = NULL;

  self->session = session;
  self->parsed = g_uri_parse (self->uri, SOUP_HTTP_URI_FLAGS, &error);
  if (!self->parsed || !g_uri_get_host (self->parsed) ||
      !*g_uri_get_host (self->parsed)) {
    finish (self, g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                      "\"%s\" is no valid URI: %s", self->uri,
                      error ? error->message : "it names no host"));
    return;
  }
  if (g_cancellable_is_cancelled (self->outer)) {
    finish (self, cancelled_error ());
    return;
  }
  self->active = active;
  g_queue_push_tail_link (active, &self->link);
  make_timer (self);
  begin_try (self);
}
