/* gst-spdl: the work on one sound
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_AUDIO_H__
#define __SPDL_AUDIO_H__

#include "spdlaudiotarget.h"

G_BEGIN_DECLS

/* Decodes sound: WAV without any element, of which the result is a part of the
 * file where its samples are what is wanted; all else through GStreamer's
 * decoders. One thread at a time. */

typedef struct _SpdlAudio SpdlAudio;

SpdlAudio *spdl_audio_new (void);
void spdl_audio_free (SpdlAudio *self);

/* Whether @data, all of a file, is sound; reads what it says of itself, for the
 * next spdl_audio_decode(), which is to tell what was wrong. */
gboolean spdl_audio_look (SpdlAudio *self, const guint8 *data, gsize size);

/* Makes of the file at which was looked, and which is all of @item, what
 * @target says. NULL with @error set if it cannot be; with @keep, what could be
 * decoded is the result, and @error may be set though. @caps: (out) (transfer
 * none), until the next. */
GstBuffer *spdl_audio_decode (SpdlAudio *self, const SpdlAudioTarget *target,
    gboolean keep, GstBuffer *item, GstCaps **caps, GError **error);

G_END_DECLS

#endif /* __SPDL_AUDIO_H__ */
