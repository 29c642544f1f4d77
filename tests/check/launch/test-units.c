/* gst-spdl: unit tests of gst-spdl-launch-1.0
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/points.h"
#include "tools/launch/modes/modes.h"
#include "tools/launch/run/parts.h"
#include "tools/launch/views/prometheus.h"
#include "tools/launch/views/screen.h"
#include "tools/launch/views/table.h"

#include <locale.h>
#include <string.h>

/* Returns statistics of four elements, 10 s after the start. */
static Snapshot *
make_snapshot (const gchar *decode_name)
{
  static const gchar *stats[] = {
    "s, stage=src, elapsed=(guint64)10000000000, num-items=(guint64)2500,"
    "qps=250.0",
    "s, stage=fetch, elapsed=(guint64)10000000000, num-items=(guint64)2500,"
    "qps=250.0, concurrency=(uint)16, num-tasks=(guint64)2500,"
    "ave-time=(guint64)50000000, p99-time=(guint64)99900000,"
    "cpu-time=(guint64)1250000000, num-failures=(guint64)3,"
    "occupancy-rate=1.0",
    "s, stage=decode, elapsed=(guint64)10000000000, num-items=(guint64)2490,"
    "qps=249.0, concurrency=(uint)2, num-tasks=(guint64)2490,"
    "ave-time=(guint64)7900000, p99-time=(guint64)12340000,"
    "cpu-time=(guint64)19671000000, num-failures=(guint64)0,"
    "occupancy-rate=0.98",
    "s, stage=sink, elapsed=(guint64)10000000000, num-items=(guint64)2464,"
    "num-batches=(guint64)77, qps=246.4, occupancy-rate=0.004",
  };
  Snapshot *snapshot = snapshot_new ();
  GList *list = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (stats); i++) {
    GstStructure *s = gst_structure_from_string (stats[i], NULL);

    if (i == 2 && decode_name)
      gst_structure_set (s, "stage", G_TYPE_STRING, decode_name, NULL);
    g_ptr_array_add (snapshot->stages, s);
    list = g_list_append (list, s);
  }
  snapshot->interval = TRUE;
  snapshot->time = snapshot->elapsed = 10;
  snapshot->items = 2464;
  snapshot->batches = 77;
  snapshot->failures = 3;
  snapshot->progress = 0.5;
  snapshot->item_rate = 246.4;
  snapshot->batch_rate = 7.7;
  snapshot->cores = 1.97;
  snapshot->num_cores = 8;
  snapshot->memory = 123456789;
  snapshot->diagnosis = gst_spdl_diagnose (list, 8, 0);
  g_list_free (list);
  return snapshot;
}

static void
assert_table (guint width, const gchar *expected)
{
  Snapshot *snapshot = make_snapshot (NULL);
  g_autofree gchar *table = table_format (snapshot, width, 0, NULL);

  g_assert_cmpstr (table, ==, expected);
  snapshot_free (snapshot);
}

static void
test_table_80 (void)
{
  assert_table (80,
      "stage    conc    tasks items/s  average      p99   CPU failed  queue\n"
      "src                        250\n"
      "fetch      16     2500     250  50.0 ms  99.9 ms   1 %      3  "
      "███████████ 100 %\n"
      "decode      2     2490     249  7.90 ms  12.3 ms 100 %      0  "
      "██████████▊  98 %\n"
      "sink                       246                                 "
      "···········   0 %\n"
      "\n"
      "████████████████████████························  50 %, 0:10, left: "
      "0:10\n"
      "246 items/s, 7.70 batches/s, 2464 items in 77 batches, 3 failed\n"
      "2.0 of 8 cores busy, 123 MB of memory\n"
      "decode computes all the time and its queue is 98 % full: raise\n"
      "decode.concurrency, now 2\n");
}

