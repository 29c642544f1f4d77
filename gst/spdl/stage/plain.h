/* gst-spdl: statistics of elements, and a base for simple ones
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/meter.h"
#include "gst/spdl/engine/sync.h"
#include "gst/spdl/stage/failure.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Posts `spdl-stage-stats` for an element after each interval, from the thread
 * of the system clock so that a stalled element is reported too, and at the
 * end. It reads the statistics from the element. */

typedef struct _GstSpdlReporter GstSpdlReporter;

/* Returns: (transfer full): the message's structure. Ends the interval if
 * @interval. */
typedef GstStructure *(*GstSpdlReporterFunc) (
    GstElement *element, gboolean interval, gpointer user_data);

struct _GstSpdlReporter {
  GstElement *element; /* not owned: the reporter is part of it */
  GstSpdlReporterFunc func;
  gpointer user_data;
  SpdlMutex lock;
  guint64 interval; /* ns, 0: none */
  gboolean running;
  GstClockID timer;
};

/* Groups of fields in the statistics of an element. */
typedef enum {
  GST_SPDL_FIELDS_TASKS = 1 << 0,
  GST_SPDL_FIELDS_PUT = 1 << 1,
  GST_SPDL_FIELDS_GET = 1 << 2,
  GST_SPDL_FIELDS_OCCUPANCY = 1 << 3,
  GST_SPDL_FIELDS_BATCHES = 1 << 4,
  GST_SPDL_FIELDS_LATENCY = 1 << 5,
  GST_SPDL_FIELDS_FAILURES = 1 << 6,
  GST_SPDL_FIELDS_UNPOOLED = 1 << 7,
  GST_SPDL_FIELDS_PUSH = 1 << 8,
  GST_SPDL_FIELDS_STEP = 1 << 9,
  GST_SPDL_FIELDS_CACHED = 1 << 10,
  GST_SPDL_FIELDS_WORKERS = 1 << 11,
} GstSpdlFields;

void gst_spdl_reporter_init (GstSpdlReporter *self, GstElement *element,
    GstSpdlReporterFunc func, gpointer user_data);
void gst_spdl_reporter_clear (GstSpdlReporter *self);

/* Starts to report intervals. No effect if it has already started. */
void gst_spdl_reporter_start (GstSpdlReporter *self);

/* Posts the final report, once per start. No interval is reported afterwards.
 */
void gst_spdl_reporter_finish (GstSpdlReporter *self);

/* Sets the interval in ns, with immediate effect. */
void gst_spdl_reporter_set_interval (GstSpdlReporter *self, guint64 interval);

guint64 gst_spdl_reporter_get_interval (GstSpdlReporter *self);

GstStructure *gst_spdl_figures_to_structure (
    const SpdlMeterStats *stats, GstElement *element, GstSpdlFields fields);

/* Installs `stats-interval` and `stage-stats` as @first_id and the next id. */
void
gst_spdl_install_stats_properties (GObjectClass *object_class, guint first_id);

/* Elements that are not stages */

/* Statistics of an element without an engine: a meter with its own lock, and a
 * reporter. */

typedef struct _GstSpdlPlainStats GstSpdlPlainStats;
struct _GstSpdlPlainStats {
  SpdlMutex lock;
  SpdlMeter meter; /* guarded by the lock */
  GstSpdlFields fields;
  GstSpdlReporter reporter;
  /* (nullable): adds fields that only this element has, for the interval that
   * ends or since the start. Called without the lock. */
  void (*add_figures) (
      GstElement *element, const SpdlMeterStats *stats, GstStructure *s);
};

/* Creates statistics. @element: the element, which outlives them */
GstSpdlPlainStats *
gst_spdl_plain_stats_new (GstElement *element, GstSpdlFields fields);
void gst_spdl_plain_stats_free (GstSpdlPlainStats *self);

/* Starts at READY to PAUSED: counts from 0 and reports intervals. */
void gst_spdl_plain_stats_start (GstSpdlPlainStats *self);

