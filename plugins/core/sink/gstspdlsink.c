/* gst-spdl: spdlsink, where the trainer takes batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlsink
 * @title: spdlsink
 * @short_description: where the trainer takes batches
 *
 * A #GstAppSink, with all of its API, and with other defaults: it does not wait
 * for a clock (`sync`), keeps no last sample, and holds at most two batches
 * (`max-buffers`). It takes this project's events out of the stream, and
 * measures how long the trainer waits and how old items are when it takes them:
 * on the action signals `pull-sample` and `try-pull-sample`, since appsink's C
 * functions do not ask the subclass. Between two waits lies the trainer's step,
 * whose times (`ave-step-time`, `p50-step-time`, `p99-step-time`) are in the
 * statistics, too: a slow step after a short wait is no matter of loading more.
 *
 * #GstSpdlLoader takes batches by a way of its own, past appsink, on which ends
 * of epochs come, too. What is said here of the action signals is true of it.
 *
 * ## Where to begin again
 * The sink keeps count of the items that were delivered or will not come, from
 * the events of `spdlsrc` and the stages, and writes into each batch's
 * #GstSpdlBatchMeta.resume_state where to begin after it: in the order in which
 * batches are pulled, whatever overtook what on the way. A trainer stores the
 * state of the last batch that it has used; `spdlsrc resume-state` goes on from
 * there, with each other item once and none twice.
 *
 * `resume-state` is the state of the last batch that was pulled by the action
 * signals; before that, where the source began. With it count the items that
 * are known to be gone since, if no other batch has come yet, so that after the
 * last batch of an epoch it comes to stand at the beginning of the next. Where
 * items come singly, without `spdlbatch`, it is the only way to their states.
 *
 * ## Epochs without a batch
 * An epoch in which items were sent and all of them failed or were dropped ends
 * the stream with an error, which says how many were sent, what became of them
 * and in which element. It is no error where functions left all of them out,
 * where the source or this rank has no item, or where the epoch was resumed in
 * its middle.
 *
 * A sink that nobody pulls from fills and waits; a line for gst-launch-1.0 ends
 * in `fakesink`.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=2 ! spdlbatch size=2 ! spdlsink
 * ]|
 *
 * Since: 0.1
 */

#include "plugins/core/sink/sink-private.h"

#include "plugins/core/core.h"

enum {
  PROP_0,
  PROP_RESUME_STATE,
  PROP_MAX_GAPS,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

#define DEFAULT_MAX_GAPS 16384

G_DEFINE_FINAL_TYPE_WITH_CODE (GstSpdlSinkElement, gst_spdl_sink_element,
    GST_TYPE_APP_SINK,
    G_IMPLEMENT_INTERFACE (
        GST_TYPE_SPDL_OUTLET, gst_spdl_sink_element_outlet_init))
GST_ELEMENT_REGISTER_DEFINE (
    spdlsink, "spdlsink", GST_RANK_NONE, GST_TYPE_SPDL_SINK_ELEMENT)

static gboolean
gst_spdl_sink_element_start (GstBaseSink *sink)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (sink);

  self->n_waiting = 0;
  self->stats->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_PUT;
  gst_spdl_plain_stats_start (self->stats);
  spdl_mutex_lock (&self->tallies_lock);
  spdl_tallies_reset (&self->tallies);
  self->warned = FALSE;
  spdl_outcome_reset (&self->outcome);
  self->has_ended = FALSE;
  spdl_mutex_unlock (&self->tallies_lock);
  return GST_BASE_SINK_CLASS (gst_spdl_sink_element_parent_class)->start (sink);
}

static gboolean
gst_spdl_sink_element_stop (GstBaseSink *sink)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (sink);

  gst_spdl_plain_stats_stop (self->stats);
  spdl_arrivals_reset (&self->arrivals);
  gst_clear_caps (&self->caps);
  return GST_BASE_SINK_CLASS (gst_spdl_sink_element_parent_class)->stop (sink);
}

static void
gst_spdl_sink_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (object);

  switch (id) {
    case PROP_MAX_GAPS:
      spdl_mutex_lock (&self->tallies_lock);
      self->tallies.max_gaps = g_value_get_uint (value);
      spdl_mutex_unlock (&self->tallies_lock);
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_set_interval (self->stats, value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_sink_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (object);

  switch (id) {
    case PROP_RESUME_STATE:
      spdl_mutex_lock (&self->tallies_lock);
      g_value_take_string (value, spdl_tallies_dup_state (&self->tallies));
      spdl_mutex_unlock (&self->tallies_lock);
      break;
    case PROP_MAX_GAPS:
      spdl_mutex_lock (&self->tallies_lock);
      g_value_set_uint (value, self->tallies.max_gaps);
      spdl_mutex_unlock (&self->tallies_lock);
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_get_interval (self->stats, value);
      break;
    case PROP_STAGE_STATS:
      gst_spdl_plain_stats_get_stats (self->stats, value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_sink_element_finalize (GObject *object)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (object);

  gst_clear_caps (&self->caps);
  spdl_arrivals_clear (&self->arrivals);
  gst_spdl_plain_stats_free (self->stats);
  spdl_tallies_clear (&self->tallies);
  spdl_outcome_clear (&self->outcome);
  spdl_mutex_clear (&self->tallies_lock);
  G_OBJECT_CLASS (gst_spdl_sink_element_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_RESUME_STATE,
      g_param_spec_string ("resume-state", "Resume state",
          "Where to begin after the last batch that was pulled by the action "
          "signals",
          NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_MAX_GAPS,
      g_param_spec_uint ("max-gaps", "Maximal gaps",
          "With more gaps than these between the items of a source that are "
          "done, batches have no resume state",
          0, G_MAXUINT, DEFAULT_MAX_GAPS,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
}

static void
gst_spdl_sink_element_class_init (GstSpdlSinkElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseSinkClass *base_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_spdl_sink_element_set_property;
  object_class->get_property = gst_spdl_sink_element_get_property;
  object_class->finalize = gst_spdl_sink_element_finalize;
  install_properties (object_class);

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Trainer's sink", "Sink", "An appsink where a trainer takes batches",
      "the gst-spdl developers");
  base_class->start = gst_spdl_sink_element_start;
  base_class->stop = gst_spdl_sink_element_stop;
  gst_spdl_sink_element_init_intake (base_class);
  gst_spdl_sink_element_init_pulls (GST_APP_SINK_CLASS (klass));
}

static void
gst_spdl_sink_element_init (GstSpdlSinkElement *self)
{
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self), 0);
  spdl_arrivals_init (&self->arrivals);
  spdl_mutex_init (&self->tallies_lock);
  spdl_tallies_init (&self->tallies);
  spdl_outcome_init (&self->outcome);
  self->tallies.max_gaps = DEFAULT_MAX_GAPS;
  g_object_set (
      self, "sync", FALSE, "enable-last-sample", FALSE, "max-buffers", 2, NULL);
}
