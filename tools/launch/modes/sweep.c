/* gst-spdl-launch: measurement of a pipeline with several settings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/modes.h"

#include "tools/launch/modes/points.h"
#include "tools/launch/run/parts.h"
#include "tools/launch/run/process.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_DURATION 4.0 /* s per run */
#define WARM_UP 0.25         /* warm-up, relative to the duration */
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
  if (axes->len == 0 || sweep_count (axes) == 0 ||
      sweep_count (axes) > MAX_COMBINATIONS) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" must have 1 to %d settings", text, MAX_COMBINATIONS);
    return NULL;
  }
  return g_steal_pointer (&axes);
}

/* Returns the cost of a value: its number, or the index of a word in the
 * list. */
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
join_settings (gchar **a, gchar **b)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  if (a)
    g_strv_builder_addv (builder, (const gchar **) a);
  g_strv_builder_addv (builder, (const gchar **) b);
  return g_strv_builder_end (builder);
}

static gboolean
sets_epochs (gchar **settings)
{
  for (guint i = 0; settings[i]; i++) {
    const gchar *equals = strchr (settings[i], '=');

    if (equals &&
        g_strstr_len (settings[i], equals - settings[i] + 1, ".epochs="))
      return TRUE;
  }
  return FALSE;
}

/* Creates a session that repeats the dataset, so that the run has the requested
 * duration. */
static Session *
make_session (const Options *options, gchar **settings, GError **error)
{
  g_auto (GStrv) all = join_settings (options->settings, settings);
  Session *session = session_new (options->pipeline, all, 0, error);

  if (session && !sets_epochs (all))
    parts_repeat (session->parts);
  return session;
}

static SessionLimits
get_limits (const Options *options)
{
  SessionLimits limits = options_get_limits (options, FALSE);

  if (options->duration == 0 && options->max_batches == 0)
    limits.duration = DEFAULT_DURATION * GST_SECOND;
  limits.warm_up = limits.duration * WARM_UP;
  limits.interval = GST_SECOND / 10;
  return limits;
}

/* Tries each value once before the first run. */
static gboolean
check_options (const Options *options, GPtrArray *axes, GError **error)
{
  const SessionLimits limits = get_limits (options);
  Session *session =
      session_new (options->pipeline, options->settings, 0, error);
  gboolean ok = session && session_check_limits (session, &limits, error);

  for (guint i = 0; i < axes->len && ok; i++) {
    const Axis *axis = g_ptr_array_index (axes, i);

    for (guint k = 0; k < axis->n_values && ok; k++) {
      g_autofree gchar *setting =
          g_strconcat (axis->target, "=", axis->values[k], NULL);

      ok = setting_apply (setting, session->parts, error);
    }
  }
  g_clear_pointer (&session, session_free);
  return ok;
}

static gchar *
describe_limit (const GstSpdlDiagnosis *diagnosis)
{
  const gchar *nick = gst_spdl_diagnosis_get_limit_nick (diagnosis);
  const gchar *element = gst_spdl_diagnosis_get_element (diagnosis);

  return element ? g_strdup_printf ("%s: %s", element, nick) : g_strdup (nick);
}

/* Measures a point. Returns FALSE after Ctrl-C. */
static gboolean
measure_point (const Options *options, Interrupt *interrupt, Point *point)
{
  const SessionLimits limits = get_limits (options);
  g_autoptr (GError) error = NULL;
  Session *session = make_session (options, point->settings, &error);

  point->n_runs = 1;
  if (session && session_run (session, &limits, NULL, NULL, &error)) {
    const Snapshot *result = session->result;

    point->rate = session_get_steady_rate (session);
    point->cores = result->cores;
    point->detail = describe_limit (result->diagnosis);
  } else {
    point->error = g_strdup (error->message);
  }
  g_clear_pointer (&session, session_free);
  return !interrupt_came (interrupt);
}

