/* gst-spdl: tests of spdlfetch's cache: validation, redirects and limits
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/cached.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* Validation */

static const gchar *mixture[] = { "/kept/0/0", "/kept/0/1", "/kept/0/5000",
  "/kept/0/300000", "/kept/0/3000000", "/kept/0/300000#bytes=0-0",
  "/kept/0/300000#bytes=1000-150000", "/kept/0/300000#bytes=299999-299999",
  "/kept/0/300000/other" };
#define N_MIXTURE G_N_ELEMENTS (mixture)

GST_START_TEST (test_hits)
{
  ServerCounts before, after;
  CachedLoad *load;

  cached_expect_paths (mixture, N_MIXTURE, "", 0, 0);
  fail_unless_equals_int (cached_count_files (FALSE), N_MIXTURE);
  server_get_counts (cached_server, &before);
  fail_unless_equals_int (before.requests, N_MIXTURE);
  fail_unless_equals_int (before.unchanged, 0);

  /* A hit costs one conditional request, and the server sends no body. */
  load = cached_load_again ("");
  cached_assert_whole (load, N_MIXTURE, 0);
  fail_unless_equals_uint64 (load->hits, N_MIXTURE);
  fail_unless_equals_uint64 (load->misses, 0);
  fail_unless_equals_uint64 (load->bytes, before.sent);
  fail_unless_equals_uint64 (load->errors, 0);
  cached_load_free (load);
  server_get_counts (cached_server, &after);
  fail_unless_equals_int (after.unchanged, N_MIXTURE);
  fail_unless_equals_uint64 (after.sent, before.sent);

  /* Without validation, a hit costs no request. */
  cached_expect ("cache-validate=none", N_MIXTURE, 0, N_MIXTURE);
  server_get_counts (cached_server, &before);
  fail_unless_equals_int (before.requests, after.requests);
}

GST_END_TEST;

/* Tests that a change on the server replaces the cached version. */
GST_START_TEST (test_changes)
{
  cached_expect_paths (mixture, N_MIXTURE, "", 0, 0);
  for (guint version = 1; version < 5; version++) {
    server_set_version (cached_server, version);
    cached_expect ("", N_MIXTURE, version, 0);
    cached_expect ("", N_MIXTURE, version, N_MIXTURE);
  }
  /* Without validation, the cached version stays in use. */
  server_set_version (cached_server, 5);
  cached_expect ("cache-validate=none", N_MIXTURE, 4, N_MIXTURE);
}

GST_END_TEST;

static const struct {
  const gchar *fault;
  const gchar *validate;
  gboolean kept;
} validators[] = {
  { "kept", "etag", TRUE },
  { "kept", "date", TRUE },
  { "kept", "none", TRUE },
  { "dated", "etag", FALSE },
  { "dated", "date", TRUE },
  { "dated", "none", TRUE },
  { "weak", "etag", FALSE },
  { "weak", "date", FALSE },
  { "weak", "none", TRUE },
  { "bare", "etag", FALSE },
  { "bare", "date", FALSE },
  { "bare", "none", TRUE },
  { "forbidden", "etag", FALSE },
  { "forbidden", "none", FALSE },
  { "nolength", "etag", FALSE },
  { "nolength", "none", FALSE },
};

GST_START_TEST (test_validators)
{
  const guint n = 5;

  for (guint i = 0; i < G_N_ELEMENTS (validators); i++) {
    g_autofree gchar *more =
        g_strdup_printf ("cache-validate=%s", validators[i].validate);
    const gboolean kept = validators[i].kept;
    const gboolean asks = strcmp (validators[i].validate, "none") != 0;
    g_autofree gchar *cache = g_build_filename (cached_folder, "cache", NULL);
    CachedLoad *load;

    cached_write_many (validators[i].fault, n, 1000);
    server_set_version (cached_server, 0);
    load = cached_load_again (more);
    cached_assert_whole (load, n, 0);
    fail_unless_equals_int (load->warnings->len, !kept);
    cached_load_free (load);
    fail_unless (cached_count_files (FALSE) == (kept ? n : 0), "%s, %s",
        validators[i].fault, validators[i].validate);
    cached_expect (more, n, 0, kept ? n : 0);
    server_set_version (cached_server, 1);
    cached_expect (more, n, asks || !kept ? 1 : 0, asks || !kept ? 0 : n);
    files_remove_folder (g_steal_pointer (&cache));
  }
}

