/* gst-spdl-launch: a pipeline at all of some settings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "sweep.h"

#include "screen.h"
#include "setting.h"
#include "table.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_DURATION 4.0 /* s of each run */
#define WARM_UP 0.25         /* of it */
#define MAX_COMBINATIONS 1000

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
  if (axes->len == 0 || sweep_count (axes) > MAX_COMBINATIONS) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is not 1 to %d settings", text, MAX_COMBINATIONS);
    return NULL;
  }
  return g_steal_pointer (&axes);
}

/* A number costs what it says, a word its place in the list. */
static double
get_cost (const Axis *axis, guint i)
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
    *cost += get_cost (axis, value);
    k /= axis->n_values;
  }
  return settings;
}

static gchar **
join (gchar **a, gchar **b)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  if (a)
    g_strv_builder_addv (builder, (const gchar **) a);
  g_strv_builder_addv (builder, (const gchar **) b);
  return g_strv_builder_end (builder);
}

/* Runs once. Returns whether to go on: not after Ctrl-C. */
static gboolean
measure (const Options *options, gchar **settings, Point *point)
{
  g_auto (GStrv) all = join (options->settings, settings);
  g_autoptr (GError) error = NULL;
  SessionLimits limits = options_get_limits (options, FALSE);
  Session *session = session_new (options->pipeline, all, &error);
  gboolean go_on = TRUE;

  g_clear_pointer (&point->error, g_free);
  g_clear_pointer (&point->detail, g_free);
  if (options->duration == 0 && options->max_batches == 0)
    limits.duration = DEFAULT_DURATION * GST_SECOND;
  limits.warm_up = limits.duration * WARM_UP;
  limits.interval = GST_SECOND / 10;
  if (session && session_run (session, &limits, NULL, NULL, &error)) {
    const Frame *result = session_get_result (session);

    point->rate = session_get_steady_rate (session);
    point->cores = result->cores;
    point->detail =
        g_strdup (gst_spdl_diagnosis_get_limit_nick (result->diagnosis));
    if (gst_spdl_diagnosis_get_element (result->diagnosis)) {
      g_autofree gchar *nick = g_steal_pointer (&point->detail);

      point->detail = g_strdup_printf (
          "%s: %s", gst_spdl_diagnosis_get_element (result->diagnosis), nick);
    }
    go_on = session_get_end (session) != SESSION_INTERRUPTED;
  } else {
    point->rate = 0;
    point->error = g_strdup (error->message);
  }
  g_clear_pointer (&session, session_free);
  return go_on;
}

/* Returns FALSE after Ctrl-C. */
static gboolean
measure_all (const Options *options, GPtrArray *axes, GPtrArray *points)
{
  for (guint k = 0; k < sweep_count (axes); k++) {
    Point *point = g_new0 (Point, 1);
    g_auto (GStrv) settings = sweep_get_settings (axes, k, &point->cost);

    point->label = g_strjoinv (" ", settings);
    fprintf (stderr, "%u of %u: %s\n", k + 1, sweep_count (axes), point->label);
    if (!measure (options, settings, point)) {
      point_free (point);
      return FALSE;
    }
    g_ptr_array_add (points, point);
  }
  return TRUE;
}

typedef struct {
  const Options *options;
  GPtrArray *axes;
} Again;

static double
measure_again (guint k, gpointer user_data)
{
  const Again *self = user_data;
  Point again = { NULL };
  g_auto (GStrv) settings = sweep_get_settings (self->axes, k, &again.cost);
  g_autofree gchar *label = g_strjoinv (" ", settings);

  fprintf (stderr, "once more: %s\n", label);
  measure (self->options, settings, &again);
  g_free (again.detail);
  g_free (again.error);
  return again.rate;
}

static gchar *
make_verdict (GPtrArray *points, guint chosen)
{
  const guint best = points_best (points), knee = points_knee (points);
  GString *text = g_string_new (NULL);

  if (best == POINTS_NONE)
    return g_string_free (g_string_append (text, "no setting worked"), FALSE);
  const Point *fastest = g_ptr_array_index (points, best);
  g_autofree gchar *rate = format_rate (fastest->rate);
  g_string_append_printf (
      text, "the fastest is %s with %s items/s", fastest->label, rate);
  if (knee != POINTS_NONE && knee != best)
    g_string_append_printf (text, "; beyond %s more brings little",
        ((const Point *) g_ptr_array_index (points, knee))->label);
  if (chosen != POINTS_NONE)
    g_string_append_printf (text, "; take %s%s",
        ((const Point *) g_ptr_array_index (points, chosen))->label,
        chosen == best ? "" : ", which is as fast, measured twice");
  return g_string_free (text, FALSE);
}

static gboolean
write_files (const Options *options, GPtrArray *points, const gchar *verdict,
    guint chosen, GError **error)
{
  g_autofree gchar *description = g_strjoinv (" ", options->pipeline);

  if (options->json && !points_write_json (points, options->json, description,
                           verdict, chosen, error))
    return FALSE;
  return !options->report ||
         points_write_report (points, options->report, "A sweep", description,
             verdict, chosen, error);
}

int
sweep_run (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) axes = sweep_parse (options->sweep, error);
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func (point_free);
  g_autofree gchar *table = NULL, *verdict = NULL, *wrapped = NULL;
  guint chosen = POINTS_NONE;

  if (!axes)
    return 2;
  if (measure_all (options, axes, points))
    chosen = points_confirm (points, measure_again, &(Again){ options, axes });
  table = points_format (points, "limit", screen_get_width ());
  verdict = make_verdict (points, chosen);
  wrapped = text_wrap (verdict, screen_get_width ());
  printf ("%s\n%s\n", table, wrapped);
  if (!write_files (options, points, verdict, chosen, error))
    return 1;
  return points_best (points) == POINTS_NONE ? 1 : 0;
}
