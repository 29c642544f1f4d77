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
#include "plugins/codec/resize/rows.h"
#include "plugins/codec/result/audioconfig.h"
#include "plugins/codec/result/clip.h"
#include "plugins/codec/result/viewlist.h"

G_BEGIN_DECLS

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define SPDL_DECODE_CONFIG_GRAY16 "GRAY16_LE"
#else
#define SPDL_DECODE_CONFIG_GRAY16 "GRAY16_BE"
#endif
#define SPDL_DECODE_CONFIG_FORMATS \
  "{ RGB, BGR, GRAY8, " SPDL_DECODE_CONFIG_GRAY16 " }"
#define SPDL_DECODE_CONFIG_PREFERRED_FORMAT "RGB"

/* Maximum side of a result, and of a decoded image. With longer sides, the
 * filter weights of a resize alone would be too large. */
#define SPDL_MAX_SIDE 65535
#define SPDL_MAX_DECODED_SIDE 1000000

typedef enum {
  SPDL_CORRUPT_FAIL,
  SPDL_CORRUPT_KEEP,
} SpdlCorrupt;

typedef enum {
  SPDL_EXIF_APPLY,
  SPDL_EXIF_IGNORE,
} SpdlExifUse;

typedef enum {
  SPDL_MEDIA_AUTO,
  SPDL_MEDIA_IMAGE,
  SPDL_MEDIA_VIDEO,
  SPDL_MEDIA_AUDIO,
} SpdlMedia;

typedef struct {
  guint width; /* 0: from downstream caps, or else as decoded */
  guint height;
  gchar *format;      /* NULL: downstream may choose */
  const gchar *part;  /* interned; NULL: items have a single medium */
  const gchar *views; /* interned; NULL: one picture of an image */
  SpdlMedia media;
  SpdlFitMode resize;
  double
      crop_fraction; /* fraction of the sides, with COVER; 1: no extra crop */
  SpdlInterpolation interpolation;
  SpdlExifUse orientation;
  SpdlAugment augment;
  gboolean fast_scale;
  gboolean size_only;
  SpdlCorrupt corrupt;
  guint64 max_pixels;
  guint background; /* 0xRRGGBB, or a sample */
  guint64 max_decompressed_bytes;
  const gchar *members; /* (nullable): interned: arrays of NPZ files */
  SpdlClip clip;
  SpdlAudioSettings audio;
} SpdlDecodeSettings;

/* Negotiated configuration. Immutable and reference counted: each task takes a
 * reference to the current one, so that renegotiation does not wait for running
 * tasks. */
typedef struct _SpdlDecodeConfig SpdlDecodeConfig;
struct _SpdlDecodeConfig {
  gint n_refs;
  const gchar *part; /* as in the settings */
  /* Views of an image, which differ in size, crop and seed; 0: none */
  guint n_views;
  SpdlDecodeConfig *views[SPDL_MAX_VIEWS];
  GstVideoFormat format;
  SpdlPixels pixels;
  guint width; /* 0: as decoded */
  guint height;
  SpdlFitMode resize;
  double crop_fraction;
  SpdlInterpolation interpolation;
  SpdlExifUse orientation;
  SpdlAugment augment;
  gboolean fast_scale; /* whether JPEGs may be decoded at a reduced size */
  gboolean size_only;  /* of images, instead of their pixels */
  SpdlCorrupt corrupt;
  guint64 max_pixels;
  guint32 background;
  SpdlMedia media;
  gboolean wants_audio; /* of a file with video and audio */
  gboolean no_images;   /* downstream does not accept images */
  GstCaps *tensors;     /* accepted tensor caps; may be empty */
  guint64 max_decompressed_bytes;
  const gchar *members; /* as in the settings */
  SpdlClip clip;
  /* For a fixed image size; else NULL. */
  GstCaps *caps;
  GstVideoInfo info;
  GstBufferPool *pool;
  SpdlAudioConfig audio;
};

/* Main image of a sample, with which the other images are aligned. */
typedef struct {
  const gchar *part;
  guint width, height; /* as stored; width 0: there is no main image */
  guint orientation;   /* EXIF orientation to apply to it */
  gboolean was_decoded;
  gboolean is_drawn; /* whether it was cropped and flipped at random: */
  SpdlRectangle box; /* in its upright pixels */
  gboolean flip;
} SpdlMainImage;

/* Input of a decode call. */
typedef struct {
  GstBuffer *item;
  GstCaps *caps; /* nullable */
  guint64 epoch; /* identify the item */
  guint64 index;
  const GstStructure *extra; /* nullable: extra fields of the item's meta */
  GCancellable *cancellable; /* nullable */
  const SpdlMainImage *main_image; /* nullable: NULL: nothing to align with */
} SpdlSource;

/* @allowed: downstream caps: raw video in SPDL_DECODE_CONFIG_FORMATS, audio in
 * SPDL_AUDIO_CAPS, and tensors
 * Returns NULL with @error set, which names the property, if a setting
 * contradicts the caps. */
SpdlDecodeConfig *spdl_decode_config_new (
    const SpdlDecodeSettings *settings, GstCaps *allowed, GError **error);
void spdl_decode_config_unref (SpdlDecodeConfig *self);

/* Check that an image of this size may be decoded, and that a result of this
 * size may be made. Return FALSE with @error set otherwise. */
gboolean spdl_decode_config_check_decoded (
    const SpdlDecodeConfig *self, guint width, guint height, GError **error);
gboolean spdl_decode_config_check_size (
    guint width, guint height, guint64 max_pixels, GError **error);

/* Check that downstream accepts images, and tensors with @caps. Return FALSE
 * with @error set otherwise. */
gboolean
spdl_decode_config_check_images (const SpdlDecodeConfig *self, GError **error);
gboolean spdl_decode_config_check_tensors (
    const SpdlDecodeConfig *self, const GstCaps *caps, GError **error);

/* Sets @info to raw images of the given size and format. */
void spdl_decode_config_set_info (
    GstVideoInfo *info, GstVideoFormat format, guint width, guint height);

G_END_DECLS
