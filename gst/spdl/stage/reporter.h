/* gst-spdl: periodic statistics messages of an element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/meter.h"
#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

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
} GstSpdlFields;

SPDL_PRIVATE_API
void gst_spdl_reporter_init (GstSpdlReporter *self, GstElement *element,
    GstSpdlReporterFunc func, gpointer user_data);
SPDL_PRIVATE_API
void gst_spdl_reporter_clear (GstSpdlReporter *self);

/* Starts to report intervals. No effect if it has already started. */
SPDL_PRIVATE_API
void gst_spdl_reporter_start (GstSpdlReporter *self);

/* Posts the final report, once per start. No interval is reported afterwards.
 */
SPDL_PRIVATE_API
void gst_spdl_reporter_finish (GstSpdlReporter *self);

/* Sets the interval in ns, with immediate effect. */
SPDL_PRIVATE_API
void gst_spdl_reporter_set_interval (GstSpdlReporter *self, guint64 interval);

SPDL_PRIVATE_API
guint64 gst_spdl_reporter_get_interval (GstSpdlReporter *self);

SPDL_PRIVATE_API
GstStructure *gst_spdl_figures_to_structure (
    const SpdlMeterStats *stats, GstElement *element, GstSpdlFields fields);

/* Installs `stats-interval` and `stage-stats` as @first_id and the next id. */
SPDL_PRIVATE_API
void
gst_spdl_install_stats_properties (GObjectClass *object_class, guint first_id);

G_END_DECLS
