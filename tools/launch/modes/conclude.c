/* gst-spdl-launch: summary of the settings that were measured
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/conclude.h"

#include "tools/launch/run/pipeline.h"
#include "tools/launch/views/screen.h"
#include "tools/launch/views/table.h"

static void
print_conclusion (FILE *out, GPtrArray *points, const Conclusion *conclusion)
{
  const guint width = screen_get_width (out);
  g_autofree gchar *table =
      points_format (points, conclusion->detail_title, width);
  g_autofree gchar *verdict = text_wrap (conclusion->verdict, width);

  fprintf (out, "%s\n%s\n", table, verdict);
  if (conclusion->chosen != POINTS_NONE) {
    g_autofree gchar *settings =
        points_format_settings (g_ptr_array_index (points, conclusion->chosen));

    fprintf (out, "try: %s\n", settings);
  }
  fflush (out);
}

static gboolean
write_files (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error)
{
  g_autofree gchar *description = pipeline_describe (options->pipeline);

  if (options->json && !points_write_json (points, options->json, description,
                           conclusion->verdict, conclusion->chosen, error))
    return FALSE;
  return !options->report ||
         points_write_report (points, options->report, conclusion->title,
             description, conclusion->verdict, conclusion->chosen, error);
}

int
conclude (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error)
{
  print_conclusion (options_get_out (options), points, conclusion);
  if (!write_files (options, points, conclusion, error))
    return 1;
  return points_best (points) == POINTS_NONE ? 1 : 0;
}
