/* gst-spdl-launch: series of runs with one setting after the other
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/modes.h"

#include "tools/launch/modes/points.h"

#include <gio/gio.h>
#include <stdio.h>

#define WARM_UP 0.25 /* relative to the duration of a run */
#define MAX_COMBINATIONS 1000
/* A rising series ends when two further values increase the rate by less than
 * this factor. */
#define WORTH 1.05

static void
axis_free (gpointer data)
{
  Axis *axis = data;

  g_free (axis->target);
  g_strfreev (axis->values);
  g_free (axis);
}

static Axis *
parse_axis (const gchar *text, GError **error)
{
  g_autofree gchar *element = NULL, *property = NULL, *values = NULL;
  Axis *axis;

  if (!setting_split (text, &element, &property, &values, error))
    return NULL;
  axis = g_new0 (Axis, 1);
  axis->target = g_strconcat (element, ".", property, NULL);
  axis->values = g_strsplit (values, ",", -1);
  axis->n_values = g_strv_length (axis->values);
  for (guint i = 0; i < axis->n_values; i++)
    g_strstrip (axis->values[i]);
  return axis;
}

guint
sweep_count (GPtrArray *axes)
{
  guint64 n = 1;

  for (guint i = 0; i < axes->len; i++)
    n = MIN (
        n * ((const Axis *) g_ptr_array_index (axes, i))->n_values, G_MAXUINT);
  return n;
}

GPtrArray *
sweep_parse (const gchar *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ";", -1);
  g_autoptr (GPtrArray) axes = g_ptr_array_new_with_free_func (axis_free);

  for (guint i = 0; parts[i]; i++) {
    Axis *axis;

    g_strstrip (parts[i]);
    if (*parts[i] == 0)
      continue;
    if (!(axis = parse_axis (parts[i], error)))
      return NULL;
    g_ptr_array_add (axes, axis);
  }
  if (axes->len == 0 || sweep_count (axes) == 0 ||
      sweep_count (axes) > MAX_COMBINATIONS) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" must have 1 to %d settings", text, MAX_COMBINATIONS);
    return NULL;
  }
  return g_steal_pointer (&axes);
}

double
axis_get_cost (const Axis *axis, guint i)
{
  gchar *end;
  const double value = g_ascii_strtod (axis->values[i], &end);

  return end != axis->values[i] && *end == 0 ? value : i;
}

gchar **
sweep_get_settings (GPtrArray *axes, guint k, double *cost)
{
  gchar **settings = g_new0 (gchar *, axes->len + 1);

  *cost = 0;
  for (guint i = axes->len; i > 0; i--) {
    const Axis *axis = g_ptr_array_index (axes, i - 1);
    const guint value = k % axis->n_values;

    settings[i - 1] =
        g_strdup_printf ("%s=%s", axis->target, axis->values[value]);
    *cost += axis_get_cost (axis, value);
    k /= axis->n_values;
  }
  return settings;
}

void
series_init (Series *self, double duration)
{
  self->limits = options_get_limits (self->options, FALSE);
  self->limits.duration = duration * GST_SECOND;
  self->limits.warm_up = self->limits.duration * WARM_UP;
  self->limits.interval = GST_SECOND / 10;
  self->points = g_ptr_array_new_with_free_func (point_free);
}

void
series_clear (Series *self)
{
  g_clear_pointer (&self->axes, g_ptr_array_unref);
  g_clear_pointer (&self->points, g_ptr_array_unref);
}

/* Returns: (transfer full): combination @k, measured; NULL after Ctrl-C */
static Point *
measure_point (Series *self, guint k)
{
  g_autoptr (GStrvBuilder) all = g_strv_builder_new ();
  g_auto (GStrv) settings = NULL;
  g_autoptr (GError) error = NULL;
  Point *point = g_new0 (Point, 1);
  Session *session;

  point->settings = sweep_get_settings (self->axes, k, &point->cost);
  point->label = g_strjoinv (" ", point->settings);
  point->n_runs = 1;
  if (k < self->points->len)
    fprintf (stderr, "repeating: ");
  else if (!self->rises)
    fprintf (stderr, "%u of %u: ", k + 1, sweep_count (self->axes));
  fprintf (stderr, "%s\n", point->label);

  if (self->options->settings)
    g_strv_builder_addv (all, (const gchar **) self->options->settings);
  g_strv_builder_addv (all, (const gchar **) point->settings);
  settings = g_strv_builder_end (all);
  session = self->make (self, settings, &error);
  if (session && session_run (session, &self->limits, NULL, NULL, &error)) {
    point->rate = session_get_steady_rate (session);
    point->cores = session->result->cores;
    point->detail = self->describe (session->result);
  } else {
    point->error = g_strdup (error->message);
  }
  g_clear_pointer (&session, session_free);
  if (interrupt_came (&self->interrupt))
    g_clear_pointer (&point, point_free);
  return point;
}

/* Returns whether a rising series has reached its end. */
static gboolean
levels_off (GPtrArray *points)
{
  const guint n = points->len;

  if (n > 0 && ((const Point *) g_ptr_array_index (points, n - 1))->error)
    return TRUE;
  if (n < 3)
    return FALSE;
  const Point *a = g_ptr_array_index (points, n - 3);
  const Point *b = g_ptr_array_index (points, n - 2);
  const Point *c = g_ptr_array_index (points, n - 1);
  return b->rate < WORTH * a->rate && c->rate < WORTH * b->rate;
}

static double
measure_again (guint k, gpointer user_data)
{
  Point *again = measure_point (user_data, k);
  const double rate = again ? again->rate : -1;

  g_clear_pointer (&again, point_free);
  return rate;
}

guint
series_measure (Series *self)
{
  Point *point = NULL;
  guint chosen = POINTS_NONE;

  interrupt_begin (&self->interrupt);
  do {
    point = measure_point (self, self->points->len);
    if (point)
      g_ptr_array_add (self->points, point);
  } while (point && self->points->len < sweep_count (self->axes) &&
           !(self->rises && levels_off (self->points)));
  if (point)
    chosen = points_confirm (self->points, measure_again, self);
  interrupt_end (&self->interrupt);
  return chosen;
}
