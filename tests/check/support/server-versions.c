/* gst-spdl: versioned responses of the hostile HTTP server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/server-request.h"

#include <string.h>

static const gchar *const faults[] = { "kept", "mixed", "mixed-date",
  "mixed-weak", "mixed-bare", "mixed-lost", "replica", "dated", "weak", "bare",
  "forbidden", "nolength", "liar", "stubborn", "pinned", "hop", NULL };

typedef struct {
  guint64 first, size;
  gboolean partial;
  guint version;
  gchar *validator; /* as a header; "": none */
} Good;

static gboolean
is_fault (const Request *r, const gchar *fault)
{
  return strcmp (r->fault, fault) == 0;
}

static gboolean
is_mixed (const Request *r)
{
  return g_str_has_prefix (r->fault, "mixed");
}

static gchar *
dup_field (const Request *r, const gchar *name)
{
  g_autofree gchar *start = g_strdup_printf ("\r\n%s: ", name);
  const gchar *found = strcasestr (r->header, start);

  if (!found)
    return NULL;
  found += strlen (start);
  return g_strndup (found, strcspn (found, "\r"));
}

static void
send_text (Request *r, const gchar *text)
{
  if (!server_send (r, text, strlen (text)))
    r->keep = FALSE;
}

/* Returns the headers of a date, which depends on @n. */
static gchar *
make_date (guint n)
{
  return g_strdup_printf ("Date: Fri, 01 Jan 2021 00:00:00 GMT\r\n"
                          "Last-Modified: Wed, %02u Jan 2020 00:00:00 GMT\r\n",
      1 + n);
}

static gchar *
make_validator (const Request *r, guint version)
{
  g_autofree gchar *date = make_date (r->nth);

  if (g_str_has_suffix (r->fault, "bare") ||
      (is_fault (r, "mixed-lost") && r->nth > 1))
    return g_strdup ("");
  if (is_fault (r, "dated") || is_fault (r, "mixed-date"))
    return make_date (version);
  if (is_fault (r, "pinned"))
    return g_strdup ("ETag: \"same\"\r\n");
  return g_strdup_printf ("ETag: %s\"v%u\"\r\n%s",
      g_str_has_suffix (r->fault, "weak") ? "W/" : "", version,
      is_fault (r, "replica") ? date : "");
}

static gboolean
is_unchanged (const Request *r, const Good *good)
{
  g_autofree gchar *tag = dup_field (r, "If-None-Match");
  g_autofree gchar *date = dup_field (r, "If-Modified-Since");
  const gchar *condition = tag ? tag : date;

  if (!condition || is_fault (r, "stubborn"))
    return FALSE;
  return is_fault (r, "liar") || strstr (good->validator, condition) != NULL;
}

/* Selects the requested range of @version. */
static void
choose (const Request *r, Good *good)
{
  g_autofree gchar *range = dup_field (r, "Range");
  g_autofree gchar *condition = dup_field (r, "If-Range");
  guint64 last = r->size - 1;
  gchar *end;

  if (!range ||
      (condition && !strstr (good->validator, condition) && !is_mixed (r)))
    return;
  good->partial = TRUE;
  good->first = g_ascii_strtoull (range + strlen ("bytes="), &end, 10);
  if (end[0] == '-' && end[1] != '\0')
    last = MIN (last, g_ascii_strtoull (end + 1, NULL, 10));
  good->size = last + 1 - good->first;
}

static gchar *
make_head (const Request *r, const Good *good)
{
  GString *head = g_string_new (NULL);

  g_string_append_printf (head, "HTTP/1.1 %s\r\n%s",
      good->partial ? "206 Partial Content" : "200 OK", good->validator);
  if (is_fault (r, "nolength"))
    g_string_append (head, "Connection: close\r\n");
  else
    g_string_append_printf (
        head, "Content-Length: %" G_GUINT64_FORMAT "\r\n", good->size);
  if (good->partial)
    g_string_append_printf (head,
        "Content-Range: bytes %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT
        "/%" G_GUINT64_FORMAT "\r\n",
        good->first, good->first + good->size - 1, r->size);
  if (is_fault (r, "forbidden"))
    g_string_append (head, "Cache-Control: private, no-store\r\n");
  g_string_append (head, "\r\n");
  return g_string_free (head, FALSE);
}

static void
send_good (Request *r, const Good *good)
{
  const guint64 n = r->faulty ? good->size / 2 : good->size;
  g_autofree guint8 *data = g_malloc (n);
  g_autofree gchar *head = make_head (r, good);

  server_count_answer (r->server, n, FALSE);
  send_text (r, head);
  server_make_body (data, good->first, n, good->version);
  if (!server_send (r, data, n) || r->faulty || is_fault (r, "nolength"))
    r->keep = FALSE;
}

static guint
get_version (const Request *r)
{
  if (is_fault (r, "pinned"))
    return r->count;
  return server_get_version (r->server) + (is_mixed (r) && r->nth > 1);
}

gboolean
server_answer_versioned (Request *r)
{
  const guint version = get_version (r);
  Good good = { 0, r->size, FALSE, version, NULL };
  g_autofree gchar *text = NULL;

  if (!g_strv_contains (faults, r->fault))
    return FALSE;
  if (is_fault (r, "hop")) {
    text = g_strdup_printf (
        "HTTP/1.1 302 Found\r\nLocation: /pinned/%u/%" G_GUINT64_FORMAT
        "/%s\r\nContent-Length: 0\r\n\r\n",
        version, r->size, r->rest);
    send_text (r, text);
    return TRUE;
  }
  if (is_fault (r, "pinned"))
    r->faulty = FALSE;
  good.validator = make_validator (r, version);
  if (is_unchanged (r, &good)) {
    server_count_answer (r->server, 0, TRUE);
    text =
        g_strdup_printf ("HTTP/1.1 304 Not Modified\r\n%s\r\n", good.validator);
    send_text (r, text);
  } else {
    choose (r, &good);
    send_good (r, &good);
  }
  g_free (good.validator);
  return TRUE;
}
