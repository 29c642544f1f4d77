/* gst-spdl: tests of the diagnosis on constructed statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/suite.h"

#define MAX_ROWS 6
#define MS GST_MSECOND

/* Statistics of an element in a test case. Times in ms. */
typedef struct {
  const gchar *name;
  gchar kind; /* s: source, f: element of another project, p: plain, w: stage,
                 k: sink */
  guint concurrency;
  guint tasks;
  double ave, p99;
  double computing; /* fraction of the task time */
  double occupancy;
  gboolean in_order;
  guint failures;
  guint paused; /* by a server that limits the rate */
} Row;

typedef struct {
  const gchar *name;
  double elapsed; /* s */
  guint cores;
  GstSpdlLimit limit;
  const gchar *element;
  const gchar *suggestion;
  const gchar *words; /* expected part of the sentence */
  Row rows[MAX_ROWS];
} Example;

static GstStructure *
make_stats (const Row *row, double elapsed)
{
  GstStructure *s = gst_structure_new (
      "spdl-stage-stats", "stage", G_TYPE_STRING, row->name, NULL);
  const double cpu = row->tasks * row->ave * MS * row->computing;

  if (row->kind == 'f')
    return s;
  gst_structure_set (s, "elapsed", G_TYPE_UINT64,
      (guint64) (elapsed * GST_SECOND), "num-items", G_TYPE_UINT64,
      (guint64) row->tasks, NULL);
  if (row->kind == 'w')
    gst_structure_set (s, "concurrency", G_TYPE_UINT, row->concurrency,
        "queue-size", G_TYPE_UINT, 2, "num-tasks", G_TYPE_UINT64,
        (guint64) row->tasks, "num-failures", G_TYPE_UINT64,
        (guint64) row->failures, "ave-time", G_TYPE_UINT64,
        (guint64) (row->ave * MS), "p90-time", G_TYPE_UINT64,
        (guint64) (row->ave * MS), "p99-time", G_TYPE_UINT64,
        (guint64) (row->p99 * MS), "cpu-time", G_TYPE_UINT64, (guint64) cpu,
        "output-order", G_TYPE_STRING, row->in_order ? "input" : "completion",
        NULL);
  if (row->paused > 0)
    gst_structure_set (s, "rate-limit-time", G_TYPE_UINT64,
        row->paused * (guint64) MS, "rate-limit", G_TYPE_STRING,
        "http://h permits 5 requests in 1 s", NULL);
  if (row->kind == 'w' || row->kind == 'k')
    gst_structure_set (s, "occupancy-rate", G_TYPE_DOUBLE, row->occupancy,
        "ave-put-time", G_TYPE_UINT64, (guint64) 0, NULL);
  return s;
}

static GstSpdlDiagnosis *
diagnose (const Example *example)
{
  GList *stages = NULL;
  GstSpdlDiagnosis *d;

  for (guint i = MAX_ROWS; i > 0; i--)
    if (example->rows[i - 1].name)
      stages = g_list_prepend (
          stages, make_stats (&example->rows[i - 1], example->elapsed));
  d = gst_spdl_diagnose (stages, example->cores, 0);
  g_list_free_full (stages, (GDestroyNotify) gst_structure_free);
  return d;
}

#define SRC(n)             \
  {                        \
    "src", 's', .tasks = n \
  }
#define SINK(n, occ)                          \
  {                                           \
    "sink", 'k', .tasks = n, .occupancy = occ \
  }
#define SLEEP(name, c, n, ms, occ)  \
  {                                 \
    name, 'w', c, n, ms, ms, 0, occ \
  }
#define SPIN(name, c, n, ms, occ)   \
  {                                 \
    name, 'w', c, n, ms, ms, 1, occ \
  }

