/* gst-spdl: packets of an audio stream in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libavcodec/avcodec.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

G_BEGIN_DECLS

/* Demuxes a file with libavformat and keeps a table of the packets of its first
 * audio stream. Positions are exact to the sample, so that decoding a window
 * gives the same samples as decoding the whole file. */

/* Position of the decoder: `kept` samples were delivered, and the next `skip`
 * decoded samples are padding. */
typedef struct {
  guint64 kept;
  guint64 skip;
} SpdlAudioClock;

typedef struct {
  AVPacket *packet;
  SpdlAudioClock
      clock; /* before its first sample; only in tracks with exact positions */
  guint discard;        /* padding samples at its end */
  gboolean is_unwanted; /* all of its samples are padding */
  gboolean is_first;    /* first packet of the next stream of a chained file */
  gint64 skip;          /* new value of the clock's `skip`; -1: unchanged */
} SpdlAudioPacket;

typedef struct _SpdlAudioTrack SpdlAudioTrack;

SpdlAudioTrack *spdl_audio_track_new (void);
void spdl_audio_track_free (SpdlAudioTrack *self);

/* Opens @file, whose data must stay valid until the next file is opened.
 * Returns FALSE with @error set if it cannot be read or has no audio. */
gboolean spdl_audio_track_open (
    SpdlAudioTrack *self, const SpdlMediaFile *file, GError **error);
void spdl_audio_track_close (SpdlAudioTrack *self);

/* Returns whether the open file has a video stream. */
gboolean spdl_audio_track_has_video (const SpdlAudioTrack *self);

/* Reads all packets. Returns FALSE with @error set if there are none.
 * @cancellable: (nullable) */
gboolean spdl_audio_track_read (
    SpdlAudioTrack *self, GCancellable *cancellable, GError **error);

const AVCodecParameters *
spdl_audio_track_get_parameters (const SpdlAudioTrack *self);

AVRational spdl_audio_track_get_time_base (const SpdlAudioTrack *self);

/* Returns: (nullable): description of the defect, for messages; NULL if none
 * was found */
const gchar *spdl_audio_track_get_corruption (const SpdlAudioTrack *self);

guint spdl_audio_track_count (const SpdlAudioTrack *self);
const SpdlAudioPacket *
spdl_audio_track_get (const SpdlAudioTrack *self, guint i);

/* Returns the sample rate of the positions, or 0 if the file must be decoded
 * from its beginning; the decoder then determines the rate. */
guint spdl_audio_track_get_rate (const SpdlAudioTrack *self);

/* Returns an upper bound on the number of samples; G_MAXUINT64: unknown. */
guint64 spdl_audio_track_get_length (const SpdlAudioTrack *self);

/* Returns the number of samples that the file has at least, at @rate.
 * @rate: (out) */
guint64 spdl_audio_track_measure (const SpdlAudioTrack *self, guint *rate);

/* Returns the index of the packet to start decoding at, for the samples from
 * @from on. */
guint spdl_audio_track_find (const SpdlAudioTrack *self, guint64 from);

/* Advances the clock by @n decoded samples of @packet.
 * @n: (inout): in: decoded samples; out: without padding
 * Returns the position of the first sample. Samples before the first delivered
 * one are padding. */
gint64 spdl_audio_clock_advance (
    SpdlAudioClock *clock, const SpdlAudioPacket *packet, gsize *n);

G_END_DECLS
