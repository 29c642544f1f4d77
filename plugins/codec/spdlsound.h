/* gst-spdl: decoded sound on its way into a result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SOUND_H__
#define __SPDL_SOUND_H__

#include "spdlaudiotarget.h"
#include "spdlsamples.h"

G_BEGIN_DECLS

/* Takes the blocks of one sound after the other, and makes of the window of it
 * that is wanted one buffer of the channels, rate and format that are wanted.
 * One thread at a time. */

typedef struct _SpdlSound SpdlSound;

/* What a sound is before. */
typedef struct {
  GstAudioFormat format;
  guint rate;
  guint n_channels;
  const GstAudioChannelPosition *positions; /* nullable: not known */
  guint64 n; /* of its samples, at most; G_MAXUINT64: not known */
} SpdlSoundInput;

SpdlSound *spdl_sound_new (void);
void spdl_sound_free (SpdlSound *self);

/* Begins a sound; the one before is forgotten. @target stays until it ends.
 * FALSE with @error set, in a sentence about "it", if it cannot be made. */
gboolean spdl_sound_begin (SpdlSound *self, const SpdlAudioTarget *target,
    const SpdlSoundInput *input, GError **error);

/* Which of its samples count: those from *from to before *to, at the sound's
 * own rate. */
void spdl_sound_get_needed (const SpdlSound *self, guint64 *from, guint64 *to);

/* Takes a block, whose first sample is that of number @position in the sound,
 * or lies before it; nothing may be missing from where it is needed. FALSE:
 * enough has come, or, with @error set, too much. */
gboolean spdl_sound_write (
    SpdlSound *self, gint64 position, const SpdlBlock *block, GError **error);

/* Whether all of the window has come. */
gboolean spdl_sound_is_complete (const SpdlSound *self);

/* The sound ends where the last block did, or before: at @end.
 *
 * Returns: (transfer full): the result, or NULL with @error set: it has no
 *     sample in the window. @caps: (out) (transfer none) */
GstBuffer *spdl_sound_end (SpdlSound *self, GstCaps **caps, GError **error);

/* What its caps are, for a result that needs no making. */
GstCaps *spdl_sound_get_caps (SpdlSound *self);

/* Whether samples of the sound are the result's as they are. */
gboolean spdl_sound_is_same (const SpdlSound *self);

G_END_DECLS

#endif /* __SPDL_SOUND_H__ */
