/* gst-spdl: packets of an audio stream in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audiotrack.h"

#include <libavcodec/vorbis_parser.h>
#include <string.h>

#include "plugins/codec/common/containers.h"
#include "plugins/codec/ffmpeg/mediafile.h"
#include "plugins/common/bytes.h"

/* An MP3 frame depends on at most MP3_RESERVOIR bytes of main data from
 * preceding frames (bit reservoir), and on the overlap of the MP3_OVERLAP
 * frames before it. MP3_HEADERS bytes of each frame are not counted as main
 * data. */
#define MP3_RESERVOIR 511
#define MP3_HEADERS 42
#define MP3_OVERLAP 2
/* Tolerance for Ogg timestamps, in samples: libavformat gets the size of some
 * Vorbis blocks wrong. */
#define MAX_OGG_ERROR 4096
/* Without exact positions, the length may be wrong by this part of a second. */
#define UNSURE_PART 10
#define USUAL_RATE 48000
#define AAC_FRAME 1024
/* Tolerance for the duration that a file declares, in microseconds after the
 * end of the last packet. */
#define MAX_TIME_ERROR 250000

SpdlAudioTrack *
spdl_audio_track_new (void)
{
  SpdlAudioTrack *self = g_new0 (SpdlAudioTrack, 1);

  self->packets = g_array_new (FALSE, TRUE, sizeof (SpdlAudioPacket));
  return self;
}

void
spdl_audio_track_free (SpdlAudioTrack *self)
{
  spdl_audio_track_close (self);
  for (guint i = 0; i < self->packets->len; i++)
    av_packet_free (&g_array_index (self->packets, SpdlAudioPacket, i).packet);
  g_array_unref (self->packets);
  g_free (self);
}

static gboolean
set_broken (const SpdlAudioTrack *self, const gchar *what, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt %s: %s", self->input.file->name, what);
  return FALSE;
}

/* File access */

static gboolean
is_format (const SpdlAudioTrack *self, const gchar *demuxer)
{
  return spdl_media_input_is (&self->input, demuxer);
}

static gboolean
open_file (SpdlAudioTrack *self, const SpdlMediaFile *file, GError **error)
{
  const gint ret = spdl_media_input_open (&self->input, file);

  if (ret < 0)
    return set_broken (self, av_err2str (ret), error);
  /* The streams of FLV appear with their packets. */
  if (is_format (self, "flv"))
    avformat_find_stream_info (self->input.format, NULL);
  return TRUE;
}

gboolean
spdl_audio_track_has_video (const SpdlAudioTrack *self)
{
  const AVFormatContext *format = self->input.format;

  for (guint i = 0; i < format->nb_streams; i++)
    if (spdl_media_is_video (format->streams[i]))
      return TRUE;
  return FALSE;
}

