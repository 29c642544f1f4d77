/* gst-spdl: decoding of selected frames of a video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/codec/video/packets.h"
#include "plugins/codec/video/videodecoder.h"

G_BEGIN_DECLS

/* Pushes only the packets that the selected frames need: decoding starts at the
 * nearest key frame, jumps to a later key frame where possible, and skips
 * non-reference frames that are not selected. Not thread-safe. */

typedef struct {
  SpdlPackets *packets;
  SpdlVideoDecoder *decoder;
  const SpdlVideoPlay *play;

  /* The current run. */
  guint begin, next; /* range of packets that were pushed */
  guint n_frames;    /* frames output */
} SpdlVideoFrameReader;

/* Decodes the @n frames @ranks, in ascending order. Returns FALSE with @error
 * set if one is missing, or with `keep`, if all are. */
gboolean spdl_video_frame_reader_play (
    SpdlVideoFrameReader *self, const guint *ranks, guint n, GError **error);

/* Takes a frame from the decoder. */
void
spdl_video_frame_reader_take (SpdlVideoFrameReader *self, const AVFrame *frame);

G_END_DECLS
