/* gst-spdl: a hostile HTTP server for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/server-request.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#define GATE_PATIENCE (25 * G_TIME_SPAN_SECOND)

struct _Server {
  GSocketListener *listener;
  GThread *thread;
  GTlsCertificate *certificate; /* nullable */
  gchar *base;
  guint16 port;

  GMutex lock;
  GCond cond;
  gboolean stopping;
  GCancellable *cancellable;
  guint n_threads;
  GPtrArray *sockets; /* of GSocket: connections whose threads may be waiting */
  guint latency;
  gchar *root;
  guint gate;
  guint gate_total;
  guint gate_seen;
  guint version;
  ServerCounts counts;
  GHashTable *paths;  /* gchar * to Path */
  GHashTable *places; /* gchar * to gchar * */
  GString *seen;      /* headers of all requests */
};

typedef struct {
  guint count;
  gchar *request;
} Path;

void
server_stall (Server *server)
{
  g_mutex_lock (&server->lock);
  while (!server->stopping)
    g_cond_wait (&server->cond, &server->lock);
  g_mutex_unlock (&server->lock);
}

static void
wait_at_gate (Server *server)
{
  const gint64 end = g_get_monotonic_time () + GATE_PATIENCE;

  g_mutex_lock (&server->lock);
  server->gate_seen++;
  g_cond_broadcast (&server->cond);
  while (!server->stopping && !server->counts.gate_missed &&
         server->counts.in_flight < server->gate &&
         server->gate_seen < server->gate_total) {
    if (!g_cond_wait_until (&server->cond, &server->lock, end)) {
      server->counts.gate_missed = TRUE;
      g_cond_broadcast (&server->cond);
    }
  }
  /* This request passes the gate and no longer counts for the requests that
   * wait there. */
  server->counts.in_flight--;
  g_mutex_unlock (&server->lock);
}

/* Requests */

static gboolean
read_header (Request *r)
{
  GString *header = g_string_new (NULL);
  gchar *line;

  while ((line = g_data_input_stream_read_line (r->in, NULL, NULL, NULL))) {
    const gboolean end = *line == '\0' || *line == '\r';

    g_string_append (header, line);
    g_string_append (header, "\r\n");
    g_free (line);
    if (end)
      break;
  }
  r->header = g_string_free (header, line == NULL);
  return r->header != NULL;
}

static gboolean
parse (Request *r)
{
  g_auto (GStrv) words = g_strsplit (r->header, " ", 3);
  g_auto (GStrv) parts = NULL;
  g_autofree gchar *plain = NULL;

  if (g_strv_length (words) < 3)
    return FALSE;
  r->path = g_strdup (words[1]);
  parts = g_strsplit (r->path, "/", 5);
  if (g_strv_length (parts) < 4)
    return FALSE;
  r->fault = g_strdup (parts[1]);
  r->count = g_ascii_strtoull (parts[2], NULL, 10);
  r->size = g_ascii_strtoull (parts[3], NULL, 10);
  plain = g_strndup (r->path, strcspn (r->path, "?"));
  r->rest = g_path_get_basename (plain);
  r->keep = TRUE;
  return TRUE;
}

static void
count (Request *r)
{
  Server *server = r->server;
  Path *path;

  g_mutex_lock (&server->lock);
  server->counts.requests++;
  server->counts.in_flight++;
  server->counts.max_in_flight =
      MAX (server->counts.max_in_flight, server->counts.in_flight);
  path = g_hash_table_lookup (server->paths, r->path);
  if (!path) {
    path = g_new0 (Path, 1);
    g_hash_table_insert (server->paths, g_strdup (r->path), path);
  }
  r->nth = ++path->count;
  g_free (path->request);
  path->request = g_strdup (r->header);
  g_string_append (server->seen, r->header);
  r->faulty = r->nth <= r->count;
  g_mutex_unlock (&server->lock);
}

static void
handle (Request *r)
{
  Server *server = r->server;

  count (r);
  if (server->latency > 0)
    g_usleep (server->latency * 1000);
  /* A client that has received its response may send another request before
   * this point. */
  if (strcmp (r->fault, "gate") == 0) {
    wait_at_gate (server);
  } else {
    g_mutex_lock (&server->lock);
    server->counts.in_flight--;
    g_mutex_unlock (&server->lock);
  }
  server_answer (r);
}

