/* gst-spdl: benchmark of HTTPS, compared with a bare TLS client
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Fetches the same items over HTTPS with spdlfetch, and with GnuTLS and
 * blocking sockets, one connection per thread, in turns. Prints the bytes per
 * second of CPU time. The server runs on loopback in another process.
 *
 *     bench-https [ITEMS] [ROUNDS] [CONNECTIONS] [BYTES] */

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gst/gst.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/benchmarks/cpu-seconds.h"
#include "tests/benchmarks/fetch-run.h"
#include "tests/benchmarks/measure-element.h"
#include "tests/check/support/server.h"

static guint16 port;
static guint n_items, item_size, next_item;
static gnutls_certificate_credentials_t credentials;

static gnutls_session_t
connect_session (int *fd)
{
  struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_port = htons (port),
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  const int one = 1;
  gnutls_session_t session;

  *fd = socket (AF_INET, SOCK_STREAM, 0);
  if (connect (*fd, (struct sockaddr *) &address, sizeof address) != 0)
    g_error ("no connection");
  setsockopt (*fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  gnutls_init (&session, GNUTLS_CLIENT);
  gnutls_set_default_priority (session);
  gnutls_credentials_set (session, GNUTLS_CRD_CERTIFICATE, credentials);
  gnutls_session_set_verify_cert (session, NULL, 0);
  gnutls_transport_set_int (session, *fd);
  if (gnutls_handshake (session) < 0)
    g_error ("the handshake failed");
  return session;
}

/* Reads the header and body of a response. */
static void
read_response (gnutls_session_t session, gchar *buffer, gsize size)
{
  gsize have = 0, all = size;
  const gchar *end = NULL;

  while (have < all) {
    const gssize n =
        gnutls_record_recv (session, buffer + have, size - 1 - have);

    if (n <= 0)
      g_error ("a response is cut off");
    have += n;
    if (end)
      continue;
    buffer[have] = '\0';
    if ((end = strstr (buffer, "\r\n\r\n")))
      all = end + 4 - buffer + item_size;
  }
  if (!g_str_has_prefix (buffer, "HTTP/1.1 200"))
    g_error ("not a good response");
}

static gpointer
fetch_bare (gpointer user_data)
{
  const gsize size = item_size + 4096;
  int fd;
  gnutls_session_t session = connect_session (&fd);

  for (guint i; (i = g_atomic_int_add (&next_item, 1)) < n_items;) {
    g_autofree gchar *buffer = g_malloc (size);
    g_autofree gchar *request = g_strdup_printf (
        "GET /bytes/0/%u/%u HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", item_size, i);

    if (gnutls_record_send (session, request, strlen (request)) < 0)
      g_error ("the connection is gone");
    read_response (session, buffer, size);
  }
  gnutls_bye (session, GNUTLS_SHUT_WR);
  gnutls_deinit (session);
  close (fd);
  return NULL;
}

/* Returns the CPU time per item in seconds. */
static double
run_bare (guint n_connections)
{
  g_autofree GThread **threads = g_new (GThread *, n_connections);
  const double begun = cpu_seconds ();

  next_item = 0;
  for (guint i = 0; i < n_connections; i++)
    threads[i] = g_thread_new ("fetch", fetch_bare, NULL);
  for (guint i = 0; i < n_connections; i++)
    g_thread_join (threads[i]);
  return (cpu_seconds () - begun) / n_items;
}

/* Writes the list of items and the file of the authority. */
static void
write_files (const gchar *folder, gchar **list, gchar **authority)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n_items; i++)
    g_string_append_printf (
        text, "https://127.0.0.1:%u/bytes/0/%u/%u\n", port, item_size, i);
  *list = g_build_filename (folder, "list.txt", NULL);
  *authority = g_build_filename (folder, "authority.pem", NULL);
  if (!g_file_set_contents (*list, text->str, -1, NULL) ||
      !g_file_set_contents (*authority, server_get_certificate (), -1, NULL))
    g_error ("no list can be written");
  g_string_free (text, TRUE);
}

int
main (int argc, char **argv)
{
  const guint n_rounds = argc > 2 ? atoi (argv[2]) : 5;
  const guint n_connections = argc > 3 ? atoi (argv[3]) : 4;
  g_autofree double *ratios = g_new (double, n_rounds);
  g_autofree gchar *folder = NULL, *list = NULL, *authority = NULL;
  g_autofree gchar *description = NULL;

  n_items = argc > 1 ? atoi (argv[1]) : 500;
  item_size = argc > 4 ? atoi (argv[4]) : 1 << 20;
  port = fetch_run_start_server (0, TRUE, NULL);
  gst_init (&argc, &argv);
  folder = g_dir_make_tmp ("bench-https-XXXXXX", NULL);
  write_files (folder, &list, &authority);
  gnutls_certificate_allocate_credentials (&credentials);
  gnutls_certificate_set_x509_trust_file (
      credentials, authority, GNUTLS_X509_FMT_PEM);
  description = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch name=fetch concurrency=%u "
      "tls-ca-file=%s ! fakesink sync=false",
      list, n_connections, authority);
  for (guint i = 0; i < n_rounds; i++) {
    double ours;
    const double took = fetch_run (description, n_items, &ours);
    const double bare = run_bare (n_connections);

    ratios[i] = bare / ours;
    printf ("spdlfetch: %.0f MB/s of CPU time, %.0f MB/s; GnuTLS: %.0f MB/s of "
            "CPU time; ratio %.2f\n",
        item_size / ours / 1e6, (double) item_size * n_items / took / 1e6,
        item_size / bare / 1e6, ratios[i]);
    fflush (stdout);
  }
  qsort (ratios, n_rounds, sizeof *ratios, measure_compare);
  printf ("median: %.2f of the bytes per CPU-second of GnuTLS\n",
      ratios[n_rounds / 2]);
  gnutls_certificate_free_credentials (credentials);
  unlink (list);
  unlink (authority);
  rmdir (folder);
  return 0;
}
