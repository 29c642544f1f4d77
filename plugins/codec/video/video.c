/* gst-spdl: decoder of video items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/video.h"

#include <gst/base/gsttypefindhelper.h>

#include "plugins/codec/video/clipbuilder.h"
#include "plugins/codec/video/demux.h"
#include "plugins/codec/video/videoframereader.h"

/* A container format with its open demuxer. */
typedef struct {
  const gchar *type; /* interned */
  SpdlDemux *demux;  /* NULL: none installed */
} Container;

/* A codec with its open decoder. */
typedef struct {
  gchar *kind;
  guint n_threads;
  SpdlVideoDecoder *video_decoder;
} Codec;

struct _SpdlVideo {
  SpdlCanvas *canvas;
  SpdlPicture *picture;
  GArray *containers;
  GArray *codecs;
  SpdlPackets packets;
  SpdlVideoFrameReader frame_reader;
  SpdlClipBuilder clip_builder;

  /* The current item. */
  const SpdlDecodeConfig *config;
  const SpdlSource *source;
  SpdlImageTransform *transform;
  SpdlFrameSelection selection;
  GArray *times; /* of GstClockTime, for each frame of the clip */
  GArray *drawn; /* of gboolean, for each frame of the clip */
  GstBuffer *image;
  GstCaps *caps; /* not owned */
  GError *error; /* first error while drawing */
};

/* Containers */

/* Returns whether typefinding's result allows a video. The type of some
 * containers depends on whether they have audio. */
static gboolean
may_have_video (const gchar *type)
{
  static const gchar *const others[] = { "audio/x-m4a", "audio/x-matroska",
    "audio/webm", "application/x-3gp", NULL };

  return g_str_has_prefix (type, "video/") || g_strv_contains (others, type);
}

static const Container *
get_container (SpdlVideo *self, const gchar *type, GstCaps *caps)
{
  Container container = { type, NULL };
  GstElementFactory *factory;

  for (guint i = 0; i < self->containers->len; i++)
    if (g_array_index (self->containers, Container, i).type == type)
      return &g_array_index (self->containers, Container, i);
  if ((factory = spdl_demux_find (caps))) {
    container.demux = spdl_demux_new (factory, NULL);
    gst_object_unref (factory);
  }
  g_array_append_val (self->containers, container);
  return &g_array_index (
      self->containers, Container, self->containers->len - 1);
}

const gchar *
spdl_video_find_type (SpdlVideo *self, const guint8 *data, gsize size)
{
  g_autoptr (GstCaps) caps =
      size > 0 ? gst_type_find_helper_for_data (NULL, data, size, NULL) : NULL;
  const gchar *type = caps ? g_intern_string (gst_structure_get_name (
                                 gst_caps_get_structure (caps, 0)))
                           : NULL;

  if (!type || !may_have_video (type) ||
      !get_container (self, type, caps)->demux)
    return NULL;
  return type;
}

/* Codecs */

/* Returns a key with the caps fields that determine which decoder is used. */
static gchar *
dup_kind (const GstCaps *caps)
{
  static const gchar *const fields[] = { "stream-format", "alignment",
    "mpegversion", "msmpegversion", "divxversion", "wmvversion", "format",
    "variant" };
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  GString *kind = g_string_new (gst_structure_get_name (s));

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    const GValue *value = gst_structure_get_value (s, fields[i]);
    g_autofree gchar *text = value ? gst_value_serialize (value) : NULL;

    g_string_append_printf (kind, " %s", text ? text : "");
  }
  return g_string_free (kind, FALSE);
}

static SpdlVideoDecoder *
get_video_decoder (SpdlVideo *self, GstCaps *caps, GError **error)
{
  g_autofree gchar *kind = dup_kind (caps);
  Codec codec = { NULL, MAX (self->config->clip.decoder_threads, 1) };

  for (guint i = 0; i < self->codecs->len; i++) {
    const Codec *open = &g_array_index (self->codecs, Codec, i);

    if (g_str_equal (open->kind, kind) && open->n_threads == codec.n_threads &&
        spdl_video_decoder_takes (open->video_decoder, caps))
      return open->video_decoder;
  }
  codec.video_decoder = spdl_video_decoder_new (
      caps, codec.n_threads, &self->frame_reader.sink, error);
  if (!codec.video_decoder)
    return NULL;
  codec.kind = g_steal_pointer (&kind);
  g_array_append_val (self->codecs, codec);
  return codec.video_decoder;
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
          self->packets.orientation, &self->error))
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

/* Sets how many packets are needed from the container. */
static void
set_enough (SpdlVideo *self, const GArray *times)
{
  const SpdlClip *clip = &self->config->clip;
  SpdlPackets *packets = &self->packets;

  spdl_packets_reset (packets);
  if (clip->kind == SPDL_CLIP_HEAD)
    packets->enough_frames = MIN (spdl_clip_get_reach (clip), G_MAXUINT / 2);
  packets->enough_time = times ? 0 : GST_CLOCK_TIME_NONE;
  for (guint i = 0; times && i < times->len; i++)
    packets->enough_time =
        MAX (packets->enough_time, g_array_index (times, GstClockTime, i));
}