static const Example examples[] = {
  /* SPDL's simulations, with a consumer of 30 ms, over 10 s. */
  { "25", 10, 4, GST_SPDL_LIMIT_CONSUMER, "sink", NULL, "nothing to do",
      { SRC (333), SLEEP ("op", 1, 333, 25, 1), SINK (333, 1) } },
  { "35", 10, 4, GST_SPDL_LIMIT_WAITING, "op", "op.concurrency=2",
      "op.concurrency|1",
      { SRC (285), SLEEP ("op", 1, 285, 35, 1), SINK (285, 0.006) } },
  { "10-25-40", 10, 4, GST_SPDL_LIMIT_WAITING, "c", "c.concurrency=2", "100",
      { SRC (250), SLEEP ("a", 1, 250, 10, 1), SLEEP ("b", 1, 250, 25, 1),
          SLEEP ("c", 1, 250, 40, 1), SINK (250, 0.007) } },
  { "40-25-10", 10, 4, GST_SPDL_LIMIT_WAITING, "a", "a.concurrency=2", NULL,
      { SRC (250), SLEEP ("a", 1, 250, 40, 1), SLEEP ("b", 1, 250, 25, 0.007),
          SLEEP ("c", 1, 250, 10, 0.007), SINK (250, 0.006) } },
  { "10-25-40x2", 10, 4, GST_SPDL_LIMIT_CONSUMER, "sink", NULL, NULL,
      { SRC (333), SLEEP ("a", 1, 333, 10, 1), SLEEP ("b", 1, 333, 25, 1),
          SLEEP ("c", 2, 333, 40, 1), SINK (333, 1) } },
  { "6-by-4", 10, 4, GST_SPDL_LIMIT_CONSUMER, "sink", NULL, NULL,
      { SRC (1333), SLEEP ("op", 1, 1333, 6, 1),
          { "batch", 'p', .tasks = 1333 }, SINK (1333, 1) } },
  { "6-by-6", 10, 4, GST_SPDL_LIMIT_WAITING, "op", "op.concurrency=2", NULL,
      { SRC (1666), SLEEP ("op", 1, 1666, 6, 1),
          { "batch", 'p', .tasks = 1666 }, SINK (1666, 0.01) } },

  /* The next stage limits the gain: 3 workers suffice for 1.4. */
  { "next", 10, 16, GST_SPDL_LIMIT_COMPUTING, "decode", "decode.concurrency=3",
      "98|decode.concurrency|2|decode",
      { SRC (2000), SLEEP ("fetch", 4, 2000, 14, 1),
          SPIN ("decode", 2, 2000, 10, 0.98), SINK (2000, 0.01) } },
  /* The number of workers is limited by the cores. */
  { "one core free", 10, 3, GST_SPDL_LIMIT_COMPUTING, "decode",
      "decode.concurrency=3", NULL,
      { SRC (2000), SPIN ("decode", 2, 2000, 10, 0.98), SINK (2000, 0.01) } },
  { "cores", 10, 2, GST_SPDL_LIMIT_CORES, "decode", NULL,
      "more concurrency does not help",
      { SRC (2000), SPIN ("decode", 2, 2000, 10, 0.98), SINK (2000, 0.01) } },
  /* With more workers than cores, they wait for cores. */
  { "oversubscribed", 10, 2, GST_SPDL_LIMIT_CORES, "decode", NULL, NULL,
      { SRC (2000), { "decode", 'w', 8, 2000, 40, 80, 0.25, 0.98 },
          SINK (2000, 0.01) } },
  { "cores not known", 10, 0, GST_SPDL_LIMIT_COMPUTING, "decode",
      "decode.concurrency=4", NULL,
      { SRC (2000), SPIN ("decode", 2, 2000, 10, 0.98), SINK (2000, 0.01) } },
  { "server", 10, 4, GST_SPDL_LIMIT_WAITING, "fetch", "fetch.concurrency=8",
      "waits the rest",
      { SRC (400), { "fetch", 'w', 4, 400, 100, 120, 0.01, 1 },
          SPIN ("decode", 2, 400, 10, 0.02), SINK (400, 0) } },

  /* An element between, before and after stages. */
  { "foreign", 10, 4, GST_SPDL_LIMIT_ELEMENT, "scale", NULL, "scale",
      { SRC (1000), SLEEP ("a", 1, 1000, 2, 1), { "scale", 'f' },
          SLEEP ("b", 1, 1000, 2, 0.01), SINK (1000, 0) } },
  { "two foreign", 10, 4, GST_SPDL_LIMIT_ELEMENT, "scale", NULL, "scale|sink",
      { SRC (1000), SLEEP ("a", 1, 1000, 2, 1), { "scale", 'f' },
          { "convert", 'f' }, SINK (1000, 0) } },
  { "foreign first", 10, 4, GST_SPDL_LIMIT_ELEMENT, "scale", NULL, "scale",
      { SRC (1000), { "scale", 'f' }, SLEEP ("a", 1, 1000, 2, 0.01),
          SINK (1000, 0) } },
  { "foreign last", 10, 4, GST_SPDL_LIMIT_ELEMENT, "scale", NULL, NULL,
      { SRC (1000), SLEEP ("a", 1, 1000, 2, 1), { "batch", 'p', .tasks = 1000 },
          { "scale", 'f' }, SINK (1000, 0) } },
  { "no sink of ours", 10, 4, GST_SPDL_LIMIT_ELEMENT, "fakesink", NULL, NULL,
      { SRC (1000), SLEEP ("a", 1, 1000, 2, 1), { "fakesink", 'f' } } },
  { "batching", 10, 4, GST_SPDL_LIMIT_ELEMENT, "batch", NULL, "reduce its work",
      { SRC (1000), SLEEP ("a", 1, 1000, 2, 1), { "batch", 'p', .tasks = 1000 },
          SINK (1000, 0) } },
  { "source", 10, 4, GST_SPDL_LIMIT_SOURCE, "src", NULL,
      "no concurrency to raise",
      { SRC (1000), SLEEP ("a", 1, 1000, 2, 0.01), SINK (1000, 0) } },

  { "straggler", 10, 4, GST_SPDL_LIMIT_STRAGGLER, "a",
      "a.output-order=completion", "for slow items",
      { SRC (1000), { "a", 'w', 4, 1000, 15, 200, 0, 1, TRUE },
          SINK (1000, 0.01) } },
  { "straggler before a batch", 10, 4, GST_SPDL_LIMIT_STRAGGLER, "a",
      "a.output-order=completion", NULL,
      { SRC (1000), { "a", 'w', 4, 1000, 15, 200, 0, 1, TRUE },
          { "batch", 'p', .tasks = 1000 }, SINK (1000, 0.01) } },
  /* In order, but task times are uniform: the following element is slow. */
  { "for slow items", 10, 4, GST_SPDL_LIMIT_ELEMENT, "scale", NULL, NULL,
      { SRC (1000), { "a", 'w', 4, 1000, 15, 16, 0, 1, TRUE }, { "scale", 'f' },
          SINK (1000, 0.01) } },
  { "pool", 10, 4, GST_SPDL_LIMIT_HELD, "a", NULL, "thread-pool",
      { SRC (1000), SLEEP ("a", 8, 1000, 20, 1), SINK (1000, 0.01) } },

  { "balanced", 10, 4, GST_SPDL_LIMIT_BALANCED, NULL, NULL, "98|97",
      { SRC (980), SLEEP ("a", 1, 980, 10, 0.9), SLEEP ("b", 1, 980, 9.9, 0.5),
          SINK (980, 0.1) } },
  /* The queue of the busiest stage happens to be empty. */
  { "balanced, starved", 10, 4, GST_SPDL_LIMIT_BALANCED, NULL, NULL,
      "gains little",
      { SRC (980), SLEEP ("a", 1, 980, 9.9, 0.9), SLEEP ("b", 1, 980, 10, 0.2),
          SINK (980, 0.1) } },
  { "none stands out", 10, 4, GST_SPDL_LIMIT_BALANCED, NULL, NULL,
      "no stage stands out",
      { SRC (1000), SLEEP ("a", 1, 1000, 5, 0.5), SINK (1000, 0.5) } },
  { "failing", 10, 4, GST_SPDL_LIMIT_FAILURES, "b", NULL, "95|100|b",
      { SRC (100), SLEEP ("a", 1, 100, 100, 1),
          { "b", 'w', 1, 100, 10, 10, 1, 0, FALSE, 95 }, SINK (5, 0) } },
  { "rate limit", 10, 4, GST_SPDL_LIMIT_WAITING, "a", NULL,
      "a|80 %|http://h|5 requests",
      { SRC (20), { "a", 'w', 32, 20, 5000, 9000, 0, 1, FALSE, 0, 8000 },
          SINK (20, 0) } },
  { "short pauses", 10, 4, GST_SPDL_LIMIT_WAITING, "a", "a.concurrency=2", NULL,
      { SRC (100), { "a", 'w', 1, 100, 100, 100, 0, 1, FALSE, 0, 1000 },
          SINK (100, 0) } },
  { "some failing", 10, 4, GST_SPDL_LIMIT_WAITING, "a", "a.concurrency=2", NULL,
      { SRC (100), SLEEP ("a", 1, 100, 100, 1),
          { "b", 'w', 1, 100, 10, 10, 1, 0, FALSE, 90 }, SINK (10, 0) } },
  { "branch with few items", 10, 4, GST_SPDL_LIMIT_WAITING, "a",
      "a.concurrency=2", NULL,
      { SRC (100), SLEEP ("a", 1, 100, 100, 1), SLEEP ("b", 1, 3, 10, 0),
          SINK (100, 0) } },
  { "idle", 10, 4, GST_SPDL_LIMIT_IDLE, NULL, NULL, "10.0",
      { SRC (0), SLEEP ("a", 1, 0, 0, 0), SINK (0, 0) } },
  { "stalled", 10, 4, GST_SPDL_LIMIT_IDLE, "a", NULL, "10.0",
      { SRC (0), SLEEP ("a", 1, 0, 0, 1), SINK (0, 0) } },
  { "stalled from the start", 10, 4, GST_SPDL_LIMIT_IDLE, "b", NULL,
      "no task of b ended",
      { SRC (8), SLEEP ("a", 1, 7, 1, 1), SLEEP ("b", 1, 0, 0, 1),
          SINK (0, 0) } },
  { "first tasks", 0.5, 4, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, "tasks of a",
      { SRC (8), SLEEP ("a", 1, 0, 0, 1), SINK (0, 0) } },
  { "too few", 10, 4, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, "9",
      { SRC (12), SLEEP ("a", 1, 9, 1000, 1), SINK (8, 0) } },
  { "too few for the workers", 10, 4, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, NULL,
      { SRC (100), SLEEP ("a", 32, 90, 1000, 1), SINK (80, 0) } },
  { "too short", 0.05, 4, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, "longer",
      { SRC (1000), SLEEP ("a", 1, 1000, 0.05, 1), SINK (1000, 0) } },
  { "at once", 0, 4, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, NULL,
      { SRC (0), SLEEP ("a", 1, 0, 0, 0), SINK (0, 0) } },
  { "nothing of ours", 10, 4, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, NULL,
      { { "x", 'f' }, { "y", 'f' } } },
  { "nothing", 0, 0, GST_SPDL_LIMIT_TOO_FEW, NULL, NULL, NULL, { { NULL } } },
};

