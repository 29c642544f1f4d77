/* gst-spdl: window of an audio file, converted to the output format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audiowindow.h"

#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <string.h>

#include "plugins/codec/audio/audioresampler.h"

/* Number of samples per channel that are converted at a time, so that they stay
 * in the CPU cache. */
#define CHUNK 2048
/* Part of a second that resampling needs at most after a window. */
#define MARGIN 4
/* Limit on the result, because a file of a few bytes may declare any length. */
#define MAX_BYTES G_MAXINT32
/* Number of cached converters. */
#define N_KEPT 6
#define ALIGNMENT 32
/* Number of spare blocks that are kept, and how much larger than needed a
 * reused block may be. */
#define N_SPARE 2
#define MAX_SPARE_RATIO 2
#define DATA_AT 64
/* libswresample does not resample here, but requires a sample rate. */
#define ANY_RATE 48000

typedef struct {
  enum AVSampleFormat format;
  AVChannelLayout layout;
} Side;

typedef struct {
  SwrContext *context; /* nullable */
  Side in, out;
  guint64 used; /* value of `now` at the last use */
} Kept;

/* Recycler of result memory. A block returns when the last reference to its
 * buffer is dropped, in any thread. malloc() would return blocks of several
 * megabytes to the system, and each new result would fault in zeroed pages. */
typedef struct {
  gint refs; /* atomic: the window, and each block in use */
  GMutex lock;
  gpointer spare[N_SPARE]; /* of Block; nullable */
  gboolean closed;
} Blocks;

typedef struct {
  Blocks *blocks;
  gsize size; /* of the data, which begins DATA_AT bytes after this struct */
} Block;

struct _SpdlAudioWindow {
  Kept kept[N_KEPT];
  Blocks *blocks;
  guint64 now;
  SpdlResampler *resampler;

  /* The current stream. Samples pass through `before`, then, if the rate
   * changes, through the resampler, and then through `after` if the result has
   * another format than the resampler. */
  SwrContext *before;
  SwrContext *after; /* nullable */
  Side in;
  guint rate;
  GstAudioInfo info; /* of the result */
  gboolean resamples, has_doubles;
  gboolean is_pair;    /* two planes of floats are interleaved */
  guint64 n_in;        /* upper bound on the input samples */
  guint64 expected;    /* estimated number of output samples; 0: unknown */
  guint64 to;          /* end of the needed input */
  guint64 position;    /* of the next input sample */
  guint64 window;      /* first output sample of the window */
  guint64 n, n_wanted; /* output samples: written, and wanted */
  Block *out;          /* nullable */

  /* libswresample is several times slower with unaligned samples. */
  guint8 *aligned_in, *aligned_out;
  gsize aligned_in_size, aligned_out_size;
};

/* Blocks */

static void
blocks_unref (Blocks *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
release_block (gpointer data)
{
  Block *block = data;
  Blocks *blocks = block->blocks;
  gpointer *place = NULL;

  g_mutex_lock (&blocks->lock);
  for (guint i = 0; i < N_SPARE && !blocks->closed; i++)
    if (!blocks->spare[i])
      place = &blocks->spare[i];
  if (place)
    *place = block;
  g_mutex_unlock (&blocks->lock);
  if (!place)
    g_free (block);
  blocks_unref (blocks);
}

/* Returns: (nullable): a spare block with at least @size bytes */
static Block *
take_spare (Blocks *self, gsize size)
{
  Block *found = NULL;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < N_SPARE; i++) {
    Block *block = self->spare[i];

    if (!block)
      continue;
    self->spare[i] = NULL;
    if (!found && block->size >= size &&
        block->size / MAX_SPARE_RATIO <= size) {
      found = block;
      continue;
    }
    if (found)
      self->spare[i] = block;
    else
      g_free (block);
  }
  g_mutex_unlock (&self->lock);
  return found;
}

static void
blocks_close (Blocks *self)
{
  g_mutex_lock (&self->lock);
  self->closed = TRUE;
  for (guint i = 0; i < N_SPARE; i++)
    g_clear_pointer (&self->spare[i], g_free);
  g_mutex_unlock (&self->lock);
  blocks_unref (self);
}

static guint8 *
get_data (Block *block)
{
  return (guint8 *) block + DATA_AT;
}

/* @old: (nullable) (transfer full)
 * Returns: (nullable): a block with the content of @old; NULL if memory cannot
 * be allocated, and @old then stays valid */
