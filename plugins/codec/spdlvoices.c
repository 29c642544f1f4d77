/* gst-spdl: decoders for the packets of sound, held open
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlvoices.h"

#include "gst/spdl/gstspdlharness.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

/* Packets that may come as one do so up to this many: less goes on around them
 * then, but none is decoded for nothing. */
#define MAX_JOINED 8

static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("audio/x-raw"));

/* Decoders that come first: those of FFmpeg, but for Vorbis, take less time
 * than the ones of the rank. Those that a flush makes forget all need not be
 * stopped between two files: FFmpeg's AAC goes on with its noise, for one. */
static const struct {
  SpdlCodec codec;
  const gchar *factory;
  gboolean flushes;
} first_ones[] = {
  { SPDL_CODEC_MPEG_AUDIO, "avdec_mp3float", TRUE },
  { SPDL_CODEC_FLAC, "avdec_flac", TRUE },
  { SPDL_CODEC_AAC, "avdec_aac", FALSE },
  { SPDL_CODEC_OPUS, "avdec_opus", TRUE },
  { SPDL_CODEC_VORBIS, "vorbisdec", FALSE },
  { SPDL_CODEC_ALAC, "avdec_alac", TRUE },
};

/* A decoder, open or not. */
typedef struct {
  SpdlVoices *voices;
  GstElementFactory *factory;
  GstSpdlHarness *harness; /* nullable */
  gboolean flushes;
  gboolean failed;   /* to open: it is not tried again */
  GstAudioInfo info; /* of what comes out */
  gboolean has_info;
} Voice;

struct _SpdlVoices {
  GPtrArray
      *voices[SPDL_N_CODECS]; /* the best one first; NULL: not found yet */

  /* The file in hand. */
  const SpdlTrack *track;
  const SpdlAudioTarget *target;
  SpdlSound *sound;
  gboolean has_begun;
  guint64 position; /* in samples of the decoder, from the first packet */
  guint64 skip;
  GError *error;
};

/* What comes out */

static gboolean
begin_sound (SpdlVoices *self, const GstAudioInfo *info)
{
  const SpdlTrack *track = self->track;
  const guint64 all = spdl_track_count (track);
  const guint64 n =
      MIN (track->length, all > track->skip ? all - track->skip : 0);
  const SpdlSoundInput input = { GST_AUDIO_INFO_FORMAT (info),
    GST_AUDIO_INFO_RATE (info), GST_AUDIO_INFO_CHANNELS (info),
    GST_AUDIO_INFO_IS_UNPOSITIONED (info) ? NULL : info->position,
    gst_util_uint64_scale (n, info->rate, track->rate) };

  self->skip = gst_util_uint64_scale (track->skip, info->rate, track->rate);
  return spdl_sound_begin (self->sound, self->target, &input, &self->error);
}

static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  Voice *voice = user_data;
  SpdlVoices *self = voice->voices;
  GstAudioInfo info;

  if (!gst_audio_info_from_caps (&info, caps))
    return FALSE;
  if (self->has_begun &&
      (info.rate != voice->info.rate || info.channels != voice->info.channels ||
          info.finfo != voice->info.finfo)) {
    if (!self->error)
      g_set_error (&self->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "It is a %s whose format changes within it", self->track->name);
    return FALSE;
  }
  voice->info = info;
  voice->has_info = TRUE;
  return TRUE;
}

static gboolean
describe (const GstAudioInfo *info, GstBuffer *buffer, const GstMapInfo *map,
    SpdlBlock *block)
{
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  const guint n_channels = GST_AUDIO_INFO_CHANNELS (info);

  block->format = GST_AUDIO_INFO_FORMAT (info);
  block->n_channels = n_channels;
  block->planar = info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  block->n = meta ? meta->samples : map->size / GST_AUDIO_INFO_BPF (info);
  block->planes[0] = map->data;
  if (block->planar)
    for (guint c = 0; c < n_channels; c++)
      block->planes[c] =
          map->data + (meta && meta->offsets
                              ? meta->offsets[c]
                              : c * block->n * (info->finfo->width / 8));
  return n_channels <= SPDL_MAX_CHANNELS &&
         block->n * GST_AUDIO_INFO_BPF (info) <= map->size;
}

