/* gst-spdl: redaction of secrets in URIs and messages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/redact.h"

#include <string.h>

#include "gst/spdl/common/storeuri.h"

#define HIDDEN "***"
#define HEADERS "extra-headers"

/* Characters that end a URI in a text. */
#define TEXT_ENDS " \t\r\n\"'<>`"

typedef struct {
  const gchar *begin;
  const gchar *end;
} Span;

/* Returns the userinfo between "://" and the host of the URI from @uri to @end,
 * or an empty span. A password may contain an unescaped "/". In that case the
 * text before the "/" looks like a host with a port that is not a number, and
 * the userinfo ends at the last "@" of the path. */
static Span
find_userinfo (const gchar *uri, const gchar *end)
{
  const gchar *slashes = g_strstr_len (uri, end - uri, "://");
  Span none = { end, end };
  const gchar *begin, *stop, *at = NULL, *colon = NULL;

  if (!slashes)
    return none;
  begin = slashes + strlen ("://");
  for (stop = begin; stop < end && !strchr ("/?#", *stop); stop++) {
    if (*stop == '@')
      at = stop;
    else if (*stop == ':' && !colon)
      colon = stop;
  }
  if (!at && colon && *begin != '[' && stop < end &&
      strspn (colon + 1, "0123456789") < (gsize) (stop - colon - 1))
    for (; stop < end; stop++)
      if (*stop == '@')
        at = stop;
  return at ? (Span){ begin, at } : none;
}

/* Checks if the parameter @name=@value is a secret: a signature, a token, a key
 * or a password. A "key" that contains a dot or a slash is the name of an
 * object; it identifies the item and is not secret. */
static gboolean
is_secret (Span name, Span value)
{
  static const gchar *const parts[] = { "signature", "token", "secret", "passw",
    "credential", "apikey", "accesskey", "authorization", "session" };
  static const gchar *const wholes[] = { "sig", "auth", "pwd", "pass", "jwt",
    "hmac" };
  g_autofree gchar *plain = g_uri_unescape_segment (name.begin, name.end, NULL);
  gsize n = 0;

  if (!plain)
    return FALSE;
  for (const gchar *at = plain; *at; at++)
    if (*at != '-' && *at != '_' && *at != '.')
      plain[n++] = g_ascii_tolower (*at);
  plain[n] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (plain, parts[i]))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (wholes); i++)
    if (g_str_equal (plain, wholes[i]))
      return TRUE;
  return g_str_equal (plain, "key") &&
         !memchr (value.begin, '.', value.end - value.begin) &&
         !memchr (value.begin, '/', value.end - value.begin);
}

static gboolean append_uri (GString *out, const gchar *uri, const gchar *end);

/* Appends the part of a URI after its path. Returns TRUE if something was
 * hidden. */
static gboolean
append_parameters (GString *out, const gchar *at, const gchar *end)
{
  gboolean hidden = FALSE;

  while (at < end) {
    const gchar *next, *equals;

    g_string_append_c (out, *at++); /* the separator */
    for (next = at; next < end && !strchr ("?&;#", *next); next++)
      ;
    equals = memchr (at, '=', next - at);
    if (equals && equals + 1 < next &&
        is_secret ((Span){ at, equals }, (Span){ equals + 1, next })) {
      g_string_append_len (out, at, equals + 1 - at);
      g_string_append (out, HIDDEN);
      hidden = TRUE;
    } else {
      hidden |= append_uri (out, at, next); /* may be a URI */
    }
    at = next;
  }
  return hidden;
}

static gboolean
append_uri (GString *out, const gchar *uri, const gchar *end)
{
  const Span user = find_userinfo (uri, end);
  const gboolean has_user = user.end < end;
  const gchar *rest = has_user ? user.end : uri, *query = rest;

  if (has_user) {
    g_string_append_len (out, uri, user.begin - uri);
    g_string_append (out, HIDDEN);
  }
  while (query < end && *query != '?' && *query != '#')
    query++;
  g_string_append_len (out, rest, query - rest);
  /* A key may hold any character, and has no query. */
  if (spdl_store_is_uri (uri)) {
    g_string_append_len (out, query, end - query);
    return has_user;
  }
  return append_parameters (out, query, end) || has_user;
}

