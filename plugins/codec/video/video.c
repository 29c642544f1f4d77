/* gst-spdl: decoder of video items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/video.h"

#include <gst/base/gsttypefindhelper.h>
#include <string.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "plugins/codec/video/clipbuilder.h"
#include "plugins/common/bytes.h"

struct _SpdlVideo {
  SpdlCanvas *canvas;
  SpdlPicture *picture;
  const SpdlVideoFuncs *funcs; /* NULL: plugin not loaded yet */
  SpdlVideoReader *reader;     /* NULL: not created yet */
  SpdlClipBuilder clip_builder;

  /* The current item. */
  const GstMapInfo *in;
  const SpdlDecodeConfig *config;
  const SpdlSource *source;
  SpdlImageTransform *transform;
  const SpdlVideoTable *table;
  SpdlFrameSelection selection;
  GArray *times; /* of GstClockTime, for each frame of the clip */
  GArray *drawn; /* of gboolean, for each frame of the clip */
  GstBuffer *image;
  GstCaps *caps; /* not owned */
  GError *error; /* first error while drawing */
};

/* Loads the plugin with FFmpeg's libraries. */
static gboolean
load_plugin (SpdlVideo *self, GError **error)
{
  if (!self->funcs) {
    const SpdlFfmpegFuncs *funcs = spdl_ffmpeg_get_funcs (error);

    self->funcs = funcs ? funcs->video : NULL;
  }
  if (self->funcs && !self->reader)
    self->reader = self->funcs->create ();
  return self->funcs != NULL;
}

/* Containers */

/* Media types of typefinding with libavformat's demuxer. The type of some
 * containers depends on whether they have audio. Other types of video are
 * probed. */
static const struct {
  const gchar *type, *demuxer;
} containers[] = {
  { "application/mxf", "mxf" },
  { "application/x-3gp", "mov" },
  { "application/x-yuv4mpeg", "yuv4mpegpipe" },
  { "audio/webm", "matroska" },
  { "audio/x-m4a", "mov" },
  { "audio/x-matroska", "matroska" },
  { "image/gif", "gif" },
  { "image/apng", "apng" },
  { "video/mpegts", "mpegts" },
  { "video/ogg", "ogg" },
  { "video/quicktime", "mov" },
  { "video/webm", "matroska" },
  { "video/x-flv", "flv" },
  { "video/x-matroska", "matroska" },
  { "video/x-msvideo", "avi" },
};

/* Returns: (nullable): the demuxer, if it is known */
static const gchar *
find_demuxer (const gchar *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (containers); i++)
    if (g_str_equal (containers[i].type, type))
      return containers[i].demuxer;
  return NULL;
}

/* Returns whether a PNG has the chunk of animations, which precedes the pixels.
 */
static gboolean
is_animated_png (const guint8 *data, gsize size)
{
  gsize at = 8;

  if (size < at || memcmp (data, "\x89PNG\r\n\x1a\n", at) != 0)
    return FALSE;
  while (size - at >= 12) {
    const gsize length = spdl_read_32_be (data + at);

    if (memcmp (data + at + 4, "acTL", 4) == 0)
      return TRUE;
    if (memcmp (data + at + 4, "IDAT", 4) == 0 || length > size - at - 12)
      return FALSE;
    at += length + 12;
  }
  return FALSE;
}

const gchar *
spdl_video_find_animation (const guint8 *data, gsize size)
{
  if (size >= 6 && memcmp (data, "GIF8", 4) == 0)
    return "image/gif";
  return is_animated_png (data, size) ? "image/apng" : NULL;
}

const gchar *
spdl_video_find_type (const guint8 *data, gsize size)
{
  g_autoptr (GstCaps) caps =
      size > 0 ? gst_type_find_helper_for_data (NULL, data, size, NULL) : NULL;
  const gchar *type =
      caps ? gst_structure_get_name (gst_caps_get_structure (caps, 0)) : NULL;

  return type && (find_demuxer (type) || g_str_has_prefix (type, "video/"))
             ? g_intern_string (type)
             : NULL;
}

/* Frames */

