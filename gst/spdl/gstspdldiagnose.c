/* gst-spdl: which stage holds the pipeline back
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdldiagnose
 * @title: Diagnosis
 * @short_description: which stage holds the pipeline back
 *
 * gst_spdl_diagnose() reads the figures of all elements of a pipeline and names
 * the one that limits its throughput, why, and what to change. It is a function
 * of its arguments alone.
 *
 * A pipeline is as fast as its slowest part. That part never waits: what comes
 * before it is held up, and what comes behind it starves. So the stage whose
 * workers are in tasks all the time is the limit. If all workers are idle at
 * times, the limit is no stage: it stands behind the last queue that is full,
 * or at the source, if none is.
 *
 * Since: 0.1
 */

#include "gstspdldiagnosis-private.h"
#include "gstspdlstageview.h"

#include <math.h>

/* Shares from which on a stage's workers are busy, a queue is full or starves,
 * cores are used up, a task computes. */
#define BUSY 0.85
#define RATHER_BUSY 0.3
#define FULL 0.6
#define STARVED 0.4
#define CORES_BUSY 0.9
#define COMPUTES 0.5
/* Where a change gains less than that, nothing stands out. */
#define MIN_GAIN 1.1
/* Fewer tasks, or a shorter time, are mostly the pipeline's filling. */
#define MIN_TASKS 10
#define MIN_TASKS_OF_WORKER 3
#define MIN_ELAPSED (100 * GST_MSECOND)
#define MAX_CONCURRENCY 4096
#define MAX_NAMES 3

typedef struct {
  GstSpdlStageView *views;
  guint n;
  guint num_cores;
  guint64 elapsed;
  double busy_cores;
  const GstSpdlStageView *top; /* the busiest stage; nullable */
  double second;               /* how busy the next one is */
} Case;

static int
percent (double share)
{
  return (int) lround (share * 100);
}

static double
seconds (guint64 ns)
{
  return ns / 1e9;
}

static gchar *
format_time (guint64 ns)
{
  if (ns < 1000000)
    return g_strdup_printf ("%.0f µs", ns / 1e3);
  if (ns < 1000000000)
    return g_strdup_printf ("%.3g ms", ns / 1e6);
  return g_strdup_printf ("%.3g s", ns / 1e9);
}

static gboolean
cores_are_busy (const Case *c)
{
  return c->num_cores > 0 && c->busy_cores >= CORES_BUSY * c->num_cores;
}

/* What is there */

static void
find_busiest (Case *c)
{
  for (guint i = 0; i < c->n; i++) {
    const GstSpdlStageView *view = &c->views[i];

    if (!view->is_stage)
      continue;
    if (!c->top || view->busy > c->top->busy) {
      c->second = c->top ? c->top->busy : 0;
      c->top = view;
    } else {
      c->second = MAX (c->second, view->busy);
    }
  }
}

static const GstSpdlStageView *
find_most_computing (const Case *c)
{
  const GstSpdlStageView *found = NULL;

  for (guint i = 0; i < c->n; i++)
    if (c->views[i].is_stage &&
        (!found || c->views[i].cpu_time > found->cpu_time))
      found = &c->views[i];
  return found;
}

/* The first element from @from on that knows how full its queue is; or n. */
static guint
find_gauge (const Case *c, guint from)
{
  while (from < c->n && !c->views[from].has_gauge)
    from++;
  return from;
}

/* The last gauge that is full, but for the sink's; or n. */
static guint
find_last_full (const Case *c)
{
  guint found = c->n;

  for (guint i = find_gauge (c, 0); i < c->n; i = find_gauge (c, i + 1))
    if (c->views[i].is_stage && c->views[i].fullness >= FULL)
      found = i;
  return found;
}

/* Too few figures, or none that move */

static GstSpdlDiagnosis *
diagnose_idle (const Case *c)
{
  GstSpdlDiagnosis *d;
  const guint full = find_last_full (c);
  const gchar *name = full < c->n ? c->views[full].name : NULL;

  d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, name);
  if (name)
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("nothing moved in %.1f s, while items wait in front "
                         "of %s, which ended no task",
            seconds (c->elapsed), name),
        "see what its tasks wait for");
  else
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("nothing moved in %.1f s", seconds (c->elapsed)),
        "the pipeline is idle");
  return d;
}

