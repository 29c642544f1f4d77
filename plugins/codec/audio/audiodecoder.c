/* gst-spdl: audio decoding with FFmpeg's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

#include <libavformat/avformat.h>
#include <string.h>

#include "plugins/codec/audio/audiotrack.h"
#include "plugins/codec/audio/audiowindow.h"
#include "plugins/codec/ffmpeg/log.h"
#include "plugins/codec/ffmpeg/mediafile.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

/* How much longer than its window a part of a file is, for padding that is not
 * counted. */
#define MARGIN (GST_SECOND / 2)

struct _SpdlAudioDecoder {
  SpdlAudioTrack *track;
  SpdlAudioWindow *window;
  AVFrame *frame;

  AVCodecContext *codec;         /* of the previous file, kept for reuse */
  AVCodecParameters *parameters; /* that `codec` was opened with */

  /* The current file. */
  const SpdlMediaFile *file;
  const SpdlAudioConfig *config;
  GCancellable *cancellable; /* not owned; nullable */
  guint rate;                /* of the track's positions; 0: unknown */
  SpdlAudioClock clock;
  gboolean is_lead; /* the samples of the packet are only for the next one */
  gboolean has_begun;
  gboolean is_enough; /* all needed samples have been decoded */
};

/* Format detection */

/* Allowed demuxers, with format names for messages. None of them opens other
 * files. */
static const struct {
  const gchar *demuxer;
  const gchar *name;
} formats[] = {
  { "aac", "AAC" },
  { "ac3", "AC-3" },
  { "aiff", "AIFF" },
  { "amr", "AMR" },
  { "asf", "WMA" },
  { "au", "AU" },
  { "caf", "CAF" },
  { "eac3", "E-AC-3" },
  { "flac", "FLAC" },
  { "matroska", "Matroska file" },
  { "mov", "MP4" },
  { "mp3", "MP3" },
  { "ogg", "Ogg file" },
  { "wav", "WAV" },
  { "wv", "WavPack" },
};

static gboolean
probe_file (const guint8 *data, gsize size, SpdlMediaFile *file)
{
  const gchar *name =
      spdl_media_probe (data, size, AVPROBE_SCORE_EXTENSION / 2 - 1);

  for (guint i = 0; name && i < G_N_ELEMENTS (formats); i++)
    if (spdl_media_is_named (name, formats[i].demuxer)) {
      *file =
          (SpdlMediaFile){ formats[i].name, formats[i].demuxer, data, size };
      return TRUE;
    }
  return FALSE;
}

/* Codec */

static SpdlAudioDecoder *
create_decoder (void)
{
  SpdlAudioDecoder *self = g_new0 (SpdlAudioDecoder, 1);

  self->track = spdl_audio_track_new ();
  self->window = spdl_audio_window_new ();
  self->frame = av_frame_alloc ();
  self->parameters = avcodec_parameters_alloc ();
  g_assert (self->frame && self->parameters);
  return self;
}

static void
destroy_decoder (SpdlAudioDecoder *self)
{
  spdl_audio_track_free (self->track);
  spdl_audio_window_free (self->window);
  av_frame_free (&self->frame);
  avcodec_free_context (&self->codec);
  avcodec_parameters_free (&self->parameters);
  g_free (self);
}

static gboolean
is_same (const AVCodecParameters *a, const AVCodecParameters *b)
{
  return a->codec_id == b->codec_id && a->sample_rate == b->sample_rate &&
         a->block_align == b->block_align &&
         a->bits_per_coded_sample == b->bits_per_coded_sample &&
         a->profile == b->profile &&
         av_channel_layout_compare (&a->ch_layout, &b->ch_layout) == 0 &&
         a->extradata_size == b->extradata_size &&
         (a->extradata_size == 0 ||
             memcmp (a->extradata, b->extradata, a->extradata_size) == 0);
}

/* Returns whether a flush resets the decoder to its initial state. FFmpeg's AAC
 * decoder keeps the state of its noise generator, and its MP3 decoder keeps
 * data of a corrupt file. Opus outside Ogg reads the initial padding only when
 * it is opened. */
static gboolean
is_reset_by_flush (const SpdlAudioDecoder *self)
{
  const enum AVCodecID id = self->codec->codec_id;

  return id == AV_CODEC_ID_ALAC || id == AV_CODEC_ID_FLAC ||
         (id == AV_CODEC_ID_OPUS && g_str_equal (self->file->demuxer, "ogg"));
}

