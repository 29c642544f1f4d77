/* gst-spdl: frame size in the headers of video codecs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/video/packetbits.h"

G_BEGIN_DECLS

/* A container may say another size than the stream in it has, and decoders take
 * memory for the stream's. So it is read from the stream's headers before a
 * decoder gets them: of H.264, H.265, AV1, VP8, VP9, MPEG-1, -2 and -4, Motion
 * JPEG and ProRes.
 *
 * Rows and columns that are decoded and then cut off count, but for those that
 * fill up the last block. */
typedef struct {
  guint width;
  guint height;
} SpdlFrameSize;

/* Finds the size of the largest frames that headers in a packet announce.
 * Returns FALSE if the packet has no such header, or it makes no sense. */
gboolean spdl_frame_size_find (const SpdlPacketFormat *format,
    const guint8 *data, gsize size, SpdlFrameSize *found);

/* The same of the headers that go with @caps. */
gboolean
spdl_frame_size_find_in_caps (const GstCaps *caps, SpdlFrameSize *found);

G_END_DECLS
