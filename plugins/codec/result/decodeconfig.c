/* gst-spdl: settings and negotiated configuration of spdldecode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/decodeconfig.h"

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/common/tryallocator.h"
#include "plugins/codec/common/capshelper.h"
#include "plugins/common/viewseed.h"

#define RAW "video/x-raw"

/* Values of `format` that caps do not have. */
#define INDEX "index"
#define GRAY16 "GRAY16"

void
spdl_decode_config_unref (SpdlDecodeConfig *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  if (self->pool) {
    gst_buffer_pool_set_active (self->pool, FALSE);
    gst_object_unref (self->pool);
  }
  for (guint i = 0; i < self->n_views; i++)
    spdl_decode_config_unref (self->views[i]);
  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->tensors);
  g_free (self);
}

void
spdl_decode_config_set_info (
    GstVideoInfo *info, GstVideoFormat format, guint width, guint height)
{
  gst_video_info_set_format (info, format, width, height);
  GST_VIDEO_INFO_FPS_N (info) = 0;
}

gboolean
spdl_decode_config_check_size (
    guint width, guint height, guint64 max_pixels, GError **error)
{
  if (width > SPDL_MAX_SIDE || height > SPDL_MAX_SIDE) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The result would have a %s of %u pixels, more than the limit of %u of "
        "spdldecode",
        width > SPDL_MAX_SIDE ? "width" : "height",
        width > SPDL_MAX_SIDE ? width : height, SPDL_MAX_SIDE);
    return FALSE;
  }
  if ((guint64) width * height > max_pixels) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The result would have %u by %u pixels, more than max-pixels "
        "(%" G_GUINT64_FORMAT ")",
        width, height, max_pixels);
    return FALSE;
  }
  return TRUE;
}

gboolean
spdl_decode_config_check_decoded (
    const SpdlDecodeConfig *self, guint width, guint height, GError **error)
{
  if ((guint64) width * height > self->max_pixels) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Image has %u by %u pixels, more than max-pixels (%" G_GUINT64_FORMAT
        ")",
        width, height, self->max_pixels);
    return FALSE;
  }
  if (width > SPDL_MAX_DECODED_SIDE || height > SPDL_MAX_DECODED_SIDE) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Image has %u by %u pixels, more than %u per side", width, height,
        SPDL_MAX_DECODED_SIDE);
    return FALSE;
  }
  return TRUE;
}

gboolean
spdl_decode_config_check_images (const SpdlDecodeConfig *self, GError **error)
{
  if (!self->no_images)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is not %s, but downstream accepts nothing else",
      gst_caps_is_empty (self->tensors) ? "audio of a known format"
                                        : "an array");
  return FALSE;
}

gboolean
spdl_decode_config_check_tensors (
    const SpdlDecodeConfig *self, const GstCaps *caps, GError **error)
{
  g_autofree gchar *its = NULL, *theirs = NULL;

  if (gst_caps_can_intersect (self->tensors, caps))
    return TRUE;
  if (gst_caps_is_empty (self->tensors)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "File holds arrays, but downstream accepts only images");
    return FALSE;
  }
  its = gst_caps_to_string (caps);
  theirs = gst_caps_to_string (self->tensors);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "Result is %s, but downstream accepts only %s", its, theirs);
  return FALSE;
}

/* Rejects a fixed size with resize=none, since every image then keeps its
 * size. */
static gboolean
check_fit (const SpdlDecodeConfig *self, const SpdlDecodeSettings *settings,
    GError **error)
{
  const gchar *side = self->width ? "width" : "height";

  if (settings->resize != SPDL_FIT_NONE || (!self->width && !self->height))
    return TRUE;
  if (settings->width || settings->height)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The property resize contradicts the property %s, not negotiated: with "
        "resize=none an image keeps its size, but %s=%u is set",
        side, side, self->width ? self->width : self->height);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The property resize contradicts downstream, not negotiated: with "
        "resize=none an image keeps its size, but downstream requires a %s of "
        "%u",
        side, self->width ? self->width : self->height);
  return FALSE;
}

static gboolean
check_range (const gchar *property, const double *range, GError **error)
{
  if (range[0] > 0.0 && range[0] <= range[1] && range[1] < G_MAXDOUBLE)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The property %s is <%g,%g>, but must be two numbers above 0, the lower "
      "one first",
      property, range[0], range[1]);
  return FALSE;
}

