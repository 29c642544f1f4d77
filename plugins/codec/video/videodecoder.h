/* gst-spdl: video decoder based on GStreamer elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"

G_BEGIN_DECLS

/* A decoder element, with a parser if needed, that stays in PLAYING between
 * videos. Frames are output in the thread that pushes packets, in presentation
 * order. Not thread-safe. */

/* Caps field of packets with the container's colorimetry, which applies if the
 * bitstream has none. */
#define SPDL_CONTAINER_COLORS "container-colorimetry"

typedef struct _SpdlVideoDecoder SpdlVideoDecoder;

typedef struct {
  /* @frame: valid during the call
   * @pts: timestamp of its packet */
  void (*frame) (gpointer user_data, const SpdlFrame *frame, GstClockTime pts);
  gpointer user_data;
} SpdlVideoDecoderSink;

/* @caps: caps of the first video
 * @sink: must stay valid
 * Returns NULL with @error set, which names the decoder, if there is none or it
 * does not start. */
SpdlVideoDecoder *spdl_video_decoder_new (GstCaps *caps, guint n_threads,
    const SpdlVideoDecoderSink *sink, GError **error);
void spdl_video_decoder_free (SpdlVideoDecoder *self);

/* Returns whether the decoder also accepts packets with @caps. Codecs with
 * different decoders may share a media type: video/x-rle has a "layout"
 * field. */
gboolean
spdl_video_decoder_takes (const SpdlVideoDecoder *self, const GstCaps *caps);

/* Rejects videos with more pixels. */
void
spdl_video_decoder_set_max_pixels (SpdlVideoDecoder *self, guint64 max_pixels);

/* @packet: (transfer full)
 * Returns FALSE if it is rejected; a message is then available. */
gboolean spdl_video_decoder_push (
    SpdlVideoDecoder *self, GstBuffer *packet, GstCaps *caps);

/* Outputs all pending frames. The next packet may be from another position or
 * video. */
void spdl_video_decoder_drain (SpdlVideoDecoder *self);

/* Drops all pending frames, and resets the decoder if it had an error. */
void spdl_video_decoder_flush (SpdlVideoDecoder *self);

/* Returns: (transfer full) (nullable): error message posted since the last
 * call */
gchar *spdl_video_decoder_take_message (SpdlVideoDecoder *self);

const gchar *spdl_video_decoder_get_name (const SpdlVideoDecoder *self);

G_END_DECLS
