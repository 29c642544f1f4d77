/* gst-spdl-launch: measurement of a pipeline with several settings
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/modes.h"

#include "tools/launch/modes/points.h"

#include <string.h>

#define DEFAULT_DURATION 4.0 /* s per run */

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
make_session (Series *series, gchar **settings, GError **error)
{
  Session *session =
      session_new (series->options->pipeline, settings, 0, error);

  if (session && !sets_epochs (settings))
    parts_repeat (session->parts);
  return session;
}

/* Tries each value once before the first run. */
static gboolean
check_values (const Series *self, GError **error)
{
  Session *session =
      session_new (self->options->pipeline, self->options->settings, 0, error);
  gboolean ok = session && session_check_limits (session, &self->limits, error);

  for (guint i = 0; i < self->axes->len && ok; i++) {
    const Axis *axis = g_ptr_array_index (self->axes, i);

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
describe_limit (const Snapshot *result)
{
  const gchar *nick = gst_spdl_diagnosis_get_limit_nick (result->diagnosis);
  const gchar *element = gst_spdl_diagnosis_get_element (result->diagnosis);

  return element ? g_strdup_printf ("%s: %s", element, nick) : g_strdup (nick);
}

static gboolean
is_most (const Axis *axis, guint value)
{
  for (guint i = 0; i < axis->n_values; i++)
    if (axis_get_cost (axis, i) > axis_get_cost (axis, value))
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
  Series series = { .options = options,
    .axes = sweep_parse (options->sweep, error),
    .make = make_session,
    .describe = describe_limit };
  Conclusion conclusion = { .title = "A sweep", .detail_title = "limit" };
  int status = 2;

  series_init (&series, options->duration > 0 || options->max_batches > 0
                            ? options->duration
                            : DEFAULT_DURATION);
  if (series.axes && check_values (&series, error)) {
    conclusion.chosen = series_measure (&series);
    conclusion.verdict =
        make_verdict (series.axes, series.points, conclusion.chosen);
    status = conclude (options, series.points, &conclusion, error);
    g_free (conclusion.verdict);
  }
  series_clear (&series);
  return status;
}
