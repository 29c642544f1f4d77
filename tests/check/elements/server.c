/* gst-spdl: a hostile HTTP server for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define GATE_PATIENCE (10 * G_TIME_SPAN_SECOND)

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
  guint latency;
  gchar *root;
  guint gate;
  guint gate_total;
  guint gate_seen;
  ServerCounts counts;
  GHashTable *paths; /* gchar * -> Path */
};

typedef struct {
  guint count;
  gchar *request;
} Path;

/* A request and the connection that it came on. */
typedef struct {
  Server *server;
  GSocketConnection *connection;
  GIOStream *stream;
  GDataInputStream *in;
  GOutputStream *out;

  gchar *header;
  gchar *path;
  gchar *fault;
  guint64 count; /* how many requests are to fail */
  guint64 size;
  const gchar *rest; /* of the path */
  guint nth;         /* request of this path, from 1 */
  gboolean faulty;
  gboolean keep; /* the connection */
} Request;

void
server_make_body (guint8 *data, guint64 offset, gsize size, guint version)
{
  for (gsize i = 0; i < size; i++)
    data[i] = (offset + i) * 31 + ((offset + i) >> 8) * 7 + version * 13;
}

/* Writing */

static gboolean
send_bytes (Request *r, gconstpointer data, gsize size)
{
  return g_output_stream_write_all (
      r->out, data, size, NULL, r->server->cancellable, NULL);
}

static gboolean
    G_GNUC_PRINTF (2, 3) send_text (Request *r, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  return send_bytes (r, text, strlen (text));
}

static gboolean
send_body (Request *r, guint64 offset, guint64 size, guint version)
{
  guint8 data[16384];

  while (size > 0) {
    const gsize n = MIN (size, sizeof data);

    server_make_body (data, offset, n, version);
    if (!send_bytes (r, data, n))
      return FALSE;
    offset += n;
    size -= n;
  }
  return TRUE;
}