static GstSpdlDiagnosis *
new_too_few (const Case *c, const gchar *what, guint64 n)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_TOO_FEW, NULL);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%s %" G_GUINT64_FORMAT " in %.1f s are too few to tell",
          what, n, seconds (c->elapsed)),
      "let it run longer");
  return d;
}

/* Nullable. */
static GstSpdlDiagnosis *
diagnose_too_few (const Case *c)
{
  guint64 moved = 0;

  for (guint i = 0; i < c->n; i++)
    moved += c->views[i].items + c->views[i].tasks;
  if (c->elapsed >= MIN_ELAPSED && moved == 0)
    return diagnose_idle (c);

  for (guint i = 0; i < c->n; i++) {
    const GstSpdlStageView *view = &c->views[i];
    const guint64 enough = view->concurrency * MIN_TASKS_OF_WORKER;

    if (view->is_stage && view->tasks < MAX (MIN_TASKS, enough)) {
      g_autofree gchar *what = g_strdup_printf ("the tasks of %s,", view->name);

      return new_too_few (c, what, view->tasks);
    }
  }
  if (moved < MIN_TASKS || c->elapsed < MIN_ELAPSED)
    return new_too_few (c, "items,", c->n > 0 ? c->views[c->n - 1].items : 0);
  return NULL;
}

/* A stage is the limit */

/* How many workers to try: twice as many, but no more than there are free
 * cores for, and than the next stage can keep up with. */
static guint
more_concurrency (const Case *c, const GstSpdlStageView *view, double gain)
{
  guint value = view->concurrency * 2;

  if (gain > 1)
    value = MIN (value, (guint) ceil (view->concurrency * gain));
  if (c->num_cores > 0 && view->computing >= COMPUTES) {
    const double free_cores = c->num_cores - c->busy_cores;
    const double more = floor (free_cores / view->computing + 0.5);

    value = MIN (value, view->concurrency + (guint) MAX (more, 1));
  }
  return MIN (MAX (value, view->concurrency + 1), MAX_CONCURRENCY);
}

static gchar *
how_much (double busy)
{
  return busy >= 0.95 ? g_strdup ("all the time")
                      : g_strdup_printf ("%d %% of the time", percent (busy));
}

static gchar *
describe_stage (const GstSpdlStageView *view)
{
  g_autofree gchar *much = how_much (view->busy);
  const int full = percent (view->fullness);

  if (view->computing >= COMPUTES)
    return g_strdup_printf (
        "%s computes %s and its queue is %d %% full", view->name, much, full);
  return g_strdup_printf ("%s is at work %s, of which it computes %d %% and "
                          "waits the rest, and its queue is %d %% full",
      view->name, much, percent (view->computing), full);
}

static GstSpdlDiagnosis *
diagnose_stage (const Case *c, const GstSpdlStageView *view)
{
  const gboolean computes = view->computing >= COMPUTES;
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (
      computes ? GST_SPDL_LIMIT_COMPUTING : GST_SPDL_LIMIT_WAITING, view->name);

  if (view == c->top && c->second > 0)
    d->gain = view->busy / c->second;
  gst_spdl_diagnosis_say (d, describe_stage (view),
      "raise %s.concurrency, now %u", view->name, view->concurrency);
  gst_spdl_diagnosis_suggest (d, "concurrency",
      g_strdup_printf ("%u", more_concurrency (c, view, d->gain)));
  return d;
}

static GstSpdlDiagnosis *
diagnose_cores (const Case *c)
{
  const GstSpdlStageView *view = find_most_computing (c);
  const gchar *name = view ? view->name : NULL;
  const double of_it = view ? view->cpu_time / (double) c->elapsed : 0;
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CORES, name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%.1f of %u cores are busy%s%s%s", c->busy_cores,
          c->num_cores, name && of_it > 0 ? ", most of them with " : "",
          name && of_it > 0 ? name : "", ""),
      "more concurrency does not help; less work%s%s or more cores do",
      name ? " in " : "", name ? name : "");
  return d;
}

static GstSpdlDiagnosis *
diagnose_balanced (const Case *c)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_BALANCED, NULL);

  if (c->top && c->second >= BUSY)
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("%s is at work %d %% of the time and another stage "
                         "%d %%",
            c->top->name, percent (c->top->busy), percent (c->second)),
        "balanced, raising one alone gains little");
  else if (c->top)
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("no stage stands out, and the busiest, %s, is at "
                         "work %d %% of the time",
            c->top->name, percent (c->top->busy)),
        "balanced, nothing to raise");
  else
    gst_spdl_diagnosis_say (
        d, g_strdup ("no element stands out"), "balanced, nothing to raise");
  return d;
}

