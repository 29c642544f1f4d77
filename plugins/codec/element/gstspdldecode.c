/* gst-spdl: element spdldecode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdldecode
 * @title: spdldecode
 * @short_description: decodes images, videos and audio; reads arrays
 *
 * Decodes one encoded item per buffer, `concurrency` items at a time. The
 * element detects the format from the bytes of the item, not from its name.
 *
 * ## Images
 * JPEG is decoded by libjpeg-turbo with its accurate transform, PNG by libpng,
 * WebP by libwebp, TIFF by libtiff, GIF by giflib and JPEG 2000 by OpenJPEG.
 * PNM is read directly, OpenEXR decoded by openexrdec, and BMP and other rare
 * images by FFmpeg's libraries.
 * From an animation, the first frame is decoded.
 *
 * The element turns an image by its EXIF orientation, unless
 * `orientation=ignore` is set. It blends transparent pixels over `background`,
 * and resizes the result to `width` by
 * `height` pixels as set by `resize` and `interpolation`. Resizing is
 * antialiased, as in Pillow and torchvision. `width` and `height` refer to the
 * upright image. `resize=cover` with `crop-fraction=0.875` is torchvision's
 * Resize(256) and CenterCrop(224) for a size of 224.
 *
 * `format=index` delivers palette indices, and `format=GRAY16` gray of 16 bits,
 * as they are stored. A warning says once that values are lost in another
 * format.
 *
 * `augment` and `flip` crop a random part of the image and mirror it. The
 * random values depend only on `seed`, the item's epoch and its index, and are
 * recorded in the `extra` field of the item's meta. Only the needed part of a
 * JPEG is decoded. With `fast-scale`, a JPEG is decoded at a half, a quarter or
 * an eighth of its size if that is large enough. The result differs by less
 * than a level on average in photographs, but by up to 63, and more at drawn
 * edges.
 *
 * A size or format that is not set follows the caps of the downstream element.
 * Without such caps, or with `resize=none`, an image keeps its size. A property
 * that contradicts the downstream caps ends the stream with an error that names
 * the property. A file that is not an image, is truncated or lacks pixel data
 * fails and is reported by name. With `on-corrupt=keep`, the part that could be
 * decoded is delivered.
 *
 * ## Videos
 * With `num-frames`, that many frames of a video become a clip, which is a
 * tensor. `clip-sampling` selects the frames: the first ones, the middle, a
 * random window, equal distances, or the times in the field `clip-times` of the
 * item's `extra`. Only the frames that are needed are decoded. Without
 * `num-frames`, one frame becomes an image. The times of the frames are
 * recorded in the field `frame-times`. The plugin spdlffmpeg decodes videos,
 * and GIF and PNG with several frames, with FFmpeg's libraries.
 *
 * ## Audio
 * An audio file (WAV, FLAC, MP3, AAC, Opus, Vorbis, ALAC and others) becomes
 * one buffer of raw audio. The plugin spdlffmpeg decodes it as well. `offset`
 * and `duration` select a window, in ns, exact to the sample; `offset=-1` draws
 * a random one, recorded in the field `audio-offset`. `rate`,
 * `channels` and `audio-format` follow the downstream caps if they are not set,
 * and the file if the caps leave the choice open. Padding samples of the
 * encoder at both ends are removed. From an MP4 with video and audio, the audio
 * is decoded if downstream does not accept images. With `num-frames`, an audio
 * file fails.
 *
 * ## Arrays
 * NPY, NPZ and safetensors files become `other/tensors`, with one memory per
 * array. Arrays have names, except that of an NPY file. Data in the byte order
 * of the machine and at an aligned address is not copied. Image properties do
 * not apply to arrays, so one element can decode both. `max-decompressed-bytes`
 * limits a compressed NPZ. `members` names the arrays to read. Without it,
 * members that cannot be tensors are left out with a warning.
 *
 * ## Samples of several media
 * For a sample of several media (`spdlfetch parts=...`), `part` names the part
 * to decode; the other parts pass unchanged. Elements with the same `seed`
 * turn, crop and flip all images of a sample like its main image, the part
 * `data`, whatever their sizes are. An image that cannot be aligned with it
 * fails the item; another `seed` leaves it alone. To keep class numbers in a
 * mask, set `format=index`, or `format=GRAY8 interpolation=nearest` if all
 * masks are gray.
 *
 * ## Views
 * With `views=2`, an image is decoded once and drawn twice, each time with
 * another random crop and flip, as self-supervised training needs it. The
 * result is a sample with the parts `data`, `view1`, and so on. Groups have
 * sizes and ranges of the crop's area: `2(size=224,scale=0.4..1);
 * 8(size=96,scale=0.05..0.4)`. Boxes and keypoints move with `data`.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=photos pattern="*.@(jpg|png|webp|tif)"
 *     ! spdlfetch concurrency=4 ! spdldecode concurrency=2 width=224 height=224
 *     ! spdlbatch batch-size=32 ! fakesink
 * ]|
 *
 * Clips of 8 frames at equal distances:
 * |[
 * gst-launch-1.0 spdlsrc location=videos ! spdlfetch
 *     ! spdldecode concurrency=2 num-frames=8 clip-sampling=uniform
 *     width=112 height=112 ! spdlbatch batch-size=2 ! fakesink
 * ]|
 *
 * The usual augmentation for training on ImageNet:
 * |[
 * gst-launch-1.0 spdlsrc location=photos label=folder shuffle=true
 *     ! spdlfetch concurrency=4 ! spdldecode concurrency=2 width=224 height=224
 *     augment=random-resized-crop flip=0.5 ! spdlbatch batch-size=32 ! fakesink
 * ]|
 *
 * Images and masks from a list with a column `mask`:
 * |[
 * gst-launch-1.0 spdlsrc location=pairs.csv ! spdlfetch parts=mask
 *     ! spdldecode part=data width=224 height=224 augment=random-resized-crop
 *     ! spdldecode part=mask width=224 height=224 augment=random-resized-crop
 *     format=index ! spdlbatch batch-size=8 ! fakesink
 * ]|
 *
 * One second of each audio file at 16 kHz:
 * |[
 * gst-launch-1.0 spdlsrc location=sounds pattern="*.@(wav|flac|mp3|opus)"
 *     ! spdlfetch concurrency=4 ! spdldecode concurrency=2 rate=16000
 *     channels=1 duration=1000000000
 *     ! spdlbatch batch-size=32 pad-to-longest=true ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>
#include <gst/video/video.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/stage/failure.h"
#include "plugins/codec/codec.h"
#include "plugins/codec/element/decodedparts.h"
#include "plugins/codec/element/itemdecoder.h"
#include "plugins/codec/element/itemshapes.h"
#include "plugins/codec/element/mainimage.h"
#include "plugins/codec/jpeg/entropycheck.h"
#include "plugins/codec/result/decodeconfig.h"
#include "plugins/common/viewseed.h"

GST_DEBUG_CATEGORY (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        /* Bytes are listed first, because the element detects their format. */
        GST_STATIC_CAPS (
            "application/octet-stream; image/jpeg; image/png; image/webp; "
            "image/gif; image/bmp; image/tiff; image/avif; image/heif; "
            "image/heic; image/jxl; image/jp2; image/x-jpc; "
            "image/x-j2c; image/x-portable-bitmap; image/x-portable-graymap; "
            "image/x-portable-pixmap; image/x-portable-anymap; "
            "image/x-sun-raster; image/x-pcx; image/x-tga; image/x-sgi; "
            "video/quicktime; video/x-matroska; video/webm; video/x-msvideo; "
            "audio/x-wav; audio/x-rf64; audio/x-flac; audio/mpeg; "
            "application/ogg; audio/ogg; audio/x-m4a; "
            "audio/x-aiff; audio/x-caf; audio/x-au; audio/x-wavpack; "
            "audio/x-ac3; audio/x-eac3; audio/x-amr-nb-sh; "
            "audio/x-amr-wb-sh; video/x-ms-asf; audio/x-matroska; "
            "audio/webm; "
            "application/x-id3; " GST_SPDL_SAMPLE_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (
            SPDL_DECODE_CONFIG_FORMATS) "; " SPDL_AUDIO_CAPS
                                        "; " GST_SPDL_TENSORS_CAPS
                                        "; " GST_SPDL_SAMPLE_CAPS));

