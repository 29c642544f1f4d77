/* gst-spdl: marks buffers that come from a cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* What spdlcache hands out again was delivered before: it is marked, so that a
 * sink does not count its items once more. The mark survives copies. */

/* @buffer: writable. */
SPDL_PRIVATE_API
void gst_spdl_buffer_mark_cached (GstBuffer *buffer);

SPDL_PRIVATE_API
gboolean gst_spdl_buffer_is_cached (GstBuffer *buffer);

G_END_DECLS