/* No stage is the limit */

static GstSpdlDiagnosis *
diagnose_consumer (const GstSpdlStageView *sink)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CONSUMER, sink->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("the trainer is the limit, since batches wait for it "
                       "in %s %d %% of the time",
          sink->name, percent (sink->fullness)),
      "the pipeline keeps up, nothing to do");
  return d;
}

/* Whether some tasks take much longer than most. */
static gboolean
has_stragglers (const GstSpdlStageView *view)
{
  return view->p99_time > 4 * view->ave_time ||
         view->ave_time > 1.5 * view->p90_time;
}

static GstSpdlDiagnosis *
diagnose_straggler (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_STRAGGLER, view->name);
  g_autofree gchar *ave = format_time (view->ave_time);
  g_autofree gchar *p99 = format_time (view->p99_time);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%s holds results back for slow items, since they leave "
                       "in order (a task takes %s on average, the 99th "
                       "percentile is %s), and its workers are idle %d %% of "
                       "the time",
          view->name, ave, p99, percent (1 - view->busy)),
      "set %s.output-order=completion or raise %s.queue-size, now %u",
      view->name, view->name, view->queue_size);
  gst_spdl_diagnosis_suggest (d, "output-order", g_strdup ("completion"));
  return d;
}

static GstSpdlDiagnosis *
diagnose_held (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_HELD, view->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("items wait in front of %s though its workers are idle "
                       "%d %% of the time",
          view->name, percent (1 - view->busy)),
      "look at its thread-pool and max-bytes, and whether other processes "
      "take the cores");
  return d;
}

static gboolean
any_foreign (const Case *c, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    if (!c->views[i].has_figures)
      return TRUE;
  return FALSE;
}

/* The names of the elements from @from up to @to, foreign ones if there are
 * any; the first as @first. */
static gchar *
name_suspects (const Case *c, guint from, guint to,
    const GstSpdlStageView **first, guint *n_named)
{
  GString *names = g_string_new (NULL);
  const gboolean foreign_only = any_foreign (c, from, to);

  *n_named = 0;
  for (guint i = from; i < to; i++) {
    if (foreign_only && c->views[i].has_figures)
      continue;
    if (*n_named == 0)
      *first = &c->views[i];
    if (++*n_named <= MAX_NAMES)
      g_string_append_printf (
          names, "%s%s", *n_named > 1 ? ", " : "", c->views[i].name);
  }
  if (*n_named > MAX_NAMES)
    g_string_append (names, " ...");
  return g_string_free (names, FALSE);
}

/* @before, @after: gauges, or n where there is none. */
static GstSpdlDiagnosis *
diagnose_element (const Case *c, guint before, guint after)
{
  const GstSpdlStageView *first = NULL;
  const guint from = before < c->n ? before + 1 : 0;
  guint n_named;
  g_autofree gchar *names = name_suspects (c, from, after, &first, &n_named);
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_ELEMENT, first->name);
  GString *reason = g_string_new (NULL);

  g_string_append_printf (
      reason, "%s%s is slow", n_named > 1 ? "one of " : "", names);
  if (before < c->n)
    g_string_append_printf (
        reason, ", since %s before it is held up", c->views[before].name);
  if (after < c->n)
    g_string_append_printf (reason, "%s %s behind it starves",
        before < c->n ? " and" : ", since", c->views[after].name);

  if (first->threads_property && n_named == 1) {
    gst_spdl_diagnosis_say (d, g_string_free (reason, FALSE),
        "raise %s.%s, now %u", first->name, first->threads_property,
        first->threads);
    gst_spdl_diagnosis_suggest (d, first->threads_property,
        g_strdup_printf ("%u", MAX (first->threads, 1) * 2));
  } else {
    gst_spdl_diagnosis_say (d, g_string_free (reason, FALSE),
        "put a queue before it, or let several of it work in an spdlpipe");
  }
  return d;
}

static GstSpdlDiagnosis *
diagnose_source (const Case *c, guint gauge)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_SOURCE, c->views[0].name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%s is slow, since %s behind it starves",
          c->views[0].name, c->views[gauge].name),
      "no stage to raise");
  return d;
}