static Point *
make_point (GPtrArray *axes, guint k)
{
  Point *point = g_new0 (Point, 1);

  point->settings = sweep_get_settings (axes, k, &point->cost);
  point->label = g_strjoinv (" ", point->settings);
  return point;
}

/* Returns FALSE after Ctrl-C. */
static gboolean
measure_all (const Options *options, Interrupt *interrupt, GPtrArray *axes,
    GPtrArray *points)
{
  for (guint k = 0; k < sweep_count (axes); k++) {
    Point *point = make_point (axes, k);

    fprintf (stderr, "%u of %u: %s\n", k + 1, sweep_count (axes), point->label);
    if (!measure_point (options, interrupt, point)) {
      point_free (point);
      return FALSE;
    }
    g_ptr_array_add (points, point);
  }
  return TRUE;
}

typedef struct {
  const Options *options;
  Interrupt *interrupt;
  GPtrArray *axes;
} Again;

static double
measure_again (guint k, gpointer user_data)
{
  const Again *self = user_data;
  Point *again = make_point (self->axes, k);
  double rate;

  fprintf (stderr, "repeating: %s\n", again->label);
  rate =
      measure_point (self->options, self->interrupt, again) ? again->rate : -1;
  point_free (again);
  return rate;
}

static gboolean
is_most (const Axis *axis, guint value)
{
  for (guint i = 0; i < axis->n_values; i++)
    if (get_cost (axis, i) > get_cost (axis, value))
      return FALSE;
  return axis->n_values > 1;
}

/* Appends a hint for each setting whose largest value was chosen while its
 * element still was the bottleneck. */
static void
append_open_ends (
    GString *text, GPtrArray *axes, GPtrArray *points, guint chosen)
{
  const Point *point = g_ptr_array_index (points, chosen);
  guint k = chosen;

  for (guint i = axes->len; i > 0; i--) {
    const Axis *axis = g_ptr_array_index (axes, i - 1);
    const guint value = k % axis->n_values;
    const gchar *dot = strrchr (axis->target, '.');
    const gsize length = dot - axis->target;

    k /= axis->n_values;
    if (is_most (axis, value) &&
        strncmp (point->detail, axis->target, length) == 0 &&
        point->detail[length] == ':')
      g_string_append_printf (text,
          "; this stage is still the bottleneck, so try more than %s=%s",
          axis->target, axis->values[value]);
  }
}

static gchar *
make_verdict (GPtrArray *axes, GPtrArray *points, guint chosen)
{
  const guint best = points_best (points);
  GString *text = g_string_new (NULL);

  if (best == POINTS_NONE)
    return g_string_free (g_string_append (text, "no setting worked"), FALSE);
  const Point *fastest = g_ptr_array_index (points, best);
  g_autofree gchar *rate = format_rate (fastest->rate);
  g_string_append_printf (
      text, "the fastest is %s with %s items/s", fastest->label, rate);
  points_append_knee (text, points);
  if (chosen == POINTS_NONE)
    return g_string_free (text, FALSE);
  if (chosen != best)
    g_string_append_printf (text,
        "; %s is the cheapest within 3 %% of it, both measured twice",
        ((const Point *) g_ptr_array_index (points, chosen))->label);
  append_open_ends (text, axes, points, chosen);
  return g_string_free (text, FALSE);
}

int
sweep_run (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) axes = sweep_parse (options->sweep, error);
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func (point_free);
  g_autofree gchar *verdict = NULL;
  guint chosen = POINTS_NONE;
  Interrupt interrupt;

  if (!axes || !check_options (options, axes, error))
    return 2;
  interrupt_begin (&interrupt);
  if (measure_all (options, &interrupt, axes, points))
    chosen = points_confirm (
        points, measure_again, &(Again){ options, &interrupt, axes });
  interrupt_end (&interrupt);
  verdict = make_verdict (axes, points, chosen);
  return conclude (options, points,
      &(Conclusion){ "A sweep", "limit", verdict, chosen }, error);
}
