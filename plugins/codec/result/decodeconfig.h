/* gst-spdl: settings and negotiated configuration of spdldecode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <gst/video/video.h>

#include "plugins/codec/resize/filter.h"
#include "plugins/codec/resize/fit.h"
#include "plugins/codec/result/audioconfig.h"
#include "plugins/codec/result/clip.h"

G_BEGIN_DECLS

#define SPDL_DECODE_CONFIG_FORMATS "{ RGB, BGR, GRAY8 }"
#define SPDL_DECODE_CONFIG_PREFERRED_FORMAT "RGB"

/* The longest side of a result, and of what is decoded: beyond them the filters
 * of a resize alone would be too large. */
#define SPDL_MAX_SIDE 65535
#define SPDL_MAX_DECODED_SIDE 1000000

typedef enum {
  SPDL_CORRUPT_FAIL,
  SPDL_CORRUPT_KEEP,
} SpdlCorrupt;

typedef struct {
  guint width; /* 0: what downstream asks for, else as decoded */
  guint height;
  gchar *format;     /* NULL: downstream may choose */
  const gchar *part; /* interned; NULL: items are one medium */
  SpdlFitMode resize;
  double crop_fraction; /* of the sides, with COVER; 1: all of them */
  SpdlInterpolation interpolation;
  SpdlAugment augment;
  gboolean fast_scale;
  SpdlCorrupt corrupt;
  guint64 max_pixels;
  guint background; /* 0xRRGGBB */
  guint64 max_decompressed_bytes;
  SpdlClip clip;
  SpdlAudioSettings audio;
} SpdlDecodeSettings;

/* The outcome of a negotiation, immutable. A task takes the one that is valid
 * when it begins, so there is nothing to wait for when it changes. */
typedef struct {
  gint n_refs;
  const gchar *part; /* as in the settings */
  GstVideoFormat format;
  guint width; /* 0: as decoded */
  guint height;
  SpdlFitMode resize;
  double crop_fraction;
  SpdlInterpolation interpolation;
  SpdlAugment augment;
  gboolean fast_scale; /* whether JPEGs may be decoded smaller */
  SpdlCorrupt corrupt;
  guint64 max_pixels;
  guint32 background;
  gboolean no_images; /* downstream takes none */
  GstCaps *tensors;   /* what it takes of arrays; may be empty */
  guint64 max_decompressed_bytes;
  SpdlClip clip;
  /* Of images of fixed size; else NULL. */
  GstCaps *caps;
  GstVideoInfo info;
  GstBufferPool *pool;
  SpdlAudioConfig audio;
} SpdlDecodeConfig;

/* What is decoded. */
typedef struct {
  GstBuffer *item;
  GstCaps *caps; /* nullable */
  guint64 epoch; /* which item it is */
  guint64 index;
  const GstStructure *extra; /* nullable: what else is known of it */
  GCancellable *cancellable; /* nullable */
} SpdlSource;

/* @allowed: what downstream takes, of which raw video within
 * SPDL_DECODE_CONFIG_FORMATS, sound within SPDL_AUDIO_CAPS and tensors count.
 *
 * Returns NULL with @error set if a setting contradicts it, by name. */
SpdlDecodeConfig *spdl_decode_config_new (
    const SpdlDecodeSettings *settings, GstCaps *allowed, GError **error);
void spdl_decode_config_unref (SpdlDecodeConfig *self);

/* Whether an image of that size may be decoded; and may be made. FALSE with
 * @error set, in a sentence about "it", the item. */
gboolean spdl_decode_config_check_decoded (
    const SpdlDecodeConfig *self, guint width, guint height, GError **error);
gboolean spdl_decode_config_check_size (
    guint width, guint height, guint64 max_pixels, GError **error);

/* Whether downstream takes an image; and tensors of @caps. FALSE with @error
 * set likewise. */
gboolean
spdl_decode_config_check_images (const SpdlDecodeConfig *self, GError **error);
gboolean spdl_decode_config_check_tensors (
    const SpdlDecodeConfig *self, const GstCaps *caps, GError **error);

/* Raw images of that size and format, in stills. */
void spdl_decode_config_set_info (
    GstVideoInfo *info, GstVideoFormat format, guint width, guint height);

G_END_DECLS
