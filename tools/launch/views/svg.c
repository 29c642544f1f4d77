/* gst-spdl-launch: SVG drawing functions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/svg.h"

#include <math.h>

void
html_append_escaped (GString *out, const gchar *text)
{
  g_autofree gchar *valid = g_utf8_make_valid (text, -1);
  g_autofree gchar *escaped = g_markup_escape_text (valid, -1);

  g_string_append (out, escaped);
}

static void
append_title (GString *out, const gchar *title)
{
  g_string_append (out, "<title>");
  html_append_escaped (out, title);
  g_string_append (out, "</title>");
}

void
svg_begin (GString *out, double height, const gchar *title)
{
  g_string_append_printf (out,
      "<svg viewBox=\"0 0 %d %.1f\" role=\"img\" aria-label=\"", SVG_WIDTH,
      height);
  html_append_escaped (out, title);
  g_string_append (out, "\">\n");
}

void
svg_end (GString *out)
{
  g_string_append (out, "</svg>\n");
}

void
svg_rect (GString *out, double x, double y, double width, double height,
    const gchar *style, const gchar *title)
{
  g_string_append_printf (out,
      "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
      "height=\"%.1f\"",
      style, x, y, MAX (width, 0), height);
  if (title) {
    g_string_append_c (out, '>');
    append_title (out, title);
    g_string_append (out, "</rect>\n");
  } else {
    g_string_append (out, "/>\n");
  }
}

void
svg_line (GString *out, double x1, double y1, double x2, double y2,
    const gchar *style)
{
  g_string_append_printf (out,
      "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
      "y2=\"%.1f\"/>\n",
      style, x1, y1, x2, y2);
}

void
svg_polyline (
    GString *out, const double *x, const double *y, guint n, const gchar *style)
{
  g_string_append_printf (out, "<polyline class=\"%s\" points=\"", style);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%.1f,%.1f", i > 0 ? " " : "", x[i], y[i]);
  g_string_append (out, "\"/>\n");
}

void
svg_text (GString *out, double x, double y, double width, SvgAnchor anchor,
    const gchar *text)
{
  static const gchar *anchors[] = { "start", "middle", "end" };
  const guint fits = width > 0 ? (guint) (width / SVG_CHAR) : G_MAXUINT;
  g_autofree gchar *valid = g_utf8_make_valid (text, -1);

  g_string_append_printf (out,
      "<text text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", anchors[anchor], x, y);
  if (g_utf8_strlen (valid, -1) > fits) {
    g_autofree gchar *head = g_utf8_substring (valid, 0, MAX (fits, 1) - 1);

    append_title (out, valid);
    html_append_escaped (out, head);
    g_string_append (out, "\u2026");
  } else {
    html_append_escaped (out, valid);
  }
  g_string_append (out, "</text>\n");
}

double
svg_round_step (double range, guint n)
{
  static const double steps[] = { 1, 2, 5, 10 };
  const double exact = range > 0 ? range / MAX (n, 1) : 1;
  const double power = pow (10, floor (log10 (exact)));

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    if (steps[i] * power >= exact * 0.999)
      return steps[i] * power;
  return 10 * power;
}
