/* gst-spdl: the packets of one audio stream in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libavcodec/avcodec.h>

#include "plugins/codec/audio/audiofuncs.h"

G_BEGIN_DECLS

/* Reads a file with libavformat, without decoding it, and keeps a table of the
 * packets of its first audio stream. Positions are in samples, and exact, so
 * that a window of a sound has the same samples as that part of the whole. */

/* Where a decoder is in the sound: it has delivered `kept` samples of it, and
 * the next `skip` samples that it decodes are none of the sound. */
typedef struct {
  guint64 kept;
  guint64 skip;
} SpdlAudioClock;

typedef struct {
  AVPacket *packet;
  SpdlAudioClock clock; /* before its first sample; of exact tracks only */
  guint discard;        /* samples at its end that are none of the sound */
  gboolean is_unwanted; /* all of its samples are none of the sound */
  gboolean is_first;    /* of a stream that follows another one */
  gint64 skip;          /* sets the clock's; -1: leaves it */
} SpdlAudioPacket;

typedef struct _SpdlAudioTrack SpdlAudioTrack;

SpdlAudioTrack *spdl_audio_track_new (void);
void spdl_audio_track_free (SpdlAudioTrack *self);

/* Opens @file, whose data must stay until the next one is opened. Returns FALSE
 * with @error set if it cannot be read or has no audio. */
gboolean spdl_audio_track_open (
    SpdlAudioTrack *self, const SpdlAudioFile *file, GError **error);
void spdl_audio_track_close (SpdlAudioTrack *self);

/* Whether the open file has a video stream. */
gboolean spdl_audio_track_has_video (const SpdlAudioTrack *self);

/* Reads all packets. Returns FALSE with @error set if there are none. */
gboolean spdl_audio_track_read (SpdlAudioTrack *self, GError **error);

const AVCodecParameters *
spdl_audio_track_get_parameters (const SpdlAudioTrack *self);

AVRational spdl_audio_track_get_time_base (const SpdlAudioTrack *self);

/* Returns: (nullable): how the file is broken, in words that follow "It is a
 *     broken FORMAT: " */
const gchar *spdl_audio_track_get_corruption (const SpdlAudioTrack *self);

guint spdl_audio_track_count (const SpdlAudioTrack *self);
const SpdlAudioPacket *
spdl_audio_track_get (const SpdlAudioTrack *self, guint i);

/* The rate that the positions are in, or 0 if the sound must be decoded from
 * its beginning, which also says its rate then. */
guint spdl_audio_track_get_rate (const SpdlAudioTrack *self);

/* An upper bound of the samples of the sound; G_MAXUINT64: not known. */
guint64 spdl_audio_track_get_length (const SpdlAudioTrack *self);

/* The packet to begin decoding with, for the samples from @from on. */
guint spdl_audio_track_find (const SpdlAudioTrack *self, guint64 from);

/* Takes @n decoded samples of @packet. Returns the position in the sound of
 * the first of them; those before the samples that were delivered are none of
 * the sound. *@n: how many count. */
gint64 spdl_audio_clock_advance (
    SpdlAudioClock *clock, const SpdlAudioPacket *packet, gsize *n);

G_END_DECLS