/* Sets what the rows hold, and checks that the other properties fit. */
static gboolean
choose_pixels (
    SpdlDecodeConfig *self, const SpdlDecodeSettings *settings, GError **error)
{
  const gboolean is_index = g_strcmp0 (settings->format, INDEX) == 0;
  const gchar *name = is_index ? INDEX : GRAY16;
  const gchar *property = NULL;
  guint most = G_MAXUINT8;

  if (is_index) {
    self->pixels = SPDL_PIXELS_INDEX;
    /* Bilinear is the default. A mean of two indices has no meaning. */
    if (settings->interpolation == SPDL_INTERPOLATION_BICUBIC ||
        settings->interpolation == SPDL_INTERPOLATION_LANCZOS)
      property = "interpolation is not nearest";
    self->interpolation = SPDL_INTERPOLATION_NEAREST;
  } else if (self->format ==
             gst_video_format_from_string (SPDL_DECODE_CONFIG_GRAY16)) {
    self->pixels = SPDL_PIXELS_GRAY16;
    most = G_MAXUINT16;
  } else {
    return TRUE;
  }
  if (self->clip.num_frames > 0)
    property = "num-frames is set, which needs videos";
  if (!property && self->background <= most)
    return TRUE;
  if (property)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The property format contradicts another property: format=%s is set, "
        "but %s",
        name, property);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The property background is %u, more than the largest sample of "
        "format=%s, %u",
        self->background, name, most);
  return FALSE;
}

/* Returns the name in caps of the value of `format`. */
static const gchar *
get_caps_format (const gchar *format)
{
  if (g_strcmp0 (format, INDEX) == 0)
    return "GRAY8";
  return g_strcmp0 (format, GRAY16) == 0 ? SPDL_DECODE_CONFIG_GRAY16 : format;
}

/* Returns whether the property `media` leaves only images and frames. */
static gboolean
wants_images (const SpdlDecodeConfig *self)
{
  return self->media == SPDL_MEDIA_IMAGE || self->media == SPDL_MEDIA_VIDEO;
}

/* Intersects the downstream caps with the properties. */
static gboolean
choose_caps (SpdlDecodeConfig *self, const SpdlDecodeSettings *settings,
    GstCaps **caps, GError **error)
{
  const GstStructure *s;

  if (!check_range ("crop-scale", settings->augment.scale, error) ||
      !check_range ("crop-ratio", settings->augment.ratio, error))
    return FALSE;
  if (gst_caps_is_empty (*caps)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Downstream does not accept raw images in " SPDL_DECODE_CONFIG_FORMATS
        "%s",
        wants_images (self) ? ", which media=image and media=video deliver"
                            : ", or audio in " SPDL_AUDIO_FORMATS);
    return FALSE;
  }
  if (!spdl_caps_set_number (caps, RAW, "width", settings->width, error) ||
      !spdl_caps_set_number (caps, RAW, "height", settings->height, error) ||
      !spdl_caps_set_formats (caps, RAW, "format",
          get_caps_format (settings->format),
          SPDL_DECODE_CONFIG_PREFERRED_FORMAT, error))
    return FALSE;

  s = gst_caps_get_structure (*caps, 0);
  self->width =
      settings->width ? settings->width : spdl_get_fixed_number (s, "width");
  self->height =
      settings->height ? settings->height : spdl_get_fixed_number (s, "height");
  if (!check_fit (self, settings, error) ||
      !spdl_decode_config_check_size (
          self->width, self->height, self->max_pixels, error))
    return FALSE;
  *caps = gst_caps_fixate (gst_caps_truncate (*caps));
  s = gst_caps_get_structure (*caps, 0);
  self->format =
      gst_video_format_from_string (gst_structure_get_string (s, "format"));
  return choose_pixels (self, settings, error);
}

/* Returns: (transfer full): the structures of @caps with the name @name */
static GstCaps *
pick_format (const GstCaps *caps, const gchar *name)
{
  GstCaps *picked = gst_caps_copy (caps);

  for (guint i = gst_caps_get_size (picked); i-- > 0;)
    if (!gst_structure_has_name (gst_caps_get_structure (picked, i), name))
      gst_caps_remove_structure (picked, i);
  return picked;
}

static gboolean
make_pool (SpdlDecodeConfig *self, GError **error)
{
  spdl_decode_config_set_info (
      &self->info, self->format, self->width, self->height);
  self->caps = gst_video_info_to_caps (&self->info);
  /* No upper bound: a worker thread must not wait for downstream. */
  self->pool =
      gst_spdl_try_pool_new (self->caps, GST_VIDEO_INFO_SIZE (&self->info));
  if (self->pool)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Failed to create a pool of images of %u by %u", self->width,
      self->height);
  return FALSE;
}

/* Returns the possible formats of a clip's frames. Downstream negotiates only
 * the tensor, so all formats of colors are possible, and choose_pixels()
 * refuses the other ones. Returns: (transfer full): NULL with @error set if
 * downstream does not accept tensors */
static GstCaps *
pick_frames (const SpdlDecodeConfig *self, GError **error)
{
  if (!gst_caps_is_empty (self->tensors))
    return gst_caps_from_string (
        GST_VIDEO_CAPS_MAKE (SPDL_DECODE_CONFIG_FORMATS));
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The property num-frames contradicts downstream, not negotiated: with "
      "num-frames=%u a clip is a tensor, but downstream accepts only images",
      self->clip.num_frames);
  return NULL;
}

/* Negotiates images. If downstream accepts neither images nor anything else,
 * the error is about images. */
