/* gst-spdl-launch: settings that were measured, and which of them to take
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/points.h"

#include "tools/launch/run/frame.h"
#include "tools/launch/views/table.h"

#include <math.h>
#include <string.h>

#define MAX_AGAIN 8 /* runs to confirm what is recommended */

void
point_free (gpointer data)
{
  Point *point = data;

  g_free (point->label);
  g_strfreev (point->settings);
  g_free (point->detail);
  g_free (point->error);
  g_free (point);
}

static const Point *
get (GPtrArray *points, guint i)
{
  return g_ptr_array_index (points, i);
}

static gboolean
is_candidate (const Point *point, guint min_runs)
{
  return !point->error && point->rate > 0 && point->n_runs >= min_runs;
}

static guint
find_best (GPtrArray *points, guint min_runs)
{
  guint best = POINTS_NONE;

  for (guint i = 0; i < points->len; i++)
    if (is_candidate (get (points, i), min_runs) &&
        (best == POINTS_NONE ||
            get (points, i)->rate > get (points, best)->rate))
      best = i;
  return best;
}

/* By cost, then by the cores that are busy. */
static gboolean
is_cheaper (const Point *a, const Point *b)
{
  return a->cost < b->cost || (a->cost == b->cost && a->cores < b->cores);
}

static guint
find_cheapest (GPtrArray *points, guint min_runs)
{
  const guint best = find_best (points, min_runs);
  guint found = best;

  for (guint i = 0; i < points->len && best != POINTS_NONE; i++)
    if (is_candidate (get (points, i), min_runs) &&
        get (points, i)->rate >= POINTS_AS_GOOD * get (points, best)->rate &&
        is_cheaper (get (points, i), get (points, found)))
      found = i;
  return found;
}

guint
points_best (GPtrArray *points)
{
  return find_best (points, 1);
}

guint
points_cheapest (GPtrArray *points)
{
  return find_cheapest (points, 1);
}

/* Runs on average. */
static void
add_run (Point *point, double rate)
{
  point->rate = (point->rate * point->n_runs + rate) / (point->n_runs + 1);
  point->n_runs++;
}

guint
points_confirm (GPtrArray *points, PointsAgainFunc again, gpointer user_data)
{
  for (guint i = 0; i < MAX_AGAIN; i++) {
    const guint best = points_best (points);
    const guint cheapest = points_cheapest (points);
    guint next = cheapest;
    double rate;

    if (best == POINTS_NONE)
      return POINTS_NONE;
    if (get (points, next)->n_runs >= 2)
      next = best;
    if (get (points, next)->n_runs >= 2)
      return cheapest;
    rate = again (next, user_data);
    if (rate < 0)
      return POINTS_NONE;
    add_run (g_ptr_array_index (points, next), rate);
  }
  return find_cheapest (points, 2);
}

/* Whether no other is both cheaper and faster. */
static gboolean
is_unbeaten (GPtrArray *points, guint k)
{
  for (guint i = 0; i < points->len; i++)
    if (i != k && !get (points, i)->error &&
        get (points, i)->cost <= get (points, k)->cost &&
        get (points, i)->rate > get (points, k)->rate)
      return FALSE;
  return !get (points, k)->error;
}

guint
points_knee (GPtrArray *points)
{
  const guint best = points_best (points);
  guint first = POINTS_NONE, knee = POINTS_NONE;
  double highest = 0.05;

  for (guint i = 0; i < points->len; i++)
    if (is_unbeaten (points, i) &&
        (first == POINTS_NONE ||
            get (points, i)->cost < get (points, first)->cost))
      first = i;
  if (first == POINTS_NONE || first == best)
    return best;

  const Point *low = get (points, first), *high = get (points, best);
  for (guint i = 0; i < points->len; i++) {
    const Point *point = get (points, i);

    if (!is_unbeaten (points, i) || point->cost > high->cost)
      continue;
    const double above = (point->rate - low->rate) / (high->rate - low->rate) -
                         (point->cost - low->cost) / (high->cost - low->cost);
    if (above > highest) {
      highest = above;
      knee = i;
    }
  }
  return knee;
}

