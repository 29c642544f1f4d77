/* gst-spdl: AWS Signature Version 4
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/sigv4.h"

#include <stdlib.h>
#include <string.h>

#include <nettle/base16.h>
#include <nettle/sha2.h>

#define ALGORITHM "AWS4-HMAC-SHA256"
#define DAY_LENGTH 8
/* SHA-256 of an empty body. */
#define EMPTY_HASH \
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

gchar *
spdl_sigv4_escape (const gchar *text, gboolean keep_slashes)
{
  static const gchar digits[] = "0123456789ABCDEF";
  GString *escaped = g_string_sized_new (strlen (text));

  for (; *text; text++) {
    const guchar c = *text;

    if (g_ascii_isalnum (c) || strchr ("-._~", c) ||
        (keep_slashes && c == '/')) {
      g_string_append_c (escaped, c);
    } else {
      g_string_append_c (escaped, '%');
      g_string_append_c (escaped, digits[c >> 4]);
      g_string_append_c (escaped, digits[c & 15]);
    }
  }
  return g_string_free (escaped, FALSE);
}

gchar *
spdl_sigv4_dup_host (GUri *uri)
{
  const gchar *host = g_uri_get_host (uri);
  const gint port = g_uri_get_port (uri);
  const gboolean tls = g_str_equal (g_uri_get_scheme (uri), "https");
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, strchr (host, ':') ? "[%s]" : "%s", host);
  if (port > 0 && port != (tls ? 443 : 80))
    g_string_append_printf (text, ":%d", port);
  return g_string_free (text, FALSE);
}

/* Compares the parts before @separator, then the parts after it. A comparison
 * of the whole texts gives another order, since digits and '-' are less than
 * both separators. */
static gint
compare_fields (const gchar *one, const gchar *other, const gchar *separator)
{
  const gsize n = strcspn (one, separator),
              n_other = strcspn (other, separator);
  const gint order = memcmp (one, other, MIN (n, n_other));

  if (order != 0 || n != n_other)
    return order != 0 ? order : n < n_other ? -1 : 1;
  return strcmp (one + n, other + n_other);
}

static int
compare_parameters (const void *a, const void *b)
{
  return compare_fields (*(gchar *const *) a, *(gchar *const *) b, "=");
}

static gint
compare_lines (gconstpointer a, gconstpointer b)
{
  return compare_fields (*(gchar *const *) a, *(gchar *const *) b, ":");
}

static void
append_query (GString *request, const gchar *query)
{
  g_auto (GStrv) parameters = g_strsplit (query, "&", -1);
  const guint n = g_strv_length (parameters);

  qsort (parameters, n, sizeof *parameters, compare_parameters);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (request, "%s%s%s", i > 0 ? "&" : "", parameters[i],
        strchr (parameters[i], '=') ? "" : "=");
}

/* Appends @value without blanks at its ends, and with runs of blanks reduced to
 * one. */
static void
append_value (GString *line, const gchar *value)
{
  gboolean blank = FALSE, any = FALSE;

  for (; *value; value++) {
    if (*value == ' ') {
      blank = any;
      continue;
    }
    if (blank)
      g_string_append_c (line, ' ');
    blank = FALSE;
    any = TRUE;
    g_string_append_c (line, *value);
  }
}

static void
add_header (const gchar *name, const gchar *value, gpointer user_data)
{
  GPtrArray *lines = user_data;
  g_autofree gchar *lower = NULL;
  const gsize n = strlen (name);
  GString *line;

  if (g_ascii_strncasecmp (name, "x-amz-", 6) != 0 &&
      g_ascii_strcasecmp (name, "range") != 0)
    return;
  lower = g_ascii_strdown (name, n);
  for (guint i = 0; i < lines->len; i++) {
    const gchar *before = g_ptr_array_index (lines, i);

    if (strncmp (before, lower, n) != 0 || before[n] != ':')
      continue;
    line = g_string_new_len (before, strlen (before) - 1);
    g_string_append_c (line, ',');
    append_value (line, value);
    g_string_append_c (line, '\n');
    g_free (lines->pdata[i]);
    lines->pdata[i] = g_string_free (line, FALSE);
    return;
  }
  line = g_string_new (lower);
  g_string_append_c (line, ':');
  append_value (line, value);
  g_string_append_c (line, '\n');
  g_ptr_array_add (lines, g_string_free (line, FALSE));
}

/* Appends the headers that are signed, and returns their names (transfer
 * full), separated by ";". */
static gchar *
append_headers (
    GString *request, const gchar *host, SoupMessageHeaders *headers)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  GString *names = g_string_new (NULL);

  g_ptr_array_add (lines, g_strdup_printf ("host:%s\n", host));
  soup_message_headers_foreach (headers, add_header, lines);
  g_ptr_array_sort (lines, compare_lines);
  for (guint i = 0; i < lines->len; i++) {
    const gchar *line = g_ptr_array_index (lines, i);

    g_string_append (request, line);
    if (i > 0)
      g_string_append_c (names, ';');
    g_string_append_len (names, line, strcspn (line, ":"));
  }
  g_string_append_c (request, '\n');
  g_string_append_len (request, names->str, names->len);
  g_string_append_c (request, '\n');
  return g_string_free (names, FALSE);
}