GST_START_TEST (test_examples)
{
  const Example *e = &examples[__i__];
  g_autoptr (GstSpdlDiagnosis) d = diagnose (e);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (d);
  const gchar *sentence = gst_spdl_diagnosis_get_sentence (d);

  fail_unless (gst_spdl_diagnosis_get_limit (d) == e->limit, "%s: %s, %s",
      e->name, gst_spdl_diagnosis_get_limit_nick (d), sentence);
  fail_unless_equals_string (gst_spdl_diagnosis_get_element (d), e->element);
  fail_unless (g_strcmp0 (suggestion, e->suggestion) == 0, "%s: %s", e->name,
      suggestion);
  fail_unless (g_str_has_prefix (sentence, gst_spdl_diagnosis_get_reason (d)));
  if (e->words)
    fail_unless (errors_text_has (sentence, e->words),
        "%s: \"%s\" lacks \"%s\"", e->name, sentence, e->words);
}

GST_END_TEST;

/* The maximum gain is limited by the reserve of the next stage. */
GST_START_TEST (test_gain)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose (&examples[2]);

  fail_unless (gst_spdl_diagnosis_get_gain (d) == 40.0 / 25.0);
}

GST_END_TEST;

static GstSpdlDiagnosis *
diagnose_strings (guint num_cores, guint64 cpu_time, ...)
{
  GList *stages = NULL;
  GstSpdlDiagnosis *d;
  const gchar *text;
  va_list args;

  va_start (args, cpu_time);
  while ((text = va_arg (args, const gchar *)))
    stages = g_list_append (stages, gst_structure_from_string (text, NULL));
  va_end (args);
  d = gst_spdl_diagnose (stages, num_cores, cpu_time);
  g_list_free_full (stages, (GDestroyNotify) gst_structure_free);
  return d;
}