#define GST_TYPE_SPDL_DECODE (gst_spdl_decode_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlDecode, gst_spdl_decode, GST, SPDL_DECODE, GstSpdlStage)

struct _GstSpdlDecode {
  GstSpdlStage parent;

  /* Protected by the object lock. */
  SpdlDecodeSettings settings; /* properties */
  SpdlDecodeConfig *config;

  guint warnings; /* atomic: those that were posted */
};

/* Each is posted once. */
typedef enum {
  WARNING_GUESS = 1 << 0,
  WARNING_WHOLE = 1 << 1,
  WARNING_LEFT_OUT = 1 << 2,
  WARNING_BITS = 1 << 3,
  WARNING_INDICES = 1 << 4,
  WARNING_PIECES = 1 << 5,
} Warnings;

G_DEFINE_FINAL_TYPE (GstSpdlDecode, gst_spdl_decode, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdldecode, "spdldecode", GST_RANK_NONE, GST_TYPE_SPDL_DECODE)

/* Negotiation */

static SpdlDecodeConfig *
get_config (GstSpdlDecode *self)
{
  SpdlDecodeConfig *config;

  GST_OBJECT_LOCK (self);
  config = self->config;
  g_atomic_int_inc (&config->n_refs);
  GST_OBJECT_UNLOCK (self);
  return config;
}

