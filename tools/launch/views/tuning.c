/* gst-spdl-launch: what is said of automatic concurrency and the CPU budget
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/tuning.h"

/* Of the workers that may run, the last one does for part of the time. */
static gchar *
format_budget (const GstStructure *s)
{
  const gchar *stage = gst_structure_get_string (s, "stage");
  const double used = stats_get_double (s, "cpu-used") * 100;
  const double budget = stats_get_double (s, "cpu-budget") * 100;
  gboolean held = FALSE;

  gst_structure_get_boolean (s, "held-back", &held);
  if (!held)
    return g_strdup_printf ("budget: %s is no longer held back, loading used "
                            "%.0f %% of the cores",
        stage, used);
  return g_strdup_printf ("budget: %s runs no more than %u at a time, loading "
                          "used %.0f %% of the cores and may use %.0f",
      stage, stats_get_uint (s, "to"), used, budget);
}

static gchar *
format_reason (const GstStructure *s)
{
  const gchar *reason = gst_structure_get_string (s, "reason");
  const double busy = stats_get_double (s, "busy") * 100;
  const double gain = stats_get_double (s, "gain");

  if (g_strcmp0 (reason, "limits") == 0)
    return g_strdup_printf ("its workers are busy %.0f %% of the time", busy);
  if (g_strcmp0 (reason, "follows") == 0)
    return g_strdup ("it would be the next limit");
  if (g_strcmp0 (reason, "idle") == 0)
    return g_strdup_printf (
        "its workers are idle %.0f %% of the time", 100 - busy);
  if (g_strcmp0 (reason, "spare") == 0)
    return g_strdup ("fewer may do as well");
  if (g_strcmp0 (reason, "no-gain") == 0)
    return g_strdup_printf ("back, no gain (%.2f times the rate)", gain);
  if (g_strcmp0 (reason, "loss") == 0)
    return g_strdup_printf ("back, a loss (%.2f times the rate)", gain);
  if (g_strcmp0 (reason, "held") == 0)
    return g_strdup ("back, the CPU budget is reached");
  if (g_strcmp0 (reason, "load") == 0)
    return g_strdup ("the load is another one");
  return g_strdup (reason);
}

gchar *
tuning_format (const GstStructure *decision)
{
  const gchar *stage = gst_structure_get_string (decision, "stage");
  const guint from = stats_get_uint (decision, "from");
  const guint to = stats_get_uint (decision, "to");
  const double rate = stats_get_double (decision, "throughput");

  if (g_strcmp0 (gst_structure_get_string (decision, "reason"), "budget") == 0)
    return format_budget (decision);

  g_autofree gchar *reason = format_reason (decision);
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "tuning: %s.concurrency ", stage);
  if (from != to)
    g_string_append_printf (line, "%u -> %u: %s", from, to, reason);
  else
    g_string_append_printf (line, "%u: %s", to, reason);
  if (rate > 0)
    g_string_append_printf (line, ", %.4g items/s", rate);
  return g_string_free (line, FALSE);
}

gchar *
tuning_format_settings (const Frame *frame)
{
  GString *settings = g_string_new (NULL);

  for (guint i = 0; i < frame->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (frame->stages, i);
    gboolean automatic = FALSE;

    gst_structure_get_boolean (stats, "automatic", &automatic);
    if (automatic)
      g_string_append_printf (settings, "%s--set %s.concurrency=%u",
          settings->len > 0 ? " " : "", stats_get_name (stats),
          stats_get_uint (stats, "concurrency"));
  }
  return g_string_free (settings, settings->len == 0);
}
