/* gst-spdl: statistics of elements, and a base for simple ones
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/plain.h"

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"
#include "gst/spdl/common/sourcenumber.h"
#include "gst/spdl/gstspdlevents.h"
#include "gst/spdl/stage/capsgate.h"

/* Reports */

#define STAGE_STATS "spdl-stage-stats"

void
gst_spdl_reporter_init (GstSpdlReporter *self, GstElement *element,
    GstSpdlReporterFunc func, gpointer user_data)
{
  self->element = element;
  self->func = func;
  self->user_data = user_data;
  self->interval = 0;
  self->running = FALSE;
  self->timer = NULL;
  spdl_mutex_init (&self->lock);
}

void
gst_spdl_reporter_clear (GstSpdlReporter *self)
{
  g_assert (self->timer == NULL);

  spdl_mutex_clear (&self->lock);
}

static void
post_stats (GstSpdlReporter *self, gboolean interval)
{
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT (self->element),
          self->func (self->element, interval, self->user_data)));
}

typedef struct {
  GstElement *element; /* owned, which keeps the reporter alive */
  GstSpdlReporter *reporter;
} Tick;

static void
tick_free (gpointer data)
{
  Tick *tick = data;

  gst_object_unref (tick->element);
  g_free (tick);
}

static gboolean
on_tick (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  Tick *tick = data;
  GstSpdlReporter *self = tick->reporter;
  gboolean current;

  /* A tick may still arrive after the timer was removed. */
  spdl_mutex_lock (&self->lock);
  current = self->timer == id;
  spdl_mutex_unlock (&self->lock);
  if (current)
    post_stats (self, TRUE);
  return TRUE;
}

/* Lock held. Starts the timer of the next interval. */
static void
start_timer (GstSpdlReporter *self)
{
  GstClock *clock;
  Tick *tick;

  if (!self->running || self->interval == 0)
    return;
  clock = gst_system_clock_obtain ();
  self->timer = gst_clock_new_periodic_id (
      clock, gst_clock_get_time (clock) + self->interval, self->interval);
  tick = g_new (Tick, 1);
  tick->element = gst_object_ref (self->element);
  tick->reporter = self;
  gst_clock_id_wait_async (self->timer, on_tick, tick, tick_free);
  gst_object_unref (clock);
}

/* Ends a timer. Called without the lock, because it may drop the last reference
 * to the element's tick. */
static void
end_timer (GstClockID timer)
{
  if (!timer)
    return;
  gst_clock_id_unschedule (timer);
  gst_clock_id_unref (timer);
}

void
gst_spdl_reporter_start (GstSpdlReporter *self)
{
  spdl_mutex_lock (&self->lock);
  if (!self->running) {
    self->running = TRUE;
    start_timer (self);
  }
  spdl_mutex_unlock (&self->lock);
}

void
gst_spdl_reporter_finish (GstSpdlReporter *self)
{
  gboolean was_running;
  GstClockID timer;

  spdl_mutex_lock (&self->lock);
  was_running = self->running;
  self->running = FALSE;
  timer = g_steal_pointer (&self->timer);
  spdl_mutex_unlock (&self->lock);

  end_timer (timer);
  if (was_running)
    post_stats (self, FALSE);
}

void
gst_spdl_reporter_set_interval (GstSpdlReporter *self, guint64 interval)
{
  GstClockID timer;

  spdl_mutex_lock (&self->lock);
  self->interval = interval;
  timer = g_steal_pointer (&self->timer);
  start_timer (self);
  spdl_mutex_unlock (&self->lock);

  end_timer (timer);
}

guint64
gst_spdl_reporter_get_interval (GstSpdlReporter *self)
{
  guint64 interval;

  spdl_mutex_lock (&self->lock);
  interval = self->interval;
  spdl_mutex_unlock (&self->lock);
  return interval;
}

static void
add_tasks (GstStructure *s, const SpdlMeterStats *f)
{
  gst_structure_set (s, "num-tasks", G_TYPE_UINT64, f->num_tasks,
      "num-filtered", G_TYPE_UINT64, f->num_filtered, "ave-time", G_TYPE_UINT64,
      f->ave_time, "p90-time", G_TYPE_UINT64, f->p90_time, "p99-time",
      G_TYPE_UINT64, f->p99_time, "cpu-time", G_TYPE_UINT64, f->cpu_time, NULL);
}

