/* gst-spdl: mark of buffers that a cache replays
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Marks batches that spdlcache replays, so that a sink does not count their
 * items again. It survives copies of the buffer. */

/* Marks @buffer, which must be writable. */
SPDL_PRIVATE_API
void gst_spdl_buffer_mark_cached (GstBuffer *buffer);

SPDL_PRIVATE_API
gboolean gst_spdl_buffer_is_cached (GstBuffer *buffer);

G_END_DECLS
