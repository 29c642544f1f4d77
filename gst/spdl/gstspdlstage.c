/* gst-spdl: base class of elements with a queue and workers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlstage
 * @title: GstSpdlStage
 * @short_description: base class of elements with a queue and workers
 *
 * A stage has a bounded input queue, `concurrency` workers and a streaming
 * thread that pushes results. A *task* is one item or one group (a
 * #GstBufferList). The stage holds at most `concurrency` + `queue-size` tasks.
 *
 * The upstream thread queues a task and waits while the stage is full. Workers
 * never wait for downstream. So a slow consumer fills queues but blocks no
 * thread, and stages that share a `thread-pool` cannot block each other.
 *
 * An item whose task fails is dropped, counted, reported in an element message
 * `spdl-item-failed` (`stage`, `uri`, `index`, `epoch`, `sequence`, `error`,
 * `num-failures`) and announced downstream. In a group, only the item that
 * failed is lost. With more than `max-failures` failures, or above
 * `max-failure-rate` in one epoch, the stage pushes all finished results and
 * ends the stream with an error.
 *
 * The stage posts a warning for each of the first three failures of an epoch,
 * for the 10th, 100th, 1000th and so on, and a summary at the end of the epoch.
 * A warning has the domain and code of the item's error.
 *
 * A subclass adds pad templates `sink` and `src` and implements
 * #GstSpdlStageClass.process().
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlstage.h"

#include <string.h>

#include "gst/spdl/autotune/pipelinetuner.h"
#include "gst/spdl/common/sourcenumber.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/ticker.h"
#include "gst/spdl/gstspdlbatchmeta.h"
#include "gst/spdl/stage/stage-private.h"

GST_DEBUG_CATEGORY (gst_spdl_stage_debug);
#define GST_CAT_DEFAULT gst_spdl_stage_debug

#define DEFAULT_CONCURRENCY 1
#define DEFAULT_QUEUE_SIZE 2
#define DEFAULT_OUTPUT_ORDER GST_SPDL_OUTPUT_ORDER_COMPLETION
#define DEFAULT_MAX_FAILURES -1
#define DEFAULT_MAX_FAILURE_RATE 0.5

/* Maximum automatic concurrency, regardless of the cores: for tasks that do not
 * occupy a thread, and for tasks that do. */
#define MAX_WAITING 256
#define MAX_THREADS 64

#define STATS_FIELDS                                                        \
  (GST_SPDL_FIELDS_TASKS | GST_SPDL_FIELDS_FAILURES | GST_SPDL_FIELDS_PUT | \
      GST_SPDL_FIELDS_GET | GST_SPDL_FIELDS_OCCUPANCY | GST_SPDL_FIELDS_PUSH)

enum {
  PROP_0,
  PROP_CONCURRENCY,
  PROP_CURRENT_CONCURRENCY,
  PROP_QUEUE_SIZE,
  PROP_OUTPUT_ORDER,
  PROP_THREAD_POOL,
  PROP_MAX_BYTES,
  PROP_MAX_FAILURES,
  PROP_MAX_FAILURE_RATE,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

static void gst_spdl_stage_class_init (gpointer klass, gpointer data);
static void gst_spdl_stage_init (GTypeInstance *instance, gpointer klass);

static gpointer parent_class = NULL;
static gint private_offset = 0;

/* Registers the type by hand instead of with G_DEFINE_ABSTRACT_TYPE, because
 * the pads are created from the templates of the subclass, which only the class
 * argument of the initializer has. */
GType
gst_spdl_stage_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    GType made = g_type_register_static_simple (GST_TYPE_ELEMENT,
        g_intern_static_string ("GstSpdlStage"), sizeof (GstSpdlStageClass),
        gst_spdl_stage_class_init, sizeof (GstSpdlStage), gst_spdl_stage_init,
        G_TYPE_FLAG_ABSTRACT);

