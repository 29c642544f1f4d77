/* gst-spdl: tests of the URIs of objects and of listings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/fetch/http/origin.h"
#include "plugins/fetch/http/ratelimit.h"
#include "plugins/fetch/io/proxy.h"
#include "plugins/fetch/store/listing.h"
#include "plugins/fetch/store/objectstore.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

/* Returns the HTTP address of @uri with these settings, or NULL if the URI is
 * invalid. */
static gchar *
find_address (const gchar *uri, const SpdlStoreSettings *settings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GUri) address = NULL;
  SpdlStore *store = spdl_store_new (settings);
  SpdlObject *object = spdl_object_new (store, uri, TRUE, &error);
  gchar *text = NULL;

  if (object) {
    address = spdl_object_get_http_uri (object);
    text = g_uri_to_string (address);
    spdl_object_free (object);
  } else {
    g_assert_cmpuint (error->domain, ==, GST_RESOURCE_ERROR);
  }
  spdl_store_free (store);
  return text;
}

typedef struct {
  const gchar *uri;
  const gchar *address; /* nullable */
  SpdlStoreSettings settings;
} Case;

#define HOST(text)                \
  {                               \
    .endpoint = (gchar *) (text), \
  }
#define REGION(text)            \
  {                             \
    .region = (gchar *) (text), \
  }

static const Case cases[] = {
  { "s3://bucket/a/b.jpg",
      "https://bucket.s3.us-east-1.amazonaws.com/a/b.jpg" },
  { "S3://bucket/a", "https://bucket.s3.us-east-1.amazonaws.com/a" },
  { "s3://bucket/a", "https://bucket.s3.eu-west-1.amazonaws.com/a",
      REGION ("eu-west-1") },
  { "s3://bucket/a", "https://bucket.s3.cn-north-1.amazonaws.com.cn/a",
      REGION ("cn-north-1") },
  /* The wildcard of a certificate for *.s3.REGION.amazonaws.com matches no
   * dots. */
  { "s3://a.bucket/a", "https://s3.us-east-1.amazonaws.com/a.bucket/a" },
  { "s3://Old_Bucket/a", "https://s3.us-east-1.amazonaws.com/Old_Bucket/a" },
  { "s3://b/a", "http://minio:9000/b/a", HOST ("http://minio:9000") },
  { "s3://b/a", "http://[::1]:9000/b/a", HOST ("http://[::1]:9000/") },
  { "s3://b/a", "https://host/prefix/b/a", HOST ("https://host/prefix/") },
  { "s3://bucket/a", "http://bucket.minio:9000/a",
      { .endpoint = (gchar *) "http://minio:9000",
          .addressing = (gchar *) "virtual" } },
  { "s3://bucket/a", "https://s3.us-east-1.amazonaws.com/bucket/a",
      { .addressing = (gchar *) "path" } },
  { "s3://b/a", NULL, HOST ("minio:9000") },
  { "s3://b/a", NULL, HOST ("http://user@minio") },
  { "s3://b/a", NULL, HOST ("ftp://minio") },
  { "s3://b/a", NULL, { .addressing = (gchar *) "wrong" } },
  /* Keys are not percent-decoded. */
  { "s3://b/a b+c%20", "http://h/b/a%20b%2Bc%2520", HOST ("http://h") },
  { "s3://b/a?x#y", "http://h/b/a%3Fx%23y", HOST ("http://h") },
  { "s3://b//a/../b/./", "http://h/b//a/../b/./", HOST ("http://h") },
  { "s3://b/\xc3\xbc~-._", "http://h/b/%C3%BC~-._", HOST ("http://h") },
  { "s3://b?list-type=2&prefix=a%2F", "http://h/b/?list-type=2&prefix=a%2F",
      HOST ("http://h") },
  { "s3://b", NULL },
  { "s3://b/", NULL },
  { "s3:///a", NULL },
  { "s3://b?a b", NULL },
  { "s3://b?a\r\nHost: other", NULL },
  { "hf://datasets/o/n?a b", NULL },
  { "s3://key:secret@b/a", NULL },
  { "gs://bucket/a b", "https://storage.googleapis.com/bucket/a%20b" },
  { "hf://datasets/o/n/a b.jpg",
      "https://huggingface.co/datasets/o/n/resolve/main/a%20b.jpg" },
  { "hf://datasets/o/n@v1.0/a/b",
      "https://huggingface.co/datasets/o/n/resolve/v1.0/a/b" },
  { "hf://datasets/o/n@refs/convert/parquet/a/b",
      "https://huggingface.co/datasets/o/n/resolve/refs%2Fconvert%2Fparquet/a/"
      "b" },
  { "hf://datasets/o/n@refs/pr/3/a",
      "https://huggingface.co/datasets/o/n/resolve/refs%2Fpr%2F3/a" },
  { "hf://datasets/o/n@v1?data/x&recursive=true",
      "https://huggingface.co/api/datasets/o/n/tree/v1/data/x?recursive=true" },
  { "hf://datasets/o/n?&recursive=true",
      "https://huggingface.co/api/datasets/o/n/tree/main?recursive=true" },
  { "hf://datasets/o", NULL },
  { "hf://datasets/o/n", NULL },
  { "hf://datasets/o/n@/a", NULL },
  { "hf://o/n/a", NULL },
};