static gboolean
find_stream (SpdlAudioTrack *self, GError **error)
{
  for (guint i = 0; i < self->input.format->nb_streams; i++) {
    AVStream *stream = self->input.format->streams[i];

    if (!self->stream && stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
      self->stream = stream;
    else
      stream->discard = AVDISCARD_ALL;
  }
  if (self->stream)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File has no audio (%s)", self->input.file->name);
  return FALSE;
}

gboolean
spdl_audio_track_open (
    SpdlAudioTrack *self, const SpdlMediaFile *file, GError **error)
{
  spdl_audio_track_close (self);
  self->input.file = file;
  if (file->size == 0)
    return set_broken (self, "the file has no samples", error);
  if (!open_file (self, file, error))
    return FALSE;
  self->left = spdl_media_input_get_limit (&self->input);
  self->duration = 0;
  self->is_part = self->has_end = FALSE;
  self->corruption = NULL;
  self->length = G_MAXUINT64;
  if (find_stream (self, error))
    return TRUE;
  spdl_audio_track_close (self);
  return FALSE;
}

static void
clear_packets (SpdlAudioTrack *self)
{
  for (guint i = 0; i < self->n_packets; i++)
    av_packet_unref (g_array_index (self->packets, SpdlAudioPacket, i).packet);
  self->n_packets = 0;
}

void
spdl_audio_track_close (SpdlAudioTrack *self)
{
  clear_packets (self);
  self->stream = NULL;
  spdl_media_input_close (&self->input);
}

/* Packet table */

gint64
spdl_audio_clock_advance (
    SpdlAudioClock *clock, const SpdlAudioPacket *packet, gsize *n)
{
  const gint64 position = (gint64) clock->kept - (gint64) clock->skip;
  const guint64 skipped = MIN (clock->skip, *n);

  if (packet->is_unwanted) {
    clock->skip -= skipped;
    *n = 0;
    return position;
  }
  clock->skip -= skipped;
  if (packet->discard <= *n)
    *n -= packet->discard;
  if (*n > skipped)
    clock->kept += *n - skipped;
  return position;
}

/* Reads the encoder delay and padding that the demuxer reports. */
static void
read_skip (SpdlAudioPacket *entry)
{
  size_t size;
  const guint8 *data =
      av_packet_get_side_data (entry->packet, AV_PKT_DATA_SKIP_SAMPLES, &size);

  entry->skip = -1;
  entry->discard = 0;
  entry->is_first = FALSE;
  if (data && size >= 10) {
    entry->skip = MAX ((gint32) spdl_read_32_le (data), 0);
    entry->discard = spdl_read_32_le (data + 4);
  }
  entry->is_unwanted = (entry->packet->flags & AV_PKT_FLAG_DISCARD) != 0;
}

/* Returns the next entry of the table, with an empty packet. */
static SpdlAudioPacket *
get_spare (SpdlAudioTrack *self)
{
  SpdlAudioPacket *entry;

  if (self->n_packets == self->packets->len)
    g_array_set_size (self->packets, self->n_packets + 1);
  entry = &g_array_index (self->packets, SpdlAudioPacket, self->n_packets);
  if (!entry->packet)
    entry->packet = av_packet_alloc ();
  return entry->packet ? entry : NULL;
}

/* Reads the sample rate from an MPEG audio frame header. */
static guint
read_mpeg_rate (const AVPacket *packet)
{
  static const guint rates[] = { 44100, 48000, 32000, 0 };
  const guint8 *p = packet->data;

  if (packet->size < 4 || p[0] != 0xff || (p[1] & 0xe0) != 0xe0)
    return 0;
  return rates[p[2] >> 2 & 3] >> (p[1] & 0x10 ? !(p[1] & 8) : 2);
}

static gboolean
is_pcm (enum AVCodecID id)
{
  return id >= AV_CODEC_ID_FIRST_AUDIO && id < AV_CODEC_ID_ADPCM_IMA_QT;
}

/* Determines the lead-in and the exact rate from the codec. */
static void
set_lead (SpdlAudioTrack *self)
{
  const AVCodecParameters *codec = self->stream->codecpar;
  const AVRational base = self->stream->time_base;
  const enum AVCodecID id = codec->codec_id;

  self->lead = SPDL_LEAD_ALL;
  self->rate = codec->sample_rate;
  if (id == AV_CODEC_ID_MP3 || id == AV_CODEC_ID_MP2 || id == AV_CODEC_ID_MP1) {
    self->lead = SPDL_LEAD_MP3;
    self->rate = read_mpeg_rate (
        g_array_index (self->packets, SpdlAudioPacket, 0).packet);
  } else if (id == AV_CODEC_ID_FLAC || id == AV_CODEC_ID_ALAC ||
             id == AV_CODEC_ID_WAVPACK || id == AV_CODEC_ID_ADPCM_MS ||
             id == AV_CODEC_ID_ADPCM_IMA_WAV || is_pcm (id)) {
    self->lead = SPDL_LEAD_NONE;
    if (self->rate == 0 && base.num == 1)
      self->rate = base.den;
  } else if (id == AV_CODEC_ID_VORBIS && is_format (self, "ogg")) {
    self->lead = SPDL_LEAD_ONE;
  }
}

/* Sets the numbers of samples of Vorbis packets, which libavformat gets wrong:
 * from the middle of the previous packet's block to that of its block, and 0
 * for the first packet. Returns FALSE for chained streams, whose headers are in
 * their packets. */
static gboolean
count_vorbis_samples (SpdlAudioTrack *self)
{
  const AVCodecParameters *codec = self->stream->codecpar;
  AVVorbisParseContext *parser =
      av_vorbis_parse_init (codec->extradata, codec->extradata_size);
  gboolean ok = parser != NULL;

  for (guint i = 0; i < self->n_packets && ok; i++) {
    SpdlAudioPacket *entry = &g_array_index (self->packets, SpdlAudioPacket, i);
    const gint n = av_vorbis_parse_frame (
        parser, entry->packet->data, entry->packet->size);

    ok = n > 0 && !entry->is_first && entry->skip <= 0;
    entry->n = i == 0 ? 0 : n;
  }
  av_vorbis_parse_free (&parser);
  return ok;
}

/* Returns the number of samples in a packet, or 0 if its duration is not
 * exact. */
static gsize
count_samples (const SpdlAudioTrack *self, const AVPacket *packet)
{
  const AVRational base = self->stream->time_base;
  guint64 n;

  if (packet->duration <= 0 || packet->duration > G_MAXINT32 ||
      base.den < (gint64) self->rate * base.num)
    return 0;
  n = (guint64) packet->duration * base.num * self->rate;
  return n % base.den == 0 ? n / base.den : 0;
}

/* Sets the clocks of all packets. If one cannot be exact, the file is decoded
 * from its beginning. */
static void
set_clocks (SpdlAudioTrack *self)
{
  SpdlAudioClock clock = { 0, 0 };

  set_lead (self);
  if (self->lead == SPDL_LEAD_ALL ||
      (self->lead == SPDL_LEAD_ONE && !count_vorbis_samples (self)))
    self->rate = 0;
  for (guint i = 0; i < self->n_packets && self->rate > 0; i++) {
    SpdlAudioPacket *entry = &g_array_index (self->packets, SpdlAudioPacket, i);
    gsize n = self->lead == SPDL_LEAD_ONE ? entry->n
                                          : count_samples (self, entry->packet);

    if (n == 0 && self->lead != SPDL_LEAD_ONE)
      self->rate = 0;
    if (entry->skip >= 0)
      clock.skip = entry->skip;
    entry->clock = clock;
    spdl_audio_clock_advance (&clock, entry, &n);
  }
}

/* Detection of truncated files */

/* Marks the first packet of the next stream in a chained file.
 * @i: first packet with a timestamp of the new stream. FFmpeg 9 gives the
 * packet before it the end time of the previous stream, so the start of the
 * page is searched. */
static void
mark_stream (SpdlAudioTrack *self, guint i)
{
  SpdlAudioPacket *const packets = (SpdlAudioPacket *) self->packets->data;

  while (i > 0 && packets[i - 1].packet->pos == packets[i].packet->pos)
    i--;
  packets[i].is_first = TRUE;
}

/* Checks the timestamps of an Ogg file. They restart with each chained stream,
 * and jump where a page is missing. */
static void
read_ogg_times (SpdlAudioTrack *self)
{
  gint64 end = 0;
  gboolean is_chained = FALSE;

  for (guint i = 0; i < self->n_packets; i++) {
    const AVPacket *packet = spdl_audio_track_get (self, i)->packet;
    const gint64 pts = packet->pts;

    if (pts == AV_NOPTS_VALUE)
      continue;
    if (i > 0 && pts > end + MAX_OGG_ERROR)
      self->corruption = "a page is damaged or missing";
    if (i > 0 && pts < end - MAX_OGG_ERROR) {
      is_chained = TRUE;
      mark_stream (self, i);
    }
    /* Negative at the end of a stream that has only one page. */
    end = pts + (gint32) packet->duration;
  }
  if (end > 0 && !is_chained && self->has_end &&
      self->stream->time_base.num == 1)
    self->length = end;
}

/* Compares the total duration of the packets with the one that the file
 * declares. */
static void
check_length (SpdlAudioTrack *self)
{
  const gint64 claimed = self->stream->duration;
  gint64 all = 0;

  for (guint i = 0; i < self->n_packets; i++) {
    const gint64 n = spdl_audio_track_get (self, i)->packet->duration;

    if (n <= 0)
      return;
    all += n;
  }
  if (claimed > 0 && all < claimed)
    self->corruption = "the file is cut off, or a part is missing";
  if (claimed > 0 && is_format (self, "flac"))
    self->length = claimed;
}

/* Same for files that declare their duration in time units instead of
 * samples. */
static void
check_time (SpdlAudioTrack *self)
{
  const AVPacket *last =
      spdl_audio_track_get (self, self->n_packets - 1)->packet;
  const AVRational microseconds = { 1, AV_TIME_BASE };

  if (self->input.format->duration > 0 && last->pts != AV_NOPTS_VALUE &&
      !spdl_audio_track_has_video (self) &&
      av_rescale_q (last->pts + last->duration, self->stream->time_base,
          microseconds) < self->input.format->duration - MAX_TIME_ERROR)
    self->corruption = "the file is cut off, or a part is missing";
}

/* Returns FALSE if the end of the file may be missing. */
static gboolean
seems_whole (const SpdlAudioTrack *self)
{
  const SpdlMediaFile *file = self->input.file;

  if (is_format (self, "wv") || is_format (self, "mp3"))
    return FALSE;
  if (is_format (self, "wav"))
    return file->size >= 8 &&
           spdl_read_32_le (file->data + 4) <= file->size - 8;
  if (is_format (self, "ogg"))
    return spdl_ogg_is_whole (file->data, file->size);
  if (is_format (self, "matroska"))
    return spdl_matroska_is_whole (file->data, file->size);
  return !is_format (self, "mov") || spdl_mp4_is_whole (file->data, file->size);
}

static void
check_end (SpdlAudioTrack *self)
{
  const gint n = self->n_packets;

  if (is_format (self, "ogg")) {
    read_ogg_times (self);
    if (!seems_whole (self))
      self->corruption = "the file is cut off";
  } else if (self->is_part) {
    return;
  } else if (is_format (self, "matroska")) {
    check_time (self);
  } else if (is_format (self, "mov") || is_format (self, "caf")) {
    if (avformat_index_get_entries_count (self->stream) > n)
      self->corruption = "the file is cut off";
  } else if (!is_format (self, "asf") && !is_format (self, "wav") &&
             !is_format (self, "avi") && !is_format (self, "flv") &&
             !is_format (self, "mpegts")) {
    check_length (self);
  }
}

/* Drops trailing packets without a frame header: ID3v1, APE and other tags
 * after the last MP3 frame. */
static void
drop_tags (SpdlAudioTrack *self)
{
  while (self->n_packets > 0) {
    AVPacket *last =
        g_array_index (self->packets, SpdlAudioPacket, self->n_packets - 1)
            .packet;

    if (last->size >= 2 && last->data[0] == 0xff &&
        (last->data[1] & 0xe0) == 0xe0)
      return;
    av_packet_unref (last);
    self->n_packets--;
  }
}

/* Reads the sample rate from the header of an ADTS frame of AAC, which
 * libavformat does not. */
static guint
read_adts_rate (const AVPacket *packet)
{
  static const guint rates[16] = { 96000, 88200, 64000, 48000, 44100, 32000,
    24000, 22050, 16000, 12000, 11025, 8000, 7350 };
  const guint8 *p = packet->data;

  if (packet->size < 4 || p[0] != 0xff || (p[1] & 0xf6) != 0xf0)
    return 0;
  return rates[p[2] >> 2 & 15];
}

/* Returns whether the packets contain more than the time @until. */
static gboolean
reaches (const SpdlAudioTrack *self, GstClockTime until)
{
  const AVRational nanoseconds = { 1, GST_SECOND };
  const guint rate = read_adts_rate (spdl_audio_track_get (self, 0)->packet);

  if (rate > 0 && self->duration == 0)
    return gst_util_uint64_scale (
               self->n_packets, AAC_FRAME * GST_SECOND, rate) > until;
  return av_rescale_q (self->duration, self->stream->time_base, nanoseconds) >
         (gint64) MIN (until, G_MAXINT64);
}

/* Takes the packet that was read into @entry. Returns FALSE if the packets are
 * larger than the file may be. */
static gboolean
take_packet (SpdlAudioTrack *self, SpdlAudioPacket *entry)
{
  const gsize cost = entry->packet->size + AV_INPUT_BUFFER_PADDING_SIZE;

  if (entry->packet->stream_index != self->stream->index ||
      entry->packet->size == 0) {
    av_packet_unref (entry->packet);
    return TRUE;
  }
  self->n_packets++;
  if (entry->packet->flags & AV_PKT_FLAG_CORRUPT)
    self->corruption = "the file is cut off, or a part is damaged";
  read_skip (entry);
  self->duration += CLAMP (entry->packet->duration, 0, G_MAXINT32);
  if (cost > self->left)
    return FALSE;
  self->left -= cost;
  return TRUE;
}

gboolean
spdl_audio_track_read (SpdlAudioTrack *self, GstClockTime until,
    GCancellable *cancellable, GError **error)
{
  const gboolean may_stop =
      GST_CLOCK_TIME_IS_VALID (until) && seems_whole (self);
  SpdlAudioPacket *entry;
  gint ret = 0;

  if (self->has_end)
    return TRUE;
  while (!(may_stop && self->n_packets > 0 && reaches (self, until))) {
    ret = AVERROR (ENOMEM);
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (!(entry = get_spare (self)) ||
        (ret = av_read_frame (self->input.format, entry->packet)) < 0)
      break;
    if (!take_packet (self, entry))
      return set_broken (self, "the packets are larger than the file", error);
    ret = 0;
  }
  self->has_end = ret < 0;
  self->is_part = !self->has_end;
  if (self->has_end && is_format (self, "mp3"))
    drop_tags (self);
  if (self->has_end && ret != AVERROR_EOF)
    self->corruption = "the file is cut off, or a part is damaged";
  if (self->n_packets == 0)
    return set_broken (self,
        self->corruption ? self->corruption : "the file has no samples", error);
  check_end (self);
  set_clocks (self);
  return TRUE;
}

/* Seeks */

guint64
spdl_audio_track_count_seekable (const SpdlAudioTrack *self)
{
  static const gchar demuxers[][5] = { "aiff", "au", "caf", "flac", "wav" };
  const SpdlAudioPacket *first = spdl_audio_track_get (self, 0);
  gboolean is_known = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (demuxers); i++)
    is_known |= is_format (self, demuxers[i]);
  if (!is_known ||
      !(is_pcm (self->stream->codecpar->codec_id) ||
          is_format (self, "flac")) ||
      self->corruption || self->rate == 0 || self->stream->time_base.num != 1 ||
      self->stream->time_base.den != (gint) self->rate || first->skip >= 0 ||
      first->packet->pts != 0)
    return 0;
  return MAX (self->stream->duration > 0 ? self->stream->duration
                                         : self->stream->nb_frames,
      0);
}

