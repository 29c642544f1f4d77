/* gst-spdl: reproducer of crashes in libsoup on cancellation and restarts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Uses libsoup only, no code of gst-spdl: see
 * docs/explanation/libsoup-cancellation.md.
 *
 *     libsoup-cancel [REQUESTS]          cancels as spdlfetch does
 *     libsoup-cancel REQUESTS at-once    cancels at once: crashes with libsoup
 *                                        3.4.0 to 3.6.5
 *     libsoup-cancel REQUESTS reset      resets connections, and sends requests
 *                                        with the priority of spdlfetch
 *     libsoup-cancel REQUESTS reset-default
 *                                        sends them with the default priority:
 *                                        requests fail, and libsoup 3.4.0 to
 *                                        3.6.5 crashes
 *
 * By default it makes 10,000 requests to a server on loopback, eight at a time,
 * and cancels each after a random delay of 0 to 2 ms. If most requests take
 * longer, as on a busy machine, the maximum delay grows until about half of
 * them end before they are cancelled. Where connections are reset, no request
 * is cancelled, and libsoup repeats each one that found its connection closed.
 */

#include <libsoup/soup.h>

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_ACTIVE 8
#define MIN_DELAYS 3 /* 0, 1 or 2 ms */
#define MAX_DELAYS 100

static SoupSession *session;
static GMainLoop *loop;
static gchar *uri;
static gboolean at_once, resets;
static int priority = G_PRIORITY_DEFAULT;
static guint n_requests = 10000, n_begun, n_ended, n_failed;
static guint n_delays = MIN_DELAYS;

/* In place of the C library's: every third request on a connection that was
 * used before finds that the server has reset it. */
ssize_t
send (int fd, const void *data, size_t size, int flags)
{
  static gboolean used[1024];
  static guint n_again;

  if (resets && used[fd % G_N_ELEMENTS (used)] && ++n_again % 3 == 0) {
    used[fd % G_N_ELEMENTS (used)] = FALSE;
    errno = ECONNRESET;
    return -1;
  }
  used[fd % G_N_ELEMENTS (used)] = TRUE;
  return sendto (fd, data, size, flags, NULL, 0);
}

static gpointer
serve_connection (gpointer data)
{
  static const char answer[] =
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  const int fd = GPOINTER_TO_INT (data);
  char request[4096];
  size_t size = 0;
  ssize_t n;

  while ((n = read (fd, request + size, sizeof (request) - 1 - size)) > 0) {
    char *end;

    size += n;
    request[size] = '\0';
    while ((end = strstr (request, "\r\n\r\n"))) {
      size -= end + 4 - request;
      memmove (request, end + 4, size + 1);
      if (write (fd, answer, strlen (answer)) < 0)
        break;
    }
  }
  close (fd);
  return NULL;
}

static gpointer
serve (gpointer data)
{
  int fd;

  while ((fd = accept (GPOINTER_TO_INT (data), NULL, NULL)) >= 0)
    g_thread_unref (
        g_thread_new ("connection", serve_connection, GINT_TO_POINTER (fd)));
  return NULL;
}

typedef struct {
  SoupMessage *message;
  GCancellable *cancellable;
} Request;

static Request *
request_new (SoupMessage *message, GCancellable *cancellable)
{
  Request *self = g_new (Request, 1);

  self->message = g_object_ref (message);
  self->cancellable = g_object_ref (cancellable);
  return self;
}

static void
request_free (gpointer data)
{
  Request *self = data;

  g_object_unref (self->message);
  g_object_unref (self->cancellable);
  g_free (self);
}

static gboolean
cancel_now (gpointer data)
{
  g_cancellable_cancel (((Request *) data)->cancellable);
  return G_SOURCE_REMOVE;
}

static gboolean
on_timeout (gpointer data)
{
  Request *self = data;

  if (at_once || soup_message_get_status (self->message) == 0)
    g_cancellable_cancel (self->cancellable);
  else /* not while a libsoup callback is pending, which has a higher priority
        */
    g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, cancel_now,
        request_new (self->message, self->cancellable), request_free);
  return G_SOURCE_REMOVE;
}

static void begin_requests (void);

static void
on_answer (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GInputStream) stream =
      soup_session_send_finish (session, result, NULL);

  if (stream) {
    char body[64];

    /* libsoup repeats requests only on connections that delivered a body. */
    while (resets &&
           g_input_stream_read (stream, body, sizeof body, NULL, NULL) > 0)
      ;
    g_input_stream_close (stream, NULL, NULL);
    n_delays = MAX (n_delays - 1, MIN_DELAYS);
  } else {
    n_failed++;
    n_delays = MIN (n_delays + 1, MAX_DELAYS);
  }
  n_ended++;
  if (n_ended == n_requests)
    g_main_loop_quit (loop);
  else
    begin_requests ();
}

static void
begin_requests (void)
{
  /* A request that is repeated shall find an idle connection. */
  const guint max_active = resets ? 1 + rand () % MAX_ACTIVE : MAX_ACTIVE;

  for (; n_begun < n_requests && n_begun - n_ended < max_active; n_begun++) {
    g_autoptr (SoupMessage) message = soup_message_new ("GET", uri);
    g_autoptr (GCancellable) cancellable = g_cancellable_new ();

    soup_session_send_async (
        session, message, priority, cancellable, on_answer, NULL);
    if (resets)
      continue;
    g_timeout_add_full (G_PRIORITY_HIGH, rand () % n_delays, on_timeout,
        request_new (message, cancellable), request_free);
  }
}

int
main (int argc, char **argv)
{
  struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof (address);
  const int fd = socket (AF_INET, SOCK_STREAM, 0);

  signal (SIGPIPE, SIG_IGN);
  if (argc > 1)
    n_requests = atoi (argv[1]);
  if (argc > 2) {
    at_once = strcmp (argv[2], "at-once") == 0;
    resets = g_str_has_prefix (argv[2], "reset");
    if (strcmp (argv[2], "reset") == 0)
      priority = G_PRIORITY_DEFAULT - 1;
  }
  if (bind (fd, (struct sockaddr *) &address, size) != 0 ||
      listen (fd, 64) != 0 ||
      getsockname (fd, (struct sockaddr *) &address, &size) != 0) {
    perror ("127.0.0.1");
    return 1;
  }
  g_thread_unref (g_thread_new ("server", serve, GINT_TO_POINTER (fd)));
  uri = g_strdup_printf ("http://127.0.0.1:%d/", ntohs (address.sin_port));
  loop = g_main_loop_new (NULL, FALSE);
  session = soup_session_new_with_options (
      "max-conns", MAX_ACTIVE, "max-conns-per-host", MAX_ACTIVE, NULL);
  begin_requests ();
  g_main_loop_run (loop);
  g_print ("libsoup %u.%u.%u: %u requests, %u failed\n",
      soup_get_major_version (), soup_get_minor_version (),
      soup_get_micro_version (), n_ended, n_failed);
  return resets ? n_failed > 0 : n_failed == 0 || n_failed == n_ended;
}
