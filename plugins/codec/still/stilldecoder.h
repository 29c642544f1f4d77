/* gst-spdl: decodes still images with GStreamer's decoders
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"
#include "plugins/codec/still/imageprobe.h"

G_BEGIN_DECLS

/* GStreamer's decoders for still images, found by media type and rank, and held
 * open: at most one of each kind in use, whatever comes. One thread at
 * a time. */

typedef struct _SpdlStillDecoder SpdlStillDecoder;

typedef struct {
  guint64 max_pixels;
  gboolean keep; /* what could be decoded of a broken file */
} SpdlStillLimits;

SpdlStillDecoder *spdl_still_decoder_new (void);
void spdl_still_decoder_free (SpdlStillDecoder *self);

/* Finds what @file is where @probe does not say, and its size as far as a probe
 * tells. @caps (nullable) count where the bytes say nothing. FALSE with @error
 * set if it is no still image. */
gboolean spdl_still_decoder_find_type (SpdlImageProbe *probe,
    const guint8 *data, gsize size, GstCaps *caps, GError **error);

/* Decodes @file, as @probe says. Returns FALSE with @error set if it is broken
 * or nobody decodes it; there may be a frame all the same, of what could be
 * decoded. @frame stays until the next file; without one its buffer is NULL. */
gboolean spdl_still_decoder_decode (SpdlStillDecoder *self,
    const SpdlImageProbe *probe, GstBuffer *file, const SpdlStillLimits *limits,
    SpdlFrame *frame, GError **error);

G_END_DECLS