/* Whether what stands behind a stage, up to the next gauge, is slow. */
static gboolean
downstream_is_slow (const Case *c, guint full, guint next)
{
  const GstSpdlStageView *view = &c->views[full];

  if (next == full + 1)
    return FALSE;
  return !view->has_push || view->push >= FULL;
}

/* The limit stands behind the last queue that is full. */
static GstSpdlDiagnosis *
diagnose_behind (const Case *c, guint full)
{
  const GstSpdlStageView *view = &c->views[full];
  const guint next = find_gauge (c, full + 1);
  const gboolean several = view->concurrency + view->queue_size > 1;
  const gboolean slow = downstream_is_slow (c, full, next);

  if (view->in_order && several && (has_stragglers (view) || !slow))
    return diagnose_straggler (view);
  if (slow)
    return diagnose_element (c, full, next);
  if (cores_are_busy (c))
    return diagnose_cores (c);
  if (view->busy >= RATHER_BUSY)
    return diagnose_stage (c, view);
  return diagnose_held (view);
}

/* The first queue is empty most of the time. */
static GstSpdlDiagnosis *
diagnose_before (const Case *c, guint first)
{
  return any_foreign (c, 1, first) ? diagnose_element (c, c->n, first)
                                   : diagnose_source (c, first);
}

static GstSpdlDiagnosis *
diagnose_busy (const Case *c)
{
  if (cores_are_busy (c))
    return diagnose_cores (c);
  if (c->second >= BUSY && c->top->busy < MIN_GAIN * c->second)
    return diagnose_balanced (c);
  return diagnose_stage (c, c->top);
}

static GstSpdlDiagnosis *
diagnose (const Case *c)
{
  GstSpdlDiagnosis *d = diagnose_too_few (c);
  const GstSpdlStageView *last = c->n > 0 ? &c->views[c->n - 1] : NULL;
  const guint first = find_gauge (c, 0);
  const guint full = find_last_full (c);

  if (d)
    return d;
  if (last->has_gauge && !last->is_stage && last->fullness >= FULL)
    return diagnose_consumer (last);
  if (c->top && c->top->busy >= BUSY && c->top->fullness > STARVED)
    return diagnose_busy (c);
  if (full < c->n)
    return diagnose_behind (c, full);
  if (cores_are_busy (c))
    return diagnose_cores (c);
  if (first > 0 && first < c->n && c->views[first].fullness < STARVED)
    return diagnose_before (c, first);
  return diagnose_balanced (c);
}

static void
add_up (Case *c, guint64 cpu_time)
{
  guint64 of_stages = 0;

  for (guint i = 0; i < c->n; i++) {
    of_stages += c->views[i].cpu_time;
    c->elapsed = MAX (c->elapsed, c->views[i].elapsed);
  }
  if (cpu_time == 0)
    cpu_time = of_stages;
  if (c->elapsed > 0)
    c->busy_cores = cpu_time / (double) c->elapsed;
}

/**
 * gst_spdl_diagnose:
 * @stages: (element-type Gst.Structure) (transfer none): the statistics of the
 *     pipeline's elements, as in `stage-stats` and `spdl-stage-stats`, in the
 *     order from the source to the sink, all of the same lap or all since the
 *     start. An element that has none stands among them as a structure with
 *     its name alone in the field `stage`; if it has a number of threads that
 *     can be set, `threads-property` (a string) and `threads` (uint) say so
 * @num_cores: how many cores the process may use, 0 where that is not known
 * @cpu_time: the CPU time of the whole process in that time, in ns; 0: that of
 *     the stages' workers is taken
 *
 * Finds out what limits the throughput of a pipeline, and what to change.
 *
 * Where other processes use the same cores, a stage that computes looks as if
 * it waited, for it does: for a core.
 *
 * Returns: (transfer full): the diagnosis
 *
 * Since: 0.1
 */
GstSpdlDiagnosis *
gst_spdl_diagnose (GList *stages, guint num_cores, guint64 cpu_time)
{
  Case c = { .num_cores = num_cores };
  GstSpdlDiagnosis *d;

  c.n = g_list_length (stages);
  c.views = g_new0 (GstSpdlStageView, c.n);
  for (guint i = 0; i < c.n; i++, stages = stages->next)
    gst_spdl_stage_view_read (&c.views[i], stages->data);
  add_up (&c, cpu_time);
  find_busiest (&c);
  d = diagnose (&c);
  g_free (c.views);
  return d;
}