static gboolean
choose_images (SpdlDecodeConfig *self, const SpdlDecodeSettings *settings,
    GstCaps *allowed, GError **error)
{
  GstCaps *caps = self->clip.num_frames > 0 ? pick_frames (self, error)
                                            : pick_format (allowed, RAW);
  gboolean ok = TRUE;

  if (!caps)
    return FALSE;
  self->no_images = gst_caps_is_empty (caps) && !wants_images (self) &&
                    (!gst_caps_is_empty (self->tensors) ||
                        self->audio.format != GST_AUDIO_FORMAT_UNKNOWN);
  self->wants_audio =
      self->media == SPDL_MEDIA_AUDIO ||
      (self->media == SPDL_MEDIA_AUTO &&
          (self->no_images || spdl_audio_settings_are_set (&settings->audio)));
  if (!self->no_images)
    ok = choose_caps (self, settings, &caps, error);
  gst_caps_unref (caps);
  return ok;
}

static gboolean
choose_audio (SpdlDecodeConfig *self, const SpdlDecodeSettings *settings,
    GstCaps *allowed, GError **error)
{
  GstCaps *caps = pick_format (allowed, "audio/x-raw");
  const gboolean ok =
      spdl_audio_config_init (&self->audio, &settings->audio, caps, error);

  gst_caps_unref (caps);
  return ok;
}

/* Views */

/* Checks that other properties permit views.
 * @has_scale: whether a view sets the range of areas */
static gboolean
check_views (
    const SpdlDecodeSettings *settings, gboolean has_scale, GError **error)
{
  const gchar *why = NULL;

  if (settings->clip.num_frames > 0)
    why = "num-frames is set, which needs videos";
  else if (settings->size_only)
    why = "size-only is set, which needs no pixels";
  else if (settings->media == SPDL_MEDIA_VIDEO ||
           settings->media == SPDL_MEDIA_AUDIO)
    why = "media is set, and only images have views";
  else if (settings->part && !g_str_equal (settings->part, GST_SPDL_MAIN_PART))
    why = "part is set, and only the part " GST_SPDL_MAIN_PART " has views";
  else if (has_scale &&
           settings->augment.kind != SPDL_AUGMENT_RANDOM_RESIZED_CROP)
    why = "the scale of a view needs augment=random-resized-crop";
  if (!why)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The property views contradicts another property, not negotiated: "
      "views=\"%s\" is set, but %s",
      settings->views, why);
  return FALSE;
}

static SpdlDecodeConfig *
make_view (const SpdlDecodeSettings *settings, const SpdlViewSpec *spec,
    guint view, GstCaps *allowed, GError **error)
{
  SpdlDecodeSettings own = *settings;

  own.views = NULL;
  own.augment.seed = spdl_view_get_seed (own.augment.seed, view);
  if (spec->width > 0) {
    own.width = spec->width;
    own.height = spec->height;
  }
  if (spec->scale[1] > 0)
    memcpy (own.augment.scale, spec->scale, sizeof spec->scale);
  return spdl_decode_config_new (&own, allowed, error);
}

static gboolean
make_views (SpdlDecodeConfig *self, const SpdlDecodeSettings *settings,
    GstCaps *allowed, GError **error)
{
  SpdlViewSpec specs[SPDL_MAX_VIEWS];
  gboolean has_scale = FALSE;
  guint n;

  if (!settings->views)
    return TRUE;
  n = spdl_view_list_parse (settings->views, specs, error);
  for (guint i = 0; i < n; i++)
    has_scale |= specs[i].scale[1] > 0;
  if (n == 0 || !check_views (settings, has_scale, error))
    return FALSE;
  while (self->n_views < n) {
    const guint i = self->n_views;

    self->views[i] = make_view (settings, &specs[i], i, allowed, error);
    if (!self->views[i])
      return FALSE;
    self->n_views++;
  }
  return TRUE;
}

SpdlDecodeConfig *
spdl_decode_config_new (
    const SpdlDecodeSettings *settings, GstCaps *allowed, GError **error)
{
  SpdlDecodeConfig *self = g_new0 (SpdlDecodeConfig, 1);
  gboolean ok;

  self->n_refs = 1;
  self->part = settings->part;
  self->resize = settings->resize;
  self->crop_fraction = settings->crop_fraction;
  self->interpolation = settings->interpolation;
  self->orientation = settings->orientation;
  self->media = settings->media;
  self->augment = settings->augment;
  self->fast_scale = settings->fast_scale;
  self->size_only = settings->size_only;
  self->corrupt = settings->corrupt;
  self->max_pixels = settings->max_pixels;
  self->background = settings->background;
  self->max_decompressed_bytes = settings->max_decompressed_bytes;
  self->members = settings->members;
  self->clip = settings->clip;
  self->tensors = pick_format (allowed, "other/tensors");
  ok = choose_audio (self, settings, allowed, error) &&
       choose_images (self, settings, allowed, error) &&
       make_views (self, settings, allowed, error);
  if (ok && self->width > 0 && self->height > 0)
    ok = make_pool (self, error);
  if (!ok)
    g_clear_pointer (&self, spdl_decode_config_unref);
  return self;
}
