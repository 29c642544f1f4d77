/* gst-spdl-launch: list of the elements in a pipeline, and their settings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* An element of the pipeline. */
typedef struct {
  GstElement *element;
  gchar
      *name; /* display name: the element's name, or `decode` for spdldecode0 */
  gboolean has_stats; /* is a gst-spdl element with statistics */
  guint64 given_step; /* simulated training step in ns per batch; 0: unknown */
  GstStructure *interval; /* nullable: statistics of the last interval */
  GstStructure *total;    /* nullable: statistics since the start; set by
                             parts_take_totals() */
} Part;

/* Returns: (transfer full) (element-type Part): the elements of @pipeline,
 * ordered from source to sink */
GPtrArray *parts_new (GstElement *pipeline);

Part *parts_find_element (GPtrArray *parts, GstObject *element);

/* Sets the interval of statistics messages, in ns. */
void parts_set_interval (GPtrArray *parts, guint64 interval);
/* Returns: (transfer full): a copy of @stats with the display name */
GstStructure *part_copy_structure (const Part *part, const GstStructure *stats);
/* Stores the statistics of an interval, from a message. */
void part_take_interval (Part *part, const GstStructure *stats);
void parts_take_totals (GPtrArray *parts);

/* Returns the number of items that the sources will send; 0: unknown or
 * unlimited. */
guint64 parts_count_expected (GPtrArray *parts);
/* Makes the sources repeat the dataset endlessly. */
void parts_repeat (GPtrArray *parts);

/* Returns: (nullable): the statistics of the last interval if there are any and
 * @interval is set, else those since the start */
const GstStructure *part_get_stats (const Part *part, gboolean interval);

/* Applies a setting such as "decode.concurrency=4" to an element in @parts. */
gboolean setting_apply (const gchar *text, GPtrArray *parts, GError **error);

/* Splits a setting such as "decode.concurrency=1,2,4". Free the results with
 * g_free(). */
gboolean setting_split (const gchar *text, gchar **element, gchar **property,
    gchar **value, GError **error);

/* Returns the element with that display name or element name. The error lists
 * the available names. */
Part *
setting_find_element (const gchar *element, GPtrArray *parts, GError **error);

G_END_DECLS