/* A thread count is suggested if the caller knows the property. */
GST_START_TEST (test_threads)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (4, 0,
      "s, stage=a, elapsed=(guint64)9000000000, num-tasks=(guint64)100,"
      "ave-time=(guint64)1000000, occupancy-rate=1.0",
      "s, stage=scale, threads-property=n-threads, threads=(uint)1",
      "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)100,"
      "occupancy-rate=0.0",
      NULL);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (d);

  fail_unless_equals_string (suggestion, "scale.n-threads=2");
}

GST_END_TEST;

/* A sink from which appsink's C API pulls has no occupancy. */
GST_START_TEST (test_put_time)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (4, 0,
      "s, stage=a, elapsed=(guint64)9000000000, num-tasks=(guint64)3200,"
      "ave-time=(guint64)1000000, occupancy-rate=1.0",
      "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)3200,"
      "num-batches=(guint64)100, ave-put-time=(guint64)80000000",
      NULL);

  fail_unless (gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_CONSUMER);
}

GST_END_TEST;

/* The CPU time of the process is used if it is known. */
GST_START_TEST (test_process)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (2, 19000000000,
      "s, stage=a, elapsed=(guint64)10000000000, num-tasks=(guint64)1000,"
      "ave-time=(guint64)10000000, occupancy-rate=1.0,"
      "cpu-time=(guint64)10000000000",
      NULL);

  fail_unless (gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_CORES);
  fail_unless (errors_text_has (gst_spdl_diagnosis_get_sentence (d), "1.9|2"));
  fail_unless_equals_string (gst_spdl_diagnosis_get_element (d), "a");
}

GST_END_TEST;

/* If threads other than those of stages use the cores, no stage is named. */
GST_START_TEST (test_process_of_others)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (2, 19000000000,
      "s, stage=a, elapsed=(guint64)10000000000, num-tasks=(guint64)1000,"
      "ave-time=(guint64)10000000, occupancy-rate=1.0,"
      "cpu-time=(guint64)2000000000",
      NULL);

  fail_unless (gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_CORES);
  fail_unless (gst_spdl_diagnosis_get_element (d) == NULL);
  fail_unless_equals_string (gst_spdl_diagnosis_get_sentence (d),
      "1.9 of 2 cores are busy, 0.2 of them by a: more concurrency does not "
      "help; reduce the work or add cores");
}

GST_END_TEST;

