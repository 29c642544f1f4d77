/* gst-spdl: sound of other channels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlmixer.h"

#include <string.h>

#include "spdlsamples.h"

struct _SpdlMixer {
  GstAudioChannelMixer *mixer; /* NULL: two channels become one */
  GstAudioFormat format;
  guint n_in, n_out;
  GstAudioChannelPosition in[SPDL_MAX_CHANNELS], out[SPDL_MAX_CHANNELS];
  guint8 *result;
  gsize result_size;
};

SpdlMixer *
spdl_mixer_new (void)
{
  return g_new0 (SpdlMixer, 1);
}

void
spdl_mixer_free (SpdlMixer *self)
{
  g_clear_pointer (&self->mixer, gst_audio_channel_mixer_free);
  g_free (self->result);
  g_free (self);
}

static GstAudioChannelMixer *
make_mixer (SpdlMixer *self)
{
  GstAudioChannelMixerFlags flags = GST_AUDIO_CHANNEL_MIXER_FLAGS_NONE;

  if (self->in[0] == GST_AUDIO_CHANNEL_POSITION_NONE)
    flags |= GST_AUDIO_CHANNEL_MIXER_FLAGS_UNPOSITIONED_IN;
  if (self->out[0] == GST_AUDIO_CHANNEL_POSITION_NONE)
    flags |= GST_AUDIO_CHANNEL_MIXER_FLAGS_UNPOSITIONED_OUT;
  return gst_audio_channel_mixer_new (
      flags, self->format, self->n_in, self->in, self->n_out, self->out);
}

static gboolean
is_pair (const GstAudioChannelPosition *in)
{
  return in[0] == GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT &&
         in[1] == GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT;
}

void
spdl_mixer_begin (SpdlMixer *self, GstAudioFormat format, guint n_in,
    const GstAudioChannelPosition *in, guint n_out,
    const GstAudioChannelPosition *out)
{
  g_clear_pointer (&self->mixer, gst_audio_channel_mixer_free);
  self->format = format;
  self->n_in = n_in;
  self->n_out = n_out;
  if (n_in == 2 && n_out == 1 && is_pair (in))
    return;
  memcpy (self->in, in, n_in * sizeof *in);
  memcpy (self->out, out, n_out * sizeof *out);
  self->mixer = make_mixer (self);
}

#define DEFINE_HALVE(type)                                  \
  static void halve_##type (                                \
      const type *restrict in, gsize n, type *restrict out) \
  {                                                         \
    for (gsize i = 0; i < n; i++)                           \
      out[i] = (in[2 * i] + in[2 * i + 1]) * (type) 0.5;    \
  }
DEFINE_HALVE (float)
DEFINE_HALVE (double)

const void *
spdl_mixer_run (SpdlMixer *self, const void *in, gsize n)
{
  const gsize size = self->format == GST_AUDIO_FORMAT_F64 ? 8 : 4;
  gpointer ins[] = { (gpointer) in };
  gpointer outs[1];

  if (n * self->n_out * size > self->result_size) {
    g_free (self->result);
    self->result = g_malloc (self->result_size = n * self->n_out * size);
  }
  outs[0] = self->result;
  if (self->mixer)
    gst_audio_channel_mixer_samples (self->mixer, ins, outs, n);
  else if (size == 8)
    halve_double (in, n, (double *) self->result);
  else
    halve_float (in, n, (float *) self->result);
  return self->result;
}