static void
test_table_160 (void)
{
  assert_table (160,
      "stage    conc    tasks items/s  average      p99   CPU failed  queue\n"
      "src                        250\n"
      "fetch      16     2500     250  50.0 ms  99.9 ms   1 %      3  "
      "████████████████████████ 100 %\n"
      "decode      2     2490     249  7.90 ms  12.3 ms 100 %      0  "
      "███████████████████████▌  98 %\n"
      "sink                       246                                 "
      "▏·······················   0 %\n"
      "\n"
      "████████████████████████························  50 %, 0:10, left: "
      "0:10\n"
      "246 items/s, 7.70 batches/s, 2464 items in 77 batches, 3 failed\n"
      "2.0 of 8 cores busy, 123 MB of memory\n"
      "decode computes all the time and its queue is 98 % full: raise "
      "decode.concurrency, now 2\n");
}

/* Tests that the table has a column for cache hits if an element has a
 * cache. */
static void
test_table_cached (void)
{
  Snapshot *snapshot = make_snapshot (NULL);
  g_autofree gchar *before = table_format (snapshot, 100, 0, NULL);
  g_autofree gchar *text = NULL, *metrics = NULL;

  gst_structure_set (g_ptr_array_index (snapshot->stages, 1), "cache-hits",
      G_TYPE_UINT64, (guint64) 300, "cache-misses", G_TYPE_UINT64,
      (guint64) 100, NULL);
  text = table_format (snapshot, 100, 0, NULL);
  metrics = prometheus_format (snapshot, 0, "host");
  g_assert_null (strstr (before, "cached"));
  g_assert_nonnull (strstr (text, "failed  cached"));
  g_assert_nonnull (strstr (text, "      3    75 %"));
  g_assert_nonnull (strstr (metrics,
      "\nspdl_cache_hits_total{stage=\"fetch\",rank=\"0\",host=\"host"));
  snapshot_free (snapshot);
}

/* Tests that no line exceeds the width, with any width and names. */
static void
test_table_any (void)
{
  Snapshot *snapshot =
      make_snapshot ("a-stage-whose-name-is-forty-letters-long");

  for (guint width = 8; width < 200; width++) {
    g_autofree gchar *table = table_format (snapshot, width, 0, NULL);
    g_auto (GStrv) lines = g_strsplit (table, "\n", -1);

    for (guint i = 0; lines[i]; i++)
      g_assert_cmpuint (g_utf8_strlen (lines[i], -1), <=, width);
    if (width >= 120)
      g_assert_nonnull (
          strstr (table, "a-stage-whose-name-is-forty-letters-long"));
  }
  snapshot_free (snapshot);
}

static guint
count_lines (const gchar *text)
{
  guint n = 0;

  for (; *text; text++)
    n += *text == '\n';
  return n;
}

static Snapshot *
make_snapshot_with_trainer (void)
{
  Snapshot *snapshot = make_snapshot (NULL);

  gst_structure_set (g_ptr_array_index (snapshot->stages, 3), "ave-step-time",
      G_TYPE_UINT64, (guint64) 5100000, "p50-step-time", G_TYPE_UINT64,
      (guint64) 5000000, "p99-step-time", G_TYPE_UINT64, (guint64) 7500000,
      "ave-get-time", G_TYPE_UINT64, (guint64) 120000, NULL);
  return snapshot;
}

/* Tests the step time of the trainer in addition to its wait. */
static void
test_table_trainer (void)
{
  Snapshot *snapshot = make_snapshot_with_trainer ();
  g_autofree gchar *table = table_format (snapshot, 80, 0, NULL);
  g_autofree gchar *metrics = prometheus_format (snapshot, 0, "h");
  guint verdict;

  g_assert_nonnull (strstr (table,
      "\nthe training step takes 5.00 ms (p99 7.50 ms), the wait for a batch "
      "120 us\n"));
  g_assert_nonnull (strstr (metrics,
      "\nspdl_step_mean_seconds{stage=\"sink\",rank=\"0\",host=\"h\"} "
      "0.0051\n"));
  g_assert_nonnull (strstr (metrics,
      "\nspdl_step_p50_seconds{stage=\"sink\",rank=\"0\",host=\"h\"} "
      "0.005\n"));
  g_assert_nonnull (strstr (metrics,
      "\nspdl_step_p99_seconds{stage=\"sink\",rank=\"0\",host=\"h\"} "
      "0.0075\n"));
  /* The table has one row fewer than without the line of the trainer. */
  g_autofree gchar *low = table_format (snapshot, 80, 11, &verdict);
  g_auto (GStrv) lines = g_strsplit (low, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 12);
  g_assert_nonnull (strstr (low, "and 2 more\n"));
  g_assert_true (g_str_has_prefix (lines[verdict], "decode computes"));
  snapshot_free (snapshot);
}

