/* gst-spdl: tests that credentials reach only trusted origins
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/logged.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/served.h"
#include "tests/check/support/tars.h"

#define HEADERS                                                      \
  "extra-headers=\"headers, Authorization=(string)\\\"Bearer "       \
  "sesame-1\\\", X-Api-Key=(string)sesame-2, Cookie=(string)\\\"id=" \
  "sesame-3\\\";\""
/* A part of every secret in these tests. */
#define SECRET "sesame"
#define SIZE 2000

/* The second server; the first one is served.server. */
static Server *other;

static void
setup (void)
{
  served_setup ();
  other = server_new (FALSE);
  server_set_root (other, served.folder);
}

static void
teardown (void)
{
  server_free (other);
  served_teardown ();
}

/* Redirects /to/99/SIZE/@name of @server to @format. */
static void G_GNUC_PRINTF (3, 4)
    set_place (Server *server, const gchar *name, const gchar *format, ...)
{
  g_autofree gchar *place = NULL;
  va_list args;

  va_start (args, format);
  place = g_strdup_vprintf (format, args);
  va_end (args);
  server_set_place (server, name, place);
}

/* Fetches one item, of which @format gives the URI, with the headers. */
static Run *
    G_GNUC_PRINTF (2, 3) fetch (const gchar *more, const gchar *format, ...)
{
  g_autofree gchar *uri = NULL;
  va_list args;

  va_start (args, format);
  uri = g_strdup_vprintf (format, args);
  va_end (args);
  files_write_text (served.folder, "list.txt", uri);
  return run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch retries=0 "
                       "%s %s ! fakesink name=sink",
      served.folder, HEADERS, more);
}

static void
assert_came (Run *run)
{
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless (run->failures->len == 0, "%s",
      run->failures->len > 0 ? run_failure_text (run, 0) : "");
  fail_unless_equals_int (run->buffers->len, 1);
  run_free (run);
}

static GError *
dup_failure (Run *run)
{
  GError *error = NULL;

  fail_unless_equals_int (run->buffers->len, 0);
  fail_unless_equals_int (run->failures->len, 1);
  gst_structure_get (g_ptr_array_index (run->failures, 0), "error",
      G_TYPE_ERROR, &error, NULL);
  return error;
}

/* Checks that the item failed, and that the message names @origin and
 * trusted-origins. */
static void
assert_refused (Run *run, gint code, const gchar *origin)
{
  g_autoptr (GError) error = dup_failure (run);

  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code), "%s: %d",
      error->message, error->code);
  fail_unless (
      errors_has (error, origin) && errors_has (error, "trusted-origins"), "%s",
      error->message);
  fail_if (strstr (error->message, SECRET), "%s", error->message);
  run_free (run);
}

/* Returns whether the last request for @path had @text in it. There must have
 * been a request. */
static gboolean
got_text (Server *server, const gchar *path, const gchar *text)
{
  g_autofree gchar *request = server_dup_request (server, path);

  fail_unless (request != NULL, "%s", path);
  return strstr (request, text) != NULL;
}

static gboolean
got_secret (Server *server, const gchar *path)
{
  return got_text (server, path, SECRET);
}

/* Redirects */

GST_START_TEST (test_same_origin)
{
  const gchar *base = server_get_base (served.server);

  set_place (served.server, "a", "/bytes/0/2000/relative");
  set_place (served.server, "b", "%s/bytes/0/2000/absolute", base);
  set_place (served.server, "c", "/to/99/1/a");
  assert_came (fetch ("", "%s/to/99/1/a", base));
  fail_unless (got_secret (served.server, "/bytes/0/2000/relative"));
  assert_came (fetch ("", "%s/to/99/1/b", base));
  fail_unless (got_secret (served.server, "/bytes/0/2000/absolute"));
  assert_came (fetch ("", "%s/to/99/1/c", base));
}

GST_END_TEST;

/* Tests redirects to another port, another name of the same address, another
 * address, and from HTTP to HTTPS and back. */