    private_offset =
        g_type_add_instance_private (made, sizeof (GstSpdlStagePrivate *));
    g_once_init_leave (&type, made);
  }
  return type;
}

G_DEFINE_ENUM_TYPE (GstSpdlOutputOrder, gst_spdl_output_order,
    { GST_SPDL_OUTPUT_ORDER_COMPLETION,
        "Send results in the order in which their tasks end", "completion" },
    { GST_SPDL_OUTPUT_ORDER_INPUT, "Send results in the order of their items",
        "input" })

/* The private part contains a meter, which exceeds the maximum size of an
 * instance, so it is allocated separately. */
GstSpdlStagePrivate *
gst_spdl_stage_get_private (GstSpdlStage *stage)
{
  return *(GstSpdlStagePrivate **) G_STRUCT_MEMBER_P (stage, private_offset);
}

/* Statistics */

static GstStructure *
take_figures (GstElement *element, gboolean interval, gpointer user_data)
{
  GstSpdlStagePrivate *priv = user_data;
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (element);
  SpdlMeterStats stats;
  GstStructure *s;
  guint concurrency, max_concurrency, queue_size;
  gboolean in_order, automatic;

  if (interval)
    spdl_executor_end_interval (&priv->executor, &stats);
  else
    spdl_executor_get_figures (&priv->executor, &stats);

  GST_OBJECT_LOCK (element);
  concurrency = priv->current;
  max_concurrency = priv->max_concurrency;
  automatic = priv->concurrency == 0;
  queue_size = priv->queue_size;
  in_order = priv->output_order == GST_SPDL_OUTPUT_ORDER_INPUT;
  GST_OBJECT_UNLOCK (element);
  s = gst_spdl_figures_to_structure (&stats, element, STATS_FIELDS);
  gst_structure_set (s, "concurrency", G_TYPE_UINT, concurrency,
      "max-concurrency", G_TYPE_UINT, MAX (max_concurrency, concurrency),
      "queue-size", G_TYPE_UINT, queue_size, "output-order", G_TYPE_STRING,
      in_order ? "input" : "completion", NULL);
  if (automatic)
    gst_structure_set (s, "automatic", G_TYPE_BOOLEAN, TRUE, NULL);
  if (g_atomic_int_get (&priv->throttled))
    gst_structure_set (s, "throttled", G_TYPE_BOOLEAN, TRUE, NULL);
  if (klass->add_stats)
    klass->add_stats (GST_SPDL_STAGE (element), interval, s);
  return s;
}

/* Properties */

/* Applies the limits in the properties to the executor. */
static void
gst_spdl_stage_apply_limits (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  guint concurrency, queue_size;
  guint64 max_bytes;

  GST_OBJECT_LOCK (self);
  concurrency = priv->current;
  queue_size = priv->queue_size;
  max_bytes = priv->max_bytes;
  GST_OBJECT_UNLOCK (self);
  spdl_executor_set_limits (
      &priv->executor, concurrency, queue_size, max_bytes);
}

/* Concurrency */

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
  if (!priv->concurrency_set)
    priv->concurrency = priv->current = priv->n_loaders > 0 || priv->begin
                                            ? get_default (self)
                                            : DEFAULT_CONCURRENCY;
  GST_OBJECT_UNLOCK (self);
  gst_spdl_stage_apply_limits (self);
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
    ended = gst_spdl_tuner_remove (self);
  else
    gst_spdl_tuner_add (self, &error);
  spdl_mutex_unlock (&priv->tuning_lock);
  if (ended)
    spdl_ticker_stop (ended);
  if (error)
    gst_spdl_post_error (GST_ELEMENT (self), error);
}

/* Sets the value of the property. 0: automatic. */
static void
gst_spdl_stage_set_concurrency (GstSpdlStage *self, guint concurrency)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  GST_OBJECT_LOCK (self);
  priv->concurrency = concurrency;
  priv->concurrency_set = TRUE;
  if (concurrency > 0)
    priv->current = concurrency;
  else if (!priv->started)
    priv->current = get_default (self);
  GST_OBJECT_UNLOCK (self);
  gst_spdl_stage_apply_limits (self);
  join_or_leave (self);
}

