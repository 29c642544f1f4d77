/* gst-spdl: concurrency of stages, fixed or chosen for those of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/tuner.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/ticker.h"
#include "gst/spdl/stage/stage-private.h"

/* Connects the tuner to the stages of a pipeline. A pipeline has one tuner
 * while automatic stages are running. The tuner's thread reads the counters of
 * the stages ten times per second, independently of `stats-interval`. Stages
 * post decisions as `spdl-tuning`. */

#define INTERVAL (100 * GST_MSECOND)

/* Maximum automatic concurrency, regardless of the cores: for tasks that do not
 * occupy a thread, and for tasks that do. */
#define MAX_WAITING 256
#define MAX_THREADS 64

typedef struct {
  gint n_refs;
  gconstpointer pipeline; /* only compared, never dereferenced */
  SpdlTicker *ticker;

  /* Taken before the locks of the stages. A stage removes itself before it
   * stops, so no reference is held. */
  SpdlMutex lock;
  GPtrArray *stages; /* GstSpdlStage */
  gboolean changed;  /* the stages have changed since the search began */
  SpdlTuner *tuner;
  SpdlInterval
      counts[SPDL_MAX_TUNED]; /* counters at the end of the last interval */
} Tuner;

static SpdlMutex registry_lock = PTHREAD_MUTEX_INITIALIZER;
static GSList *registry = NULL; /* Tuner */

static void
tuner_unref (gpointer data)
{
  Tuner *self = data;

  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  spdl_tuner_free (self->tuner);
  g_ptr_array_unref (self->stages);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

static SpdlExecutor *
executor_of (Tuner *self, guint i)
{
  GstSpdlStage *stage = g_ptr_array_index (self->stages, i);

  return &gst_spdl_stage_get_private (stage)->executor;
}

/* Returns the maximum concurrency that the tuner may try. The stage has
 * started. */
static guint
get_max (GstSpdlStage *stage)
{
  const guint size =
      spdl_pool_get_size (gst_spdl_stage_get_private (stage)->executor.pool);

  if (gst_spdl_stage_is_async (stage))
    return MAX_WAITING;
  if (size > 0)
    return size;
  return CLAMP (4 * spdl_cpus_count (), MAX_THREADS, GST_SPDL_MAX_CONCURRENCY);
}

/* Applies a choice, unless the stage is not automatic any more. */
static void
adopt_concurrency (GstSpdlStage *stage, guint concurrency)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (stage);

  GST_OBJECT_LOCK (stage);
  if (priv->concurrency == 0)
    spdl_executor_set_concurrency (&priv->executor, concurrency);
  GST_OBJECT_UNLOCK (stage);
}

static guint
count_stages (Tuner *self)
{
  return MIN (self->stages->len, SPDL_MAX_TUNED);
}

/* Starts a search. Lock held. */
static void
begin_interval (Tuner *self)
{
  self->changed = FALSE;
  spdl_tuner_begin (self->tuner);
  for (guint i = 0; i < count_stages (self); i++) {
    GstSpdlStage *stage = g_ptr_array_index (self->stages, i);

    const guint max = get_max (stage);
    const guint now = spdl_executor_get_concurrency (executor_of (self, i));

    if (now > max)
      adopt_concurrency (stage, max);
    spdl_tuner_add_stage (self->tuner, now, max);
    spdl_executor_count (executor_of (self, i), &self->counts[i]);
  }
}

/* Lock held. Calculates the increase of a stage's counters since the last
 * interval. */
static void
take_interval (Tuner *self, guint i, SpdlInterval *interval)
{
  SpdlInterval *before = &self->counts[i];
  SpdlInterval now;

  spdl_executor_count (executor_of (self, i), &now);
  *interval = (SpdlInterval){
    .items = now.items - before->items,
    .tasks = now.tasks - before->tasks,
    .timed = now.timed - before->timed,
    .task_time = now.task_time - before->task_time,
    .cpu_time = now.cpu_time - before->cpu_time,
    .occupied = now.occupied - before->occupied,
    .pushing = now.pushing - before->pushing,
  };
  *before = now;
}

static gboolean
is_throttled (Tuner *self)
{
  for (guint i = 0; i < self->stages->len; i++) {
    GstSpdlStage *stage = g_ptr_array_index (self->stages, i);

    if (g_atomic_int_get (&gst_spdl_stage_get_private (stage)->throttled))
      return TRUE;
  }
  return FALSE;
}

