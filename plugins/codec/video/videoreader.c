/* gst-spdl: reader of a video's frames
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/videoreader.h"

#include "plugins/codec/ffmpeg/log.h"
#include "plugins/codec/video/videoframereader.h"
#include "plugins/codec/video/videotrack.h"

struct _SpdlVideoReader {
  SpdlPackets packets;
  SpdlVideoDecoder *decoder;
  SpdlVideoFrameReader frames;
};

static void
take_frame (gpointer user_data, const AVFrame *frame)
{
  SpdlVideoReader *self = user_data;

  spdl_video_frame_reader_take (&self->frames, frame);
}

static SpdlVideoReader *
create_reader (void)
{
  SpdlVideoReader *self = g_new0 (SpdlVideoReader, 1);

  spdl_packets_init (&self->packets);
  self->decoder = spdl_video_decoder_new (take_frame, self);
  self->frames.packets = &self->packets;
  self->frames.decoder = self->decoder;
  return self;
}

static void
destroy_reader (SpdlVideoReader *self)
{
  spdl_video_decoder_free (self->decoder);
  spdl_packets_clear (&self->packets);
  g_free (self);
}

static gboolean
read_file (SpdlVideoReader *self, const SpdlMediaFile *file,
    const SpdlVideoLimits *limits, guint64 max_pixels,
    GCancellable *cancellable, const SpdlVideoTable **table, GError **error)
{
  gboolean ok;

  spdl_ffmpeg_log_begin ();
  ok = spdl_video_track_read (
      &self->packets, file, limits, max_pixels, cancellable, error);
  spdl_packets_sort (&self->packets);
  *table = &self->packets.table;
  return ok;
}

static gboolean
play_frames (SpdlVideoReader *self, const SpdlVideoPlay *play,
    const guint *ranks, guint n, GError **error)
{
  spdl_ffmpeg_log_begin ();
  self->frames.play = play;
  return spdl_video_decoder_open (self->decoder, self->packets.codec,
             play->n_threads, play->max_pixels, play->keep, error) &&
         spdl_video_frame_reader_play (&self->frames, ranks, n, error);
}

static void
close_file (SpdlVideoReader *self)
{
  spdl_packets_reset (&self->packets);
}

const SpdlVideoFuncs spdl_video_reader_funcs = { create_reader, destroy_reader,
  spdl_video_track_probe, read_file, play_frames, close_file };
