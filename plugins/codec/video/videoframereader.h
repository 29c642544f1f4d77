/* gst-spdl: reads some frames of a video
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

/* Gives to a decoder what some frames need, and no more: from the nearest key
 * frame on, and from one to the next without what is between them; and no
 * packets, where that can be told, from which nothing else is made. One thread
 * at a time. */

typedef struct {
  SpdlVideoDecoderSink sink; /* of the decoder */
  SpdlPackets *packets;
  SpdlVideoDecoder *video_decoder;
  gboolean keep; /* go on after what cannot be decoded */
  GCancellable *cancellable;
  void (*frame) (gpointer user_data, guint rank, const SpdlFrame *frame);
  gpointer user_data;

  /* What is being decoded. */
  guint begin, next; /* packets that went in */
  guint n_frames;    /* that came out */
  SpdlPacketFormat format;
} SpdlVideoFrameReader;

/* @user_data: of @frame, which is called for each frame that is wanted. */
void spdl_video_frame_reader_init (SpdlVideoFrameReader *self,
    void (*frame) (gpointer, guint, const SpdlFrame *), gpointer user_data);

/* Decodes the @n frames of @ranks, which ascend. FALSE with @error set if one
 * cannot be had; with keep, if none. */
gboolean spdl_video_frame_reader_play (
    SpdlVideoFrameReader *self, const guint *ranks, guint n, GError **error);

G_END_DECLS
