/* gst-spdl: the frames of one video that become a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

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

G_END_DECLS
