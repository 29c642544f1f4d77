/* gst-spdl: responses without end, and broken chunks, of the hostile server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/server-request.h"

#include <string.h>

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Responses that begin with `begin` and repeat `more` without end, every 50 ms
 * if `slow`. */
static const struct {
  const gchar *fault, *begin, *more;
  gboolean slow;
} endless[] = {
  { "endless-status", "HTTP/1.1 2", "2222222222222222", FALSE },
  { "endless-headers", "HTTP/1.1 200 OK\r\n", "X-More: more\r\n", FALSE },
  { "endless-line", "HTTP/1.1 200 OK\r\nX-More: ", "and more ", FALSE },
  { "endless-early", "", "HTTP/1.1 103 Early\r\nX: y\r\n\r\n", FALSE },
  { "slow-early", "", "HTTP/1.1 103 Early\r\nX: y\r\n\r\n", TRUE },
  { "slow-head", "HTTP/1.1 200 OK\r\nX-More: ", "m", TRUE },
  { "endless-size", CHUNKED, "0", FALSE },
  { "endless-extension", CHUNKED "5;more=", "and more ", FALSE },
  { "endless-trailers", CHUNKED "1\r\nA\r\n0\r\n", "X-More: more\r\n", FALSE },
  { "slow-trailers", CHUNKED "1\r\nA\r\n0\r\n", "X", TRUE },
  { "endless-chunks", CHUNKED, "1\r\nA\r\n", FALSE },
  { "endless-body", "HTTP/1.1 200 OK\r\n\r\n", "and more ", FALSE },
  { "slow-body", "HTTP/1.1 200 OK\r\n\r\n", "m", TRUE },
  { "endless-refusal", "HTTP/1.1 404 No\r\n\r\n", "and more ", FALSE },
};

static void
send_without_end (
    Request *r, const gchar *begin, const gchar *more, gboolean slow)
{
  GString *block = g_string_new (more);

  while (!slow && block->len < 4096)
    g_string_append (block, more);
  r->keep = FALSE;
  if (server_send (r, begin, strlen (begin)))
    while (server_send (r, block->str, block->len))
      g_usleep (slow ? 100000 : 0);
  g_string_free (block, TRUE);
}

/* What follows the content of the first chunk of a body, in place of a correct
 * end. */
static const struct {
  const gchar *name, *tail;
} tails[] = {
  { "negative", "\r\n-5\r\nxxxx" },
  { "overflow", "\r\nFFFFFFFFFFFFFFFF\r\nxxxx" },
  { "letters", "\r\nzz\r\nxxxx" },
  { "letters-and-end", "\r\nzz\r\n\r\n" },
  { "letters-and-trailer", "\r\nzz\r\nX: y\r\n\r\n" },
  { "no-size", "\r\n\r\n" },
  { "only-extension", "\r\n;x\r\n\r\n" },
  { "cut", "\r\n" },
  { "cut-in-size", "\r\n6" },
  { "cut-in-end", "\r\n0\r\n" },
  { "cut-in-trailer", "\r\n0\r\nX: y\r\n" },
  { "spill", "xx\r\n0\r\n\r\n" },
};

/* Sends half of the body in a chunk, and a tail. */
static void
send_tail (Request *r)
{
  g_autofree guint8 *data = g_malloc (r->size);
  g_autofree gchar *head =
      g_strdup_printf (CHUNKED "%x\r\n", (guint) r->size / 2);
  const gchar *tail = "";

  for (guint i = 0; i < G_N_ELEMENTS (tails); i++)
    if (g_str_equal (tails[i].name, r->rest))
      tail = tails[i].tail;
  g_assert (*tail);
  server_make_body (data, 0, r->size / 2, 0);
  server_send (r, head, strlen (head));
  server_send (r, data, r->size / 2);
  server_send (r, tail, strlen (tail));
  r->keep = FALSE;
}

/* Sends the body in two chunks, with everything that is allowed around them. */
static void
send_rich_chunks (Request *r)
{
  static const gchar end[] = "\r\n000;last\r\nX-One: 1\r\nX-Two: 2\r\n\r\n";
  const gsize half = r->size / 2;
  g_autofree guint8 *data = g_malloc (r->size);
  g_autofree gchar *head =
      g_strdup_printf (CHUNKED "%06X  ;name=\"value\"\r\n", (guint) half);
  g_autofree gchar *middle =
      g_strdup_printf ("\r\n%x \r\n", (guint) (r->size - half));

  server_make_body (data, 0, r->size, 0);
  server_send (r, head, strlen (head));
  server_send (r, data, half);
  server_send (r, middle, strlen (middle));
  server_send (r, data + half, r->size - half);
  server_send (r, end, strlen (end));
}

/* Redirects to another URI each time. */
static void
redirect_on (Request *r)
{
  g_autofree gchar *text = g_strdup_printf (
      "HTTP/1.1 302 Found\r\nLocation: /endless-redirects/99/%u\r\n"
      "Content-Length: 0\r\n\r\n",
      (guint) r->size + 1);

  server_send (r, text, strlen (text));
}

/* Begins a TLS record of 16 KiB, below the TLS connection. */
static void
begin_record (Request *r)
{
  static const guint8 begin[] = { 0x17, 3, 3, 0x40, 0, 1, 2, 3 };

  g_output_stream_write_all (
      g_io_stream_get_output_stream (G_IO_STREAM (r->connection)), begin,
      sizeof begin, NULL, NULL, NULL);
  server_stall (r->server);
  r->keep = FALSE;
}

gboolean
server_answer_hostile (Request *r)
{
  if (!r->faulty)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (endless); i++) {
    if (g_str_equal (r->fault, endless[i].fault)) {
      send_without_end (r, endless[i].begin, endless[i].more, endless[i].slow);
      return TRUE;
    }
  }
  if (g_str_equal (r->fault, "tail"))
    send_tail (r);
  else if (g_str_equal (r->fault, "rich-chunks"))
    send_rich_chunks (r);
  else if (g_str_equal (r->fault, "endless-redirects"))
    redirect_on (r);
  else if (g_str_equal (r->fault, "record"))
    begin_record (r);
  else
    return FALSE;
  return TRUE;
}