static void
set_config (GstSpdlDecode *self, SpdlDecodeConfig *config)
{
  SpdlDecodeConfig *old;

  GST_OBJECT_LOCK (self);
  old = self->config;
  self->config = config;
  GST_OBJECT_UNLOCK (self);
  if (old)
    spdl_decode_config_unref (old);
}

static gboolean
gst_spdl_decode_negotiate (GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  GstSpdlDecode *self = GST_SPDL_DECODE (stage);
  GstPad *srcpad = gst_spdl_stage_get_src_pad (stage);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (srcpad);
  g_autoptr (GstCaps) allowed = NULL;
  g_autofree gchar *format = NULL;
  g_autofree gchar *audio_format = NULL;
  SpdlDecodeSettings settings;
  SpdlDecodeConfig *config;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  settings.format = format = g_strdup (self->settings.format);
  settings.audio.format = audio_format = g_strdup (self->settings.audio.format);
  GST_OBJECT_UNLOCK (self);
  if (!spdl_part_check_caps (
          settings.part, settings.views != NULL, caps, srcpad, error))
    return FALSE;
  /* Downstream negotiates the sample, not the caps of its parts. */
  allowed = settings.part || settings.views
                ? gst_caps_ref (template)
                : gst_pad_peer_query_caps (srcpad, template);
  if (!(config = spdl_decode_config_new (&settings, allowed, error)))
    return FALSE;
  GST_DEBUG_OBJECT (self, "%u by %u, %s", config->width, config->height,
      config->format == GST_VIDEO_FORMAT_UNKNOWN
          ? "no images"
          : gst_video_format_to_string (config->format));
  set_config (self, config);
  return TRUE;
}

/* Workers */

static gboolean
gst_spdl_decode_start (GstSpdlStage *stage, GError **error)
{
  const SpdlEntropyChoice *choice = spdl_entropy_choose ();

  GST_SPDL_DECODE (stage)->warnings = 0;
  if (choice->failed)
    GST_WARNING_OBJECT (stage,
        "JPEGs are decoded with libjpeg's entropy decoder, which is slower, "
        "because the self-test of gst-spdl's decoder failed: %s. Please report "
        "this with the version of libjpeg-turbo",
        choice->reason);
  else if (choice->reason)
    GST_INFO_OBJECT (
        stage, "JPEG entropy decoder: libjpeg's: %s", choice->reason);
  else
    GST_INFO_OBJECT (stage, "JPEG entropy decoder: gst-spdl's");
  return TRUE;
}

static gpointer
gst_spdl_decode_open_worker (GstSpdlStage *stage, GError **error)
{
  return spdl_item_decoder_new ();
}

static void
gst_spdl_decode_close_worker (GstSpdlStage *stage, gpointer worker)
{
  spdl_item_decoder_free (worker);
}

/* Records the random crop and flip. */
static void
note_augment (GstStructure *notes, const SpdlImageTransform *transform)
{
  gst_structure_set (notes, "crop-x", G_TYPE_UINT, transform->box.x, "crop-y",
      G_TYPE_UINT, transform->box.y, "crop-width", G_TYPE_UINT,
      transform->box.width, "crop-height", G_TYPE_UINT, transform->box.height,
      "flip", G_TYPE_BOOLEAN, transform->flip, NULL);
}

/* Records the presentation times of the frames, and how many of them are not
 * padding. */
static void
note_times (GstStructure *notes, const GArray *times, guint n_own)
{
  GValue array = G_VALUE_INIT;

  gst_value_array_init (&array, times->len);
  for (guint i = 0; i < times->len; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_UINT64);
    g_value_set_uint64 (&value, g_array_index (times, GstClockTime, i));
    gst_value_array_append_and_take_value (&array, &value);
  }
  gst_structure_take_value (notes, "frame-times", &array);
  gst_structure_set (notes, "num-frames", G_TYPE_UINT, n_own, NULL);
}

