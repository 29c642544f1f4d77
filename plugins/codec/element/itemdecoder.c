/* gst-spdl: decoder of one item, of any media type
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/element/itemdecoder.h"

#include <gst/base/gsttypefindhelper.h>

#include "plugins/codec/array/arrays.h"
#include "plugins/codec/audio/audio.h"
#include "plugins/codec/common/exif.h"
#include "plugins/codec/jpeg/jpeg.h"
#include "plugins/codec/resize/orientation.h"
#include "plugins/codec/result/fanout.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/codec/video/video.h"

/* AVIF precedes HEIF, whose brand its files have as well. */
static const SpdlImageDecoder *const image_decoders[] = { &spdl_png_decoder,
  &spdl_webp_decoder, &spdl_gif_decoder, &spdl_tiff_decoder, &spdl_jp2_decoder,
  &spdl_pnm_decoder, &spdl_avif_decoder, &spdl_heif_decoder, &spdl_jxl_decoder,
  &spdl_bmp_decoder, &spdl_sun_decoder, &spdl_exr_decoder, &spdl_pcx_decoder,
  &spdl_sgi_decoder, &spdl_tga_decoder };

/* Caps of images with `framerate` and `pixel-aspect-ratio` of the input. Most
 * items have equal caps, so the last result is kept. */
typedef struct {
  GstCaps *input;
  GstCaps *image;
  GstCaps *result;
} StreamCaps;

static const gchar *const stream_fields[] = { "framerate",
  "pixel-aspect-ratio" };

static void
stream_caps_clear (StreamCaps *self)
{
  gst_clear_caps (&self->input);
  gst_clear_caps (&self->image);
  gst_clear_caps (&self->result);
}

/* Resizing does not change the pixel aspect ratio: with resize=stretch, it is
 * that of the input as well.
 * @input: (nullable): caps of the item
 * Returns: (transfer none): @image itself if there is nothing to add */
static GstCaps *
stream_caps_add (StreamCaps *self, GstCaps *image, GstCaps *input)
{
  const GstStructure *from = NULL;

  if (input == self->input && image == self->image)
    return self->result;
  gst_caps_replace (&self->input, input);
  gst_caps_replace (&self->image, image);
  gst_caps_replace (&self->result, image);
  if (input && gst_caps_is_fixed (input) &&
      gst_structure_has_name (gst_caps_get_structure (image, 0), "video/x-raw"))
    from = gst_caps_get_structure (input, 0);
  for (guint i = 0; from && i < G_N_ELEMENTS (stream_fields); i++) {
    const GValue *value = gst_structure_get_value (from, stream_fields[i]);

    if (!value || !GST_VALUE_HOLDS_FRACTION (value))
      continue;
    self->result = gst_caps_make_writable (self->result);
    gst_caps_set_value (self->result, stream_fields[i], value);
  }
  return self->result;
}

struct _SpdlItemDecoder {
  SpdlJpeg *jpeg;
  gpointer decoders[G_N_ELEMENTS (image_decoders)]; /* NULL: not used yet */
  SpdlCanvas *canvas;
  SpdlFanout *fanout;
  SpdlArrays *arrays;
  SpdlVideo *video;
  SpdlAudio *audio;
  StreamCaps stream_caps[SPDL_MAX_VIEWS];

  SpdlItemNotes notes;
};

/* State of one decode call. */
typedef struct {
  const SpdlDecodeConfig *config;
  const SpdlSource *source;
  GstMapInfo in;
  SpdlView *views; /* one, unless there are views of an image */
  guint n_views;
} Job;

SpdlItemDecoder *
spdl_item_decoder_new (void)
{
  SpdlItemDecoder *self = g_new0 (SpdlItemDecoder, 1);

  self->jpeg = spdl_jpeg_new ();
  self->canvas = spdl_canvas_new ();
  self->fanout = spdl_fanout_new (self->canvas);
  self->arrays = spdl_arrays_new ();
  self->video = spdl_video_new (self->canvas);
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
  spdl_fanout_free (self->fanout);
  spdl_canvas_free (self->canvas);
  spdl_arrays_free (self->arrays);
  spdl_audio_free (self->audio);
  for (guint i = 0; i < SPDL_MAX_VIEWS; i++)
    stream_caps_clear (&self->stream_caps[i]);
  g_free (self);
}

