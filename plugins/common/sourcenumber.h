/* gst-spdl: number of a source in its pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns the number of elements of @source's type that were added to its
 * pipeline before it, including those in bins. It is the same in each run of a
 * pipeline that is built in the same way. */
guint32 spdl_source_number_find (GstElement *source);

G_END_DECLS
