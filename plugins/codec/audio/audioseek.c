/* gst-spdl: packets of a window, without those before it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audioseek.h"

#include <libavutil/crc.h>
#include <string.h>

#include "plugins/common/bytes.h"

/* Samples that libmp3lame's decoder delay adds to both paddings of its tag. */
#define MP3_DELAY 529
#define MP3_HEADER 4
#define ID3V1_SIZE 128
/* A search for FLAC frames takes at most this many steps and bytes. In a file
 * made for it, each of many headers could be followed by no other one. */
#define MAX_STEPS 32
#define MAX_FLAC_FRAME (1 << 20)
#define MAX_SEARCH(size) (2 * (size) + 4 * MAX_FLAC_FRAME)
#define FLAC_GUESS_BACK (1 << 14)
#define PCM_FRAME 4096

typedef enum { KIND_FLAC, KIND_MPEG, KIND_PCM } Kind;

/* A frame in the file. */
typedef struct {
  gsize at, size;
  SpdlAudioClock clock; /* before its first sample */
  guint n;              /* number of its samples */
} Frame;

struct _SpdlAudioSeek {
  SpdlAudioTrack *track;
  const guint8 *data;
  gsize size, begin; /* of the file; where its first frame begins */
  Kind kind;
  guint64 n;

  gsize left;     /* FLAC: bytes that may still be searched */
  GArray *frames; /* of Frame: MPEG: all; otherwise those to read */
  gint skip;      /* MPEG: of the first packet; -1: none */
  gint64 discard_from, discard_to; /* MPEG: samples that are padding */
  guint block;                     /* PCM: bytes of a sample of all channels */
};

SpdlAudioSeek *
spdl_audio_seek_new (void)
{
  SpdlAudioSeek *self = g_new0 (SpdlAudioSeek, 1);

  self->frames = g_array_new (FALSE, FALSE, sizeof (Frame));
  return self;
}

void
spdl_audio_seek_free (SpdlAudioSeek *self)
{
  g_array_unref (self->frames);
  g_free (self);
}

static const AVPacket *
get_first (const SpdlAudioSeek *self)
{
  return spdl_audio_track_get (self->track, 0)->packet;
}

/* Returns whether the bytes at @at are those of the first packet. */
static gboolean
begins_with_first (const SpdlAudioSeek *self, gsize at)
{
  const AVPacket *packet = get_first (self);

  return packet->size > 0 && at < self->size &&
         (gsize) packet->size <= self->size - at &&
         memcmp (packet->data, self->data + at, packet->size) == 0;
}

/* FLAC */

/* Reads the number in a frame header, which is coded like UTF-8.
 * Returns its length in bytes, or 0. */
static guint
read_flac_number (const guint8 *p, gsize size, guint64 *number)
{
  guint n = 1;

  if (size == 0 || (p[0] & 0xc0) == 0x80 || p[0] == 0xff)
    return 0;
  for (guint8 bits = p[0]; n < 8 && bits & 0x40 && p[0] & 0x80; bits <<= 1)
    n++;
  if (n > size)
    return 0;
  *number = n == 1 ? p[0] : p[0] & (0x7f >> n);
  for (guint i = 1; i < n; i++) {
    if ((p[i] & 0xc0) != 0x80)
      return 0;
    *number = *number << 6 | (p[i] & 0x3f);
  }
  return n;
}

/* Returns the number of samples that the code in a frame header means, which
 * may follow in @p; 0: invalid. */
static guint
read_flac_block (guint code, const guint8 *p, gsize size)
{
  switch (code) {
    case 1:
      return 192;
    case 2:
    case 3:
    case 4:
    case 5:
      return 576 << (code - 2);
    case 6:
      return size >= 1 ? p[0] + 1 : 0;
    case 7:
      return size >= 2 ? spdl_read_16_be (p) + 1 : 0;
    default:
      return code >= 8 ? 256 << (code - 8) : 0;
  }
}

/* Parses the frame header at @at. Returns FALSE unless it is one of this
 * stream. */
