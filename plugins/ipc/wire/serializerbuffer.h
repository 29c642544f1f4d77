/* gst-spdl: buffers in messages between processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/ipc/wire/serializer.h"

G_BEGIN_DECLS

#define SPDL_PAYLOAD_MAX_MEMORIES GST_SPDL_MAX_TENSORS

/* Where a buffer's memories lie in a slab. */
typedef struct {
  guint32 slab;
  guint32 n_memories;
  guint64 offsets[SPDL_PAYLOAD_MAX_MEMORIES];
  guint64 sizes[SPDL_PAYLOAD_MAX_MEMORIES];
} SpdlPlaces;

/* Writes @places, and of @buffer all but its bytes: flags, times, item, batch,
 * parts, video meta, and whether a cache made it. */
void spdl_put_buffer (
    GByteArray *bytes, GstBuffer *buffer, const SpdlPlaces *places);

/* Returns: (transfer full): a buffer without memory, and where that is; NULL if
 * the data is broken. The slab's size is for the caller to check. */
GstBuffer *spdl_get_buffer (SpdlPayload *self, SpdlPlaces *places);

G_END_DECLS