static Block *
grow_block (Blocks *blocks, Block *old, gsize size)
{
  Block *block = old ? NULL : take_spare (blocks, size);

  if (block) {
    g_atomic_int_inc (&blocks->refs);
    return block;
  }
  block = g_try_realloc (old, DATA_AT + size);
  if (!block)
    return NULL;
  if (!old)
    g_atomic_int_inc (&blocks->refs);
  block->blocks = blocks;
  block->size = size;
  return block;
}

SpdlAudioWindow *
spdl_audio_window_new (void)
{
  SpdlAudioWindow *self = g_new0 (SpdlAudioWindow, 1);

  self->resampler = spdl_resampler_new ();
  self->blocks = g_new0 (Blocks, 1);
  self->blocks->refs = 1;
  g_mutex_init (&self->blocks->lock);
  return self;
}

static void
clear_side (Side *side)
{
  av_channel_layout_uninit (&side->layout);
}

void
spdl_audio_window_free (SpdlAudioWindow *self)
{
  for (guint i = 0; i < N_KEPT; i++) {
    swr_free (&self->kept[i].context);
    clear_side (&self->kept[i].in);
    clear_side (&self->kept[i].out);
  }
  clear_side (&self->in);
  spdl_resampler_free (self->resampler);
  g_clear_pointer (&self->out, release_block);
  blocks_close (self->blocks);
  av_free (self->aligned_in);
  av_free (self->aligned_out);
  g_free (self);
}

static gboolean
set_error (GError **error, const gchar *what, guint64 value)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Audio %s %" G_GUINT64_FORMAT, what, value);
  return FALSE;
}

/* Channels */

/* GStreamer and FFmpeg names of the channels. */
static const struct {
  GstAudioChannelPosition position;
  enum AVChannel channel;
} channels[] = {
  { GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT, AV_CHAN_FRONT_LEFT },
  { GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT, AV_CHAN_FRONT_RIGHT },
  { GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER, AV_CHAN_FRONT_CENTER },
  { GST_AUDIO_CHANNEL_POSITION_LFE1, AV_CHAN_LOW_FREQUENCY },
  { GST_AUDIO_CHANNEL_POSITION_REAR_LEFT, AV_CHAN_BACK_LEFT },
  { GST_AUDIO_CHANNEL_POSITION_REAR_RIGHT, AV_CHAN_BACK_RIGHT },
  { GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT_OF_CENTER,
      AV_CHAN_FRONT_LEFT_OF_CENTER },
  { GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT_OF_CENTER,
      AV_CHAN_FRONT_RIGHT_OF_CENTER },
  { GST_AUDIO_CHANNEL_POSITION_REAR_CENTER, AV_CHAN_BACK_CENTER },
  { GST_AUDIO_CHANNEL_POSITION_LFE2, AV_CHAN_LOW_FREQUENCY_2 },
  { GST_AUDIO_CHANNEL_POSITION_SIDE_LEFT, AV_CHAN_SIDE_LEFT },
  { GST_AUDIO_CHANNEL_POSITION_SIDE_RIGHT, AV_CHAN_SIDE_RIGHT },
  { GST_AUDIO_CHANNEL_POSITION_MONO, AV_CHAN_FRONT_CENTER },
};

gboolean
spdl_audio_window_set_layout (
    AVChannelLayout *layout, const GstAudioChannelPosition *positions, guint n)
{
  guint64 mask = 0;

  av_channel_layout_uninit (layout);
  for (guint i = 0; i < n; i++)
    for (guint c = 0; c < G_N_ELEMENTS (channels); c++)
      if (channels[c].position == positions[i])
        mask |= UINT64_C (1) << channels[c].channel;
  if (mask != 0 && av_channel_layout_from_mask (layout, mask) == 0 &&
      layout->nb_channels == (gint) n)
    return TRUE;
  av_channel_layout_uninit (layout);
  layout->order = AV_CHANNEL_ORDER_UNSPEC;
  layout->nb_channels = n;
  return FALSE;
}

static gboolean
get_position (
    const AVChannelLayout *layout, guint i, GstAudioChannelPosition *position)
{
  const enum AVChannel channel =
      av_channel_layout_channel_from_index (layout, i);

  for (guint c = 0; c < G_N_ELEMENTS (channels); c++)
    if (channels[c].channel == channel) {
      *position = channels[c].position;
      return TRUE;
    }
  return FALSE;
}

