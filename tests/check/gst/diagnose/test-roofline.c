/* gst-spdl: tests of the maximum throughput, on constructed statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/suite.h"

#define MAX_STAGES 5

/* Statistics of 10 s. */
#define FIGURES "elapsed=(guint64)10000000000,"
#define SRC "s, stage=src, " FIGURES "num-items=(guint64)"
#define STAGE(name) "s, stage=" name ", " FIGURES
#define SINK "s, stage=sink, " FIGURES "occupancy-rate=0.0,"

/* The blocked time of 1 s in 1,000 tasks of a stage. */
#define BLOCKED "ave-put-time=(guint64)1000000,"

/* @cpu: CPU time in tens of ms */
#define IN_TASKS(n, c, max, ms, cpu)                                       \
  "num-items=(guint64)" n ",num-tasks=(guint64)" n ",concurrency=(uint)" c \
  ",max-concurrency=(uint)" max ",ave-time=(guint64)" ms                   \
  "000000,p90-time=(guint64)" ms "000000,p99-time=(guint64)" ms            \
  "000000,cpu-time=(guint64)" cpu                                          \
  "0000000,queue-size=(uint)2,occupancy-rate=1.0,"

typedef struct {
  const gchar *name;
  double cores;
  const gchar *cpus; /* nullable: changes of the counters */
  double rate;       /* expected; 0: no estimate */
  const gchar *limit, *element;
  guint64 cpu_time; /* in us */
  const gchar *stages[MAX_STAGES];
} Example;