GST_END_TEST;

/* Tests that an entry without the required validator is not used. */
GST_START_TEST (test_stricter)
{
  cached_write_many ("dated", 3, 1000);
  cached_expect ("cache-validate=none", 3, 0, 0);
  cached_expect ("cache-validate=etag", 3, 0, 0);
  cached_expect ("cache-validate=date", 3, 0, 3);
  cached_write_many ("bare", 3, 1000);
  cached_expect ("cache-validate=none", 3, 0, 0);
  server_set_version (cached_server, 1);
  cached_expect ("cache-validate=date", 3, 1, 0);
}

GST_END_TEST;

/* Tests servers that send 304 with another ETag, or never send 304; neither
 * needs a retry. */
GST_START_TEST (test_odd_servers)
{
  static const gchar *paths[] = { "/liar/0/2000", "/stubborn/0/2000" };

  cached_expect_paths (paths, 2, "retries=0", 0, 0);
  server_set_version (cached_server, 1);
  cached_expect ("retries=0", 2, 1, 0);
  fail_unless_equals_int (server_count_path (cached_server, paths[0]), 3);
  fail_unless_equals_int (server_count_path (cached_server, paths[1]), 2);
  cached_expect ("retries=0", 2, 1, 1);
}

GST_END_TEST;

/* Tests that an ETag counts only for the URI that sent it: the target of a
 * redirect may change and keep its ETag. */
GST_START_TEST (test_redirects)
{
  static const gchar *paths[] = { "/hop/0/7000/a", "/hop/0/7000/b#bytes=5-99" };

  cached_expect_paths (paths, 2, "retries=0", 0, 0);
  cached_expect ("retries=0", 2, 0, 2);
  server_set_version (cached_server, 1);
  cached_expect ("retries=0", 2, 1, 0);
  cached_expect ("retries=0", 2, 1, 2);
  fail_unless_equals_int (server_count_path (cached_server, paths[0]), 4);
}

GST_END_TEST;

/* Tests that the rest of another version is not used, although the server
 * ignores If-Range, is not sent one, or does not show the change. */
GST_START_TEST (test_mixed)
{
  static const gchar *mixed[] = { "/mixed/1/300000", "/mixed-date/1/300000",
    "/mixed-weak/1/300000", "/mixed-date/1/300000/part#bytes=100-200000",
    "/mixed-bare/1/300000", "/mixed-lost/1/300000",
    "/mixed-lost/1/300000/part#bytes=100-200000" };
  const guint n = G_N_ELEMENTS (mixed);

  cached_expect_paths (mixed, n, "cache-validate=none", 1, 0);
  cached_expect ("cache-validate=none", n, 1, n);
  fail_unless_equals_int (cached_count_files (FALSE), n);
}

GST_END_TEST;

/* Tests that an interrupted body is cached once it is complete. */
GST_START_TEST (test_breaks)
{
  static const gchar *broken[] = { "/kept/2/300000",
    "/kept/1/300000#bytes=100-200000" };
  static const gchar *replica[] = { "/replica/1/300000" };
  static const gchar *bad[] = { "/404/99/1", "/short/99/5000",
    "/break/99/400000", "/bytes/0/1000#bytes=500-1000", "/encoded/99/1000" };
  CachedLoad *load;

  cached_expect_paths (broken, 2, "", 0, 0);
  cached_expect ("", 2, 0, 2);
  /* Servers with the same ETag may have different dates. */
  cached_expect_paths (replica, 1, "", 0, 0);
  fail_unless_equals_int (server_count_path (cached_server, replica[0]), 2);
  fail_unless_equals_int (cached_count_files (FALSE), 3);

  cached_write_list (bad, G_N_ELEMENTS (bad));
  load = cached_load_again ("retries=1 cache-validate=none");
  fail_unless_equals_int (load->n_failures, G_N_ELEMENTS (bad));
  fail_unless_equals_uint64 (load->hits + load->misses, 0);
  cached_load_free (load);
  fail_unless_equals_int (cached_count_files (FALSE), 3);
}

