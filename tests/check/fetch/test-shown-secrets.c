/* gst-spdl: tests that no log, message, state and graph contains credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/spdl/spdl.h>

#include <string.h>

#include "tests/check/support/files.h"
#include "tests/check/support/logged.h"
#include "tests/check/support/served.h"
#include "tests/check/support/tars.h"

#define HEADERS                                                      \
  "extra-headers=\"headers, Authorization=(string)\\\"Bearer "       \
  "sesame-1\\\", X-Api-Key=(string)sesame-2, Cookie=(string)\\\"id=" \
  "sesame-3\\\";\""
/* A part of every secret in these tests. */
#define SECRET "sesame"
#define SIZE 2000

/* Everything that could contain a secret: states, URIs, messages and the log of
 * the plugin's categories. */
static GString *output;

static void
add_output (const gchar *text)
{
  g_string_append_printf (output, "%s\n", text);
}

static void
note_message (GstMessage *message)
{
  const GstStructure *s = gst_message_get_structure (message);
  g_autofree gchar *text = s ? gst_structure_to_string (s) : NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  if (text)
    add_output (text);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, &debug);
  else if (s && gst_structure_has_field (s, "error"))
    gst_structure_get (s, "error", G_TYPE_ERROR, &error, NULL);
  if (error)
    add_output (error->message);
  if (debug)
    add_output (debug);
}

/* Records what GST_DEBUG_BIN_TO_DOT_FILE() writes. */
static void
add_dump (GstElement *pipeline)
{
  g_autofree gchar *dump =
      gst_debug_bin_to_dot_data (GST_BIN (pipeline), GST_DEBUG_GRAPH_SHOW_ALL);

  add_output (dump);
}

/* Pulls up to @limit items, until the end or an error, and records all output.
 * Returns the number of items. @state: (out): the resume state */
static guint
run_and_note (const gchar *description, guint limit, gchar **state)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  GstSample *sample;
  guint n = 0;

  fail_unless (pipeline && !error, "%s", error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  bus = gst_element_get_bus (pipeline);
  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE)
    limit = 0;
  while (n < limit) {
    g_signal_emit_by_name (sink, "pull-sample", &sample);
    if (!sample)
      break;
    add_output (
        gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample))->uri);
    gst_sample_unref (sample);
    n++;
  }
  g_object_get (sink, "resume-state", state, NULL);
  if (*state)
    add_output (*state);
  add_dump (pipeline);
  for (GstMessage *message; (message = gst_bus_pop (bus));) {
    note_message (message);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return n;
}

/* Checks that no file below @folder has a secret in its name or contents.
 * Returns the number of files. */
static guint
check_files (const gchar *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  guint n = 0;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_autofree gchar *data = NULL;
    gsize size;

    fail_if (strstr (name, SECRET), "%s", path);
    if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
      n += check_files (path);
    } else if (g_file_get_contents (path, &data, &size, NULL)) {
      fail_if (memmem (data, size, SECRET, strlen (SECRET)), "%s", path);
      n++;
    }
  }
  return n;
}

static void
begin_to_note (void)
{
  output = g_string_new (NULL);
  gst_debug_set_threshold_from_string ("spdl*:9", FALSE);
}

/* Returns the recorded output, after a check that it contains no secret. */
static gchar *
end_to_note (void)
{
  g_autofree gchar *log = logged_dup_log ();

  add_output (log);
  fail_if (strstr (output->str, SECRET), "%s", output->str);
  return g_string_free (g_steal_pointer (&output), FALSE);
}

/* Runs shards from a URI with a password and a signature, both of which change
 * before the run is resumed. */
static void
run_shards_and_note (const gchar *kind, const gchar *cache)
{
  g_autofree gchar *state = NULL;

  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *before =
        state ? g_strdup_printf ("resume-state=\"%s\"", state) : g_strdup ("");
    g_autofree gchar *description = g_strdup_printf (
        "spdlsrc location=\"http://me:sesame-%u@127.0.0.1:%u/%s/0/0/train.tar?"
        "X-Amz-Signature=sesame%u&v=1\" index-cache=always %s %s ! "
        "spdlfetch cache-dir=%s cache-validate=none %s ! spdlsink name=sink",
        i, server_get_port (served.server), kind, i, before, HEADERS, cache,
        HEADERS);

    g_clear_pointer (&state, g_free);
    fail_unless_equals_int (
        run_and_note (description, i == 0 ? 2 : 99, &state), i == 0 ? 2 : 4);
    fail_unless (state != NULL);
  }
}

