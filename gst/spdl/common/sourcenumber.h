/* gst-spdl: number of a source in its pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Items, events and resume states name a source by its number. The sources that
 * are in a pipeline when it leaves READY are numbered in the order in which
 * they were added, so a pipeline that is built in the same way has the same
 * numbers in each run: first each spdlsrc, then SPDL_SOURCE_NUMBER_STEP numbers
 * for each spdlworkersrc, whose worker numbers its sources from 0, then one for
 * all other sources, such as the appsrc of a loader. A source that is added
 * later gets the lowest number that no source of this run has had. */

/* Maximum number of sources of a worker. */
#define SPDL_SOURCE_NUMBER_STEP 256

/* Returns the number of @source, or the first one of an spdlworkersrc. Called
 * when it leaves READY; spdl_source_number_release() follows when it is READY
 * again. */
guint32 spdl_source_number_take (GstElement *source);
void spdl_source_number_release (GstElement *source);

/* Returns the number of all other sources, for the items that @element numbers
 * because no element before it has. */
guint32 spdl_source_number_get_other (GstElement *element);

/* Checks that each source in a resume state is in the pipeline of @source,
 * which has its number. Accepts a malformed state, for which there is a better
 * error.
 *
 * @state: (nullable) */
gboolean spdl_source_number_check_state (
    GstElement *source, const gchar *state, GError **error);

SPDL_END_PRIVATE_API
G_END_DECLS
