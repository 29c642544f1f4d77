/* gst-spdl: decoders for the packets of sound, held open
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_VOICES_H__
#define __SPDL_VOICES_H__

#include "spdlsound.h"
#include "spdltrack.h"

G_BEGIN_DECLS

/* GStreamer's decoders for sound: those that are known to be the fastest, then
 * others by rank. Each is between two pads of ours, in no bin, and stays open;
 * no file finds anything of another. One thread at a time. */

typedef struct _SpdlVoices SpdlVoices;

SpdlVoices *spdl_voices_new (void);
void spdl_voices_free (SpdlVoices *self);

/* Decodes what @target wants of @track into @sound, which then is to be ended.
 * FALSE with @error set if it is broken or nobody decodes it; @sound may have
 * begun all the same, with what could be decoded: @has_begun. */
gboolean spdl_voices_decode (SpdlVoices *self, const SpdlTrack *track,
    const SpdlAudioTarget *target, SpdlSound *sound, gboolean *has_begun,
    GError **error);

G_END_DECLS

#endif /* __SPDL_VOICES_H__ */
