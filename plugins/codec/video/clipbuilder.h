/* gst-spdl: frame selection and assembly of video clips
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

#include "plugins/codec/resize/picture.h"
#include "plugins/codec/result/canvas.h"
#include "plugins/codec/result/clip.h"
#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

G_BEGIN_DECLS

/* Frames of a video that form a clip. */
typedef struct {
  GArray *ranks;  /* of guint: frame number for each frame of the clip; shorter
                     than the clip if frames are missing */
  GArray *sorted; /* the same numbers, sorted, without duplicates */
  guint n_frames; /* of the clip */
} SpdlFrameSelection;

/* Key of the random selection. */
typedef struct {
  guint64 seed;
  guint64 epoch;
  guint64 index;
} SpdlFrameSelectionKey;

void spdl_frame_selection_init (SpdlFrameSelection *self);
void spdl_frame_selection_clear (SpdlFrameSelection *self);

/* Selects frames from @table according to @clip.
 * @times: (nullable): requested times
 * Returns FALSE with @error set if there are not enough frames. */
gboolean spdl_frame_selection_make (SpdlFrameSelection *self,
    const SpdlClip *clip, const SpdlVideoTable *table, const GArray *times,
    const SpdlFrameSelectionKey *key, GError **error);

/* Returns the number of the frame at position @i of the clip. Positions after
 * the last selected frame repeat it. */
static inline guint
spdl_frame_selection_get (const SpdlFrameSelection *self, guint i)
{
  return g_array_index (self->ranks, guint, MIN (i, self->ranks->len - 1));
}

/* Builds a tensor of images of equal size; its dimensions are channels,
 * columns, rows, frames. Buffer pool and caps are reused for the next clip of
 * the same size. Not thread-safe, except for the returned buffers. */

typedef struct {
  GstCaps *caps;
  GstBufferPool *pool;
  guint width, height, n_channels, n_frames; /* of `caps` */

  /* The current clip. */
  GstBuffer *buffer;
  GstMapInfo map;
} SpdlClipBuilder;

void spdl_clip_builder_clear (SpdlClipBuilder *self);

/* Starts a clip of images with the format in @info. Returns FALSE with @error
 * set if memory cannot be allocated. */
gboolean spdl_clip_builder_begin (SpdlClipBuilder *self,
    const GstVideoInfo *info, guint n_frames, GError **error);

/* Returns whether a clip was started. */
static inline gboolean
spdl_clip_builder_has_begun (const SpdlClipBuilder *self)
{
  return self->buffer != NULL;
}

/* Copies @image to position @i. Returns FALSE with @error set if its size or
 * format differs from that of the clip. */
gboolean spdl_clip_builder_put (SpdlClipBuilder *self, guint i,
    GstBuffer *image, const GstVideoInfo *info, GError **error);

/* Copies frame @from to position @i. */
void spdl_clip_builder_repeat (SpdlClipBuilder *self, guint i, guint from);

/* @caps: (out) (transfer none): valid until the next call
 * Returns: (transfer full): the clip */
GstBuffer *spdl_clip_builder_end (SpdlClipBuilder *self, GstCaps **caps);
void spdl_clip_builder_cancel (SpdlClipBuilder *self);

/* Draws @frame with @transform and @config: directly from its planes if the
 * format allows it, else through @picture.
 * @caps: (out) (transfer none): caps of the image, valid until the next call
 * Returns: (transfer full): the image, or NULL with @error set */
GstBuffer *spdl_clip_builder_draw (const SpdlFrame *frame, SpdlCanvas *canvas,
    SpdlPicture *picture, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, GstCaps **caps, GError **error);

G_END_DECLS
