/* gst-spdl: choice of the frames of a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Frames are counted as they are shown, from 0. Of a video of N frames a clip
 * of n frames with a step of s takes, with
 *
 *   HEAD     0, s, 2 s, ...
 *   CENTER   from (N - L) / 2 on, rounded down, where L = (n - 1) s + 1 is how
 *            many frames it reaches over
 *   RANDOM   from a place on that is drawn from 0 to N - L
 *   UNIFORM  the one in the middle of each n-th part: (2 i + 1) N / (2 n),
 *            rounded down
 *   TIMES    those that are shown at given times
 *
 * What is drawn depends on (seed, epoch, index) and N - L alone: the first
 * number of the generator that augment.h describes, with SPDL_CLIP_KEY in
 * the place of its key. A video of less than L frames (or n) gives those that
 * there are, from its first one on. */

#define SPDL_CLIP_KEY G_GUINT64_CONSTANT (0x636c697000000001)
#define SPDL_CLIP_MAX_FRAMES 65535

typedef enum {
  SPDL_CLIP_HEAD,
  SPDL_CLIP_CENTER,
  SPDL_CLIP_RANDOM,
  SPDL_CLIP_UNIFORM,
  SPDL_CLIP_TIMES,
} SpdlClipKind;

typedef enum {
  SPDL_CLIP_PAD_REPEAT,
  SPDL_CLIP_PAD_FAIL,
} SpdlClipPad;

typedef struct {
  guint num_frames; /* 0: an image, what a clip of one would have */
  guint frame_step;
  SpdlClipKind kind;
  SpdlClipPad pad;
  guint decoder_threads;
} SpdlClip;

/* How many frames must be there, so that none is missing. Not for TIMES. */
guint64 spdl_clip_get_reach (const SpdlClip *self);

/* Writes into @ranks, of which there are num_frames, those of a video of
 * @n_frames, and returns how many there are. Not for TIMES. */
guint spdl_clip_choose (const SpdlClip *self, guint64 seed, guint64 epoch,
    guint64 index, guint n_frames, guint *ranks);

/* The times that an item is to be shown at, from the field `clip-times` of its
 * @extra: numbers of seconds, as text with spaces or `;` between them or in an
 * array, where guint64 are nanoseconds.
 *
 * Returns: (transfer full): of GstClockTime; NULL with @error set if there is
 * no such field, or it is something else, or there are not 1 to @num_frames. */
GArray *spdl_clip_get_times (
    const GstStructure *extra, guint num_frames, GError **error);

G_END_DECLS
