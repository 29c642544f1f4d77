/* gst-spdl: packets of a window, without those before it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/audio/audiotrack.h"

G_BEGIN_DECLS

/* Finds the packets of a window in FLAC, MPEG audio and PCM files, where their
 * positions follow from the frame headers or from the sample size. Whatever is
 * unusual in a file makes it fail, and the caller then reads the whole file. */

typedef struct _SpdlAudioSeek SpdlAudioSeek;

SpdlAudioSeek *spdl_audio_seek_new (void);
void spdl_audio_seek_free (SpdlAudioSeek *self);

typedef enum {
  SPDL_SIGHT_NONE,    /* the format has no such positions */
  SPDL_SIGHT_UNCLEAR, /* the track must be opened again, and read in whole */
  SPDL_SIGHT_CLEAR,
} SpdlAudioSight;

/* Looks at the file of @track, whose first packet has been read, and at its
 * end.
 * @n: (out): number of its samples, if CLEAR */
SpdlAudioSight
spdl_audio_seek_look (SpdlAudioSeek *self, SpdlAudioTrack *track, guint64 *n);

/* Replaces the packets of @track by those that its samples from @from up to @to
 * need. Returns FALSE if that is not possible; the track must then be opened
 * again. */
gboolean spdl_audio_seek_read (SpdlAudioSeek *self, guint64 from, guint64 to);

G_END_DECLS
