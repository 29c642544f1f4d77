/* gst-spdl: sound of other channels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_MIXER_H__
#define __SPDL_MIXER_H__

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* GStreamer's mixer, which knows what each channel gives to each other one; two
 * channels become one by a loop of ours. One thread at a time. */

typedef struct _SpdlMixer SpdlMixer;

SpdlMixer *spdl_mixer_new (void);
void spdl_mixer_free (SpdlMixer *self);

/* Begins a sound. @format: F32 or F64, interleaved. */
void spdl_mixer_begin (SpdlMixer *self, GstAudioFormat format, guint n_in,
    const GstAudioChannelPosition *in, guint n_out,
    const GstAudioChannelPosition *out);

/* Returns: @n samples of all channels, until the next call */
const void *spdl_mixer_run (SpdlMixer *self, const void *in, gsize n);

G_END_DECLS

#endif /* __SPDL_MIXER_H__ */
