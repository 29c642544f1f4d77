/* gst-spdl: numbers of pictures in H.264
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/video/packetbits.h"

G_BEGIN_DECLS

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