static gboolean
set_transforms (const Job *job, guint width, guint height, guint orientation,
    GError **error)
{
  for (guint i = 0; i < job->n_views; i++)
    if (!spdl_image_transform_init (&job->views[i].transform,
            job->views[i].config, job->source, width, height, orientation,
            error))
      return FALSE;
  return TRUE;
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
      self->notes.loss = SPDL_LOSS_BITS;
    else if (has_palette && config->format == GST_VIDEO_FORMAT_GRAY8 &&
             config->interpolation == SPDL_INTERPOLATION_NEAREST)
      self->notes.loss = SPDL_LOSS_INDICES;
    return TRUE;
  }
  if (channels == 0)
    return TRUE; /* read_rows() tells why */
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

/* Returns the reduction at which the image is large enough for all views. */
static guint
get_reduction (const Job *job)
{
  guint by = 8;

  for (guint i = 0; i < job->n_views; i++)
    by =
        MIN (by, spdl_image_transform_get_reduction (&job->views[i].transform));
  return by;
}

/* Decodes a JPEG whose header was read onto the canvas, as planes if that is
 * cheaper.
 * @has_begun: (out): whether the canvas was begun, so that it must be ended or
 * cancelled */
static gboolean
draw_jpeg (SpdlItemDecoder *self, const Job *job, guint reduction,
    gboolean *has_begun, GError **error)
{
  const gboolean keep = job->config->corrupt == SPDL_CORRUPT_KEEP;
  SpdlSampling sampling;

  if (spdl_jpeg_get_sampling (self->jpeg, &sampling) &&
      spdl_fanout_takes_planes (
          job->views, job->n_views, reduction, &sampling)) {
    const SpdlPlanes *planes = spdl_fanout_begin_planes (
        self->fanout, job->views, job->n_views, reduction, &sampling, error);

    *has_begun = planes != NULL;
    return planes && spdl_jpeg_read_planes (self->jpeg, planes, keep, error);
  } else {
    const SpdlRows *rows = spdl_fanout_begin (
        self->fanout, job->views, job->n_views, reduction, error);

    *has_begun = rows != NULL;
    return rows && spdl_jpeg_read_rows (self->jpeg, rows, keep, error);
  }
}

/* Returns a tensor of the height and the width of an image whose header was
 * read, as the whole image would be decoded. */
static GstBuffer *
report_size (const Job *job, guint width, guint height, guint orientation,
    GError **error)
{
  static GstStaticCaps tensor = GST_STATIC_CAPS (
      "other/tensors, format=(string)static, num_tensors=(int)1, "
      "types=(string)int32, dimensions=(string)\"2\", "
      "framerate=(fraction)0/1");
  const gboolean turns = job->config->orientation == SPDL_EXIF_APPLY &&
                         spdl_orientation_swaps_sides (orientation);
  const gint32 size[] = { turns ? width : height, turns ? height : width };
  GstCaps *caps = gst_static_caps_get (&tensor);

  job->views->caps = caps;
  gst_caps_unref (caps); /* the static caps keep it */
  if (!spdl_decode_config_check_tensors (job->config, caps, error))
    return NULL;
  return gst_buffer_new_memdup (size, sizeof size);
}

static GstBuffer *
decode_jpeg (SpdlItemDecoder *self, const Job *job, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const GstMapInfo *in = &job->in;
  guint width, height, orientation, reduction = 1;
  gboolean has_begun;

  if (!spdl_jpeg_read_header (
          self->jpeg, in->data, in->size, &width, &height, error) ||
      !spdl_decode_config_check_decoded (config, width, height, error))
    return NULL;
  orientation = spdl_exif_find_in_jpeg (in->data, in->size);
  if (config->size_only)
    return report_size (job, width, height, orientation, error);
  if (!check_samples (self, job, "image/jpeg", 8, 3, FALSE, error) ||
      !set_transforms (job, width, height, orientation, error))
    return NULL;
  /* A reduced image has mixed pixels, which nearest must not. */
  if (config->fast_scale && config->interpolation != SPDL_INTERPOLATION_NEAREST)
    reduction = get_reduction (job);
  spdl_jpeg_set_reduction (self->jpeg, reduction);
  if (draw_jpeg (self, job, reduction, &has_begun, error) ||
      (has_begun && config->corrupt == SPDL_CORRUPT_KEEP))
    return spdl_fanout_end (self->fanout);
  if (has_begun)
    spdl_fanout_cancel (self->fanout);
  return NULL;
}

