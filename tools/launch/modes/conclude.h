/* gst-spdl-launch: summary of the settings that were measured
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/modes/options.h"
#include "tools/launch/modes/points.h"

G_BEGIN_DECLS

/* What a run of several settings found. */
typedef struct {
  const gchar *title;        /* of its report */
  const gchar *detail_title; /* of its table's last column */
  const gchar *verdict;      /* a sentence */
  guint chosen;              /* the point to take, or POINTS_NONE */
} Conclusion;

/* Prints it, and writes the files that were asked for. Returns the exit
 * status. */
int conclude (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error);

G_END_DECLS