/* Tests that rows are omitted on a low terminal and that the verdict is
 * kept. */
static void
test_table_height (void)
{
  Snapshot *snapshot = make_snapshot (NULL);
  guint verdict;

  for (guint height = 11; height < 20; height++) {
    g_autofree gchar *table = table_format (snapshot, 80, height, &verdict);

    g_assert_cmpuint (count_lines (table), ==, 11);
    g_assert_null (strstr (table, "more\n"));
  }
  for (guint height = 8; height < 11; height++) {
    g_autofree gchar *table = table_format (snapshot, 80, height, &verdict);
    g_auto (GStrv) lines = g_strsplit (table, "\n", -1);

    g_assert_cmpuint (count_lines (table), ==, height);
    g_assert_nonnull (strstr (table, " more\n"));
    g_assert_true (g_str_has_prefix (lines[verdict], "decode computes"));
  }
  g_autofree gchar *low = table_format (snapshot, 80, 3, &verdict);
  g_assert_nonnull (strstr (low, "and 4 more\n"));
  g_assert_nonnull (strstr (low, "decode computes"));
  snapshot_free (snapshot);
}

/* Tests that there is no progress bar without a known end. */
static void
test_table_endless (void)
{
  Snapshot *snapshot = make_snapshot (NULL);
  g_autofree gchar *table = NULL, *line = NULL;

  snapshot->progress = -1;
  table = table_format (snapshot, 80, 0, NULL);
  line = table_format_line (snapshot);
  g_assert_nonnull (strstr (table, "\n\n0:10\n"));
  g_assert_true (g_str_has_prefix (line, "0:10  246 items/s"));
  snapshot_free (snapshot);
}

static void
test_line (void)
{
  Snapshot *snapshot = make_snapshot (NULL);
  g_autofree gchar *line = table_format_line (snapshot);

  g_assert_cmpstr (line, ==,
      "0:10  50 %  246 items/s  2.0 cores  123 MB  fetch 100 %  decode 98 %  "
      "sink 0 %  3 failed");
  snapshot_free (snapshot);
}

static void
test_prometheus (void)
{
  Snapshot *snapshot = make_snapshot ("a\"b\\c");
  g_autofree gchar *text = prometheus_format (snapshot, 5, "host");

  g_assert_nonnull (strstr (text, "# TYPE spdl_tasks_total counter\n"));
  g_assert_nonnull (strstr (text,
      "\nspdl_tasks_total{stage=\"fetch\",rank=\"5\",host=\"host\"} 2500\n"));
  g_assert_nonnull (strstr (text, "stage=\"a\\\"b\\\\c\","));
  g_assert_nonnull (strstr (text,
      "\nspdl_task_mean_seconds{stage=\"fetch\",rank=\"5\",host=\"host\"} "
      "0.05\n"));
  snapshot_free (snapshot);
}

static void
test_units (void)
{
  static const struct {
    guint64 ns;
    const gchar *text;
  } times[] = { { 0, "0.00 us" }, { 999, "1.00 us" }, { 99940, "99.9 us" },
    { 999499, "999 us" }, { 999500, "1.00 ms" }, { 999499999, "999 ms" },
    { 999500000, "1.00 s" }, { 123000000000, "123 s" } };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    g_autofree gchar *text = format_ns (times[i].ns);
    g_assert_cmpstr (text, ==, times[i].text);
  }
  g_autofree gchar *a = format_clock (59.6), *b = format_clock (3661);
  g_assert_cmpstr (a, ==, "1:00");
  g_assert_cmpstr (b, ==, "1:01:01");
}

static void
test_split (void)
{
  static const gchar *bad[] = { "", "a", "a.b", "a=1", ".b=1", "a.=1", "=" };
  g_autofree gchar *element = NULL, *property = NULL, *value = NULL;

  g_assert_true (
      setting_split ("a.b.c=d=e", &element, &property, &value, NULL));
  g_assert_cmpstr (element, ==, "a.b");
  g_assert_cmpstr (property, ==, "c");
  g_assert_cmpstr (value, ==, "d=e");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    gchar *x, *y, *z;

    g_assert_false (setting_split (bad[i], &x, &y, &z, &error));
    g_assert_nonnull (error);
  }
}