/* Other images */

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

  if (!set_transforms (
          job, header->width, header->height, header->orientation, error))
    return NULL;
  rows = spdl_fanout_begin (self->fanout, job->views, job->n_views, 1, error);
  if (!rows)
    return NULL;
  if (format->read_rows (decoder, rows, keep, &reason))
    return spdl_fanout_end (self->fanout);
  g_propagate_error (error, reason);
  if (keep &&
      g_error_matches (reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE))
    return spdl_fanout_end (self->fanout);
  spdl_fanout_cancel (self->fanout);
  return NULL;
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

static gpointer
get_decoder (SpdlItemDecoder *self, guint format)
{
  if (!self->decoders[format])
    self->decoders[format] = g_malloc0 (image_decoders[format]->size);
  return self->decoders[format];
}

static GstBuffer *
decode_image (SpdlItemDecoder *self, const Job *job, guint i, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  const SpdlImageDecoder *format = image_decoders[i];
  gpointer decoder = get_decoder (self, i);
  GstBuffer *result = NULL;
  SpdlImageHeader header;

  if (format->read_header (decoder, job->in.data, job->in.size,
          config->max_pixels, &header, error) &&
      check_header (format, &header, error) &&
      spdl_decode_config_check_decoded (
          config, header.width, header.height, error)) {
    if (config->size_only)
      result = report_size (
          job, header.width, header.height, header.orientation, error);
    else if (check_samples (self, job, format->type, header.depth,
                 header.channels, header.has_palette, error))
      result = draw_image (self, job, format, decoder, &header, error);
  }
  format->close (decoder);
  return result;
}

/* Other media */

static GstBuffer *
decode_arrays (
    SpdlItemDecoder *self, const Job *job, SpdlArraysKind kind, GError **error)
{
  const SpdlDecodeConfig *config = job->config;
  GstBuffer *result =
      spdl_arrays_decode (self->arrays, kind, &job->in, config->members,
          config->max_decompressed_bytes, &job->views->caps, error);

  self->notes.left_out = spdl_arrays_get_left_out (self->arrays);
  if (result &&
      !spdl_decode_config_check_tensors (config, job->views->caps, error))
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
        job->source, &job->views->transform, &job->views->caps, error);
  self->notes.times = spdl_video_get_times (self->video, &self->notes.n_own);
  if (result && config->clip.num_frames > 0 &&
      !spdl_decode_config_check_tensors (config, job->views->caps, NULL)) {
    g_clear_error (error);
    spdl_decode_config_check_tensors (config, job->views->caps, error);
    gst_clear_buffer (&result);
  }
  return result;
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
      &job->views->caps, error);

  if (result && !GST_CLOCK_TIME_IS_VALID (config->audio.offset))
    self->notes.audio_offset = audio.offset;
  return result;
}

/* Detection */

typedef enum {
  KIND_UNKNOWN,
  KIND_JPEG,
  KIND_IMAGE,
  KIND_VIDEO,
  KIND_AUDIO,
  KIND_ARRAYS,
} Kind;

/* The result of a detection. */
typedef struct {
  const gchar *type;     /* media type of an image or a video */
  guint format;          /* index of an image's decoder */
  SpdlArraysKind arrays; /* of arrays */
} Probe;

/* Returns the media type of the caps from upstream, if they are fixed. */
static const gchar *
get_caps_type (GstCaps *caps)
{
  return caps && gst_caps_is_fixed (caps)
             ? gst_structure_get_name (gst_caps_get_structure (caps, 0))
             : NULL;
}

/* Detects an image, other than JPEG, by its signature. */
static gboolean
find_format (const GstMapInfo *in, Probe *probe)
{
  for (guint i = 0; i < G_N_ELEMENTS (image_decoders); i++)
    if (image_decoders[i]->accepts &&
        image_decoders[i]->accepts (in->data, in->size)) {
      *probe = (Probe){ image_decoders[i]->type, i };
      return TRUE;
    }
  return FALSE;
}

