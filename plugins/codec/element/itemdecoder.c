/* gst-spdl: decoder of one item, of any media type
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
#include "plugins/codec/result/streamcaps.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/codec/still/imageprobe.h"
#include "plugins/codec/still/stilldecoder.h"
#include "plugins/codec/video/video.h"

static const SpdlImageDecoder *const image_decoders[] = { &spdl_gif_decoder,
  &spdl_jp2_decoder, &spdl_png_decoder, &spdl_tiff_decoder,
  &spdl_webp_decoder };

struct _SpdlItemDecoder {
  SpdlJpeg *jpeg;
  gpointer decoders[G_N_ELEMENTS (image_decoders)]; /* NULL: not used yet */
  SpdlStillDecoder *still_decoder;
  SpdlPicture *picture;
  SpdlCanvas *canvas;
  SpdlArrays *arrays;
  SpdlVideo *video;
  SpdlAudio *audio;
  SpdlStreamCaps stream_caps;

  /* About the last item. */
  gboolean was_video;
  GstClockTime audio_offset; /* NONE: not drawn */
  SpdlLoss loss;
};

/* State of one decode call. */
typedef struct {
  const SpdlDecodeConfig *config;
  const SpdlSource *source;
  GstMapInfo in;
  SpdlImageTransform *transform;
  GstCaps **caps;
} Job;

SpdlItemDecoder *
spdl_item_decoder_new (void)
{
  SpdlItemDecoder *self = g_new0 (SpdlItemDecoder, 1);

  self->jpeg = spdl_jpeg_new ();
  self->still_decoder = spdl_still_decoder_new ();
  self->picture = spdl_picture_new ();
  self->canvas = spdl_canvas_new ();
  self->arrays = spdl_arrays_new ();
  self->video = spdl_video_new (self->canvas, self->picture);
  self->audio = spdl_audio_new ();
  return self;
}

void
spdl_item_decoder_free (SpdlItemDecoder *self)
{
  spdl_video_free (self->video);
  spdl_jpeg_free (self->jpeg);
  for (guint i = 0; i < G_N_ELEMENTS (image_decoders); i++)
    if (self->decoders[i])
      image_decoders[i]->destroy (self->decoders[i]);
  spdl_still_decoder_free (self->still_decoder);
  spdl_picture_free (self->picture);
  spdl_canvas_free (self->canvas);
  spdl_arrays_free (self->arrays);
  spdl_audio_free (self->audio);
  spdl_stream_caps_clear (&self->stream_caps);
  g_free (self);
}

static gboolean
set_transform (const Job *job, guint width, guint height, guint orientation,
    GError **error)
{
  return spdl_image_transform_init (job->transform, job->config, job->source,
      width, height, orientation, error);
}

/* Checks that a file of media type @type has the samples that the format of the
 * result needs, and notes what a result of colors loses. */
static gboolean
check_samples (SpdlItemDecoder *self, const Job *job, const gchar *type,
    guint depth, guint channels, gboolean has_palette, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const gboolean is_index = config->pixels == SPDL_PIXELS_INDEX;

  if (config->pixels == SPDL_PIXELS_COLOR) {
    if (depth > 8)
      self->loss = SPDL_LOSS_BITS;
    else if (has_palette && config->format == GST_VIDEO_FORMAT_GRAY8 &&
             config->interpolation == SPDL_INTERPOLATION_NEAREST)
      self->loss = SPDL_LOSS_INDICES;
    return TRUE;
  }
  if (channels == 1 && (is_index ? depth <= 8 : depth > 8 && !has_palette))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "File is %s with %u channels of %u bits%s, but format=%s needs %s: set "
      "another format",
      type, channels, depth, has_palette ? " and a palette" : "",
      is_index ? "index" : "GRAY16",
      is_index ? "a palette, or gray of at most 8 bits"
               : "gray of more than 8 bits");
  return FALSE;
}