GstStructure *
gst_spdl_figures_to_structure (
    const SpdlMeterStats *f, GstElement *element, GstSpdlFields fields)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT (element));
  GstStructure *s = gst_structure_new (STAGE_STATS, "stage", G_TYPE_STRING,
      name, "interval", G_TYPE_BOOLEAN, f->interval, "elapsed", G_TYPE_UINT64,
      f->elapsed, "num-items", G_TYPE_UINT64, f->num_items, "qps",
      G_TYPE_DOUBLE, f->qps, "bytes-in", G_TYPE_UINT64, f->bytes_in,
      "bytes-out", G_TYPE_UINT64, f->bytes_out, NULL);

  if (fields & GST_SPDL_FIELDS_TASKS)
    add_tasks (s, f);
  if (fields & GST_SPDL_FIELDS_FAILURES)
    gst_structure_set (s, "num-failures", G_TYPE_UINT64, f->num_failures, NULL);
  if (fields & GST_SPDL_FIELDS_BATCHES)
    gst_structure_set (s, "num-batches", G_TYPE_UINT64, f->num_batches, NULL);
  if (fields & GST_SPDL_FIELDS_UNPOOLED)
    gst_structure_set (s, "num-unpooled", G_TYPE_UINT64, f->num_unpooled, NULL);
  if (fields & GST_SPDL_FIELDS_CACHED)
    gst_structure_set (s, "num-cached", G_TYPE_UINT64, f->num_cached, NULL);
  if (fields & GST_SPDL_FIELDS_WORKERS)
    gst_structure_set (s, "worker-time", G_TYPE_UINT64, f->worker_time,
        "worker-wait-time", G_TYPE_UINT64, f->worker_wait, NULL);
  if (fields & GST_SPDL_FIELDS_PUT)
    gst_structure_set (s, "ave-put-time", G_TYPE_UINT64, f->ave_put_time,
        "p90-put-time", G_TYPE_UINT64, f->p90_put_time, "p99-put-time",
        G_TYPE_UINT64, f->p99_put_time, NULL);
  if (fields & GST_SPDL_FIELDS_GET)
    gst_structure_set (s, "ave-get-time", G_TYPE_UINT64, f->ave_get_time,
        "p90-get-time", G_TYPE_UINT64, f->p90_get_time, "p99-get-time",
        G_TYPE_UINT64, f->p99_get_time, NULL);
  if (fields & GST_SPDL_FIELDS_STEP)
    gst_structure_set (s, "ave-step-time", G_TYPE_UINT64, f->ave_step_time,
        "p50-step-time", G_TYPE_UINT64, f->p50_step_time, "p99-step-time",
        G_TYPE_UINT64, f->p99_step_time, NULL);
  if (fields & GST_SPDL_FIELDS_OCCUPANCY)
    gst_structure_set (
        s, "occupancy-rate", G_TYPE_DOUBLE, f->occupancy_rate, NULL);
  if (fields & GST_SPDL_FIELDS_PUSH)
    gst_structure_set (s, "push-rate", G_TYPE_DOUBLE, f->push_rate, NULL);
  if (fields & GST_SPDL_FIELDS_LATENCY)
    gst_structure_set (s, "ave-latency", G_TYPE_UINT64, f->ave_latency,
        "p99-latency", G_TYPE_UINT64, f->p99_latency, NULL);
  return s;
}