GST_START_TEST (test_other_origins)
{
  const gchar *base = server_get_base (served.server);
  const guint16 port = server_get_port (served.server);
  Server *tls = server_new (TRUE);
  g_autofree gchar *ca = NULL;

  files_write_text (served.folder, "ca.pem", server_get_certificate ());
  ca = g_strdup_printf ("tls-ca-file=%s/ca.pem", served.folder);

  set_place (served.server, "a", "%s/bytes/0/2000/a", server_get_base (other));
  set_place (served.server, "b", "http://localhost:%u/bytes/0/2000/b", port);
  set_place (served.server, "c", "//127.0.0.2:%u/bytes/0/2000/c", port);
  set_place (served.server, "d", "%s/bytes/0/2000/d", server_get_base (tls));
  set_place (tls, "e", "%s/bytes/0/2000/e", base);

  assert_came (fetch ("", "%s/to/99/1/a", base));
  fail_if (server_has_seen (other, SECRET));
  fail_unless_equals_int (server_count_path (other, "/bytes/0/2000/a"), 1);
  assert_came (fetch ("", "%s/to/99/1/b", base));
  fail_if (got_secret (served.server, "/bytes/0/2000/b"));
  assert_came (fetch ("", "%s/to/99/1/c", base));
  fail_if (got_secret (served.server, "/bytes/0/2000/c"));
  assert_came (fetch (ca, "%s/to/99/1/d", base));
  fail_if (server_has_seen (tls, SECRET));
  assert_came (fetch (ca, "%s/to/99/1/e", server_get_base (tls)));
  fail_unless (got_secret (tls, "/to/99/1/e"));
  fail_if (got_secret (served.server, "/bytes/0/2000/e"));
  server_free (tls);
}

GST_END_TEST;

/* Tests that a redirect back to the first origin gets no secrets if another
 * server sent it. */
GST_START_TEST (test_there_and_back)
{
  const gchar *base = server_get_base (served.server);

  set_place (served.server, "a", "%s/to/99/1/b", server_get_base (other));
  set_place (other, "b", "%s/bytes/0/2000/home", base);
  assert_came (fetch ("", "%s/to/99/1/a", base));
  fail_if (got_secret (served.server, "/bytes/0/2000/home"));
  fail_if (server_has_seen (other, SECRET));
}

GST_END_TEST;

/* Tests an interrupted body and a byte range after a redirect. */
GST_START_TEST (test_retries)
{
  const gchar *base = server_get_base (served.server);

  set_place (
      served.server, "a", "%s/break/1/300000/a", server_get_base (other));
  assert_came (fetch ("retries=2", "%s/to/99/1/a#bytes=1000-299999", base));
  fail_unless_equals_int (server_count_path (other, "/break/1/300000/a"), 2);
  fail_unless_equals_int (server_count_path (served.server, "/to/99/1/a"), 2);
  fail_if (server_has_seen (other, SECRET));
}

GST_END_TEST;

GST_START_TEST (test_trusted)
{
  const gchar *base = server_get_base (served.server);
  const gchar *place = server_get_base (other);
  g_autofree gchar *trust =
      g_strdup_printf ("trusted-origins=\"http://127.0.0.3, %s/\"", place);
  Run *run;

  set_place (served.server, "a", "%s/auth/0/2000/a", place);
  set_place (other, "b", "%s/auth/0/2000/b", base);
  assert_refused (fetch ("", "%s/to/99/1/a", base),
      GST_RESOURCE_ERROR_NOT_AUTHORIZED, place);
  fail_if (server_has_seen (other, SECRET));
  assert_came (fetch (trust, "%s/to/99/1/a", base));
  fail_unless (got_secret (other, "/auth/0/2000/a"));
  /* Trust is not symmetric. */
  assert_refused (fetch (trust, "%s/to/99/1/b", place),
      GST_RESOURCE_ERROR_NOT_AUTHORIZED, base);

  run = fetch ("trusted-origins=http://me:sesame@host", "%s/to/99/1/a", base);
  fail_unless (run->error && errors_text_has (run->error, "http://***@host"),
      "%s", run->error);
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_bad_trust)
{
  static const gchar *const bad[] = { "host", "http:", "https://", "*",
    "http://h/path", "http://h?q", "ftp://h", "file:///", "file:/a/../b",
    "file:/a#b", "file://a", "http://h:99999" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *trust =
        g_strdup_printf ("trusted-origins=\"file:,%s\"", bad[i]);
    Run *run = fetch (trust, "file:///nothing");

    fail_unless (run->error && errors_text_has (run->error,
                                   "[resource-error settings]|trusted-origins"),
        "%s: %s", bad[i], run->error);
    run_free (run);
  }
}

