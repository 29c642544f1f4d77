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

/* URIs in URIs are searched to this depth. */
#define MAX_DEPTH 8

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

/* Returns the first of the characters @any from @at to @end, or @end. */
static const gchar *
find_any (const gchar *at, const gchar *end, const gchar *any)
{
  while (at < end && !strchr (any, *at))
    at++;
  return at;
}

/* Checks if @host belongs to Azure Functions, where the parameter `code` is a
 * key. Elsewhere, it may be any code. */
static gboolean
has_secret_code (Span host)
{
  static const gchar azure[] = ".azurewebsites.net";
  const gsize n = strlen (azure);

  return (gsize) (host.end - host.begin) > n &&
         g_ascii_strncasecmp (host.end - n, azure, n) == 0;
}

/* Checks if the parameter @name=@value is a secret: a signature, a token, a key
 * or a password. A "key" that contains a dot or a slash is the name of an
 * object; it identifies the item and is not secret. The lists hold names
 * without "-", "_" and ".". */
static gboolean
is_secret (Span name, Span value, Span host)
{
  static const gchar *const parts[] = { "signature", "token", "secret", "passw",
    "credential", "apikey", "accesskey", "authkey", "privatekey",
    "authorization", "session" };
  /* hdnts, hdnea, hdntl: tokens of Akamai */
  static const gchar *const wholes[] = { "sig", "auth", "pwd", "pass", "jwt",
    "hmac", "hdnts", "hdnea", "hdntl" };
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
  if (g_str_equal (plain, "code"))
    return has_secret_code (host);
  return g_str_equal (plain, "key") &&
         !memchr (value.begin, '.', value.end - value.begin) &&
         !memchr (value.begin, '/', value.end - value.begin);
}

static gboolean
append_uri (GString *out, const gchar *uri, const gchar *end, guint depth);

/* Appends a part of a URI, which may be a URI itself, also with escapes as in
 * "http%3A%2F%2Fuser%3Apassword%40host". Returns TRUE if something was
 * hidden. */
static gboolean
append_nested (GString *out, const gchar *begin, const gchar *end, guint depth)
{
  g_autofree gchar *plain = NULL;
  g_autoptr (GString) shown = NULL;

  if (!memchr (begin, '%', end - begin) ||
      g_strstr_len (begin, end - begin, "://"))
    return append_uri (out, begin, end, depth + 1);
  plain = g_uri_unescape_segment (begin, end, NULL);
  shown = g_string_new (NULL);
  /* The escapes stay as they are if they hide nothing. */
  if (!plain || !append_uri (shown, plain, plain + strlen (plain), depth + 1)) {
    g_string_append_len (out, begin, end - begin);
    return FALSE;
  }
  g_string_append_uri_escaped (out, shown->str, "*", FALSE);
  return TRUE;
}

/* Appends the part of a URI after its path. Returns TRUE if something was
 * hidden. */
static gboolean
append_parameters (
    GString *out, const gchar *at, const gchar *end, Span host, guint depth)
{
  gboolean hidden = FALSE;

  while (at < end) {
    const gchar *next, *equals, *value;

    g_string_append_c (out, *at++); /* the separator */
    next = find_any (at, end, "?&;#");
    equals = memchr (at, '=', next - at);
    value = equals ? equals + 1 : at;
    g_string_append_len (out, at, value - at);
    if (equals && value < next &&
        is_secret ((Span){ at, equals }, (Span){ value, next }, host)) {
      g_string_append (out, HIDDEN);
      hidden = TRUE;
    } else {
      hidden |= append_nested (out, value, next, depth);
    }
    at = next;
  }
  return hidden;
}

/* Appends the path of a URI from @at, which begins with its host. A segment may
 * hold a URI with escapes, as the paths of proxies do. */
static gboolean
append_path (GString *out, const gchar *at, const gchar *end, guint depth)
{
  gboolean hidden = FALSE;

  if (g_strstr_len (at, end - at, "://"))
    return append_uri (out, at, end, depth + 1);
  while (at < end) {
    const gchar *next = find_any (at, end, "/");

    if (memchr (at, '%', next - at))
      hidden |= append_nested (out, at, next, depth);
    else
      g_string_append_len (out, at, next - at);
    if (next < end)
      g_string_append_c (out, *next++);
    at = next;
  }
  return hidden;
}

/* Appends a URI, or a text without one. Returns TRUE if something was
 * hidden. */
static gboolean
append_uri (GString *out, const gchar *uri, const gchar *end, guint depth)
{
  const Span user = find_userinfo (uri, end);
  const gchar *slashes = g_strstr_len (uri, end - uri, "://");
  gboolean hidden = user.end < end;
  const gchar *host, *query;
  Span name;

  if (depth > MAX_DEPTH) { /* bounds the stack */
    g_string_append (out, HIDDEN);
    return TRUE;
  }
  if (!slashes && memchr (uri, '%', end - uri))
    return append_nested (out, uri, end, depth);
  if (!slashes) {
    g_string_append_len (out, uri, end - uri);
    return FALSE;
  }
  host = hidden ? user.end : slashes + strlen ("://");
  g_string_append_len (out, uri, (hidden ? user.begin : host) - uri);
  if (hidden)
    g_string_append (out, HIDDEN);
  /* A key may hold any character, and has no query. */
  if (spdl_store_is_uri (uri)) {
    g_string_append_len (out, host, end - host);
    return hidden;
  }
  query = find_any (host, end, "?#;");
  name = (Span){ host, find_any (host, query, "/:") };
  hidden |= append_path (out, host, query, depth);
  hidden |= append_parameters (out, query, end, name, depth);
  return hidden;
}

gchar *
spdl_redact_uri (const gchar *uri)
{
  g_autoptr (GString) out = NULL;

  /* Most items are local files, whose names may contain any character. */
  if (strncmp (uri, "file:", 5) == 0 || *uri == '/' ||
      !strpbrk (uri, "@?#;%") || !strstr (uri, "://"))
    return NULL;
  out = g_string_new (NULL);
  if (!append_uri (out, uri, uri + strlen (uri), 0))
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
      append_uri (out, text, end, 0);
    } else if (end > text && g_ascii_strncasecmp (end, "%3A%2F%2F", 9) == 0) {
      end += strcspn (end, TEXT_ENDS "&;?#=");
      append_nested (out, text, end, 0);
    } else {
      end = MAX (end, text + 1);
      g_string_append_len (out, text, end - text);
    }
    text = end;
  }
  return g_string_free (out, FALSE);
}
