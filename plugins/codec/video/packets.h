/* gst-spdl: packets and presentation order of a video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/video/packetbits.h"
#include "plugins/codec/video/vops.h"

G_BEGIN_DECLS

/* A packet. Packets are stored in decoding order. */
typedef struct {
  GstBuffer *data;
  GstCaps *caps;     /* not owned */
  GstClockTime pts;  /* from the container; may be NONE */
  GstClockTime time; /* presentation time; NONE: not shown */
  guint rank;        /* index in presentation order */
  guint segment;     /* number of the segment: an edit list has several */
  SpdlVop vop;       /* if frames are ordered by VOP types */
  gboolean is_key;
  gboolean is_lost; /* depends on frames that the file does not have */
  gboolean is_wanted;
} SpdlPacket;

typedef struct {
  GArray *all;     /* of SpdlPacket */
  GArray *by_rank; /* of guint: indices of shown packets in presentation order;
                      set by sorting */
  GPtrArray *caps; /* of GstCaps; the last one applies to the next packet */
  guint orientation;       /* EXIF orientation */
  guint segment;           /* of the next packet */
  gboolean is_counted;     /* some frames have no timestamp, so frames are
                              identified by counting */
  gboolean from_zero;      /* the first frame has the time 0: the clock of the
                              container starts anywhere */
  GstClockTime end;        /* end time of the last frame; NONE: unknown */
  GstClockTime last_time;  /* presentation time of the last frame */
  SpdlPacketFormat format; /* of the next packet */
  gboolean
      has_vops; /* `vops` gives the presentation order if timestamps do not */
  SpdlVops vops;

  /* Packets are sufficient SPDL_PACKETS_REORDER frames after these limits,
   * because reordering does not span more frames. */
  guint enough_frames;      /* number of shown frames; 0: all */
  GstClockTime enough_time; /* presentation time; NONE: all */
  guint n_shown, n_beyond;

  GstClockTime first_key; /* time of the first packet, if it is a key frame,
                             until the next one; else NONE */
} SpdlPackets;

#define SPDL_PACKETS_REORDER 32

void spdl_packets_init (SpdlPackets *self);
void spdl_packets_clear (SpdlPackets *self);

/* Removes all packets and resets the limits. */
void spdl_packets_reset (SpdlPackets *self);

void spdl_packets_set_caps (SpdlPackets *self, GstCaps *caps);

/* @data: (transfer full)
 * Returns FALSE if there are enough packets. */
gboolean spdl_packets_add (
    SpdlPackets *self, GstBuffer *data, const GstSegment *segment);

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