static void
test_addresses (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *address = find_address (cases[i].uri, &cases[i].settings);

    g_test_message ("%s", cases[i].uri);
    g_assert_cmpstr (address, ==, cases[i].address);
  }
}

static void
test_environment (void)
{
  const SpdlStoreSettings settings = { NULL };
  g_autofree gchar *s3 = NULL, *other = NULL, *gs = NULL, *hf = NULL;
  g_autofree gchar *ignored = NULL;

  g_setenv ("AWS_ENDPOINT_URL", "http://all", TRUE);
  g_setenv ("AWS_ENDPOINT_URL_S3", "http://s3", TRUE);
  g_setenv ("STORAGE_EMULATOR_HOST", "http://gs:4443", TRUE);
  g_setenv ("HF_ENDPOINT", "https://mirror", TRUE);
  s3 = find_address ("s3://b/a", &settings);
  gs = find_address ("gs://b/a", &settings);
  hf = find_address ("hf://datasets/o/n/a", &settings);
  g_unsetenv ("AWS_ENDPOINT_URL_S3");
  other = find_address ("s3://b/a", &settings);
  g_setenv ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true", TRUE);
  ignored = find_address ("s3://b/a", &settings);
  g_unsetenv ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
  g_unsetenv ("AWS_ENDPOINT_URL");
  g_unsetenv ("STORAGE_EMULATOR_HOST");
  g_unsetenv ("HF_ENDPOINT");
  g_assert_cmpstr (s3, ==, "http://s3/b/a");
  g_assert_cmpstr (other, ==, "http://all/b/a");
  g_assert_cmpstr (ignored, ==, "https://s3.us-east-1.amazonaws.com/b/a");
  g_assert_cmpstr (gs, ==, "http://gs:4443/b/a");
  g_assert_cmpstr (hf, ==, "https://mirror/datasets/o/n/resolve/main/a");
}

