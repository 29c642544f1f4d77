/* gst-spdl: video decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"

G_BEGIN_DECLS

/* A decoder element, behind a parser where it needs one, which plays from the
 * first video to the last. Packets go in, and their frames come out in the same
 * thread, in the order in which they are shown. One thread at a time. */

/* In packets' caps: the colorimetry that the container names, which holds where
 * the bitstream names none. */
#define SPDL_CONTAINER_COLORS "container-colorimetry"

typedef struct _SpdlVideoDecoder SpdlVideoDecoder;

typedef struct {
  /* @frame: what came out, for the call; @pts: of the packet that it is of. */
  void (*frame) (gpointer user_data, const SpdlFrame *frame, GstClockTime pts);
  gpointer user_data;
} SpdlVideoDecoderSink;

/* @caps: of the first video. @sink: must stay. NULL with @error set if there is
 * no such decoder, by name, or it does not start. */
SpdlVideoDecoder *spdl_video_decoder_new (GstCaps *caps, guint n_threads,
    const SpdlVideoDecoderSink *sink, GError **error);
void spdl_video_decoder_free (SpdlVideoDecoder *self);

/* Whether it decodes such packets, too. Codecs that have decoders of their own
 * share a media type: video/x-rle, and its "layout" tells them apart. */
gboolean
spdl_video_decoder_takes (const SpdlVideoDecoder *self, const GstCaps *caps);

/* Of videos of more pixels nothing comes out. */
void
spdl_video_decoder_set_max_pixels (SpdlVideoDecoder *self, guint64 max_pixels);

/* @packet: (transfer full). FALSE if it is refused: then there is a message. */
gboolean spdl_video_decoder_push (
    SpdlVideoDecoder *self, GstBuffer *packet, GstCaps *caps);

/* Nothing more comes of this place: all frames come out, and the next packet
 * may be of another place, or another video. */
void spdl_video_decoder_drain (SpdlVideoDecoder *self);

/* The same, but the frames are thrown away; and the decoder is as new if it
 * was in trouble. */
void spdl_video_decoder_flush (SpdlVideoDecoder *self);

/* Returns: (transfer full) (nullable): what it has posted since the last call
 */
gchar *spdl_video_decoder_take_message (SpdlVideoDecoder *self);

const gchar *spdl_video_decoder_get_name (const SpdlVideoDecoder *self);

G_END_DECLS
