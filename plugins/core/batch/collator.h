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

/* Description of the tensors of items with certain caps, which copies items
 * into a batch. */

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
  GstSpdlTensorsInfo info; /* of one item, without the dimension of the batch */
  const gchar *names[GST_SPDL_MAX_TENSORS]; /* interned; NULL: unnamed */
  gboolean is_video;
  GstVideoInfo video;

  gboolean converts; /* whether the first tensor is converted frame by frame: */
  SpdlConvert convert;
  gsize in_size; /* size of the first tensor, in bytes */
  gsize n_pixels;
  guint n_frames;

  /* For audio, whose length is known only from the buffer; otherwise 0. */
  guint n_channels;
  gsize moment; /* bytes of one sample of all channels */
  gsize plane;  /* distance of channels in samples; 0: the number of samples */
} SpdlCollator;

/* Formats that SpdlCollator accepts. */
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define SPDL_COLLATOR_GRAY16 "GRAY16_LE"
#define SPDL_COLLATOR_SOUND_FORMATS "{ F32LE, S16LE, S32LE, F64LE, U8, S8 }"
#else
#define SPDL_COLLATOR_GRAY16 "GRAY16_BE"
#define SPDL_COLLATOR_SOUND_FORMATS "{ F32BE, S16BE, S32BE, F64BE, U8, S8 }"
#endif
#define SPDL_COLLATOR_FORMATS                                    \
  "{ RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, " \
  "GRAY8, " SPDL_COLLATOR_GRAY16 " }"
#define SPDL_COLLATOR_SOUND                                                 \
  "audio/x-raw, format=(string)" SPDL_COLLATOR_SOUND_FORMATS                \
  ", layout=(string)interleaved, rate=(int)[ 1, max ], channels=(int)[ 1, " \
  "max ]"

/* Returns FALSE with @error set, which names a remedy, if the template of @pad
 * does not have @caps. */
gboolean
spdl_collator_check_caps (const GstCaps *caps, GstPad *pad, GError **error);

/* Initializes a collator. Returns FALSE with @error set if it does not support
 * the caps, or the conversion in @settings for these caps. */
gboolean spdl_collator_init (SpdlCollator *self, const GstCaps *caps,
    const SpdlCollateSettings *settings, GError **error);

/* Sets the dimensions that depend on the size of @item rather than its caps.
 * Must be called for each item first. Returns FALSE with @error set if the size
 * is invalid. */
gboolean
spdl_collator_measure (SpdlCollator *self, GstBuffer *item, GError **error);

/* Writes the tensors of @item to @places, one address per tensor. Returns FALSE
 * with @error set if @item holds less data than its caps require. */
gboolean spdl_collator_write (const SpdlCollator *self, GstBuffer *item,
    guint8 *const *places, GError **error);

/* Advice for error messages: how to skip items with another shape. */
#define SPDL_SKIP_HINT "on-shape-mismatch=skip on spdlbatch to skip such items"

/* Returns TRUE if both kinds of items fit into one batch. Otherwise sets
 * @error, with both shapes and advice. */
gboolean spdl_collator_is_compatible (
    const SpdlCollator *self, const SpdlCollator *item, GError **error);

G_END_DECLS