/* Returns whether the packets end at sample @n. */
static gboolean
ends_at (SpdlAudioTrack *self, gint64 n, GCancellable *cancellable)
{
  AVFormatContext *format = self->input.format;
  AVPacket *packet = av_packet_alloc ();
  gint64 end = -1;
  gint ret = -1;

  if (packet && av_seek_frame (format, self->stream->index, n - 1,
                    AVSEEK_FLAG_BACKWARD) >= 0)
    while (!g_cancellable_is_cancelled (cancellable) &&
           (ret = av_read_frame (format, packet)) >= 0) {
      if (packet->stream_index == self->stream->index)
        end = packet->pts + count_samples (self, packet);
      av_packet_unref (packet);
    }
  av_packet_free (&packet);
  return ret == AVERROR_EOF && end == n;
}

/* Reads the packets from @from up to @to, whose positions must follow each
 * other. */
static gboolean
read_range (
    SpdlAudioTrack *self, gint64 from, gint64 to, GCancellable *cancellable)
{
  gint64 position = from;
  SpdlAudioPacket *entry;

  while (position < to || self->n_packets == 0) {
    const guint n_before = self->n_packets;
    gint64 pts;
    gsize n;

    if (g_cancellable_is_cancelled (cancellable) ||
        !(entry = get_spare (self)) ||
        av_read_frame (self->input.format, entry->packet) < 0 ||
        !take_packet (self, entry) || self->corruption)
      return FALSE;
    if (self->n_packets == n_before)
      continue;
    pts = entry->packet->pts;
    n = count_samples (self, entry->packet);
    if (n == 0 || entry->skip >= 0 || pts < 0 ||
        (n_before == 0 ? pts > from : pts != position))
      return FALSE;
    entry->clock = (SpdlAudioClock){ pts, 0 };
    position = pts + n;
    if (position <= from)
      clear_packets (self);
  }
  return TRUE;
}