static gboolean
read_flac_header (const SpdlAudioSeek *self, gsize at, Frame *frame)
{
  const guint8 *p = self->data + at, *info;
  const gsize size = self->size - at;
  const guint block_code = size > 4 ? p[2] >> 4 : 0;
  const guint rate_code = size > 4 ? p[2] & 15 : 15;
  guint64 number;
  guint n;

  /* Like those of the first frame: all of them have the same format. */
  info = self->data + self->begin;
  if (size < 16 || p[0] != 0xff || p[1] != info[1] ||
      rate_code != (info[2] & 15u) || (p[3] & 15) != (info[3] & 15))
    return FALSE;
  if (!(n = read_flac_number (p + 4, size - 4, &number)))
    return FALSE;
  n += 4;
  frame->n = read_flac_block (block_code, p + n, size - n);
  n += block_code == 6 ? 1 : block_code == 7 ? 2 : 0;
  n += rate_code == 12 ? 1 : rate_code > 12 && rate_code < 15 ? 2 : 0;
  if (frame->n == 0 || rate_code == 15 || n >= size ||
      av_crc (av_crc_get_table (AV_CRC_8_ATM), 0, p, n) != p[n])
    return FALSE;
  info = self->track->stream->codecpar->extradata;
  frame->at = at;
  if (!(p[1] & 1))
    number *= spdl_read_16_be (info + 2);
  frame->clock = (SpdlAudioClock){ number, 0 };
  return number < self->n && frame->n <= self->n - number;
}

/* Returns the next place from @at on that may be a frame header, or the end of
 * the file. */
static gsize
find_sync (const SpdlAudioSeek *self, gsize at)
{
  const guint8 *p =
      at < self->size ? memchr (self->data + at, 0xff, self->size - at) : NULL;

  return p ? (gsize) (p - self->data) : self->size;
}

/* Sets the size of @frame: up to a header of the frame that continues it, or to
 * the end of the file. The checksum at its end must match. */
static gboolean
measure_flac_frame (SpdlAudioSeek *self, Frame *frame)
{
  const AVCRC *table = av_crc_get_table (AV_CRC_16_ANSI);
  const gsize most = MIN (self->left, MAX_FLAC_FRAME);
  const gsize end = frame->at + MIN (self->size - frame->at, most);
  const guint64 next = frame->clock.kept + frame->n;
  gsize at = frame->at, done = at;
  guint32 crc = 0;
  Frame after;

  while (at < end) {
    at = find_sync (self, at + 1);
    if (at < self->size
            ? !read_flac_header (self, at, &after) || after.clock.kept != next
            : next != self->n)
      continue;
    crc = av_crc (table, crc, self->data + done, at - done);
    done = at;
    if (crc == 0)
      break;
  }
  frame->size = at - frame->at;
  self->left -= MIN (frame->size, self->left);
  return done == at && crc == 0 && frame->size > 0;
}

/* Finds the first frame from @at on. */
static gboolean
find_flac_frame (SpdlAudioSeek *self, gsize at, Frame *frame)
{
  const gsize end = at + MIN (self->size - at, MAX_FLAC_FRAME);

  for (at = find_sync (self, at); at < end; at = find_sync (self, at + 1))
    if (read_flac_header (self, at, frame) && measure_flac_frame (self, frame))
      return TRUE;
  return FALSE;
}

/* Finds a frame that begins at or shortly before the sample @from. */
static gboolean
seek_flac (SpdlAudioSeek *self, guint64 from, Frame *found)
{
  gsize end = self->size;
  guint64 after = self->n; /* position at `end` */
  Frame frame;

  if (!find_flac_frame (self, self->begin, found) || found->clock.kept != 0)
    return FALSE;
  for (guint i = 0; i < MAX_STEPS && from - found->clock.kept > 2 * found->n;
       i++) {
    const gsize span = end - found->at;
    const gsize ahead = (double) span * (from - found->clock.kept) /
                        (after - found->clock.kept);
    const gsize at =
        found->at +
        (ahead > 2 * FLAC_GUESS_BACK ? ahead - FLAC_GUESS_BACK : ahead / 2);

    if (at <= found->at + found->size || !find_flac_frame (self, at, &frame) ||
        frame.at >= end)
      break;
    if (frame.clock.kept <= from) {
      *found = frame;
    } else {
      end = at;
      after = frame.clock.kept;
    }
  }
  return TRUE;
}

