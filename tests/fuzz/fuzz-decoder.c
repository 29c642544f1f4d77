/* gst-spdl: decoder of one file for fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/fuzz/fuzz-decoder.h"

#include <gst/video/video.h>
#include <string.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "plugins/codec/element/itemdecoder.h"
#include "plugins/codec/still/stillplugins.h"
#include "tests/check/support/failing-memory.h"

/* Limits an input to milliseconds. */
#define MAX_PIXELS (1 << 14)
#define MAX_SIDE 127

/* The plugin, which defines this category, is not linked here. */
GST_DEBUG_CATEGORY (spdl_decode_debug);

/* No plugins are loaded, so the readers of audio and video are linked. */
const SpdlFfmpegFuncs *
spdl_ffmpeg_get_funcs (GError **error)
{
#ifdef HAVE_FFMPEG
  static const SpdlFfmpegFuncs funcs = { &spdl_audio_decoder_funcs,
    &spdl_video_reader_funcs, spdl_ffmpeg_still_decode };

  return &funcs;
#else
  g_set_error_literal (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "FFmpeg's libraries are missing, which decode audio and video");
  return NULL;
#endif
}

const SpdlImageDecoder *
spdl_still_plugin_load (const gchar *name, const gchar *format, GError **error)
{
#ifdef HAVE_AVIF
  if (g_str_equal (name, "spdlavif"))
    return &spdl_libavif_decoder;
#endif
#ifdef HAVE_HEIF
  if (g_str_equal (name, "spdlheif"))
    return &spdl_libheif_decoder;
#endif
#ifdef HAVE_JXL
  if (g_str_equal (name, "spdljxl"))
    return &spdl_libjxl_decoder;
#endif
  g_set_error_literal (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "The library of this format is missing");
  return NULL;
}

/* The result, and the parts of it that are compared. */
typedef struct {
  GstBuffer *buffer;
  GstCaps *caps;
  GError *error;
} Result;

static void
result_clear (Result *self)
{
  gst_clear_buffer (&self->buffer);
  gst_clear_caps (&self->caps);
  g_clear_error (&self->error);
}

static void
take_augment (SpdlAugment *augment, FuzzInput *settings)
{
  const guint8 kind = fuzz_take (settings);

  augment->kind = kind % 3;
  augment->scale[0] = (1 + (kind >> 4 & 7)) / 16.0;
  augment->scale[1] = 1.0;
  augment->ratio[0] = 0.25;
  augment->ratio[1] = 4.0;
  augment->flip = kind >> 7;
  augment->seed = fuzz_take (settings);
}

static SpdlDecodeSettings
take_target (FuzzInput *settings)
{
  const guint8 modes = fuzz_take (settings), flags = fuzz_take (settings);
  const guint sides = fuzz_take_16 (settings);
  const gboolean samples = flags & 32, index = flags & 64;
  SpdlDecodeSettings target = {
    .width = (sides & 0xff) % (MAX_SIDE + 1),
    .height = (sides >> 8) % (MAX_SIDE + 1),
    .format = (gchar *) (samples     ? (index ? "index" : "GRAY16")
                         : flags & 8 ? "GRAY8"
                         : flags & 1 ? "BGR"
                                     : "RGB"),
    .resize = modes & 3,
    .crop_fraction = flags & 16 ? 0.6 : 1,
    .interpolation = modes >> 2 & (samples && index ? 1 : 3),
    .orientation = flags >> 7,
    .fast_scale = flags >> 1 & 1,
    .corrupt = flags & 4 ? SPDL_CORRUPT_KEEP : SPDL_CORRUPT_FAIL,
    .max_pixels = MAX_PIXELS,
    .background = samples ? 0x56 : 0x123456,
  };

  take_augment (&target.augment, settings);
  if (target.resize == SPDL_FIT_NONE)
    target.width = target.height = 0;
  return target;
}

static SpdlDecodeConfig *
make_config (const SpdlDecodeSettings *target)
{
  g_autoptr (GError) error = NULL;
  GstCaps *caps =
      gst_caps_from_string ("video/x-raw, format=" SPDL_DECODE_CONFIG_FORMATS);
  SpdlDecodeConfig *self = spdl_decode_config_new (target, caps, &error);

  g_assert_no_error (error);
  gst_caps_unref (caps);
  return self;
}

/* Fills the memory of the next result with @with, so that unwritten bytes
 * show. */
static void
dirty (const SpdlDecodeConfig *config, guint8 with)
{
  GstBuffer *buffer = NULL;

  if (!config->pool)
    return;
  gst_buffer_pool_acquire_buffer (config->pool, &buffer, NULL);
  gst_buffer_memset (buffer, 0, with, -1);
  gst_buffer_unref (buffer);
}

