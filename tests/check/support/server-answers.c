/* gst-spdl: responses of the hostile HTTP server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/server-request.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"

void
server_make_body (guint8 *data, guint64 offset, gsize size, guint version)
{
  for (gsize i = 0; i < size; i++)
    data[i] = (offset + i) * 31 + ((offset + i) >> 8) * 7 + version * 13;
}

/* Writing */

gboolean
server_send (Request *r, gconstpointer data, gsize size)
{
  return g_output_stream_write_all (r->out, data, size, NULL, NULL, NULL);
}

static gboolean
    G_GNUC_PRINTF (2, 3) send_text (Request *r, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  return server_send (r, text, strlen (text));
}

static gboolean
send_body (Request *r, guint64 offset, guint64 size, guint version)
{
  guint8 data[16384];

  while (size > 0) {
    const gsize n = MIN (size, sizeof data);

    server_make_body (data, offset, n, version);
    if (!server_send (r, data, n))
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
  server_stall (r->server);
  r->keep = FALSE;
}

/* Responses */

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

/* Sends a successful response header and half of the body. */
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

/* @where: has no fault if @count is 0 */
static void
redirect (Request *r, const gchar *where, guint64 count)
{
  send_text (r,
      "HTTP/1.1 302 Found\r\nLocation: /%s/%" G_GUINT64_FORMAT
      "/%" G_GUINT64_FORMAT "\r\nContent-Length: 0\r\n\r\n",
      where, count, r->size);
}

static void
redirect_to_place (Request *r)
{
  g_autofree gchar *place = server_dup_place (r->server, r->rest);

  send_text (r,
      "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 6\r\n\r\n"
      "moved\n",
      place);
}

/* Requests authentication, since clients send a password only then. */
static void
ask_for_password (Request *r)
{
  send_text (r, "HTTP/1.1 401 Unauthorized\r\n"
                "WWW-Authenticate: Basic realm=\"test\"\r\n"
                "Content-Length: 0\r\n\r\n");
}

static void
send_file (Request *r)
{
  g_autofree gchar *path = g_build_filename (r->root, r->rest, NULL);
  g_autofree gchar *data = NULL;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL)) {
    send_status (r, "404");
    return;
  }
  send_text (r,
      "HTTP/1.1 200 OK\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", size);
  if (!r->faulty) {
    server_send (r, data, size);
    return;
  }
  server_send (r, data, size / 2);
  r->keep = FALSE;
  if (strcmp (r->fault, "file") == 0)
    reset_connection (r);
}

static void
send_part_of_file (Request *r, int fd, const struct stat *st)
{
  const guint64 most = r->size;
  const struct timespec time = spdl_compat_get_mtime (st);
  Part part;
  guint64 length;
  g_autofree guint8 *data = NULL;

  r->size = st->st_size;
  part = get_part (r, time.tv_nsec ^ time.tv_sec);
  length = part.last + 1 - part.first;
  if (part.partial && part.first >= r->size) {
    send_text (r, "HTTP/1.1 416 Range Not Satisfiable\r\n"
                  "Content-Length: 0\r\n\r\n");
    return;
  }
  if (r->faulty && length > most) {
    send_status (r, "503");
    return;
  }
  data = g_malloc (length);
  server_count_bytes (r->server, length);
  if (pread (fd, data, length, part.first) != (gssize) length ||
      !send_head (r, &part, length, "") || !server_send (r, data, length))
    r->keep = FALSE;
}

static void
send_shard (Request *r)
{
  g_autofree gchar *path = g_build_filename (r->root, r->rest, NULL);
  const int fd = open (path, O_RDONLY | O_CLOEXEC);
  struct stat st;

  if (fd >= 0 && fstat (fd, &st) == 0)
    send_part_of_file (r, fd, &st);
  else
    send_status (r, "404");
  if (fd >= 0)
    close (fd);
}

static gboolean
is_tape (const gchar *fault)
{
  return strcmp (fault, "tape") == 0 || strcmp (fault, "othertape") == 0 ||
         strcmp (fault, "tapejam") == 0;
}

static void
send_tape (Request *r)
{
  g_autofree gchar *path = g_build_filename (r->root, r->rest, NULL);
  g_autofree gchar *data = NULL;
  const guint tag = strcmp (r->fault, "othertape") == 0 ? r->nth : 0;
  gsize size, n;

  if (!g_file_get_contents (path, &data, &size, NULL)) {
    send_status (r, "404");
    return;
  }
  send_text (r,
      "HTTP/1.1 200 OK\r\nETag: \"v%u\"\r\n"
      "Content-Length: %" G_GSIZE_FORMAT "\r\n\r\n",
      tag, size);
  n = r->faulty ? MIN (size, r->size) : size;
  if (!server_send (r, data, n))
    r->keep = FALSE;
  if (!r->faulty)
    return;
  if (strcmp (r->fault, "tapejam") == 0) {
    stall (r);
  } else {
    g_usleep (20000);
    reset_connection (r);
  }
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
    g_usleep (20000); /* otherwise the reset would overtake the data */
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

void
server_answer (Request *r)
{
  const gchar *fault = r->fault;

  if (server_answer_versioned (r) || server_answer_hostile (r))
    return;
  if (strcmp (fault, "file") == 0 || strcmp (fault, "shortfile") == 0) {
    send_file (r);
  } else if (strcmp (fault, "shard") == 0) {
    send_shard (r);
  } else if (is_tape (fault)) {
    send_tape (r);
  } else if (strcmp (fault, "to") == 0) {
    redirect_to_place (r);
  } else if (strcmp (fault, "auth") == 0 &&
             !strcasestr (r->header, "\r\nAuthorization:")) {
    ask_for_password (r);
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