static void
reset_connection (Request *r)
{
  GSocket *socket = g_socket_connection_get_socket (r->connection);
  const struct linger now = { 1, 0 };

  setsockopt (
      g_socket_get_fd (socket), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  r->keep = FALSE;
}

static void
stall (Request *r)
{
  g_mutex_lock (&r->server->lock);
  while (!r->server->stopping)
    g_cond_wait (&r->server->cond, &r->server->lock);
  g_mutex_unlock (&r->server->lock);
  r->keep = FALSE;
}

/* Answers */

typedef struct {
  guint64 first, last;
  gboolean partial;
  guint version;
} Part;

static gchar *
dup_field (const Request *r, const gchar *name)
{
  g_autofree gchar *start = g_strdup_printf ("\r\n%s:", name);
  const gchar *found = strcasestr (r->header, start);

  if (!found)
    return NULL;
  found += strlen (start);
  return g_strstrip (g_strndup (found, strcspn (found, "\r")));
}

static Part
get_part (const Request *r, guint version)
{
  Part part = { 0, r->size - 1, FALSE, version };
  g_autofree gchar *range = dup_field (r, "Range");
  g_autofree gchar *condition = dup_field (r, "If-Range");
  g_autofree gchar *etag = g_strdup_printf ("\"v%u\"", version);
  gchar *end;

  if (!range || !g_str_has_prefix (range, "bytes=") ||
      (condition && strcmp (condition, etag) != 0) ||
      strcmp (r->fault, "norange") == 0)
    return part;
  part.partial = TRUE;
  part.first = g_ascii_strtoull (range + strlen ("bytes="), &end, 10);
  if (end[0] == '-' && end[1] != '\0')
    part.last = MIN (part.last, g_ascii_strtoull (end + 1, NULL, 10));
  return part;
}

static gboolean
send_head (Request *r, const Part *part, guint64 length, const gchar *more)
{
  g_autofree gchar *range =
      part->partial
          ? g_strdup_printf ("Content-Range: bytes %" G_GUINT64_FORMAT
                             "-%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "\r\n",
                part->first, part->last, r->size)
          : g_strdup ("");

  return send_text (r,
      "HTTP/1.1 %s\r\nContent-Length: %" G_GUINT64_FORMAT
      "\r\nETag: \"v%u\"\r\n%s%s\r\n",
      part->partial ? "206 Partial Content" : "200 OK", length, part->version,
      range, more);
}

static void
send_good (Request *r, guint version, const gchar *more)
{
  const Part part = get_part (r, version);
  const guint64 length = part.last + 1 - part.first;

  if (part.partial && part.first >= r->size) {
    send_text (r, "HTTP/1.1 416 Range Not Satisfiable\r\n"
                  "Content-Length: 0\r\n\r\n");
    return;
  }
  if (!send_head (r, &part, length, more) ||
      !send_body (r, part.first, length, version))
    r->keep = FALSE;
}

/* Sends the head of a good answer and half of the body. */
static void
send_half (Request *r, guint version)
{
  const Part part = get_part (r, version);
  const guint64 length = part.last + 1 - part.first;

  send_head (r, &part, length, "");
  send_body (r, part.first, length / 2, version);
  r->keep = FALSE;
}

static void
send_status (Request *r, const gchar *status)
{
  const gchar *plus = strchr (status, '+');
  g_autofree gchar *after =
      plus ? g_strdup_printf ("Retry-After: %s\r\n", plus + 1) : g_strdup ("");

  send_text (r, "HTTP/1.1 %.3s Trouble\r\n%sContent-Length: 8\r\n\r\nsorry...",
      status, after);
}

static void
send_chunks (Request *r)
{
  const guint64 half = r->size / 2;

  send_text (r, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  send_text (r, "%" G_GINT64_MODIFIER "x\r\n", half);
  send_body (r, 0, half, 0);
  send_text (r, "\r\n");
  if (r->faulty) {
    r->keep = FALSE;
    return;
  }
  send_text (r, "%" G_GINT64_MODIFIER "x\r\n", r->size - half);
  send_body (r, half, r->size - half, 0);
  send_text (r, "\r\n0\r\n\r\n");
}

static void
drip (Request *r)
{
  const Part part = { 0, r->size - 1, FALSE, 0 };

  send_head (r, &part, r->size, "");
  for (guint64 i = 0; i < r->size && send_body (r, i, 1, 0); i++)
    g_usleep (50000);
  r->keep = FALSE;
}

static void
send_headers_without_end (Request *r)
{
  send_text (r, "HTTP/1.1 200 OK\r\n");
  while (send_text (r, "X-More: and more and more and more and more\r\n"))
    ;
  r->keep = FALSE;
}

/* @where has no fault where @count is 0. */
static void
redirect (Request *r, const gchar *where, guint64 count)
{
  send_text (r,
      "HTTP/1.1 302 Found\r\nLocation: /%s/%" G_GUINT64_FORMAT
      "/%" G_GUINT64_FORMAT "\r\nContent-Length: 0\r\n\r\n",
      where, count, r->size);
}

static void
send_file (Request *r)
{
  g_autofree gchar *path = g_build_filename (r->server->root, r->rest, NULL);
  g_autofree gchar *data = NULL;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL)) {
    send_status (r, "404");
    return;
  }
  send_text (r,
      "HTTP/1.1 200 OK\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", size);
  if (!r->faulty) {
    send_bytes (r, data, size);
    return;
  }
  send_bytes (r, data, size / 2);
  reset_connection (r);
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
  /* It leaves: the next one needs another beside it. */
  server->counts.in_flight--;
  g_mutex_unlock (&server->lock);
}

static void
answer_badly (Request *r)
{
  const gchar *fault = r->fault;
  const Part whole = { 0, r->size - 1, FALSE, 0 };

  if (strcmp (fault, "reset") == 0) {
    reset_connection (r);
  } else if (strcmp (fault, "break") == 0 || strcmp (fault, "norange") == 0) {
    send_half (r, 0);
    g_usleep (20000); /* or the reset would overtake what was sent */
    reset_connection (r);
  } else if (strcmp (fault, "changed") == 0) {
    send_half (r, r->nth);
  } else if (strcmp (fault, "short") == 0) {
    send_half (r, 0);
  } else if (strcmp (fault, "huge") == 0) {
    send_head (r, &whole, G_GUINT64_CONSTANT (1) << 40, "");
    send_body (r, 0, r->size, 0);
    r->keep = FALSE;
  } else if (strcmp (fault, "long") == 0) {
    send_good (r, 0, "");
    send_text (r, "and this is more than was announced\r\n\r\n");
  } else if (strcmp (fault, "stall-head") == 0) {
    stall (r);
  } else if (strcmp (fault, "stall-body") == 0) {
    send_half (r, 0);
    stall (r);
  } else if (strcmp (fault, "drip") == 0) {
    drip (r);
  } else if (strcmp (fault, "garbage") == 0) {
    send_text (r, "\1\2\3 I am a teapot, short and stout\r\n\r\n\r\n");
    r->keep = FALSE;
  } else if (strcmp (fault, "endless") == 0) {
    send_headers_without_end (r);
  } else if (strcmp (fault, "otherrange") == 0) {
    const Part other = { 1, r->size - 1, TRUE, 0 };

    send_head (r, &other, r->size - 1, "");
    send_body (r, 1, r->size - 1, 0);
  } else if (strcmp (fault, "encoded") == 0) {
    send_good (r, 0, "Content-Encoding: gzip\r\n");
  } else if (strcmp (fault, "loop") == 0) {
    redirect (r, "loop", r->count);
  } else if (strcmp (fault, "moved") == 0) {
    redirect (r, "bytes", 0);
  } else {
    send_status (r, fault);
  }
}

