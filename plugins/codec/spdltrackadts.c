/* gst-spdl: the frames of AAC in ADTS
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

#define HEADER 7

typedef struct {
  guint rate_index;
  guint n_channels; /* 0: the frame says it elsewhere */
  gsize size;
  guint n;
} Frame;

static gboolean
read_frame (const guint8 *p, gsize left, Frame *frame)
{
  if (left < HEADER || p[0] != 0xff || (p[1] & 0xf6) != 0xf0)
    return FALSE;
  frame->rate_index = p[2] >> 2 & 15;
  frame->n_channels = (p[2] & 1) << 2 | p[3] >> 6;
  frame->size = (gsize) (p[3] & 3) << 11 | p[4] << 3 | p[5] >> 5;
  frame->n = 1024 * ((p[6] & 3) + 1);
  return frame->rate_index < 13 && frame->size >= HEADER;
}

static void
set_format (SpdlTrack *self, const guint8 *p, const Frame *frame)
{
  static const guint rates[] = { 96000, 88200, 64000, 48000, 44100, 32000,
    24000, 22050, 16000, 12000, 11025, 8000, 7350 };

  self->codec = SPDL_CODEC_AAC;
  self->name = "AAC";
  self->rate = rates[frame->rate_index];
  self->n_channels = frame->n_channels == 7 ? 8 : MAX (frame->n_channels, 1);
  self->joins = TRUE;
  spdl_track_set_caps (self,
      gst_caps_new_simple ("audio/mpeg", "mpegversion", G_TYPE_INT,
          p[1] & 8 ? 2 : 4, "stream-format", G_TYPE_STRING, "adts", "framed",
          G_TYPE_BOOLEAN, TRUE, "rate", G_TYPE_INT, (gint) self->rate,
          "channels", G_TYPE_INT, (gint) self->n_channels, NULL));
}

gboolean
spdl_track_read_adts (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error)
{
  gsize at = spdl_track_skip_tags (data, size);
  Frame first, frame;

  if (!read_frame (data + at, size - at, &first) || first.size > size - at ||
      (first.size < size - at &&
          !read_frame (data + at + first.size, size - at - first.size, &frame)))
    return FALSE;
  spdl_track_begin (self, data);
  set_format (self, data + at, &first);
  while (read_frame (data + at, size - at, &frame) && frame.size <= size - at) {
    spdl_track_add (self, at, frame.size, frame.n);
    at += frame.size;
  }
  if (at < size && !(size - at >= 3 && memcmp (data + at, "TAG", 3) == 0))
    self->damage = read_frame (data + at, size - at, &frame)
                       ? "its last frame is cut off"
                       : "something else lies behind a frame";
  return TRUE;
}