/* Posts the final report once, at the end of the stream. */
void gst_spdl_plain_stats_finish (GstSpdlPlainStats *self);

/* Stops at PAUSED to READY: posts the final report if it was not posted, and
 * stops the clock. The statistics can still be read. */
void gst_spdl_plain_stats_stop (GstSpdlPlainStats *self);

/* Counts @n_items that passed. */
void gst_spdl_plain_stats_pass (
    GstSpdlPlainStats *self, guint n_items, gsize bytes_in, gsize bytes_out);

/* Implement the two properties that gst_spdl_install_stats_properties()
 * installs. */
void gst_spdl_plain_stats_set_interval (
    GstSpdlPlainStats *self, const GValue *value);
void gst_spdl_plain_stats_get_interval (GstSpdlPlainStats *self, GValue *value);
void gst_spdl_plain_stats_get_stats (GstSpdlPlainStats *self, GValue *value);

/* Base class of elements that work in the upstream thread: statistics with
 * their two properties, flushes and states, and pads from those of the
 * templates `sink` and `src` that the subclass has. */

#define GST_TYPE_SPDL_FILTER (gst_spdl_filter_get_type ())
#define GST_SPDL_FILTER(obj) ((GstSpdlFilter *) (obj))
#define GST_SPDL_FILTER_CLASS(klass) ((GstSpdlFilterClass *) (klass))
#define GST_SPDL_FILTER_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_SPDL_FILTER, GstSpdlFilterClass))

typedef struct {
  GstElement parent;

  GstPad *sinkpad; /* nullable */
  GstPad *srcpad;  /* nullable */
  GstSpdlPlainStats *stats;

  /* Of elements whose input is single items. Guarded by the stream lock. */
  GstSpdlLosses losses; /* of the epoch; the element counts its num_items */
  guint64 num_failures; /* since the start */
  guint64 next_number;  /* for items without a number */
  guint32 source;       /* of these items */
} GstSpdlFilter;

typedef struct {
  GstElementClass parent_class;

  GstSpdlFields fields;
  GstFlowReturn (*chain) (GstSpdlFilter *self, GstBuffer *buffer);
  /* Default: chain() for each of its buffers. */
  GstFlowReturn (*chain_list) (GstSpdlFilter *self, GstBufferList *list);
  /* Subclasses must chain up: the default reports at EOS and forwards the
   * event. */
  gboolean (*event) (GstSpdlFilter *self, GstEvent *event);
  /* Drops pending data, after a flush and at the end of a run. */
  void (*reset) (GstSpdlFilter *self);
  /* Begins a run, before pads are activated. An error is posted. */
  gboolean (*start) (GstSpdlFilter *self, GError **error);
  /* Ends a run, after reset(), also if pads could not be activated. */
  void (*stop) (GstSpdlFilter *self);
} GstSpdlFilterClass;

GType gst_spdl_filter_get_type (void);

/* Numbers the item @buffer (transfer full) if it has no meta, as of another
 * source than spdlsrc. Returns (transfer full). */
GstBuffer *gst_spdl_filter_ensure_item (GstSpdlFilter *self, GstBuffer *buffer);

/* Counts and posts a failure. The element announces that the item will not
 * come.
 *
 * Returns (transfer none): valid until the next failure or a flush */
GstSpdlFailure *gst_spdl_filter_report_failure (
    GstSpdlFilter *self, const GstSpdlItemMeta *item, const GError *error);

/* Reports the losses if @event ends an epoch or the stream. */
void gst_spdl_filter_sum_up_losses (GstSpdlFilter *self, GstEvent *event);

/* Makes the pads proxy each other's caps and allocations, for elements that
 * change no buffer. */
void gst_spdl_filter_set_proxy (GstSpdlFilter *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlFilter, gst_object_unref)

SPDL_END_PRIVATE_API
G_END_DECLS
