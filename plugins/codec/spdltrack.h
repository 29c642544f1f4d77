/* gst-spdl: the packets of a sound in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_TRACK_H__
#define __SPDL_TRACK_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What a container says of the sound in it: which packets there are, how many
 * samples each becomes, and which of these are not of the sound. So that a
 * window of it can be decoded, and no more; and no sample that an encoder only
 * put there. */

typedef struct {
  gsize at;
  guint32 size;
  guint32 n; /* samples; those of all channels at a moment count as one */
} SpdlPacket;

typedef enum {
  SPDL_CODEC_NONE,
  SPDL_CODEC_MPEG_AUDIO,
  SPDL_CODEC_FLAC,
  SPDL_CODEC_AAC,
  SPDL_CODEC_OPUS,
  SPDL_CODEC_VORBIS,
  SPDL_CODEC_ALAC,
  SPDL_N_CODECS,
} SpdlCodec;

/* A decoder that is to begin in the middle. */
typedef enum {
  SPDL_LEAD_ALL,  /* from the beginning, always */
  SPDL_LEAD_NONE, /* with the packet itself */
  SPDL_LEAD_MP3,  /* some before, whose bytes later ones use */
  SPDL_LEAD_ONE,  /* with the one before */
} SpdlLead;

typedef struct {
  SpdlCodec codec;
  const gchar *name; /* of the format, for messages */
  guint rate;
  guint n_channels;
  GstCaps *caps; /* of its packets; nullable */
  SpdlLead lead;
  gboolean joins; /* packets that follow each other may come as one */

  /* Where the packets lie: the file, or what was gathered from it. */
  const guint8 *data;
  GByteArray *gathered;
  GArray *packets; /* of SpdlPacket */

  guint64 skip;   /* samples at the front that are none of the sound */
  guint64 length; /* of the sound behind these; G_MAXUINT64: to the end */
  const gchar *damage;
} SpdlTrack;

void spdl_track_init (SpdlTrack *self);
void spdl_track_clear (SpdlTrack *self);

/* Reads what it is of, where it is one of the containers that are known. FALSE:
 * it is none; or, with @error set, it cannot be taken. */
gboolean spdl_track_read (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error);

/* Whether it is an MP4 that is more than sound, or does not say so. */
gboolean spdl_track_is_video (const guint8 *data, gsize size);

/* How many samples its packets have, and where packet @i begins. */
guint64 spdl_track_count (const SpdlTrack *self);

/* Which packet to begin with for the samples from @from on, counted from the
 * first packet; *position is where it begins. */
guint spdl_track_find (const SpdlTrack *self, guint64 from, guint64 *position);

/* For what reads containers */

/* Forgets the file before, and begins with a new one. */
void spdl_track_begin (SpdlTrack *self, const guint8 *data);
void spdl_track_add (SpdlTrack *self, gsize at, gsize size, guint n);
/* Caps that are as before stay the same ones. @caps: (transfer full) */
void spdl_track_set_caps (SpdlTrack *self, GstCaps *caps);
/* Sets @error to say what it is, a broken @name. Returns FALSE. */
gboolean
spdl_track_fail (const SpdlTrack *self, const gchar *what, GError **error);

/* Each of one container; FALSE: it is none, or with @error set. */
gboolean spdl_track_read_mpeg (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error);
gboolean spdl_track_read_adts (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error);
gboolean spdl_track_read_flac (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error);
gboolean spdl_track_read_ogg (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error);
gboolean spdl_track_read_mp4 (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error);

/* Where the file begins behind tags of ID3v2. */
gsize spdl_track_skip_tags (const guint8 *data, gsize size);

/* The parts of FLAC that other containers have, too: @info is a STREAMINFO of
 * 34 bytes. */
gboolean spdl_track_set_flac (SpdlTrack *self, const guint8 *info);
/* Samples of the frame at @data; 0: there is none. @number: (out): of the
 * frame, or its first sample. */
guint spdl_track_read_flac_frame (
    const guint8 *data, gsize size, guint64 *number, gboolean *by_sample);

void spdl_track_set_opus (SpdlTrack *self, const guint8 *head, gsize size);
guint spdl_track_count_opus (const guint8 *packet, gsize size);

G_END_DECLS

#endif /* __SPDL_TRACK_H__ */
