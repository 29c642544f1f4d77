/* gst-spdl: statistics of elements that are not stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/stage/reporter.h"

G_BEGIN_DECLS

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
SPDL_PRIVATE_API
GstSpdlPlainStats *
gst_spdl_plain_stats_new (GstElement *element, GstSpdlFields fields);
SPDL_PRIVATE_API
void gst_spdl_plain_stats_free (GstSpdlPlainStats *self);

/* Starts at READY to PAUSED: counts from 0 and reports intervals. */
SPDL_PRIVATE_API
void gst_spdl_plain_stats_start (GstSpdlPlainStats *self);

/* Posts the final report once, at the end of the stream. */
SPDL_PRIVATE_API
void gst_spdl_plain_stats_finish (GstSpdlPlainStats *self);

/* Stops at PAUSED to READY: posts the final report if it was not posted, and
 * stops the clock. The statistics can still be read. */
SPDL_PRIVATE_API
void gst_spdl_plain_stats_stop (GstSpdlPlainStats *self);

/* Counts @n_items that passed. */
SPDL_PRIVATE_API
void gst_spdl_plain_stats_pass (
    GstSpdlPlainStats *self, guint n_items, gsize bytes_in, gsize bytes_out);

/* Implement the two properties that gst_spdl_install_stats_properties()
 * installs. */
SPDL_PRIVATE_API
void gst_spdl_plain_stats_set_interval (
    GstSpdlPlainStats *self, const GValue *value);
SPDL_PRIVATE_API
void gst_spdl_plain_stats_get_interval (GstSpdlPlainStats *self, GValue *value);
SPDL_PRIVATE_API
void gst_spdl_plain_stats_get_stats (GstSpdlPlainStats *self, GValue *value);

G_END_DECLS