gboolean
spdl_audio_track_seek (
    SpdlAudioTrack *self, guint64 from, guint64 to, GCancellable *cancellable)
{
  const guint64 n = spdl_audio_track_count_seekable (self);

  to = MIN (to, n);
  if (from >= to || !ends_at (self, n, cancellable) ||
      av_seek_frame (self->input.format, self->stream->index, from,
          AVSEEK_FLAG_BACKWARD) < 0)
    return FALSE;
  clear_packets (self);
  self->left = spdl_media_input_get_limit (&self->input);
  if (!read_range (self, from, to, cancellable))
    return FALSE;
  self->is_part = TRUE;
  self->has_end = to == n;
  self->length = is_format (self, "flac") ? n : G_MAXUINT64;
  return TRUE;
}

/* Returns the duration of all packets in time units: the sum of their
 * durations, or the distance of the first and the last, of which one may be
 * unknown. */
static gint64
get_span (const SpdlAudioTrack *self)
{
  const AVPacket *first = spdl_audio_track_get (self, 0)->packet;
  const AVPacket *last =
      spdl_audio_track_get (self, self->n_packets - 1)->packet;
  gint64 all = 0;

  for (guint i = 0; i < self->n_packets; i++)
    all += MAX (spdl_audio_track_get (self, i)->packet->duration, 0);
  if (first->pts != AV_NOPTS_VALUE && last->pts != AV_NOPTS_VALUE)
    all = MAX (all, last->pts - first->pts + MAX (last->duration, 0));
  return all;
}

