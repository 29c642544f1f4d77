/* gst-spdl: the work on one image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/element/itemdecoder.h"

#include "plugins/codec/array/arrays.h"
#include "plugins/codec/audio/audio.h"
#include "plugins/codec/common/exif.h"
#include "plugins/codec/jpeg/jpeg.h"
#include "plugins/codec/resize/picture.h"
#include "plugins/codec/result/canvas.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/codec/still/look.h"
#include "plugins/codec/still/stills.h"
#include "plugins/codec/still/tga.h"
#include "plugins/codec/video/video.h"

static const SpdlImageDecoder *const image_decoders[] = { &spdl_gif_decoder,
  &spdl_jp2_decoder, &spdl_png_decoder, &spdl_tiff_decoder,
  &spdl_webp_decoder };

struct _SpdlWorker {
  SpdlJpeg *jpeg;
  gpointer decoders[G_N_ELEMENTS (image_decoders)]; /* NULL: not used yet */
  SpdlStills *stills;
  SpdlPicture *picture;
  SpdlCanvas *canvas;
  SpdlArrays *arrays;
  SpdlVideo *video;
  SpdlAudio *audio;

  /* The item in hand. */
  const SpdlTarget *target;
  const SpdlSource *source;
  GstMapInfo in;
  SpdlView *view;
  GstCaps **caps;
  gboolean is_video;
};

SpdlWorker *
spdl_worker_new (void)
{
  SpdlWorker *self = g_new0 (SpdlWorker, 1);

  self->jpeg = spdl_jpeg_new ();
  self->stills = spdl_stills_new ();
  self->picture = spdl_picture_new ();
  self->canvas = spdl_canvas_new ();
  self->arrays = spdl_arrays_new ();
  self->video = spdl_video_new (self->canvas, self->picture);
  self->audio = spdl_audio_new ();
  return self;
}

void
spdl_worker_free (SpdlWorker *self)
{
  spdl_video_free (self->video);
  spdl_jpeg_free (self->jpeg);
  for (guint i = 0; i < G_N_ELEMENTS (image_decoders); i++)
    if (self->decoders[i])
      image_decoders[i]->destroy (self->decoders[i]);
  spdl_stills_free (self->stills);
  spdl_picture_free (self->picture);
  spdl_canvas_free (self->canvas);
  spdl_arrays_free (self->arrays);
  spdl_audio_free (self->audio);
  g_free (self);
}

static void
set_view (SpdlWorker *self, guint width, guint height, guint orientation)
{
  spdl_view_init (self->view, self->target, width, height, orientation,
      self->source->epoch, self->source->index);
}

/* Decodes the JPEG whose header was read onto the canvas, as planes where that
 * is cheaper. *@has_begun: whether there is something on the canvas then. */
static gboolean
draw_jpeg (
    SpdlWorker *self, guint reduction, gboolean *has_begun, GError **error)
{
  const SpdlTarget *target = self->target;
  const gboolean keep = target->corrupt == SPDL_CORRUPT_KEEP;
  SpdlSampling sampling;

  if (spdl_jpeg_get_sampling (self->jpeg, &sampling) &&
      spdl_canvas_takes_planes (target, self->view, reduction, &sampling)) {
    const SpdlPlanes *planes = spdl_canvas_begin_planes (
        self->canvas, target, self->view, reduction, &sampling, error);

    *has_begun = planes != NULL;
    return planes && spdl_jpeg_read_planes (self->jpeg, planes, keep, error);
  } else {
    const SpdlRows *rows =
        spdl_canvas_begin (self->canvas, target, self->view, reduction, error);

    *has_begun = rows != NULL;
    return rows && spdl_jpeg_read_rows (self->jpeg, rows, keep, error);
  }
}

static GstBuffer *
decode_jpeg (SpdlWorker *self, GError **error)
{
  const SpdlTarget *target = self->target;
  const GstMapInfo *in = &self->in;
  guint width, height, reduction = 1;
  gboolean has_begun;

  if (!spdl_jpeg_read_header (
          self->jpeg, in->data, in->size, &width, &height, error) ||
      !spdl_target_check_decoded (target, width, height, error))
    return NULL;
  set_view (self, width, height, spdl_exif_find_in_jpeg (in->data, in->size));
  if (target->fast_scale)
    reduction = spdl_view_get_reduction (self->view);
  spdl_jpeg_set_reduction (self->jpeg, reduction);
  if (draw_jpeg (self, reduction, &has_begun, error) ||
      (has_begun && target->corrupt == SPDL_CORRUPT_KEEP))
    return spdl_canvas_end (self->canvas, self->caps);
  if (has_begun)
    spdl_canvas_cancel (self->canvas);
  return NULL;
}

/* Other formats that have a library of their own */

