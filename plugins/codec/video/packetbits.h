/* gst-spdl: frame types of video packets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* What can be told of a packet before it is decoded. What is not known to be so
 * is not so. */

typedef enum {
  SPDL_CODEC_OTHER,
  SPDL_CODEC_AV1,
  SPDL_CODEC_H263,
  SPDL_CODEC_H264,
  SPDL_CODEC_H265,
  SPDL_CODEC_JPEG,
  SPDL_CODEC_MPEG2,
  SPDL_CODEC_MPEG4,
  SPDL_CODEC_PRORES,
  SPDL_CODEC_VP8,
  SPDL_CODEC_VP9,
} SpdlCodec;

typedef struct {
  SpdlCodec codec;
  guint length_size; /* of lengths before units of H.264 and H.265; 0: none */
} SpdlPacketFormat;

/* A unit of a packet of H.264 or H.265, and what is behind it. */
typedef struct {
  const guint8 *data;
  gsize size;
  const guint8 *rest;
  gsize rest_size;
} SpdlUnit;

/* Goes to the next unit in the rest. FALSE if there is none, it is cut off, or
 * units have no lengths before them. */
gboolean spdl_unit_next (SpdlUnit *self, guint length_size);

/* From @caps, and what goes with them. */
SpdlPacketFormat spdl_packet_get_format (const GstCaps *caps);

/* Whether it is never shown: what other frames are made from, in VP8 and VP9.
 */
gboolean spdl_packet_is_hidden (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

/* Whether nothing else is made from it, so that it can be left out: of H.264
 * whose units have lengths. */
gboolean spdl_packet_is_spare (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

/* Whether it is called a key frame, but is made from what was before it; or
 * pictures are whole only some time after it, since they are refreshed little
 * by little. */
gboolean spdl_packet_is_false_key (
    const SpdlPacketFormat *format, const guint8 *data, gsize size);

G_END_DECLS