/* Decodes a JPEG whose header was read onto the canvas, as planes if that is
 * cheaper.
 * @has_begun: (out): whether the canvas was begun, so that it must be ended or
 * cancelled */
static gboolean
draw_jpeg (SpdlItemDecoder *self, const Job *job, guint reduction,
    gboolean *has_begun, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const gboolean keep = config->corrupt == SPDL_CORRUPT_KEEP;
  SpdlSampling sampling;

  if (spdl_jpeg_get_sampling (self->jpeg, &sampling) &&
      spdl_canvas_takes_planes (config, job->transform, reduction, &sampling)) {
    const SpdlPlanes *planes = spdl_canvas_begin_planes (
        self->canvas, config, job->transform, reduction, &sampling, error);

    *has_begun = planes != NULL;
    return planes && spdl_jpeg_read_planes (self->jpeg, planes, keep, error);
  } else {
    const SpdlRows *rows = spdl_canvas_begin (
        self->canvas, config, job->transform, reduction, error);

    *has_begun = rows != NULL;
    return rows && spdl_jpeg_read_rows (self->jpeg, rows, keep, error);
  }
}

static GstBuffer *
decode_jpeg (SpdlItemDecoder *self, const Job *job, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const GstMapInfo *in = &job->in;
  guint width, height, reduction = 1;
  gboolean has_begun;

  if (!spdl_jpeg_read_header (
          self->jpeg, in->data, in->size, &width, &height, error) ||
      !check_samples (self, job, "image/jpeg", 8, 3, FALSE, error) ||
      !spdl_decode_config_check_decoded (config, width, height, error) ||
      !set_transform (job, width, height,
          spdl_exif_find_in_jpeg (in->data, in->size), error))
    return NULL;
  /* A reduced image has mixed pixels, which nearest must not. */
  if (config->fast_scale && config->interpolation != SPDL_INTERPOLATION_NEAREST)
    reduction = spdl_image_transform_get_reduction (job->transform);
  spdl_jpeg_set_reduction (self->jpeg, reduction);
  if (draw_jpeg (self, job, reduction, &has_begun, error) ||
      (has_begun && config->corrupt == SPDL_CORRUPT_KEEP))
    return spdl_canvas_end (self->canvas, job->caps);
  if (has_begun)
    spdl_canvas_cancel (self->canvas);
  return NULL;
}

/* Formats with a library: PNG, WebP, GIF, TIFF, JPEG 2000 */

/* Decodes a file whose header was read onto the canvas. */
static GstBuffer *
draw_image (SpdlItemDecoder *self, const Job *job,
    const SpdlImageDecoder *format, gpointer decoder,
    const SpdlImageHeader *header, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const gboolean keep = config->corrupt == SPDL_CORRUPT_KEEP;
  const SpdlRows *rows;
  GError *reason = NULL;

  if (!set_transform (
          job, header->width, header->height, header->orientation, error))
    return NULL;
  rows = spdl_canvas_begin (self->canvas, config, job->transform, 1, error);
  if (!rows)
    return NULL;
  if (format->read_rows (decoder, rows, keep, &reason))
    return spdl_canvas_end (self->canvas, job->caps);
  g_propagate_error (error, reason);
  if (keep &&
      g_error_matches (reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE))
    return spdl_canvas_end (self->canvas, job->caps);
  spdl_canvas_cancel (self->canvas);
  return NULL;
}

/* Returns the index of the decoder of the item's format, or -1. */
static gint
find_decoder (const GstMapInfo *in)
{
  if (in->size < 12)
    return -1;
  for (guint i = 0; i < G_N_ELEMENTS (image_decoders); i++)
    if (image_decoders[i]->accepts (in->data, in->size))
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
      "Image has no pixels: the header of the %s declares %u by %u",
      format->type, header->width, header->height);
  return FALSE;
}

