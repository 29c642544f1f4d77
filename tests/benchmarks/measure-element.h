/* gst-spdl: time per item in one element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

/* An element of that name; ends the program where there is none. */
GstElement *measure_make (const gchar *name);

/* Pushes @n items with metas and no content through @element (transfer full),
 * and returns the CPU time in µs that each costs. */
double measure_element (GstElement *element, guint64 n);

/* For qsort(), of doubles. */
int measure_compare (const void *a, const void *b);