GST_END_TEST;

/* Tests that redirects to schemes other than HTTP and HTTPS fail. */
GST_START_TEST (test_schemes)
{
  static const gchar *const places[] = { "ftp://127.0.0.1/x", "data:,x",
    "gopher://x", "FILE:/etc/passwd", "resource:///x" };
  const gchar *base = server_get_base (served.server);
  g_autofree gchar *file = g_strdup_printf ("file://%s/local", served.folder);
  g_autofree gchar *folder =
      g_strdup_printf ("trusted-origins=file:%s", served.folder);
  Run *run;

  files_write_text (served.folder, "local", "0123456789");
  set_place (served.server, "file", "%s", file);
  assert_refused (fetch ("", "%s/to/99/1/file", base),
      GST_RESOURCE_ERROR_NOT_AUTHORIZED, "\"file:\"");
  assert_came (fetch (folder, "%s/to/99/1/file", base));
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    set_place (served.server, "a", "%s", places[i]);
    assert_refused (
        fetch ("trusted-origins=http://127.0.0.3", "%s/to/99/1/a", base),
        GST_RESOURCE_ERROR_NOT_AUTHORIZED, ":\"");
  }

  run = fetch ("trusted-origins=file:", "%s/to/99/1/file#bytes=2-5", base);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless (gst_buffer_memcmp (
                   g_ptr_array_index (run->buffers, 0), 0, "2345", 4) == 0);
  run_free (run);
}

GST_END_TEST;

/* Tests a permitted redirect of an object store to a file, in a response with
 * an error code. */
GST_START_TEST (test_scheme_from_store)
{
  g_autofree gchar *store =
      g_strdup_printf ("trusted-origins=file: anonymous=true s3-endpoint=%s",
          server_get_base (served.server));

  files_write_text (served.folder, "local", "0123456789");
  set_place (served.server, "a",
      "file://%s/local\r\nX-Error-Code: TemporaryRedirect", served.folder);
  assert_came (fetch (store, "s3://to/99/1/a"));
}

GST_END_TEST;

static void
assert_failed (Run *run, gint code, const gchar *part)
{
  g_autoptr (GError) error = dup_failure (run);

  fail_unless (
      g_error_matches (error, GST_RESOURCE_ERROR, code), "%s", error->message);
  fail_unless (errors_has (error, part), "%s", error->message);
  run_free (run);
}

GST_START_TEST (test_loops)
{
  const gchar *base = server_get_base (served.server);

  set_place (served.server, "a", "%s/to/99/1/b", server_get_base (other));
  set_place (other, "b", "%s/to/99/1/a#fragment", base);
  assert_failed (fetch ("", "%s/to/99/1/a", base), GST_RESOURCE_ERROR_OPEN_READ,
      "[resource-error open-read]");
  fail_unless_equals_int (server_count_path (served.server, "/to/99/1/a"), 1);

  for (guint i = 0; i < 30; i++) {
    g_autofree gchar *name = g_strdup_printf ("n%u", i);

    set_place (served.server, name, "/to/99/1/n%u", i + 1);
  }
  set_place (served.server, "n30", "/bytes/0/2000");
  assert_failed (fetch ("", "%s/to/99/1/n0", base),
      GST_RESOURCE_ERROR_OPEN_READ, "[resource-error open-read]|20");
  fail_unless_equals_int (server_count_path (served.server, "/to/99/1/n20"), 1);
  fail_unless_equals_int (server_count_path (served.server, "/to/99/1/n21"), 0);
  /* The longest chain of redirects that is followed. */
  assert_came (fetch ("", "%s/to/99/1/n11", base));

  set_place (served.server, "x", "http://");
  assert_failed (fetch ("", "%s/to/99/1/x", base), GST_RESOURCE_ERROR_OPEN_READ,
      "[resource-error open-read]|URI");
}

GST_END_TEST;

/* Like fetch(), without the headers, as a URI may contain credentials. */
static Run *
fetch_plainly (const gchar *more, const gchar *base, const gchar *path)
{
  g_autofree gchar *uri = g_strconcat (base, path, NULL);

  files_write_text (served.folder, "list.txt", uri);
  return run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch retries=0 %s "
                       "! fakesink name=sink",
      served.folder, more);
}