static GstFlowReturn
take_block (Voice *voice, GstBuffer *buffer, const GstMapInfo *map)
{
  SpdlVoices *self = voice->voices;
  SpdlBlock block;
  gboolean more;

  if (!voice->has_info || !describe (&voice->info, buffer, map, &block))
    return GST_FLOW_ERROR;
  if (!self->has_begun && !(self->has_begun = begin_sound (self, &voice->info)))
    return GST_FLOW_ERROR;
  more = spdl_sound_write (self->sound,
      (gint64) self->position - (gint64) self->skip, &block, &self->error);
  self->position += block.n;
  return more ? GST_FLOW_OK : self->error ? GST_FLOW_ERROR : GST_FLOW_EOS;
}

static GstFlowReturn
take_buffer (gpointer user_data, GstBuffer *buffer)
{
  GstFlowReturn ret = GST_FLOW_ERROR;
  GstMapInfo map;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    ret = take_block (user_data, buffer, &map);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  return ret;
}

static gboolean
answer (gpointer user_data, GstQuery *query)
{
  return FALSE;
}

static const GstSpdlHarnessFuncs funcs = { &in_template, take_caps, take_buffer,
  answer };

/* Finding decoders */

static void
free_voice (gpointer data)
{
  Voice *voice = data;

  g_clear_pointer (&voice->harness, gst_spdl_harness_free);
  gst_object_unref (voice->factory);
  g_free (voice);
}

/* @factory: (transfer full) */
static void
add_voice (SpdlVoices *self, GPtrArray *voices, GstElementFactory *factory,
    gboolean flushes)
{
  Voice *voice = g_new0 (Voice, 1);

  voice->voices = self;
  voice->factory = factory;
  voice->flushes = flushes;
  g_ptr_array_add (voices, voice);
}

static void
add_by_rank (SpdlVoices *self, GPtrArray *voices, GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);

  fit = g_list_sort (fit, gst_plugin_feature_rank_compare_func);
  for (GList *l = fit; l; l = l->next)
    add_voice (self, voices, gst_object_ref (l->data), FALSE);
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
}

static GPtrArray *
get_voices (SpdlVoices *self, const SpdlTrack *track)
{
  GPtrArray *voices = self->voices[track->codec];

  if (voices)
    return voices;
  voices = g_ptr_array_new_with_free_func (free_voice);
  for (guint i = 0; i < G_N_ELEMENTS (first_ones); i++) {
    GstElementFactory *factory =
        first_ones[i].codec == track->codec
            ? gst_element_factory_find (first_ones[i].factory)
            : NULL;

    if (factory)
      add_voice (self, voices, factory, first_ones[i].flushes);
  }
  add_by_rank (self, voices, track->caps);
  return self->voices[track->codec] = voices;
}

SpdlVoices *
spdl_voices_new (void)
{
  return g_new0 (SpdlVoices, 1);
}

void
spdl_voices_free (SpdlVoices *self)
{
  for (guint i = 0; i < SPDL_N_CODECS; i++)
    g_clear_pointer (&self->voices[i], g_ptr_array_unref);
  g_free (self);
}

/* Decoding */

static gboolean
open_voice (Voice *voice)
{
  GstElement *element;

  if (voice->harness || voice->failed)
    return !voice->failed;
  element = gst_element_factory_create (voice->factory, NULL);
  if (element) {
    gst_spdl_harness_configure (element, TRUE);
    voice->harness = gst_spdl_harness_new (element,
        gst_element_get_static_pad (element, "sink"),
        gst_element_get_static_pad (element, "src"), &funcs, voice);
  }
  if (voice->harness && !gst_spdl_harness_start (voice->harness, NULL))
    g_clear_pointer (&voice->harness, gst_spdl_harness_free);
  voice->failed = !voice->harness;
  GST_INFO ("%s %s", GST_OBJECT_NAME (voice->factory),
      voice->failed ? "does not start" : "is open");
  return !voice->failed;
}

/* Packets from *i on that go as one. Another owner of their memory there is
 * none: the decoder has forgotten them when the file goes. */