static void
serve (Server *server, GSocketConnection *connection, GIOStream *stream)
{
  g_autoptr (GDataInputStream) in =
      g_data_input_stream_new (g_io_stream_get_input_stream (stream));
  gboolean keep = TRUE;

  g_data_input_stream_set_newline_type (in, G_DATA_STREAM_NEWLINE_TYPE_CR_LF);
  g_filter_input_stream_set_close_base_stream (
      G_FILTER_INPUT_STREAM (in), FALSE);
  while (keep) {
    Request r = { server, server->root, connection, stream, in,
      g_io_stream_get_output_stream (stream) };

    if (read_header (&r) && parse (&r))
      handle (&r);
    keep = r.keep;
    g_free (r.header);
    g_free (r.path);
    g_free (r.fault);
    g_free (r.rest);
  }
}

typedef struct {
  Server *server;
  GSocketConnection *connection;
} Visit;

static gpointer
run_connection (gpointer data)
{
  static const gchar *const protocols[] = { "h2", NULL };
  Visit *visit = data;
  Server *server = visit->server;
  GIOStream *stream = g_object_ref (G_IO_STREAM (visit->connection));

  g_socket_set_option (g_socket_connection_get_socket (visit->connection),
      IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  if (server->certificate) {
    g_object_unref (stream);
    stream = g_tls_server_connection_new (
        G_IO_STREAM (visit->connection), server->certificate, NULL);
    /* Closes the connection to a client that offers HTTP/2. */
    g_tls_connection_set_advertised_protocols (
        G_TLS_CONNECTION (stream), protocols);
  }
  serve (server, visit->connection, stream);
  g_mutex_lock (&server->lock);
  g_ptr_array_remove_fast (
      server->sockets, g_socket_connection_get_socket (visit->connection));
  g_mutex_unlock (&server->lock);
  g_io_stream_close (stream, NULL, NULL);
  g_io_stream_close (G_IO_STREAM (visit->connection), NULL, NULL);
  g_object_unref (stream);
  g_object_unref (visit->connection);
  g_free (visit);

  g_mutex_lock (&server->lock);
  server->n_threads--;
  g_cond_broadcast (&server->cond);
  g_mutex_unlock (&server->lock);
  return NULL;
}

static gpointer
accept_all (gpointer data)
{
  Server *server = data;
  GSocketConnection *connection;

  while ((connection = g_socket_listener_accept (
              server->listener, NULL, server->cancellable, NULL))) {
    Visit *visit = g_new (Visit, 1);

    visit->server = server;
    visit->connection = connection;
    g_mutex_lock (&server->lock);
    server->n_threads++;
    g_ptr_array_add (server->sockets,
        g_object_ref (g_socket_connection_get_socket (connection)));
    server->counts.connections++;
    g_mutex_unlock (&server->lock);
    g_thread_unref (g_thread_new ("server", run_connection, visit));
  }
  return NULL;
}

/* Server */

static void
path_free (gpointer data)
{
  Path *path = data;

  g_free (path->request);
  g_free (path);
}

/* Made for these tests; the key is not secret. */
static const gchar certificate_pem[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBpjCCAUygAwIBAgIUI5PPpI6hQ8hzSWi7bmglN2/WffwwCgYIKoZIzj0EAwIw\n"
    "HzEdMBsGA1UEAwwUZ3N0LXNwZGwgdGVzdCBzZXJ2ZXIwIBcNMjAwMTAxMDAwMDAw\n"
    "WhgPMjExOTEyMDgwMDAwMDBaMB8xHTAbBgNVBAMMFGdzdC1zcGRsIHRlc3Qgc2Vy\n"
    "dmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/3tQ6/0bdFDmbySc4eS3n7Gn\n"
    "9Plcl86T+KEHg+5JiJPf5M76Kr5PpK6JRBGlRdvxqiwwObHyoJNyLABVspmefqNk\n"
    "MGIwHQYDVR0OBBYEFMqJ3+dT6Wp/151H2d28vB/7lAVfMB8GA1UdIwQYMBaAFMqJ\n"
    "3+dT6Wp/151H2d28vB/7lAVfMA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocE\n"
    "fwAAATAKBggqhkjOPQQDAgNIADBFAiEA36yuJSU3/CIflDBu0Eeu5CAwlX6V+4Xt\n"
    "NDITmwUQb0QCICMKPm83+D9xU0MIX+5+U6e4HDZjU1C5Vf9RDWKoisSI\n"
    "-----END CERTIFICATE-----\n";
static const gchar key_pem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrlOIl/Uy+ZuFPriK\n"
    "WTJr3q7yKztdSk/krOp2LPAl43qhRANCAAT/e1Dr/Rt0UOZvJJzh5Lefsaf0+VyX\n"
    "zpP4oQeD7kmIk9/kzvoqvk+krolEEaVF2/GqLDA5sfKgk3IsAFWymZ5+\n"
    "-----END PRIVATE KEY-----\n";

Server *
server_new (gboolean tls)
{
  Server *self = g_new0 (Server, 1);
  GError *error = NULL;

  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  self->cancellable = g_cancellable_new ();
  self->sockets = g_ptr_array_new_with_free_func (g_object_unref);
  self->paths =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, path_free);
  self->places =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->seen = g_string_new (NULL);
  if (tls) {
    g_autofree gchar *pem = g_strconcat (key_pem, certificate_pem, NULL);

    self->certificate = g_tls_certificate_new_from_pem (pem, -1, &error);
    g_assert_no_error (error);
  }
  self->listener = g_socket_listener_new ();
  g_socket_listener_set_backlog (self->listener, 256);
  self->port =
      g_socket_listener_add_any_inet_port (self->listener, NULL, &error);
  g_assert_no_error (error);
  self->base =
      g_strdup_printf ("%s://127.0.0.1:%u", tls ? "https" : "http", self->port);
  self->thread = g_thread_new ("accept", accept_all, self);
  return self;
}

/* Shuts connections down instead of cancelling: GLib's TLS occasionally leaks
 * an error when a read is cancelled. */
void
server_free (Server *self)
{
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  g_cancellable_cancel (self->cancellable);
  g_thread_join (self->thread);
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->sockets->len; i++)
    g_socket_shutdown (g_ptr_array_index (self->sockets, i), TRUE, TRUE, NULL);
  while (self->n_threads > 0)
    g_cond_wait (&self->cond, &self->lock);
  g_mutex_unlock (&self->lock);

  g_socket_listener_close (self->listener);
  g_object_unref (self->listener);
  g_object_unref (self->cancellable);
  g_clear_object (&self->certificate);
  g_hash_table_unref (self->paths);
  g_hash_table_unref (self->places);
  g_string_free (self->seen, TRUE);
  g_ptr_array_unref (self->sockets);
  g_free (self->base);
  g_free (self->root);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  g_free (self);
}