static GstBuffer *
decode_by_library (
    SpdlItemDecoder *self, const Job *job, guint i, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const SpdlImageDecoder *format = image_decoders[i];
  GstBuffer *result = NULL;
  SpdlImageHeader header;

  if (!self->decoders[i])
    self->decoders[i] = format->create ();
  if (format->read_header (self->decoders[i], job->in.data, job->in.size,
          config->max_pixels, &header, error) &&
      check_header (format, &header, error) &&
      check_samples (self, job, format->type, header.depth, header.channels,
          header.has_palette, error) &&
      spdl_decode_config_check_decoded (
          config, header.width, header.height, error))
    result = draw_image (self, job, format, self->decoders[i], &header, error);
  format->close (self->decoders[i]);
  return result;
}

/* Formats decoded by GStreamer elements */

/* Draws @frame, or only the background if it has no buffer. */
static GstBuffer *
draw_frame (SpdlItemDecoder *self, const Job *job, const SpdlImageProbe *probe,
    const SpdlFrame *frame, GError **error)
{
  const guint width = frame->buffer ? (guint) frame->info->width : probe->width;
  const guint height =
      frame->buffer ? (guint) frame->info->height : probe->height;
  const SpdlRows *rows;
  gboolean has_palette = FALSE;
  guint depth = 8, channels = 1;

  if (frame->buffer)
    spdl_picture_describe (frame->info, &depth, &channels, &has_palette);
  /* Some decoders round 16-bit PNM to 8 bits. */
  depth = MAX (depth, g_bit_storage (probe->largest));
  if (!check_samples (
          self, job, probe->type, depth, channels, has_palette, error) ||
      !set_transform (job, width, height, probe->orientation, error))
    return NULL;
  rows =
      spdl_canvas_begin (self->canvas, job->config, job->transform, 1, error);
  if (!rows)
    return NULL;
  if (!frame->buffer) {
    spdl_rows_fill (rows, 0);
  } else if (!spdl_picture_write (self->picture, frame, rows, error)) {
    spdl_canvas_cancel (self->canvas);
    return NULL;
  }
  return spdl_canvas_end (self->canvas, job->caps);
}

/* Draws a gray PNM file as it is stored. GStreamer's decoders scale samples to
 * 8 or 16 bits. */
static GstBuffer *
draw_gray (SpdlItemDecoder *self, const Job *job, const SpdlImageProbe *probe,
    GError **error)
{
  const guint depth = g_bit_storage (probe->largest);
  const SpdlRows *rows;

  if (!check_samples (self, job, probe->type, depth, 1, FALSE, error) ||
      !set_transform (job, probe->width, probe->height, 1, error) ||
      !(rows = spdl_canvas_begin (
            self->canvas, job->config, job->transform, 1, error)))
    return NULL;
  spdl_image_probe_read_gray (probe, job->in.data, job->in.size, rows);
  return spdl_canvas_end (self->canvas, job->caps);
}

static void
set_corruption (const SpdlImageProbe *probe, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt %s: %s", probe->type, probe->corruption);
}

/* Returns whether on-corrupt=keep can deliver a result for a file that failed
 * with @reason. */
static gboolean
can_keep (
    const SpdlImageProbe *probe, const SpdlFrame *frame, const GError *reason)
{
  const gboolean has_size = probe->width > 0 && probe->height > 0;

  return frame->buffer ||
         (has_size && g_error_matches (
                          reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE));
}

/* Decodes and draws a file that passed the probe, or that on-corrupt=keep
 * accepts.
 * @reason: (out): the defect; may be set although a result is returned */
