/* gst-spdl: sound at another rate, from any sample on
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlresampler.h"

/* A resampler's filters are what it costs to make one. */
#define N_KEPT 4
/* 48 samples of the lower rate, and 80 dB. */
#define QUALITY 3
/* Rates that are further apart have filters that are too long. */
#define MAX_RATIO 256
/* Numbers of a filter with all of its phases, which are computed once. Longer
 * ones GStreamer 1.22 puts together from a few phases: with an error that is as
 * small, but a part of a sample late. */
#define MAX_FILTER (1 << 20)

typedef struct {
  GstAudioResampler *resampler; /* nullable */
  GstAudioFormat format;
  guint n_channels;
  guint in_rate, out_rate;
  guint64 used;  /* when: a running number */
  guint64 n_out; /* since the filter's first phase */
} Kept;

struct _SpdlResampler {
  Kept kept[N_KEPT];
  Kept *current;
  guint64 now;
  guint8 *out;
  gsize out_size;
};

SpdlResampler *
spdl_resampler_new (void)
{
  return g_new0 (SpdlResampler, 1);
}

static void
clear_kept (Kept *kept)
{
  g_clear_pointer (&kept->resampler, gst_audio_resampler_free);
}

void
spdl_resampler_free (SpdlResampler *self)
{
  for (guint i = 0; i < N_KEPT; i++)
    clear_kept (&self->kept[i]);
  g_free (self->out);
  g_free (self);
}

guint64
spdl_resampler_scale (guint64 n, guint in_rate, guint out_rate)
{
  return n == G_MAXUINT64 ? n
                          : gst_util_uint64_scale_ceil (n, out_rate, in_rate);
}

/* The one that fits, else the one to replace. */
static Kept *
find_kept (SpdlResampler *self, GstAudioFormat format, guint n_channels,
    guint in_rate, guint out_rate)
{
  Kept *oldest = &self->kept[0];

  for (guint i = 0; i < N_KEPT; i++) {
    Kept *kept = &self->kept[i];

    if (kept->resampler && kept->format == format &&
        kept->n_channels == n_channels && kept->in_rate == in_rate &&
        kept->out_rate == out_rate)
      return kept;
    if (kept->used < oldest->used)
      oldest = kept;
  }
  clear_kept (oldest);
  return oldest;
}

gboolean
spdl_resampler_can (guint in_rate, guint out_rate)
{
  return in_rate / MAX_RATIO <= out_rate && out_rate / MAX_RATIO <= in_rate;
}

static guint
get_period (guint rate, guint in_rate, guint out_rate)
{
  return rate / gst_util_greatest_common_divisor (in_rate, out_rate);
}

/* Whether the filter can be had in full; by the quality it has 64 taps, and
 * more where it shrinks. */
static gboolean
is_short (guint in_rate, guint out_rate)
{
  const guint64 n_taps = 48 * ((guint64) in_rate / out_rate + 1);

  return get_period (out_rate, in_rate, out_rate) * n_taps <= MAX_FILTER;
}

static GstAudioResampler *
make_resampler (
    GstAudioFormat format, guint n_channels, guint in_rate, guint out_rate)
{
  GstStructure *options = gst_structure_new_empty ("options");
  GstAudioResampler *resampler;

  gst_audio_resampler_options_set_quality (
      GST_AUDIO_RESAMPLER_METHOD_KAISER, QUALITY, in_rate, out_rate, options);
  if (is_short (in_rate, out_rate))
    gst_structure_set (options, GST_AUDIO_RESAMPLER_OPT_FILTER_MODE,
        GST_TYPE_AUDIO_RESAMPLER_FILTER_MODE,
        GST_AUDIO_RESAMPLER_FILTER_MODE_FULL,
        GST_AUDIO_RESAMPLER_OPT_FILTER_INTERPOLATION,
        GST_TYPE_AUDIO_RESAMPLER_FILTER_INTERPOLATION,
        GST_AUDIO_RESAMPLER_FILTER_INTERPOLATION_NONE, NULL);
  resampler = gst_audio_resampler_new (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      GST_AUDIO_RESAMPLER_FLAG_NONE, format, n_channels, in_rate, out_rate,
      options);
  gst_structure_free (options);
  return resampler;
}

/* Room for @n samples of what comes out. */
static guint8 *
get_out (SpdlResampler *self, gsize n)
{
  const Kept *kept = self->current;
  const gsize size =
      n * kept->n_channels * (kept->format == GST_AUDIO_FORMAT_F64 ? 8 : 4);

  if (size > self->out_size) {
    g_free (self->out);
    self->out = g_malloc (self->out_size = size);
  }
  return self->out;
}

/* Its own reset leaves it in whatever phase of the filter it was: the sound
 * before is drawn out with silence, to the end of a period. */
static void
reset (SpdlResampler *self, Kept *kept)
{
  const guint period =
      get_period (kept->out_rate, kept->in_rate, kept->out_rate);
  const guint n = (period - kept->n_out % period) % period;

  if (n > 0) {
    gpointer outs[] = { get_out (self, n) };

    gst_audio_resampler_resample (kept->resampler, NULL,
        gst_audio_resampler_get_in_frames (kept->resampler, n), outs, n);
  }
  gst_audio_resampler_reset (kept->resampler);
  kept->n_out = 0;
}

void
spdl_resampler_begin (SpdlResampler *self, GstAudioFormat format,
    guint n_channels, guint in_rate, guint out_rate)
{
  Kept *kept = find_kept (self, format, n_channels, in_rate, out_rate);

  self->current = kept;
  if (kept->resampler)
    reset (self, kept);
  else
    *kept = (Kept){ make_resampler (format, n_channels, in_rate, out_rate),
      format, n_channels, in_rate, out_rate };
  kept->used = ++self->now;
}

/* The filter's phases repeat after so many samples of both rates. */
guint64
spdl_resampler_find_input (SpdlResampler *self, guint64 *from, guint64 *to)
{
  const Kept *kept = self->current;
  const guint in_period =
      get_period (kept->in_rate, kept->in_rate, kept->out_rate);
  const guint out_period =
      get_period (kept->out_rate, kept->in_rate, kept->out_rate);
  const guint64 reach = gst_audio_resampler_get_max_latency (kept->resampler);
  const guint64 lead = reach / in_period + 1; /* periods */
  const guint64 period = *from / out_period;
  const guint64 first = period > lead ? period - lead : 0;
  const guint64 before = *from - first * out_period;

  *from = first * in_period;
  if (*to != G_MAXUINT64)
    *to = gst_util_uint64_scale_ceil (*to, kept->in_rate, kept->out_rate) +
          reach + 1;
  return before;
}

gsize
spdl_resampler_run (
    SpdlResampler *self, const void *in, gsize n, const guint8 **out)
{
  Kept *kept = self->current;
  const gsize n_out = gst_audio_resampler_get_out_frames (kept->resampler, n);
  gpointer ins[] = { (gpointer) in };
  gpointer outs[] = { get_out (self, n_out) };

  gst_audio_resampler_resample (
      kept->resampler, in ? ins : NULL, n, outs, n_out);
  kept->n_out += n_out;
  *out = outs[0];
  return n_out;
}

gsize
spdl_resampler_get_tail (const SpdlResampler *self)
{
  return gst_audio_resampler_get_max_latency (self->current->resampler) + 1;
}