/* Detects an image whose format has no signature. */
static gboolean
find_format_in_caps (GstCaps *caps, Probe *probe)
{
  const gchar *type = get_caps_type (caps);

  for (guint i = 0; type && i < G_N_ELEMENTS (image_decoders); i++)
    if (!image_decoders[i]->accepts &&
        g_str_equal (image_decoders[i]->type, type)) {
      *probe = (Probe){ image_decoders[i]->type, i };
      return TRUE;
    }
  return FALSE;
}

/* Detects an image of several frames if a clip is wanted. */
static gboolean
find_animation (const Job *job, Probe *probe)
{
  const gchar *type =
      job->config->clip.num_frames > 0
          ? spdl_video_find_animation (job->in.data, job->in.size)
          : NULL;

  if (type)
    probe->type = type;
  return type != NULL;
}

/* Image caps from upstream take precedence: formats without a signature can
 * look like video. */
static gboolean
find_video (const Job *job, Probe *probe)
{
  const gchar *caps_type = get_caps_type (job->source->caps);

  if (find_animation (job, probe))
    return TRUE;
  if (!caps_type || !g_str_has_prefix (caps_type, "image/"))
    probe->type = spdl_video_find_type (job->in.data, job->in.size);
  return probe->type != NULL;
}

/* With num-frames, audio is not decoded. */
static gboolean
is_sound (SpdlItemDecoder *self, const Job *job)
{
  const GstMapInfo *in = &job->in;
  const gboolean wanted = job->config->wants_audio;

  return job->config->clip.num_frames == 0 &&
         (spdl_audio_look (self->audio, in->data, in->size, !wanted) ||
             (wanted && spdl_audio_search (self->audio, in->data, in->size)));
}

/* Detects what the item is, of the media that the property `media` permits.
 * JPEG is tested first, as the most common type. */
static Kind
probe_item (SpdlItemDecoder *self, const Job *job, Probe *probe)
{
  const SpdlMedia media = job->config->media;
  const gboolean is_auto = media == SPDL_MEDIA_AUTO;
  const GstMapInfo *in = &job->in;

  *probe = (Probe){ NULL };
  if (media == SPDL_MEDIA_AUDIO)
    return is_sound (self, job) ? KIND_AUDIO : KIND_UNKNOWN;
  if (media == SPDL_MEDIA_VIDEO)
    return find_video (job, probe) ? KIND_VIDEO : KIND_UNKNOWN;
  if (spdl_jpeg_is_jpeg (in->data, in->size))
    return KIND_JPEG;
  if (is_auto && (probe->arrays = spdl_arrays_look (in->data, in->size)))
    return KIND_ARRAYS;
  if (is_auto && is_sound (self, job))
    return KIND_AUDIO;
  if (find_format (in, probe))
    return is_auto && find_animation (job, probe) ? KIND_VIDEO : KIND_IMAGE;
  if (is_auto && find_video (job, probe))
    return KIND_VIDEO;
  if (find_format_in_caps (job->source->caps, probe))
    return KIND_IMAGE;
  return is_auto && job->config->clip.num_frames == 0 &&
                 spdl_audio_search (self->audio, in->data, in->size)
             ? KIND_AUDIO
             : KIND_UNKNOWN;
}

/* Checks that downstream accepts images, and that no clip is requested, which
 * needs a video.
 * @type: (nullable): what the item is instead */
static gboolean
check_image (const Job *job, const gchar *type, GError **error)
{
  if (job->config->size_only)
    return TRUE;
  if (!spdl_decode_config_check_images (job->config, error))
    return FALSE;
  if (job->config->clip.num_frames == 0)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is not a video%s%s, but num-frames is set, which needs videos",
      type ? " but " : "", type ? type : "");
  return FALSE;
}

static GstBuffer *
refuse_media (const gchar *is_not, const gchar *media, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is not %s, but media=%s is set", is_not, media);
  return NULL;
}

static GstBuffer *
refuse_unknown (const GstMapInfo *in, GError **error)
{
  g_autoptr (GstCaps) caps = NULL;
  const gchar *type;

  if (in->size == 0) {
    g_set_error (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "Item is empty");
    return NULL;
  }
  caps = gst_type_find_helper_for_data (NULL, in->data, in->size, NULL);
  type = get_caps_type (caps);
  if (!type)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "File is not an image of a known format: its first byte is 0x%02x, of "
        "%" G_GSIZE_FORMAT,
        in->data[0], in->size);
  else if (g_str_has_prefix (type, "image/") &&
           !g_str_has_prefix (type, "image/svg"))
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "File is %s, which cannot be decoded", type);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "File is %s, not a still image; exclude such files with the pattern of "
        "spdlsrc",
        type);
  return NULL;
}