/* The push rate of a stage tells whether the following element is slow. */
GST_START_TEST (test_push_rate)
{
  static const struct {
    const gchar *push, *busy;
    GstSpdlLimit limit;
  } cases[] = {
    { "0.97", "500", GST_SPDL_LIMIT_ELEMENT },
    { "0.05", "500", GST_SPDL_LIMIT_COMPUTING }, /* waits for a core */
    { "0.05", "20", GST_SPDL_LIMIT_HELD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *stats = g_strdup_printf (
        "s, stage=a, elapsed=(guint64)1000000000, num-tasks=(guint64)%s,"
        "ave-time=(guint64)1000000, cpu-time=(guint64)500000000,"
        "occupancy-rate=1.0, push-rate=%s",
        cases[i].busy, cases[i].push);
    g_autoptr (GstSpdlDiagnosis) d =
        diagnose_strings (4, 0, stats, "s, stage=scale",
            "s, stage=sink, elapsed=(guint64)1000000000,"
            "num-items=(guint64)500, occupancy-rate=0.0",
            NULL);

    fail_unless (gst_spdl_diagnosis_get_limit (d) == cases[i].limit, "%s",
        gst_spdl_diagnosis_get_sentence (d));
  }
}

GST_END_TEST;

/* A training step takes longer than expected, and the additional time exceeds
 * the wait for a batch. Without these conditions nothing is reported. */
GST_START_TEST (test_step)
{
  static const struct {
    guint p50, given, wait; /* ms */
    guint64 cpu_time;       /* within 10 s */
    GstSpdlLimit limit;
    const gchar *words;
  } cases[] = {
    { 64, 50, 1, 0, GST_SPDL_LIMIT_CONTENTION, "64|50|1|batch" },
    { 64, 50, 1, 19 * GST_SECOND, GST_SPDL_LIMIT_CONTENTION,
        "1.9|2|a.concurrency" },
    { 55, 50, 1, 0, GST_SPDL_LIMIT_CONSUMER, "55" },
    { 64, 0, 1, 0, GST_SPDL_LIMIT_CONSUMER, "64" },
    { 64, 50, 15, 0, GST_SPDL_LIMIT_CONSUMER, NULL },
    { 0, 50, 1, 0, GST_SPDL_LIMIT_CONSUMER, "% of the time: the" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *sink = g_strdup_printf (
        "s, stage=sink, elapsed=(guint64)10000000000, num-items=(guint64)5000,"
        "num-batches=(guint64)150, occupancy-rate=0.9,"
        "ave-get-time=(guint64)%u000000, p50-step-time=(guint64)%u000000,"
        "p99-step-time=(guint64)%u000000, given-step-time=(guint64)%u000000",
        cases[i].wait, cases[i].p50, cases[i].p50, cases[i].given);
    g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (2, cases[i].cpu_time,
        "s, stage=a, elapsed=(guint64)10000000000, num-tasks=(guint64)5000,"
        "concurrency=(uint)2, ave-time=(guint64)1000000,"
        "cpu-time=(guint64)5000000000, occupancy-rate=1.0",
        sink, NULL);
    const gchar *sentence = gst_spdl_diagnosis_get_sentence (d);

    fail_unless (gst_spdl_diagnosis_get_limit (d) == cases[i].limit, "%u: %s",
        i, sentence);
    fail_unless (!cases[i].words || errors_text_has (sentence, cases[i].words),
        "%u: %s", i, sentence);
  }
}

GST_END_TEST;

/* Too few steps, and steps so short that the clock's resolution matters, are
 * not judged. */
GST_START_TEST (test_step_doubtful)
{
  static const gchar *sinks[] = {
    "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)5000,"
    "num-batches=(guint64)9, occupancy-rate=0.9, p50-step-time=(guint64)"
    "64000000, given-step-time=(guint64)50000000",
    "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)5000,"
    "num-batches=(guint64)90, occupancy-rate=0.9, p50-step-time=(guint64)"
    "150000, given-step-time=(guint64)50000",
  };

  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++) {
    g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (2, 0, sinks[i], NULL);

    fail_unless (gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_CONSUMER);
  }
}

GST_END_TEST;

/* Some steps are much longer than most. */
GST_START_TEST (test_step_p99)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (4, 0,
      "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)5000,"
      "num-batches=(guint64)90, occupancy-rate=0.9,"
      "p50-step-time=(guint64)5000000, p99-step-time=(guint64)11000000",
      NULL);

  fail_unless_equals_string (gst_spdl_diagnosis_get_sentence (d),
      "the trainer is the bottleneck, since batches wait for it in sink 90 % "
      "of the "
      "time and its step takes 5 ms (the 99th percentile is 11 ms): the "
      "pipeline keeps up, nothing to do");
}

GST_END_TEST;

/* Tests that a worker process that does not answer is reported first, if it
 * has not answered for 5 s. */
GST_START_TEST (test_silent)
{
  for (guint s = 4; s <= 40; s += 36) {
    g_autoptr (GList) stages = g_list_append (
        NULL, gst_structure_new ("spdl-stage-stats", "stage", G_TYPE_STRING,
                  "worker", "elapsed", G_TYPE_UINT64, 60 * GST_SECOND,
                  "num-items", G_TYPE_UINT64, (guint64) 100, "silent-time",
                  G_TYPE_UINT64, s * GST_SECOND, NULL));
    g_autoptr (GstSpdlDiagnosis) d = gst_spdl_diagnose (stages, 4, 0);

    gst_structure_free (stages->data);
    fail_unless_equals_int (
        gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_IDLE, s == 40);
    if (s == 40)
      fail_unless (
          errors_text_has (gst_spdl_diagnosis_get_reason (d), "worker|40 s"));
  }
}

GST_END_TEST;

/* Statistics with cached batches are not judged: no stage is reported as idle,
 * and the sink not as well fed. */
GST_START_TEST (test_cached)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_strings (4, 0,
      "s, stage=a, elapsed=(guint64)9000000000, num-tasks=(guint64)0,"
      "ave-time=(guint64)0, occupancy-rate=1.0",
      "s, stage=cache, elapsed=(guint64)9000000000, num-items=(guint64)3200,"
      "num-batches=(guint64)100, num-cached=(guint64)90",
      "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)3200,"
      "num-batches=(guint64)100, occupancy-rate=1.0",
      NULL);
  g_autoptr (GstSpdlDiagnosis) before = diagnose_strings (4, 0,
      "s, stage=cache, elapsed=(guint64)9000000000, num-items=(guint64)3200,"
      "num-batches=(guint64)100, num-cached=(guint64)0",
      "s, stage=sink, elapsed=(guint64)9000000000, num-items=(guint64)3200,"
      "num-batches=(guint64)100, occupancy-rate=1.0",
      NULL);

  fail_unless (gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_CACHED);
  fail_unless_equals_string (gst_spdl_diagnosis_get_element (d), "cache");
  fail_unless_equals_string (gst_spdl_diagnosis_get_limit_nick (d), "cached");
  fail_unless_equals_string (
      gst_spdl_diagnosis_get_reason (d), "90 of 100 batches came from cache");
  fail_unless (
      gst_spdl_diagnosis_get_limit (before) == GST_SPDL_LIMIT_CONSUMER);
}