static void
test_sweep_parse (void)
{
  g_autoptr (GPtrArray) axes =
      sweep_parse ("a.x=1,2; b.y=input,completion,4;", NULL);
  static const struct {
    const gchar *text;
    double cost;
  } expected[] = { { "a.x=1 b.y=input", 1 }, { "a.x=1 b.y=completion", 2 },
    { "a.x=1 b.y=4", 5 }, { "a.x=2 b.y=input", 2 },
    { "a.x=2 b.y=completion", 3 }, { "a.x=2 b.y=4", 6 } };

  g_assert_cmpuint (sweep_count (axes), ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    double cost;
    g_auto (GStrv) settings = sweep_get_settings (axes, i, &cost);
    g_autofree gchar *text = g_strjoinv (" ", settings);

    g_assert_cmpstr (text, ==, expected[i].text);
    g_assert_cmpfloat (cost, ==, expected[i].cost);
  }
  g_assert_null (sweep_parse ("", NULL));
  g_assert_null (sweep_parse ("a=1", NULL));
  g_assert_null (sweep_parse ("a.x=", NULL));
}

static GPtrArray *
make_points (const double *rates, guint n)
{
  GPtrArray *points = g_ptr_array_new_with_free_func (point_free);

  for (guint i = 0; i < n; i++) {
    Point *point = g_new0 (Point, 1);

    point->label = g_strdup_printf ("c=%u", 1u << i);
    point->detail = g_strdup ("");
    point->cost = 1u << i;
    point->rate = rates[i];
    point->n_runs = 1;
    point->settings = g_strsplit (point->label, " ", -1);
    g_ptr_array_add (points, point);
  }
  return points;
}

typedef struct {
  double rates[8];
  guint n_calls;
} Second;

static double
measure_again (guint i, gpointer user_data)
{
  Second *self = user_data;

  self->n_calls++;
  return self->rates[i];
}

/* Tests a curve that rises and levels off: its knee, and the cheapest of the
 * best points. */
static void
test_points (void)
{
  static const double rates[] = { 100, 195, 370, 395, 400, 380 };
  g_autoptr (GPtrArray) points = make_points (rates, G_N_ELEMENTS (rates));
  Point *broken = g_ptr_array_index (points, 5);

  g_assert_cmpuint (points_best (points), ==, 4);
  g_assert_cmpuint (points_cheapest (points), ==, 3);
  g_assert_cmpuint (points_knee (points), ==, 2);

  broken->error = g_strdup ("no");
  broken->rate = 1000;
  g_assert_cmpuint (points_best (points), ==, 4);
  for (guint width = 20; width < 160; width += 10) {
    g_autofree gchar *table = points_format (points, "", width);
    g_assert_nonnull (strstr (table, "c=8"));
  }
}

/* Tests that the recommended point and the one it is compared with are both
 * measured twice. */
static void
test_confirm (void)
{
  static const double rates[] = { 100, 195, 370, 395, 400, 380 };
  const struct {
    Second second;
    guint chosen, n_calls;
  } cases[] = {
    { { { 0, 0, 0, 395, 400 } }, 3, 2 },
    /* The cheapest setting was an outlier, so the fastest setting is measured
     * again and chosen. */
    { { { 0, 0, 0, 340, 400 } }, 4, 2 },
    /* The fastest setting was an outlier, so the cheaper setting is chosen. */
    { { { 0, 0, 0, 395, 340 } }, 3, 2 },
    { { { 0, 0, 0, -1, 0 } }, POINTS_NONE, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) points = make_points (rates, G_N_ELEMENTS (rates));
    Second second = cases[i].second;
    const guint chosen = points_confirm (points, measure_again, &second);

    g_assert_cmpuint (chosen, ==, cases[i].chosen);
    g_assert_cmpuint (second.n_calls, ==, cases[i].n_calls);
    if (chosen != POINTS_NONE)
      g_assert_cmpuint (
          ((const Point *) g_ptr_array_index (points, chosen))->n_runs, ==, 2);
  }
}