gchar *
spdl_redact_uri (const gchar *uri)
{
  g_autoptr (GString) out = NULL;

  /* Most items are local files, whose names may contain any character. */
  if (strncmp (uri, "file:", 5) == 0 || *uri == '/' || !strpbrk (uri, "@?#") ||
      !strstr (uri, "://"))
    return NULL;
  out = g_string_new (NULL);
  if (!append_uri (out, uri, uri + strlen (uri)))
    return NULL;
  return g_string_free (g_steal_pointer (&out), FALSE);
}

gchar *
spdl_redact_dup_uri (const gchar *uri)
{
  gchar *shown = spdl_redact_uri (uri);

  return shown ? shown : g_strdup (uri);
}

gchar *
spdl_redact_remove_userinfo (const gchar *uri)
{
  const gchar *end = uri + strlen (uri);
  const Span user = find_userinfo (uri, end);

  return user.end == end ? g_strdup (uri)
                         : g_strdup_printf ("%.*s%s", (int) (user.begin - uri),
                               uri, user.end + 1);
}

/* Checks if the value of a structure continues after the blanks at @at, as in
 * "headers, Authorization=(string)x". */
static gboolean
goes_on (const gchar *begin, const gchar *at)
{
  return at > begin &&
         (strchr (",;)=", at[-1]) || at[strspn (at, " \t\r\n")] == '=');
}

/* Returns the end of a quoted value at @begin, whose quotes follow @n_escapes
 * backslashes. Quotes within the value follow more backslashes. */
static const gchar *
find_quoted_end (const gchar *begin, gsize n_escapes)
{
  const gchar quote = begin[n_escapes];
  gsize n = 0;

  for (const gchar *at = begin + n_escapes + 1; *at; at++) {
    if (*at == quote && n == n_escapes)
      return at + 1;
    n = *at == '\\' ? n + 1 : 0;
  }
  return begin + strlen (begin);
}

/* Returns the end of the value of a property at @begin, in a pipeline
 * description. */
static const gchar *
find_value_end (const gchar *begin)
{
  const gsize n_escapes = strspn (begin, "\\");
  const gchar *at;

  if (n_escapes > 0 && (begin[n_escapes] == '"' || begin[n_escapes] == '\''))
    return find_quoted_end (begin, n_escapes);
  for (at = begin; *at; at++) {
    if (*at == '\\' && at[1])
      at++;
    else if (*at == '"' || *at == '\'')
      at = find_quoted_end (at, 0) - 1;
    else if (g_ascii_isspace (*at) && goes_on (begin, at))
      at += strspn (at, " \t\r\n") - 1;
    else if (g_ascii_isspace (*at))
      break;
  }
  return at;
}

/* Returns the start of the value if @text begins with "extra-headers = VALUE",
 * or with the name in quotes as in GStreamer's error message for invalid
 * values, and NULL otherwise. @end is the end of the value. */
static const gchar *
find_headers (const gchar *text, const gchar **end)
{
  const gchar *at;

  if (!g_str_has_prefix (text, HEADERS))
    return NULL;
  at = text + strlen (HEADERS);
  /* Some locales use quotes that are not ASCII. */
  if (*at == '"' || *at == '\'' || (guchar) *at > 127) {
    *end = at + strlen (at);
    return at;
  }
  at += strspn (at, " \t\r\n");
  if (*at != '=')
    return NULL;
  at += 1 + strspn (at + 1, " \t\r\n");
  *end = find_value_end (at);
  return at;
}

static gboolean
is_scheme_char (gchar c)
{
  return g_ascii_isalnum (c) || c == '+' || c == '-' || c == '.';
}

gchar *
spdl_redact_text (const gchar *text)
{
  GString *out = g_string_new (NULL);

  while (*text) {
    const gchar *end = text, *rest, *value = find_headers (text, &end);

    if (value) {
      g_string_append_len (out, text, value - text);
      g_string_append (out, HIDDEN);
      text = end;
      continue;
    }
    while (is_scheme_char (*end) && !find_headers (end, &rest))
      end++;
    if (end > text && g_str_has_prefix (end, "://")) {
      end += strcspn (end, TEXT_ENDS);
      append_uri (out, text, end);
    } else {
      end = MAX (end, text + 1);
      g_string_append_len (out, text, end - text);
    }
    text = end;
  }
  return g_string_free (out, FALSE);
}

void
spdl_redact_error (GError *error)
{
  gchar *shown;

  if (!error)
    return;
  shown = spdl_redact_text (error->message);
  g_free (error->message);
  error->message = shown;
}