GST_END_TEST;

/* With automatic concurrency, or a CPU budget, no setting is suggested. */
GST_START_TEST (test_automatic)
{
  g_autoptr (GstSpdlDiagnosis) automatic = diagnose_strings (4, 0,
      "s, stage=a, elapsed=(guint64)10000000000, num-tasks=(guint64)5000,"
      "concurrency=(uint)12, automatic=true, ave-time=(guint64)24000000,"
      "occupancy-rate=1.0",
      NULL);
  g_autoptr (GstSpdlDiagnosis) held = diagnose_strings (4, 0,
      "s, stage=a, elapsed=(guint64)10000000000, num-tasks=(guint64)5000,"
      "concurrency=(uint)2, throttled=true, ave-time=(guint64)1000000,"
      "cpu-time=(guint64)5000000000, occupancy-rate=1.0, push-rate=0.1",
      "s, stage=sink, elapsed=(guint64)10000000000, num-items=(guint64)5000,"
      "num-batches=(guint64)100, occupancy-rate=0.0",
      NULL);

  fail_unless (
      gst_spdl_diagnosis_get_limit (automatic) == GST_SPDL_LIMIT_WAITING);
  fail_unless (gst_spdl_diagnosis_get_property (automatic) == NULL);
  fail_unless (errors_text_has (
      gst_spdl_diagnosis_get_sentence (automatic), "a.concurrency|12"));
  fail_unless (gst_spdl_diagnosis_get_limit (held) == GST_SPDL_LIMIT_HELD);
  fail_unless_equals_string (
      gst_spdl_diagnosis_get_reason (held), "the CPU budget limits a");
}

GST_END_TEST;

/* CPU counters over 10 s. Times in ms; negative: unknown. */
typedef struct {
  double num_cores;
  int process;
  int num_cpus, busy, idle;
  int pressure;
  int delay; /* 0: unknown */
} Cpus;

static GstStructure *
make_cpu_stats (const Cpus *cpus, guint64 time)
{
  const guint64 begin = 77 * GST_SECOND;
  GstStructure *s = gst_structure_new ("spdl-cpu-stats", "time", G_TYPE_UINT64,
      begin + time, "num-cores", G_TYPE_DOUBLE, cpus->num_cores, NULL);
  const struct {
    const gchar *name;
    int value;
  } counters[] = { { "process-time", cpus->process },
    { "busy-time", cpus->busy }, { "idle-time", cpus->idle },
    { "pressure-time", cpus->pressure },
    { "delay-time", cpus->delay > 0 ? cpus->delay : -1 } };

  for (guint i = 0; i < G_N_ELEMENTS (counters); i++)
    if (counters[i].value >= 0)
      gst_structure_set (s, counters[i].name, G_TYPE_UINT64,
          begin + (time > 0 ? counters[i].value * MS : 0), NULL);
  if (cpus->num_cpus > 0)
    gst_structure_set (s, "num-cpus", G_TYPE_UINT, cpus->num_cpus, NULL);
  return s;
}

static GstSpdlDiagnosis *
diagnose_with_cpus (
    const Cpus *cpus, const gchar *stage, const gchar *next, const gchar *sink)
{
  GstStructure *before = make_cpu_stats (cpus, 0);
  GstStructure *after = make_cpu_stats (cpus, 10 * GST_SECOND);
  const gchar *texts[] = { stage, next, sink };
  GList *stages = NULL;
  GstSpdlDiagnosis *d;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i])
      stages =
          g_list_append (stages, gst_structure_from_string (texts[i], NULL));
  d = gst_spdl_diagnose_with_cpus (stages, before, after);
  g_list_free_full (stages, (GDestroyNotify) gst_structure_free);
  gst_structure_free (before);
  gst_structure_free (after);
  return d;
}

#define DECODE(ave, cpu)                                                       \
  "s, stage=decode, elapsed=(guint64)10000000000, concurrency=(uint)1,"        \
  "num-tasks=(guint64)1000, ave-time=(guint64)" ave ", cpu-time=(guint64)" cpu \
  ", occupancy-rate=1.0, push-rate=0.01"
#define SINK_TEXT                                                        \
  "s, stage=sink, elapsed=(guint64)10000000000, num-items=(guint64)500," \
  "num-batches=(guint64)50, occupancy-rate=0.0"
#define FETCH                                                          \
  "s, stage=fetch, elapsed=(guint64)10000000000, concurrency=(uint)4," \
  "num-tasks=(guint64)1000, ave-time=(guint64)40000000,"               \
  "cpu-time=(guint64)200000000, occupancy-rate=1.0"
#define IDLE_DECODE                                                     \
  "s, stage=decode, elapsed=(guint64)10000000000, concurrency=(uint)1," \
  "num-tasks=(guint64)1000, ave-time=(guint64)1000000,"                 \
  "cpu-time=(guint64)900000000, occupancy-rate=0.0"

/* More threads are suggested if cores are idle, but not if other programs use
 * them. */