/* Opens the decoder, or reuses one in its initial state. */
static gboolean
open_codec (
    SpdlAudioDecoder *self, const AVCodecParameters *parameters, GError **error)
{
  const AVCodec *codec = avcodec_find_decoder (parameters->codec_id);
  gint ret;

  if (self->codec && is_same (parameters, self->parameters))
    return TRUE;
  avcodec_free_context (&self->codec);
  if (!codec) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "Audio file (%s) uses the codec %s, which the installed libavcodec "
        "cannot decode",
        self->file->name, avcodec_get_name (parameters->codec_id));
    return FALSE;
  }
  self->codec = avcodec_alloc_context3 (codec);
  if (!self->codec ||
      avcodec_parameters_to_context (self->codec, parameters) < 0 ||
      avcodec_parameters_copy (self->parameters, parameters) < 0)
    ret = AVERROR (ENOMEM);
  else {
    self->codec->pkt_timebase = self->track->stream->time_base;
    self->codec->thread_count = 1;
    ret = avcodec_open2 (self->codec, codec, NULL);
  }
  if (ret >= 0)
    return TRUE;
  avcodec_free_context (&self->codec);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt %s: the decoder %s does not open: %s", self->file->name,
      codec->name,
      spdl_ffmpeg_log_get ()[0] ? spdl_ffmpeg_log_get () : av_err2str (ret));
  return FALSE;
}

/* Prepares the decoder for the next stream of a chained file. FFmpeg 9 passes
 * the headers of a Vorbis stream as side data of its first packet, where its
 * decoder ignores them. */
static gboolean
begin_stream (
    SpdlAudioDecoder *self, const SpdlAudioPacket *packet, GError **error)
{
  AVCodecParameters *parameters;
  size_t size;
  const guint8 *headers = av_packet_get_side_data (
      packet->packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
  const gint flags2 = self->codec->flags2;
  gboolean ok;

  avcodec_flush_buffers (self->codec);
  if (!headers)
    return TRUE;
  parameters = avcodec_parameters_alloc ();
  g_assert (parameters);
  ok = avcodec_parameters_copy (parameters, self->track->stream->codecpar) >= 0;
  g_assert (ok);
  av_freep (&parameters->extradata);
  parameters->extradata = av_mallocz (size + AV_INPUT_BUFFER_PADDING_SIZE);
  g_assert (parameters->extradata);
  parameters->extradata_size = size;
  memcpy (parameters->extradata, headers, size);
  ok = open_codec (self, parameters, error);
  if (ok)
    self->codec->flags2 = flags2;
  avcodec_parameters_free (&parameters);
  return ok;
}

/* Resets the decoder after a file, so that no state carries over to the next
 * one. */
static void
close_codec (SpdlAudioDecoder *self, gboolean ok)
{
  if (self->codec && ok && is_reset_by_flush (self))
    avcodec_flush_buffers (self->codec);
  else
    avcodec_free_context (&self->codec);
}

/* Decoding */

static gboolean
set_broken (SpdlAudioDecoder *self, gint ret, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt %s: the decoder %s reported: %s", self->file->name,
      self->codec->codec->name,
      spdl_ffmpeg_log_get ()[0] ? spdl_ffmpeg_log_get () : av_err2str (ret));
  return FALSE;
}

static gboolean
begin_window (SpdlAudioDecoder *self, GError **error)
{
  const AVFrame *frame = self->frame;
  const SpdlAudioInput input = { frame->format, frame->sample_rate,
    &frame->ch_layout, self->track->length,
    (guint64) self->track->n_packets * frame->nb_samples };

  return spdl_audio_window_begin (self->window, self->config, &input, error);
}

/* Checks that the frame has the same format as the first one. */
static gboolean
check_format (SpdlAudioDecoder *self, GError **error)
{
  const AVFrame *frame = self->frame;

  if (spdl_audio_window_takes (self->window, frame->format, frame->sample_rate,
          frame->ch_layout.nb_channels))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The audio format of the %s changes within the file (%s)",
      self->file->name, self->codec->codec->name);
  return FALSE;
}

/* Returns whether positions are counted from packets that need one before
 * them. */
static gboolean
has_lead (const SpdlAudioDecoder *self)
{
  return self->rate > 0 && self->track->lead == SPDL_LEAD_ONE;
}

/* Returns FALSE with @error set; or FALSE without an error if the sample rate
 * is not the one in the file's headers, or the number of samples not that of
 * the packet. */