GST_START_TEST (test_credentials)
{
  const gchar *place = server_get_base (other);
  g_autofree gchar *base = g_strdup_printf (
      "http://me:sesame-4@127.0.0.1:%u", server_get_port (served.server));
  g_autofree gchar *trust = g_strdup_printf ("trusted-origins=%s", place);

  set_place (served.server, "a", "/auth/0/2000/a");
  set_place (served.server, "b", "%s/auth/0/2000/b", place);
  set_place (
      served.server, "c", "%s/auth/0/2000/c", server_get_base (served.server));
  assert_came (fetch_plainly ("", base, "/auth/0/2000/0"));
  assert_came (fetch_plainly ("", base, "/to/99/1/a"));
  assert_came (fetch_plainly ("", base, "/to/99/1/c"));

  assert_refused (fetch_plainly ("", base, "/to/99/1/b"),
      GST_RESOURCE_ERROR_NOT_AUTHORIZED, place);
  fail_if (server_has_seen (other, "Authorization"));
  assert_came (fetch_plainly (trust, base, "/to/99/1/b"));
  fail_unless (server_has_seen (other, "Authorization: Basic "));
}

GST_END_TEST;

/* Tests that credentials in a URI are not sent on a redirect from another
 * server, although libsoup caches them for all requests to their server. */
GST_START_TEST (test_credentials_there_and_back)
{
  g_autofree gchar *base = g_strdup_printf (
      "http://me:sesame-4@127.0.0.1:%u", server_get_port (served.server));
  g_autofree gchar *list =
      g_strdup_printf ("%s/auth/0/2000/a\n%s/to/99/1/a\n", base, base);
  Run *run;

  set_place (served.server, "a", "%s/to/99/1/b", server_get_base (other));
  set_place (other, "b", "%s/auth/0/2000/b", server_get_base (served.server));
  files_write_text (served.folder, "list.txt", list);
  run = run_pipeline ("spdlsrc location=%s/list.txt ! spdlfetch retries=0 "
                      "concurrency=1 ! fakesink name=sink",
      served.folder);
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless_equals_int (run->failures->len, 1);
  run_free (run);
  fail_unless (got_text (served.server, "/auth/0/2000/a", "Authorization:"));
  fail_if (got_text (served.server, "/auth/0/2000/b", "Authorization:"));
}

GST_END_TEST;

/* Shards */

static void
write_shard (const gchar *note)
{
  Tar tar;

  tar_begin (&tar);
  tar_add_text (&tar, "a.jpg", "an image");
  tar_add_text (&tar, "a.txt", note);
  tar_end (&tar, served.folder, "train.tar");
}

/* Tests that indexed and streamed shards are requested with the extra-headers
 * of spdlsrc. */
GST_START_TEST (test_shards)
{
  static const gchar *const kinds[] = { "shard", "tape" };
  const gchar *base = server_get_base (served.server);

  write_shard ("a note");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    set_place (served.server, "train.tar", "%s/%s/0/0/train.tar",
        server_get_base (other), kinds[i]);
    assert_came (run_pipeline ("spdlsrc location=%s/to/99/1/train.tar %s ! "
                               "spdlfetch %s ! fakesink name=sink",
        base, HEADERS, HEADERS));
    fail_unless (got_secret (served.server, "/to/99/1/train.tar"));
    fail_if (server_has_seen (other, SECRET));
  }
  assert_came (run_pipeline ("spdlsrc location=%s/to/99/1/train.tar %s "
                             "trusted-origins=%s ! fakesink name=sink",
      base, HEADERS, server_get_base (other)));
  fail_unless (server_has_seen (other, "sesame-1"));
  fail_unless (server_has_seen (other, "sesame-2"));
}

GST_END_TEST;

static Run *
run_fields (const gchar *location, const gchar *more)
{
  return run_pipeline ("spdlsrc location=%s ! spdlfetch parts=txt retries=0 %s "
                       "%s ! fakesink name=sink",
      location, HEADERS, more);
}

/* Loads the shard at @location, whose field is @value. It is refused with an
 * error that names @origin, or comes if that is NULL. */
static void
check_field (const gchar *location, const gchar *value, const gchar *more,
    const gchar *origin)
{
  Run *run;

  write_shard (value);
  run = run_fields (location, more);
  if (origin)
    assert_refused (run, GST_RESOURCE_ERROR_NOT_AUTHORIZED, origin);
  else
    assert_came (run);
}