/* Returns @positions, or NULL if the channel layout is unknown. */
static const GstAudioChannelPosition *
get_positions (
    const AVChannelLayout *layout, GstAudioChannelPosition *positions)
{
  if (layout->order != AV_CHANNEL_ORDER_NATIVE)
    return NULL;
  for (gint i = 0; i < layout->nb_channels; i++)
    if (!get_position (layout, i, &positions[i]))
      return NULL;
  return positions;
}

/* Sets the mix for layouts that libswresample has no rule for: mono is copied
 * to all channels, a mono result is the mean of all channels, and otherwise the
 * first channels are kept. */
static gboolean
set_matrix (SwrContext *context, guint n_in, guint n_out)
{
  g_autofree double *matrix = g_new0 (double, n_in *n_out);

  for (guint o = 0; o < n_out; o++)
    for (guint i = 0; i < n_in; i++)
      matrix[o * n_in + i] = n_in == 1    ? 1
                             : n_out == 1 ? 1.0 / n_in
                             : o == i     ? 1
                                          : 0;
  return swr_set_matrix (context, matrix, n_in) == 0;
}

/* Converters */

enum AVSampleFormat
spdl_audio_window_get_format (GstAudioFormat format)
{
  switch (format) {
    case GST_AUDIO_FORMAT_U8:
      return AV_SAMPLE_FMT_U8;
    case GST_AUDIO_FORMAT_S16:
      return AV_SAMPLE_FMT_S16;
    case GST_AUDIO_FORMAT_S24LE:
    case GST_AUDIO_FORMAT_S32:
      return AV_SAMPLE_FMT_S32;
    case GST_AUDIO_FORMAT_F64:
      return AV_SAMPLE_FMT_DBL;
    default:
      return AV_SAMPLE_FMT_FLT;
  }
}

static gboolean
is_side (const Side *a, const Side *b)
{
  return a->format == b->format &&
         av_channel_layout_compare (&a->layout, &b->layout) == 0;
}

static gboolean
is_integer (enum AVSampleFormat format)
{
  format = av_get_packed_sample_fmt (format);
  return format != AV_SAMPLE_FMT_FLT && format != AV_SAMPLE_FMT_DBL;
}

/* Returns: (nullable): a converter from @in to @out. As the rate does not
 * change, it outputs as many samples as it is given and buffers none. */
static SwrContext *
make_context (Side *in, Side *out)
{
  const guint n_in = in->layout.nb_channels, n_out = out->layout.nb_channels;
  const enum AVSampleFormat format = av_get_packed_sample_fmt (out->format);
  const gboolean is_wide =
      format == AV_SAMPLE_FMT_S32 || format == AV_SAMPLE_FMT_DBL;
  /* libswresample truncates instead of rounding when it reduces the number of
   * bits. */
  const gboolean rounds = is_integer (in->format) && is_integer (out->format) &&
                          av_get_bytes_per_sample (out->format) <
                              av_get_bytes_per_sample (in->format);
  const gboolean has_rule = n_in > 1 &&
                            in->layout.order == AV_CHANNEL_ORDER_NATIVE &&
                            out->layout.order == AV_CHANNEL_ORDER_NATIVE;
  SwrContext *context = NULL;

  if (swr_alloc_set_opts2 (&context, &out->layout, out->format, ANY_RATE,
          &in->layout, in->format, ANY_RATE, 0, NULL) < 0)
    return NULL;
  av_opt_set_sample_fmt (context, "internal_sample_fmt",
      is_wide ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP, 0);
  av_opt_set_double (context, "rematrix_maxval", 1, 0);
  if (((n_in != n_out ? !has_rule : rounds) &&
          !set_matrix (context, n_in, n_out)) ||
      swr_init (context) < 0)
    swr_free (&context);
  return context;
}

static gboolean
copy_side (Side *side, const Side *from)
{
  side->format = from->format;
  return av_channel_layout_copy (&side->layout, &from->layout) == 0;
}

/* Returns the converter from @in to @out. A new converter replaces the least
 * recently used one. */
static SwrContext *
get_context (SpdlAudioWindow *self, Side *in, Side *out)
{
  Kept *found = &self->kept[0];

  for (guint i = 0; i < N_KEPT; i++) {
    Kept *kept = &self->kept[i];

    if (kept->context && is_side (&kept->in, in) && is_side (&kept->out, out)) {
      kept->used = ++self->now;
      return kept->context;
    }
    if (kept->used < found->used)
      found = kept;
  }
  swr_free (&found->context);
  found->context = make_context (in, out);
  found->used = ++self->now;
  if (!copy_side (&found->in, in) || !copy_side (&found->out, out))
    swr_free (&found->context);
  return found->context;
}