typedef struct {
  GstStructure *extra;
  const gchar *part; /* nullable: prefix of the field names */
} Notes;

static gboolean
add_note (GQuark field, const GValue *value, gpointer user_data)
{
  const Notes *notes = user_data;
  g_autofree gchar *name = NULL;

  if (notes->part)
    name = g_strdup_printf ("%s.%s", notes->part, g_quark_to_string (field));
  gst_structure_set_value (
      notes->extra, name ? name : g_quark_to_string (field), value);
  return TRUE;
}

/* Adds @fields, if any, to the extra fields of @result's item meta. */
static void
add_notes (GstBuffer *result, const GstSpdlItemMeta *item, const gchar *part,
    const GstStructure *fields)
{
  Notes notes = { NULL, part };
  GstSpdlItemMeta *own = gst_spdl_buffer_get_item_meta (result);

  if (gst_structure_n_fields (fields) == 0)
    return;
  if (!own) {
    own = gst_spdl_buffer_add_item_meta (result);
    gst_spdl_item_meta_assign (own, item);
  }
  if (!own->extra)
    own->extra = gst_structure_new_empty ("extra");
  notes.extra = own->extra;
  gst_structure_foreach (fields, add_note, &notes);
}

/* Records how the image was decoded to one of several views. */
static void
note_view (const SpdlView *view, guint number, GstBuffer *result,
    const GstSpdlItemMeta *item)
{
  g_autoptr (GstStructure) fields = gst_structure_new_empty ("notes");

  spdl_main_image_note (fields, view->config, &view->transform);
  if (spdl_augment_is_on (&view->config->augment))
    note_augment (fields, &view->transform);
  gst_structure_set (fields, SPDL_VIEW_FIELD, G_TYPE_UINT, number, NULL);
  add_notes (result, item, spdl_view_get_name (number), fields);
}

/* Records how the result was made. */
static void
note_item (const SpdlItemNotes *notes, const SpdlDecodeConfig *config,
    GstBuffer *result, const GstSpdlItemMeta *item, const SpdlView *views)
{
  const SpdlImageTransform *transform = &views->transform;
  g_autoptr (GstStructure) fields = gst_structure_new_empty ("notes");

  if (config->n_views > 0) {
    for (guint i = 0; i < config->n_views; i++)
      note_view (&views[i], i, result, item);
    return;
  }
  if (transform->width > 0 && config->part)
    spdl_main_image_note (fields, config, transform);
  if (transform->width > 0 && spdl_augment_is_on (&config->augment))
    note_augment (fields, transform);
  if (notes->times)
    note_times (fields, notes->times, notes->n_own);
  if (GST_CLOCK_TIME_IS_VALID (notes->audio_offset))
    gst_structure_set (
        fields, "audio-offset", G_TYPE_UINT64, notes->audio_offset, NULL);
  add_notes (result, item, config->part, fields);
}

/* Posts the warning @which with the first item that it concerns. */
static void
warn_once (
    GstSpdlStage *stage, Warnings which, const gchar *uri, const gchar *text)
{
  g_autofree gchar *name = NULL, *whole = NULL;

  if (g_atomic_int_or (&GST_SPDL_DECODE (stage)->warnings, which) & which)
    return;
  name = spdl_show_line (uri ? uri : "item");
  whole = g_strdup_printf ("%s: %s", name, text);
  gst_spdl_post_warning (
      GST_ELEMENT (stage), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, whole);
}

/* Warns of parts that may not be aligned. */
static void
warn_of_parts (GstSpdlStage *stage, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, gboolean is_whole, const gchar *uri)
{
  g_autofree gchar *text = NULL;

  if (transform->is_guess) {
    text = g_strdup_printf (
        "part \"%s\" has no EXIF orientation and could be upright already; it "
        "is turned like the main part (orientation %u). If this is wrong, set "
        "orientation=ignore for the part",
        config->part, transform->turned);
    warn_once (stage, WARNING_GUESS, uri, text);
  } else if (is_whole) {
    text = g_strdup_printf (
        "part \"%s\" and another part of its size have the same seed, but "
        "only one of them is cropped or flipped at random: set augment and "
        "flip for both, or set another seed for one part",
        config->part);
    warn_once (stage, WARNING_WHOLE, uri, text);
  }
}

