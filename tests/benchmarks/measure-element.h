/* gst-spdl: time per item in one element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

/* Returns an element of the factory @name, and exits if there is none. */
GstElement *measure_make (const gchar *name);

/* Pushes @n items with metas and without content through @element (transfer
 * full). Returns the CPU time per item, in µs. */
double measure_element (GstElement *element, guint64 n);

/* Compares doubles, for qsort(). */
int measure_compare (const void *a, const void *b);
