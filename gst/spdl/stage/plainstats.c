/* gst-spdl: statistics of elements, and their periodic messages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/plainstats.h"

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