static void
put_frame (
    SpdlVideo *self, guint slot, GstBuffer *image, const GstVideoInfo *info)
{
  gboolean *drawn = &g_array_index (self->drawn, gboolean, slot);

  if (!self->error && (spdl_clip_builder_has_begun (&self->clip_builder) ||
                          spdl_clip_builder_begin (&self->clip_builder, info,
                              self->config->clip.num_frames, &self->error)))
    *drawn = spdl_clip_builder_put (
        &self->clip_builder, slot, image, info, &self->error);
}

static void
put_all (SpdlVideo *self, guint rank, GstBuffer *image, GstCaps *caps)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return;
  for (guint i = 0; i < self->selection.ranks->len; i++)
    if (spdl_frame_selection_get (&self->selection, i) == rank)
      put_frame (self, i, image, &info);
}

static void
take_frame (gpointer user_data, guint rank, const SpdlFrame *frame)
{
  SpdlVideo *self = user_data;
  const GstVideoInfo *info = frame->info;
  GstBuffer *image;

  if (self->error || !spdl_decode_config_check_decoded (self->config,
                         GST_VIDEO_INFO_WIDTH (info),
                         GST_VIDEO_INFO_HEIGHT (info), &self->error))
    return;
  if (!spdl_image_transform_init (self->transform, self->config, self->source,
          GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
          self->table->orientation, &self->error))
    return;
  image = spdl_clip_builder_draw (frame, self->canvas, self->picture,
      self->config, self->transform, &self->caps, &self->error);
  if (!image)
    return;
  if (self->config->clip.num_frames == 0) {
    gst_buffer_replace (&self->image, image);
    g_array_index (self->drawn, gboolean, 0) = TRUE;
  } else {
    put_all (self, rank, image, self->caps);
  }
  gst_buffer_unref (image);
}

/* Decoding */

/* Returns how much is needed from the container. */
static SpdlVideoLimits
find_limits (const SpdlVideo *self, const GArray *times)
{
  const SpdlClip *clip = &self->config->clip;
  SpdlVideoLimits limits = { 0, times ? 0 : GST_CLOCK_TIME_NONE };

  if (clip->kind == SPDL_CLIP_HEAD)
    limits.n_frames = MIN (spdl_clip_get_reach (clip), G_MAXUINT / 2);
  for (guint i = 0; times && i < times->len; i++)
    limits.time = MAX (limits.time, g_array_index (times, GstClockTime, i));
  return limits;
}

/* Reads the packets.
 * @reason: (out): the defect; may be set even if the function returns TRUE */
static gboolean
read_packets (
    SpdlVideo *self, const gchar *type, const GArray *times, GError **reason)
{
  const gboolean keep = self->config->corrupt == SPDL_CORRUPT_KEEP;
  const SpdlVideoLimits limits = find_limits (self, times);
  SpdlMediaFile file = { type, find_demuxer (type), self->in->data,
    self->in->size };

  if (!load_plugin (self, reason))
    return FALSE;
  if (!file.demuxer && !self->funcs->probe (&file)) {
    g_set_error (reason, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "File looks like %s, but FFmpeg's libraries find no video in it", type);
    return FALSE;
  }
  if (!self->funcs->read (self->reader, &file, &limits,
          self->config->max_pixels, self->source->cancellable, &self->table,
          reason) &&
      (!keep || self->table->times->len == 0))
    return FALSE;
  if (self->table->times->len > 0)
    return TRUE;
  g_clear_error (reason);
  g_set_error (reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DEMUX,
      "The video of the %s has no frames", type);
  return FALSE;
}

static gboolean
play_frames (SpdlVideo *self, GError **reason)
{
  const GArray *sorted = self->selection.sorted;
  const SpdlVideoPlay play = { .max_pixels = self->config->max_pixels,
    .keep = self->config->corrupt == SPDL_CORRUPT_KEEP,
    .cancellable = self->source->cancellable,
    .frame = take_frame,
    .user_data = self };
  const gboolean ok = self->funcs->play (self->reader, &play,
      (const guint *) sorted->data, sorted->len, *reason ? NULL : reason);

  if (self->error) {
    g_clear_error (reason);
    g_propagate_error (reason, g_steal_pointer (&self->error));
    return FALSE;
  }
  return ok;
}

