/* gst-spdl: marks on buffers and events between elements
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

/* Marks batches that spdlcache replays, so that a sink does not count their
 * items again. It survives copies of the buffer. */

/* Marks @buffer, which must be writable. */
void gst_spdl_buffer_mark_cached (GstBuffer *buffer);

gboolean gst_spdl_buffer_is_cached (GstBuffer *buffer);

/* `partial` in `spdl-epoch`: the epoch of a source ends, but the epoch of the
 * stream continues with other sources. `dropped-upstream` in
 * `spdl-items-dropped`: the items were lost before spdlmix. */

/* Sets or removes the field.
 *
 * @event: (transfer full)
 * Returns: (transfer full): @event, or a copy with the same sequence number */
GstEvent *gst_spdl_event_set_partial_epoch (GstEvent *event, gboolean partial);
GstEvent *gst_spdl_event_set_dropped_upstream (GstEvent *event);

gboolean gst_spdl_event_is_partial_epoch (GstEvent *event);
gboolean gst_spdl_event_is_dropped_upstream (GstEvent *event);

/* Marks a new `spdl-items-dropped` event: it announces not whole items, but one
 * of @parts equal shares of each. */
void gst_spdl_event_set_dropped_parts (GstEvent *event, guint parts);

/* Returns 1 for whole items. */
guint gst_spdl_event_get_dropped_parts (GstEvent *event);

SPDL_END_PRIVATE_API
G_END_DECLS