/* Records that the stage has started or is about to stop. An automatic stage is
 * tuned in between. */
static void
gst_spdl_stage_set_started (GstSpdlStage *self, gboolean started)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  priv->started = started;
  join_or_leave (self);
}

void
gst_spdl_stage_adopt_concurrency (GstSpdlStage *self, guint concurrency)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  GST_OBJECT_LOCK (self);
  if (priv->concurrency == 0)
    priv->current = concurrency;
  GST_OBJECT_UNLOCK (self);
  gst_spdl_stage_apply_limits (self);
}

guint
gst_spdl_stage_get_current_concurrency (GstSpdlStage *self)
{
  guint current;

  GST_OBJECT_LOCK (self);
  current = gst_spdl_stage_get_private (self)->current;
  GST_OBJECT_UNLOCK (self);
  return current;
}

guint
gst_spdl_stage_get_max_concurrency (GstSpdlStage *self)
{
  const SpdlPool *pool = gst_spdl_stage_get_private (self)->executor.pool;

  if (gst_spdl_stage_is_async (self))
    return MAX_WAITING;
  /* A shared pool limits the number of running tasks to its number of
   * threads. */
  if (pool->name)
    return pool->max_threads;
  return CLAMP (4 * spdl_cpus_count (), MAX_THREADS, GST_SPDL_MAX_CONCURRENCY);
}

/* Keeps the value for the statistics, since counting cores reads files. */
static void
keep_max_concurrency (GstSpdlStage *self)
{
  const guint max = gst_spdl_stage_get_max_concurrency (self);

  GST_OBJECT_LOCK (self);
  gst_spdl_stage_get_private (self)->max_concurrency = max;
  GST_OBJECT_UNLOCK (self);
}

/* Numbers of items without meta */

static gboolean
is_numbered (GstBuffer *buffer)
{
  return gst_spdl_buffer_get_item_meta (buffer) ||
         gst_spdl_buffer_get_batch_meta (buffer);
}

GstBuffer *
gst_spdl_stage_number_item (GstSpdlStage *self, GstBuffer *buffer)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  const gboolean numbered = is_numbered (buffer);
  GstSpdlItemMeta *meta;

  if (!priv->saw_buffer) {
    priv->saw_buffer = TRUE;
    priv->numbers_items = !numbered;
    if (!numbered)
      priv->source = spdl_source_number_get_other (GST_ELEMENT (self));
  }
  if (numbered)
    return buffer;
  if (!priv->numbers_items) {
    gst_buffer_unref (buffer);
    gst_spdl_stage_fail (
        self, g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                  "A buffer has no item meta, although items are numbered "
                  "upstream: an element between the stages removes the meta, "
                  "or splits an item into several buffers"));
    return NULL;
  }

  buffer = gst_buffer_make_writable (buffer);
  meta = gst_spdl_buffer_add_item_meta (buffer);
  meta->source = priv->source;
  meta->index = meta->sequence = priv->next_number++;
  meta->created = spdl_meter_now (&priv->executor.meter);
  return buffer;
}

GstBufferList *
gst_spdl_stage_number_group (GstSpdlStage *self, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);
  guint i = 0;

  while (i < n && is_numbered (gst_buffer_list_get (list, i)))
    i++;
  if (i == n) {
    if (n > 0)
      gst_spdl_stage_get_private (self)->saw_buffer = TRUE;
    return list;
  }

  GstBufferList *copy = gst_buffer_list_new_sized (n);
  for (i = 0; i < n; i++) {
    GstBuffer *buffer = gst_spdl_stage_number_item (
        self, gst_buffer_ref (gst_buffer_list_get (list, i)));

    if (!buffer) {
      gst_clear_buffer_list (&copy);
      break;
    }
    gst_buffer_list_add (copy, buffer);
  }
  gst_buffer_list_unref (list);
  return copy;
}