guint64
spdl_audio_track_measure (const SpdlAudioTrack *self, guint *rate)
{
  const gint usual = self->stream->codecpar->sample_rate;
  const SpdlAudioPacket *last =
      spdl_audio_track_get (self, self->n_packets - 1);
  gint64 n;

  *rate = self->rate;
  if (self->rate > 0 && self->lead != SPDL_LEAD_ONE) {
    SpdlAudioClock clock = last->clock;
    gsize n_last = count_samples (self, last->packet);

    spdl_audio_clock_advance (&clock, last, &n_last);
    return clock.kept;
  }
  *rate = read_adts_rate (last->packet);
  if (*rate > 0) {
    n = (gint64) self->n_packets * AAC_FRAME;
  } else {
    *rate = usual > 0 ? usual : USUAL_RATE;
    n = av_rescale_q (
        get_span (self), self->stream->time_base, (AVRational){ 1, *rate });
  }
  for (guint i = 0; i < self->n_packets; i++)
    n -= MAX (spdl_audio_track_get (self, i)->skip, 0) +
         spdl_audio_track_get (self, i)->discard;
  return MAX (n - *rate / UNSURE_PART, 0);
}

/* Returns how many packets before packet @i the decoder needs. */
static guint
count_lead (const SpdlAudioTrack *self, guint i)
{
  gsize size = 0;
  guint n;

  if (self->lead != SPDL_LEAD_MP3)
    return self->lead == SPDL_LEAD_ONE ? MIN (i, 1) : 0;
  n = MIN (i, MP3_OVERLAP);
  for (; n < i && size < MP3_RESERVOIR; n++)
    size += MAX (spdl_audio_track_get (self, i - n - 1)->packet->size,
                MP3_HEADERS) -
            MP3_HEADERS;
  return n;
}

guint
spdl_audio_track_find (const SpdlAudioTrack *self, guint64 from)
{
  guint i = 0;

  if (self->rate == 0)
    return 0;
  for (; i + 1 < self->n_packets; i++) {
    const SpdlAudioClock *next = &spdl_audio_track_get (self, i + 1)->clock;

    if ((gint64) next->kept - (gint64) next->skip > (gint64) from)
      break;
  }
  return i - count_lead (self, i);
}