static const gchar *
nick_of (SpdlTunerReason reason)
{
  static const gchar *nicks[] = {
    [SPDL_TUNER_LIMITS] = "limits",
    [SPDL_TUNER_FOLLOWS] = "follows",
    [SPDL_TUNER_IDLE] = "idle",
    [SPDL_TUNER_SPARE] = "spare",
    [SPDL_TUNER_NO_GAIN] = "no-gain",
    [SPDL_TUNER_LOSS] = "loss",
    [SPDL_TUNER_HELD] = "held",
    [SPDL_TUNER_SETTLED] = "settled",
    [SPDL_TUNER_LOAD] = "load",
  };

  return nicks[reason];
}

static GstMessage *
make_message (GstElement *stage, guint from, guint to, const gchar *reason)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT (stage));

  return gst_message_new_element (GST_OBJECT (stage),
      gst_structure_new ("spdl-tuning", "stage", G_TYPE_STRING, name, "from",
          G_TYPE_UINT, from, "to", G_TYPE_UINT, to, "reason", G_TYPE_STRING,
          reason, NULL));
}

/* Lock held. Applies a decision. Returns the message to post after releasing
 * the lock. */
static GstMessage *
apply_decision (Tuner *self, const SpdlTunerDecision *d)
{
  GstSpdlStage *stage = g_ptr_array_index (self->stages, d->stage);
  GstMessage *message =
      make_message (GST_ELEMENT (stage), d->from, d->to, nick_of (d->reason));

  if (d->to != d->from)
    adopt_concurrency (stage, d->to);
  gst_structure_set (gst_message_writable_structure (message), "throughput",
      G_TYPE_DOUBLE, d->throughput, "occupancy", G_TYPE_DOUBLE, d->occupancy,
      "busy", G_TYPE_DOUBLE, d->busy, NULL);
  if (d->gain > 0)
    gst_structure_set (gst_message_writable_structure (message), "gain",
        G_TYPE_DOUBLE, d->gain, NULL);
  return message;
}

/* Lock held. Appends the messages of the interval's decisions to @messages. */
static void
end_interval (Tuner *self, GQueue *messages)
{
  SpdlInterval intervals[SPDL_MAX_TUNED];
  const SpdlTunerDecision *decisions;
  guint n;

  for (guint i = 0; i < count_stages (self); i++)
    take_interval (self, i, &intervals[i]);
  decisions = spdl_tuner_end_interval (self->tuner, intervals,
      g_get_monotonic_time () * GST_USECOND, is_throttled (self), &n);
  for (guint i = 0; i < n; i++)
    g_queue_push_tail (messages, apply_decision (self, &decisions[i]));
}

static void
on_tick (gpointer data)
{
  Tuner *self = data;
  GQueue messages = G_QUEUE_INIT;
  GstMessage *message;

  spdl_mutex_lock (&self->lock);
  if (self->changed)
    begin_interval (self);
  else if (self->stages->len > 0)
    end_interval (self, &messages);
  spdl_mutex_unlock (&self->lock);

  while ((message = g_queue_pop_head (&messages))) {
    /* The message owns its source, so keep a reference while posting. */
    GstElement *stage = gst_object_ref (GST_MESSAGE_SRC (message));

    gst_element_post_message (stage, message);
    gst_object_unref (stage);
  }
}

void
gst_spdl_post_tuning (GstElement *stage, guint from, guint to,
    const gchar *reason, const gchar *first_field, ...)
{
  GstMessage *message = make_message (stage, from, to, reason);
  va_list args;

  va_start (args, first_field);
  gst_structure_set_valist (
      gst_message_writable_structure (message), first_field, args);
  va_end (args);
  gst_element_post_message (stage, message);
}

/* Registry of tuners by pipeline */

static gconstpointer
find_pipeline (GstSpdlStage *stage)
{
  GstObject *top = gst_object_ref (GST_OBJECT (stage)), *parent;
  gconstpointer found;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  found = top;
  gst_object_unref (top);
  return found;
}

/* Registry lock held. Creates the tuner of a pipeline, or returns NULL with
 * @error set. */
static Tuner *
tuner_new (gconstpointer pipeline, GError **error)
{
  Tuner *self = g_new0 (Tuner, 1);

  self->n_refs = 2; /* held by the registry and by the thread */
  self->pipeline = pipeline;
  spdl_mutex_init (&self->lock);
  self->stages = g_ptr_array_new ();
  self->tuner = spdl_tuner_new (spdl_cpus_count ());
  self->ticker = spdl_ticker_new (
      INTERVAL, on_tick, self, tuner_unref, "the choice of concurrency", error);
  if (!self->ticker) {
    self->n_refs = 1;
    tuner_unref (self);
    return NULL;
  }
  registry = g_slist_prepend (registry, self);
  return self;
}

