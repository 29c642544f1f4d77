/* gst-spdl: what packets of a video tell before they are decoded
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <libavcodec/avcodec.h>

G_BEGIN_DECLS

/* VOPs (frames) of MPEG-4 part 2 */

/* Result of decoding a packet. With packed bitstreams, a packet may contain two
 * frames, the second of which the decoder keeps; a later packet contains none
 * and outputs the kept frame. So each packet gives one frame or none. */
typedef enum {
  SPDL_VOP_UNKNOWN, /* cannot be determined */
  SPDL_VOP_NONE,    /* no frame */
  SPDL_VOP_WHOLE,   /* intra frame */
  SPDL_VOP_REFERENCE,
  SPDL_VOP_BETWEEN, /* B frame: shown before the frame that precedes it */
} SpdlVop;

#define SPDL_VOPS_MAX_KEPT 4

typedef struct {
  guint time_bits; /* number of bits of a frame's time; 0: no header yet */
  SpdlVop kept[SPDL_VOPS_MAX_KEPT];
  guint n_kept;
} SpdlVops;

/* Initializes from the codec and its headers. Returns whether it is MPEG-4
 * part 2. */
gboolean spdl_vops_begin (SpdlVops *self, const AVCodecParameters *codec);

/* Reads the next packet.
 * @header_size: (out): size of the stream header at its beginning; 0: none */
SpdlVop spdl_vops_take (
    SpdlVops *self, const guint8 *data, gsize size, gsize *header_size);

/* Kinds of frames */

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

/* Numbers of pictures in H.264 */

/* H.264 numbers the pictures that others depend on. libavcodec replaces missing
 * ones by a copy of another picture without an error, so the numbers are read
 * here. */
typedef struct {
  guint n_bits;        /* of a number; 0: no header yet */
  gboolean has_planes; /* the color planes are coded separately */
  gboolean may_skip;   /* numbers may be missing */
  gboolean has_fields; /* a picture may be a field */
  guint previous;      /* number of the last picture that others depend on */
  gboolean has_previous;
  gboolean is_broken;  /* one is missing since the last key frame */
  gboolean was_broken; /* or before it: pictures that are shown before the key
                          frame may depend on it */
} SpdlFrameNumbers;

/* Starts with the headers of @codec. */
void spdl_frame_numbers_begin (
    SpdlFrameNumbers *self, const AVCodecParameters *codec);

/* Reads the next packet. Returns whether a picture that it may depend on is
 * missing.
 * @is_key: decoding may begin with it */
gboolean
spdl_frame_numbers_take (SpdlFrameNumbers *self, const SpdlPacketFormat *format,
    const guint8 *data, gsize size, gboolean is_key);

G_END_DECLS
