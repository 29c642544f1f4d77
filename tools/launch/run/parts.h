/* gst-spdl-launch: elements of a pipeline, from source to sink
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
  gchar *name; /* as shown: its own, or `decode` for a spdldecode without */
  gboolean has_stats; /* it is one of ours */
  gboolean passive;   /* it only hands on, such as a queue */
  gboolean is_stage;  /* it has workers */
  guint64 given_step; /* ns that the trainer takes for a batch; 0: not known */
  GstStructure *interval; /* nullable: the last interval's figures */
  GstStructure *total; /* nullable: since the start; from parts_take_totals() */
} Part;

/* Returns: (transfer full) (element-type Part): the elements of @pipeline in
 * the order from source to sink. */
GPtrArray *parts_new (GstElement *pipeline);

/* By its shown name or by its own. */
Part *parts_find (GPtrArray *parts, const gchar *name);
Part *parts_find_element (GPtrArray *parts, GstObject *element);

/* Sets the intervals of their reports, in ns. */
void parts_set_interval (GPtrArray *parts, guint64 interval);
/* (transfer full): of a message, in which the stage is called as it is shown.
 */
GstStructure *part_copy_structure (const Part *part, const GstStructure *stats);
/* Keeps an interval's figures from a message. */
void part_take_interval (Part *part, const GstStructure *stats);
void parts_take_totals (GPtrArray *parts);

/* How many items the sources will send; 0: not known, or without end. */
guint64 parts_count_expected (GPtrArray *parts);
/* Lets the sources begin again and again. */
void parts_repeat (GPtrArray *parts);
/* "src, fetch, decode" */
gchar *parts_list_names (GPtrArray *parts);

/* What gst_spdl_diagnose() takes. (transfer container) with
 * parts_free_stats(). */
GList *parts_dup_stats (GPtrArray *parts, gboolean interval);
void parts_free_stats (GList *stats);

G_END_DECLS
