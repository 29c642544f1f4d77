/* gst-spdl: elements of other projects in a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Describes an element without statistics for gst_spdl_diagnose().
 *
 * @name: its name in the diagnosis
 * Returns: (transfer full) (nullable): NULL if it only forwards data, such as a
 * queue */
SPDL_PRIVATE_API
GstStructure *
gst_spdl_make_foreign_stats (GstElement *element, const gchar *name);

G_END_DECLS
