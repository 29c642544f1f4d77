/* gst-spdl-launch: results per setting, and recommendation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "tools/launch/modes/options.h"

G_BEGIN_DECLS

/* A combination of settings and its result. */
typedef struct {
  gchar *label;     /* "decode.concurrency=2 fetch.concurrency=4" */
  gchar **settings; /* the same settings as an array */
  double cost;      /* sum of the values */
  double rate;      /* mean items per second */
  guint n_runs;
  double cores;  /* mean number of busy cores */
  gchar *detail; /* text of the last column */
  gchar *error;  /* nullable: error that prevented the measurement */
} Point;

/* A rate below this fraction of the best counts as slower. */
#define POINTS_AS_GOOD 0.97

void point_free (gpointer point);

#define POINTS_NONE G_MAXUINT

/* These functions return the index of a point, or POINTS_NONE. */
guint points_best (GPtrArray *points);
/* Returns the cheapest point that is as good as the best. */
guint points_cheapest (GPtrArray *points);
/* Returns the point of diminishing returns: of the points for which no other is
 * both cheaper and faster, the one farthest above the line from the cheapest to
 * the best. */
guint points_knee (GPtrArray *points);

/* Measures a point again and returns its rate, 0 on failure, or a negative
 * value if the user interrupted it. */
typedef double (*PointsAgainFunc) (guint i, gpointer user_data);

/* Finds the cheapest point that is as good as the best, measuring candidates at
 * least twice, so that a lucky run is corrected. Returns POINTS_NONE if
 * interrupted. */
guint
points_confirm (GPtrArray *points, PointsAgainFunc again, gpointer user_data);

/* Appends a sentence about the knee if it differs from the best point. */
void points_append_knee (GString *text, GPtrArray *points);

/* "--set a.b=1 --set c.d=2" */
gchar *points_format_settings (const Point *point);

/* Formats a row with a bar per point. */
gchar *
points_format (GPtrArray *points, const gchar *detail_title, guint width);

/* Result of a series of runs. */
typedef struct {
  const gchar *title;        /* title of the report */
  const gchar *detail_title; /* title of the last column */
  gchar *table;              /* nullable: instead of one with a row per point */
  gchar *verdict;            /* sentence for the user */
  guint chosen;              /* recommended point, or POINTS_NONE */
  /* (nullable): adds members to the JSON output instead of the points. */
  void (*add) (JsonBuilder *b, gconstpointer user_data);
  gconstpointer user_data;
} Conclusion;

/* Prints the result and writes the requested files. Returns the exit status. */
int conclude (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error);

G_END_DECLS