static gboolean
take_frame (
    SpdlAudioDecoder *self, const SpdlAudioPacket *packet, GError **error)
{
  const AVFrame *frame = self->frame;
  GError *reason = NULL;
  gint64 position;
  gsize n = frame->nb_samples;

  if (self->is_lead)
    return TRUE;
  if (has_lead (self) && n != packet->n)
    return FALSE;
  if (!self->has_begun) {
    if (self->rate > 0 && (gint) self->rate != frame->sample_rate)
      return FALSE;
    if (!(self->has_begun = begin_window (self, error)))
      return FALSE;
  }
  if (!check_format (self, error))
    return FALSE;
  if (frame->decode_error_flags || frame->flags & AV_FRAME_FLAG_CORRUPT)
    return set_broken (self, AVERROR_INVALIDDATA, error);
  position = self->clock.kept;
  if (self->rate > 0)
    position = spdl_audio_clock_advance (&self->clock, packet, &n);
  else
    self->clock.kept += n;
  self->is_enough = !spdl_audio_window_write (self->window, position,
      (const guint8 *const *) frame->extended_data, n, &reason);
  if (!reason)
    return TRUE;
  g_propagate_error (error, reason);
  return FALSE;
}

/* @packet: (nullable): NULL: drain the decoder
 * @owner: packet that the samples are counted for */
static gboolean
decode_packet (SpdlAudioDecoder *self, const AVPacket *packet,
    const SpdlAudioPacket *owner, GError **error)
{
  gboolean ok = TRUE;
  gint ret = avcodec_send_packet (self->codec, packet);

  if (ret < 0)
    return set_broken (self, ret, error);
  while (ok && !self->is_enough &&
         (ret = avcodec_receive_frame (self->codec, self->frame)) >= 0) {
    ok = take_frame (self, owner, error);
    av_frame_unref (self->frame);
  }
  if (!ok)
    return FALSE;
  return ret >= 0 || ret == AVERROR (EAGAIN) || ret == AVERROR_EOF ||
         set_broken (self, ret, error);
}

/* Returns the packet where decoding starts, and sets the clock to it. */
static guint
find_packet (SpdlAudioDecoder *self)
{
  const SpdlAudioTrack *track = self->track;
  guint i;

  self->clock = (SpdlAudioClock){ 0, 0 };
  self->codec->flags2 &= ~AV_CODEC_FLAG2_SKIP_MANUAL;
  if (self->rate == 0)
    return 0;
  /* libavcodec skips padding correctly only if decoding starts at the
   * beginning of the file, so it is skipped here. */
  self->codec->flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL;
  i = spdl_audio_track_find (
      track, spdl_audio_window_find_start (self->config, self->rate, NULL));
  /* A packet that gives no samples leaves the clock at the next one. */
  self->clock = spdl_audio_track_get (track,
      track->lead == SPDL_LEAD_ONE && i + 1 < track->n_packets ? i + 1 : i)
                    ->clock;
  return i;
}

/* Returns whether the decoder has given as many samples as the packets up to
 * @i, without it, were counted for. */
static gboolean
is_on_time (const SpdlAudioDecoder *self, guint i)
{
  return !has_lead (self) || self->is_enough || i >= self->track->n_packets ||
         spdl_audio_track_get (self->track, i)->clock.kept == self->clock.kept;
}

/* Decodes from the packet where the window starts until the window is
 * complete. Returns FALSE without an error if the positions turn out wrong. */
static gboolean
decode_packets (SpdlAudioDecoder *self, GError **error)
{
  const guint n = self->track->n_packets, first = find_packet (self);
  const SpdlAudioPacket *packet = NULL;

  for (guint i = first; i < n && !self->is_enough; i++) {
    if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
      return FALSE;
    packet = spdl_audio_track_get (self->track, i);
    if (packet->is_first && !begin_stream (self, packet, error))
      return FALSE;
    if (packet->skip >= 0)
      self->clock.skip = packet->skip;
    self->is_lead = has_lead (self) && i == first;
    if (!decode_packet (self, packet->packet, packet, error) ||
        !is_on_time (self, i + 1))
      return FALSE;
  }
  return self->is_enough || decode_packet (self, NULL, packet, error);
}

/* Checks that the decoder returned all samples that the packets promise. */
static gboolean
check_count (const SpdlAudioDecoder *self, GError **error)
{
  const guint n = self->track->n_packets;
  const SpdlAudioClock *last =
      &spdl_audio_track_get (self->track, n - 1)->clock;

  if (self->is_enough ||
      (self->has_begun && (self->rate == 0 || self->clock.kept >= last->kept)))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt %s: %s", self->file->name,
      spdl_ffmpeg_log_get ()[0] ? spdl_ffmpeg_log_get ()
      : self->has_begun         ? "samples are missing"
                                : "the file has no samples");
  return FALSE;
}