GST_START_TEST (test_no_secret_in_output)
{
  static const gchar *const bad[] = { "404/99/1", "to/99/1", "503/99/1",
    "otherrange/99/9", "break/99/100000", "garbage/99/1" };
  g_autofree gchar *cache = g_build_filename (served.folder, "cache", NULL);
  g_autofree gchar *local = g_build_filename (served.folder, "list.txt", NULL);
  g_autofree gchar *text = NULL;
  g_autoptr (GString) list = g_string_new (NULL);

  tar_write_shard (served.folder, "train.tar", 0, 6, SIZE);
  server_set_place (
      served.server, "train.tar", "ftp://me:sesame@host/?sig=sesame");
  begin_to_note ();
  run_shards_and_note ("shard", cache);
  run_shards_and_note ("tape", cache);
  /* The last URI has a port without a listener. */
  for (guint i = 0; i <= G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *state = NULL;
    g_autofree gchar *uri = g_strdup_printf (
        "http://me:sesame@127.0.0.1:%u/%s/train.tar?token=sesame",
        i == G_N_ELEMENTS (bad) ? 1 : server_get_port (served.server),
        bad[i % G_N_ELEMENTS (bad)]);
    g_autofree gchar *description = g_strdup_printf (
        "spdlsrc location=\"%s\" retries=1 %s ! spdlsink name=sink", uri,
        HEADERS);

    fail_unless_equals_int (run_and_note (description, 99, &state), 0);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_string_append_printf (list,
        "http://me:sesame@127.0.0.1:%u/%s/train.tar?token=sesame\n",
        server_get_port (served.server), bad[i]);
  g_string_append (list, "http://me:p/sesame@host/a\n"
                         "http://me:sesame@127.0.0.1:1/a?sig=sesame\n"
                         "nothing://me:sesame@host/a?sig=sesame\n");
  files_write_text (served.folder, "list.txt", list->str);
  {
    g_autofree gchar *state = NULL;
    g_autofree gchar *description =
        g_strdup_printf ("spdlsrc location=%s ! spdlfetch retries=1 %s ! "
                         "spdlsink name=sink",
            local, HEADERS);

    fail_unless_equals_int (run_and_note (description, 99, &state), 0);
  }
  text = end_to_note ();
  /* The URIs are redacted but can be recognized. */
  fail_unless (strstr (text, "http://***@127.0.0.1"), "%s", text);
  fail_unless (
      strstr (text, "/train.tar?X-Amz-Signature=***&v=1#bytes="), "%s", text);
  fail_unless (check_files (cache) > 0);
  fail_unless (check_files (served.cache) > 0);
}

GST_END_TEST;

/* Tests that graphs hide properties with secrets, and show the others. The
 * properties themselves are complete. */
GST_START_TEST (test_dump)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "spdlsrc name=src location=http://me:sesame@host/a.tar?v=1 " HEADERS
      " ! spdlfetch name=fetch user-agent=visible/1 " HEADERS
      " ! fakesink spdlworkersrc name=worker "
      "pipeline=\"spdlsrc location=https://host/a.tar?sig=sesame\" ! fakesink",
      NULL);
  g_autoptr (GstElement) src = NULL, fetch = NULL, worker = NULL;
  g_autofree gchar *dump = NULL, *location = NULL, *description = NULL;
  g_autoptr (GstStructure) headers = NULL;

  fail_unless (pipeline != NULL);
  dump =
      gst_debug_bin_to_dot_data (GST_BIN (pipeline), GST_DEBUG_GRAPH_SHOW_ALL);
  fail_if (strstr (dump, SECRET), "%s", dump);
  fail_unless (strstr (dump, "visible/1"), "%s", dump);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  fetch = gst_bin_get_by_name (GST_BIN (pipeline), "fetch");
  worker = gst_bin_get_by_name (GST_BIN (pipeline), "worker");
  g_object_get (src, "location", &location, NULL);
  g_object_get (fetch, "extra-headers", &headers, NULL);
  g_object_get (worker, "pipeline", &description, NULL);
  fail_unless_equals_string (location, "http://me:sesame@host/a.tar?v=1");
  fail_unless_equals_string (
      gst_structure_get_string (headers, "X-Api-Key"), "sesame-2");
  fail_unless (strstr (description, "sig=sesame") != NULL);
}

GST_END_TEST;

static Suite *
shown_secrets_suite (void)
{
  Suite *s = suite_create ("shown-secrets");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, served_setup, served_teardown);
  tcase_add_test (tc, test_no_secret_in_output);
  tcase_add_test (tc, test_dump);
  return s;
}

int
main (int argc, char **argv)
{
  return logged_run (argc, argv, shown_secrets_suite, "shown-secrets");
}