/* Returns whether the last frame is whole. */
static gboolean
has_flac_end (SpdlAudioSeek *self)
{
  const gsize most = MIN (self->size - self->begin, MAX_FLAC_FRAME);
  Frame last;

  for (gsize at = self->size - 1; at > self->size - most; at--)
    if (self->data[at - 1] == 0xff && read_flac_header (self, at - 1, &last) &&
        last.clock.kept + last.n == self->n)
      return measure_flac_frame (self, &last);
  return FALSE;
}

static gboolean
look_at_flac (SpdlAudioSeek *self)
{
  const AVCodecParameters *codec = self->track->stream->codecpar;
  const guint8 *info = codec->extradata;

  self->kind = KIND_FLAC;
  self->left = MAX_SEARCH (self->size);
  if (codec->extradata_size < 34 || self->track->stream->duration <= 0 ||
      memcmp (self->data, "fLaC", 4) != 0)
    return FALSE;
  self->n = self->track->stream->duration;
  for (self->begin = 4; self->begin + 4 <= self->size;) {
    const guint32 block = spdl_read_32_be (self->data + self->begin);

    self->begin += MIN (4 + (block & 0xffffff), self->size - self->begin);
    if (block >> 31)
      break;
  }
  /* With blocks of a fixed size, the headers have no positions. */
  return begins_with_first (self, self->begin) &&
         self->begin + 4 < self->size &&
         (self->data[self->begin + 1] & 1 ||
             spdl_read_16_be (info) == spdl_read_16_be (info + 2)) &&
         has_flac_end (self);
}

/* MPEG audio */

/* Parses the frame header at @at. Returns FALSE unless it is one of this stream
 * and its frame is whole. */
static gboolean
read_mpeg_header (const SpdlAudioSeek *self, gsize at, Frame *frame)
{
  static const guint16 rates[5][16] = {
    { 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448 },
    { 0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384 },
    { 0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 },
    { 0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 },
    { 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 },
  };
  const guint8 *p = self->data + at, *first = get_first (self)->data;
  const guint layer = CLAMP (4 - (first[1] >> 1 & 3), 1, 3);
  const gboolean is_low = !(first[1] & 8);
  guint bits;

  /* The version, layer, rate and number of channels stay the same. */
  if (self->size - at < MP3_HEADER || p[0] != 0xff ||
      (p[1] & 0xfe) != (first[1] & 0xfe) ||
      (p[2] & 0x0c) != (first[2] & 0x0c) ||
      (p[3] >= 0xc0) != (first[3] >= 0xc0))
    return FALSE;
  bits = 1000 * rates[is_low ? (layer == 1 ? 3 : 4) : layer - 1][p[2] >> 4];
  frame->n = layer == 1 ? 384 : layer == 3 && is_low ? 576 : 1152;
  frame->at = at;
  frame->size = layer == 1
                    ? (12 * bits / self->track->rate + (p[2] >> 1 & 1)) * 4
                    : frame->n / 8 * bits / self->track->rate + (p[2] >> 1 & 1);
  return bits > 0 && frame->size <= self->size - at;
}

/* Reads the padding from the tag of the encoder, which is in the frame before
 * the first packet, as libavformat does. Returns FALSE if it differs from what
 * libavformat has found. */
static gboolean
read_mpeg_padding (SpdlAudioSeek *self)
{
  enum { N_FRAMES = 8, PADDING = 141, END = 144, MOST = 1500 };
  const guint8 *first = get_first (self)->data, *tag;
  const gboolean is_mono = first[3] >= 0xc0;
  const gsize side = first[1] & 8 ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17);
  gsize at = self->begin;
  guint32 padding;
  Frame frame;

  self->skip = spdl_audio_track_get (self->track, 0)->skip;
  self->discard_from = self->discard_to = 0;
  if (self->skip < 0)
    return TRUE;
  do {
    if (at == 0 || self->begin - at == MOST)
      return FALSE;
    at--;
  } while (
      !read_mpeg_header (self, at, &frame) || at + frame.size != self->begin);
  tag = self->data + at + MP3_HEADER + side;
  /* Each bit stands for a field before the padding. */
  if (frame.size < MP3_HEADER + side + END || (tag[7] & 15) != 15)
    return FALSE;
  padding = spdl_read_32_be (tag + PADDING - 1) & 0xffffff;
  self->discard_to = (gint64) spdl_read_32_be (tag + N_FRAMES) * frame.n;
  self->discard_from = self->discard_to + MP3_DELAY - (padding & 0xfff);
  return self->skip == (gint) (padding >> 12) + MP3_DELAY;
}

