/* gst-spdl-launch: measured settings, and the choice among them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "tools/launch/modes/options.h"

G_BEGIN_DECLS

/* A setting and what came of it. */
typedef struct {
  gchar *label;     /* "decode.concurrency=2 fetch.concurrency=4" */
  gchar **settings; /* the same one by one */
  double cost;      /* how much of everything it asks for */
  double rate;      /* items a second, the mean of its runs */
  guint n_runs;
  double cores;  /* busy */
  gchar *detail; /* the rest of its row */
  gchar *error;  /* nullable: why there is no rate */
} Point;

/* Below this share of the best, a setting is slower. */
#define POINTS_AS_GOOD 0.97

void point_free (gpointer point);

#define POINTS_NONE G_MAXUINT

/* All return the index of a point, or POINTS_NONE. */
guint points_best (GPtrArray *points);
/* The cheapest of those that are as good as the best. */
guint points_cheapest (GPtrArray *points);
/* Where more cost begins to bring little: the point that is farthest above the
 * line from the cheapest to the best of those that nothing beats. */
guint points_knee (GPtrArray *points);

/* Measures a point once more and returns its rate: 0 if that fails, less if
 * the user wants no more. */
typedef double (*PointsAgainFunc) (guint i, gpointer user_data);

/* The cheapest that is as good as the best, where both have been measured at
 * least twice: who was lucky once falls back. POINTS_NONE after a stop. */
guint
points_confirm (GPtrArray *points, PointsAgainFunc again, gpointer user_data);

/* Where the knee is, if the best is not there. */
void points_append_knee (GString *text, GPtrArray *points);

/* "--set a.b=1 --set c.d=2" */
gchar *points_format_settings (const Point *point);

/* A row each, with a bar for the rate. */
gchar *
points_format (GPtrArray *points, const gchar *detail_title, guint width);

/* @verdict: a sentence. @marked: the point that it is about. */
gboolean points_write_report (GPtrArray *points, const gchar *file,
    const gchar *title, const gchar *description, const gchar *verdict,
    guint marked, GError **error);

/* What a run of several settings found. */
typedef struct {
  const gchar *title;        /* of its report */
  const gchar *detail_title; /* of its table's last column */
  const gchar *verdict;      /* a sentence */
  guint chosen;              /* the point to take, or POINTS_NONE */
} Conclusion;

/* Prints it, and writes the files that were asked for. Returns the exit
 * status. */
int conclude (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error);

G_END_DECLS