static GstBuffer *
take_packets (const SpdlTrack *track, guint *i)
{
  const SpdlPacket *first = &g_array_index (track->packets, SpdlPacket, *i);
  gsize size = first->size;
  guint n = 1;

  while (track->joins && n < MAX_JOINED && *i + n < track->packets->len &&
         first[n].at == first->at + size)
    size += first[n++].size;
  *i += n;
  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY,
      (gpointer) (track->data + first->at), size, 0, size, NULL, NULL);
}

static guint
find_start (SpdlVoices *self)
{
  const SpdlTrack *track = self->track;
  guint64 from, to;

  if (track->lead == SPDL_LEAD_ALL) {
    self->position = 0;
    return 0;
  }
  spdl_sound_get_needed (self->sound, &from, &to);
  return spdl_track_find (track, from + track->skip, &self->position);
}

/* A sound of which the rate is known begins before its decoder says so, to know
 * what is needed of it. */
static gboolean
begin_known (SpdlVoices *self)
{
  GstAudioInfo info;

  if (self->track->lead == SPDL_LEAD_ALL)
    return TRUE;
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F32, self->track->rate,
      self->track->n_channels, NULL);
  return begin_sound (self, &info);
}

/* What became of the file whose last push gave @ret. */
static gboolean
judge (SpdlVoices *self, Voice *voice, GstFlowReturn ret, GError **error)
{
  const gchar *name = GST_OBJECT_NAME (voice->factory);
  g_autofree gchar *message =
      gst_spdl_harness_take_message (voice->harness, NULL);
  const gboolean complete =
      self->has_begun && spdl_sound_is_complete (self->sound);

  if (self->error) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return FALSE;
  }
  if (complete || (ret == GST_FLOW_EOS && !message))
    return TRUE;
  if (ret == GST_FLOW_OK && !message && self->has_begun &&
      (self->track->codec == SPDL_CODEC_AAC ||
          self->position >= spdl_track_count (self->track)))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR,
      ret == GST_FLOW_NOT_NEGOTIATED ? GST_STREAM_ERROR_NOT_IMPLEMENTED
                                     : GST_STREAM_ERROR_DECODE,
      "It is a broken %s: %s found %s", self->track->name, name,
      message           ? message
      : ret < 0         ? "that it cannot be decoded"
      : self->has_begun ? "samples missing"
                        : "no sound in it");
  return FALSE;
}

static gboolean
run_voice (SpdlVoices *self, Voice *voice, GError **error)
{
  const SpdlTrack *track = self->track;
  GstFlowReturn ret = GST_FLOW_OK;
  gboolean ok;
  guint i;

  self->has_begun = FALSE;
  g_free (gst_spdl_harness_take_message (voice->harness, NULL));
  if (!begin_known (self)) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return FALSE;
  }
  i = find_start (self);
  /* It ends before its window: the sound, which has begun, says so. */
  if (i > 0 && i == track->packets->len)
    return TRUE;
  for (; i < track->packets->len && ret == GST_FLOW_OK;)
    ret = gst_spdl_harness_push (
        voice->harness, take_packets (track, &i), track->caps);
  if (ret == GST_FLOW_OK)
    gst_spdl_harness_drain (voice->harness);
  ok = judge (self, voice, ret, error);
  if (voice->flushes && ok)
    gst_spdl_harness_flush (voice->harness);
  else
    gst_spdl_harness_restart (voice->harness);
  return ok;
}

static gboolean
is_fit (const Voice *voice, GstCaps *caps)
{
  return gst_element_factory_can_sink_all_caps (voice->factory, caps);
}

gboolean
spdl_voices_decode (SpdlVoices *self, const SpdlTrack *track,
    const SpdlAudioTarget *target, SpdlSound *sound, gboolean *has_begun,
    GError **error)
{
  GPtrArray *voices = get_voices (self, track);

  self->track = track;
  self->target = target;
  self->sound = sound;
  *has_begun = FALSE;
  for (guint i = 0; i < voices->len; i++) {
    Voice *voice = g_ptr_array_index (voices, i);

    if (!is_fit (voice, track->caps) || !open_voice (voice))
      continue;
    const gboolean ok = run_voice (self, voice, error);
    *has_begun = self->has_begun;
    return ok;
  }
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "It is %s, for which no decoder is installed; Debian has it in %s",
      track->name,
      track->codec == SPDL_CODEC_VORBIS ? "gstreamer1.0-plugins-base"
                                        : "gstreamer1.0-libav");
  return FALSE;
}