/* Properties */

static void
gst_spdl_stage_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlStagePrivate *priv =
      gst_spdl_stage_get_private (GST_SPDL_STAGE (object));

  if (id == PROP_STATS_INTERVAL) {
    gst_spdl_reporter_set_interval (
        &priv->reporter, g_value_get_uint64 (value));
    return;
  }
  if (id == PROP_CONCURRENCY) {
    gst_spdl_stage_set_concurrency (
        GST_SPDL_STAGE (object), g_value_get_uint (value));
    return;
  }

  GST_OBJECT_LOCK (object);
  switch (id) {
    case PROP_QUEUE_SIZE:
      priv->queue_size = g_value_get_uint (value);
      break;
    case PROP_OUTPUT_ORDER:
      priv->output_order = g_value_get_enum (value);
      break;
    case PROP_THREAD_POOL:
      g_free (priv->thread_pool);
      priv->thread_pool = g_value_dup_string (value);
      break;
    case PROP_MAX_BYTES:
      priv->max_bytes = g_value_get_uint64 (value);
      break;
    case PROP_MAX_FAILURES:
      priv->max_failures = g_value_get_int (value);
      break;
    case PROP_MAX_FAILURE_RATE:
      priv->max_failure_rate = g_value_get_double (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (object);
  gst_spdl_stage_apply_limits (GST_SPDL_STAGE (object));
}

static void
gst_spdl_stage_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlStagePrivate *priv =
      gst_spdl_stage_get_private (GST_SPDL_STAGE (object));

  if (id == PROP_STATS_INTERVAL) {
    g_value_set_uint64 (
        value, gst_spdl_reporter_get_interval (&priv->reporter));
    return;
  }
  if (id == PROP_STAGE_STATS) {
    g_value_take_boxed (
        value, take_figures (GST_ELEMENT (object), FALSE, priv));
    return;
  }

  GST_OBJECT_LOCK (object);
  switch (id) {
    case PROP_CONCURRENCY:
      g_value_set_uint (value, priv->concurrency);
      break;
    case PROP_CURRENT_CONCURRENCY:
      g_value_set_uint (value, priv->current);
      break;
    case PROP_QUEUE_SIZE:
      g_value_set_uint (value, priv->queue_size);
      break;
    case PROP_OUTPUT_ORDER:
      g_value_set_enum (value, priv->output_order);
      break;
    case PROP_THREAD_POOL:
      g_value_set_string (value, priv->thread_pool);
      break;
    case PROP_MAX_BYTES:
      g_value_set_uint64 (value, priv->max_bytes);
      break;
    case PROP_MAX_FAILURES:
      g_value_set_int (value, priv->max_failures);
      break;
    case PROP_MAX_FAILURE_RATE:
      g_value_set_double (value, priv->max_failure_rate);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (object);
}

/* State changes */

/* Parses a description "NAME:THREADS" of a shared pool. */
static SpdlPool *
get_shared_pool (const gchar *description, GError **error)
{
  const gchar *colon = strrchr (description, ':');
  g_autofree gchar *name = NULL;
  guint64 n_threads;

  if (!colon || colon == description ||
      !g_ascii_string_to_unsigned (
          colon + 1, 10, 1, GST_SPDL_MAX_CONCURRENCY, &n_threads, NULL)) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "thread-pool is \"%s\", but must be NAME:THREADS, with 1 to %d threads",
        description, GST_SPDL_MAX_CONCURRENCY);
    return NULL;
  }
  name = g_strndup (description, colon - description);
  return spdl_pool_get_shared (name, n_threads, error);
}

