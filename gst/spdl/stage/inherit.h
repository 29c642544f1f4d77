/* gst-spdl: what the result of an item keeps of its buffer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Returns TRUE if @item has timestamps, flags or metas that its results get. An
 * item of `spdlsrc` has none. */
gboolean gst_spdl_buffer_has_heritage (GstBuffer *item);

/* Gives @result (transfer full) the timestamps, offsets, flags and metas of
 * @item that it lacks, as GstVideoDecoder does. Metas whose tags say that they
 * describe the memory, the size or the format of @item are not copied, nor
 * those of gst-spdl.
 *
 * @n: number of results of @item: with several, duration and offsets of none
 *     are known, and only the @i-th with @i = 0 has the timestamps
 *
 * Returns: (transfer full): @result, or a copy of it */
SPDL_PRIVATE_API
GstBuffer *
gst_spdl_buffer_inherit (GstBuffer *result, GstBuffer *item, guint i, guint n);

G_END_DECLS