/* Tests what the fields of a shard may name: files and other schemes if they
 * are trusted, and servers, which get no secrets. */
static void
check_fields_of (const gchar *location, const gchar *own, gboolean asks)
{
  const gchar *there = server_get_base (other);
  g_autofree gchar *path = g_build_filename (served.folder, "local", NULL);
  g_autofree gchar *uri = g_strconcat ("file://", path, NULL);
  g_autofree gchar *folder = g_strconcat ("file:", served.folder, NULL);
  g_autofree gchar *trust = g_strconcat ("trusted-origins=", folder, NULL);
  g_autofree gchar *slash = g_strconcat (trust, "/", NULL);
  g_autofree gchar *prefix = g_strconcat (trust, "/loc", NULL);
  g_autofree gchar *up =
      g_strconcat ("file://", served.folder, "/x/%2e%2E/local", NULL);
  g_autofree gchar *web = g_strconcat ("trusted-origins=", there, NULL);
  g_autofree gchar *elsewhere =
      g_strconcat (there, "/auth/0/2000/field?token=sesame-5", NULL);

  check_field (location, path, "", folder);
  check_field (location, uri, web, folder);
  check_field (location, path, "trusted-origins=file:", NULL);
  check_field (location, uri, trust, NULL);
  check_field (location, path, slash, NULL);
  check_field (location, path, prefix, folder);
  check_field (location, up, trust, "trusted-origins=file:");
  check_field (location, "smb://host/key", "", "smb:");
  check_field (location, "s3://bucket/key", "", "s3://bucket");
  check_field (location, own, "", NULL);
  check_field (location, elsewhere, "", there);
  if (asks)
    fail_if (server_has_seen (other, "sesame-1"));
  check_field (location, elsewhere, web, NULL);
  fail_unless (server_has_seen (other, "sesame-1"));
}

GST_START_TEST (test_fields)
{
  static const gchar *const kinds[] = { "shard", "tape" };
  const gchar *base = server_get_base (served.server);
  g_autofree gchar *local = g_build_filename (served.folder, "train.tar", NULL);
  g_autofree gchar *list = g_build_filename (served.folder, "list.csv", NULL);
  g_autofree gchar *own = g_strdup_printf ("file://%s#bytes=0-9", local);
  g_autofree gchar *text = g_strdup_printf ("uri,txt\n%s/bytes/0/9,local\n"
                                            "%s/bytes/0/9,%s/local\n",
      base, base, served.folder);
  Run *run;

  files_write_text (served.folder, "local", "0123456789");
  check_fields_of (local, own, TRUE);
  g_clear_pointer (&own, g_free);
  own = g_strconcat (base, "/bytes/0/9", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree gchar *location =
        g_strdup_printf ("%s/%s/0/0/train.tar", base, kinds[i]);

    check_fields_of (location, own, FALSE);
    fail_unless (got_secret (served.server, "/bytes/0/9"));
  }

  /* A list may name any file. */
  files_write_text (served.folder, "list.csv", text);
  run = run_fields (list, "");
  fail_unless_equals_int (run->buffers->len, 2);
  run_free (run);
}

GST_END_TEST;

/* Runs @pipeline to its end. Returns the number of messages about failures of
 * items that name trusted-origins. */
static guint
count_refusals (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gboolean ended = FALSE;
  guint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    g_autoptr (GError) error = NULL;

    fail_unless (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (gst_message_has_name (message, "spdl-item-failed"))
      gst_structure_get (gst_message_get_structure (message), "error",
          G_TYPE_ERROR, &error, NULL);
    n += error && errors_has (error, "[resource-error not-authorized]|"
                                     "trusted-origins");
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return n;
}

/* Tests that the fields of a shard from a server are not trusted after the same
 * pipeline has read a local list. */
GST_START_TEST (test_fields_after_list)
{
  g_autofree gchar *path = g_build_filename (served.folder, "local", NULL);
  g_autofree gchar *list = g_strdup_printf (
      "uri,txt\n%s/bytes/0/9,local\n", server_get_base (served.server));
  g_autofree gchar *text =
      g_strdup_printf ("spdlsrc name=src location=%s/list.csv ! spdlfetch "
                       "parts=txt ! fakesink",
          served.folder);
  g_autofree gchar *shard = g_strdup_printf (
      "%s/shard/0/0/train.tar", server_get_base (served.server));
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) src = NULL;

  files_write_text (served.folder, "local", "0123456789");
  files_write_text (served.folder, "list.csv", list);
  write_shard (path);
  pipeline = gst_parse_launch (text, NULL);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  fail_unless_equals_int (count_refusals (pipeline), 0);
  g_object_set (src, "location", shard, NULL);
  fail_unless_equals_int (count_refusals (pipeline), 1);
}