static gboolean
start_stage (GstSpdlStage *self, GError **error)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self);
  g_autofree gchar *pool_name = NULL;
  SpdlPool *pool;
  SpdlOrder order;

  GST_OBJECT_LOCK (self);
  pool_name = g_strdup (priv->thread_pool);
  order = priv->output_order == GST_SPDL_OUTPUT_ORDER_INPUT
              ? SPDL_ORDER_INPUT
              : SPDL_ORDER_COMPLETION;
  GST_OBJECT_UNLOCK (self);

  pool = pool_name ? get_shared_pool (pool_name, error)
                   : spdl_pool_new (priv->current);
  if (!pool)
    return FALSE;
  if (!spdl_pool_begin (pool, error) ||
      (klass->start && !klass->start (self, error))) {
    spdl_pool_unref (pool);
    return FALSE;
  }
  priv->num_failures = 0;
  priv->saw_buffer = priv->negotiated = FALSE;
  priv->next_number = 0;
  gst_spdl_stage_reset_flow (self);
  priv->process_cpu_time = 0;
  priv->executor.meter.track = spdl_trace_get_track (GST_OBJECT_NAME (self));
  spdl_executor_start (&priv->executor, pool, order, NULL);
  keep_max_concurrency (self);
  gst_spdl_reporter_start (&priv->reporter);
  gst_spdl_stage_set_started (self, TRUE);
  return TRUE;
}

static void
stop_stage (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self);

  gst_spdl_stage_set_started (self, FALSE);
  g_cancellable_cancel (priv->cancellable);
  spdl_executor_stop (&priv->executor);
  priv->process_cpu_time = 0; /* the executor has added it */
  gst_spdl_reporter_finish (&priv->reporter);
  gst_spdl_stage_reset_flow (self);
  gst_spdl_stage_free_spares (priv);
  gst_clear_caps (&priv->sink_caps);
  gst_spdl_caps_gate_clear (&priv->gate);
  if (klass->stop)
    klass->stop (self);
}

static GstStateChangeReturn
gst_spdl_stage_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlStage *self = GST_SPDL_STAGE (element);
  g_autoptr (GError) error = NULL;
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
      !start_stage (self, &error)) {
    gst_spdl_post_error (element, error);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    stop_stage (self);
  return ret;
}

static gboolean
gst_spdl_stage_post_message (GstElement *element, GstMessage *message)
{
  return spdl_task_thread_post_message (parent_class, element, message);
}

