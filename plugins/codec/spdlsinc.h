/* gst-spdl: filters for another rate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SINC_H__
#define __SPDL_SINC_H__

#include <glib.h>

G_BEGIN_DECLS

/* A sinc in a window of Kaiser's: 48 samples of the lower rate, with 80 dB
 * beyond its half, as GStreamer's quality 3. The weights of a phase add up to
 * one. */
typedef struct {
  guint n_taps;        /* even */
  guint n_phases;      /* between two samples of what comes in */
  gboolean is_between; /* a place lies between phases, and takes from both */
  gboolean has_doubles;
  gpointer taps; /* of each phase, and of one more */
} SpdlSinc;

/* @in_rate, @out_rate: without a common divisor */
void spdl_sinc_init (
    SpdlSinc *self, gboolean has_doubles, guint in_rate, guint out_rate);
void spdl_sinc_clear (SpdlSinc *self);

G_END_DECLS

#endif /* __SPDL_SINC_H__ */
