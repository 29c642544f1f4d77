/* gst-spdl: tests of the diagnosis on pipelines with a known bottleneck
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Stages sleep, so that results do not depend on the load of the machine. They
 * sleep much longer than a thread takes to wake up. */

#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/server.h"
#include "tests/check/support/suite.h"

#include <string.h>

#define SOURCE "fakesrc name=src sizetype=fixed sizemax=16 num-buffers=%u ! "

typedef struct {
  GstSpdlDiagnosis *diagnosis;
  gchar *suggestion;
  double qps; /* at the sink */
} Outcome;

static void
outcome_free (Outcome *outcome)
{
  gst_spdl_diagnosis_unref (outcome->diagnosis);
  g_free (outcome->suggestion);
  g_free (outcome);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Outcome, outcome_free)

/* Applies a suggestion like gst-spdl-launch-1.0. */
static void
apply (GstElement *pipeline, const gchar *suggestion)
{
  const gchar *dot = strchr (suggestion, '.');
  const gchar *equals = strchr (suggestion, '=');
  g_autofree gchar *name = g_strndup (suggestion, dot - suggestion);
  g_autofree gchar *property = g_strndup (dot + 1, equals - dot - 1);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  fail_unless (element != NULL, "no %s", name);
  gst_util_set_object_arg (G_OBJECT (element), property, equals + 1);
  gst_object_unref (element);
}

static GstStructure *
get_stats (GstElement *pipeline, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstStructure *stats = NULL;

  fail_unless (element != NULL, "no %s", name);
  if (g_object_class_find_property (
          G_OBJECT_GET_CLASS (element), "stage-stats"))
    g_object_get (element, "stage-stats", &stats, NULL);
  else
    stats = gst_structure_new ("foreign", "stage", G_TYPE_STRING, name, NULL);
  gst_object_unref (element);
  return stats;
}

/* @names: of the elements from source to sink, separated by blanks */
static GList *
get_all_stats (GstElement *pipeline, const gchar *names)
{
  g_auto (GStrv) each = g_strsplit (names, " ", -1);
  GList *stages = NULL;

  for (guint i = 0; each[i]; i++)
    stages = g_list_append (stages, get_stats (pipeline, each[i]));
  return stages;
}

static Outcome *
conclude (GstElement *pipeline, const gchar *names)
{
  Outcome *outcome = g_new0 (Outcome, 1);
  GList *stages = get_all_stats (pipeline, names);

  outcome->diagnosis = gst_spdl_diagnose (stages, 0, 0);
  outcome->suggestion = gst_spdl_diagnosis_dup_suggestion (outcome->diagnosis);
  gst_structure_get_double (g_list_last (stages)->data, "qps", &outcome->qps);
  g_list_free_full (stages, (GDestroyNotify) gst_structure_free);
  return outcome;
}

static void
pull_all (GstElement *sink, guint consumer_ms)
{
  GstSample *sample;

  while (TRUE) {
    g_signal_emit_by_name (sink, "pull-sample", &sample);
    if (!sample)
      return;
    gst_sample_unref (sample);
    g_usleep (consumer_ms * 1000);
  }
}

/* Runs @description until EOS; its sink is named `sink`. */
static Outcome *
run_to_end (const gchar *description, const gchar *suggestion,
    guint consumer_ms, const gchar *names)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);
  GstElement *sink;
  Outcome *outcome;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  if (suggestion)
    apply (pipeline, suggestion);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pull_all (sink, consumer_ms);
  outcome = conclude (pipeline, names);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return outcome;
}

#define assert_limit(outcome, expected, name)                                 \
  G_STMT_START                                                                \
  {                                                                           \
    fail_unless (                                                             \
        gst_spdl_diagnosis_get_limit ((outcome)->diagnosis) == (expected) &&  \
            g_strcmp0 (gst_spdl_diagnosis_get_element ((outcome)->diagnosis), \
                name) == 0,                                                   \
        "%s", gst_spdl_diagnosis_get_sentence ((outcome)->diagnosis));        \
  }                                                                           \
  G_STMT_END

/* Asserts that the suggestion increases the rate by at least 20 %; the
 * schedule predicts a factor of two. Retries, because other programs may use
 * the cores. */
static void
assert_helps (const gchar *description, const gchar *names, Outcome *outcome)
{
  double before = outcome->qps, after = 0;

  fail_unless (outcome->suggestion != NULL);
  for (guint i = 0; i < 10; i++) {
    g_autoptr (Outcome) with =
        run_to_end (description, outcome->suggestion, 0, names);

    after = with->qps;
    if (after > 1.2 * before)
      return;
    g_autoptr (Outcome) without = run_to_end (description, NULL, 0, names);

    before = without->qps;
  }
  fail ("%s: %.1f, then %.1f a second", outcome->suggestion, before, after);
}

GST_START_TEST (test_waiting)
{
  g_autofree gchar *description =
      g_strdup_printf (SOURCE "spdlteststage name=fetch sleep=20000000 "
                              "concurrency=2 ! spdlteststage name=decode "
                              "sleep=4000000 ! spdlsink name=sink",
          100);
  const gchar *names = "src fetch decode sink";
  g_autoptr (Outcome) outcome = run_to_end (description, NULL, 0, names);

  assert_limit (outcome, GST_SPDL_LIMIT_WAITING, "fetch");
  assert_helps (description, names, outcome);
}

