/* gst-spdl: the work on one image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/imagetransform.h"

G_BEGIN_DECLS

/* The state of one worker thread: JPEGs go through libjpeg-turbo, other images
 * through GStreamer's decoders, and both to the same canvas, frames of videos,
 * too; arrays become tensors. One thread at a time. */

typedef struct _SpdlItemDecoder SpdlItemDecoder;

SpdlItemDecoder *spdl_item_decoder_new (void);
void spdl_item_decoder_free (SpdlItemDecoder *self);

/* Makes of @source what @config says, and in @transform how that was done; its
 * width is 0 where it was no image. NULL with
 * @error set if it cannot be; with on-corrupt=keep, @error may be
 * set though there is a result. @result_caps: (transfer none), until the next.
 */
GstBuffer *spdl_item_decoder_decode (SpdlItemDecoder *self,
    const SpdlDecodeConfig *config, const SpdlSource *source,
    SpdlImageTransform *transform, GstCaps **result_caps, GError **error);

/* When the frames of the last item are shown, in ns, if it was a video; else
 * NULL. @n_own: how many are of the video; those behind them are the last one
 * again. */
const GArray *
spdl_item_decoder_get_times (const SpdlItemDecoder *self, guint *n_own);

G_END_DECLS
