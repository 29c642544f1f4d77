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

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/stage/stage-private.h"

GST_DEBUG_CATEGORY (gst_spdl_stage_debug);
#define GST_CAT_DEFAULT gst_spdl_stage_debug

#define STATS_FIELDS                                                        \
  (GST_SPDL_FIELDS_TASKS | GST_SPDL_FIELDS_FAILURES | GST_SPDL_FIELDS_PUT | \
      GST_SPDL_FIELDS_GET | GST_SPDL_FIELDS_OCCUPANCY | GST_SPDL_FIELDS_PUSH)

static void gst_spdl_stage_class_init (gpointer klass, gpointer data);
static void gst_spdl_stage_init (GTypeInstance *instance, gpointer klass);

static gpointer parent_class = NULL;
gint gst_spdl_stage_private_offset = 0;

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

    gst_spdl_stage_private_offset =
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

/* Properties */

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (GstSpdlStagePrivate, queue_size, PLAYING, "queue-size",
      "Queue size",
      "Number of tasks that may wait in addition to those that run", 0, 1 << 20,
      2),
  SPDL_PROPERTY_ENUM (GstSpdlStagePrivate, output_order, READY, "output-order",
      "Output order", "Order of the results", gst_spdl_output_order_get_type,
      GST_SPDL_OUTPUT_ORDER_COMPLETION),
  SPDL_PROPERTY_STRING (GstSpdlStagePrivate, thread_pool, READY, "thread-pool",
      "Thread pool",
      "Thread pool as NAME:THREADS, shared by all stages of the process with "
      "that name; stages nearest the sink run first (unset = as many threads "
      "as concurrency, not shared)",
      NULL),
  SPDL_PROPERTY_UINT64 (GstSpdlStagePrivate, max_bytes, PLAYING, "max-bytes",
      "Maximum bytes",
      "Maximum bytes of input that wait, are processed or await output; a "
      "larger task runs alone (0 = no limit)",
      0, G_MAXUINT64, 0),
  SPDL_PROPERTY_INT (GstSpdlStagePrivate, max_failures, PLAYING, "max-failures",
      "Maximum failures",
      "Number of failed items to tolerate; one more ends the stream with an "
      "error (-1 = no limit)",
      -1, G_MAXINT, -1),
  SPDL_PROPERTY_DOUBLE (GstSpdlStagePrivate, max_failure_rate, PLAYING,
      "max-failure-rate", "Maximum failure rate",
      "Share of an epoch's items that may fail, checked from the 100th item "
      "on; "
      "a larger share ends the stream with an error (1 = no limit)",
      0.0, 1.0, 0.5),
  SPDL_PROPERTY_END
};

enum {
  PROP_0,
  PROP_CONCURRENCY,
  PROP_CURRENT_CONCURRENCY,
  PROP_SETTINGS, /* first property of the table */
  PROP_STATS_INTERVAL = PROP_SETTINGS + G_N_ELEMENTS (properties) - 1,
  PROP_STAGE_STATS,
};

/* Statistics */

static GstStructure *
take_figures (GstElement *element, gboolean interval, gpointer user_data)
{
  GstSpdlStagePrivate *priv = user_data;
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (element);
  SpdlMeterStats stats;
  GstStructure *s;
  const guint concurrency = spdl_executor_get_concurrency (&priv->executor);
  const guint max = g_atomic_int_get (&priv->max_concurrency);
  gboolean in_order, automatic;
  guint queue_size;

  spdl_executor_take_figures (&priv->executor, interval, &stats);
  GST_OBJECT_LOCK (element);
  automatic = priv->concurrency == 0;
  queue_size = priv->queue_size;
  in_order = priv->output_order == GST_SPDL_OUTPUT_ORDER_INPUT;
  GST_OBJECT_UNLOCK (element);
  s = gst_spdl_figures_to_structure (&stats, element, STATS_FIELDS);
  gst_structure_set (s, "concurrency", G_TYPE_UINT, concurrency,
      "max-concurrency", G_TYPE_UINT, MAX (max, concurrency), "queue-size",
      G_TYPE_UINT, queue_size, "output-order", G_TYPE_STRING,
      in_order ? "input" : "completion", NULL);
  if (automatic)
    gst_structure_set (s, "automatic", G_TYPE_BOOLEAN, TRUE, NULL);
  if (g_atomic_int_get (&priv->throttled))
    gst_structure_set (s, "throttled", G_TYPE_BOOLEAN, TRUE, NULL);
  if (klass->add_stats)
    klass->add_stats (GST_SPDL_STAGE (element), interval, s);
  return s;
}

/* Applies the limits of the queue to the executor. */
static void
apply_limits (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  guint queue_size;
  guint64 max_bytes;

  GST_OBJECT_LOCK (self);
  queue_size = priv->queue_size;
  max_bytes = priv->max_bytes;
  GST_OBJECT_UNLOCK (self);
  spdl_executor_set_limits (&priv->executor, queue_size, max_bytes);
}