/* Registry lock held. Returns the tuner that has @stage, or NULL. */
static Tuner *
find_tuner_of (GstSpdlStage *stage)
{
  for (GSList *l = registry; l; l = l->next) {
    Tuner *self = l->data;

    if (g_ptr_array_find (self->stages, stage, NULL))
      return self;
  }
  return NULL;
}

/* Registry lock held. Returns the tuner of @pipeline, which is created if
 * necessary, or NULL with @error set. */
static Tuner *
find_tuner_for (gconstpointer pipeline, GError **error)
{
  for (GSList *l = registry; l; l = l->next)
    if (((Tuner *) l->data)->pipeline == pipeline)
      return l->data;
  return tuner_new (pipeline, error);
}

/* Adds a stage that has started, unless it was added before. Sets @error if the
 * tuner can have no thread. */
static void
add_stage (GstSpdlStage *stage, GError **error)
{
  gconstpointer pipeline = find_pipeline (stage);
  Tuner *self;

  spdl_mutex_lock (&registry_lock);
  self = find_tuner_of (stage);
  if (!self && (self = find_tuner_for (pipeline, error))) {
    spdl_mutex_lock (&self->lock);
    g_ptr_array_add (self->stages, stage);
    self->changed = TRUE;
    spdl_mutex_unlock (&self->lock);
  }
  spdl_mutex_unlock (&registry_lock);
}

/* Removes a stage, which is not used any more when this returns. Returns:
 * (nullable): a ticker that the caller must stop after releasing its locks. */
static SpdlTicker *
remove_stage (GstSpdlStage *stage)
{
  SpdlTicker *ended = NULL;
  Tuner *self;

  spdl_mutex_lock (&registry_lock);
  if ((self = find_tuner_of (stage))) {
    spdl_mutex_lock (&self->lock);
    g_ptr_array_remove (self->stages, stage);
    self->changed = TRUE;
    spdl_mutex_unlock (&self->lock);
    if (self->stages->len == 0) {
      registry = g_slist_remove (registry, self);
      ended = self->ticker;
      tuner_unref (self);
    }
  }
  spdl_mutex_unlock (&registry_lock);
  return ended;
}

/* The property */

static guint
get_default (GstSpdlStage *self)
{
  const guint n = gst_spdl_stage_is_async (self) ? GST_SPDL_WAITING_CONCURRENCY
                                                 : spdl_cpus_count ();

  return MIN (n, GST_SPDL_MAX_CONCURRENCY);
}

void
gst_spdl_stage_default_concurrency (GstSpdlStage *self, gint n)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  GST_OBJECT_LOCK (self);
  priv->n_loaders += n;
  if (!priv->concurrency_set) {
    priv->concurrency = priv->n_loaders > 0 || priv->begin
                            ? get_default (self)
                            : GST_SPDL_DEFAULT_CONCURRENCY;
    spdl_executor_set_concurrency (&priv->executor, priv->concurrency);
  }
  GST_OBJECT_UNLOCK (self);
  spdl_mutex_unlock (&priv->tuning_lock);
}

/* Registers the stage for tuning, or unregisters it, and releases the tuning
 * lock. */
static void
join_or_leave (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  g_autoptr (GError) error = NULL;
  SpdlTicker *ended = NULL;

  if (!priv->started || priv->concurrency != 0)
    ended = remove_stage (self);
  else
    add_stage (self, &error);
  spdl_mutex_unlock (&priv->tuning_lock);
  if (ended)
    spdl_ticker_stop (ended);
  if (error)
    gst_spdl_post_error (GST_ELEMENT (self), error);
}

void
gst_spdl_stage_set_concurrency (GstSpdlStage *self, guint concurrency)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  GST_OBJECT_LOCK (self);
  priv->concurrency = concurrency;
  priv->concurrency_set = TRUE;
  if (concurrency > 0 || !priv->started)
    spdl_executor_set_concurrency (
        &priv->executor, concurrency > 0 ? concurrency : get_default (self));
  GST_OBJECT_UNLOCK (self);
  join_or_leave (self);
}

void
gst_spdl_stage_set_started (GstSpdlStage *self, gboolean started)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  priv->started = started;
  if (started)
    /* Counting cores reads files, so the statistics have this value. */
    g_atomic_int_set (&priv->max_concurrency, get_max (self));
  join_or_leave (self);
}
