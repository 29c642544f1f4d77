/* gst-spdl: decoder of video items
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

/* Decodes videos with FFmpeg's libraries, which are loaded for the first one.
 * Not thread-safe. */

typedef struct _SpdlVideo SpdlVideo;

/* @canvas: (transfer none): shared with the item decoder */
SpdlVideo *spdl_video_new (SpdlCanvas *canvas);
void spdl_video_free (SpdlVideo *self);

/* Returns the media type that typefinding reports, interned, if the file may
 * have video; else NULL. */
const gchar *spdl_video_find_type (const guint8 *data, gsize size);

/* Returns the media type of an image that may have several frames: GIF, and PNG
 * that declares them; else NULL. */
const gchar *spdl_video_find_animation (const guint8 *data, gsize size);

/* Decodes an item of media type @type, whose data is @in, like
 * spdl_item_decoder_decode(): to a clip, or to an image if num_frames is 0. */
GstBuffer *
spdl_video_decode (SpdlVideo *self, const gchar *type, const GstMapInfo *in,
    const SpdlDecodeConfig *config, const SpdlSource *source,
    SpdlImageTransform *transform, GstCaps **result_caps, GError **error);

/* Returns the presentation times of the last clip's frames, in ns.
 * @n_own: (out): number of frames from the video; the rest repeat the last
 * one */
const GArray *spdl_video_get_times (const SpdlVideo *self, guint *n_own);

G_END_DECLS
