/* gst-spdl: CPU budget of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/pipelinegovernor.h"

#include <gst/gst.h>
#include <math.h>

#include "gst/spdl/autotune/governor.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/sync.h"
#include "gst/spdl/engine/ticker.h"
#include "gst/spdl/stage/stage-private.h"
#include "gst/spdl/engine/clock.h"
#include "gst/spdl/gstspdlcpus.h"

/* CPU time of streaming threads */

typedef struct {
  pthread_t id;
  guint64 before; /* CPU time at entry */
} Thread;

void
gst_spdl_thread_times_init (GstSpdlThreadTimes *self)
{
  spdl_mutex_init (&self->lock);
  self->running = g_array_new (FALSE, FALSE, sizeof (Thread));
  self->of_ended = 0;
}

void
gst_spdl_thread_times_clear (GstSpdlThreadTimes *self)
{
  g_array_unref (self->running);
  spdl_mutex_clear (&self->lock);
}

static guint64
read_clock (pthread_t id)
{
  struct timespec ts;

  return spdl_compat_get_thread_time (id, &ts) ? spdl_timespec_to_ns (&ts) : 0;
}

static void
enter_thread (GstSpdlThreadTimes *self)
{
  const Thread thread = { pthread_self (), read_clock (pthread_self ()) };

  spdl_mutex_lock (&self->lock);
  g_array_append_val (self->running, thread);
  spdl_mutex_unlock (&self->lock);
}

static void
leave_thread (GstSpdlThreadTimes *self)
{
  spdl_mutex_lock (&self->lock);
  for (guint i = self->running->len; i > 0; i--) {
    const Thread *thread = &g_array_index (self->running, Thread, i - 1);

    if (!pthread_equal (thread->id, pthread_self ()))
      continue;
    self->of_ended += read_clock (thread->id) - thread->before;
    g_array_remove_index_fast (self->running, i - 1);
    break;
  }
  spdl_mutex_unlock (&self->lock);
}

void
gst_spdl_thread_times_take_message (
    GstSpdlThreadTimes *self, GstMessage *message)
{
  GstStreamStatusType type;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_STREAM_STATUS)
    return;
  gst_message_parse_stream_status (message, &type, NULL);
  if (type == GST_STREAM_STATUS_TYPE_ENTER)
    enter_thread (self);
  else if (type == GST_STREAM_STATUS_TYPE_LEAVE)
    leave_thread (self);
}

guint64
gst_spdl_thread_times_get (GstSpdlThreadTimes *self)
{
  guint64 sum;

  spdl_mutex_lock (&self->lock);
  sum = self->of_ended;
  for (guint i = 0; i < self->running->len; i++) {
    const Thread *thread = &g_array_index (self->running, Thread, i);

    sum += read_clock (thread->id) - thread->before;
  }
  spdl_mutex_unlock (&self->lock);
  return sum;
}

GstStructure *
gst_spdl_thread_times_get_cpu_stats (GstSpdlThreadTimes *self)
{
  GstStructure *s = gst_spdl_dup_cpu_stats ();

  gst_structure_set (
      s, "loading-time", G_TYPE_UINT64, gst_spdl_thread_times_get (self), NULL);
  return s;
}

#define INTERVAL (20 * GST_MSECOND)
/* Time constant of a stage's average CPU time, in seconds. */
#define MEMORY 10.0
/* Factor by which another stage must use more CPU time to be throttled
 * instead. */
#define MORE 1.5
/* A stage that uses a smaller share of the CPU time does not compute. */
#define COMPUTES 0.05
/* Maximum number of decisions in an interval. */
#define MOST_DECISIONS 2

typedef struct {
  GstElement *stage; /* owned */
  guint from, to;
  gboolean throttled;
} Decision;

typedef struct {
  GstSpdlStage *stage; /* owned */
  guint64 counted;     /* CPU time since the stage started, in ns */
  guint n_running;
  double cores; /* recent average of used cores */
  guint allowed;
} Watched;

struct _GstSpdlGovernor {
  GstSpdlThreadTimes *threads;    /* nullable: not owned */
  guint64 (*get_cpu_time) (void); /* nullable */
  SpdlTicker *ticker;             /* nullable */

  SpdlMutex lock; /* taken before the locks of the stages */
  gdouble budget;
  double num_cores; /* number of cores for a budget of 1 */
  SpdlGovernor account;
  GArray *stages;    /* Watched */
  guint throttled;   /* index of the stage that is throttled */
  guint64 of_stages; /* CPU time of all stages, in ns */
  guint64 last_cpu;
  gint64 last_time; /* in us */
};

/* Creation */

static void
clear_watched (gpointer data)
{
  gst_object_unref (((Watched *) data)->stage);
}