static void
warn_of_loss (GstSpdlStage *stage, SpdlLoss loss, const gchar *uri)
{
  if (loss == SPDL_LOSS_BITS)
    warn_once (stage, WARNING_BITS, uri,
        "samples have more than 8 bits, of which 8 are kept: for gray, set "
        "format=GRAY16 to keep the values, as depth and instance numbers need");
  else if (loss == SPDL_LOSS_INDICES)
    warn_once (stage, WARNING_INDICES, uri,
        "colors of a palette became luminances: set format=index to keep the "
        "palette indices, such as the class numbers of a mask");
}

/* Decodes one part of the sample. The other parts and the sample's caps stay
 * unchanged. */
static GstBuffer *
decode_part (GstSpdlStage *stage, SpdlItemDecoder *item_decoder,
    const SpdlDecodeConfig *config, SpdlSource *source, SpdlView *views,
    const gchar *uri, GError **error)
{
  const SpdlImageTransform *transform = &views->transform;
  GstBuffer *sample = source->item;
  gboolean is_whole = FALSE, ok;
  SpdlMainImage main_image;
  GError *reason = NULL;
  g_autoptr (GstBuffer) part =
      spdl_part_take (sample, config->part, &source->caps, error);

  if (!part)
    return NULL;
  if (spdl_main_image_find (
          &main_image, item_decoder, config, sample, source->extra))
    source->main_image = &main_image;
  source->item = part;
  ok = spdl_item_decoder_decode (item_decoder, config, source, views, error);
  if (ok && transform->width > 0 &&
      !spdl_main_image_check (source->main_image, config, transform, sample,
          source->extra, &is_whole, &reason)) {
    ok = FALSE;
    spdl_part_drop_views (views, MAX (config->n_views, 1));
    g_clear_error (error);
    g_propagate_error (error, reason);
  }
  if (*error)
    g_prefix_error (error, "Part \"%s\": ", config->part);
  if (ok && transform->width > 0)
    warn_of_parts (stage, config, transform, is_whole, uri);
  if (!ok)
    return NULL;
  return config->n_views > 0
             ? spdl_part_put_views (sample, views, config->n_views, error)
             : spdl_part_put (
                   sample, config->part, views->buffer, views->caps, error);
}

/* Decodes a whole item. */
static GstBuffer *
decode_item (SpdlItemDecoder *item_decoder, const SpdlDecodeConfig *config,
    const SpdlSource *source, SpdlView *views, GstCaps **caps, GError **error)
{
  static GstStaticCaps sample_caps = GST_STATIC_CAPS (GST_SPDL_SAMPLE_CAPS);

  if (!spdl_item_decoder_decode (item_decoder, config, source, views, error))
    return NULL;
  if (config->n_views == 0) {
    *caps = gst_caps_ref (views->caps);
    return views->buffer;
  }
  *caps = gst_static_caps_get (&sample_caps);
  return spdl_part_put_views (NULL, views, config->n_views, error);
}

/* Warns of the first array that is left out. */
static void
warn_left_out (GstSpdlStage *stage, const GError *why, const gchar *uri)
{
  g_autofree gchar *text = NULL;

  if (G_LIKELY (!why) ||
      (g_atomic_int_get (&GST_SPDL_DECODE (stage)->warnings) &
          WARNING_LEFT_OUT))
    return;
  text = g_strdup_printf ("a member is left out, here and in further items: "
                          "%s. Name the arrays to read in members",
      why->message);
  warn_once (stage, WARNING_LEFT_OUT, uri, text);
}

static void
warn_of_pieces (GstSpdlStage *stage, GstBuffer *item)
{
  g_autofree gchar *text = spdl_item_decoder_hint_at_piece (item);

  if (text)
    warn_once (stage, WARNING_PIECES, NULL, text);
}

