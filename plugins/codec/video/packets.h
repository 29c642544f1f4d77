/* gst-spdl: packets and presentation order of a video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "plugins/codec/video/packetbits.h"

G_BEGIN_DECLS

/* A packet. Packets are stored in decoding order. */
typedef struct {
  AVPacket *data;
  gint64 pts;  /* from the container, in ns; NONE: unknown */
  gint64 dts;  /* decoding time; NONE: unknown */
  gint64 time; /* presentation time in ns; NONE: not shown */
  guint rank;  /* index in presentation order; G_MAXUINT: not shown */
  SpdlVop vop; /* if frames are ordered by VOP types */
  gboolean is_key;
  gboolean is_lost; /* depends on frames before the beginning of the file */
  gboolean
      is_doubtful; /* may depend on a picture that is missing in the file */
  gboolean is_wanted;
} SpdlPacket;

#define SPDL_PACKETS_NO_TIME G_MININT64

typedef struct {
  GArray *all;     /* of SpdlPacket; more than n_packets are spare */
  guint n_packets; /* of this file */
  GArray *by_rank; /* of guint: indices of shown packets in presentation order;
                      set by sorting */
  SpdlVideoTable table;     /* set by sorting */
  AVCodecParameters *codec; /* of the stream */
  gboolean is_counted;      /* some frames have no timestamp, so frames are
                               identified by counting */
  gboolean from_zero;       /* the first frame has the time 0: the clock of the
                               container starts anywhere */
  gboolean can_reorder; /* frames of the codec need not be shown in the order of
                           decoding */
  gboolean hides_early; /* times before 0 are unknown */
  guint n_early;        /* first packets, whose times are before 0 */
  gboolean is_reordered; /* some frames are not shown in decoding order */
  gint64 last_time;      /* presentation time of the last frame */
  gint64 duration;       /* of the last frame with a duration */
  gint64 end;            /* end time of the last frame; NONE: unknown */
  SpdlPacketFormat format;
  gboolean
      has_vops; /* `vops` gives the presentation order if timestamps do not */
  SpdlVops vops;
  SpdlFrameNumbers numbers;

  /* Packets are sufficient SPDL_PACKETS_REORDER frames after these limits,
   * because reordering does not span more frames. */
  SpdlVideoLimits limits;
  guint n_shown, n_beyond;

  guint n_keys;    /* key frames */
  guint first;     /* the first key frame; 0 if there is none */
  gint64 key_time; /* of the last key frame; NONE: unknown */
} SpdlPackets;

#define SPDL_PACKETS_REORDER 32

void spdl_packets_init (SpdlPackets *self);
void spdl_packets_clear (SpdlPackets *self);

/* Removes all packets. */
void spdl_packets_reset (SpdlPackets *self);

/* Prepares for the packets of a stream with @codec. Returns FALSE if there is
 * not enough memory. */
gboolean spdl_packets_begin (SpdlPackets *self, const AVCodecParameters *codec,
    const SpdlVideoLimits *limits);

/* Returns an empty packet to read into, or NULL if there is not enough
 * memory. */
AVPacket *spdl_packets_get_next (SpdlPackets *self);

/* Adds the packet that was read into the next one.
 * @time_base: of its times
 * Returns FALSE if there are enough packets. */
gboolean spdl_packets_add (SpdlPackets *self, AVRational time_base);

/* Computes the presentation order from timestamps, or from the packets. */
void spdl_packets_sort (SpdlPackets *self);

static inline SpdlPacket *
spdl_packets_get (const SpdlPackets *self, guint i)
{
  return &g_array_index (self->all, SpdlPacket, i);
}

static inline guint
spdl_packets_find (const SpdlPackets *self, guint rank)
{
  return g_array_index (self->by_rank, guint, rank);
}

/* Returns the last packet before @before from which packet @i can be
 * decoded. */
guint spdl_packets_find_start (const SpdlPackets *self, guint i, guint before);

G_END_DECLS
