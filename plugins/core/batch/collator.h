/* gst-spdl: collation of items into the tensors of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>
#include <gst/video/video.h>

#include "plugins/core/batch/convert.h"

G_BEGIN_DECLS

/* Tensors of items with certain caps, and how to copy an item into a batch. */

typedef enum {
  SPDL_COLLATE_DTYPE_AS_IS,
  SPDL_COLLATE_DTYPE_UINT8,
  SPDL_COLLATE_DTYPE_FLOAT16,
  SPDL_COLLATE_DTYPE_FLOAT32,
} SpdlCollateDtype;

typedef enum {
  SPDL_COLLATE_LAYOUT_AS_IS,
  SPDL_COLLATE_LAYOUT_NHWC,
  SPDL_COLLATE_LAYOUT_NCHW,
} SpdlCollateLayout;

/* Conversion of the first tensor. */
typedef struct {
  SpdlCollateDtype type;
  SpdlCollateLayout layout;
  double mean[SPDL_CONVERT_MAX_CHANNELS];
  guint n_mean; /* 0: none */
  double std[SPDL_CONVERT_MAX_CHANNELS];
  guint n_std;
} SpdlCollateSettings;

typedef struct {
  GstSpdlTensorsInfo info; /* of one item; the batch's dimension is to come */
  const gchar *names[GST_SPDL_MAX_TENSORS]; /* interned; NULL: it has none */
  gboolean is_video;
  GstVideoInfo video;

  gboolean converts; /* the first tensor, frame by frame: */
  SpdlConvert convert;
  gsize in_size; /* of it, in bytes */
  gsize n_pixels;
  guint n_frames;

  /* Of sound, whose length only a buffer says; 0 else. */
  guint n_channels;
  gsize moment; /* bytes of a sample of all channels */
  gsize plane;  /* samples between channels; 0: as many as there are */
} SpdlCollator;

/* Formats that SpdlCollator accepts. */
#define SPDL_COLLATOR_FORMATS \
  "{ RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, GRAY8 }"

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define SPDL_COLLATOR_SOUND_FORMATS "{ F32LE, S16LE, S32LE, F64LE, U8, S8 }"
#else
#define SPDL_COLLATOR_SOUND_FORMATS "{ F32BE, S16BE, S32BE, F64BE, U8, S8 }"
#endif
#define SPDL_COLLATOR_SOUND                                                 \
  "audio/x-raw, format=(string)" SPDL_COLLATOR_SOUND_FORMATS                \
  ", layout=(string)interleaved, rate=(int)[ 1, max ], channels=(int)[ 1, " \
  "max ]"

/* Returns FALSE with @error set for caps that it does not take, or that it
 * cannot make what @settings want of. */
gboolean spdl_collator_init (SpdlCollator *self, const GstCaps *caps,
    const SpdlCollateSettings *settings, GError **error);

/* What caps leave open, the size of @item says: to be called for each item
 * before it is looked at further. FALSE with @error set if it is none. */
gboolean
spdl_collator_measure (SpdlCollator *self, GstBuffer *item, GError **error);

/* Writes the tensors of @item to @places, one for each. Returns FALSE with
 * @error set if @item holds less than its caps say. */
gboolean spdl_collator_write (const SpdlCollator *self, GstBuffer *item,
    guint8 *const *places, GError **error);

/* Whether items of both can lie in one batch; else says why not, with both
 * shapes and what to set, in @error. */
gboolean spdl_collator_is_compatible (
    const SpdlCollator *self, const SpdlCollator *item, GError **error);

G_END_DECLS
