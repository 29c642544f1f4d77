/* gst-spdl: samples of sound, from one format to another
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SAMPLES_H__
#define __SPDL_SAMPLES_H__

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* The most channels that are taken. */
#define SPDL_MAX_CHANNELS 64

/* Samples that lie together: all channels of a moment side by side, or a plane
 * for each channel. */
typedef struct {
  GstAudioFormat format;
  guint n_channels;
  gboolean planar;
  const guint8 *planes[SPDL_MAX_CHANNELS]; /* the first alone if interleaved */
  gsize n;                                 /* moments */
} SpdlBlock;

/* Whether samples of @format can be read; those that can be written are
 * SPDL_SOUND_FORMATS. All in the machine's byte order. */
gboolean spdl_samples_can_read (GstAudioFormat format);

/* Writes @n moments of @block, from @from on, interleaved, as @format. Integers
 * stand for -1 to 1; a number that lies outside becomes the nearest. No bit is
 * lost where @format has as many. */
void spdl_samples_write (const SpdlBlock *block, gsize from, gsize n,
    GstAudioFormat format, void *out);

G_END_DECLS

#endif /* __SPDL_SAMPLES_H__ */