/* Reports that the item is not what the properties request. */
static GstBuffer *
refuse_item (const Job *job, GError **error)
{
  if (job->config->media == SPDL_MEDIA_AUDIO)
    return refuse_media ("audio", "audio", error);
  if (job->config->media == SPDL_MEDIA_VIDEO)
    return refuse_media ("a video", "video", error);
  return check_image (job, NULL, error) ? refuse_unknown (&job->in, error)
                                        : NULL;
}

/* Returns whether the properties that need images permit an item of @kind. */
static gboolean
check_kind (const Job *job, Kind kind, GError **error)
{
  const gchar *is = kind == KIND_VIDEO    ? "a video"
                    : kind == KIND_AUDIO  ? "audio"
                    : kind == KIND_ARRAYS ? "arrays"
                                          : NULL;

  if ((job->config->n_views == 0 && !job->config->size_only) || !is)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "File is %s, but %s is set, which needs still images", is,
      job->config->size_only ? "size-only" : "views");
  return FALSE;
}

static GstBuffer *
decode_any (SpdlItemDecoder *self, const Job *job, GError **error)
{
  Probe probe;
  const Kind kind = probe_item (self, job, &probe);

  if (!check_kind (job, kind, error))
    return NULL;
  switch (kind) {
    case KIND_JPEG:
      return check_image (job, "image/jpeg", error)
                 ? decode_jpeg (self, job, error)
                 : NULL;
    case KIND_IMAGE:
      return check_image (job, probe.type, error)
                 ? decode_image (self, job, probe.format, error)
                 : NULL;
    case KIND_VIDEO:
      return job->config->media == SPDL_MEDIA_VIDEO ||
                     spdl_decode_config_check_images (job->config, error)
                 ? decode_video (self, job, probe.type, error)
                 : NULL;
    case KIND_AUDIO:
      return decode_audio (self, job, error);
    case KIND_ARRAYS:
      return decode_arrays (self, job, probe.arrays, error);
    default:
      return refuse_item (job, error);
  }
}

gboolean
spdl_item_decoder_decode (SpdlItemDecoder *self, const SpdlDecodeConfig *config,
    const SpdlSource *source, SpdlView *views, GError **error)
{
  Job job = { .config = config,
    .source = source,
    .views = views,
    .n_views = MAX (config->n_views, 1) };

  for (guint i = 0; i < job.n_views; i++) {
    views[i].config = config->n_views > 0 ? config->views[i] : config;
    views[i].buffer = NULL;
  }
  views->transform.width = views->transform.height = 0;
  self->notes = (SpdlItemNotes){ .audio_offset = GST_CLOCK_TIME_NONE };
  if (!gst_buffer_map (source->item, &job.in, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map the item's memory");
    return FALSE;
  }
  views->buffer = decode_any (self, &job, error);
  gst_buffer_unmap (source->item, &job.in);
  for (guint i = 0; views->buffer && i < job.n_views; i++)
    views[i].caps =
        stream_caps_add (&self->stream_caps[i], views[i].caps, source->caps);
  return views->buffer != NULL;
}

static gboolean
read_size (SpdlItemDecoder *self, const GstMapInfo *in, GstCaps *caps,
    guint64 max_pixels, SpdlImageHeader *header)
{
  const SpdlImageDecoder *format;
  gpointer decoder;
  Probe probe;
  gboolean ok;

  if (spdl_jpeg_is_jpeg (in->data, in->size)) {
    header->orientation = spdl_exif_find_in_jpeg (in->data, in->size);
    return spdl_jpeg_read_header (
        self->jpeg, in->data, in->size, &header->width, &header->height, NULL);
  }
  if (!find_format (in, &probe) && !find_format_in_caps (caps, &probe))
    return FALSE;
  format = image_decoders[probe.format];
  decoder = get_decoder (self, probe.format);
  ok = format->read_header (
      decoder, in->data, in->size, max_pixels, header, NULL);
  format->close (decoder);
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

const SpdlItemNotes *
spdl_item_decoder_get_notes (const SpdlItemDecoder *self)
{
  return &self->notes;
}