static const Example examples[] = {
  /* Tasks of 10 ms that compute, of which 2 cores run 200 per second. One
   * worker does half of that. */
  { "cores", 2, NULL, 200, "cores", NULL, 10000,
      { SRC "1000", STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
          SINK "num-items=(guint64)1000" } },
  /* A container may use a part of a core. */
  { "quota", 0.5, NULL, 50, "cores", NULL, 10000,
      { SRC "1000", STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
          SINK "num-items=(guint64)1000" } },
  /* 8 workers on 2 cores: tasks take four times as long as they compute. */
  { "oversubscribed", 2, NULL, 200, "cores", NULL, 10000,
      { SRC "2000", STAGE ("decode") IN_TASKS ("2000", "8", "64", "40", "2000"),
          SINK "num-items=(guint64)2000" } },
  { "two stages", 4, NULL, 200, "cores", NULL, 20000,
      { SRC "1000", STAGE ("a") IN_TASKS ("1000", "1", "64", "5", "500"),
          STAGE ("b") IN_TASKS ("1000", "2", "64", "15", "1500"),
          SINK "num-items=(guint64)1000" } },
  /* The process uses 2 cores, half of them outside of the stages. */
  { "other threads", 4, "process-time=(guint64)20000000000", 200, "cores", NULL,
      20000,
      { SRC "1000", STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
          SINK "num-items=(guint64)1000" } },
  /* Loading uses 1.2 of these 2 cores, and the trainer the rest. */
  { "trainer's threads", 4,
      "process-time=(guint64)20000000000, loading-time=(guint64)2000000000",
      4000 / 12., "cores", NULL, 12000,
      { SRC "1000", STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
          SINK "num-items=(guint64)1000" } },
  /* Worker processes are not part of the process. */
  { "worker processes", 4, "process-time=(guint64)1000000000", 400, "cores",
      NULL, 10000,
      { SRC "1000", STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
          SINK "num-items=(guint64)1000" } },

  /* A server that takes 50 ms, and 256 requests: 5,120 per second. */
  { "latency", 4, NULL, 5120, "waiting", "fetch", 100,
      { SRC "800", STAGE ("fetch") IN_TASKS ("800", "4", "256", "50", "8"),
          SINK "num-items=(guint64)800" } },
  /* The concurrency was set to more than the tuner would. */
  { "more than the maximum", 4, NULL, 6000, "waiting", "fetch", 100,
      { SRC "8000", STAGE ("fetch") IN_TASKS ("8000", "300", "256", "50", "80"),
          SINK "num-items=(guint64)8000" } },
  /* As the server, but decoding limits the throughput. */
  { "latency and cores", 4, NULL, 4000 / 10.1, "cores", NULL, 10100,
      { SRC "800", STAGE ("fetch") IN_TASKS ("800", "4", "256", "50", "8"),
          STAGE ("decode") IN_TASKS ("800", "1", "64", "10", "800"),
          SINK "num-items=(guint64)800" } },

  /* One thread uses 2 ms for each request. */
  { "requests", 100, NULL, 500, "element", "fetch", 2500,
      { SRC "800",
          STAGE ("fetch") IN_TASKS ("800", "4", "256", "50",
              "200") "http-cpu-time=(guint64)1600000000",
          SINK "num-items=(guint64)800" } },
  /* As before, with as many as four threads. */
  { "requests in threads", 100, NULL, 2000, "element", "fetch", 2500,
      { SRC "800",
          STAGE ("fetch") IN_TASKS ("800", "4", "256", "50",
              "200") "http-cpu-time=(guint64)1600000000,"
                     "http-threads=(guint64)4",
          SINK "num-items=(guint64)800" } },

  /* A thread pushes for 5 s of 10, but is blocked for 1 s of them. */
  { "push", 100, NULL, 250, "element", "a", 100,
      { SRC "1000",
          STAGE ("a") IN_TASKS ("1000", "4", "64", "10", "10") "push-rate=0.5",
          STAGE ("b") IN_TASKS ("1000", "4", "64", "10", "0") BLOCKED,
          SINK "num-items=(guint64)1000" } },
  { "push to the trainer", 100, NULL, 250, "element", "a", 100,
      { SRC "1000",
          STAGE ("a") IN_TASKS ("1000", "4", "64", "10", "10") "push-rate=0.5",
          SINK "num-items=(guint64)1000, num-batches=(guint64)100,"
               "ave-put-time=(guint64)10000000" } },
  { "push to the end", 100, NULL, 200, "element", "a", 100,
      { SRC "1000",
          STAGE ("a") IN_TASKS ("1000", "4", "64", "10", "10") "push-rate=0.5",
          "s, stage=fakesink" } },
  /* For 4 of the 5 s, spdlbatch waits for the stage's own workers. */
  { "push that waits for workers", 100, NULL, 1000, "element", "a", 100,
      { SRC "1000",
          STAGE ("a") IN_TASKS ("1000", "4", "64", "10", "10") "push-rate=0.5",
          STAGE ("batch") "num-items=(guint64)1000,"
                          "worker-time=(guint64)9000000000,"
                          "worker-wait-time=(guint64)4000000000",
          SINK "num-items=(guint64)1000" } },
  /* All of the pushing is waiting. */
  { "blocked push", 100, NULL, 6400, "waiting", "a", 100,
      { SRC "1000",
          STAGE ("a") IN_TASKS ("1000", "4", "64", "10", "10") "push-rate=0.1",
          STAGE ("b") IN_TASKS ("1000", "4", "64", "10", "0") BLOCKED,
          SINK "num-items=(guint64)1000" } },
  /* The source works for 9 s. */
  { "source", 100, NULL, 1000 / 9., "source", "src", 100,
      { SRC "1000",
          STAGE ("a") IN_TASKS ("1000", "4", "64", "10", "10") BLOCKED,
          SINK "num-items=(guint64)1000" } },

  /* The decoder drops every other item. */
  { "filter", 2, NULL, 100, "cores", NULL, 20000,
      { SRC "1000", STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
          SINK "num-items=(guint64)500" } },
  /* Items on the way to the sink are not dropped ones. */
  { "in flight", 2, NULL, 200, "cores", NULL, 10000,
      { SRC "100", STAGE ("decode") IN_TASKS ("100", "1", "64", "10", "100"),
          SINK "num-items=(guint64)64, num-batches=(guint64)2" } },

  { "too few", 2, NULL, 0, NULL, NULL, 0,
      { SRC "5", STAGE ("a") IN_TASKS ("5", "1", "64", "10", "10"),
          SINK "num-items=(guint64)5" } },
  { "nothing arrived", 2, NULL, 0, NULL, NULL, 0,
      { SRC "500", STAGE ("a") IN_TASKS ("500", "1", "64", "10", "10"),
          SINK "num-items=(guint64)0" } },
  { "cached", 2, NULL, 0, NULL, NULL, 0,
      { SRC "500", STAGE ("a") IN_TASKS ("500", "1", "64", "10", "10"),
          "s, stage=cache, " FIGURES "num-items=(guint64)500, "
          "num-cached=(guint64)90",
          SINK "num-items=(guint64)500" } },
  { "nothing known", 0, NULL, 0, NULL, NULL, 0,
      { "s, stage=x", "s, stage=y" } },
};

static GstStructure *
make_counters (double cores, const gchar *fields)
{
  GstStructure *s = gst_structure_from_string (fields, NULL);

  gst_structure_set (s, "num-cores", G_TYPE_DOUBLE, cores, NULL);
  return s;
}

