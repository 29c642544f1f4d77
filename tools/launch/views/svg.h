/* gst-spdl-launch: SVG elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Drawings are SVG_WIDTH wide, whatever they are scaled to, and their text is
 * set in a fixed pitch, so that what fits here fits everywhere. */
#define SVG_WIDTH 1000
#define SVG_TEXT 14  /* its size */
#define SVG_CHAR 8.5 /* the width of a character, rounded up */

typedef enum {
  SVG_START,
  SVG_MIDDLE,
  SVG_END,
} SvgAnchor;

void svg_begin (GString *out, double height, const gchar *title);
void svg_end (GString *out);

/* @style: a class of the page's. @title: (nullable): shown when pointed at. */
void svg_rect (GString *out, double x, double y, double width, double height,
    const gchar *style, const gchar *title);
void svg_line (GString *out, double x1, double y1, double x2, double y2,
    const gchar *style);
/* @x, @y: the points of a line; @n of them. */
void svg_polyline (GString *out, const double *x, const double *y, guint n,
    const gchar *style);
/* @y: of the base line. Cut off to @width, where it is not 0; the whole text is
 * then shown when pointed at. */
void svg_text (GString *out, double x, double y, double width, SvgAnchor anchor,
    const gchar *text);

/* A round number that is about a @n-th of @range. */
double svg_round_step (double range, guint n);

void html_append_escaped (GString *out, const gchar *text);

G_END_DECLS