/* Fills missing frames with the previous frame, or with the next one at the
 * beginning. */
static void
fill_gaps (SpdlVideo *self)
{
  const gboolean *drawn = (const gboolean *) self->drawn->data;
  guint last = 0;

  while (!drawn[last])
    last++;
  for (guint i = 0; i < self->drawn->len; i++) {
    if (drawn[i])
      last = i;
    else
      spdl_clip_builder_repeat (&self->clip_builder, i, last);
  }
}

static void
note_times (SpdlVideo *self)
{
  g_array_set_size (self->times, 0);
  for (guint i = 0; i < self->selection.n_frames; i++)
    g_array_append_val (
        self->times, g_array_index (self->table->times, GstClockTime,
                         spdl_frame_selection_get (&self->selection, i)));
}

/* Returns: (transfer full) (nullable) */
static GstBuffer *
finish_clip (SpdlVideo *self, GstCaps **caps)
{
  note_times (self);
  if (self->config->clip.num_frames == 0) {
    *caps = self->caps;
    return g_steal_pointer (&self->image);
  }
  fill_gaps (self);
  return spdl_clip_builder_end (&self->clip_builder, caps);
}

static gboolean
choose_frames (SpdlVideo *self, const GArray *times, GError **error)
{
  const SpdlFrameSelectionKey key = { self->config->augment.seed,
    self->source->epoch, self->source->index };

  if (!spdl_frame_selection_make (&self->selection, &self->config->clip,
          self->table, times, &key, error))
    return FALSE;
  g_array_set_size (self->drawn, 0);
  g_array_set_size (self->drawn, self->selection.n_frames);
  return TRUE;
}

static GstBuffer *
decode_clip (SpdlVideo *self, const gchar *type, const GArray *times,
    GstCaps **caps, GError **error)
{
  GstBuffer *result = NULL;
  GError *reason = NULL;

  if (read_packets (self, type, times, &reason)) {
    GError *contrary = NULL;

    if (!choose_frames (self, times, &contrary)) {
      g_clear_error (&reason);
      reason = contrary;
    } else if (play_frames (self, &reason)) {
      result = finish_clip (self, caps);
    }
  }
  if (reason)
    g_propagate_error (error, reason);
  return result;
}

/* Construction */

SpdlVideo *
spdl_video_new (SpdlCanvas *canvas)
{
  SpdlVideo *self = g_new0 (SpdlVideo, 1);

  self->canvas = canvas;
  self->picture = spdl_picture_new ();
  spdl_frame_selection_init (&self->selection);
  self->times = g_array_new (FALSE, TRUE, sizeof (GstClockTime));
  self->drawn = g_array_new (FALSE, TRUE, sizeof (gboolean));
  return self;
}

void
spdl_video_free (SpdlVideo *self)
{
  spdl_clip_builder_clear (&self->clip_builder);
  spdl_picture_free (self->picture);
  if (self->reader)
    self->funcs->destroy (self->reader);
  spdl_frame_selection_clear (&self->selection);
  g_array_unref (self->times);
  g_array_unref (self->drawn);
  g_free (self);
}

/* Entry point */

GstBuffer *
spdl_video_decode (SpdlVideo *self, const gchar *type, const GstMapInfo *in,
    const SpdlDecodeConfig *config, const SpdlSource *source,
    SpdlImageTransform *transform, GstCaps **result_caps, GError **error)
{
  const SpdlClip *clip = &config->clip;
  g_autoptr (GArray) times = NULL;
  GstBuffer *result = NULL;

  self->in = in;
  self->config = config;
  self->source = source;
  self->transform = transform;
  if (clip->kind != SPDL_CLIP_TIMES ||
      (times = spdl_clip_get_times (
           source->extra, MAX (clip->num_frames, 1), error)))
    result = decode_clip (self, type, times, result_caps, error);
  spdl_clip_builder_cancel (&self->clip_builder);
  gst_clear_buffer (&self->image);
  if (self->reader)
    self->funcs->close (self->reader);
  return result;
}

const GArray *
spdl_video_get_times (const SpdlVideo *self, guint *n_own)
{
  *n_own = self->selection.ranks->len;
  return self->times;
}
