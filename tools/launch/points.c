/* gst-spdl-launch: settings that were measured, and which of them to take
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "points.h"

#include "frame.h"
#include "table.h"

#include <math.h>

#define MAX_AGAIN 3 /* candidates that are measured again */

void
point_free (gpointer data)
{
  Point *point = data;

  g_free (point->label);
  g_free (point->detail);
  g_free (point->error);
  g_free (point);
}

static const Point *
get (GPtrArray *points, guint i)
{
  return g_ptr_array_index (points, i);
}

guint
points_best (GPtrArray *points)
{
  guint best = POINTS_NONE;

  for (guint i = 0; i < points->len; i++)
    if (!get (points, i)->error && get (points, i)->rate > 0 &&
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

guint
points_cheapest (GPtrArray *points, guint but)
{
  const guint best = points_best (points);
  guint found = best;

  if (best == POINTS_NONE)
    return POINTS_NONE;
  for (guint i = 0; i < points->len; i++) {
    const Point *point = get (points, i);

    if (point->error || point->rate < POINTS_AS_GOOD * get (points, best)->rate)
      continue;
    if (but != POINTS_NONE &&
        (i == but || is_cheaper (point, get (points, but))))
      continue;
    if (is_cheaper (point, get (points, found)))
      found = i;
  }
  return found;
}

guint
points_confirm (GPtrArray *points, PointsAgainFunc again, gpointer user_data)
{
  const guint best = points_best (points);
  guint candidate = points_cheapest (points, POINTS_NONE);

  for (guint i = 0; i < MAX_AGAIN && candidate != best; i++) {
    const double rate = again (candidate, user_data);

    if (rate >= POINTS_AS_GOOD * again (best, user_data))
      return candidate;
    candidate = points_cheapest (points, candidate);
  }
  return best;
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

static guint
longest_label (GPtrArray *points)
{
  guint longest = 8;

  for (guint i = 0; i < points->len; i++)
    longest = MAX (longest, g_utf8_strlen (get (points, i)->label, -1));
  return longest;
}

static void
append_row (GString *out, const Point *point, double most, guint label_width,
    guint bar_width)
{
  g_autofree gchar *label = text_fit (point->label, label_width);
  g_autofree gchar *rate = format_rate (point->rate);
  g_autofree gchar *bar = text_bar (point->rate / most, bar_width);

  if (point->error)
    g_string_append_printf (out, "%s  %s\n", label, point->error);
  else
    g_string_append_printf (out, "%s %8s  %s  %5.1f  %s\n", label, rate, bar,
        point->cores, point->detail);
}

gchar *
points_format (GPtrArray *points, const gchar *detail_title, guint width)
{
  const guint best = points_best (points);
  const double most = best == POINTS_NONE ? 1 : get (points, best)->rate;
  const guint label = MIN (longest_label (points), MAX (width / 2, 8));
  const guint others = 20 + g_utf8_strlen (detail_title, -1);
  const guint bar = width > label + others + 4 ? width - label - others : 4;
  const guint bar_width = MIN (bar, 30);
  g_autofree gchar *title = text_fit ("setting", label);
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "%s  items/s  %*s  cores  %s\n", title,
      (int) bar_width, "", detail_title);
  for (guint i = 0; i < points->len; i++)
    append_row (out, get (points, i), most, label, bar_width);
  return g_string_free (out, FALSE);
}
