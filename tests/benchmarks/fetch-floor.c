/* gst-spdl: lower bound for fetches, with blocking sockets in threads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Fetches the URLs of a list repeatedly for some seconds, with a number of
 * threads that each have a blocking, persistent socket and a buffer. It prints
 * the CPU time and the wall-clock time per file, in us.
 *
 *     fetch-floor LIST CONNECTIONS SECONDS
 *
 * The URLs are http://127.0.0.1:PORT/PATH; a label may follow after a TAB. */

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/benchmarks/cpu-seconds.h"

#define PREFIX "http://127.0.0.1:"

static GPtrArray *urls;
static gint64 until;
static guint next_url;
static guint n_files;

static void
fail (const gchar *what)
{
  g_printerr ("fetch-floor: %s\n", what);
  exit (1);
}

static int
connect_to (guint16 port)
{
  struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_port = htons (port),
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  const int one = 1, fd = socket (AF_INET, SOCK_STREAM, 0);

  if (connect (fd, (struct sockaddr *) &address, sizeof address) != 0)
    fail ("no connection");
  setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

/* Reads a response, header and body. */
static void
read_answer (int fd, gchar *buffer, gsize size)
{
  gsize have = 0, all = size;
  const gchar *end = NULL, *length;

  while (have < all) {
    const gssize n = read (fd, buffer + have, size - 1 - have);

    if (n <= 0)
      fail ("an answer is cut off, or too large");
    have += n;
    buffer[have] = '\0';
    if (end || !(end = strstr (buffer, "\r\n\r\n")))
      continue;
    length = strcasestr (buffer, "\r\ncontent-length:");
    if (!g_str_has_prefix (buffer, "HTTP/1.1 200") || !length)
      fail ("not a good answer");
    all = end + 4 - buffer + strtoul (length + 17, NULL, 10);
  }
}

static gpointer
fetch (gpointer user_data)
{
  const gsize size = 4 << 20;
  g_autofree gchar *buffer = g_malloc (size);
  gchar *path;
  const int fd = connect_to (
      strtoul ((const gchar *) urls->pdata[0] + strlen (PREFIX), &path, 10));

  while (g_get_monotonic_time () < until) {
    const guint i = g_atomic_int_add (&next_url, 1) % urls->len;
    g_autofree gchar *request = NULL;

    strtoul ((const gchar *) urls->pdata[i] + strlen (PREFIX), &path, 10);
    request =
        g_strdup_printf ("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
    if (write (fd, request, strlen (request)) < 0)
      fail ("the connection is gone");
    read_answer (fd, buffer, size);
    g_atomic_int_inc (&n_files);
  }
  close (fd);
  return NULL;
}

static GPtrArray *
read_urls (const gchar *name)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  GPtrArray *array = g_ptr_array_new_with_free_func (g_free);

  if (!g_file_get_contents (name, &text, NULL, NULL))
    fail ("no list");
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix (lines[i], PREFIX))
      g_ptr_array_add (array, g_strndup (lines[i], strcspn (lines[i], "\t")));
  if (array->len == 0)
    fail ("no URLs");
  return array;
}

int
main (int argc, char **argv)
{
  if (argc != 4) {
    g_printerr ("usage: fetch-floor LIST CONNECTIONS SECONDS\n");
    return 2;
  }
  const guint n = CLAMP (atoi (argv[2]), 1, 256);
  GThread *threads[256];

  urls = read_urls (argv[1]);
  const double cpu = cpu_seconds ();
  const gint64 begun = g_get_monotonic_time ();

  until = begun + (gint64) (atof (argv[3]) * G_USEC_PER_SEC);
  for (guint i = 0; i < n; i++)
    threads[i] = g_thread_new ("fetch", fetch, NULL);
  for (guint i = 0; i < n; i++)
    g_thread_join (threads[i]);
  if (n_files == 0)
    fail ("nothing came");
  printf ("%.2f %.2f\n", (cpu_seconds () - cpu) * 1e6 / n_files,
      (double) (g_get_monotonic_time () - begun) / n_files);
  g_ptr_array_unref (urls);
  return 0;
}