/* Draws the file whose header was read. */
static GstBuffer *
draw_image (SpdlWorker *self, const SpdlImageDecoder *format, gpointer decoder,
    const SpdlImageHeader *header, GError **error)
{
  const SpdlTarget *target = self->target;
  const gboolean keep = target->corrupt == SPDL_CORRUPT_KEEP;
  const SpdlRows *rows;
  GError *reason = NULL;

  set_view (self, header->width, header->height, header->orientation);
  rows = spdl_canvas_begin (self->canvas, target, self->view, 1, error);
  if (!rows)
    return NULL;
  if (format->read_rows (decoder, rows, keep, &reason))
    return spdl_canvas_end (self->canvas, self->caps);
  g_propagate_error (error, reason);
  if (keep &&
      g_error_matches (reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE))
    return spdl_canvas_end (self->canvas, self->caps);
  spdl_canvas_cancel (self->canvas);
  return NULL;
}

/* Returns the index of the decoder of the item's format, or -1. */
static gint
find_decoder (const SpdlWorker *self)
{
  if (self->in.size < 12)
    return -1;
  for (guint i = 0; i < G_N_ELEMENTS (image_decoders); i++)
    if (image_decoders[i]->accepts (self->in.data, self->in.size))
      return i;
  return -1;
}

static gboolean
check_header (const SpdlImageDecoder *format, const SpdlImageHeader *header,
    GError **error)
{
  if (header->width > 0 && header->height > 0)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It has no pixels: the header of this %s says %u by %u", format->type,
      header->width, header->height);
  return FALSE;
}

static GstBuffer *
decode_by_library (SpdlWorker *self, guint i, GError **error)
{
  const SpdlTarget *target = self->target;
  const SpdlImageDecoder *format = image_decoders[i];
  GstBuffer *result = NULL;
  SpdlImageHeader header;

  if (!self->decoders[i])
    self->decoders[i] = format->create ();
  if (format->read_header (self->decoders[i], self->in.data, self->in.size,
          target->max_pixels, &header, error) &&
      check_header (format, &header, error) &&
      spdl_target_check_decoded (target, header.width, header.height, error))
    result = draw_image (self, format, self->decoders[i], &header, error);
  format->close (self->decoders[i]);
  return result;
}

/* Formats that GStreamer's elements decode */

/* Draws @frame; where there is none, background. */
static GstBuffer *
draw (SpdlWorker *self, const SpdlLook *look, const SpdlFrame *frame,
    GError **error)
{
  const guint width = frame->buffer ? (guint) frame->info->width : look->width;
  const guint height =
      frame->buffer ? (guint) frame->info->height : look->height;
  const SpdlRows *rows;

  set_view (self, width, height, look->orientation);
  rows = spdl_canvas_begin (self->canvas, self->target, self->view, 1, error);
  if (!rows)
    return NULL;
  if (!frame->buffer) {
    spdl_rows_fill (rows, 0);
  } else if (!spdl_picture_write (self->picture, frame, rows, error)) {
    spdl_canvas_cancel (self->canvas);
    return NULL;
  }
  return spdl_canvas_end (self->canvas, self->caps);
}

static void
set_damage (const SpdlLook *look, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken %s: %s", look->type, look->damage);
}

/* Whether there is something to deliver of a file that failed for @reason. */
static gboolean
can_keep (const SpdlLook *look, const SpdlFrame *frame, const GError *reason)
{
  const gboolean has_size = look->width > 0 && look->height > 0;

  return frame->buffer ||
         (has_size && g_error_matches (
                          reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE));
}

/* Returns the file as its decoder takes it, or NULL with @error set if there is
 * no memory for a copy. */
static GstBuffer *
dup_file (const SpdlWorker *self, const SpdlLook *look, GError **error)
{
  const GstMapInfo *in = &self->in;
  GstBuffer *file = NULL;

  if (!spdl_tga_has_gray_alpha (look->type, in->data, in->size))
    return gst_buffer_ref (self->source->item);
  file = spdl_tga_expand (in->data, in->size);
  if (!file)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for a copy of its %" G_GSIZE_FORMAT " bytes",
        in->size);
  return file;
}

/* Decodes and draws what passed the first look, or is kept in spite of it.
 * @reason: (out): why it is broken, also where there is a result. */
static GstBuffer *
decode_file (SpdlWorker *self, const SpdlLook *look, GError **reason)
{
  const SpdlTarget *target = self->target;
  const gboolean keep = target->corrupt == SPDL_CORRUPT_KEEP;
  const SpdlStillLimits limits = { target->max_pixels, keep };
  SpdlFrame frame = { NULL };
  g_autoptr (GstBuffer) file = dup_file (self, look, reason);

  if ((!file || !spdl_stills_decode (
                    self->stills, look, file, &limits, &frame, reason)) &&
      !(keep && can_keep (look, &frame, *reason)))
    return NULL;
  frame.opaque = look->opaque;
  return draw (self, look, &frame, *reason ? NULL : reason);
}

static GstBuffer *
decode_still (SpdlWorker *self, const SpdlLook *look, GError **error)
{
  const SpdlTarget *target = self->target;
  GstBuffer *result = NULL;
  GError *reason = NULL;

  if (!spdl_target_check_decoded (target, look->width, look->height, error))
    return NULL;
  if (!look->damage || target->corrupt == SPDL_CORRUPT_KEEP)
    result = decode_file (self, look, &reason);
  if (reason)
    g_propagate_error (error, reason);
  else if (look->damage)
    set_damage (look, error);
  return result;
}