static void
append_scope (GString *text, const SpdlSigV4Key *key)
{
  g_string_append_len (text, key->stamp, DAY_LENGTH);
  g_string_append_c (text, '/');
  g_string_append (text, key->region);
  g_string_append_c (text, '/');
  g_string_append (text, key->service);
  g_string_append (text, "/aws4_request");
}

static void
update_hmac (struct hmac_sha256_ctx *hmac, const gchar *text)
{
  hmac_sha256_update (hmac, strlen (text), (const guint8 *) text);
}

/* Replaces the key of @hmac by the HMAC of @text with that key. */
static void
derive_key (struct hmac_sha256_ctx *hmac, const gchar *text)
{
  guint8 key[SHA256_DIGEST_SIZE];

  update_hmac (hmac, text);
  hmac_sha256_digest (hmac, sizeof key, key);
  hmac_sha256_set_key (hmac, sizeof key, key);
}

static void
set_day (SpdlSigV4Key *key)
{
  g_autofree gchar *secret = NULL;

  if (strncmp (key->day, key->stamp, DAY_LENGTH) == 0)
    return;
  secret = g_strconcat ("AWS4", key->secret_key, NULL);
  g_strlcpy (key->day, key->stamp, sizeof key->day);
  hmac_sha256_set_key (&key->keyed, strlen (secret), (const guint8 *) secret);
  derive_key (&key->keyed, key->day);
  derive_key (&key->keyed, key->region);
  derive_key (&key->keyed, key->service);
  derive_key (&key->keyed, "aws4_request");
  explicit_bzero (secret, strlen (secret));
}

/* Computes the parts that are equal for all signatures of one second. */
static void
set_time (SpdlSigV4Key *key, gint64 time)
{
  g_autoptr (GDateTime) date = NULL;
  g_autofree gchar *stamp = NULL;
  g_autoptr (GString) begin = NULL;

  if (key->time == time && *key->stamp)
    return;
  date = g_date_time_new_from_unix_utc (time);
  stamp = g_date_time_format (date, "%Y%m%dT%H%M%SZ");
  g_strlcpy (key->stamp, stamp, sizeof key->stamp);
  key->time = time;
  set_day (key);
  begin = g_string_new (ALGORITHM "\n");
  g_string_append (begin, key->stamp);
  g_string_append_c (begin, '\n');
  append_scope (begin, key);
  g_string_append_c (begin, '\n');
  key->begun = key->keyed;
  update_hmac (&key->begun, begin->str);
}

static void
add_common_headers (const SpdlSigV4Key *key, SoupMessageHeaders *headers)
{
  soup_message_headers_replace (headers, "X-Amz-Date", key->stamp);
  if (g_str_equal (key->service, "s3"))
    soup_message_headers_replace (headers, "X-Amz-Content-SHA256", EMPTY_HASH);
  if (key->session_token)
    soup_message_headers_replace (
        headers, "X-Amz-Security-Token", key->session_token);
}

static void
append_request (
    GString *text, const gchar *method, const gchar *path, const gchar *query)
{
  g_string_append (text, method);
  g_string_append_c (text, '\n');
  g_string_append (text, path);
  g_string_append_c (text, '\n');
  if (query)
    append_query (text, query);
  g_string_append_c (text, '\n');
}

/* Computes the signature of the canonical @request, in hexadecimal digits. */
static void
sign_request (const SpdlSigV4Key *key, const GString *request,
    gchar signature[BASE16_ENCODE_LENGTH (SHA256_DIGEST_SIZE) + 1])
{
  struct sha256_ctx sha;
  struct hmac_sha256_ctx hmac = key->begun;
  guint8 digest[SHA256_DIGEST_SIZE];

  sha256_init (&sha);
  sha256_update (&sha, request->len, (const guint8 *) request->str);
  sha256_digest (&sha, sizeof digest, digest);
  base16_encode_update (signature, sizeof digest, digest);
  hmac_sha256_update (
      &hmac, BASE16_ENCODE_LENGTH (sizeof digest), (const guint8 *) signature);
  hmac_sha256_digest (&hmac, sizeof digest, digest);
  base16_encode_update (signature, sizeof digest, digest);
  signature[BASE16_ENCODE_LENGTH (sizeof digest)] = '\0';
}

void
spdl_sigv4_sign (SpdlSigV4Key *key, const gchar *method, const gchar *host,
    const gchar *path, const gchar *query, gint64 time,
    SoupMessageHeaders *headers)
{
  g_autofree gchar *names = NULL;
  g_autoptr (GString) text = g_string_sized_new (1024);
  gchar signature[BASE16_ENCODE_LENGTH (SHA256_DIGEST_SIZE) + 1];

  set_time (key, time);
  add_common_headers (key, headers);
  append_request (text, method, path, query);
  names = append_headers (text, host, headers);
  g_string_append (text, EMPTY_HASH);
  sign_request (key, text, signature);
  g_string_assign (text, ALGORITHM " Credential=");
  g_string_append (text, key->access_key);
  g_string_append_c (text, '/');
  append_scope (text, key);
  g_string_append (text, ", SignedHeaders=");
  g_string_append (text, names);
  g_string_append (text, ", Signature=");
  g_string_append (text, signature);
  soup_message_headers_replace (headers, "Authorization", text->str);
}
