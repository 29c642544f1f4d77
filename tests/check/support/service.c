/* gst-spdl: HTTP service with configurable responses, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/service.h"

#include <string.h>

typedef struct {
  guint status;
  gchar *header;
  gchar *body;
  guint n_failures;
  guint failure;
  guint count;
  gchar *last;
} Answer;

struct _Service {
  GSocketListener *listener;
  GCancellable *cancellable;
  GThread *thread;
  gchar *base;

  GMutex lock;
  GCond cond;
  gboolean stopping;
  guint n_threads;
  GHashTable *answers; /* gchar * -> Answer */
};

typedef struct {
  Service *service;
  GSocketConnection *connection;
} Visit;

static void
answer_free (gpointer data)
{
  Answer *self = data;

  g_free (self->header);
  g_free (self->body);
  g_free (self->last);
  g_free (self);
}

/* Lock held. */
static Answer *
get_answer (Service *self, const gchar *request)
{
  Answer *answer = g_hash_table_lookup (self->answers, request);

  if (!answer) {
    answer = g_new0 (Answer, 1);
    answer->status = 404;
    answer->body = g_strdup ("");
    g_hash_table_insert (self->answers, g_strdup (request), answer);
  }
  return answer;
}

/* Returns the request with its body, or NULL. */
static gchar *
read_request (GDataInputStream *in)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gsize size = 0;
  gchar *line;

  while ((line = g_data_input_stream_read_line (in, NULL, NULL, NULL))) {
    const gboolean end = *line == '\0';

    if (g_ascii_strncasecmp (line, "Content-Length:", 15) == 0)
      size = g_ascii_strtoull (line + 15, NULL, 10);
    g_string_append_printf (text, "%s\n", line);
    g_free (line);
    if (end)
      break;
  }
  if (!line)
    return NULL;
  for (gsize i = 0; i < size; i++)
    g_string_append_c (text, g_data_input_stream_read_byte (in, NULL, NULL));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Records the request and returns the response, or NULL to close the
 * connection. */
static gchar *
answer_request (Service *self, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", 3);
  g_autofree gchar *name = NULL;
  gchar *reply = NULL;
  Answer *answer;
  guint status;

  if (g_strv_length (words) < 3)
    return NULL;
  name = g_strdup_printf ("%s %s", words[0], words[1]);
  g_mutex_lock (&self->lock);
  answer = get_answer (self, name);
  answer->count++;
  g_free (answer->last);
  answer->last = g_strdup (text);
  status = answer->status;
  if (answer->n_failures > 0) {
    answer->n_failures--;
    status = answer->failure;
  }
  while (status == SERVICE_STALL && !self->stopping)
    g_cond_wait (&self->cond, &self->lock);
  if (status > SERVICE_RESET)
    reply = g_strdup_printf ("HTTP/1.1 %u Answer\r\nContent-Length: %zu\r\n"
                             "Connection: close\r\n%s%s\r\n%s",
        status, strlen (answer->body), answer->header ? answer->header : "",
        answer->header ? "\r\n" : "", answer->body);
  g_mutex_unlock (&self->lock);
  return reply;
}

static gpointer
run_connection (gpointer data)
{
  Visit *visit = data;
  Service *self = visit->service;
  GIOStream *stream = G_IO_STREAM (visit->connection);
  g_autoptr (GDataInputStream) in =
      g_data_input_stream_new (g_io_stream_get_input_stream (stream));
  g_autofree gchar *text = NULL;
  g_autofree gchar *reply = NULL;

  g_data_input_stream_set_newline_type (in, G_DATA_STREAM_NEWLINE_TYPE_CR_LF);
  g_socket_set_timeout (g_socket_connection_get_socket (visit->connection), 10);
  text = read_request (in);
  reply = text ? answer_request (self, text) : NULL;
  if (reply)
    g_output_stream_write_all (g_io_stream_get_output_stream (stream), reply,
        strlen (reply), NULL, NULL, NULL);
  g_io_stream_close (stream, NULL, NULL);
  g_object_unref (visit->connection);
  g_free (visit);
  g_mutex_lock (&self->lock);
  self->n_threads--;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  return NULL;
}

static gpointer
accept_all (gpointer data)
{
  Service *self = data;
  GSocketConnection *connection;

  while ((connection = g_socket_listener_accept (
              self->listener, NULL, self->cancellable, NULL))) {
    Visit *visit = g_new (Visit, 1);

    visit->service = self;
    visit->connection = connection;
    g_mutex_lock (&self->lock);
    self->n_threads++;
    g_mutex_unlock (&self->lock);
    g_thread_unref (g_thread_new ("service", run_connection, visit));
  }
  return NULL;
}

Service *
service_new (void)
{
  Service *self = g_new0 (Service, 1);
  GError *error = NULL;
  guint16 port;

  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  self->cancellable = g_cancellable_new ();
  self->answers =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, answer_free);
  self->listener = g_socket_listener_new ();
  port = g_socket_listener_add_any_inet_port (self->listener, NULL, &error);
  g_assert_no_error (error);
  self->base = g_strdup_printf ("http://127.0.0.1:%u", port);
  self->thread = g_thread_new ("accept", accept_all, self);
  return self;
}

void
service_free (Service *self)
{
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  g_cancellable_cancel (self->cancellable);
  g_thread_join (self->thread);
  g_mutex_lock (&self->lock);
  while (self->n_threads > 0)
    g_cond_wait (&self->cond, &self->lock);
  g_mutex_unlock (&self->lock);
  g_socket_listener_close (self->listener);
  g_object_unref (self->listener);
  g_object_unref (self->cancellable);
  g_hash_table_unref (self->answers);
  g_cond_clear (&self->cond);
  g_mutex_clear (&self->lock);
  g_free (self->base);
  g_free (self);
}

const gchar *
service_get_base (Service *self)
{
  return self->base;
}

void
service_set (Service *self, const gchar *request, guint status,
    const gchar *header, const gchar *body)
{
  Answer *answer;

  g_mutex_lock (&self->lock);
  answer = get_answer (self, request);
  answer->status = status;
  g_free (answer->header);
  answer->header = g_strdup (header);
  g_free (answer->body);
  answer->body = g_strdup (body);
  g_mutex_unlock (&self->lock);
}

void
service_fail (Service *self, const gchar *request, guint n, guint status)
{
  Answer *answer;

  g_mutex_lock (&self->lock);
  answer = get_answer (self, request);
  answer->n_failures = n;
  answer->failure = status;
  g_mutex_unlock (&self->lock);
}

guint
service_count (Service *self, const gchar *request)
{
  guint count;

  g_mutex_lock (&self->lock);
  count = get_answer (self, request)->count;
  g_mutex_unlock (&self->lock);
  return count;
}

gchar *
service_dup_request (Service *self, const gchar *request)
{
  gchar *last;

  g_mutex_lock (&self->lock);
  last = g_strdup (get_answer (self, request)->last);
  g_mutex_unlock (&self->lock);
  return last;
}