static void
answer (Request *r)
{
  const gchar *fault = r->fault;

  if (strcmp (fault, "file") == 0) {
    send_file (r);
  } else if (strcmp (fault, "chunks") == 0) {
    send_chunks (r);
  } else if (r->faulty) {
    answer_badly (r);
  } else if (strcmp (fault, "changed") == 0) {
    send_good (r, r->nth, "");
  } else if (strcmp (fault, "close") == 0) {
    send_good (r, 0, "Connection: close\r\n");
    r->keep = FALSE;
  } else {
    send_good (r, 0, "");
    if (strcmp (fault, "silent") == 0)
      r->keep = FALSE;
  }
}

/* Requests */

static gboolean
read_header (Request *r)
{
  GString *header = g_string_new (NULL);
  gchar *line;

  while ((line = g_data_input_stream_read_line (
              r->in, NULL, r->server->cancellable, NULL))) {
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

  if (g_strv_length (words) < 3)
    return FALSE;
  r->path = g_strdup (words[1]);
  parts = g_strsplit (r->path, "/", 5);
  if (g_strv_length (parts) < 4)
    return FALSE;
  r->fault = g_strdup (parts[1]);
  r->count = g_ascii_strtoull (parts[2], NULL, 10);
  r->size = g_ascii_strtoull (parts[3], NULL, 10);
  r->rest = strrchr (r->path, '/') + 1;
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
  /* A client that has its answer may ask again before we are back here. */
  if (strcmp (r->fault, "gate") == 0) {
    wait_at_gate (server);
  } else {
    g_mutex_lock (&server->lock);
    server->counts.in_flight--;
    g_mutex_unlock (&server->lock);
  }
  answer (r);
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
    Request r = { server, connection, stream, in,
      g_io_stream_get_output_stream (stream) };

    if (read_header (&r) && parse (&r))
      handle (&r);
    keep = r.keep;
    g_free (r.header);
    g_free (r.path);
    g_free (r.fault);
  }
}

typedef struct {
  Server *server;
  GSocketConnection *connection;
} Visit;

static gpointer
run_connection (gpointer data)
{
  Visit *visit = data;
  Server *server = visit->server;
  GIOStream *stream = g_object_ref (G_IO_STREAM (visit->connection));

  g_socket_set_option (g_socket_connection_get_socket (visit->connection),
      IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  if (server->certificate) {
    g_object_unref (stream);
    stream = g_tls_server_connection_new (
        G_IO_STREAM (visit->connection), server->certificate, NULL);
  }
  serve (server, visit->connection, stream);
  g_io_stream_close (stream, server->cancellable, NULL);
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
    server->counts.connections++;
    g_mutex_unlock (&server->lock);
    g_thread_unref (g_thread_new ("server", run_connection, visit));
  }
  return NULL;
}

/* The server */

static void
path_free (gpointer data)
{
  Path *path = data;

  g_free (path->request);
  g_free (path);
}

/* Made for these tests; its key is no secret. */
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
  self->paths =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, path_free);
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
  while (self->n_threads > 0)
    g_cond_wait (&self->cond, &self->lock);
  g_mutex_unlock (&self->lock);

  g_socket_listener_close (self->listener);
  g_object_unref (self->listener);
  g_object_unref (self->cancellable);
  g_clear_object (&self->certificate);
  g_hash_table_unref (self->paths);
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
server_set_gate (Server *self, guint n, guint total)
{
  self->gate = n;
  self->gate_total = total;
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