static Result
decode (SpdlItemDecoder *item_decoder, const SpdlDecodeConfig *config,
    const guint8 *data, gsize size)
{
  SpdlSource source = { .index = 7 };
  Result result = { NULL };
  SpdlView view;

  /* An exact copy, so that the sanitizer finds writes and reads past the
   * end. */
  source.item = gst_buffer_new_memdup (data, size);
  if (spdl_item_decoder_decode (
          item_decoder, config, &source, &view, &result.error)) {
    result.buffer = view.buffer;
    result.caps = gst_caps_ref (view.caps);
  }
  if (!result.buffer || result.error)
    fuzz_check_error (result.error);
  g_assert_true (
      !result.error || !result.buffer || config->corrupt == SPDL_CORRUPT_KEEP);
  gst_buffer_unref (source.item);
  return result;
}

static void
check_size (const Result *result, const SpdlDecodeConfig *config)
{
  GstVideoInfo info;

  g_assert_true (gst_video_info_from_caps (&info, result->caps));
  g_assert_cmpuint (gst_buffer_get_size (result->buffer), ==, info.size);
  if (config->width > 0 && config->height > 0) {
    g_assert_cmpuint (info.width, ==, config->width);
    g_assert_cmpuint (info.height, ==, config->height);
  }
}

/* Compares the pixels, without the padding of rows, which is undefined. */
static void
check_same (const Result *a, const Result *b)
{
  GstMapInfo in_a, in_b;
  GstVideoInfo info;
  gsize row;

  g_assert_cmpstr (a->error ? a->error->message : NULL, ==,
      b->error ? b->error->message : NULL);
  g_assert_true (!a->buffer == !b->buffer);
  if (!a->buffer)
    return;
  g_assert_true (gst_caps_is_equal (a->caps, b->caps));
  gst_video_info_from_caps (&info, a->caps);
  row = (gsize) info.width * GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0);
  gst_buffer_map (a->buffer, &in_a, GST_MAP_READ);
  gst_buffer_map (b->buffer, &in_b, GST_MAP_READ);
  for (gint y = 0; y < info.height; y++)
    g_assert_cmpmem (in_a.data + y * info.stride[0], row,
        in_b.data + y * info.stride[0], row);
  gst_buffer_unmap (a->buffer, &in_a);
  gst_buffer_unmap (b->buffer, &in_b);
}

/* Checks that the result does not depend on the decoder's history. The decoder
 * first gets the front half of the file, or runs out of memory in it. */
static void
run_again (SpdlItemDecoder *item_decoder, const SpdlDecodeConfig *config,
    const guint8 *data, gsize size, const Result *first, guint failing)
{
  Result before, again;

  failing_memory_let_fail (failing);
  before = decode (item_decoder, config, data, failing > 0 ? size : size / 2);
  failing_memory_let_fail (0);
  dirty (config, 0x55);
  again = decode (item_decoder, config, data, size);
  check_same (first, &again);
  result_clear (&before);
  result_clear (&again);
}

/* Checks that the first of several views is the same as a single picture, where
 * both are decoded in the same way. */
static void
check_views (SpdlItemDecoder *item_decoder, SpdlDecodeSettings target,
    const guint8 *data, gsize size, const Result *alone)
{
  SpdlSource source = { .index = 7 };
  SpdlView views[SPDL_MAX_VIEWS];
  gboolean is_alike = !target.fast_scale;
  Result first = { NULL };
  SpdlDecodeConfig *config;

  target.views = target.resize == SPDL_FIT_NONE ? "3" : "2; 1(size=9x40)";
  config = make_config (&target);
  source.item = gst_buffer_new_memdup (data, size);
  if (spdl_item_decoder_decode (
          item_decoder, config, &source, views, &first.error)) {
    first.buffer = g_steal_pointer (&views->buffer);
    first.caps = gst_caps_ref (views->caps);
    for (guint i = 0; i < config->n_views; i++) {
      is_alike &= !spdl_image_transform_is_plain (&views[i].transform);
      gst_clear_buffer (&views[i].buffer);
    }
    if (is_alike && !first.error && alone->buffer && !alone->error)
      check_same (alone, &first);
  }
  if (!first.buffer || first.error)
    fuzz_check_error (first.error);
  result_clear (&first);
  gst_buffer_unref (source.item);
  spdl_decode_config_unref (config);
}

void
fuzz_decoder_run (FuzzInput *settings, const guint8 *data, gsize size)
{
  const SpdlDecodeSettings target = take_target (settings);
  SpdlDecodeConfig *config = make_config (&target);
  SpdlItemDecoder *item_decoder = spdl_item_decoder_new ();
  const guint8 more = fuzz_take (settings);
  Result result;

  dirty (config, 0xaa);
  result = decode (item_decoder, config, data, size);

  if (result.buffer)
    check_size (&result, config);
  if (more & 1)
    run_again (item_decoder, config, data, size, &result, more >> 1 & 7);
  if (more & 16)
    check_views (item_decoder, target, data, size, &result);
  result_clear (&result);
  spdl_item_decoder_free (item_decoder);
  spdl_decode_config_unref (config);
}