void
gst_spdl_install_stats_properties (GObjectClass *object_class, guint first_id)
{
  g_object_class_install_property (object_class, first_id,
      g_param_spec_uint64 ("stats-interval", "Statistics interval",
          "Interval of spdl-stage-stats messages, in nanoseconds (0 = one "
          "message, at the end)",
          0, G_MAXUINT64, 0,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, first_id + 1,
      g_param_spec_boxed ("stage-stats", "Statistics",
          "Statistics of the element since its start, as in spdl-stage-stats; "
          "readable until the next start",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* Elements that are not stages */

static GstStructure *
make_snapshot (GstElement *element, gboolean interval, gpointer user_data)
{
  GstSpdlPlainStats *self = user_data;
  GstSpdlFields fields;
  SpdlMeterStats stats;
  GstStructure *s;
  guint64 now;

  spdl_mutex_lock (&self->lock);
  fields = self->fields;
  now = spdl_meter_now (&self->meter);
  spdl_meter_snapshot (&self->meter, interval, now, 0, &stats);
  if (interval)
    spdl_meter_end_interval (&self->meter, now, 0);
  spdl_mutex_unlock (&self->lock);

  s = gst_spdl_figures_to_structure (&stats, element, fields);
  if (self->add_figures)
    self->add_figures (element, &stats, s);
  return s;
}

GstSpdlPlainStats *
gst_spdl_plain_stats_new (GstElement *element, GstSpdlFields fields)
{
  GstSpdlPlainStats *self = g_new0 (GstSpdlPlainStats, 1);

  spdl_mutex_init (&self->lock);
  self->fields = fields;
  gst_spdl_reporter_init (&self->reporter, element, make_snapshot, self);
  return self;
}

void
gst_spdl_plain_stats_free (GstSpdlPlainStats *self)
{
  gst_spdl_reporter_clear (&self->reporter);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

void
gst_spdl_plain_stats_start (GstSpdlPlainStats *self)
{
  spdl_mutex_lock (&self->lock);
  self->meter.track =
      spdl_trace_get_track (GST_OBJECT_NAME (self->reporter.element));
  spdl_meter_start (&self->meter, NULL);
  spdl_mutex_unlock (&self->lock);
  gst_spdl_reporter_start (&self->reporter);
}

void
gst_spdl_plain_stats_finish (GstSpdlPlainStats *self)
{
  gst_spdl_reporter_finish (&self->reporter);
}

void
gst_spdl_plain_stats_stop (GstSpdlPlainStats *self)
{
  spdl_mutex_lock (&self->lock);
  spdl_meter_stop (&self->meter, spdl_meter_now (&self->meter));
  spdl_mutex_unlock (&self->lock);
  gst_spdl_reporter_finish (&self->reporter);
}

void
gst_spdl_plain_stats_pass (
    GstSpdlPlainStats *self, guint n_items, gsize bytes_in, gsize bytes_out)
{
  spdl_mutex_lock (&self->lock);
  self->meter.interval.items += n_items;
  self->meter.interval.bytes_in += bytes_in;
  self->meter.interval.bytes_out += bytes_out;
  spdl_mutex_unlock (&self->lock);
}

void
gst_spdl_plain_stats_set_interval (GstSpdlPlainStats *self, const GValue *value)
{
  gst_spdl_reporter_set_interval (&self->reporter, g_value_get_uint64 (value));
}

void
gst_spdl_plain_stats_get_interval (GstSpdlPlainStats *self, GValue *value)
{
  g_value_set_uint64 (value, gst_spdl_reporter_get_interval (&self->reporter));
}

void
gst_spdl_plain_stats_get_stats (GstSpdlPlainStats *self, GValue *value)
{
  g_value_take_boxed (
      value, make_snapshot (self->reporter.element, FALSE, self));
}

/* Base class */

enum {
  PROP_0,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

static void gst_spdl_filter_class_init (gpointer klass, gpointer data);
static void gst_spdl_filter_init (GTypeInstance *instance, gpointer klass);

static gpointer parent_class = NULL;

/* Registers the type by hand, like GstSpdlStage, because the initializer needs
 * the subclass for its templates. */
GType
gst_spdl_filter_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_type_register_static_simple (GST_TYPE_ELEMENT,
                   g_intern_static_string ("GstSpdlFilter"),
                   sizeof (GstSpdlFilterClass), gst_spdl_filter_class_init,
                   sizeof (GstSpdlFilter), gst_spdl_filter_init,
                   G_TYPE_FLAG_ABSTRACT));
  return type;
}

static GstFlowReturn
filter_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return GST_SPDL_FILTER_GET_CLASS (parent)->chain (
      GST_SPDL_FILTER (parent), buffer);
}

static GstFlowReturn
filter_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  return GST_SPDL_FILTER_GET_CLASS (parent)->chain_list (
      GST_SPDL_FILTER (parent), list);
}

static gboolean
steal_buffer (GstBuffer **buffer, guint i, gpointer user_data)
{
  GstBuffer ***next = user_data;

  *(*next)++ = g_steal_pointer (buffer);
  return TRUE;
}

/* Splits a list into its buffers. The list must not keep a reference to them,
 * because later elements could then change them only with a copy. */
static GstBuffer **
take_apart (GstBufferList *list, guint n)
{
  GstBuffer **buffers = g_new0 (GstBuffer *, n);
  GstBuffer **next = buffers;

  if (gst_buffer_list_is_writable (list)) {
    gst_buffer_list_foreach (list, steal_buffer, &next);
  } else {
    for (guint i = 0; i < n; i++)
      buffers[i] = gst_buffer_ref (gst_buffer_list_get (list, i));
  }
  gst_buffer_list_unref (list);
  return buffers;
}

static GstFlowReturn
chain_each (GstSpdlFilter *self, GstBufferList *list)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);
  /* Stealing empties the list, so its length is read first. */
  const guint n = gst_buffer_list_length (list);
  g_autofree GstBuffer **buffers = take_apart (list, n);
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n; i++) {
    if (ret == GST_FLOW_OK)
      ret = klass->chain (self, buffers[i]);
    else
      gst_buffer_unref (buffers[i]);
  }
  return ret;
}

static gboolean
pass_event (GstSpdlFilter *self, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_plain_stats_finish (self->stats);
  return gst_pad_push_event (self->srcpad, event);
}

static void
reset_data (GstSpdlFilter *self)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);

  gst_spdl_losses_reset (&self->losses);
  if (klass->reset)
    klass->reset (self);
}