static GstSpdlDiagnosis *
diagnose (const gchar *const *stages, double cores, const gchar *changes)
{
  g_autofree gchar *end = g_strdup_printf (
      "s, time=(guint64)11000000000, %s", changes ? changes : "nothing=1");
  GstStructure *before = make_counters (cores,
      "s, time=(guint64)1000000000, process-time=(guint64)0,"
      "loading-time=(guint64)0");
  GstStructure *after = make_counters (cores, end);
  GList *list = NULL;
  GstSpdlDiagnosis *d;

  for (guint i = MAX_STAGES; i > 0; i--)
    if (stages[i - 1]) {
      list = g_list_prepend (
          list, gst_structure_from_string (stages[i - 1], NULL));
      fail_unless (list->data != NULL, "%s", stages[i - 1]);
    }
  d = gst_spdl_diagnose_with_cpus (list, before, after);
  g_list_free_full (list, (GDestroyNotify) gst_structure_free);
  gst_structure_free (before);
  gst_structure_free (after);
  return d;
}

static double
get_double (const GstStructure *s, const gchar *field)
{
  double value;

  fail_unless (gst_structure_get_double (s, field, &value), "no %s", field);
  return value;
}

/* The wait in progress adds up to a hundredth of the waits. */
static void
assert_near (double value, double expected)
{
  fail_unless (ABS (value - expected) <= 5e-3 * expected, "%g instead of %g",
      value, expected);
}

GST_START_TEST (test_examples)
{
  const Example *e = &examples[__i__];
  g_autoptr (GstSpdlDiagnosis) d = diagnose (e->stages, e->cores, e->cpus);
  const GstStructure *s = gst_spdl_diagnosis_get_roofline (d);
  guint64 cpu_time;

  GST_INFO ("%s", e->name);
  if (e->rate == 0) {
    fail_unless (s == NULL);
    return;
  }
  fail_unless (s != NULL, "%s: no estimate", e->name);
  fail_unless (gst_structure_has_name (s, "spdl-roofline"));
  fail_unless_equals_string (gst_structure_get_string (s, "limit"), e->limit);
  fail_unless_equals_string (
      gst_structure_get_string (s, "element"), e->element);
  assert_near (get_double (s, "items-per-second"), e->rate);
  assert_near (get_double (s, "cores"), e->cores);
  fail_unless (gst_structure_get_uint64 (s, "cpu-time", &cpu_time));
  assert_near (cpu_time, e->cpu_time * 1000.);
  fail_unless (gst_structure_get_string (s, "sentence") != NULL);
}

GST_END_TEST;

/* A trainer that takes 320 items per second needs 3.2 cores, while 2 cores load
 * 200. */
GST_START_TEST (test_trainer)
{
  static const gchar *stages[MAX_STAGES] = { SRC "1000",
    STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"),
    SINK "num-items=(guint64)1000, num-batches=(guint64)50,"
         "ave-step-time=(guint64)62500000, ave-get-time=(guint64)137500000" };
  g_autoptr (GstSpdlDiagnosis) d = diagnose (stages, 2, NULL);
  const GstStructure *s = gst_spdl_diagnosis_get_roofline (d);

  assert_near (get_double (s, "items-per-second"), 200);
  assert_near (get_double (s, "batches-per-second"), 10);
  assert_near (get_double (s, "trainer-items-per-second"), 320);
  assert_near (get_double (s, "trainer-cores"), 3.2);
  fail_unless (errors_text_has (
      gst_structure_get_string (s, "sentence"), "200|10|2 cores|320|3.2"));
}

GST_END_TEST;

/* Without a trainer, or after too few steps, nothing is said about it. */
GST_START_TEST (test_no_trainer)
{
  static const gchar *sinks[] = {
    SINK "num-items=(guint64)1000, num-batches=(guint64)50,"
         "ave-step-time=(guint64)5000, ave-get-time=(guint64)200000000",
    SINK "num-items=(guint64)1000, num-batches=(guint64)9,"
         "ave-step-time=(guint64)100000000, ave-get-time=(guint64)1000000",
    SINK "num-items=(guint64)1000, num-batches=(guint64)50",
  };

  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++) {
    const gchar *stages[MAX_STAGES] = { SRC "1000",
      STAGE ("decode") IN_TASKS ("1000", "1", "64", "10", "1000"), sinks[i] };
    g_autoptr (GstSpdlDiagnosis) d = diagnose (stages, 2, NULL);
    const GstStructure *s = gst_spdl_diagnosis_get_roofline (d);

    assert_near (get_double (s, "items-per-second"), 200);
    fail_if (gst_structure_has_field (s, "trainer-items-per-second"));
    fail_if (gst_structure_has_field (s, "trainer-cores"));
  }
}

GST_END_TEST;

CHECK_SUITE (roofline, LOOP (test_examples, G_N_ELEMENTS (examples)),
    TEST (test_trainer), TEST (test_no_trainer))