static gboolean
decode_window (SpdlAudioDecoder *self, GError **error)
{
  GError *reason = NULL;
  gboolean ok;

  if (!open_codec (self, self->track->stream->codecpar, error))
    return FALSE;
  /* A window at the beginning needs no positions. */
  self->rate = self->track->lead == SPDL_LEAD_ONE && self->config->offset == 0
                   ? 0
                   : self->track->rate;
  ok = decode_packets (self, &reason);
  if (!ok && !reason && !self->track->is_part) {
    self->rate = 0;
    self->has_begun = FALSE;
    avcodec_flush_buffers (self->codec);
    ok = decode_packets (self, &reason);
  }
  ok = ok && check_count (self, &reason);
  close_codec (self, ok);
  if (reason)
    g_propagate_error (error, reason);
  return ok;
}

static GstBuffer *
decode_track (
    SpdlAudioDecoder *self, gboolean keep, GstAudioInfo *info, GError **error)
{
  const gchar *corruption = self->track->corruption;
  GError *reason = NULL;
  GstBuffer *result = NULL;

  self->has_begun = self->is_enough = FALSE;
  if (!corruption || keep) {
    if (decode_window (self, &reason) ||
        (keep && self->has_begun &&
            !g_cancellable_is_cancelled (self->cancellable)))
      result =
          spdl_audio_window_end (self->window, info, reason ? NULL : &reason);
  }
  if (corruption && (result || !reason)) {
    g_clear_error (&reason);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt %s: %s", self->file->name, corruption);
  } else if (reason) {
    g_propagate_error (error, reason);
  }
  return result;
}

/* Returns until when the file is read without a search for the window. */
static GstClockTime
find_end (const SpdlAudioConfig *config)
{
  const GstClockTime most = G_MAXINT64 / 4;

  return config->offset < most && config->duration < most
             ? config->offset + config->duration + MARGIN
             : GST_CLOCK_TIME_NONE;
}

static gboolean
read_whole (SpdlAudioDecoder *self, GError **error)
{
  spdl_ffmpeg_log_begin ();
  return spdl_audio_track_open (self->track, self->file, error) &&
         spdl_audio_track_read (
             self->track, GST_CLOCK_TIME_NONE, self->cancellable, error);
}

/* Draws the start of a random window.
 * @n: number of samples; 0: not known yet */
static gboolean
draw_window (SpdlAudioDecoder *self, SpdlAudioConfig *config,
    const guint64 key[3], guint64 n, GError **error)
{
  guint rate = self->track->rate;

  if (GST_CLOCK_TIME_IS_VALID (config->offset))
    return TRUE;
  if (n == 0) {
    if (!spdl_audio_track_read (
            self->track, GST_CLOCK_TIME_NONE, self->cancellable, error))
      return FALSE;
    n = spdl_audio_track_measure (self->track, &rate);
  }
  spdl_audio_config_draw (config, key, rate, n);
  return TRUE;
}

/* Reads the packets of the window: all of the file, or those up to the end of
 * the window, or only those that it needs. */
static gboolean
read_window (SpdlAudioDecoder *self, SpdlAudioConfig *config,
    const guint64 key[3], GError **error)
{
  SpdlAudioTrack *track = self->track;
  guint64 n, from, to;

  if (config->offset == 0 && !GST_CLOCK_TIME_IS_VALID (config->duration))
    return spdl_audio_track_read (
        track, GST_CLOCK_TIME_NONE, self->cancellable, error);
  if (!spdl_audio_track_read (track, 0, self->cancellable, error))
    return FALSE;
  n = spdl_audio_track_count_seekable (track);
  if (!draw_window (self, config, key, n, error))
    return FALSE;
  if (n == 0)
    return spdl_audio_track_read (
        track, find_end (config), self->cancellable, error);
  from = spdl_audio_window_find_start (config, track->rate, &to);
  return spdl_audio_track_seek (track, from, to, self->cancellable) ||
         read_whole (self, error);
}

/* Decodes the window from a part of the file.
 * Returns: (nullable): NULL if the whole file must be read */
