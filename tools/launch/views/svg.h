/* gst-spdl-launch: SVG drawing functions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Numbers are written in the C locale, which main() sets for numbers.
 * Drawings have a width of SVG_WIDTH user units at any scale. Text uses a
 * monospace font, so that its width is predictable. */
#define SVG_WIDTH 1000
#define SVG_TEXT 14  /* font size */
#define SVG_CHAR 8.5 /* width of a character, rounded up */

typedef enum {
  SVG_START,
  SVG_MIDDLE,
  SVG_END,
} SvgAnchor;

void svg_begin (GString *out, double height, const gchar *title);
void svg_end (GString *out);

/* @style: CSS class
 * @title: (nullable): tooltip */
void svg_rect (GString *out, double x, double y, double width, double height,
    const gchar *style, const gchar *title);
void svg_line (GString *out, double x1, double y1, double x2, double y2,
    const gchar *style);
/* @x, @y: coordinates of @n points */
void svg_polyline (GString *out, const double *x, const double *y, guint n,
    const gchar *style);
/* @y: baseline
 * @width: maximum width; 0: unlimited. Truncated text is shown completely in a
 * tooltip. */
void svg_text (GString *out, double x, double y, double width, SvgAnchor anchor,
    const gchar *text);

/* Returns a round number close to @range / @n. */
double svg_round_step (double range, guint n);

void html_append_escaped (GString *out, const gchar *text);

G_END_DECLS
