/* gst-spdl: tests of the redaction of secrets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/redact.h"

#include <string.h>

/* @shown: NULL: nothing is redacted */
typedef struct {
  const gchar *text;
  const gchar *shown;
} Case;

static void
test_uris (void)
{
  static const Case cases[] = {
    { "/data/a@b?token=c", NULL },
    { "file:///data/a@b?token=c", NULL },
    { "http://host/a.jpg", NULL },
    { "http://host/a@b:c.jpg", NULL },
    { "http://[::1]:80/a@b.jpg", NULL },
    { "http://host:80/a@b.jpg?size=5&id=7#bytes=0-9", NULL },
    { "http://me:pw@host/a.jpg", "http://***@host/a.jpg" },
    { "http://me@host:80/a", "http://***@host:80/a" },
    { "http://me:p@w@host", "http://***@host" },
    { "http://me:p/w@host/a", "http://***@host/a" },
    { "http://me:p?w#x@host/a", "http://***@host/a" },
    { "http://me:pw@[::1]:80/a", "http://***@[::1]:80/a" },
    { "s3://me:pw@bucket/a", "s3://***@bucket/a" },
    { "https://h/a?X-Amz-Signature=0aF&X-Amz-Date=1#bytes=0-9",
        "https://h/a?X-Amz-Signature=***&X-Amz-Date=1#bytes=0-9" },
    { "https://h/a?X%2DAmz-Security%2dToken=x%26y&id=2",
        "https://h/a?X%2DAmz-Security%2dToken=***&id=2" },
    { "https://h/a?sv=1&sig=a%2Bb=&se=2", "https://h/a?sv=1&sig=***&se=2" },
    { "https://h/a?id=1;access_token=b c",
        "https://h/a?id=1;access_token=***" },
    { "https://h/a#token=b", "https://h/a#token=***" },
    { "https://h/a?token=", NULL },
    { "https://h/a?token", NULL },
    { "https://h/a?key=AIza", "https://h/a?key=***" },
    { "https://h/a?key=images/1.jpg", NULL },
    { "https://h/a?design=1&signal=2", NULL },
    { "https://h/?u=http://me:pw@x/", "https://h/?u=http://***@x/" },
    { "https://me:pw@h/a?Signature=b", "https://***@h/a?Signature=***" },
    { "https://h/a?private_key=b&auth_key=1-2-3",
        "https://h/a?private_key=***&auth_key=***" },
    { "https://h/a?hdnts=exp=1~acl=/*~hmac=0a&id=2",
        "https://h/a?hdnts=***&id=2" },
    { "https://h/a?hdnea=st=1~hmac=0a#hdntl=exp=1",
        "https://h/a?hdnea=***#hdntl=***" },
    { "https://h/a;jsessionid=0A?id=2", "https://h/a;jsessionid=***?id=2" },
    { "https://f.AzureWebsites.net:443/api?code=a/b.c==",
        "https://f.AzureWebsites.net:443/api?code=***" },
    { "https://me@f.azurewebsites.net/?code=a",
        "https://***@f.azurewebsites.net/?code=***" },
    { "https://azurewebsites.net.example.com/?code=a", NULL },
    { "https://h/azurewebsites.net?code=a", NULL },
    { "http://h/?u=http%3A%2F%2Fme%3Apw%40x%2Fa&id=2",
        "http://h/?u=http%3A%2F%2F***%40x%2Fa&id=2" },
    { "http://h/http%3a%2f%2fme%3apw%40x/a%20b.jpg",
        "http://h/http%3A%2F%2F***%40x/a%20b.jpg" },
    { "http://h/?u=http%253A%252F%252Fme%253Apw%2540x",
        "http://h/?u=http%253A%252F%252F***%2540x" },
    { "http://h/?u=https%3A%2F%2Fx%2F%3Fsig%3Da%26id%3D2",
        "http://h/?u=https%3A%2F%2Fx%2F%3Fsig%3D***%26id%3D2" },
    { "http://h/http://me:pw@x/a", "http://h/http://***@x/a" },
    { "http://h/a%40b%3A.jpg?u=a%20b%2", NULL },
    { "http://h/?u=http://x/%41?id=1", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *shown = spdl_redact_uri (cases[i].text);
    g_autofree gchar *copy = spdl_redact_dup_uri (cases[i].text);

    g_assert_cmpstr (shown, ==, cases[i].shown);
    g_assert_cmpstr (copy, ==, cases[i].shown ? cases[i].shown : cases[i].text);
  }
}

static void
test_texts (void)
{
  static const Case cases[] = {
    { "", "" },
    { "nothing: of note @ 5", "nothing: of note @ 5" },
    { "\"http://me:pw@h/a\" and https://h/b?sig=c.",
        "\"http://***@h/a\" and https://h/b?sig=***" },
    { "spdlfetch extra-headers=\"headers, A=(string)\\\"x y\\\";\" retries=1",
        "spdlfetch extra-headers=*** retries=1" },
    { "extra-headers = 'headers, A=\"x y\"' ! fakesink",
        "extra-headers = *** ! fakesink" },
    { "fetch.extra-headers=headers,A=b", "fetch.extra-headers=***" },
    /* The text as a shell passes it. */
    { "extra-headers=headers, A=(string)\"x y\", B = z ! fakesink",
        "extra-headers=*** ! fakesink" },
    { "extra-headers=headers,A=x\\ y ! fakesink",
        "extra-headers=*** ! fakesink" },
    /* The description is the property of another element. */
    { "pipeline=\"spdlfetch extra-headers=\\\"headers, A=\\\\\\\"x "
      "y\\\\\\\"\\\""
      " retries=1\"",
        "pipeline=\"spdlfetch extra-headers=*** retries=1\"" },
    { "could not set property \"extra-headers\" in \"f\" to \"A: x y\".",
        "could not set property \"extra-headers***" },
    { "could not set property \302\253extra-headers\302\273 to \302\253x y",
        "could not set property \302\253extra-headers***" },
    { "to http%3A%2F%2Fme%3Apw%40h%2Fa&id=2 now",
        "to http%3A%2F%2F***%40h%2Fa&id=2 now" },
    { "extra-headers were not sent", "extra-headers were not sent" },
    { "extra-headers=\"not ended, x", "extra-headers=***" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *shown = spdl_redact_text (cases[i].text);

    g_assert_cmpstr (shown, ==, cases[i].shown);
  }
}

static void
test_remove_userinfo (void)
{
  static const Case cases[] = {
    { "http://me:pw@h/a?sig=b", "http://h/a?sig=b" },
    { "http://h/a@b", "http://h/a@b" },
    { "/a@b", "/a@b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *rest = spdl_redact_remove_userinfo (cases[i].text);

    g_assert_cmpstr (rest, ==, cases[i].shown);
  }
}

/* Random texts: redaction terminates, stays within the text, and is
 * idempotent. */
static void
test_random (void)
{
  static const gchar *const pieces[] = { "http://", "://", "@", ":", "/", "?",
    "&", "#", ";", "=", "sig", "token", "extra-headers", "\"", "'", "\\", " ",
    "[", "]", "%", "%41", "a", "5", "\303\251", "\n", "%3A%2F%2F", "%40", "%25",
    "http%3a%2f%2f" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (27);

  for (guint round = 0; round < 20000; round++) {
    GString *text = g_string_new (NULL);
    g_autofree gchar *whole = NULL, *once = NULL, *twice = NULL, *uri = NULL;

    for (gint n = g_rand_int_range (rand, 0, 20); n > 0; n--)
      g_string_append (
          text, pieces[g_rand_int_range (rand, 0, G_N_ELEMENTS (pieces))]);
    whole = g_string_free (text, FALSE);
    once = spdl_redact_text (whole);
    twice = spdl_redact_text (once);
    uri = spdl_redact_dup_uri (whole);
    g_assert_nonnull (uri);
    g_assert_cmpstr (twice, ==, once);
  }
}

/* Deep nesting neither overflows the stack nor shows a secret. */
static void
test_depth (void)
{
  static const gchar *const pieces[] = { "http://h/",
    "http://h/?u=", "http://h/;u=" };

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++) {
    g_autoptr (GString) text = g_string_new (NULL);
    g_autofree gchar *shown = NULL;

    for (guint n = 0; n < 100000; n++)
      g_string_append (text, pieces[i]);
    g_string_append (text, "http://me:sesame@h/");
    shown = spdl_redact_text (text->str);
    g_assert_null (strstr (shown, "sesame"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/redact/uris", test_uris);
  g_test_add_func ("/redact/texts", test_texts);
  g_test_add_func ("/redact/remove-userinfo", test_remove_userinfo);
  g_test_add_func ("/redact/random", test_random);
  g_test_add_func ("/redact/depth", test_depth);
  return g_test_run ();
}