static gboolean
gst_spdl_decode_process (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  SpdlDecodeConfig *config = get_config (GST_SPDL_DECODE (stage));
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);
  SpdlSource source = { gst_spdl_task_get_item (task),
    gst_spdl_task_get_caps (task), item ? item->epoch : 0,
    item ? item->index : 0, item ? item->extra : NULL,
    gst_spdl_task_get_cancellable (task), NULL };
  GError *reason = NULL, *wrong = NULL;
  g_autoptr (GstCaps) caps = NULL;
  SpdlView views[SPDL_MAX_VIEWS];
  GstBuffer *result =
      config->part
          ? decode_part (stage, worker, config, &source, views,
                item ? item->uri : NULL, &reason)
          : decode_item (worker, config, &source, views, &caps, &reason);

  if (result) {
    const SpdlItemNotes *notes = spdl_item_decoder_get_notes (worker);

    warn_of_loss (stage, notes->loss, item ? item->uri : NULL);
    warn_left_out (stage, notes->left_out, item ? item->uri : NULL);
    if (item)
      note_item (notes, config, result, item, views);
    if (item && !spdl_item_shapes_move (
                    result, item, config, &views->transform, &wrong)) {
      g_clear_error (&reason);
      reason = wrong;
      gst_clear_buffer (&result);
    }
  }
  spdl_decode_config_unref (config);
  if (!result) {
    if (!item || !item->uri)
      warn_of_pieces (stage, gst_spdl_task_get_item (task));
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (reason) {
    SPDL_WARNING_OBJECT (stage, "kept despite corruption: %s: %s",
        item && item->uri ? item->uri : "item", reason->message);
    g_error_free (reason);
  }
  gst_spdl_task_push (task, result, caps);
  return TRUE;
}

static void
gst_spdl_decode_stop (GstSpdlStage *stage)
{
  set_config (GST_SPDL_DECODE (stage), NULL);
}