/* Window */

guint64
spdl_audio_window_find_start (
    const SpdlAudioConfig *config, guint rate, guint64 *to)
{
  const guint out_rate = config->rate ? config->rate : rate;
  guint64 from, end;

  spdl_audio_config_get_window (config, out_rate, &from, &end);
  if (to)
    *to = end == G_MAXUINT64 ? end
                             : spdl_resampler_scale (end, out_rate, rate) +
                                   (out_rate == rate ? 0 : rate / MARGIN);
  return out_rate == rate ? from
                          : spdl_resampler_find_start (from, rate, out_rate);
}

static void
find_window (SpdlAudioWindow *self, const SpdlAudioConfig *config)
{
  guint64 to;

  spdl_audio_config_get_window (config, self->info.rate, &self->window, &to);
  self->n_wanted = to == G_MAXUINT64 ? to : to - self->window;
  self->position = self->window;
  self->to = to;
  if (self->resamples)
    spdl_resampler_begin (self->resampler, self->has_doubles,
        self->info.channels, self->rate, self->info.rate, &self->position,
        &self->to);
  self->to = MIN (self->to, self->n_in);
}

/* Returns the format of the resampler's input: a plane per channel. */
static enum AVSampleFormat
get_work_format (const SpdlAudioWindow *self)
{
  return self->has_doubles ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP;
}

static gboolean
set_converters (SpdlAudioWindow *self, const SpdlAudioConfig *config)
{
  const guint n = self->in.layout.nb_channels;
  const gboolean same = !config->channels || config->channels == n;
  GstAudioChannelPosition positions[SPDL_MAX_CHANNELS];
  Side out = { spdl_audio_window_get_format (config->format) }, work;
  gboolean ok;

  spdl_audio_config_set_info (config, self->rate, n,
      get_positions (&self->in.layout, positions), &self->info);
  if (!same && self->in.layout.order != AV_CHANNEL_ORDER_NATIVE) {
    av_channel_layout_uninit (&self->in.layout);
    av_channel_layout_default (&self->in.layout, n);
  }
  if (same)
    av_channel_layout_copy (&out.layout, &self->in.layout);
  else
    spdl_audio_window_set_layout (
        &out.layout, self->info.position, self->info.channels);
  self->has_doubles =
      out.format == AV_SAMPLE_FMT_S32 || out.format == AV_SAMPLE_FMT_DBL;
  self->resamples = (guint) self->info.rate != self->rate;
  work = (Side){ self->resamples ? get_work_format (self) : out.format,
    out.layout };
  self->before = get_context (self, &self->in, &work);
  self->after = NULL;
  ok = self->before != NULL;
  work.format = av_get_packed_sample_fmt (work.format);
  if (work.format != out.format)
    ok = ok && (self->after = get_context (self, &work, &out));
  self->is_pair = same && !self->resamples && n == 2 &&
                  self->in.format == AV_SAMPLE_FMT_FLTP &&
                  out.format == AV_SAMPLE_FMT_FLT;
  clear_side (&out);
  return ok;
}

gboolean
spdl_audio_window_begin (SpdlAudioWindow *self, const SpdlAudioConfig *config,
    const SpdlAudioInput *input, GError **error)
{
  const gint n_channels = input->layout->nb_channels;

  if (n_channels < 1 || n_channels > SPDL_MAX_CHANNELS)
    return set_error (
        error, "must have 1 to 64 channels, but has", MAX (n_channels, 0));
  if (input->rate < 1 || input->rate > G_MAXINT ||
      (config->rate > 0 && !spdl_resampler_can (input->rate, config->rate)))
    return set_error (error, "cannot be resampled from a rate of", input->rate);
  self->in.format = input->format;
  self->rate = input->rate;
  if (av_channel_layout_copy (&self->in.layout, input->layout) < 0 ||
      !set_converters (self, config)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "libswresample cannot convert the audio's %d channels", n_channels);
    return FALSE;
  }
  self->n_in = input->n;
  self->expected = spdl_resampler_scale (
      MIN (input->expected, input->n), input->rate, self->info.rate);
  self->n = 0;
  g_clear_pointer (&self->out, release_block);
  find_window (self, config);
  return TRUE;
}