static GstBuffer *
decode_file (SpdlItemDecoder *self, const Job *job, const SpdlImageProbe *probe,
    GError **reason)
{
  const SpdlDecodeConfig *config = job->config;
  const gboolean keep = config->corrupt == SPDL_CORRUPT_KEEP;
  const SpdlStillLimits limits = { config->max_pixels, keep };
  SpdlFrame frame = { NULL };
  g_autoptr (GstBuffer) file = NULL;

  if (config->pixels != SPDL_PIXELS_COLOR && probe->is_gray &&
      probe->width > 0 && probe->height > 0)
    return draw_gray (self, job, probe, reason);
  file = spdl_still_decoder_adapt (probe, job->source->item, &job->in, reason);
  if ((!file || !spdl_still_decoder_decode (self->still_decoder, probe, file,
                    &limits, &frame, reason)) &&
      !(keep && can_keep (probe, &frame, *reason)))
    return NULL;
  frame.opaque = probe->opaque;
  return draw_frame (self, job, probe, &frame, *reason ? NULL : reason);
}

static GstBuffer *
decode_still (SpdlItemDecoder *self, const Job *job,
    const SpdlImageProbe *probe, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  GstBuffer *result = NULL;
  GError *reason = NULL;

  if (!spdl_decode_config_check_decoded (
          config, probe->width, probe->height, error))
    return NULL;
  if (!probe->corruption || config->corrupt == SPDL_CORRUPT_KEEP)
    result = decode_file (self, job, probe, &reason);
  if (reason)
    g_propagate_error (error, reason);
  else if (probe->corruption)
    set_corruption (probe, error);
  return result;
}

static GstBuffer *
decode_arrays (
    SpdlItemDecoder *self, const Job *job, SpdlArraysKind kind, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  GstBuffer *result = spdl_arrays_decode (self->arrays, kind, &job->in,
      config->members, config->max_decompressed_bytes, job->caps, error);

  if (result && !spdl_decode_config_check_tensors (config, *job->caps, error))
    gst_clear_buffer (&result);
  return result;
}

static GstBuffer *
decode_video (
    SpdlItemDecoder *self, const Job *job, const gchar *type, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  GstBuffer *result = NULL;

  if (check_samples (self, job, type, 8, 3, FALSE, error))
    result = spdl_video_decode (self->video, type, &job->in, config,
        job->source, job->transform, job->caps, error);
  self->was_video = TRUE;
  if (result && config->clip.num_frames > 0 &&
      !spdl_decode_config_check_tensors (config, *job->caps, NULL)) {
    g_clear_error (error);
    spdl_decode_config_check_tensors (config, *job->caps, error);
    gst_clear_buffer (&result);
  }
  return result;
}

/* Returns the media type if the item is an image of several frames and a clip
 * is wanted, or NULL. */
static const gchar *
find_animation (const Job *job)
{
  return job->config->clip.num_frames > 0
             ? spdl_video_find_animation (job->in.data, job->in.size)
             : NULL;
}

/* Returns the media type if the item may be a video, or NULL. Image caps from
 * upstream take precedence: formats without a signature can look like video. */
static const gchar *
find_video (const Job *job)
{
  GstCaps *caps = job->source->caps;
  const gchar *animation = find_animation (job);

  if (animation)
    return animation;
  if (caps && gst_caps_is_fixed (caps) &&
      g_str_has_prefix (
          gst_structure_get_name (gst_caps_get_structure (caps, 0)), "image/"))
    return NULL;
  return spdl_video_find_type (job->in.data, job->in.size);
}

/* Checks that clips are not requested, which need a video. Returns FALSE with
 * @error set otherwise. */
static gboolean
check_image (const Job *job, const gchar *type, GError **error)
{
  if (job->config->clip.num_frames == 0)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is not a video%s%s, but num-frames is set, which needs videos",
      type ? " but " : "", type ? type : "");
  return FALSE;
}

static GstBuffer *
decode_audio (SpdlItemDecoder *self, const Job *job, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const SpdlSource *source = job->source;
  const guint64 key[] = { config->augment.seed, source->epoch, source->index };
  SpdlAudioConfig audio = config->audio;
  GstBuffer *result = spdl_audio_decode (self->audio, &audio, key,
      config->corrupt == SPDL_CORRUPT_KEEP, source->item, source->cancellable,
      job->caps, error);

  if (result && !GST_CLOCK_TIME_IS_VALID (config->audio.offset))
    self->audio_offset = audio.offset;
  return result;
}

