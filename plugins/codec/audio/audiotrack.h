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
    SPDL_LEAD_ONE,  /* it needs one packet, which gives no samples then */
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

/* Empties the table of packets. */
void spdl_audio_track_clear (SpdlAudioTrack *self);

/* Appends a packet with a copy of @data. Returns: (nullable): its entry, whose
 * clock must be set; NULL if memory cannot be allocated */
SpdlAudioPacket *
spdl_audio_track_add (SpdlAudioTrack *self, const guint8 *data, gsize size);

static inline const SpdlAudioPacket *
spdl_audio_track_get (const SpdlAudioTrack *self, guint i)
{
  return &g_array_index (self->packets, SpdlAudioPacket, i);
}

/* Returns whether the decoder of MPEG audio needs more than the @n packets
 * before a window. A frame depends on the overlap of the two frames before it,
 * and on at most 511 bytes of main data from those before these (bit
 * reservoir), of which @n packets have @size. */
static inline gboolean
spdl_audio_track_needs_more (guint n, gsize size)
{
  return n < 2 || size < 511;
}

/* Returns how many bytes of main data the packet that is @n before a window has
 * at least. */
static inline gsize
spdl_audio_track_count_data (guint n, gsize size)
{
  return n <= 2 || size <= 42 ? 0 : size - 42;
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
