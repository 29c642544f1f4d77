/* gst-spdl: numbers of a worker's sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Each worker counts its sources from 0. Where there are several, or other
 * sources beside them, those numbers would come twice, in items, events and
 * states; so a base is added to them here. That of the first worker is the
 * number of spdlsrc's, mostly 0: then states are those of the pipeline without
 * a worker. */

/* No worker has more sources. */
#define SPDL_SOURCE_BASE_STEP 256

guint32 spdl_source_base_find (GstElement *worker);

void spdl_source_base_shift_buffer (GstBuffer *buffer, guint32 base);
void spdl_source_base_shift_event (GstEvent *event, guint32 base);
void spdl_source_base_shift_message (GstMessage *message, guint32 base);

/* What of @state, of this pipeline, is the worker's, in its own numbers.
 *
 * Returns: (transfer full) (nullable): NULL if it has nothing of it: then the
 *     worker begins at the beginning. What is no state is returned as it is */
gchar *spdl_source_base_take_state (const gchar *state, guint32 base);

G_END_DECLS