GST_END_TEST;

/* Pushes a source event, with @base (nullable), and an item of the server whose
 * field names a local file.
 * @foreign: whether strangers may have written it */
static void
push_item_of (Rig *rig, guint64 number, const gchar *base, gboolean foreign,
    const gchar *file)
{
  GstBuffer *item =
      rig_make_uri_item (number, server_get_base (served.server), "/bytes/0/9");
  GstEvent *event = gst_spdl_event_new_source (0, 2, "");

  if (base)
    gst_spdl_event_set_base (event, base);
  gst_structure_set (gst_event_writable_structure (event), "foreign",
      G_TYPE_BOOLEAN, foreign, NULL);
  gst_pad_push_event (rig->src, event);
  gst_spdl_buffer_get_item_meta (item)->extra =
      gst_structure_new ("extra", "txt", G_TYPE_STRING, file, NULL);
  fail_unless_equals_int (gst_pad_push (rig->src, item), GST_FLOW_OK);
}

/* Tests that an event without a folder replaces one with a folder, and what
 * strangers may name with a folder. */
GST_START_TEST (test_fields_after_event)
{
  Rig *rig = rig_new ("spdlfetch", "parts", "txt", "concurrency", 1, NULL);
  g_autofree gchar *path = g_build_filename (served.folder, "local", NULL);
  g_autofree gchar *base = g_strdup_printf ("file://%s", served.folder);

  files_write_text (served.folder, "local", "0123456789");
  rig_start (rig, "text/uri-list");
  push_item_of (rig, 0, base, FALSE, path);
  rig_wait_items (rig, 1);
  push_item_of (rig, 1, NULL, FALSE, path);
  /* Strangers may name files below the base folder, by relative paths. */
  push_item_of (rig, 2, base, TRUE, "local");
  push_item_of (rig, 3, base, TRUE, path);
  push_item_of (rig, 4, base, TRUE, "../local");
  push_item_of (rig, 5, base, TRUE, "sub/../local");
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 2);
  fail_unless (rig_find_message (rig, "spdl-item-failed") != NULL);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that a new password does not change the key of a cache entry. */
GST_START_TEST (test_cache_name)
{
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *base = g_strdup_printf (
        "http://me:sesame-%u@127.0.0.1:%u", i, server_get_port (served.server));
    g_autofree gchar *cache =
        g_strdup_printf ("cache-dir=%s/cache", served.folder);

    assert_came (fetch_plainly (cache, base, "/kept/0/2000/a"));
  }
  fail_unless_equals_int (
      server_count_path (served.server, "/kept/0/2000/a"), 2);
  {
    ServerCounts counts;

    server_get_counts (served.server, &counts);
    fail_unless_equals_int (counts.unchanged, 1);
  }
}

GST_END_TEST;

static Suite *
secrets_suite (void)
{
  Suite *s = suite_create ("secrets");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_same_origin);
  tcase_add_test (tc, test_other_origins);
  tcase_add_test (tc, test_there_and_back);
  tcase_add_test (tc, test_retries);
  tcase_add_test (tc, test_trusted);
  tcase_add_test (tc, test_bad_trust);
  tcase_add_test (tc, test_schemes);
  tcase_add_test (tc, test_scheme_from_store);
  tcase_add_test (tc, test_loops);
  tcase_add_test (tc, test_credentials);
  tcase_add_test (tc, test_credentials_there_and_back);
  tcase_add_test (tc, test_shards);
  tcase_add_test (tc, test_fields);
  tcase_add_test (tc, test_fields_after_list);
  tcase_add_test (tc, test_fields_after_event);
  tcase_add_test (tc, test_cache_name);
  return s;
}

int
main (int argc, char **argv)
{
  return logged_run (argc, argv, secrets_suite, "secrets");
}