static void
gst_spdl_stage_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlStage *self = GST_SPDL_STAGE (object);
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  switch (id) {
    case PROP_CONCURRENCY:
      gst_spdl_stage_set_concurrency (self, g_value_get_uint (value));
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_reporter_set_interval (
          &priv->reporter, g_value_get_uint64 (value));
      break;
    default:
      gst_spdl_property_table_set (
          properties, priv, id - PROP_SETTINGS, value, object, pspec);
      apply_limits (self);
      break;
  }
}

static void
gst_spdl_stage_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlStagePrivate *priv =
      gst_spdl_stage_get_private (GST_SPDL_STAGE (object));

  switch (id) {
    case PROP_CONCURRENCY:
      GST_OBJECT_LOCK (object);
      g_value_set_uint (value, priv->concurrency);
      GST_OBJECT_UNLOCK (object);
      break;
    case PROP_CURRENT_CONCURRENCY:
      g_value_set_uint (value, spdl_executor_get_concurrency (&priv->executor));
      break;
    case PROP_STATS_INTERVAL:
      g_value_set_uint64 (
          value, gst_spdl_reporter_get_interval (&priv->reporter));
      break;
    case PROP_STAGE_STATS:
      g_value_take_boxed (
          value, take_figures (GST_ELEMENT (object), FALSE, priv));
      break;
    default:
      gst_spdl_property_table_get (
          properties, priv, id - PROP_SETTINGS, value, object, pspec);
      break;
  }
}

/* Has a function do the work */

static void
clear_begin (GstSpdlStagePrivate *priv)
{
  if (priv->begin)
    priv->begin_destroy (priv->begin_data);
  priv->begin = NULL;
}

void
gst_spdl_stage_set_begin (GstSpdlStage *stage, SpdlBeginFunc begin,
    gpointer user_data, GDestroyNotify destroy)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (stage);

  clear_begin (priv);
  priv->begin = begin;
  priv->begin_data = user_data;
  priv->begin_destroy = destroy;
  gst_spdl_stage_default_concurrency (stage, 0);
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

  pool = pool_name ? get_shared_pool (pool_name, error) : spdl_pool_new ();
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
  gst_spdl_task_store_clear (&priv->entries);
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
  clear_begin (priv);
  g_object_unref (priv->cancellable);
  gst_spdl_property_table_clear (properties, priv);
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
  g_object_class_install_property (object_class, PROP_CONCURRENCY,
      g_param_spec_uint ("concurrency", "Concurrency",
          "Number of tasks that run at the same time (0 = automatic, adjusted "
          "while playing)",
          0, GST_SPDL_MAX_CONCURRENCY, GST_SPDL_DEFAULT_CONCURRENCY,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_CURRENT_CONCURRENCY,
      g_param_spec_uint ("current-concurrency", "Current concurrency",
          "Number of tasks that may run at the same time now: concurrency, or "
          "the adjusted number",
          1, GST_SPDL_MAX_CONCURRENCY, GST_SPDL_DEFAULT_CONCURRENCY,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
}

SpdlPool *
gst_spdl_stage_find_pool (GstPad *sinkpad)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (sinkpad);
  g_autoptr (GstElement) element =
      peer ? gst_pad_get_parent_element (peer) : NULL;
  g_autoptr (GstPad) next = NULL;

  if (!element)
    return NULL;
  if (GST_IS_SPDL_STAGE (element))
    return spdl_executor_ref_pool (
        &gst_spdl_stage_get_private (GST_SPDL_STAGE (element))->executor);
  GST_OBJECT_LOCK (element);
  if (element->numsinkpads == 1)
    next = gst_object_ref (element->sinkpads->data);
  GST_OBJECT_UNLOCK (element);
  return next ? gst_spdl_stage_find_pool (next) : NULL;
}

static void
gst_spdl_stage_class_init (gpointer klass, gpointer data)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  g_type_class_adjust_private_offset (klass, &gst_spdl_stage_private_offset);
  GST_DEBUG_CATEGORY_INIT (
      gst_spdl_stage_debug, "spdlstage", 0, "Stages of gst-spdl");

  object_class->set_property = gst_spdl_stage_set_property;
  object_class->get_property = gst_spdl_stage_get_property;
  object_class->finalize = gst_spdl_stage_finalize;
  element_class->change_state = gst_spdl_stage_change_state;
  element_class->post_message = gst_spdl_stage_post_message;
  install_properties (object_class);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_STAGE, 0);
}

static void
gst_spdl_stage_init (GTypeInstance *instance, gpointer klass)
{
  GstSpdlStage *self = (GstSpdlStage *) instance;
  GstSpdlStagePrivate *priv = g_new0 (GstSpdlStagePrivate, 1);

  *(GstSpdlStagePrivate **) G_STRUCT_MEMBER_P (
      self, gst_spdl_stage_private_offset) = priv;
  priv->concurrency = GST_SPDL_DEFAULT_CONCURRENCY;
  gst_spdl_property_table_init (properties, priv);
  priv->cancellable = g_cancellable_new ();
  spdl_mutex_init (&priv->lock);
  spdl_mutex_init (&priv->tuning_lock);
  spdl_executor_init (&priv->executor, &gst_spdl_stage_executor_funcs, self);
  gst_spdl_reporter_init (
      &priv->reporter, GST_ELEMENT (self), take_figures, priv);
  apply_limits (self);
  gst_spdl_stage_init_pads (self, klass);
}