const gchar *
server_get_base (Server *self)
{
  return self->base;
}

guint16
server_get_port (Server *self)
{
  return self->port;
}

void
server_set_latency (Server *self, guint ms)
{
  self->latency = ms;
}

void
server_set_root (Server *self, const gchar *folder)
{
  self->root = g_strdup (folder);
}

void
server_set_place (Server *self, const gchar *name, const gchar *place)
{
  g_mutex_lock (&self->lock);
  g_hash_table_insert (self->places, g_strdup (name), g_strdup (place));
  g_mutex_unlock (&self->lock);
}

gchar *
server_dup_place (Server *self, const gchar *name)
{
  gchar *place;

  g_mutex_lock (&self->lock);
  place = g_strdup (g_hash_table_lookup (self->places, name));
  g_mutex_unlock (&self->lock);
  return place;
}

gboolean
server_has_seen (Server *self, const gchar *text)
{
  gboolean seen;

  g_mutex_lock (&self->lock);
  seen = strstr (self->seen->str, text) != NULL;
  g_mutex_unlock (&self->lock);
  return seen;
}

void
server_set_gate (Server *self, guint n, guint total)
{
  self->gate = n;
  self->gate_total = total;
}

void
server_count_bytes (Server *self, guint64 n)
{
  g_mutex_lock (&self->lock);
  self->counts.bytes += n;
  g_mutex_unlock (&self->lock);
}

void
server_set_version (Server *self, guint version)
{
  g_mutex_lock (&self->lock);
  self->version = version;
  g_mutex_unlock (&self->lock);
}

guint
server_get_version (Server *self)
{
  guint version;

  g_mutex_lock (&self->lock);
  version = self->version;
  g_mutex_unlock (&self->lock);
  return version;
}

void
server_count_answer (Server *self, guint64 n, gboolean unchanged)
{
  g_mutex_lock (&self->lock);
  self->counts.sent += n;
  self->counts.unchanged += unchanged;
  g_mutex_unlock (&self->lock);
}

void
server_get_counts (Server *self, ServerCounts *counts)
{
  g_mutex_lock (&self->lock);
  *counts = self->counts;
  g_mutex_unlock (&self->lock);
}

guint
server_count_path (Server *self, const gchar *path)
{
  Path *found;
  guint n;

  g_mutex_lock (&self->lock);
  found = g_hash_table_lookup (self->paths, path);
  n = found ? found->count : 0;
  g_mutex_unlock (&self->lock);
  return n;
}

gchar *
server_dup_request (Server *self, const gchar *path)
{
  Path *found;
  gchar *request;

  g_mutex_lock (&self->lock);
  found = g_hash_table_lookup (self->paths, path);
  request = found ? g_strdup (found->request) : NULL;
  g_mutex_unlock (&self->lock);
  return request;
}

const gchar *
server_get_certificate (void)
{
  return certificate_pem;
}
