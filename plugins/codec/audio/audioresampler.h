/* gst-spdl: audio resampler with random access
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The output for a window is bit-exact: it does not depend on whether the
 * samples before the window are resampled. Output sample k is the signal at
 * time k / rate; n input samples give n * out / in output samples, rounded up.
 * The filters of the most recent pairs of rates are cached. Not thread-safe. */

typedef struct _SpdlResampler SpdlResampler;

SpdlResampler *spdl_resampler_new (void);
void spdl_resampler_free (SpdlResampler *self);

/* Converts a number of samples at @in_rate to @out_rate, rounding up.
 * G_MAXUINT64 is returned unchanged. */
guint64 spdl_resampler_scale (guint64 n, guint in_rate, guint out_rate);

/* Returns whether the ratio of the rates is within the limit. */
gboolean spdl_resampler_can (guint in_rate, guint out_rate);

/* Returns the first input sample that output sample @from needs. */
guint64 spdl_resampler_find_start (guint64 from, guint in_rate, guint out_rate);

/* Starts a stream.
 * @from, @to: (inout): in: range of output samples, without @to; out: range of
 * input samples to pass to spdl_resampler_run()
 * @has_doubles: samples are double, not float */
void spdl_resampler_begin (SpdlResampler *self, gboolean has_doubles,
    guint n_channels, guint in_rate, guint out_rate, guint64 *from,
    guint64 *to);

/* Resamples @n samples per channel.
 * @planes: (nullable): one per channel; NULL: silence
 * @out: (out): interleaved samples, valid until the next call
 * Returns the number of output samples per channel. */
gsize spdl_resampler_run (SpdlResampler *self, const guint8 *const *planes,
    gsize n, const guint8 **out);

/* Returns how many samples of silence flush the resampler. */
gsize spdl_resampler_get_tail (const SpdlResampler *self);

G_END_DECLS
