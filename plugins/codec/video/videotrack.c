/* gst-spdl: the video stream of a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/videotrack.h"

#include <math.h>

#include "plugins/codec/common/containers.h"
#include "plugins/codec/ffmpeg/log.h"
#include "plugins/common/bytes.h"

/* Format detection */

/* Allowed demuxers. None of them opens other files. */
static const gchar *const demuxers[] = { "apng", "asf", "avi", "flv", "gif",
  "h264", "hevc", "ivf", "m4v", "matroska", "mov", "mpeg", "mpegts",
  "mpegvideo", "mxf", "obu", "ogg", "yuv4mpegpipe" };

gboolean
spdl_video_track_probe (SpdlMediaFile *file)
{
  const gchar *name = spdl_media_probe (file->data, file->size, 0);

  for (guint i = 0; name && i < G_N_ELEMENTS (demuxers); i++)
    if (spdl_media_is_named (name, demuxers[i])) {
      file->demuxer = demuxers[i];
      return TRUE;
    }
  return FALSE;
}

/* Defects */

static gboolean
is_riff_whole (const SpdlMediaFile *file)
{
  const guint64 size = file->size >= 12 ? spdl_read_32_le (file->data + 4) : 0;

  return size == 0 || size == G_MAXUINT32 || size + 8 <= file->size;
}

/* Returns whether the end of the file is there, as far as its format tells. */
static gboolean
is_whole (const SpdlMediaFile *file)
{
  if (g_str_equal (file->demuxer, "avi"))
    return is_riff_whole (file);
  if (g_str_equal (file->demuxer, "matroska"))
    return spdl_matroska_is_whole (file->data, file->size);
  if (g_str_equal (file->demuxer, "mov"))
    return spdl_mp4_is_whole (file->data, file->size);
  return !g_str_equal (file->demuxer, "ogg") ||
         spdl_ogg_is_whole (file->data, file->size);
}

static gboolean
set_broken (const SpdlMediaFile *file, const gchar *what, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DEMUX,
      "Corrupt %s: %s", file->name, what);
  return FALSE;
}

static gboolean
set_cut (const SpdlMediaFile *file, GError **error)
{
  g_autofree gchar *text = g_strdup_printf (
      "the file is cut off, data is missing from byte %" G_GSIZE_FORMAT " on",
      file->size);

  return set_broken (file, text, error);
}

/* Streams */