/* Sets the fields of the packet of frame @i as libavformat does.
 * Returns the number of its samples, including padding. */
static gsize
describe_mpeg_frame (const SpdlAudioSeek *self, guint i, SpdlAudioPacket *entry)
{
  const gint64 n = g_array_index (self->frames, Frame, i).n;
  const gint64 end = (i + 1) * n;

  entry->skip = i == 0 ? self->skip : -1;
  entry->discard = end >= self->discard_from && end - n < self->discard_to
                       ? MIN (end - self->discard_from, n)
                       : 0;
  entry->is_first = entry->is_unwanted = FALSE;
  return n;
}

/* Lists all frames; only their headers are read. */
static gboolean
look_at_mpeg (SpdlAudioSeek *self)
{
  const AVPacket *first = get_first (self);
  SpdlAudioClock clock = { 0, 0 };
  SpdlAudioPacket entry;
  gsize at;
  Frame frame;

  self->kind = KIND_MPEG;
  self->begin = MAX (first->pos, 0);
  g_array_set_size (self->frames, 0);
  if (!begins_with_first (self, self->begin) || !read_mpeg_padding (self))
    return FALSE;
  for (at = self->begin; read_mpeg_header (self, at, &frame); at += frame.size)
    g_array_append_val (self->frames, frame);
  if (at < self->size && (self->size - at != ID3V1_SIZE ||
                             memcmp (self->data + at, "TAG", 3) != 0))
    return FALSE;
  for (guint i = 0; i < self->frames->len; i++) {
    gsize n = describe_mpeg_frame (self, i, &entry);

    if (i == 0)
      clock.skip = MAX (self->skip, 0);
    g_array_index (self->frames, Frame, i).clock = clock;
    spdl_audio_clock_advance (&clock, &entry, &n);
  }
  self->n = clock.kept;
  return self->frames->len > 0 &&
         self->track->stream->duration <=
             first->duration * (gint64) self->frames->len;
}

/* PCM */

/* Checks with libavformat where the samples end. */
static gboolean
has_pcm_end (const SpdlAudioSeek *self)
{
  AVFormatContext *format = self->track->input.format;
  const gint stream = self->track->stream->index;
  AVPacket *packet = av_packet_alloc ();
  gint64 end = -1;

  if (packet &&
      av_seek_frame (format, stream, self->n - 1, AVSEEK_FLAG_BACKWARD) >= 0)
    while (av_read_frame (format, packet) >= 0) {
      end = packet->stream_index == stream ? packet->pos + packet->size : -1;
      av_packet_unref (packet);
    }
  av_packet_free (&packet);
  return end >= 0 && (guint64) end == self->begin + self->n * self->block;
}

static gboolean
look_at_pcm (SpdlAudioSeek *self)
{
  const AVStream *stream = self->track->stream;
  const AVCodecParameters *codec = stream->codecpar;
  const gint bits = av_get_exact_bits_per_sample (codec->codec_id);

  self->kind = KIND_PCM;
  self->begin = MAX (get_first (self)->pos, 0);
  self->block = MAX (bits, 0) / 8 * codec->ch_layout.nb_channels;
  self->n =
      MAX (stream->duration > 0 ? stream->duration : stream->nb_frames, 0);
  return bits % 8 == 0 && self->block > 0 && self->n > 0 &&
         stream->time_base.num == 1 &&
         stream->time_base.den == (gint) self->track->rate &&
         begins_with_first (self, self->begin) &&
         self->n <= (self->size - self->begin) / self->block &&
         has_pcm_end (self);
}

/* Reading */

/* Returns whether the packets of a file are PCM samples, one after the other.
 */
