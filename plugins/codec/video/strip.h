/* gst-spdl: the memory of a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

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

G_END_DECLS
