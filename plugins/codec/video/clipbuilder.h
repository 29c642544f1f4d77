/* gst-spdl: builds clips of video frames
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
#include "plugins/codec/video/packets.h"

G_BEGIN_DECLS

/* Which frames of a video that is known are those of a clip. */
typedef struct {
  GArray *ranks;  /* of guint: for each frame of the clip, as far as they go */
  GArray *sorted; /* those, each once */
  guint n_frames; /* of the clip */
} SpdlFrameSelection;

/* What a random choice depends on. */
typedef struct {
  guint64 seed;
  guint64 epoch;
  guint64 index;
} SpdlFrameSelectionKey;

void spdl_frame_selection_init (SpdlFrameSelection *self);
void spdl_frame_selection_clear (SpdlFrameSelection *self);

/* Chooses, as @clip says, from the frames in @packets, which are sorted.
 * @times: (nullable): those that are given. FALSE with @error set if there are
 * not enough. */
gboolean spdl_frame_selection_make (SpdlFrameSelection *self,
    const SpdlClip *clip, const SpdlPackets *packets, const GArray *times,
    const SpdlFrameSelectionKey *key, GError **error);

/* The frame that is number @i of the clip: the last one again, behind the ends
 * of those that there are. */
static inline guint
spdl_frame_selection_get (const SpdlFrameSelection *self, guint i)
{
  return g_array_index (self->ranks, guint, MIN (i, self->ranks->len - 1));
}

/* Images of one size, one behind the other, as a tensor: channels, columns,
 * rows, frames. Its memory and its caps serve the next clip of that size, too.
 * One thread at a time, but for the buffers that it gives. */

typedef struct {
  GstCaps *caps;
  GstBufferPool *pool;
  guint width, height, n_channels, n_frames; /* of these */

  /* The clip in hand. */
  GstBuffer *buffer;
  GstMapInfo map;
} SpdlClipBuilder;

void spdl_clip_builder_clear (SpdlClipBuilder *self);

/* Begins a clip of images as in @info. FALSE with @error set if there is no
 * memory. */
gboolean spdl_clip_builder_begin (SpdlClipBuilder *self,
    const GstVideoInfo *info, guint n_frames, GError **error);

/* Whether there is a clip that is begun. */
static inline gboolean
spdl_clip_builder_has_begun (const SpdlClipBuilder *self)
{
  return self->buffer != NULL;
}

/* FALSE with @error set if @image is not as in the others. */
gboolean spdl_clip_builder_put (SpdlClipBuilder *self, guint i,
    GstBuffer *image, const GstVideoInfo *info, GError **error);

/* Makes of frame @i the same as of frame @from. */
void spdl_clip_builder_repeat (SpdlClipBuilder *self, guint i, guint from);

/* @caps: (out) (transfer none), until the next.
 *
 * Returns: (transfer full) */
GstBuffer *spdl_clip_builder_end (SpdlClipBuilder *self, GstCaps **caps);
void spdl_clip_builder_cancel (SpdlClipBuilder *self);

/* Draws @frame as @transform and @config say: as planes, in the colours that it
 * has, where that does; else through @picture.
 *
 * Returns: (transfer full): NULL with @error set if it cannot be drawn
 * @caps: (out) (transfer none): the image's, until the next */
GstBuffer *spdl_clip_builder_draw (const SpdlFrame *frame, SpdlCanvas *canvas,
    SpdlPicture *picture, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, GstCaps **caps, GError **error);

G_END_DECLS
