/* gst-spdl: the frames of MPEG audio, MP3 above all
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"

/* So far a first frame is looked for behind tags, and a next one where one is
 * missing. */
#define MAX_JUNK (1 << 16)
/* A decoder's own delay, of which a LAME tag does not speak. */
#define DECODER_DELAY 529

typedef struct {
  guint version; /* 1 and 2; 3 stands for 2.5 */
  guint layer;
  guint rate;
  guint n_channels;
  gsize size;
  guint n;
} Frame;

static guint
find_bitrate (guint version, guint layer, guint index)
{
  static const guint16 rates[5][15] = {
    { 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448 },
    { 0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384 },
    { 0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 },
    { 0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 },
    { 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 },
  };

  return rates[version == 1 ? layer - 1 : layer == 1 ? 3 : 4][index] * 1000;
}

static gboolean
read_frame (const guint8 *p, gsize left, Frame *frame)
{
  static const guint rates[] = { 44100, 48000, 32000 };
  guint version, layer, bitrate, padding;

  if (left < 4 || p[0] != 0xff || (p[1] & 0xe0) != 0xe0)
    return FALSE;
  version = p[1] >> 3 & 3;
  layer = p[1] >> 1 & 3;
  if (version == 1 || layer == 0 || p[2] >> 4 == 0 || p[2] >> 4 == 15 ||
      (p[2] >> 2 & 3) == 3)
    return FALSE;
  frame->version = version == 3 ? 1 : version == 2 ? 2 : 3;
  frame->layer = layer = 4 - layer;
  frame->rate = rates[p[2] >> 2 & 3] >> (frame->version - 1);
  frame->n_channels = p[3] >> 6 == 3 ? 1 : 2;
  bitrate = find_bitrate (frame->version, layer, p[2] >> 4);
  padding = p[2] >> 1 & 1;
  frame->n = layer == 1 ? 384 : layer == 3 && frame->version > 1 ? 576 : 1152;
  frame->size = layer == 1 ? (12 * bitrate / frame->rate + padding) * 4
                           : frame->n / 8 * bitrate / frame->rate + padding;
  return frame->size > 4;
}

static gboolean
is_alike (const Frame *a, const Frame *b)
{
  return a->version == b->version && a->layer == b->layer &&
         a->rate == b->rate && a->n_channels == b->n_channels;
}

/* Whether a frame begins at @at that another one follows, or the end. */
static gboolean
has_frame (
    const guint8 *data, gsize size, gsize at, const Frame *like, Frame *frame)
{
  Frame next;
  gsize end;

  if (!read_frame (data + at, size - at, frame) ||
      (like && !is_alike (like, frame)) || frame->size > size - at)
    return FALSE;
  end = at + frame->size;
  return end == size || (read_frame (data + end, size - end, &next) &&
                            is_alike (frame, &next));
}

/* The next one within @reach, else FALSE. */
static gboolean
search (const guint8 *data, gsize size, gsize *at, gsize reach,
    const Frame *like, Frame *frame)
{
  const gsize end = size - *at > reach ? *at + reach : size;

  for (gsize i = *at; i < end; i++) {
    const guint8 *found = memchr (data + i, 0xff, end - i);

    if (!found)
      return FALSE;
    i = found - data;
    if (has_frame (data, size, i, like, frame)) {
      *at = i;
      return TRUE;
    }
  }
  return FALSE;
}

/* The tag in the first frame, of Xing and LAME: how many frames there are, and
 * what the encoder put at both ends. */
static gboolean
read_tag (SpdlTrack *self, const guint8 *p, const Frame *frame, guint *n_frames)
{
  const gsize side = frame->version == 1 ? (frame->n_channels == 1 ? 17 : 32)
                                         : (frame->n_channels == 1 ? 9 : 17);
  gsize at = 4 + side;
  guint32 flags, delays;

  *n_frames = 0;
  if (frame->size >= 54 && memcmp (p + 36, "VBRI", 4) == 0) {
    *n_frames = spdl_read_32_be (p + 50);
    return TRUE;
  }
  if (frame->size < at + 8 ||
      (memcmp (p + at, "Xing", 4) != 0 && memcmp (p + at, "Info", 4) != 0))
    return FALSE;
  flags = spdl_read_32_be (p + at + 4);
  at += 8;
  if (flags & 1 && frame->size >= at + 4)
    *n_frames = spdl_read_32_be (p + at);
  at += (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) +
        (flags & 8 ? 4 : 0);
  if (frame->size < at + 24 ||
      (memcmp (p + at, "LAME", 4) != 0 && memcmp (p + at, "Lavf", 4) != 0 &&
          memcmp (p + at, "Lavc", 4) != 0))
    return TRUE;
  delays = spdl_read_32_be (p + at + 20) & 0xffffff;
  self->skip = (delays >> 12) + DECODER_DELAY;
  if (*n_frames > 0) {
    const guint64 all = (guint64) *n_frames * frame->n;
    const guint64 padding = delays & 0xfff;
    const guint64 end = padding > DECODER_DELAY
                            ? all - MIN (padding - DECODER_DELAY, all)
                            : all;

    self->length = end > self->skip ? end - self->skip : 0;
  }
  return TRUE;
}

static void
set_format (SpdlTrack *self, const Frame *frame)
{
  static const gchar *const names[] = { "MP1", "MP2", "MP3" };

  self->codec = SPDL_CODEC_MPEG_AUDIO;
  self->name = names[frame->layer - 1];
  self->rate = frame->rate;
  self->n_channels = frame->n_channels;
  self->lead = SPDL_LEAD_MP3;
  self->joins = TRUE;
  spdl_track_set_caps (self,
      gst_caps_new_simple ("audio/mpeg", "mpegversion", G_TYPE_INT, 1,
          "mpegaudioversion", G_TYPE_INT, (gint) frame->version, "layer",
          G_TYPE_INT, (gint) frame->layer, "rate", G_TYPE_INT,
          (gint) frame->rate, "channels", G_TYPE_INT, (gint) frame->n_channels,
          "parsed", G_TYPE_BOOLEAN, TRUE, NULL));
}

/* Tags behind the frames are no damage, nor is what holds no frame. */
static gboolean
is_end (const guint8 *p, gsize left)
{
  return (left >= 3 && memcmp (p, "TAG", 3) == 0) ||
         (left >= 8 && (memcmp (p, "APETAGEX", 8) == 0 ||
                           memcmp (p, "LYRICSBE", 8) == 0));
}

static void
read_frames (SpdlTrack *self, const guint8 *data, gsize size, gsize at,
    const Frame *first)
{
  while (at < size && !is_end (data + at, size - at)) {
    Frame frame;

    if (!read_frame (data + at, size - at, &frame) ||
        !is_alike (first, &frame)) {
      if (!search (data, size, &at, MAX_JUNK, first, &frame))
        break;
      self->damage = "something else lies between its frames";
    }
    if (frame.size > size - at) {
      self->damage = "its last frame is cut off";
      break;
    }
    spdl_track_add (self, at, frame.size, frame.n);
    at += frame.size;
  }
}

gboolean
spdl_track_read_mpeg (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error)
{
  gsize at = spdl_track_skip_tags (data, size);
  guint n_frames;
  Frame first;

  if (!search (data, size, &at, at > 0 ? MAX_JUNK : 1, NULL, &first))
    return FALSE;
  spdl_track_begin (self, data);
  set_format (self, &first);
  if (read_tag (self, data + at, &first, &n_frames))
    at += first.size;
  read_frames (self, data, size, at, &first);
  if (!self->damage && self->packets->len < n_frames)
    self->damage = "it is cut off";
  return TRUE;
}