static const struct {
  const gchar *name;
  Cpus cpus;
  const gchar *stages[2];
  GstSpdlLimit limit;
  const gchar *suggestion;
  const gchar *words;
} loads[] = {
  { "idle machine", { 4, 9500, 4, 9600, 30400, 100 },
      { DECODE ("9900000", "9500000000") }, GST_SPDL_LIMIT_COMPUTING,
      "decode.concurrency=2", "decode.concurrency|1" },
  { "others on all cores", { 2, 6000, 2, 20000, 0, 8500 },
      { DECODE ("9900000", "5900000000") }, GST_SPDL_LIMIT_OTHERS, NULL,
      "1.4|2|CPU|85|0.6|decode" },
  { "pressure not known", { 2, 6000, 2, 20000, 0, -1 },
      { DECODE ("9900000", "5900000000") }, GST_SPDL_LIMIT_OTHERS, NULL,
      "1.4|2|decode" },
  { "idle time not known", { 2, 6000, 0, -1, -1, 8500 },
      { DECODE ("9900000", "5900000000") }, GST_SPDL_LIMIT_OTHERS, NULL,
      "CPU|85|decode" },
  { "nothing known", { 2, 6000, 0, -1, -1, -1 },
      { DECODE ("9900000", "5900000000") }, GST_SPDL_LIMIT_COMPUTING,
      "decode.concurrency=2", NULL },
  /* Counters that stand still, as in some sandboxes. */
  { "standing counters", { 2, 6000, 2, 0, 0, 0 },
      { DECODE ("9900000", "5900000000") }, GST_SPDL_LIMIT_COMPUTING,
      "decode.concurrency=2", NULL },
  { "standing counters, pressure", { 2, 6000, 2, 0, 0, 9000 },
      { DECODE ("9900000", "5900000000") }, GST_SPDL_LIMIT_OTHERS, NULL,
      "other programs use the cores" },
  /* The stage mostly waits for a core, within or between tasks. */
  { "starved", { 2, 3000, 2, 20000, 0, 9500 },
      { DECODE ("9900000", "2900000000") }, GST_SPDL_LIMIT_OTHERS, NULL,
      "decode" },
  { "starved between tasks", { 2, 3000, 2, 20000, 0, 9500 },
      { DECODE ("5000000", "2900000000") }, GST_SPDL_LIMIT_OTHERS, NULL, NULL },
  { "idle between tasks", { 2, 3000, 2, 4000, 16000, 100 },
      { DECODE ("5000000", "2900000000") }, GST_SPDL_LIMIT_COMPUTING,
      "decode.concurrency=2", NULL },
  /* No thread waits for a core, so the tasks wait for something else. */
  { "waiting", { 2, 3000, 2, 20000, 0, 500 },
      { DECODE ("9900000", "2900000000") }, GST_SPDL_LIMIT_WAITING,
      "decode.concurrency=2", NULL },
  { "waiting on a busy machine", { 2, 3000, 2, 20000, 0, 9500, 900 },
      { DECODE ("9900000", "2900000000") }, GST_SPDL_LIMIT_WAITING,
      "decode.concurrency=2", NULL },
  { "starved by its delay", { 2, 500, 2, 20000, 0, 9500, 8000 },
      { DECODE ("9900000", "400000000") }, GST_SPDL_LIMIT_OTHERS, NULL, NULL },
  /* Other threads of the process wait for cores, those of decode hardly do. */
  { "sleeping beside threads that wait", { 2, 1000, 2, 20000, 0, 9000, 8000 },
      { DECODE ("9900000", "100000000") }, GST_SPDL_LIMIT_WAITING,
      "decode.concurrency=2", NULL },
  { "sleeping on a busy machine", { 2, 300, 2, 20000, 0, 9500 },
      { DECODE ("9900000", "200000000") }, GST_SPDL_LIMIT_WAITING,
      "decode.concurrency=2", NULL },
  { "slow server", { 2, 1000, 2, 20000, 0, 9000 }, { FETCH, IDLE_DECODE },
      GST_SPDL_LIMIT_WAITING, "fetch.concurrency=8", NULL },
  /* The process itself uses all available cores. */
  { "own load", { 2, 19000, 2, 20000, 0, 9500 },
      { DECODE ("9900000", "9800000000") }, GST_SPDL_LIMIT_CORES, NULL,
      "1.9|2" },
  /* A quota of 1.5 cores on a machine with 64. */
  { "quota", { 1.5, 14500, 64, 100000, 540000, 9000 },
      { DECODE ("9900000", "9800000000") }, GST_SPDL_LIMIT_CORES, NULL,
      "1.4|1.5" },
  { "quota with room", { 4, 9500, 64, 600000, 40000, 0 },
      { DECODE ("9900000", "9500000000") }, GST_SPDL_LIMIT_COMPUTING,
      "decode.concurrency=2", NULL },
};

GST_START_TEST (test_loads)
{
  g_autoptr (GstSpdlDiagnosis) d = diagnose_with_cpus (&loads[__i__].cpus,
      loads[__i__].stages[0], loads[__i__].stages[1], SINK_TEXT);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (d);
  const gchar *sentence = gst_spdl_diagnosis_get_sentence (d);

  fail_unless (gst_spdl_diagnosis_get_limit (d) == loads[__i__].limit,
      "%s: %s, %s", loads[__i__].name, gst_spdl_diagnosis_get_limit_nick (d),
      sentence);
  fail_unless (g_strcmp0 (suggestion, loads[__i__].suggestion) == 0, "%s: %s",
      loads[__i__].name, suggestion);
  if (loads[__i__].words)
    fail_unless (errors_text_has (sentence, loads[__i__].words),
        "%s: \"%s\" lacks \"%s\"", loads[__i__].name, sentence,
        loads[__i__].words);
}

