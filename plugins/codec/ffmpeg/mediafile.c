/* gst-spdl: files in memory, opened with libavformat
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/mediafile.h"

#include <string.h>

#include "plugins/codec/ffmpeg/log.h"

#define IO_SIZE (1 << 15)
/* Number of bytes that the probe sees. */
#define PROBE_SIZE (1 << 16)
/* Limit on the total packet size, relative to the file size. Packets may be
 * compressed in the file (Matroska) or refer to the same bytes several times
 * (MP4). */
#define MAX_EXPANSION 8
#define MIN_LIMIT (16 << 20)
/* A file with more streams is considered corrupt. */
#define MAX_STREAMS 100

static int
read_data (void *opaque, guint8 *buffer, int size)
{
  SpdlMediaInput *self = opaque;
  const gsize n = MIN ((gsize) size, self->file->size - self->at);

  if (n == 0)
    return AVERROR_EOF;
  memcpy (buffer, self->file->data + self->at, n);
  self->at += n;
  return n;
}

static gint64
seek_memory (void *opaque, gint64 offset, int whence)
{
  SpdlMediaInput *self = opaque;
  const gint64 size = self->file->size;

  if (whence & AVSEEK_SIZE)
    return size;
  whence &= ~AVSEEK_FORCE;
  if (whence == SEEK_CUR)
    offset += self->at;
  else if (whence == SEEK_END)
    offset += size;
  if (offset < 0 || offset > size)
    return AVERROR (EINVAL);
  return self->at = offset;
}

static int
refuse_reference (AVFormatContext *format, AVIOContext **io, const char *url,
    int flags, AVDictionary **options)
{
  return AVERROR (EPERM);
}

static AVIOContext *
open_io (SpdlMediaInput *self)
{
  guint8 *buffer = av_malloc (IO_SIZE);
  AVIOContext *io = buffer ? avio_alloc_context (buffer, IO_SIZE, 0, self,
                                 read_data, NULL, seek_memory)
                           : NULL;

  if (!io)
    av_free (buffer);
  return io;
}

static void
close_io (AVIOContext **io)
{
  if (*io)
    av_freep (&(*io)->buffer);
  avio_context_free (io);
}

gint
spdl_media_input_open (SpdlMediaInput *self, const SpdlMediaFile *file)
{
  AVFormatContext *format = avformat_alloc_context ();
  AVIOContext *io = open_io (self);
  gint ret = AVERROR (ENOMEM);

  self->file = file;
  self->at = 0;
  if (format && io) {
    format->pb = io;
    format->io_open = refuse_reference;
    format->max_streams = MAX_STREAMS;
    format->format_whitelist = av_strdup (file->demuxer);
    format->protocol_whitelist = av_strdup ("");
    ret = avformat_open_input (
        &format, "", av_find_input_format (file->demuxer), NULL);
  } else {
    avformat_free_context (format);
    format = NULL;
  }
  if (ret < 0)
    close_io (&io);
  else
    self->format = format;
  return ret;
}

void
spdl_media_input_close (SpdlMediaInput *self)
{
  AVIOContext *io = self->format ? self->format->pb : NULL;

  avformat_close_input (&self->format);
  close_io (&io);
}

gsize
spdl_media_input_get_limit (const SpdlMediaInput *self)
{
  return MAX (self->file->size * MAX_EXPANSION, MIN_LIMIT);
}

const gchar *
spdl_media_probe (const guint8 *data, gsize size, gint score)
{
  const gsize n = MIN (size, PROBE_SIZE);
  g_autofree guint8 *copy = g_malloc (n + AVPROBE_PADDING_SIZE);
  const AVProbeData input = { .filename = "", .buf = copy, .buf_size = n };
  const AVInputFormat *found;

  if (size == 0)
    return NULL;
  spdl_ffmpeg_log_begin ();
  memcpy (copy, data, n);
  memset (copy + n, 0, AVPROBE_PADDING_SIZE);
  found = av_probe_input_format2 (&input, TRUE, &score);
  return found ? found->name : NULL;
}

gboolean
spdl_media_is_named (const gchar *name, const gchar *demuxer)
{
  const gsize n = strlen (demuxer);

  return strncmp (name, demuxer, n) == 0 && (name[n] == ',' || !name[n]);
}

gboolean
spdl_media_is_video (const AVStream *stream)
{
  return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC);
}
