/* gst-spdl: decoded sound on its way into a result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlsound.h"

#include <string.h>

#include "spdlmixer.h"
#include "spdlresampler.h"

/* Moments that are worked on at a time, so that they stay near. */
#define CHUNK 2048
/* A file of a few bytes may claim, or become, any length. */
#define MAX_BYTES G_MAXINT32

struct _SpdlSound {
  SpdlResampler *resampler;
  SpdlMixer *mixer;
  guint8 *work; /* a chunk before it is mixed */

  /* The sound in hand. */
  SpdlSoundInput input;
  GstAudioInfo info; /* of the result */
  GstCaps *caps;     /* of that */
  GstAudioFormat work_format;
  gboolean mixes, resamples;
  guint64 from, to;    /* what counts of the sound */
  guint64 position;    /* of the sample that comes next */
  guint64 window;      /* the first sample of the window */
  guint64 n, n_wanted; /* of the result */
  guint8 *out;
  gsize out_size;
};

SpdlSound *
spdl_sound_new (void)
{
  SpdlSound *self = g_new0 (SpdlSound, 1);

  self->resampler = spdl_resampler_new ();
  self->mixer = spdl_mixer_new ();
  self->work = g_malloc (CHUNK * SPDL_MAX_CHANNELS * sizeof (double));
  return self;
}

void
spdl_sound_free (SpdlSound *self)
{
  spdl_resampler_free (self->resampler);
  spdl_mixer_free (self->mixer);
  gst_clear_caps (&self->caps);
  g_free (self->work);
  g_free (self->out);
  g_free (self);
}

/* Beginning */

/* @format: of a sentence, in which @value stands */
#define set_damage(error, format, value)                                  \
  (g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, format, \
       (guint) (value)),                                                  \
      FALSE)

/* Those of the input if as many; else the usual ones. */
static void
choose_positions (
    const SpdlSoundInput *input, guint n, GstAudioChannelPosition *positions)
{
  const guint64 usual = gst_audio_channel_get_fallback_mask (n);

  if (n == input->n_channels && input->positions) {
    memcpy (positions, input->positions, n * sizeof *positions);
  } else if (n == 1) {
    positions[0] = GST_AUDIO_CHANNEL_POSITION_MONO;
  } else if (!usual ||
             !gst_audio_channel_positions_from_mask (n, usual, positions)) {
    for (guint i = 0; i < n; i++)
      positions[i] = GST_AUDIO_CHANNEL_POSITION_NONE;
  }
}

/* Caps that are as before stay the same ones: then nothing is negotiated. */
static void
set_caps (SpdlSound *self, const SpdlAudioTarget *target)
{
  const guint n = target->channels ? target->channels : self->input.n_channels;
  const guint rate = target->rate ? target->rate : self->input.rate;
  GstAudioChannelPosition positions[SPDL_MAX_CHANNELS];
  GstAudioInfo info;

  choose_positions (&self->input, n, positions);
  gst_audio_info_set_format (&info, target->format, rate, n, positions);
  if (self->caps && gst_audio_info_is_equal (&info, &self->info))
    return;
  self->info = info;
  gst_clear_caps (&self->caps);
  self->caps = gst_audio_info_to_caps (&info);
}

static gboolean
has_many_bits (GstAudioFormat format)
{
  return format == GST_AUDIO_FORMAT_S32 || format == GST_AUDIO_FORMAT_F64;
}

static void
find_window (SpdlSound *self, const SpdlAudioTarget *target)
{
  guint64 to;

  spdl_audio_target_get_window (target, self->info.rate, &self->window, &to);
  self->n_wanted = to == G_MAXUINT64 ? to : to - self->window;
  self->from = self->window;
  self->to = to;
  if (self->resamples)
    spdl_resampler_begin (self->resampler, self->work_format,
        self->info.channels, self->input.rate, self->info.rate, &self->from,
        &self->to);
  self->to = MIN (self->to, self->input.n);
}

static gsize
moment_size (const SpdlSound *self)
{
  return self->info.bpf;
}

/* Room for @n more moments. Where the length is known there is room at once. */
static gboolean
make_room (SpdlSound *self, guint64 n, GError **error)
{
  const gsize size = moment_size (self);
  guint64 wanted, all;
  guint8 *out;

  if (self->n > MAX_BYTES / size || n > MAX_BYTES / size - self->n) {
    return set_damage (error, "It would become more than %u bytes", MAX_BYTES);
  }
  if ((self->n + n) * size <= self->out_size)
    return TRUE;
  wanted = MAX ((self->n + n) * size, MIN (2 * self->out_size, MAX_BYTES));
  all = spdl_resampler_scale (self->input.n, self->input.rate, self->info.rate);
  all = MIN (self->n_wanted, all - MIN (self->window, all));
  if (self->out_size == 0 && all < MAX_BYTES / size / 64)
    wanted = MAX (wanted, all * size);
  if (!(out = g_try_realloc (self->out, wanted)))
    return set_damage (
        error, "There is no memory for %u bytes of it", (guint) wanted);
  self->out = out;
  self->out_size = wanted;
  return TRUE;
}

/* Channels of which the file does not say where they are, are where they
 * usually are. */
static void
begin_mixer (SpdlSound *self)
{
  const guint n = self->input.n_channels;
  GstAudioChannelPosition positions[SPDL_MAX_CHANNELS];

  choose_positions (&self->input, n, positions);
  spdl_mixer_begin (self->mixer, self->work_format, n, positions,
      self->info.channels, self->info.position);
}