/* Columns of a row beside label, bar and detail. */
#define OTHER_COLUMNS 20
#define MIN_BAR 4
#define MAX_BAR 30
#define MIN_DETAIL 14

typedef struct {
  guint label, bar, detail;
  gboolean broken; /* labels stand on lines of their own */
} Layout;

/* A label tells one row from the next: it is never cut off for the rest. */
static Layout
lay_out (GPtrArray *points, guint detail, guint width)
{
  Layout layout = { .label = 8, .detail = detail };
  guint least, left;

  for (guint i = 0; i < points->len; i++) {
    const Point *point = get (points, i);

    layout.label = MAX (layout.label, g_utf8_strlen (point->label, -1));
    if (point->detail)
      layout.detail = MAX (layout.detail, g_utf8_strlen (point->detail, -1));
  }
  least = OTHER_COLUMNS + MIN_BAR + MIN (layout.detail, MIN_DETAIL);
  layout.broken = layout.label + least > width;
  if (layout.broken)
    layout.label = 8;
  left = width - MIN (OTHER_COLUMNS + layout.label, width);
  layout.detail = MIN (layout.detail, MAX (left, MIN_BAR) - MIN_BAR);
  layout.bar = CLAMP (left - MIN (left, layout.detail), MIN_BAR, MAX_BAR);
  return layout;
}

static void
append_row (GString *out, const Point *point, double most, const Layout *layout)
{
  g_autofree gchar *label =
      text_fit (layout->broken ? "" : point->label, layout->label);
  g_autofree gchar *rate = format_rate (point->rate);
  g_autofree gchar *bar = text_bar (point->rate / most, layout->bar);
  g_autofree gchar *detail = NULL;

  if (layout->broken)
    g_string_append_printf (out, "%s\n", point->label);
  if (point->error) {
    g_string_append_printf (out, "%s  %s\n", label, point->error);
    return;
  }
  detail = text_fit (point->detail, layout->detail);
  g_strchomp (detail);
  g_string_append_printf (
      out, "%s %8s  %s  %5.1f  %s\n", label, rate, bar, point->cores, detail);
}

gchar *
points_format (GPtrArray *points, const gchar *detail_title, guint width)
{
  const guint best = points_best (points);
  const double most = best == POINTS_NONE ? 1 : get (points, best)->rate;
  const Layout layout =
      lay_out (points, g_utf8_strlen (detail_title, -1), width);
  g_autofree gchar *title = text_fit ("setting", layout.label);
  g_autofree gchar *detail = text_fit (detail_title, layout.detail);
  GString *out = g_string_new (NULL);

  g_strchomp (detail);
  g_string_append_printf (out, "%s  items/s  %*s  cores  %s\n", title,
      (int) layout.bar, "", detail);
  for (guint i = 0; i < points->len; i++)
    append_row (out, get (points, i), most, &layout);
  return g_string_free (out, FALSE);
}

gchar *
points_format_settings (const Point *point)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; point->settings[i]; i++) {
    const gchar *setting = point->settings[i];
    g_autofree gchar *quoted = strpbrk (setting, " \t'\"$`\\!();&|<>*?")
                                   ? g_shell_quote (setting)
                                   : g_strdup (setting);

    g_string_append_printf (text, "%s--set %s", i > 0 ? " " : "", quoted);
  }
  return g_string_free (text, FALSE);
}

void
points_append_knee (GString *text, GPtrArray *points)
{
  const guint knee = points_knee (points);
  g_autofree gchar *rate = NULL;

  if (knee == POINTS_NONE || knee == points_best (points))
    return;
  rate = format_rate (get (points, knee)->rate);
  g_string_append_printf (text,
      "; the knee, from where on more brings less, is %s with %s",
      get (points, knee)->label, rate);
}
