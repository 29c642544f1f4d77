/* gst-spdl: from a video's frame to an image
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
} SpdlChoice;

/* What a random choice depends on. */
typedef struct {
  guint64 seed;
  guint64 epoch;
  guint64 index;
} SpdlChoiceKey;

void spdl_choice_init (SpdlChoice *self);
void spdl_choice_clear (SpdlChoice *self);

/* Chooses, as @clip says, from the frames in @packets, which are sorted.
 * @times: (nullable): those that are given. FALSE with @error set if there are
 * not enough. */
gboolean spdl_choice_make (SpdlChoice *self, const SpdlClip *clip,
    const SpdlPackets *packets, const GArray *times, const SpdlChoiceKey *key,
    GError **error);

/* The frame that is number @i of the clip: the last one again, behind the ends
 * of those that there are. */
static inline guint
spdl_choice_get (const SpdlChoice *self, guint i)
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
} SpdlStrip;

void spdl_strip_clear (SpdlStrip *self);

/* Begins a clip of images as in @info. FALSE with @error set if there is no
 * memory. */
gboolean spdl_strip_begin (
    SpdlStrip *self, const GstVideoInfo *info, guint n_frames, GError **error);

/* Whether there is a clip that is begun. */
static inline gboolean
spdl_strip_has_begun (const SpdlStrip *self)
{
  return self->buffer != NULL;
}

/* FALSE with @error set if @image is not as in the others. */
gboolean spdl_strip_put (SpdlStrip *self, guint i, GstBuffer *image,
    const GstVideoInfo *info, GError **error);

/* Makes of frame @i the same as of frame @from. */
void spdl_strip_repeat (SpdlStrip *self, guint i, guint from);

/* @caps: (out) (transfer none), until the next.
 *
 * Returns: (transfer full) */
GstBuffer *spdl_strip_end (SpdlStrip *self, GstCaps **caps);
void spdl_strip_cancel (SpdlStrip *self);

/* Draws @frame as @view and @target say: as planes, in the colours that it has,
 * where that does; else through @picture.
 *
 * Returns: (transfer full): NULL with @error set if it cannot be drawn
 * @caps: (out) (transfer none): the image's, until the next */
GstBuffer *spdl_shot_draw (const SpdlFrame *frame, SpdlCanvas *canvas,
    SpdlPicture *picture, const SpdlTarget *target, const SpdlView *view,
    GstCaps **caps, GError **error);

G_END_DECLS
