/* gst-spdl: video decoder based on libavcodec
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <libavcodec/avcodec.h>

G_BEGIN_DECLS

/* A decoder that stays open between videos of the same format. Frames are
 * output in the thread that pushes packets, in presentation order. Not
 * thread-safe. */

typedef struct _SpdlVideoDecoder SpdlVideoDecoder;

/* @frame: called for each frame, with the timestamp of its packet */
SpdlVideoDecoder *spdl_video_decoder_new (
    void (*frame) (gpointer user_data, const AVFrame *frame),
    gpointer user_data);
void spdl_video_decoder_free (SpdlVideoDecoder *self);

/* Opens a decoder for a stream with @parameters. After a flush, decoders still
 * know of the previous video, so each one gets a new decoder. Videos with more
 * than
 * @max_pixels are rejected before a frame is allocated. With @keep, frames with
 * errors are good. Returns FALSE with
 * @error set, which names the codec, if there is none or it does not start. */
gboolean spdl_video_decoder_open (SpdlVideoDecoder *self,
    const AVCodecParameters *parameters, guint64 max_pixels, gboolean keep,
    GError **error);

/* Returns FALSE if the packet is rejected, or the decoder reported an error,
 * for example that a picture is missing which this one is made from; a message
 * is then available. */
gboolean
spdl_video_decoder_push (SpdlVideoDecoder *self, const AVPacket *packet);

/* Returns whether a frame was decoded without an error of its packet or an
 * earlier one, as far as the decoder tells. */
gboolean
spdl_video_decoder_is_good (const SpdlVideoDecoder *self, const AVFrame *frame);

/* Forgets the errors of packets on which no later one depends. */
void spdl_video_decoder_forgive (SpdlVideoDecoder *self);

/* Outputs all pending frames. The next packet may be from another position. */
void spdl_video_decoder_drain (SpdlVideoDecoder *self);

/* Notes a defect that the decoder does not know of. */
void spdl_video_decoder_note (SpdlVideoDecoder *self, const gchar *text);

/* Notes that a frame has a format that nothing can convert. */
void spdl_video_decoder_refuse (SpdlVideoDecoder *self, const AVFrame *frame);

/* Returns: (transfer full) (nullable): the first defect since the last call */
gchar *spdl_video_decoder_take_message (SpdlVideoDecoder *self);

const gchar *spdl_video_decoder_get_name (const SpdlVideoDecoder *self);

G_END_DECLS