/* Tests that secrets go to another bucket only if its origin is trusted. */
static void
test_origins (void)
{
  static const struct {
    const gchar *uri;
    const gchar *origin;
  } all[] = {
    { "s3://b/a/c", "s3://b" },
    { "S3://b?x", "s3://b" },
    { "gs://b.c/a", "gs://b.c" },
    { "hf://datasets/o/n/a", "hf://datasets/o/n" },
    { "hf://datasets/o/n@refs/pr/1/a", "hf://datasets/o/n" },
    { "hf://x", "hf://x" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autofree gchar *origin = spdl_origin_dup_of (all[i].uri);

    g_assert_cmpstr (origin, ==, all[i].origin);
  }
  g_assert_true (spdl_origin_is_trusted ("s3://b", "https://h, s3://b"));
  g_assert_false (spdl_origin_is_trusted ("s3://b", "s3://bb"));
  g_assert_true (spdl_origin_check_trusted ("s3://b", FALSE, NULL));
}

static void
test_pages (void)
{
  static const struct {
    const gchar *location, *token, *uri;
  } all[] = {
    { "s3://b/a b/", NULL,
        "s3://b?list-type=2&encoding-type=url&prefix=a%20b%2F" },
    { "gs://b", "t+/=",
        "gs://b?list-type=2&encoding-type=url&prefix=&continuation-token="
        "t%2B%2F%3D" },
    { "hf://datasets/o/n@v/a b/", NULL,
        "hf://datasets/o/n@v?a%20b&recursive=true&limit=1000" },
    { "hf://datasets/o/n",
        "x=", "hf://datasets/o/n?&recursive=true&limit=1000&cursor=x%3D" },
    { "s3:///a", NULL, NULL },
    { "hf://datasets/o", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autofree gchar *uri =
        spdl_listing_make_uri (all[i].location, all[i].token);

    g_assert_cmpstr (uri, ==, all[i].uri);
  }
}

static gboolean
parse (
    SpdlListing *listing, const gchar *text, const gchar *link, gboolean json)
{
  g_autoptr (GError) error = NULL;
  const gboolean ok =
      json
          ? spdl_listing_parse_json (listing, text, strlen (text), link, &error)
          : spdl_listing_parse_xml (listing, text, strlen (text), &error);

  g_assert_true (ok == !error);
  if (error)
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
  return ok;
}

#define XML(text) \
  "<?xml version='1.0'?><ListBucketResult>" text "</ListBucketResult>"

static void
test_xml (void)
{
  static const gchar *const wrong[] = { "", "x", "<Error/>",
    XML ("<IsTruncated>true</IsTruncated>"),
    XML ("<Contents><Key></Key></Contents>"),
    XML ("<Contents><Key>%zz</Key></Contents><EncodingType>url</EncodingType>"),
    XML ("<Contents>"), "<ListBucketResult><Contents><Key>a</Key>" };
  g_auto (SpdlListing) listing = { NULL };

  spdl_listing_init (&listing);
  g_assert_true (parse (&listing,
      XML ("<Key>not one</Key><IsTruncated>true</IsTruncated>"
           "<EncodingType>url</EncodingType>"
           "<Contents><Key>a%2Bb+c%25</Key><Owner><ID>x</ID></Owner></Contents>"
           "<CommonPrefixes><Key>no</Key></CommonPrefixes>"
           "<NextContinuationToken>1&amp;</NextContinuationToken>"),
      NULL, FALSE));
  g_assert_cmpuint (listing.keys->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (listing.keys, 0), ==, "a+b c%");
  g_assert_cmpstr (listing.token, ==, "1&");
  /* A server that does not support encoding-type. */
  g_assert_true (parse (
      &listing, XML ("<Contents><Key>100%+%41</Key></Contents>"), NULL, FALSE));
  g_assert_cmpstr (g_ptr_array_index (listing.keys, 1), ==, "100%+%41");
  g_assert_true (parse (&listing, XML (""), NULL, FALSE));
  g_assert_null (listing.token);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (parse (&listing, wrong[i], NULL, FALSE));
}

static void
test_json (void)
{
  static const gchar *const wrong[] = { "", "{}", "[1]", "[{}]",
    "[{\"type\": \"file\", \"path\": \"\"}]" };
  g_auto (SpdlListing) listing = { NULL };

  spdl_listing_init (&listing);
  g_assert_true (parse (&listing,
      "[{\"type\": \"directory\", \"path\": \"a\"},"
      " {\"type\": \"file\", \"path\": \"a/b\", \"size\": 3}]",
      "<https://h/api?x=1&cursor=a%3D>; rel=\"next\"", TRUE));
  g_assert_cmpuint (listing.keys->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (listing.keys, 0), ==, "a/b");
  g_assert_cmpstr (listing.token, ==, "a=");
  g_assert_true (
      parse (&listing, "[]", "<https://h?cursor=a>; rel=\"prev\"", TRUE));
  g_assert_null (listing.token);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (parse (&listing, wrong[i], NULL, TRUE));
}

/* Tests that a response to another request than that for the item is found. */
static void
test_answers (void)
{
  static const gchar *const others[] = { "http://proxy:3128/", "http://h/b?c=1",
    "http://h/a", "http://h:81/a?c=1", "https://h/a?c=1" };
  g_autoptr (SoupMessage) message =
      soup_message_new ("GET", "http://u:p@h/a?c=1#d");
  g_autoptr (GUri) sent = g_uri_ref (soup_message_get_uri (message));
  g_autoptr (GUri) same =
      g_uri_parse ("http://h/a?c=1", SOUP_HTTP_URI_FLAGS, NULL);

  g_assert_true (spdl_proxy_is_answer_to (message, sent));
  soup_message_set_uri (message, same);
  g_assert_true (spdl_proxy_is_answer_to (message, sent));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (GUri) other = g_uri_parse (others[i], SOUP_HTTP_URI_FLAGS, NULL);

    soup_message_set_uri (message, other);
    g_assert_false (spdl_proxy_is_answer_to (message, sent));
  }
}

/* Tests the headers of rate limits, of Hugging Face and of the drafts. */
static void
test_rate_limits (void)
{
  static const struct {
    const gchar *name, *value;
    gint64 seconds;
  } cases[] = {
    { "RateLimit", "\"resolvers\";r=0;t=12", 12 },
    { "RateLimit", "\"default\";r=50;t=30", 0 },
    { "RateLimit", "\"a\";r=5;t=30, \"b\";r=0;t=7", 7 },
    { "RateLimit", "limit=100, remaining=0, reset=5", 5 },
    { "RateLimit", "limit=100, remaining=1, reset=5", 0 },
    { "RateLimit-Reset", "9", 9 },
    { "RateLimit", "\"a\";r=0;t=-1", 0 },
    { "RateLimit", ";;=,t", 0 },
    { "RateLimit-Reset", "soon", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SoupMessageHeaders *headers =
        soup_message_headers_new (SOUP_MESSAGE_HEADERS_RESPONSE);

    soup_message_headers_append (headers, cases[i].name, cases[i].value);
    g_assert_cmpint (spdl_rate_get_asked (headers), ==,
        cases[i].seconds * G_TIME_SPAN_SECOND);
    soup_message_headers_unref (headers);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  GST_DEBUG_CATEGORY_INIT (spdl_fetch_debug, "spdlfetch", 0, "Fetching");
  g_test_add_func ("/object-uris/addresses", test_addresses);
  g_test_add_func ("/object-uris/environment", test_environment);
  g_test_add_func ("/object-uris/origins", test_origins);
  g_test_add_func ("/object-uris/answers", test_answers);
  g_test_add_func ("/object-uris/rate-limits", test_rate_limits);
  g_test_add_func ("/object-uris/pages", test_pages);
  g_test_add_func ("/object-uris/xml", test_xml);
  g_test_add_func ("/object-uris/json", test_json);
  return g_test_run ();
}