static GstBuffer *
decode_image (SpdlItemDecoder *self, const Job *job, GError **error)
{
  const GstMapInfo *in = &job->in;
  const gchar *video;
  GError *reason = NULL;
  SpdlImageProbe probe;
  gint decoder;

  if (!spdl_decode_config_check_images (job->config, error))
    return NULL;
  decoder = find_decoder (in);
  if (decoder >= 0 && job->config->media == SPDL_MEDIA_AUTO &&
      (video = find_animation (job)))
    return decode_video (self, job, video, error);
  if (decoder >= 0)
    return check_image (job, image_decoders[decoder]->type, error)
               ? decode_by_library (self, job, decoder, error)
               : NULL;
  spdl_image_probe (&probe, in->data, in->size);
  if (!probe.type && job->config->media == SPDL_MEDIA_AUTO &&
      (video = find_video (job)))
    return decode_video (self, job, video, error);
  if (!check_image (job, probe.type, error))
    return NULL;
  if (!spdl_still_decoder_find_type (
          &probe, in->data, in->size, job->source->caps, &reason)) {
    if (job->config->media == SPDL_MEDIA_AUTO &&
        spdl_audio_search (self->audio, in->data, in->size)) {
      g_clear_error (&reason);
      return decode_audio (self, job, error);
    }
    g_propagate_error (error, reason);
    return NULL;
  }
  return decode_still (self, job, &probe, error);
}

/* Returns whether the item is decoded as audio. With num-frames, audio is not
 * decoded. */
static gboolean
is_sound (SpdlItemDecoder *self, const Job *job)
{
  const GstMapInfo *in = &job->in;
  const gboolean wanted = job->config->wants_audio;

  return job->config->clip.num_frames == 0 &&
         (spdl_audio_look (self->audio, in->data, in->size, !wanted) ||
             (wanted && spdl_audio_search (self->audio, in->data, in->size)));
}

static GstBuffer *
refuse_media (const gchar *is_not, const gchar *media, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is not %s, but media=%s is set", is_not, media);
  return NULL;
}

/* Decodes the item as the property `media` says, or by its type. JPEG is tested
 * first, as the most common type. */
static GstBuffer *
decode_any (SpdlItemDecoder *self, const Job *job, GError **error)
{
  const GstMapInfo *in = &job->in;
  const SpdlMedia media = job->config->media;
  const gchar *video;
  SpdlArraysKind kind;

  if (media == SPDL_MEDIA_AUDIO)
    return is_sound (self, job) ? decode_audio (self, job, error)
                                : refuse_media ("audio", "audio", error);
  if (media == SPDL_MEDIA_VIDEO)
    return (video = find_video (job))
               ? decode_video (self, job, video, error)
               : refuse_media ("a video", "video", error);
  if (spdl_jpeg_is_jpeg (in->data, in->size))
    return spdl_decode_config_check_images (job->config, error) &&
                   check_image (job, "image/jpeg", error)
               ? decode_jpeg (self, job, error)
               : NULL;
  if (media == SPDL_MEDIA_AUTO) {
    kind = spdl_arrays_look (in->data, in->size);
    if (kind != SPDL_ARRAYS_NONE)
      return decode_arrays (self, job, kind, error);
    if (is_sound (self, job))
      return decode_audio (self, job, error);
  }
  return decode_image (self, job, error);
}