static GstBuffer *
decode_arrays (SpdlWorker *self, SpdlArraysKind kind, GError **error)
{
  const SpdlTarget *target = self->target;
  GstBuffer *result = spdl_arrays_decode (self->arrays, kind, &self->in,
      target->max_decompressed_bytes, self->caps, error);

  if (result && !spdl_target_check_tensors (target, *self->caps, error))
    gst_clear_buffer (&result);
  return result;
}

static GstBuffer *
decode_video (SpdlWorker *self, const gchar *type, GError **error)
{
  const SpdlTarget *target = self->target;
  GstBuffer *result = spdl_video_decode (
      self->video, type, target, self->source, self->view, self->caps, error);

  self->is_video = TRUE;
  if (result && target->clip.num_frames > 0 &&
      !spdl_target_check_tensors (target, *self->caps, NULL)) {
    g_clear_error (error);
    spdl_target_check_tensors (target, *self->caps, error);
    gst_clear_buffer (&result);
  }
  return result;
}

/* What the item is, if it may be a video. Images without a mark are what their
 * caps say, whatever they look like. */
static const gchar *
find_video (const SpdlWorker *self)
{
  GstCaps *caps = self->source->caps;

  if (caps && gst_caps_is_fixed (caps) &&
      g_str_has_prefix (
          gst_structure_get_name (gst_caps_get_structure (caps, 0)), "image/"))
    return NULL;
  return spdl_video_find_type (self->video, self->in.data, self->in.size);
}

/* Whether an image does; FALSE with @error set where clips are made. */
static gboolean
check_image (const SpdlWorker *self, const gchar *type, GError **error)
{
  if (self->target->clip.num_frames == 0)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "It is no video%s%s, but num-frames is set, which makes clips of videos",
      type ? " but " : "", type ? type : "");
  return FALSE;
}

static GstBuffer *
decode_audio (SpdlWorker *self, GError **error)
{
  const SpdlTarget *target = self->target;

  return spdl_audio_decode (self->audio, &target->audio,
      target->corrupt == SPDL_CORRUPT_KEEP, self->source->item, self->caps,
      error);
}

static GstBuffer *
decode_image (SpdlWorker *self, GError **error)
{
  const GstMapInfo *in = &self->in;
  const gchar *video;
  GError *reason = NULL;
  SpdlLook look;
  gint decoder;

  if (!spdl_target_check_images (self->target, error))
    return NULL;
  if (spdl_jpeg_is_jpeg (in->data, in->size))
    return check_image (self, "image/jpeg", error) ? decode_jpeg (self, error)
                                                   : NULL;
  decoder = find_decoder (self);
  if (decoder >= 0)
    return check_image (self, image_decoders[decoder]->type, error)
               ? decode_by_library (self, decoder, error)
               : NULL;
  spdl_look (&look, in->data, in->size);
  if (!look.type && (video = find_video (self)))
    return decode_video (self, video, error);
  if (!check_image (self, look.type, error))
    return NULL;
  if (!spdl_stills_find_type (
          &look, in->data, in->size, self->source->caps, &reason)) {
    if (spdl_audio_search (self->audio, in->data, in->size)) {
      g_clear_error (&reason);
      return decode_audio (self, error);
    }
    g_propagate_error (error, reason);
    return NULL;
  }
  return decode_still (self, &look, error);
}

/* A video has sound, too, which counts where downstream takes nothing else.
 * Where clips are asked for, sound is none. */
static gboolean
is_sound (SpdlWorker *self)
{
  const GstMapInfo *in = &self->in;

  return self->target->clip.num_frames == 0 &&
         !spdl_jpeg_is_jpeg (in->data, in->size) &&
         (spdl_audio_look (
              self->audio, in->data, in->size, !self->target->no_images) ||
             (self->target->no_images &&
                 spdl_audio_search (self->audio, in->data, in->size)));
}

GstBuffer *
spdl_worker_decode (SpdlWorker *self, const SpdlTarget *target,
    const SpdlSource *source, SpdlView *view, GstCaps **result_caps,
    GError **error)
{
  GstMapInfo *in = &self->in;
  GstBuffer *result;
  SpdlArraysKind kind;

  self->target = target;
  self->source = source;
  self->view = view;
  view->width = view->height = 0;
  self->caps = result_caps;
  self->is_video = FALSE;
  if (!gst_buffer_map (source->item, in, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Its memory cannot be mapped");
    return NULL;
  }
  kind = spdl_arrays_look (in->data, in->size);
  if (kind != SPDL_ARRAYS_NONE)
    result = decode_arrays (self, kind, error);
  else if (is_sound (self))
    result = decode_audio (self, error);
  else
    result = decode_image (self, error);
  gst_buffer_unmap (source->item, in);
  return result;
}

const GArray *
spdl_worker_get_times (const SpdlWorker *self, guint *n_own)
{
  return self->is_video ? spdl_video_get_times (self->video, n_own) : NULL;
}