static void
add_stage (const GValue *item, gpointer user_data)
{
  GstSpdlGovernor *self = user_data;
  Watched watched = { .allowed = G_MAXUINT };

  watched.stage = g_value_dup_object (item);
  g_array_append_val (self->stages, watched);
}

static void
find_stages (GstSpdlGovernor *self, GstBin *pipeline)
{
  GstIterator *all = gst_bin_iterate_recurse (pipeline);
  GValue item = G_VALUE_INIT;
  GstIteratorResult result;

  while ((result = gst_iterator_next (all, &item)) == GST_ITERATOR_OK ||
         result == GST_ITERATOR_RESYNC) {
    if (result == GST_ITERATOR_RESYNC) {
      g_array_set_size (self->stages, 0);
      gst_iterator_resync (all);
      continue;
    }
    if (GST_IS_SPDL_STAGE (g_value_get_object (&item)))
      add_stage (&item, self);
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (all);
}

GstSpdlGovernor *
gst_spdl_governor_new (GstBin *pipeline, gdouble budget)
{
  GstSpdlGovernor *self = g_new0 (GstSpdlGovernor, 1);

  spdl_mutex_init (&self->lock);
  self->stages = g_array_new (FALSE, FALSE, sizeof (Watched));
  g_array_set_clear_func (self->stages, clear_watched);
  self->budget = budget;
  find_stages (self, pipeline);
  return self;
}

void
gst_spdl_governor_free (GstSpdlGovernor *self)
{
  gst_spdl_governor_stop (self);
  g_array_unref (self->stages);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

void
gst_spdl_governor_set_threads (
    GstSpdlGovernor *self, GstSpdlThreadTimes *threads)
{
  self->threads = threads;
}

void
gst_spdl_governor_set_clock (
    GstSpdlGovernor *self, guint64 (*get_cpu_time) (void))
{
  self->get_cpu_time = get_cpu_time;
}

/* Intervals. Functions are called with the lock held. */

static Watched *
get_watched (GstSpdlGovernor *self, guint i)
{
  return &g_array_index (self->stages, Watched, i);
}

static SpdlExecutor *
executor_of (const Watched *watched)
{
  return &gst_spdl_stage_get_private (watched->stage)->executor;
}

static void
count_stage (GstSpdlGovernor *self, Watched *watched, double elapsed)
{
  SpdlInterval counts;
  guint64 used;

  watched->n_running = spdl_executor_count (executor_of (watched), &counts);
  /* The stage may have restarted. */
  used = counts.cpu_time >= watched->counted
             ? counts.cpu_time - watched->counted
             : counts.cpu_time;
  watched->counted = counts.cpu_time;
  watched->cores +=
      (used / 1e9 / elapsed - watched->cores) * (1 - exp (-elapsed / MEMORY));
  self->of_stages += used;
}

/* Returns the CPU time since the last interval that counts for the budget. */
static guint64
count_cpus_of_budget (GstSpdlGovernor *self, double elapsed)
{
  const guint64 before = self->last_cpu;

  for (guint i = 0; i < self->stages->len; i++)
    count_stage (self, get_watched (self, i), elapsed);
  if (self->get_cpu_time)
    self->last_cpu = self->get_cpu_time ();
  else
    self->last_cpu =
        self->of_stages +
        (self->threads ? gst_spdl_thread_times_get (self->threads) : 0);
  return self->last_cpu - before;
}

static void
allow_threads (Watched *watched, guint n)
{
  if (watched->allowed == n)
    return;
  watched->allowed = n;
  spdl_executor_allow (executor_of (watched), n);
}

static void
choose_throttled (GstSpdlGovernor *self)
{
  for (guint i = 0; i < self->stages->len; i++)
    if (get_watched (self, i)->cores >
        MORE * get_watched (self, self->throttled)->cores)
      self->throttled = i;
}

static gboolean
is_limited (const GstSpdlGovernor *self)
{
  return self->account.limit != SPDL_GOVERNOR_NO_LIMIT;
}

/* Applies the limit to the throttled stage, and pauses the other stages that
 * compute if that is not enough. Without debt, the other stages may run
 * freely. */
static void
enforce_limits (GstSpdlGovernor *self)
{
  const SpdlGovernor *account = &self->account;
  const gboolean limited = is_limited (self);
  const gboolean overdrawn = spdl_governor_is_overdrawn (account);

  for (guint i = 0; i < self->stages->len; i++) {
    Watched *watched = get_watched (self, i);
    GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (watched->stage);
    const gboolean computes = watched->cores >= COMPUTES * account->used;

    g_atomic_int_set (&priv->throttled, limited && i == self->throttled);
    if (i == self->throttled)
      allow_threads (watched, spdl_governor_get_workers (account));
    else if (overdrawn && computes)
      allow_threads (watched, 0);
    else if (!overdrawn && account->credit >= 0)
      allow_threads (watched, G_MAXUINT);
  }
}

/* Returns the number of workers to report: the additional worker counts,
 * although it may be paused. */
static guint
count_workers (const GstSpdlGovernor *self, guint n)
{
  return is_limited (self) ? MIN (self->account.limit + 1, n) : n;
}

static guint
get_concurrency (GstSpdlGovernor *self, guint i)
{
  return spdl_executor_get_concurrency (executor_of (get_watched (self, i)));
}

static Decision
decide_limit (
    GstSpdlGovernor *self, guint i, guint from, guint to, gboolean throttled)
{
  return (Decision){
    gst_object_ref (GST_ELEMENT (get_watched (self, i)->stage)),
    from,
    to,
    throttled,
  };
}

/* Ends an interval. Returns the number of decisions: at most one for the
 * throttled stage, and one for the stage that was throttled before. */
static guint
end_interval (GstSpdlGovernor *self, Decision *decisions)
{
  const gint64 now = g_get_monotonic_time ();
  const guint64 elapsed = (now - self->last_time) * GST_USECOND;
  const guint last = self->throttled;
  guint n_decisions = 0;

  if (self->stages->len == 0 || elapsed == 0)
    return 0;
  self->last_time = now;
  const guint64 used = count_cpus_of_budget (self, elapsed / 1e9);
  choose_throttled (self);
  const guint n = get_concurrency (self, self->throttled);
  guint from = count_workers (self, n);

  if (self->throttled != last && is_limited (self)) {
    const guint n_last = get_concurrency (self, last);

    decisions[n_decisions++] =
        decide_limit (self, last, count_workers (self, n_last), n_last, FALSE);
    from = n;
  }
  if (spdl_governor_end_interval (&self->account, elapsed, used,
          get_watched (self, self->throttled)->n_running, n) ||
      n_decisions > 0)
    decisions[n_decisions++] = decide_limit (self, self->throttled, from,
        count_workers (self, n), is_limited (self));
  enforce_limits (self);
  return n_decisions;
}

static void
on_tick (gpointer data)
{
  GstSpdlGovernor *self = data;
  Decision decisions[MOST_DECISIONS];
  double used, budget;
  guint n;

  spdl_mutex_lock (&self->lock);
  n = end_interval (self, decisions);
  used = self->account.used / self->num_cores;
  budget = self->budget;
  spdl_mutex_unlock (&self->lock);
  for (guint i = 0; i < n; i++) {
    const Decision *decision = &decisions[i];

    gst_spdl_post_tuning (decision->stage, decision->from, decision->to,
        "budget", "throttled", G_TYPE_BOOLEAN, decision->throttled,
        "cpu-budget", G_TYPE_DOUBLE, budget, "cpu-used", G_TYPE_DOUBLE, used,
        NULL);
    gst_object_unref (decision->stage);
  }
}

/* Lock held. Lifts all limits. */
static void
release_all (GstSpdlGovernor *self)
{
  for (guint i = 0; i < self->stages->len; i++) {
    Watched *watched = get_watched (self, i);

    allow_threads (watched, G_MAXUINT);
    g_atomic_int_set (
        &gst_spdl_stage_get_private (watched->stage)->throttled, FALSE);
  }
}

/* Lock held. Resets the account, and lifts all limits. */
static void
begin_account (GstSpdlGovernor *self)
{
  self->num_cores = spdl_cpus_get_limit ();
  spdl_governor_init (
      &self->account, self->budget > 0 ? self->budget : 1e6, self->num_cores);
  release_all (self);
}

void
gst_spdl_governor_set_budget (GstSpdlGovernor *self, gdouble budget)
{
  spdl_mutex_lock (&self->lock);
  self->budget = budget;
  begin_account (self);
  spdl_mutex_unlock (&self->lock);
}

gboolean
gst_spdl_governor_start (GstSpdlGovernor *self, GError **error)
{
  g_return_val_if_fail (!self->ticker, FALSE);

  spdl_mutex_lock (&self->lock);
  begin_account (self);
  self->last_time = g_get_monotonic_time ();
  self->last_cpu = 0;
  count_cpus_of_budget (self, 1);
  spdl_mutex_unlock (&self->lock);
  self->ticker =
      spdl_ticker_new (INTERVAL, on_tick, self, NULL, "the CPU budget", error);
  return self->ticker != NULL;
}

void
gst_spdl_governor_stop (GstSpdlGovernor *self)
{
  if (!self->ticker)
    return;
  spdl_ticker_stop (self->ticker);
  self->ticker = NULL;
  spdl_mutex_lock (&self->lock);
  release_all (self);
  spdl_mutex_unlock (&self->lock);
}
