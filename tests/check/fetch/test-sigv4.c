/* gst-spdl: tests of Signature Version 4
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <libsoup/soup.h>
#include <string.h>

#include "plugins/fetch/store/sigv4.h"
#include "tests/check/support/signed-line.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* Signatures that AWS has published. */
static void
test_vectors (void)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (SIGV4_VECTORS, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line; line++) {
    const gchar *request = strchr (*line, '\t');
    const gchar *signature = strrchr (*line, '\t');
    g_autofree gchar *found = NULL;

    if (**line == '#' || !request)
      continue;
    found = signed_line (request + 1);
    g_assert_nonnull (found);
    g_test_message ("%s", *line);
    g_assert_cmpstr (strrchr (found, '=') + 1, ==, signature + 1);
    n++;
  }
  g_assert_cmpuint (n, ==, 15);
}

static SoupMessageHeaders *
sign (const gchar *service, const gchar *token)
{
  SoupMessageHeaders *headers =
      soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);
  SpdlSigV4Key key = {
    .access_key = "AKIDEXAMPLE",
    .secret_key = "secret",
    .session_token = token,
    .region = "eu-west-1",
    .service = service,
  };

  spdl_sigv4_sign (&key, "GET", "host", "/", NULL, 1369353600, headers);
  return headers;
}

static void
assert_header (
    SoupMessageHeaders *headers, const gchar *name, const gchar *value)
{
  g_assert_cmpstr (soup_message_headers_get_list (headers, name), ==, value);
}

static void
test_headers (void)
{
  SoupMessageHeaders *headers = sign ("s3", "token+/=");
  const gchar *text;

  assert_header (headers, "x-amz-date", "20130524T000000Z");
  assert_header (headers, "x-amz-content-sha256", EMPTY);
  assert_header (headers, "x-amz-security-token", "token+/=");
  text = soup_message_headers_get_one (headers, "Authorization");
  g_assert_nonnull (strstr (
      text, "Credential=AKIDEXAMPLE/20130524/eu-west-1/s3/aws4_request,"));
  g_assert_nonnull (strstr (text, "SignedHeaders=host;x-amz-content-sha256;"
                                  "x-amz-date;x-amz-security-token,"));
  soup_message_headers_unref (headers);

  headers = sign ("sts", NULL);
  assert_header (headers, "x-amz-content-sha256", NULL);
  assert_header (headers, "x-amz-security-token", NULL);
  soup_message_headers_unref (headers);
}

/* Tests that a request that is sent again is signed again. */
static void
test_again (void)
{
  SpdlSigV4Key key = {
    .access_key = "A",
    .secret_key = "S",
    .region = "r",
    .service = "s3",
  };
  SoupMessageHeaders *once =
      soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);
  SoupMessageHeaders *twice =
      soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);

  spdl_sigv4_sign (&key, "GET", "host", "/a", NULL, 1000000000, once);
  spdl_sigv4_sign (&key, "GET", "host", "/b", "q", 2000000000, twice);
  spdl_sigv4_sign (&key, "GET", "host", "/a", NULL, 1000000000, twice);
  assert_header (twice, "x-amz-date", "20010909T014640Z");
  assert_header (twice, "Authorization",
      soup_message_headers_get_one (once, "Authorization"));
  soup_message_headers_unref (once);
  soup_message_headers_unref (twice);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sigv4/vectors", test_vectors);
  g_test_add_func ("/sigv4/headers", test_headers);
  g_test_add_func ("/sigv4/again", test_again);
  return g_test_run ();
}