/* Reads and sorts the packets.
 * @reason: (out): the defect; may be set even if the function returns TRUE */
static gboolean
read_packets (SpdlVideo *self, const gchar *type, GError **reason)
{
  const Container *container = get_container (self, type, NULL);
  const gboolean keep = self->config->corrupt == SPDL_CORRUPT_KEEP;
  const gboolean ok = spdl_demux_run (container->demux, self->source->item,
      type, &self->packets, self->source->cancellable, reason);

  if (!ok && (!keep || self->packets.n_shown == 0))
    return FALSE;
  spdl_packets_sort (&self->packets);
  if (self->packets.by_rank->len > 0)
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
  SpdlVideoFrameReader *frame_reader = &self->frame_reader;
  gboolean ok;

  frame_reader->video_decoder = get_video_decoder (
      self, g_ptr_array_index (self->packets.caps, 0), reason);
  if (!frame_reader->video_decoder)
    return FALSE;
  spdl_video_decoder_set_max_pixels (
      frame_reader->video_decoder, self->config->max_pixels);
  frame_reader->packets = &self->packets;
  frame_reader->keep = self->config->corrupt == SPDL_CORRUPT_KEEP;
  frame_reader->cancellable = self->source->cancellable;
  ok = spdl_video_frame_reader_play (frame_reader, (const guint *) sorted->data,
      sorted->len, *reason ? NULL : reason);
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
  const SpdlPackets *packets = &self->packets;

  g_array_set_size (self->times, 0);
  for (guint i = 0; i < self->selection.n_frames; i++) {
    const guint rank = spdl_frame_selection_get (&self->selection, i);
    const GstClockTime time =
        spdl_packets_get (packets, spdl_packets_find (packets, rank))->time;

    g_array_append_val (self->times, time);
  }
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
          &self->packets, times, &key, error))
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

  set_enough (self, times);
  if (read_packets (self, type, &reason)) {
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

static void
clear_container (gpointer data)
{
  g_clear_pointer (&((Container *) data)->demux, spdl_demux_free);
}

static void
clear_codec (gpointer data)
{
  Codec *codec = data;

  g_clear_pointer (&codec->video_decoder, spdl_video_decoder_free);
  g_free (codec->kind);
}

SpdlVideo *
spdl_video_new (SpdlCanvas *canvas, SpdlPicture *picture)
{
  SpdlVideo *self = g_new0 (SpdlVideo, 1);

  self->canvas = canvas;
  self->picture = picture;
  self->containers = g_array_new (FALSE, TRUE, sizeof (Container));
  g_array_set_clear_func (self->containers, clear_container);
  self->codecs = g_array_new (FALSE, TRUE, sizeof (Codec));
  g_array_set_clear_func (self->codecs, clear_codec);
  spdl_packets_init (&self->packets);
  spdl_video_frame_reader_init (&self->frame_reader, take_frame, self);
  spdl_frame_selection_init (&self->selection);
  self->times = g_array_new (FALSE, TRUE, sizeof (GstClockTime));
  self->drawn = g_array_new (FALSE, TRUE, sizeof (gboolean));
  return self;
}

void
spdl_video_free (SpdlVideo *self)
{
  spdl_clip_builder_clear (&self->clip_builder);
  g_array_unref (self->codecs);
  g_array_unref (self->containers);
  spdl_packets_clear (&self->packets);
  spdl_frame_selection_clear (&self->selection);
  g_array_unref (self->times);
  g_array_unref (self->drawn);
  g_free (self);
}

/* Entry point */

GstBuffer *
spdl_video_decode (SpdlVideo *self, const gchar *type,
    const SpdlDecodeConfig *config, const SpdlSource *source,
    SpdlImageTransform *transform, GstCaps **result_caps, GError **error)
{
  const SpdlClip *clip = &config->clip;
  g_autoptr (GArray) times = NULL;
  GstBuffer *result = NULL;

  self->config = config;
  self->source = source;
  self->transform = transform;
  if (clip->kind != SPDL_CLIP_TIMES ||
      (times = spdl_clip_get_times (
           source->extra, MAX (clip->num_frames, 1), error)))
    result = decode_clip (self, type, times, result_caps, error);
  spdl_clip_builder_cancel (&self->clip_builder);
  gst_clear_buffer (&self->image);
  /* Drops all references to the item's memory. */
  spdl_packets_reset (&self->packets);
  return result;
}

const GArray *
spdl_video_get_times (const SpdlVideo *self, guint *n_own)
{
  *n_own = self->selection.ranks->len;
  return self->times;
}
