/* gst-spdl: decoder of audio items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* Decodes audio files. A WAV file whose samples already have the negotiated
 * format is not copied: the result is a sub-buffer of the item. Other files are
 * decoded by FFmpeg's libraries, which are loaded for the first file that needs
 * them. Not thread-safe. */

typedef struct _SpdlAudio SpdlAudio;

SpdlAudio *spdl_audio_new (void);
void spdl_audio_free (SpdlAudio *self);

/* Returns whether @data, a whole file, is audio. If so, spdl_audio_decode()
 * decodes it or reports its defect. With @takes_video, a file with a video
 * stream is not audio. */
gboolean spdl_audio_look (
    SpdlAudio *self, const guint8 *data, gsize size, gboolean takes_video);

/* Same for a file that no other format matches: audio that is preceded by other
 * bytes. */
gboolean spdl_audio_search (SpdlAudio *self, const guint8 *data, gsize size);

/* Decodes @item, which must be the last detected file, according to @config. A
 * random offset in @config is drawn with @key: seed, epoch and index.
 * @cancellable: (nullable)
 * @caps: (out) (transfer none): valid until the next call
 * Returns: (transfer full) (nullable): the samples, or NULL with @error set.
 * With @keep, @error may be set although there is a result: the file is
 * corrupt, and the result is the part before the defect. */
GstBuffer *spdl_audio_decode (SpdlAudio *self, SpdlAudioConfig *config,
    const guint64 key[3], gboolean keep, GstBuffer *item,
    GCancellable *cancellable, GstCaps **caps, GError **error);

G_END_DECLS
