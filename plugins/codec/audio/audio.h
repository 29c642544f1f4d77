/* gst-spdl: decodes one audio item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* Decodes audio files. Of WAV whose samples are as they are wanted, the result
 * is a part of the file, without a copy; everything else goes through FFmpeg's
 * libraries, which are loaded for the first file that needs them. One thread at
 * a time. */

typedef struct _SpdlAudio SpdlAudio;

SpdlAudio *spdl_audio_new (void);
void spdl_audio_free (SpdlAudio *self);

/* Whether @data, all of a file, is audio; spdl_audio_decode() then decodes it,
 * or says what is wrong with it. With @takes_video, a file that has a video
 * stream is none. */
gboolean spdl_audio_look (
    SpdlAudio *self, const guint8 *data, gsize size, gboolean takes_video);

/* The same for a file that nothing else recognizes: audio behind some junk. */
gboolean spdl_audio_search (SpdlAudio *self, const guint8 *data, gsize size);

/* Decodes the file that was looked at, which is all of @item, to what @config
 * says.
 *
 * Returns: (transfer full) (nullable): the samples, or NULL with @error set.
 *     With @keep, @error may be set beside a result: the file is broken, and
 *     the result is what comes before. @caps: (out) (transfer none): until the
 *     next call */
GstBuffer *spdl_audio_decode (SpdlAudio *self, const SpdlAudioConfig *config,
    gboolean keep, GstBuffer *item, GstCaps **caps, GError **error);

G_END_DECLS