GST_END_TEST;

/* Tests that request headers which may change the response are part of the key,
 * and that credentials are not. */
GST_START_TEST (test_names)
{
  cached_write_many ("kept", 3, 1000);
  cached_expect ("", 3, 0, 0);
  cached_expect ("extra-headers=\"headers, X-Kind=(string)b;\"", 3, 0, 0);
  cached_expect (
      "extra-headers=\"headers, Authorization=(string)c;\"", 3, 0, 3);
  cached_expect ("user-agent=somebody", 3, 0, 3);
}

GST_END_TEST;

GST_START_TEST (test_limits)
{
  CachedLoad *load;

  cached_write_many ("kept", 3, 1000);
  cached_expect ("", 3, 0, 0);
  for (guint i = 0; i < 2; i++) {
    load = cached_load_again (
        i == 0 ? "max-size=999" : "max-size=999 cache-validate=none");
    fail_unless_equals_int (load->n_failures, 3);
    fail_unless (
        errors_text_has (load->failure, "[resource-error read]|max-size|(999)"),
        "%s", load->failure);
    cached_load_free (load);
  }
  cached_expect ("max-size=1000", 3, 0, 3);

  /* Local files are not cached. */
  files_write_text (cached_folder, "local", "local");
  files_write_text (cached_folder, "list.txt", "local\n");
  load = cached_load_again ("");
  fail_unless_equals_int (load->buffers->len, 1);
  fail_unless_equals_uint64 (load->hits + load->misses, 0);
  cached_load_free (load);
  fail_unless_equals_int (cached_count_files (FALSE), 3);
}

GST_END_TEST;

/* Interrupted runs */

static guint
count_requests (void)
{
  ServerCounts counts;

  server_get_counts (cached_server, &counts);
  return counts.requests;
}

GST_START_TEST (test_stop_and_restart)
{
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc location=%s/list.txt epochs=-1 shuffle=true ! "
                       "spdlfetch concurrency=20 retries=1000 "
                       "cache-dir=%s/cache cache-size=2000000 ! fakesink",
          cached_folder, cached_folder);
  GstElement *pipeline;
  GString *list = g_string_new (NULL);

  g_string_append_printf (
      list, "%s/stall-body/99/1000\n", server_get_base (cached_server));
  for (guint i = 0; i < 50; i++)
    g_string_append_printf (
        list, "%s/kept/0/100000/%u\n", server_get_base (cached_server), i);
  files_write_text (cached_folder, "list.txt", list->str);
  g_string_free (list, TRUE);
  pipeline = gst_parse_launch (description, NULL);
  for (guint i = 0; i < 12; i++) {
    const guint before = count_requests ();

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_until (count_requests () > before + 4 * i);
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i % 2 ? GST_STATE_NULL : GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (cached_count_files (TRUE), 0);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  cached_write_many ("kept", 50, 100000);
  {
    CachedLoad *load = cached_load_again ("cache-validate=none");

    cached_assert_whole (load, 50, 0);
    cached_load_free (load);
  }
}

GST_END_TEST;

CHECK_SUITE (disk_cache, FIXTURE (cached_setup, cached_teardown),
    TEST (test_hits), TEST (test_changes), TEST (test_validators),
    TEST (test_stricter), TEST (test_odd_servers), TEST (test_redirects),
    TEST (test_mixed), TEST (test_breaks), TEST (test_names),
    TEST (test_limits), TEST (test_stop_and_restart))