static void
gst_spdl_stage_finalize (GObject *object)
{
  GstSpdlStagePrivate *priv =
      gst_spdl_stage_get_private (GST_SPDL_STAGE (object));

  gst_spdl_reporter_clear (&priv->reporter);
  spdl_executor_clear (&priv->executor);
  gst_spdl_stage_clear_begin (priv);
  g_object_unref (priv->cancellable);
  g_free (priv->thread_pool);
  spdl_mutex_clear (&priv->lock);
  spdl_mutex_clear (&priv->tuning_lock);
  g_free (priv);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

/**
 * gst_spdl_stage_get_sink_pad:
 * @stage: a stage
 *
 * Gets the sink pad.
 *
 * Returns: (transfer none): the sink pad
 *
 * Since: 0.1
 */
GstPad *
gst_spdl_stage_get_sink_pad (GstSpdlStage *stage)
{
  g_return_val_if_fail (GST_IS_SPDL_STAGE (stage), NULL);

  return gst_spdl_stage_get_private (stage)->sinkpad;
}

/**
 * gst_spdl_stage_get_src_pad:
 * @stage: a stage
 *
 * Gets the source pad.
 *
 * Returns: (transfer none): the source pad
 *
 * Since: 0.1
 */
GstPad *
gst_spdl_stage_get_src_pad (GstSpdlStage *stage)
{
  g_return_val_if_fail (GST_IS_SPDL_STAGE (stage), NULL);

  return gst_spdl_stage_get_private (stage)->srcpad;
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (object_class, PROP_CONCURRENCY,
      g_param_spec_uint ("concurrency", "Concurrency",
          "Number of tasks that run at the same time (0 = automatic, adjusted "
          "while playing)",
          0, GST_SPDL_MAX_CONCURRENCY, DEFAULT_CONCURRENCY,
          flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_CURRENT_CONCURRENCY,
      g_param_spec_uint ("current-concurrency", "Current concurrency",
          "Number of tasks that may run at the same time now: concurrency, or "
          "the adjusted number",
          1, GST_SPDL_MAX_CONCURRENCY, DEFAULT_CONCURRENCY,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_QUEUE_SIZE,
      g_param_spec_uint ("queue-size", "Queue size",
          "Number of tasks that may wait in addition to those that run", 0,
          1 << 20, DEFAULT_QUEUE_SIZE, flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_OUTPUT_ORDER,
      g_param_spec_enum ("output-order", "Output order", "Order of the results",
          GST_TYPE_SPDL_OUTPUT_ORDER, DEFAULT_OUTPUT_ORDER,
          flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_THREAD_POOL,
      g_param_spec_string ("thread-pool", "Thread pool",
          "Thread pool as NAME:THREADS, shared by all stages of the process "
          "with that name; stages nearest the sink run first (unset = as many "
          "threads as concurrency, not shared)",
          NULL, flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_MAX_BYTES,
      g_param_spec_uint64 ("max-bytes", "Maximum bytes",
          "Maximum bytes of input that wait, are processed or await output; a "
          "larger task runs alone (0 = no limit)",
          0, G_MAXUINT64, 0, flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_MAX_FAILURES,
      g_param_spec_int ("max-failures", "Maximum failures",
          "Number of failed items to tolerate; one more ends the stream with "
          "an error (-1 = no limit)",
          -1, G_MAXINT, DEFAULT_MAX_FAILURES,
          flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_MAX_FAILURE_RATE,
      g_param_spec_double ("max-failure-rate", "Maximum failure rate",
          "Share of an epoch's items that may fail, checked from the 100th "
          "item on; a larger share ends the stream with an error (1 = no "
          "limit)",
          0.0, 1.0, DEFAULT_MAX_FAILURE_RATE,
          flags | GST_PARAM_MUTABLE_PLAYING));
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
}

static void
gst_spdl_stage_class_init (gpointer klass, gpointer data)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  g_type_class_adjust_private_offset (klass, &private_offset);
  GST_DEBUG_CATEGORY_INIT (
      gst_spdl_stage_debug, "spdlstage", 0, "Stages of gst-spdl");

  object_class->set_property = gst_spdl_stage_set_property;
  object_class->get_property = gst_spdl_stage_get_property;
  object_class->finalize = gst_spdl_stage_finalize;
  element_class->change_state = gst_spdl_stage_change_state;
  element_class->post_message = gst_spdl_stage_post_message;
  install_properties (object_class);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_STAGE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_OUTPUT_ORDER, 0);
}

static void
gst_spdl_stage_init (GTypeInstance *instance, gpointer klass)
{
  GstSpdlStage *self = (GstSpdlStage *) instance;
  GstSpdlStagePrivate *priv = g_new0 (GstSpdlStagePrivate, 1);

  *(GstSpdlStagePrivate **) G_STRUCT_MEMBER_P (self, private_offset) = priv;
  priv->concurrency = priv->current = DEFAULT_CONCURRENCY;
  priv->queue_size = DEFAULT_QUEUE_SIZE;
  priv->output_order = DEFAULT_OUTPUT_ORDER;
  priv->max_failures = DEFAULT_MAX_FAILURES;
  priv->max_failure_rate = DEFAULT_MAX_FAILURE_RATE;
  priv->cancellable = g_cancellable_new ();
  spdl_mutex_init (&priv->lock);
  spdl_mutex_init (&priv->tuning_lock);
  spdl_executor_init (&priv->executor, &gst_spdl_stage_executor_funcs, self);
  gst_spdl_reporter_init (
      &priv->reporter, GST_ELEMENT (self), take_figures, priv);
  gst_spdl_stage_apply_limits (self);
  gst_spdl_stage_init_pads (self, klass);
}
