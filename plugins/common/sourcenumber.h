/* gst-spdl: number of a source in its pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* How many elements of the type of @source were added to its pipeline before
 * it, in bins of the pipeline too: its number, which is the same in each run of
 * a pipeline that is built in the same way. */
guint32 spdl_source_number_find (GstElement *source);

G_END_DECLS