GST_END_TEST;

/* The suggested number of additional workers equals the number of idle cores,
 * even if the process may use more. */
GST_START_TEST (test_idle_cores)
{
  const Cpus cpus = { 8, 38000, 8, 68000, 12000, 100 };
  g_autoptr (GstSpdlDiagnosis) d = diagnose_with_cpus (&cpus,
      "s, stage=decode, elapsed=(guint64)10000000000, concurrency=(uint)4,"
      "num-tasks=(guint64)4000, ave-time=(guint64)9900000,"
      "cpu-time=(guint64)38000000000, occupancy-rate=1.0",
      NULL, SINK_TEXT);

  fail_unless_equals_string (gst_spdl_diagnosis_get_value (d), "5");
}

GST_END_TEST;

/* Without the first counters, only the number of cores is known; without both,
 * nothing. */
GST_START_TEST (test_no_cpu_stats)
{
  const Cpus cpus = { 2, 6000, 2, 20000, 0, 8500 };
  GstStructure *stage =
      gst_structure_from_string (DECODE ("9900000", "9800000000"), NULL);
  GstStructure *after = make_cpu_stats (&cpus, 10 * GST_SECOND);
  GList stages = { stage };
  g_autoptr (GstSpdlDiagnosis) some =
      gst_spdl_diagnose_with_cpus (&stages, NULL, after);
  g_autoptr (GstSpdlDiagnosis) none =
      gst_spdl_diagnose_with_cpus (&stages, NULL, NULL);
  g_autoptr (GstSpdlDiagnosis) same =
      gst_spdl_diagnose_with_cpus (&stages, after, after);

  fail_unless (gst_spdl_diagnosis_get_limit (some) == GST_SPDL_LIMIT_COMPUTING);
  fail_unless (gst_spdl_diagnosis_get_limit (none) == GST_SPDL_LIMIT_COMPUTING);
  fail_unless (gst_spdl_diagnosis_get_limit (same) == GST_SPDL_LIMIT_COMPUTING);
  gst_structure_free (stage);
  gst_structure_free (after);
}

GST_END_TEST;

/* A trainer that other programs slow down is reported. */
GST_START_TEST (test_step_and_others)
{
  const Cpus cpus = { 2, 6000, 2, 20000, 0, 8500 };
  g_autoptr (GstSpdlDiagnosis) d = diagnose_with_cpus (&cpus,
      DECODE ("9900000", "5900000000"), NULL,
      "s, stage=sink, elapsed=(guint64)10000000000, num-items=(guint64)5000,"
      "num-batches=(guint64)150, occupancy-rate=0.9,"
      "ave-get-time=(guint64)1000000, p50-step-time=(guint64)64000000,"
      "given-step-time=(guint64)50000000");

  fail_unless (gst_spdl_diagnosis_get_limit (d) == GST_SPDL_LIMIT_CONTENTION);
  fail_unless (errors_text_has (gst_spdl_diagnosis_get_sentence (d), "1.4|2"));
}

GST_END_TEST;

/* The counters of this machine are plausible. */
GST_START_TEST (test_cpu_stats)
{
  GstStructure *s = gst_spdl_dup_cpu_stats ();
  guint64 time, process;
  double num_cores;

  fail_unless_equals_string (gst_structure_get_name (s), "spdl-cpu-stats");
  fail_unless (gst_structure_get_uint64 (s, "time", &time) && time > 0);
  fail_unless (gst_structure_get_uint64 (s, "process-time", &process));
  fail_unless (process > 0);
  fail_unless (gst_structure_get_double (s, "num-cores", &num_cores));
  fail_unless (num_cores > 0 && num_cores <= gst_spdl_get_num_cores ());
  gst_structure_free (s);
}

GST_END_TEST;

GST_START_TEST (test_references)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnose (NULL, 0, 0);
  GstSpdlDiagnosis *copy = g_boxed_copy (GST_TYPE_SPDL_DIAGNOSIS, d);

  gst_spdl_diagnosis_unref (d);
  fail_unless_equals_string (
      gst_spdl_diagnosis_get_limit_nick (copy), "too-few");
  fail_unless (gst_spdl_diagnosis_get_property (copy) == NULL);
  fail_unless (gst_spdl_diagnosis_get_value (copy) == NULL);
  g_boxed_free (GST_TYPE_SPDL_DIAGNOSIS, copy);
}

GST_END_TEST;

CHECK_SUITE (diagnose, LOOP (test_examples, G_N_ELEMENTS (examples)),
    TEST (test_gain), TEST (test_threads), TEST (test_put_time),
    TEST (test_process), TEST (test_process_of_others), TEST (test_push_rate),
    TEST (test_step), TEST (test_step_doubtful), TEST (test_step_p99),
    TEST (test_cached), TEST (test_automatic),
    LOOP (test_loads, G_N_ELEMENTS (loads)), TEST (test_idle_cores),
    TEST (test_no_cpu_stats), TEST (test_step_and_others),
    TEST (test_cpu_stats), TEST (test_references), TEST (test_silent))