gboolean
spdl_audio_window_takes (const SpdlAudioWindow *self,
    enum AVSampleFormat format, gint rate, gint n_channels)
{
  return self->in.format == format && (gint) self->rate == rate &&
         self->in.layout.nb_channels == n_channels;
}

static gboolean
spdl_audio_window_is_complete (const SpdlAudioWindow *self)
{
  return self->n >= self->n_wanted;
}

/* Output */

/* Makes room for @n more samples, or for the whole result if its length is
 * known. */
static gboolean
make_room (SpdlAudioWindow *self, guint64 n, GError **error)
{
  const gsize size = self->info.bpf, capacity = self->out ? self->out->size : 0;
  const guint64 all = MIN (self->n_wanted,
      self->expected > self->window ? self->expected - self->window : 0);
  guint64 wanted;
  Block *out;

  if (self->n > MAX_BYTES / size || n > MAX_BYTES / size - self->n)
    return set_error (error, "needs more bytes than the limit of", MAX_BYTES);
  if (self->out && (self->n + n) * size <= capacity)
    return TRUE;
  wanted = MAX ((self->n + n) * size, MIN (2 * capacity, MAX_BYTES));
  if (!self->out && all < MAX_BYTES / size / 64)
    wanted = MAX (wanted, all * size);
  if (!(out = grow_block (self->blocks, self->out, wanted)))
    return set_error (
        error, "cannot be decoded for lack of memory; bytes needed:", wanted);
  self->out = out;
  return TRUE;
}

/* Returns an aligned buffer of at least @size bytes, which is kept in *@place
 * with its size in *@place_size.
 * Returns: (nullable): NULL if memory cannot be allocated */
static guint8 *
get_aligned (guint8 **place, gsize *place_size, gsize size)
{
  if (size > *place_size) {
    av_freep (place);
    *place = av_malloc (size);
    *place_size = *place ? size : 0;
  }
  return *place;
}

static gboolean
is_aligned (const guint8 *data)
{
  return GPOINTER_TO_SIZE (data) % ALIGNMENT == 0;
}

/* Interleaves planar stereo float samples, the most common case, without
 * alignment. */
static void
interleave_pair (const guint8 *const *planes, gsize n, float *restrict out)
{
  const float *left = (const float *) planes[0];
  const float *right = (const float *) planes[1];

  for (gsize i = 0; i < n; i++) {
    out[2 * i] = left[i];
    out[2 * i + 1] = right[i];
  }
}

/* @context: (nullable): NULL: samples are interleaved and already have the
 * output format */
static gboolean
run_converter (SpdlAudioWindow *self, SwrContext *context, const guint8 **in,
    gsize n, guint8 *out)
{
  const gsize size = n * self->info.bpf;
  guint8 *place = out;

  if (!context) {
    memcpy (out, in[0], size);
    return TRUE;
  }
  if (context == self->before && self->is_pair) {
    interleave_pair (in, n, (float *) out);
    return TRUE;
  }
  if (!is_aligned (out))
    place = get_aligned (&self->aligned_out, &self->aligned_out_size, size);
  if (!place || swr_convert (context, &place, n, in, n) != (gint) n)
    return FALSE;
  if (place != out)
    memcpy (out, place, size);
  return TRUE;
}

/* Converts @n samples per channel, limited to the window, and appends them to
 * the result. */
static gboolean
append_samples (SpdlAudioWindow *self, SwrContext *context, const guint8 **in,
    gsize n, GError **error)
{
  n = MIN (n, self->n_wanted - self->n);
  if (n == 0)
    return TRUE;
  if (!make_room (self, n, error))
    return FALSE;
  if (!run_converter (self, context, in, n,
          get_data (self->out) + self->n * self->info.bpf))
    return set_error (error, "could not be converted from sample", self->n);
  self->n += n;
  return TRUE;
}

/* @planes: (nullable): NULL: silence */
static gboolean
resample_samples (
    SpdlAudioWindow *self, const guint8 *const *planes, gsize n, GError **error)
{
  const guint8 *out[SPDL_MAX_CHANNELS];
  const gsize n_out = spdl_resampler_run (self->resampler, planes, n, &out[0]);

  return append_samples (self, self->after, out, n_out, error);
}