gboolean
spdl_sound_begin (SpdlSound *self, const SpdlAudioTarget *target,
    const SpdlSoundInput *input, GError **error)
{
  if (input->n_channels < 1 || input->n_channels > SPDL_MAX_CHANNELS)
    return set_damage (error, "It has %u channels", input->n_channels);
  if (input->rate < 1 || input->rate > G_MAXINT ||
      (target->rate > 0 && !spdl_resampler_can (input->rate, target->rate)))
    return set_damage (error, "It has a rate of %u", input->rate);
  if (!spdl_samples_can_read (input->format))
    return set_damage (error, "It has samples of format %u", input->format);
  self->input = *input;
  set_caps (self, target);
  /* What is mixed or resampled is no number of the file any more. */
  self->work_format = has_many_bits (target->format) ? GST_AUDIO_FORMAT_F64
                                                     : GST_AUDIO_FORMAT_F32;
  self->mixes = (guint) self->info.channels != input->n_channels;
  self->resamples = (guint) self->info.rate != input->rate;
  if (self->mixes)
    begin_mixer (self);
  find_window (self, target);
  self->position = self->from;
  self->n = 0;
  g_clear_pointer (&self->out, g_free);
  self->out_size = 0;
  return TRUE;
}

void
spdl_sound_get_needed (const SpdlSound *self, guint64 *from, guint64 *to)
{
  *from = self->from;
  *to = self->to;
}

gboolean
spdl_sound_is_complete (const SpdlSound *self)
{
  return self->n >= self->n_wanted;
}

GstCaps *
spdl_sound_get_caps (SpdlSound *self)
{
  return self->caps;
}

gboolean
spdl_sound_is_same (const SpdlSound *self)
{
  return !self->mixes && !self->resamples &&
         self->input.format == GST_AUDIO_INFO_FORMAT (&self->info);
}

/* Writing */

/* Takes moments that are all but of the result's format. */
static gboolean
append (SpdlSound *self, const SpdlBlock *block, gsize from, gsize n,
    GError **error)
{
  const gsize count = MIN (n, self->n_wanted - self->n);

  if (count == 0)
    return TRUE;
  if (!make_room (self, count, error))
    return FALSE;
  spdl_samples_write (block, from, count, GST_AUDIO_INFO_FORMAT (&self->info),
      self->out + self->n * moment_size (self));
  self->n += count;
  return TRUE;
}

static SpdlBlock
block_of (const SpdlSound *self, const void *data, gsize n)
{
  return (SpdlBlock){ .format = self->work_format,
    .n_channels = self->info.channels,
    .planes = { data },
    .n = n };
}

/* @data: (nullable): silence */
static gboolean
resample (SpdlSound *self, const void *data, gsize n, GError **error)
{
  const guint8 *out;
  const gsize n_out = spdl_resampler_run (self->resampler, data, n, &out);
  const SpdlBlock block = block_of (self, out, n_out);

  return append (self, &block, 0, n_out, error);
}

static gboolean
convert (SpdlSound *self, const SpdlBlock *block, gsize from, gsize n,
    GError **error)
{
  const void *data = self->work;

  spdl_samples_write (block, from, n, self->work_format, self->work);
  if (self->mixes)
    data = spdl_mixer_run (self->mixer, self->work, n);
  if (self->resamples)
    return resample (self, data, n, error);

  const SpdlBlock mixed = block_of (self, data, n);
  return append (self, &mixed, 0, n, error);
}

gboolean
spdl_sound_write (
    SpdlSound *self, gint64 position, const SpdlBlock *block, GError **error)
{
  const gint64 most = MIN (self->to, G_MAXINT64);
  const gint64 end = MIN (position + (gint64) block->n, most);
  gint64 at = MAX (position, (gint64) self->position);

  while (at < end) {
    const gsize n =
        self->mixes || self->resamples ? MIN (end - at, CHUNK) : end - at;
    const gboolean ok = self->mixes || self->resamples
                            ? convert (self, block, at - position, n, error)
                            : append (self, block, at - position, n, error);

    if (!ok)
      return FALSE;
    at += n;
    self->position = at;
  }
  return self->position < self->to && !spdl_sound_is_complete (self);
}

/* Ending */

/* What the resampler still has; of the whole sound come as many samples as of
 * its time. */
static gboolean
flush (SpdlSound *self, GError **error)
{
  const guint64 end =
      spdl_resampler_scale (self->position, self->input.rate, self->info.rate);
  const guint64 n = end > self->window ? end - self->window : 0;

  self->n_wanted = MIN (self->n_wanted, n);
  for (gsize left = spdl_resampler_get_tail (self->resampler); left > 0;) {
    const gsize count = MIN (left, CHUNK);

    if (!resample (self, NULL, count, error))
      return FALSE;
    left -= count;
  }
  self->n = MIN (self->n, self->n_wanted);
  return TRUE;
}

GstBuffer *
spdl_sound_end (SpdlSound *self, GstCaps **caps, GError **error)
{
  const gsize size = moment_size (self);
  GstBuffer *buffer;

  if (self->resamples && !spdl_sound_is_complete (self) && !flush (self, error))
    return NULL;
  if (self->n == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        self->window > 0 ? "It ends before its window begins"
                         : "It has no samples");
    return NULL;
  }
  if (self->n * size < self->out_size)
    self->out = g_realloc (self->out, self->n * size);
  buffer =
      gst_buffer_new_wrapped (g_steal_pointer (&self->out), self->n * size);
  self->out_size = 0;
  *caps = self->caps;
  return buffer;
}