static GstBuffer *
decode_part (SpdlAudioDecoder *self, GstAudioInfo *info)
{
  GError *reason = NULL;
  GstBuffer *result = decode_track (self, FALSE, info, &reason);

  if (result && (reason || !(self->is_enough || self->track->has_end)))
    gst_clear_buffer (&result);
  g_clear_error (&reason);
  return result;
}

static GstBuffer *
decode_file (SpdlAudioDecoder *self, const SpdlMediaFile *file,
    SpdlAudioConfig *config, const guint64 key[3], gboolean keep,
    GCancellable *cancellable, GstAudioInfo *info, GError **error)
{
  GstBuffer *result = NULL;

  spdl_ffmpeg_log_begin ();
  self->file = file;
  self->config = config;
  self->cancellable = cancellable;
  if (!spdl_audio_track_open (self->track, file, error))
    return NULL;
  if (read_window (self, config, key, error)) {
    if (self->track->is_part)
      result = decode_part (self, info);
    if (!result && (!self->track->is_part || read_whole (self, error)))
      result = decode_track (self, keep, info, error);
  }
  spdl_audio_track_close (self->track);
  return result;
}

static gboolean
has_video (SpdlAudioDecoder *self, const SpdlMediaFile *file)
{
  gboolean found = TRUE;

  spdl_ffmpeg_log_begin ();
  if (spdl_audio_track_open (self->track, file, NULL)) {
    found = spdl_audio_track_has_video (self->track);
    spdl_audio_track_close (self->track);
  }
  return found;
}

/* PCM samples */

/* Widens 24-bit samples to 32 bits. */
static guint8 *
widen_samples (const guint8 *data, gsize n)
{
  gint32 *wide = g_new (gint32, MAX (n, 1));

  for (gsize i = 0; i < n; i++)
    wide[i] =
        (gint32) ((guint32) data[3 * i] << 8 | (guint32) data[3 * i + 1] << 16 |
                  (guint32) data[3 * i + 2] << 24);
  return (guint8 *) wide;
}

static gboolean
write_pcm (SpdlAudioDecoder *self, const SpdlAudioPcm *pcm, GError **error)
{
  const guint64 from =
      spdl_audio_window_find_start (self->config, pcm->rate, NULL);
  const gsize size =
      gst_audio_format_get_info (pcm->format)->width / 8 * pcm->n_channels;
  GError *reason = NULL;
  gboolean more = TRUE;

  for (guint64 at = from; at < pcm->n && more && !reason;) {
    const gsize n = MIN (pcm->n - at, 1 << 14);
    const guint8 *data = pcm->data + at * size;
    g_autofree guint8 *wide = pcm->format == GST_AUDIO_FORMAT_S24LE
                                  ? widen_samples (data, n * pcm->n_channels)
                                  : NULL;
    const guint8 *planes[] = { wide ? wide : data };

    if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
      return FALSE;
    more = spdl_audio_window_write (self->window, at, planes, n, &reason);
    at += n;
  }
  if (reason)
    g_propagate_error (error, reason);
  return !reason;
}

/* Sets GStreamer's layout of channels without positions, as for samples that
 * are not converted; libavutil's differs for 4 channels. */
static void
set_usual_layout (AVChannelLayout *layout, guint n_channels)
{
  const guint64 mask = gst_audio_channel_get_fallback_mask (n_channels);

  if (mask == 0 || av_channel_layout_from_mask (layout, mask) < 0)
    av_channel_layout_default (layout, n_channels);
}

static GstBuffer *
convert_samples (SpdlAudioDecoder *self, const SpdlAudioPcm *pcm,
    const SpdlAudioConfig *config, GCancellable *cancellable,
    GstAudioInfo *info, GError **error)
{
  AVChannelLayout layout = { 0 };
  const SpdlAudioInput input = { spdl_audio_window_get_format (pcm->format),
    pcm->rate, &layout, pcm->n, pcm->n };
  GstBuffer *result = NULL;

  self->config = config;
  self->cancellable = cancellable;
  spdl_audio_window_set_layout (
      &layout, pcm->positions, pcm->positions ? pcm->n_channels : 0);
  if (layout.nb_channels == 0)
    set_usual_layout (&layout, pcm->n_channels);
  if (spdl_audio_window_begin (self->window, config, &input, error) &&
      write_pcm (self, pcm, error))
    result = spdl_audio_window_end (self->window, info, error);
  av_channel_layout_uninit (&layout);
  return result;
}

const SpdlAudioFuncs spdl_audio_decoder_funcs = { create_decoder,
  destroy_decoder, probe_file, has_video, decode_file, convert_samples };
