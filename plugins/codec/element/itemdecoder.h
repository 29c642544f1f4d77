/* gst-spdl: decodes one item, of any kind
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/imagetransform.h"

G_BEGIN_DECLS

/* The decoders of one worker thread: JPEGs go through libjpeg-turbo, PNG, WebP,
 * GIF, TIFF and JPEG 2000 through their libraries, other images and videos
 * through GStreamer's decoders, sound through FFmpeg. Images and frames are
 * drawn on one canvas. One thread at a time. */

typedef struct _SpdlItemDecoder SpdlItemDecoder;

SpdlItemDecoder *spdl_item_decoder_new (void);
void spdl_item_decoder_free (SpdlItemDecoder *self);

/* Decodes @source as @config says.
 *
 * @transform: (out): how an image was transformed; its width is 0 for an item
 *     that is no image
 * @result_caps: (out) (transfer none): valid until the next call
 *
 * Returns: (transfer full) (nullable): NULL with @error set. With
 *     on-corrupt=keep, @error may be set though there is a result. */
GstBuffer *spdl_item_decoder_decode (SpdlItemDecoder *self,
    const SpdlDecodeConfig *config, const SpdlSource *source,
    SpdlImageTransform *transform, GstCaps **result_caps, GError **error);

/* Returns: (nullable): the times of the last item's frames, in ns, if it was a
 *     video. @n_own: how many of the frames are in the video; the others repeat
 *     the last one. */
const GArray *
spdl_item_decoder_get_times (const SpdlItemDecoder *self, guint *n_own);

G_END_DECLS
