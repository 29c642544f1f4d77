/* gst-spdl: fields that spdlmix adds to the events of its sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* `partial` of an `spdl-epoch`: an epoch of a source ends here, but not that of
 * the stream, in which others go on.
 * `dropped-upstream` of an `spdl-items-dropped`: the items went missing before
 * spdlmix. */

/* @event: (transfer full): with the field set or without it
 *
 * Returns: (transfer full): @event, or a copy of the same number */
SPDL_PRIVATE_API
GstEvent *gst_spdl_event_set_partial_epoch (GstEvent *event, gboolean partial);
SPDL_PRIVATE_API
GstEvent *gst_spdl_event_set_dropped_upstream (GstEvent *event);

SPDL_PRIVATE_API
gboolean gst_spdl_event_is_partial_epoch (GstEvent *event);
SPDL_PRIVATE_API
gboolean gst_spdl_event_is_dropped_upstream (GstEvent *event);

G_END_DECLS
