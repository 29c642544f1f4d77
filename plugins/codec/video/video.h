/* gst-spdl: decodes one video item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"
#include "plugins/codec/result/canvas.h"
#include "plugins/codec/result/imagetransform.h"

G_BEGIN_DECLS

/* GStreamer's demuxers and decoders for video, held open: one of each kind that
 * came, whatever the order. One thread at a time. */

typedef struct _SpdlVideo SpdlVideo;

/* @canvas, @picture: (not owned): the item decoder's. */
SpdlVideo *spdl_video_new (SpdlCanvas *canvas, SpdlPicture *picture);
void spdl_video_free (SpdlVideo *self);

/* What a file is that may have video: what typefind calls it, interned; or
 * NULL. */
const gchar *
spdl_video_find_type (SpdlVideo *self, const guint8 *data, gsize size);

/* Decodes an item of @type as spdl_item_decoder_decode() does: a clip, or an
 * image where the config's num_frames is 0. */
GstBuffer *spdl_video_decode (SpdlVideo *self, const gchar *type,
    const SpdlDecodeConfig *config, const SpdlSource *source,
    SpdlImageTransform *transform, GstCaps **result_caps, GError **error);

/* When the frames of the last clip are shown, in ns, and how many are its own:
 * those behind them are the last one again. */
const GArray *spdl_video_get_times (const SpdlVideo *self, guint *n_own);

G_END_DECLS