/* Properties */

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeResize, resize,
    { SPDL_FIT_STRETCH, "Scale both sides independently", "stretch" },
    { SPDL_FIT_COVER,
        "Keep the aspect ratio, fill the area and crop to the center",
        "cover" },
    { SPDL_FIT_CONTAIN,
        "Keep the aspect ratio, fit inside the area and add background",
        "contain" },
    { SPDL_FIT_NONE, "Keep the image's own size", "none" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeInterpolation, interpolation,
    { SPDL_INTERPOLATION_NEAREST, "Nearest pixel", "nearest" },
    { SPDL_INTERPOLATION_BILINEAR, "Bilinear", "bilinear" },
    { SPDL_INTERPOLATION_BICUBIC, "Bicubic, a = -0.5", "bicubic" },
    { SPDL_INTERPOLATION_LANCZOS, "Lanczos, 3 lobes", "lanczos" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeOrientation, exif_use,
    { SPDL_EXIF_APPLY, "Turn the image upright by its EXIF orientation",
        "apply" },
    { SPDL_EXIF_IGNORE, "Keep the stored orientation", "ignore" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeMedia, media,
    { SPDL_MEDIA_AUTO,
        "All media. From a video, the sound if a property for audio is set or "
        "downstream accepts no images, otherwise the images",
        "auto" },
    { SPDL_MEDIA_IMAGE, "Still images only", "image" },
    { SPDL_MEDIA_VIDEO, "Frames of videos only", "video" },
    { SPDL_MEDIA_AUDIO, "Sound only, also that of a video", "audio" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeAugment, augment,
    { SPDL_AUGMENT_NONE, "The whole image", "none" },
    { SPDL_AUGMENT_RANDOM_RESIZED_CROP,
        "A crop of random size, aspect ratio and position",
        "random-resized-crop" },
    { SPDL_AUGMENT_RANDOM_CROP,
        "A crop of the result's size at a random position", "random-crop" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeOnCorrupt, corrupt,
    { SPDL_CORRUPT_FAIL, "Fail the item", "fail" },
    { SPDL_CORRUPT_KEEP, "Deliver the pixels that could be decoded", "keep" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeClipSampling, clip,
    { SPDL_CLIP_HEAD, "From the first frame", "head" },
    { SPDL_CLIP_CENTER, "From the center of the video", "center" },
    { SPDL_CLIP_RANDOM, "From a random frame", "random" },
    { SPDL_CLIP_UNIFORM, "Evenly spaced over the video", "uniform" },
    { SPDL_CLIP_TIMES, "Frames at the times in the item's clip-times",
        "times" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlDecodeShortClip, short_clip,
    { SPDL_CLIP_PAD_REPEAT, "Repeat the last frame", "repeat" },
    { SPDL_CLIP_PAD_FAIL, "Fail the item", "fail" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, width, PLAYING, "width", "Width",
      "Width of the result in pixels (0 = what downstream requests, else the "
      "decoded width)",
      0, G_MAXINT, 0),
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, height, PLAYING, "height", "Height",
      "Height of the result in pixels (0 = what downstream requests, else the "
      "decoded height)",
      0, G_MAXINT, 0),
  SPDL_PROPERTY_CHOICE (SpdlDecodeSettings, format, PLAYING, "format", "Format",
      "Pixel format of the result: RGB, BGR, GRAY8, GRAY16 (16-bit gray as "
      "stored) or index (palette indices as stored) (unset = what downstream "
      "requests, RGB if it accepts several)",
      SPDL_DECODE_CONFIG_PREFERRED_FORMAT),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, media, PLAYING, "media", "Media",
      "Media to decode; a file of other media fails", media_get_type,
      SPDL_MEDIA_AUTO),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, resize, PLAYING, "resize", "Resize",
      "How to resize an image to width and height", resize_get_type,
      SPDL_FIT_STRETCH),
  SPDL_PROPERTY_DOUBLE (SpdlDecodeSettings, crop_fraction, PLAYING,
      "crop-fraction", "Crop fraction",
      "Share of the resized sides that resize=cover keeps, in the center: with "
      "0.875, 224 of 256 pixels",
      0.1, 1.0, 1.0),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, interpolation, PLAYING,
      "interpolation", "Interpolation",
      "Filter for resizing; all but nearest are antialiased",
      interpolation_get_type, SPDL_INTERPOLATION_BILINEAR),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, orientation, PLAYING, "orientation",
      "Orientation", "Use of the EXIF orientation of an image",
      exif_use_get_type, SPDL_EXIF_APPLY),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, augment.kind, PLAYING, "augment",
      "Augment", "Part of an image to use", augment_get_type,
      SPDL_AUGMENT_NONE),
  SPDL_PROPERTY_RANGE (SpdlDecodeSettings, augment.scale, PLAYING, "crop-scale",
      "Crop scale",
      "Range of the share of an image's area that random-resized-crop selects "
      "(unset = <0.08,1.0>)",
      0.08, 1.0),
  SPDL_PROPERTY_RANGE (SpdlDecodeSettings, augment.ratio, PLAYING, "crop-ratio",
      "Crop ratio",
      "Range of the aspect ratio (width divided by height) of a "
      "random-resized-crop (unset = <0.75,1.3333>)",
      3.0 / 4.0, 4.0 / 3.0),
  SPDL_PROPERTY_DOUBLE (SpdlDecodeSettings, augment.flip, PLAYING, "flip",
      "Flip", "Probability of mirroring an image horizontally", 0.0, 1.0, 0.0),
  SPDL_PROPERTY_UINT64 (SpdlDecodeSettings, augment.seed, PLAYING, "seed",
      "Seed",
      "Seed of random crops, flips, clips and offsets, combined with an item's "
      "epoch and index",
      0, G_MAXUINT64, 0),
  SPDL_PROPERTY_BOOLEAN (SpdlDecodeSettings, fast_scale, PLAYING, "fast-scale",
      "Fast scale",
      "Decode a JPEG at 1/2, 1/4 or 1/8 of its size if that is at least the "
      "size of the result",
      TRUE),
  SPDL_PROPERTY_BOOLEAN (SpdlDecodeSettings, size_only, PLAYING, "size-only",
      "Size only",
      "Read only the header of an image: the result is an int32 tensor of its "
      "height and width, as it would be decoded without width and height",
      FALSE),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, corrupt, PLAYING, "on-corrupt",
      "On corrupt", "Action for an image with missing or invalid data",
      corrupt_get_type, SPDL_CORRUPT_FAIL),
  SPDL_PROPERTY_UINT64 (SpdlDecodeSettings, max_pixels, PLAYING, "max-pixels",
      "Maximum pixels",
      "Maximum pixels of an image or a result; a larger one fails before "
      "memory is allocated",
      1, G_MAXUINT64, 178956970),
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, background, PLAYING, "background",
      "Background",
      "Background color of transparent pixels, of missing rows and of the "
      "borders that resize=contain adds: 0xRRGGBB, or a number with "
      "format=GRAY16 and format=index",
      0, 0xffffff, 0),
  SPDL_PROPERTY_INTERNED (SpdlDecodeSettings, part, PLAYING, "part", "Part",
      "Part of samples of several media to decode; other parts pass unchanged "
      "(unset "
      "= an item is one medium)"),
  SPDL_PROPERTY_INTERNED (SpdlDecodeSettings, views, PLAYING, "views", "Views",
      "Views of each image, each with its own crop and flip, as the parts "
      "data, "
      "view1, ... of a sample: a number such as 2, or groups such as "
      "\"2(size=224,scale=0.4..1); 8(size=96,scale=0.05..0.4)\" (unset = an "
      "image is one picture)"),
  SPDL_PROPERTY_UINT64 (SpdlDecodeSettings, max_decompressed_bytes, PLAYING,
      "max-decompressed-bytes", "Maximum decompressed bytes",
      "Maximum bytes of an item's arrays after decompression; a larger item "
      "fails before memory is allocated",
      0, G_MAXUINT64, 512 << 20),
  SPDL_PROPERTY_INTERNED (SpdlDecodeSettings, members, PLAYING, "members",
      "Members",
      "Names of the arrays to read from NPZ and safetensors files, such as "
      "image,mask (unset = all that can be tensors)"),
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, clip.num_frames, PLAYING,
      "num-frames", "Number of frames",
      "Number of frames in a clip, which is a tensor (0 = one frame, as an "
      "image)",
      0, SPDL_CLIP_MAX_FRAMES, 0),
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, clip.frame_step, PLAYING,
      "frame-step", "Frame step",
      "Distance between the frames of a clip, in frames; ignored by uniform "
      "and times",
      1, G_MAXUINT16, 1),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, clip.kind, PLAYING, "clip-sampling",
      "Clip sampling", "How to choose the frames of a clip", clip_get_type,
      SPDL_CLIP_HEAD),
  SPDL_PROPERTY_ENUM (SpdlDecodeSettings, clip.pad, PLAYING, "short-clip",
      "Short clip",
      "Action for a video with fewer frames than num-frames requires",
      short_clip_get_type, SPDL_CLIP_PAD_REPEAT),
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, audio.rate, PLAYING, "rate", "Rate",
      "Sample rate of audio in Hz (0 = what downstream requests, else the "
      "file's)",
      0, G_MAXINT, 0),
  SPDL_PROPERTY_UINT (SpdlDecodeSettings, audio.channels, PLAYING, "channels",
      "Channels",
      "Number of audio channels (0 = what downstream requests, else the "
      "file's)",
      0, 64, 0),
  SPDL_PROPERTY_CHOICE (SpdlDecodeSettings, audio.format, PLAYING,
      "audio-format", "Audio format",
      "Sample format of audio: F32LE, S16LE, S32LE, F64LE or U8 (unset = what "
      "downstream requests, F32LE if it accepts several)",
      SPDL_AUDIO_PREFERRED_FORMAT),
  SPDL_PROPERTY_UINT64 (SpdlDecodeSettings, audio.offset, PLAYING, "offset",
      "Offset",
      "Start of the audio to decode, in nanoseconds (-1 = random, with the "
      "`duration` within the file)",
      0, G_MAXUINT64, 0),
  SPDL_PROPERTY_UINT64 (SpdlDecodeSettings, audio.duration, PLAYING, "duration",
      "Duration",
      "Maximum duration of the audio to decode, in nanoseconds (-1 = to the "
      "end)",
      0, G_MAXUINT64, GST_CLOCK_TIME_NONE),
  SPDL_PROPERTY_END
};

