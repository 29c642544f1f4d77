/* gst-spdl: packets of an audio stream in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libavcodec/avcodec.h>

#include "plugins/codec/ffmpeg/mediafile.h"

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
  guint n;              /* number of samples; only of Vorbis */
} SpdlAudioPacket;

typedef struct {
  SpdlMediaInput input;
  const AVStream *stream;

  GArray *packets;  /* of SpdlAudioPacket */
  guint n_packets;  /* of this file; further entries are spare */
  gboolean is_part; /* some packets of the file are not in the table */
  gboolean has_end; /* its last packet is */
  gint64 duration;  /* sum of those of the packets that were read */
  gsize left;       /* limit on the size of those that were not */
  enum {
    SPDL_LEAD_ALL,  /* decoding needs all preceding packets */
    SPDL_LEAD_NONE, /* packets are independent */
    SPDL_LEAD_ONE,  /* it needs one packet, whose samples are then dropped */
    SPDL_LEAD_MP3, /* it needs the packets with the bit reservoir and overlap */
  } lead;
  guint rate;              /* of the positions; 0: the file must be decoded from
                              its beginning, and the decoder determines it */
  guint64 length;          /* limit on the samples; G_MAXUINT64: unknown */
  const gchar *corruption; /* description of the defect; NULL: none found */
} SpdlAudioTrack;

SpdlAudioTrack *spdl_audio_track_new (void);
void spdl_audio_track_free (SpdlAudioTrack *self);

/* Opens @file, whose data must stay valid until the next file is opened.
 * Returns FALSE with @error set if it cannot be read or has no audio. */
gboolean spdl_audio_track_open (
    SpdlAudioTrack *self, const SpdlMediaFile *file, GError **error);
void spdl_audio_track_close (SpdlAudioTrack *self);

/* Returns whether the open file has a video stream. */
gboolean spdl_audio_track_has_video (const SpdlAudioTrack *self);

/* Reads further packets, until there are more than the time @until of them or
 * the file ends. A file whose end is missing is read to the end.
 * @until: GST_CLOCK_TIME_NONE: to the end
 * @cancellable: (nullable)
 * Returns FALSE with @error set if there are none. */
gboolean spdl_audio_track_read (SpdlAudioTrack *self, GstClockTime until,
    GCancellable *cancellable, GError **error);

/* Returns the number of samples of a file in which libavformat finds packets by
 * their exact position, and whose first packet has been read; 0: another
 * file. */
guint64 spdl_audio_track_count_seekable (const SpdlAudioTrack *self);

/* Replaces the packets of such a file by those that its samples from @from up
 * to @to need. Returns FALSE if the end of the file is missing, or a position
 * is not what it must be; the track must then be opened again. */
gboolean spdl_audio_track_seek (
    SpdlAudioTrack *self, guint64 from, guint64 to, GCancellable *cancellable);

static inline const SpdlAudioPacket *
spdl_audio_track_get (const SpdlAudioTrack *self, guint i)
{
  return &g_array_index (self->packets, SpdlAudioPacket, i);
}

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