/* Tests that rows are distinguishable at any width, and that the settings can
 * be pasted. */
static void
test_points_labels (void)
{
  static const double rates[] = { 100, 200 };
  g_autoptr (GPtrArray) points = make_points (rates, 2);
  g_autofree gchar *settings = NULL;

  for (guint i = 0; i < 2; i++) {
    Point *point = g_ptr_array_index (points, i);

    g_free (point->label);
    g_free (point->detail);
    g_strfreev (point->settings);
    point->label =
        g_strdup_printf ("decode.concurrency=16 fetch.concurrency=%u", 32 + i);
    point->settings = g_strsplit (point->label, " ", -1);
    point->detail = g_strdup ("decode: computing");
  }
  for (guint width = 42; width < 120; width++) {
    g_autofree gchar *table = points_format (points, "limit", width);
    g_auto (GStrv) lines = g_strsplit (table, "\n", -1);

    g_assert_nonnull (strstr (table, "fetch.concurrency=32"));
    g_assert_nonnull (strstr (table, "fetch.concurrency=33"));
    for (guint i = 0; lines[i]; i++)
      g_assert_cmpuint (g_utf8_strlen (lines[i], -1), <=, width);
  }
  settings = points_format_settings (g_ptr_array_index (points, 0));
  g_assert_cmpstr (
      settings, ==, "--set decode.concurrency=16 --set fetch.concurrency=32");
}

static void
test_points_none (void)
{
  g_autoptr (GPtrArray) points = make_points (NULL, 0);
  const double flat[] = { 100, 100.5, 99 };
  g_autoptr (GPtrArray) level = make_points (flat, 3);

  g_assert_cmpuint (points_best (points), ==, POINTS_NONE);
  g_assert_cmpuint (points_cheapest (points), ==, POINTS_NONE);
  g_assert_cmpuint (points_knee (points), ==, POINTS_NONE);
  g_assert_cmpuint (points_cheapest (level), ==, 0);
}

static Gains
gains_of (double base, double cached)
{
  Gains gains;

  gains_init (&gains, &base, &cached, 1);
  return gains;
}

