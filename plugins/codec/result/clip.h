/* gst-spdl: frame selection of a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Frames are numbered in presentation order, from 0. A clip of n frames with
 * step s from a video of N frames consists of:
 *
 *     HEAD     frames 0, s, 2 s, ...
 *     CENTER   frames from (N - L) / 2, rounded down, where L = (n - 1) s + 1
 *              is the number of frames that the clip spans
 *     RANDOM   frames from a random start between 0 and N - L
 *     UNIFORM  the middle frame of each n-th part: (2 i + 1) N / (2 n),
 *              rounded down
 *     TIMES    the frames shown at given times
 *
 * The random start depends only on (seed, epoch, index) and N - L: it is the
 * first number of the generator that fit.h describes, with SPDL_CLIP_KEY as the
 * key. From a video of fewer than L frames (UNIFORM: n), frames are taken from
 * the first one on, as far as there are any. */

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
  guint num_frames; /* 0: a single image, the frame of a one-frame clip */
  guint frame_step;
  SpdlClipKind kind;
  SpdlClipPad pad;
} SpdlClip;

/* Returns how many frames a video needs so that the clip is complete. Not for
 * TIMES. */
guint64 spdl_clip_get_reach (const SpdlClip *self);

/* Writes the selected frame numbers of a video with @n_frames frames to @ranks,
 * which has room for num_frames, and returns their count. Not for TIMES. */
guint spdl_clip_choose (const SpdlClip *self, guint64 seed, guint64 epoch,
    guint64 index, guint n_frames, guint *ranks);

/* Parses the field `clip-times` of an item's @extra: times in seconds, as text
 * separated by spaces or `;`, or as an array, in which guint64 values are
 * nanoseconds.
 * Returns: (transfer full): array of GstClockTime; NULL with @error set if the
 * field is missing or invalid, or has fewer than 1 or more than @num_frames
 * times. */
GArray *spdl_clip_get_times (
    const GstStructure *extra, guint num_frames, GError **error);

G_END_DECLS
