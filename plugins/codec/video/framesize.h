/* gst-spdl: frame size in the headers of video codecs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/video/packetbits.h"

G_BEGIN_DECLS

/* The frame size in a container may differ from that in the bitstream, and
 * decoders allocate memory for the latter. Therefore the size is read from the
 * bitstream's headers before a decoder receives them. Supports H.264, H.265,
 * AV1, VP8, VP9, MPEG-1, -2 and -4, Motion JPEG and ProRes.
 *
 * The size includes cropped rows and columns, except for those that pad the
 * last block. */
typedef struct {
  guint width;
  guint height;
} SpdlFrameSize;

/* Finds the maximum frame size in the headers of a packet. Returns FALSE if the
 * packet has no such header, or the header is invalid. */
gboolean spdl_frame_size_find (const SpdlPacketFormat *format,
    const guint8 *data, gsize size, SpdlFrameSize *found);

/* Same for the headers in @caps. */
gboolean
spdl_frame_size_find_in_caps (const GstCaps *caps, SpdlFrameSize *found);

G_END_DECLS