/* Tests the verdict on the gain from faster loading. */
static void
test_gains (void)
{
  static const struct {
    double base, cached;
    const gchar *advice, *words;
  } cases[] = {
    { 0.200, 0.170, "worth-it", ": loading is worth optimizing" },
    { 0.100, 0.0899, "worth-it", "save 10.1 %" },
    { 0.100, 0.0901, "small",
        ": the gain is small, optimize other parts first" },
    { 0.100, 0.0949, "small", "save 5.1 %" },
    { 0.100, 0.0951, "stop", ": stop here, loading is not the bottleneck" },
    /* Noise, or a cache that costs time. */
    { 0.100, 0.101, "stop", "save -1.0 %" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Gains gains = gains_of (cases[i].base, cases[i].cached);
    g_autofree gchar *text = gains_describe (&gains);

    g_assert_cmpstr (gains_get_advice (&gains), ==, cases[i].advice);
    g_assert_nonnull (strstr (text, cases[i].words));
    g_assert_null (strstr (text, "disagree"));
  }
}

/* Tests that the median of the rounds counts, and that their range is shown. */
static void
test_gains_of_rounds (void)
{
  const double base[] = { 0.010, 0.050, 0.012, 0.011 };
  const double cached[] = { 0.0050, 0.0052, 0.0051, 0.0200 };
  g_autofree gchar *text = NULL;
  Gains gains;

  gains_init (&gains, base, cached, 3);
  text = gains_describe (&gains);
  g_assert_cmpfloat_with_epsilon (gains.base.median, 0.012, 1e-12);
  g_assert_cmpfloat_with_epsilon (gains.cached.median, 0.0051, 1e-12);
  g_assert_cmpfloat_with_epsilon (gains.headspace, 0.575, 1e-12);
  g_assert_cmpfloat_with_epsilon (gains.least, 0.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (gains.most, 1 - 5.2 / 50, 1e-12);
  g_assert_true (gains_agree (&gains));
  g_assert_cmpstr (text, ==,
      "a batch takes 12.0 ms (10.0 ms to 50.0 ms) with loading and 5.10 ms "
      "(5.00 "
      "ms "
      "to 5.20 ms) from the cache, so perfect loading would save 57.5 % (50.0 "
      "to 89.6) of the time: loading is worth optimizing");

  /* An even number of rounds, one of which contradicts the others. */
  gains_init (&gains, base, cached, 4);
  g_clear_pointer (&text, g_free);
  text = gains_describe (&gains);
  g_assert_cmpfloat_with_epsilon (gains.base.median, 0.0115, 1e-12);
  g_assert_false (gains_agree (&gains));
  g_assert_nonnull (strstr (text, "; but the rounds disagree"));
}

static void
assert_tuning (const gchar *decision, const gchar *expected)
{
  GstStructure *s = gst_structure_from_string (decision, NULL);
  g_autofree gchar *line = tuning_format (s);

  g_assert_cmpstr (line, ==, expected);
  gst_structure_free (s);
}

static void
test_tuning (void)
{
  g_autofree gchar *none = NULL, *settings = NULL;
  Snapshot *snapshot = make_snapshot (NULL);

  assert_tuning (
      "t, stage=fetch, from=(uint)16, to=(uint)32, reason=limits, busy=0.987,"
      "throughput=302.54",
      "tuning: fetch.concurrency 16 -> 32: its workers are busy 99 % of the "
      "time, 302.5 items/s");
  assert_tuning (
      "t, stage=fetch, from=(uint)32, to=(uint)16, reason=no-gain, gain=1.004,"
      "throughput=303.0",
      "tuning: fetch.concurrency 32 -> 16: reverted, no gain (1.00 times the "
      "rate), 303 items/s");
  assert_tuning ("t, stage=fetch, from=(uint)16, to=(uint)16, reason=settled",
      "tuning: fetch.concurrency 16: settled");
  assert_tuning ("t, stage=decode, from=(uint)2, to=(uint)1, reason=budget,"
                 "throttled=true, cpu-used=0.9, cpu-budget=0.4",
      "budget: decode is limited to 1 tasks at a time, loading used 90 % of "
      "the "
      "cores and may use 40");
  assert_tuning ("t, stage=decode, from=(uint)1, to=(uint)2, reason=budget,"
                 "throttled=false, cpu-used=0.2, cpu-budget=0.4",
      "budget: decode is no longer limited, loading used 20 % of the cores");

  none = tuning_format_settings (snapshot);
  g_assert_null (none);
  for (guint i = 1; i < 3; i++)
    gst_structure_set (g_ptr_array_index (snapshot->stages, i), "automatic",
        G_TYPE_BOOLEAN, TRUE, NULL);
  settings = tuning_format_settings (snapshot);
  g_assert_cmpstr (
      settings, ==, "--set fetch.concurrency=16 --set decode.concurrency=2");
  snapshot_free (snapshot);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "C.UTF-8");
  gst_init (NULL, NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launch/table/80", test_table_80);
  g_test_add_func ("/launch/table/160", test_table_160);
  g_test_add_func ("/launch/table/cached", test_table_cached);
  g_test_add_func ("/launch/table/any", test_table_any);
  g_test_add_func ("/launch/table/trainer", test_table_trainer);
  g_test_add_func ("/launch/gains", test_gains);
  g_test_add_func ("/launch/gains/rounds", test_gains_of_rounds);
  g_test_add_func ("/launch/table/height", test_table_height);
  g_test_add_func ("/launch/table/endless", test_table_endless);
  g_test_add_func ("/launch/line", test_line);
  g_test_add_func ("/launch/prometheus", test_prometheus);
  g_test_add_func ("/launch/units", test_units);
  g_test_add_func ("/launch/tuning", test_tuning);
  g_test_add_func ("/launch/split", test_split);
  g_test_add_func ("/launch/sweep", test_sweep_parse);
  g_test_add_func ("/launch/points", test_points);
  g_test_add_func ("/launch/points/confirm", test_confirm);
  g_test_add_func ("/launch/points/labels", test_points_labels);
  g_test_add_func ("/launch/points/none", test_points_none);
  return g_test_run ();
}
