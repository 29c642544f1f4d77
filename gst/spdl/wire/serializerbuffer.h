/* gst-spdl: serialization of buffers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/wire/serializer.h"

G_BEGIN_DECLS

#define SPDL_PAYLOAD_MAX_MEMORIES GST_SPDL_MAX_TENSORS

/* Offsets and sizes of a buffer's memories in a slab. */
typedef struct {
  guint32 slab;
  guint32 n_memories;
  guint64 offsets[SPDL_PAYLOAD_MAX_MEMORIES];
  guint64 sizes[SPDL_PAYLOAD_MAX_MEMORIES];
} SpdlPlaces;

/* Writes @places and all of @buffer except its memory: flags, timestamps, the
 * metas for items, batches, parts and video, and whether a cache created it. */
SPDL_PRIVATE_API
void spdl_put_buffer (
    GByteArray *bytes, GstBuffer *buffer, const SpdlPlaces *places);

/* Returns: (transfer full): a buffer without memory, whose location is in
 * @places, or NULL if the data is invalid. The caller must check @places
 * against the slab's size. */
SPDL_PRIVATE_API
GstBuffer *spdl_get_buffer (SpdlPayload *self, SpdlPlaces *places);

G_END_DECLS
