/* gst-spdl: packets of a video and their frames
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/video/packetbits.h"
#include "plugins/codec/video/vops.h"

G_BEGIN_DECLS

/* In the order of decoding. */
typedef struct {
  GstBuffer *data;
  GstCaps *caps;     /* not owned */
  GstClockTime pts;  /* the container's; may be NONE */
  GstClockTime time; /* in the presentation; NONE: it is not shown */
  guint rank;        /* which of the frames that are shown */
  guint segment;     /* an edit list has several, each of which begins anew */
  SpdlVop vop;       /* where pictures are counted by these */
  gboolean is_key;
  gboolean is_wanted;
} SpdlPacket;

typedef struct {
  GArray *all;     /* of SpdlPacket */
  GArray *by_rank; /* of guint, once they are sorted: which packets are shown */
  GPtrArray *caps; /* of GstCaps; the last one is that of what comes next */
  guint orientation;   /* EXIF's */
  guint segment;       /* of what comes next */
  gboolean is_counted; /* there are no times by which frames could be told */
  GstClockTime end;    /* of the last one's duration; NONE if it is unknown */
  SpdlPacketFormat format; /* of what comes next */
  gboolean has_vops;       /* `vops` tell what is shown when, if times do not */
  SpdlVops vops;

  /* Enough has come when so many more have: reordering ends before. */
  guint enough_frames;      /* that are shown; 0: all */
  GstClockTime enough_time; /* up to here; NONE: all */
  guint n_shown, n_beyond;
} SpdlPackets;

#define SPDL_PACKETS_REORDER 32

void spdl_packets_init (SpdlPackets *self);
void spdl_packets_clear (SpdlPackets *self);

/* Forgets all packets, and asks for all of the next file. */
void spdl_packets_reset (SpdlPackets *self);

void spdl_packets_set_caps (SpdlPackets *self, GstCaps *caps);

/* @data: (transfer full). FALSE if enough has come. */
gboolean spdl_packets_add (
    SpdlPackets *self, GstBuffer *data, const GstSegment *segment);

/* Sorts those that are shown by their times, or by what the packets say. */
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

/* Where decoding can begin for packet @i at the latest, before @before. */
guint spdl_packets_find_start (const SpdlPackets *self, guint i, guint before);

G_END_DECLS