static gboolean
convert_and_resample (
    SpdlAudioWindow *self, const guint8 **in, gsize n, GError **error)
{
  const guint n_channels = self->info.channels;
  const gsize plane = CHUNK * sizeof (double);
  guint8 *planes[SPDL_MAX_CHANNELS];
  guint8 *work = get_aligned (
      &self->aligned_out, &self->aligned_out_size, n_channels * plane);

  for (guint c = 0; work && c < n_channels; c++)
    planes[c] = work + c * plane;
  if (!work || swr_convert (self->before, planes, n, in, n) != (gint) n)
    return set_error (error, "could not be converted from sample", self->n);
  return resample_samples (self, (const guint8 *const *) planes, n, error);
}

static gboolean
write_chunks (
    SpdlAudioWindow *self, const guint8 *const *planes, gsize n, GError **error)
{
  const gboolean planar = av_sample_fmt_is_planar (self->in.format);
  const guint n_channels = self->in.layout.nb_channels;
  const gsize step =
      av_get_bytes_per_sample (self->in.format) * (planar ? 1 : n_channels);
  const guint n_planes = planar ? n_channels : 1;
  const guint8 *in[SPDL_MAX_CHANNELS];
  guint8 *copy;

  for (gsize at = 0; at < n; at += CHUNK) {
    const gsize count = MIN (n - at, CHUNK);

    for (guint c = 0; c < n_planes; c++)
      in[c] = planes[c] + at * step;
    if (!is_aligned (in[0]) && !self->is_pair &&
        (copy = get_aligned (&self->aligned_in, &self->aligned_in_size,
             n_planes * CHUNK * step)))
      for (guint c = 0; c < n_planes; c++)
        in[c] = memcpy (copy + c * CHUNK * step, in[c], count * step);
    if (!(self->resamples
                ? convert_and_resample (self, in, count, error)
                : append_samples (self, self->before, in, count, error)))
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_audio_window_write (SpdlAudioWindow *self, gint64 position,
    const guint8 *const *planes, gsize n, GError **error)
{
  const gboolean planar = av_sample_fmt_is_planar (self->in.format);
  const guint n_channels = self->in.layout.nb_channels;
  const gsize step =
      av_get_bytes_per_sample (self->in.format) * (planar ? 1 : n_channels);
  const gint64 at = MAX (position, (gint64) self->position);
  const gint64 end =
      MIN (position + (gint64) n, (gint64) MIN (self->to, G_MAXINT64));
  const guint8 *in[SPDL_MAX_CHANNELS];

  if (at < end) {
    for (guint c = 0; c < (planar ? n_channels : 1); c++)
      in[c] = planes[c] + (at - position) * step;
    if (!write_chunks (self, in, end - at, error))
      return FALSE;
    self->position = end;
  }
  return self->position < self->to && !spdl_audio_window_is_complete (self);
}

/* End of a stream */

/* Flushes the resampler. The total number of output samples corresponds to the
 * input's duration. */
static gboolean
flush_converter (SpdlAudioWindow *self, GError **error)
{
  const guint64 end =
      spdl_resampler_scale (self->position, self->rate, self->info.rate);

  self->n_wanted =
      MIN (self->n_wanted, end > self->window ? end - self->window : 0);
  for (gsize left = spdl_resampler_get_tail (self->resampler); left > 0;) {
    const gsize n = MIN (left, CHUNK);

    if (!resample_samples (self, NULL, n, error))
      return FALSE;
    left -= n;
  }
  return TRUE;
}

GstBuffer *
spdl_audio_window_end (
    SpdlAudioWindow *self, GstAudioInfo *info, GError **error)
{
  const gsize size = self->info.bpf;
  GstBuffer *buffer;
  Block *out;

  if (self->resamples && !spdl_audio_window_is_complete (self) &&
      !flush_converter (self, error))
    return NULL;
  self->n = MIN (self->n, self->n_wanted);
  if (self->n == 0) {
    if (self->window > 0)
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
          "Audio ends before its window, which begins at sample "
          "%" G_GUINT64_FORMAT,
          self->window);
    else
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
          "Audio has 0 samples");
    return NULL;
  }
  out = g_steal_pointer (&self->out);
  if (out->size / MAX_SPARE_RATIO > self->n * size) {
    out = g_realloc (out, DATA_AT + self->n * size);
    out->size = self->n * size;
  }
  buffer = gst_buffer_new_wrapped_full (
      0, get_data (out), out->size, 0, self->n * size, out, release_block);
  *info = self->info;
  return buffer;
}