GstBuffer *
spdl_item_decoder_decode (SpdlItemDecoder *self, const SpdlDecodeConfig *config,
    const SpdlSource *source, SpdlImageTransform *transform,
    GstCaps **result_caps, GError **error)
{
  Job job = { .config = config,
    .source = source,
    .transform = transform,
    .caps = result_caps };
  GstBuffer *result;

  transform->width = transform->height = 0;
  self->was_video = FALSE;
  self->audio_offset = GST_CLOCK_TIME_NONE;
  self->loss = SPDL_LOSS_NONE;
  if (!gst_buffer_map (source->item, &job.in, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map the item's memory");
    return NULL;
  }
  result = decode_any (self, &job, error);
  gst_buffer_unmap (source->item, &job.in);
  if (result)
    *result_caps =
        spdl_stream_caps_add (&self->stream_caps, *result_caps, source->caps);
  return result;
}

static gboolean
read_size (SpdlItemDecoder *self, const GstMapInfo *in, GstCaps *caps,
    guint64 max_pixels, SpdlImageHeader *header)
{
  const gint i = find_decoder (in);
  SpdlImageProbe probe;
  gboolean ok;

  if (spdl_jpeg_is_jpeg (in->data, in->size)) {
    header->orientation = spdl_exif_find_in_jpeg (in->data, in->size);
    return spdl_jpeg_read_header (
        self->jpeg, in->data, in->size, &header->width, &header->height, NULL);
  }
  if (i >= 0) {
    if (!self->decoders[i])
      self->decoders[i] = image_decoders[i]->create ();
    ok = image_decoders[i]->read_header (
        self->decoders[i], in->data, in->size, max_pixels, header, NULL);
    image_decoders[i]->close (self->decoders[i]);
    return ok;
  }
  spdl_image_probe (&probe, in->data, in->size);
  ok = spdl_still_decoder_find_type (&probe, in->data, in->size, caps, NULL);
  *header = (SpdlImageHeader){ .width = probe.width,
    .height = probe.height,
    .orientation = probe.orientation };
  return ok;
}

gboolean
spdl_item_decoder_read_size (SpdlItemDecoder *self, GstBuffer *item,
    GstCaps *caps, guint64 max_pixels, SpdlImageHeader *header)
{
  GstMapInfo in;
  gboolean ok;

  if (!gst_buffer_map (item, &in, GST_MAP_READ))
    return FALSE;
  ok = read_size (self, &in, caps, max_pixels, header) && header->width > 0 &&
       header->height > 0;
  gst_buffer_unmap (item, &in);
  return ok;
}

/* Sources of files set the offset of a buffer in bytes; elsewhere, it counts
 * frames or is unset. The blocks of a file have the same size, 4096 unless it
 * was set, except for the last one. This tells them from whole files whose
 * offsets continue, as multifilesrc sends them. */
gchar *
spdl_item_decoder_hint_at_piece (GstBuffer *item)
{
  const guint64 size = gst_buffer_get_size (item);
  const guint64 offset = GST_BUFFER_OFFSET (item);

  if (!GST_BUFFER_OFFSET_IS_VALID (item) || offset == 0 || size <= 1 ||
      GST_BUFFER_OFFSET_END (item) != offset + size ||
      (offset % 4096 != 0 && offset % size != 0))
    return NULL;
  return g_strdup_printf (
      "the buffer seems to be a piece of a file, from byte %" G_GUINT64_FORMAT
      " on, but spdldecode takes one whole file per buffer: use \"spdlsrc "
      "location=FILE ! spdlfetch\" instead of filesrc, set filesrc blocksize "
      "to at least the size of the file, or insert a parser such as jpegparse",
      offset);
}

GstClockTime
spdl_item_decoder_get_audio_offset (const SpdlItemDecoder *self)
{
  return self->audio_offset;
}

const GError *
spdl_item_decoder_get_left_out (const SpdlItemDecoder *self)
{
  return spdl_arrays_get_left_out (self->arrays);
}

SpdlLoss
spdl_item_decoder_get_loss (const SpdlItemDecoder *self)
{
  return self->loss;
}

const GArray *
spdl_item_decoder_get_times (const SpdlItemDecoder *self, guint *n_own)
{
  return self->was_video ? spdl_video_get_times (self->video, n_own) : NULL;
}