static gboolean
is_pcm (const SpdlAudioTrack *track)
{
  static const gchar demuxers[][5] = { "aiff", "au", "caf", "wav" };
  const enum AVCodecID id = track->stream->codecpar->codec_id;

  for (guint i = 0; i < G_N_ELEMENTS (demuxers); i++)
    if (spdl_media_input_is (&track->input, demuxers[i]))
      return id >= AV_CODEC_ID_FIRST_AUDIO && id < AV_CODEC_ID_ADPCM_IMA_QT;
  return FALSE;
}

SpdlAudioSight
spdl_audio_seek_look (SpdlAudioSeek *self, SpdlAudioTrack *track, guint64 *n)
{
  gboolean ok = FALSE;

  self->track = track;
  self->data = track->input.file->data;
  self->size = track->input.file->size;
  if (track->corruption)
    return SPDL_SIGHT_UNCLEAR;
  if (track->rate == 0)
    return SPDL_SIGHT_NONE;
  if (spdl_media_input_is (&track->input, "flac"))
    ok = look_at_flac (self);
  else if (spdl_media_input_is (&track->input, "mp3"))
    ok = look_at_mpeg (self);
  else if (is_pcm (track))
    ok = look_at_pcm (self);
  else
    return SPDL_SIGHT_NONE;
  *n = self->n;
  return ok && self->n > 0 ? SPDL_SIGHT_CLEAR : SPDL_SIGHT_UNCLEAR;
}

static gboolean
list_flac_frames (SpdlAudioSeek *self, guint64 from, guint64 to)
{
  Frame frame;

  if (!seek_flac (self, from, &frame))
    return FALSE;
  g_array_append_val (self->frames, frame);
  while (frame.clock.kept + frame.n < to) {
    if (!read_flac_header (self, frame.at + frame.size, &frame) ||
        !measure_flac_frame (self, &frame))
      return FALSE;
    g_array_append_val (self->frames, frame);
  }
  return TRUE;
}

static void
list_pcm_frames (SpdlAudioSeek *self, guint64 from, guint64 to)
{
  for (guint64 i = from; i < to; i += PCM_FRAME) {
    const guint n = MIN (to - i, PCM_FRAME);
    const Frame frame = { self->begin + i * self->block, n * self->block,
      { i, 0 }, n };

    g_array_append_val (self->frames, frame);
  }
}

/* Returns the frame to begin with: that at @from, or one before it that the
 * decoder needs. */
static guint
find_mpeg_frame (const SpdlAudioSeek *self, guint64 from)
{
  const Frame *frames = (const Frame *) self->frames->data;
  gsize size = 0;
  guint i = 0, n = 0;

  while (
      i + 1 < self->frames->len &&
      (gint64) frames[i + 1].clock.kept - (gint64) frames[i + 1].clock.skip <=
          (gint64) from)
    i++;
  for (; n < i && spdl_audio_track_needs_more (n, size); n++)
    size += spdl_audio_track_count_data (n + 1, frames[i - n - 1].size);
  return i - n;
}

/* Adds the frames from @i on to the track. */
static gboolean
add_frames (SpdlAudioSeek *self, guint i, guint64 to)
{
  const Frame *frames = (const Frame *) self->frames->data;

  for (; i < self->frames->len && frames[i].clock.kept < to; i++) {
    SpdlAudioPacket *entry = spdl_audio_track_add (
        self->track, self->data + frames[i].at, frames[i].size);

    if (!entry)
      return FALSE;
    if (self->kind == KIND_MPEG)
      describe_mpeg_frame (self, i, entry);
    entry->clock = frames[i].clock;
  }
  self->track->has_end = to >= self->n;
  return self->track->n_packets > 0;
}

gboolean
spdl_audio_seek_read (SpdlAudioSeek *self, guint64 from, guint64 to)
{
  guint first = 0;

  if (from >= self->n)
    return FALSE;
  to = MIN (to, self->n);
  if (self->kind == KIND_MPEG)
    first = find_mpeg_frame (self, from);
  else
    g_array_set_size (self->frames, 0);
  if (self->kind == KIND_PCM)
    list_pcm_frames (self, from, to);
  else if (self->kind == KIND_FLAC && !list_flac_frames (self, from, to))
    return FALSE;
  spdl_audio_track_clear (self->track);
  self->track->is_part = TRUE;
  self->track->length = self->kind == KIND_FLAC ? self->n : G_MAXUINT64;
  return add_frames (self, first, to);
}
