/* gst-spdl: still image decoder based on GStreamer elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"
#include "plugins/codec/still/imageprobe.h"

G_BEGIN_DECLS

/* GStreamer's decoders for still images, selected by media type and rank. They
 * stay open between files, at most one per type in use. Not thread-safe. */

typedef struct _SpdlStillDecoder SpdlStillDecoder;

typedef struct {
  guint64 max_pixels;
  gboolean keep; /* return the decodable part of a corrupt file */
} SpdlStillLimits;

SpdlStillDecoder *spdl_still_decoder_new (void);
void spdl_still_decoder_free (SpdlStillDecoder *self);

/* Detects the type of @file, if @probe does not have it, and its size if
 * typefinding reports it. @caps (nullable) are used if the bytes have no
 * signature. Returns FALSE with @error set if the file is not a still image. */
gboolean spdl_still_decoder_find_type (SpdlImageProbe *probe,
    const guint8 *data, gsize size, GstCaps *caps, GError **error);

/* Returns @file, mapped in @in, in the form that its decoder reads. Returns
 * NULL with @error set if memory for a copy cannot be allocated. */
GstBuffer *spdl_still_decoder_adapt (const SpdlImageProbe *probe,
    GstBuffer *file, const GstMapInfo *in, GError **error);

/* Decodes @file, which has the type in @probe. Returns FALSE with @error set if
 * it is corrupt or no decoder supports it; @frame may hold a partial frame even
 * then. @frame is valid until the next file; its buffer is NULL if there is
 * none. */
gboolean spdl_still_decoder_decode (SpdlStillDecoder *self,
    const SpdlImageProbe *probe, GstBuffer *file, const SpdlStillLimits *limits,
    SpdlFrame *frame, GError **error);

G_END_DECLS