/* ID of the first property of the table. */
#define PROP_SETTINGS 1

static void
gst_spdl_decode_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlDecode *self = GST_SPDL_DECODE (object);

  gst_spdl_property_table_set (
      properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
  gst_pad_mark_reconfigure (gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self)));
}

static void
gst_spdl_decode_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlDecode *self = GST_SPDL_DECODE (object);

  gst_spdl_property_table_get (
      properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_decode_finalize (GObject *object)
{
  gst_spdl_property_table_clear (
      properties, &GST_SPDL_DECODE (object)->settings);
  G_OBJECT_CLASS (gst_spdl_decode_parent_class)->finalize (object);
}

static void
gst_spdl_decode_class_init (GstSpdlDecodeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_decode_debug, "spdldecode", 0, "Decoding");
  object_class->set_property = gst_spdl_decode_set_property;
  object_class->get_property = gst_spdl_decode_get_property;
  object_class->finalize = gst_spdl_decode_finalize;
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item decoder",
      "Codec/Decoder/Image/Video/Audio",
      "Decodes images, video and audio, and reads arrays, in parallel",
      "the gst-spdl developers");
  stage_class->start = gst_spdl_decode_start;
  stage_class->negotiate = gst_spdl_decode_negotiate;
  stage_class->open_worker = gst_spdl_decode_open_worker;
  stage_class->close_worker = gst_spdl_decode_close_worker;
  stage_class->process = gst_spdl_decode_process;
  stage_class->stop = gst_spdl_decode_stop;
}

static void
gst_spdl_decode_init (GstSpdlDecode *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
}
