/* gst-spdl: frame types of video packets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <libavcodec/avcodec.h>

#include "plugins/codec/video/vops.h"

G_BEGIN_DECLS

/* Properties of a packet that are known before it is decoded. All functions
 * return FALSE if they cannot tell. */

typedef struct {
  enum AVCodecID codec;
  guint length_size; /* of the length fields before NAL units in H.264 and
                        H.265; 0: start codes */
} SpdlPacketFormat;

/* A NAL unit in a packet of H.264 or H.265, and the data after it. */
typedef struct {
  const guint8 *data;
  gsize size;
  const guint8 *rest;
  gsize rest_size;
} SpdlUnit;

/* Advances to the next unit. Returns FALSE if there is none, or it is
 * truncated. */
gboolean spdl_unit_next (SpdlUnit *self, guint length_size);

/* Determines the format from the codec and its headers. */
SpdlPacketFormat spdl_packet_get_format (const AVCodecParameters *codec);

/* Returns whether the frame is never shown: reference frames in VP8 and VP9. */
gboolean spdl_packet_is_hidden (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

/* Returns whether no other frame depends on this one, so that it can be
 * skipped. Only for H.264 with length fields. */
gboolean spdl_packet_is_spare (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

/* Returns whether a frame that is decoded after a key frame, and shown before
 * it, depends on frames before the key frame, as in an open group of
 * pictures. */
gboolean spdl_packet_needs_earlier (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

/* Returns whether a key frame is not a random access point: it depends on
 * earlier frames, or pictures are complete only later because of gradual
 * refresh. */
gboolean spdl_packet_is_false_key (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

/* Returns the kind of the picture in MPEG-1 and MPEG-2. */
SpdlVop spdl_packet_get_vop (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

G_END_DECLS