/* Reports that the file has no video, but perhaps other streams. */
static gboolean
set_none (
    const AVFormatContext *format, const SpdlMediaFile *file, GError **error)
{
  g_autoptr (GString) others = g_string_new (NULL);

  for (guint i = 0; i < format->nb_streams; i++)
    g_string_append_printf (others, "%s%s", i > 0 ? ", " : "",
        avcodec_get_name (format->streams[i]->codecpar->codec_id));
  if (others->len == 0)
    return set_broken (file, "it has no stream", error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File has no video: it is %s with %s", file->name, others->str);
  return FALSE;
}

/* Lets libavformat decode frames of streams that appear with their packets, or
 * whose headers are in them. */
static void
find_headers (AVFormatContext *format, guint64 max_pixels)
{
  g_autofree AVDictionary **options =
      g_new0 (AVDictionary *, format->nb_streams);
  const guint n = format->nb_streams;
  gboolean needed = (format->ctx_flags & AVFMTCTX_NOHEADER) != 0;

  for (guint i = 0; i < n; i++) {
    const AVCodecParameters *codec = format->streams[i]->codecpar;

    needed = needed ||
             (codec->codec_type == AVMEDIA_TYPE_VIDEO && codec->width == 0);
    av_dict_set_int (
        &options[i], "max_pixels", MIN (max_pixels, G_MAXINT32), 0);
    av_dict_set_int (&options[i], "threads", 1, 0);
  }
  if (needed)
    avformat_find_stream_info (format, options);
  for (guint i = 0; i < n; i++)
    av_dict_free (&options[i]);
}

static AVStream *
find_stream (AVFormatContext *format)
{
  AVStream *found = NULL;

  for (guint i = 0; i < format->nb_streams; i++) {
    AVStream *stream = format->streams[i];

    if (!found && spdl_media_is_video (stream))
      found = stream;
    else
      stream->discard = AVDISCARD_ALL;
  }
  return found;
}

/* Returns the EXIF orientation of the nearest quarter turn. A point (x, y) is
 * shown at (a x + c y, b x + d y). */
static guint
find_orientation (const AVStream *stream)
{
  const gint32 *matrix;
  gdouble a, b, c, d;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
  const AVPacketSideData *side =
      av_packet_side_data_get (stream->codecpar->coded_side_data,
          stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);

  matrix = side ? (const gint32 *) side->data : NULL;
#else
  matrix = (const gint32 *) av_stream_get_side_data (
      stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
#endif
  if (!matrix)
    return 1;
  a = matrix[0];
  b = matrix[1];
  c = matrix[3];
  d = matrix[4];
  if (fabs (a) + fabs (d) >= fabs (b) + fabs (c))
    return a >= 0 ? d >= 0 ? 1 : 4 : d >= 0 ? 2 : 3;
  return b >= 0 ? c >= 0 ? 5 : 6 : c >= 0 ? 8 : 7;
}

/* Packets */

static gboolean
is_clock_free (const SpdlMediaInput *input)
{
  return spdl_media_input_is (input, "mpegts") ||
         spdl_media_input_is (input, "mpeg");
}

/* Reads packets until there are enough, or the file ends. Returns FALSE with
 * @error set at a defect. */
static gboolean
read_packets (SpdlPackets *packets, const SpdlMediaInput *input,
    const AVStream *stream, GCancellable *cancellable, GError **error)
{
  const SpdlMediaFile *file = input->file;
  gsize left = spdl_media_input_get_limit (input);
  gboolean is_broken = FALSE, more = TRUE;
  AVPacket *packet;
  gint ret = AVERROR (ENOMEM), n_read = 0;

  while (more && !is_broken && !g_cancellable_is_cancelled (cancellable) &&
         (packet = spdl_packets_get_next (packets)) &&
         (ret = av_read_frame (input->format, packet)) >= 0) {
    const gsize cost = packet->size + AV_INPUT_BUFFER_PADDING_SIZE;
    const gboolean is_own = packet->stream_index == stream->index;

    if (cost > left)
      return set_broken (file, "the packets are larger than the file", error);
    left -= cost;
    n_read += is_own;
    is_broken = is_own && (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
    if (is_own && packet->size > 0 && !is_broken)
      more = spdl_packets_add (packets, stream->time_base);
    else
      av_packet_unref (packet);
  }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (!more)
    return TRUE;
  if (!is_whole (file) || (is_broken && input->at == file->size))
    return set_cut (file, error);
  if (!is_broken && ret == AVERROR_EOF &&
      (!spdl_media_input_is (input, "mov") ||
          avformat_index_get_entries_count (stream) <= n_read))
    return TRUE;
  return set_broken (file,
      spdl_ffmpeg_log_get ()[0] ? spdl_ffmpeg_log_get ()
                                : "a part is damaged or missing",
      error);
}

/* Reads the packets of the first video stream of the open file. */
static gboolean
read_stream (SpdlPackets *packets, const SpdlMediaInput *input,
    const SpdlVideoLimits *limits, guint64 max_pixels,
    GCancellable *cancellable, GError **error)
{
  const AVStream *stream;

  /* Guesses would hide which times are unknown. */
  if (spdl_media_input_is (input, "matroska"))
    input->format->flags |= AVFMT_FLAG_NOFILLIN;
  find_headers (input->format, max_pixels);
  stream = find_stream (input->format);
  if (!stream)
    return set_none (input->format, input->file, error);
  if (!spdl_packets_begin (packets, stream->codecpar, limits))
    return set_broken (input->file, av_err2str (AVERROR (ENOMEM)), error);
  packets->from_zero = is_clock_free (input);
  packets->hides_early = spdl_media_input_is (input, "matroska");
  /* Packets of AVI have only decoding times. */
  packets->is_counted = spdl_media_input_is (input, "avi");
  packets->table.orientation = find_orientation (stream);
  return read_packets (packets, input, stream, cancellable, error);
}

gboolean
spdl_video_track_read (SpdlPackets *packets, const SpdlMediaFile *file,
    const SpdlVideoLimits *limits, guint64 max_pixels,
    GCancellable *cancellable, GError **error)
{
  SpdlMediaInput input = { NULL };
  const gint ret = spdl_media_input_open (&input, file);
  gboolean ok;

  spdl_packets_reset (packets);
  if (ret < 0)
    return is_whole (file) ? set_broken (file, av_err2str (ret), error)
                           : set_cut (file, error);
  ok = read_stream (packets, &input, limits, max_pixels, cancellable, error);
  spdl_media_input_close (&input);
  return ok;
}