GST_END_TEST;

/* The second of two stages is the bottleneck. */
GST_START_TEST (test_second)
{
  g_autofree gchar *description =
      g_strdup_printf (SOURCE "spdlteststage name=fetch sleep=4000000 "
                              "! spdlteststage name=decode sleep=20000000 "
                              "! spdlsink name=sink",
          60);
  const gchar *names = "src fetch decode sink";
  g_autoptr (Outcome) outcome = run_to_end (description, NULL, 0, names);

  assert_limit (outcome, GST_SPDL_LIMIT_WAITING, "decode");
  fail_unless_equals_string (outcome->suggestion, "decode.concurrency=2");
  assert_helps (description, names, outcome);
}

GST_END_TEST;

/* A server with a latency of 30 ms is the bottleneck. */
GST_START_TEST (test_server)
{
  Server *server = server_new (FALSE);
  gchar *folder = files_make_folder ();
  GString *list = g_string_new (NULL);
  const gchar *names = "src fetch sink";
  g_autofree gchar *description = NULL;

  server_set_latency (server, 30);
  for (guint i = 0; i < 80; i++)
    g_string_append_printf (
        list, "%s/bytes/0/500/%u\n", server_get_base (server), i);
  files_write_text (folder, "list.txt", list->str);
  description = g_strdup_printf (
      "spdlsrc name=src location=%s/list.txt ! spdlfetch name=fetch "
      "concurrency=2 ! spdlsink name=sink",
      folder);
  g_autoptr (Outcome) outcome = run_to_end (description, NULL, 0, names);

  assert_limit (outcome, GST_SPDL_LIMIT_WAITING, "fetch");
  fail_unless_equals_string (outcome->suggestion, "fetch.concurrency=4");
  assert_helps (description, names, outcome);
  g_string_free (list, TRUE);
  files_remove_folder (folder);
  server_free (server);
}

GST_END_TEST;

GST_START_TEST (test_straggler)
{
  g_autofree gchar *description =
      g_strdup_printf (SOURCE "spdlteststage name=decode sleep=2000000 "
                              "sleep-more=80000000 sleep-more-every=20 "
                              "concurrency=4 output-order=input "
                              "! spdlsink name=sink",
          200);
  const gchar *names = "src decode sink";
  g_autoptr (Outcome) outcome = run_to_end (description, NULL, 0, names);

  assert_limit (outcome, GST_SPDL_LIMIT_STRAGGLER, "decode");
  fail_unless_equals_string (
      outcome->suggestion, "decode.output-order=completion");
  assert_helps (description, names, outcome);
}

GST_END_TEST;

GST_START_TEST (test_foreign)
{
  g_autofree gchar *description =
      g_strdup_printf (SOURCE "spdlteststage name=a sleep=2000000 "
                              "! identity name=slow sleep-time=20000 "
                              "! spdlteststage name=b sleep=2000000 "
                              "! spdlsink name=sink",
          60);
  g_autoptr (Outcome) outcome =
      run_to_end (description, NULL, 0, "src a slow b sink");

  assert_limit (outcome, GST_SPDL_LIMIT_ELEMENT, "slow");
  fail_unless (outcome->suggestion == NULL);
}

GST_END_TEST;

GST_START_TEST (test_consumer)
{
  g_autofree gchar *description =
      g_strdup_printf (SOURCE "spdlteststage name=a sleep=2000000 "
                              "! spdlteststage name=b sleep=4000000 "
                              "concurrency=2 ! spdlsink name=sink",
          60);
  g_autoptr (Outcome) outcome =
      run_to_end (description, NULL, 20, "src a b sink");

  assert_limit (outcome, GST_SPDL_LIMIT_CONSUMER, "sink");
}

GST_END_TEST;

GST_START_TEST (test_too_few)
{
  g_autofree gchar *description = g_strdup_printf (
      SOURCE "spdlteststage name=a sleep=2000000 ! spdlsink name=sink", 5);
  g_autoptr (Outcome) outcome = run_to_end (description, NULL, 0, "src a sink");

  assert_limit (outcome, GST_SPDL_LIMIT_TOO_FEW, NULL);
}

GST_END_TEST;

/* No data is ever pushed. */
GST_START_TEST (test_idle)
{
  GstElement *pipeline = gst_parse_launch (
      "appsrc name=src ! spdlteststage name=a ! spdlsink name=sink", NULL);
  GstSpdlLimit limit;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  do {
    g_autoptr (Outcome) outcome = conclude (pipeline, "src a sink");

    limit = gst_spdl_diagnosis_get_limit (outcome->diagnosis);
    fail_unless (
        limit == GST_SPDL_LIMIT_TOO_FEW || limit == GST_SPDL_LIMIT_IDLE, "%s",
        gst_spdl_diagnosis_get_sentence (outcome->diagnosis));
    g_usleep (10000);
  } while (limit != GST_SPDL_LIMIT_IDLE);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

CHECK_SUITE (diagnose_live, TEST (test_waiting), TEST (test_second),
    TEST (test_server), TEST (test_straggler), TEST (test_foreign),
    TEST (test_consumer), TEST (test_too_few), TEST (test_idle))
