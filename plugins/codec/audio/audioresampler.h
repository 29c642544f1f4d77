/* gst-spdl: resampling of audio, from any sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A part of the result is the same, bit for bit, whether what precedes it is
 * made or not. Sample k of the result is the sound at the time k / rate, and of
 * n samples become n * out / in, rounded up. The filters of the last few pairs
 * of rates are kept. One thread at a time. */

typedef struct _SpdlResampler SpdlResampler;

SpdlResampler *spdl_resampler_new (void);
void spdl_resampler_free (SpdlResampler *self);

/* Of @n samples of @in_rate, as many at @out_rate; G_MAXUINT64 stays. */
guint64 spdl_resampler_scale (guint64 n, guint in_rate, guint out_rate);

/* Whether the rates are near enough to each other. */
gboolean spdl_resampler_can (guint in_rate, guint out_rate);

/* Returns the first sample that sample @from of the result needs. */
guint64 spdl_resampler_find_start (guint64 from, guint in_rate, guint out_rate);

/* Begins a sound, of which the samples from *from to before *to are wanted;
 * these become what has to come in. @has_doubles: its samples are doubles, not
 * floats. */
void spdl_resampler_begin (SpdlResampler *self, gboolean has_doubles,
    guint n_channels, guint in_rate, guint out_rate, guint64 *from,
    guint64 *to);

/* Takes @n samples of each channel. @planes: one for each; (nullable): silence.
 * Returns how many samples a channel came out, which lie in *out, interleaved,
 * until the next call. */
gsize spdl_resampler_run (SpdlResampler *self, const guint8 *const *planes,
    gsize n, const guint8 **out);

/* So much silence lets all come out that is still to come. */
gsize spdl_resampler_get_tail (const SpdlResampler *self);

G_END_DECLS