static gboolean
filter_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (parent);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    reset_data (self);
  return GST_SPDL_FILTER_GET_CLASS (self)->event (self, event);
}

static void
gst_spdl_filter_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_set_interval (GST_SPDL_FILTER (object)->stats, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_filter_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (object);

  if (id == PROP_STATS_INTERVAL)
    gst_spdl_plain_stats_get_interval (self->stats, value);
  else if (id == PROP_STAGE_STATS)
    gst_spdl_plain_stats_get_stats (self->stats, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static gboolean
start_filter (GstSpdlFilter *self)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);
  g_autoptr (GError) error = NULL;

  self->num_failures = self->next_number = 0;
  if (klass->start && !klass->start (self, &error)) {
    gst_spdl_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  gst_spdl_plain_stats_start (self->stats);
  return TRUE;
}

static void
stop_filter (GstSpdlFilter *self)
{
  GstSpdlFilterClass *klass = GST_SPDL_FILTER_GET_CLASS (self);

  gst_spdl_plain_stats_stop (self->stats);
  reset_data (self);
  if (klass->stop)
    klass->stop (self);
}

static GstStateChangeReturn
gst_spdl_filter_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start_filter (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    stop_filter (self);
  return ret;
}

static void
gst_spdl_filter_finalize (GObject *object)
{
  gst_spdl_plain_stats_free (GST_SPDL_FILTER (object)->stats);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_spdl_filter_class_init (gpointer klass, gpointer data)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstSpdlFilterClass *filter_class = klass;

  parent_class = g_type_class_peek_parent (klass);
  object_class->set_property = gst_spdl_filter_set_property;
  object_class->get_property = gst_spdl_filter_get_property;
  object_class->finalize = gst_spdl_filter_finalize;
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);

  GST_ELEMENT_CLASS (klass)->change_state = gst_spdl_filter_change_state;
  filter_class->chain_list = chain_each;
  filter_class->event = pass_event;
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_FILTER, 0);
}

static void
gst_spdl_filter_init (GTypeInstance *instance, gpointer klass)
{
  GstSpdlFilter *self = GST_SPDL_FILTER (instance);
  GstElement *element = (GstElement *) instance;
  GstPadTemplate *templ;

  self->stats =
      gst_spdl_plain_stats_new (element, GST_SPDL_FILTER_CLASS (klass)->fields);

  if ((templ = gst_element_class_get_pad_template (klass, "sink"))) {
    self->sinkpad = gst_pad_new_from_template (templ, "sink");
    gst_pad_set_chain_function (self->sinkpad, filter_chain);
    gst_pad_set_chain_list_function (self->sinkpad, filter_chain_list);
    gst_pad_set_event_function (self->sinkpad, filter_sink_event);
    gst_element_add_pad (element, self->sinkpad);
  }
  if ((templ = gst_element_class_get_pad_template (klass, "src"))) {
    self->srcpad = gst_pad_new_from_template (templ, "src");
    gst_element_add_pad (element, self->srcpad);
  }
}

GstBuffer *
gst_spdl_filter_ensure_item (GstSpdlFilter *self, GstBuffer *buffer)
{
  if (gst_spdl_buffer_get_item_meta (buffer))
    return buffer;
  if (self->next_number == 0)
    self->source = spdl_source_number_get_other (GST_ELEMENT (self));
  return spdl_buffer_number_item (
      buffer, self->source, self->next_number++, gst_util_get_timestamp ());
}

GstSpdlFailure *
gst_spdl_filter_report_failure (
    GstSpdlFilter *self, const GstSpdlItemMeta *item, const GError *error)
{
  GstElement *element = GST_ELEMENT (self);
  GstSpdlFailure *failure;

  spdl_mutex_lock (&self->stats->lock);
  self->stats->meter.interval.failures++;
  spdl_mutex_unlock (&self->stats->lock);
  failure = gst_spdl_failure_new (element, item, error, ++self->num_failures);
  gst_spdl_failure_post (failure, element);
  gst_spdl_losses_add (&self->losses, element, failure);
  return failure;
}

void
gst_spdl_filter_sum_up_losses (GstSpdlFilter *self, GstEvent *event)
{
  guint64 epoch;

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_losses_end_stream (&self->losses, GST_ELEMENT (self));
  else if (gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL) &&
           !gst_spdl_event_is_partial_epoch (event))
    gst_spdl_losses_end_epoch (&self->losses, GST_ELEMENT (self), epoch);
}

void
gst_spdl_filter_set_proxy (GstSpdlFilter *self)
{
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  gst_spdl_pad_take_all_caps_events (self->sinkpad);
  GST_PAD_SET_PROXY_ALLOCATION (self->sinkpad);
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
}
