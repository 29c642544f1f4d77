/* gst-spdl: spdldecode, the stage that decodes items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdldecode
 * @title: spdldecode
 * @short_description: decodes images and brings them to one size
 *
 * Takes encoded images, one a buffer, and yields raw images of `width` by
 * `height`, `concurrency` of them at a time. What they are is found out from
 * their bytes. JPEG is decoded by libjpeg-turbo, with its accurate transform;
 * all other stills (PNG, WebP, GIF, BMP, TIFF, PNM, JPEG 2000 and so on) by the
 * decoders that GStreamer has, gst-libav's among them, which each worker holds
 * open. Of an animation the first frame is taken.
 *
 * An image is turned upright as its EXIF orientation says, blended over
 * `background` where it is transparent, and stretched row by row with an
 * antialiased bilinear filter, as Pillow and torchvision do it. `width` and
 * `height` are those of the upright image.
 *
 * A size or a format that is not set follows downstream's caps; without either,
 * or with `resize=none`, an image keeps its size. One that contradicts
 * downstream's caps ends the stream with an error that names the property. A
 * file that is no image, is cut off, or lacks some of its pixels' data fails by
 * name; with `corrupt=keep` what could be decoded is delivered.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=photos pattern="*.@(jpg|png|webp|tif)"
 *     ! spdlfetch concurrency=4 ! spdldecode concurrency=2 width=224 height=224
 *     ! spdlbatch size=32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>
#include <gst/video/video.h>

#include "spdlcodec.h"
#include "spdltarget.h"
#include "spdlworker.h"

GST_DEBUG_CATEGORY (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        /* Bytes first: what they are is found out. */
        GST_STATIC_CAPS (
            "application/octet-stream; image/jpeg; image/png; image/webp; "
            "image/gif; image/bmp; image/tiff; image/jp2; image/x-jpc; "
            "image/x-j2c; image/x-portable-bitmap; image/x-portable-graymap; "
            "image/x-portable-pixmap; image/x-portable-anymap; "
            "image/x-sun-raster; image/x-pcx; image/x-tga; image/x-sgi"));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (SPDL_TARGET_FORMATS)));

#define GST_TYPE_SPDL_DECODE_ELEMENT (gst_spdl_decode_element_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlDecodeElement, gst_spdl_decode_element, GST,
    SPDL_DECODE_ELEMENT, GstSpdlStage)

struct _GstSpdlDecodeElement {
  GstSpdlStage parent;

  /* Under the object's lock. */
  guint width;
  guint height;
  gchar *format;
  gboolean format_is_set;
  SpdlFit resize;
  SpdlCorrupt corrupt;
  guint64 max_pixels;
  guint background;
  SpdlTarget *target;
};

enum {
  PROP_0,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_FORMAT,
  PROP_RESIZE,
  PROP_CORRUPT,
  PROP_MAX_PIXELS,
  PROP_BACKGROUND,
  N_PROPS,
};

#define DEFAULT_FORMAT "RGB"
#define DEFAULT_MAX_PIXELS 178956970

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (
    GstSpdlDecodeElement, gst_spdl_decode_element, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdldecode, "spdldecode", GST_RANK_NONE, GST_TYPE_SPDL_DECODE_ELEMENT)

static GType
fit_get_type (void)
{
  static const GEnumValue values[] = {
    { SPDL_FIT_STRETCH, "Both sides, each to its size", "stretch" },
    { SPDL_FIT_NONE, "An image keeps its own size", "none" },
    { 0 },
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlDecodeResize", values));
  return type;
}

static GType
corrupt_get_type (void)
{
  static const GEnumValue values[] = {
    { SPDL_CORRUPT_FAIL, "It fails", "fail" },
    { SPDL_CORRUPT_KEEP, "What could be decoded is delivered", "keep" },
    { 0 },
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlDecodeCorrupt", values));
  return type;
}

/* Negotiation */

static SpdlTarget *
get_target (GstSpdlDecodeElement *self)
{
  SpdlTarget *target;

  GST_OBJECT_LOCK (self);
  target = self->target;
  g_atomic_int_inc (&target->n_refs);
  GST_OBJECT_UNLOCK (self);
  return target;
}

static void
set_target (GstSpdlDecodeElement *self, SpdlTarget *target)
{
  SpdlTarget *old;

  GST_OBJECT_LOCK (self);
  old = self->target;
  self->target = target;
  GST_OBJECT_UNLOCK (self);
  if (old)
    spdl_target_unref (old);
}

static gboolean
gst_spdl_decode_element_negotiate (
    GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  GstSpdlDecodeElement *self = GST_SPDL_DECODE_ELEMENT (stage);
  GstPad *srcpad = gst_spdl_stage_get_src_pad (stage);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (srcpad);
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (srcpad, template);
  g_autofree gchar *format = NULL;
  SpdlTargetSettings settings;
  SpdlTarget *target;

  GST_OBJECT_LOCK (self);
  settings.width = self->width;
  settings.height = self->height;
  settings.format = format = g_strdup (self->format);
  settings.format_is_set = self->format_is_set;
  settings.resize = self->resize;
  settings.corrupt = self->corrupt;
  settings.max_pixels = self->max_pixels;
  settings.background = self->background;
  GST_OBJECT_UNLOCK (self);
  if (!(target = spdl_target_new (&settings, allowed, error)))
    return FALSE;
  GST_DEBUG_OBJECT (self, "%u by %u, %s", target->width, target->height,
      gst_video_format_to_string (target->format));
  set_target (self, target);
  return TRUE;
}

/* Workers */

static gpointer
gst_spdl_decode_element_open_worker (GstSpdlStage *stage, GError **error)
{
  return spdl_worker_new ();
}

static void
gst_spdl_decode_element_close_worker (GstSpdlStage *stage, gpointer worker)
{
  spdl_worker_free (worker);
}

static gboolean
gst_spdl_decode_element_process (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  SpdlTarget *target = get_target (GST_SPDL_DECODE_ELEMENT (stage));
  GError *reason = NULL;
  GstCaps *caps = NULL;
  GstBuffer *result =
      spdl_worker_decode (worker, target, gst_spdl_task_get_item (task),
          gst_spdl_task_get_caps (task), &caps, &reason);

  spdl_target_unref (target);
  if (!result) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (reason) {
    const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);

    GST_WARNING_OBJECT (stage, "kept: %s: %s",
        item && item->uri ? item->uri : "item", reason->message);
    g_error_free (reason);
  }
  gst_spdl_task_push (task, result, caps);
  return TRUE;
}

static void
gst_spdl_decode_element_stop (GstSpdlStage *stage)
{
  set_target (GST_SPDL_DECODE_ELEMENT (stage), NULL);
}

/* The class */

static void
gst_spdl_decode_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlDecodeElement *self = GST_SPDL_DECODE_ELEMENT (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_WIDTH:
      self->width = g_value_get_uint (value);
      break;
    case PROP_HEIGHT:
      self->height = g_value_get_uint (value);
      break;
    case PROP_FORMAT:
      g_free (self->format);
      self->format = g_value_dup_string (value);
      self->format_is_set = self->format != NULL;
      if (!self->format)
        self->format = g_strdup (DEFAULT_FORMAT);
      break;
    case PROP_RESIZE:
      self->resize = g_value_get_enum (value);
      break;
    case PROP_CORRUPT:
      self->corrupt = g_value_get_enum (value);
      break;
    case PROP_MAX_PIXELS:
      self->max_pixels = g_value_get_uint64 (value);
      break;
    case PROP_BACKGROUND:
      self->background = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
  gst_pad_mark_reconfigure (gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self)));
}

static void
gst_spdl_decode_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlDecodeElement *self = GST_SPDL_DECODE_ELEMENT (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_WIDTH:
      g_value_set_uint (value, self->width);
      break;
    case PROP_HEIGHT:
      g_value_set_uint (value, self->height);
      break;
    case PROP_FORMAT:
      g_value_set_string (value, self->format);
      break;
    case PROP_RESIZE:
      g_value_set_enum (value, self->resize);
      break;
    case PROP_CORRUPT:
      g_value_set_enum (value, self->corrupt);
      break;
    case PROP_MAX_PIXELS:
      g_value_set_uint64 (value, self->max_pixels);
      break;
    case PROP_BACKGROUND:
      g_value_set_uint (value, self->background);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spdl_decode_element_finalize (GObject *object)
{
  g_free (GST_SPDL_DECODE_ELEMENT (object)->format);
  G_OBJECT_CLASS (gst_spdl_decode_element_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  properties[PROP_WIDTH] = g_param_spec_uint ("width", "Width",
      "Width of the result in pixels (0 = what downstream asks for, else as "
      "decoded)",
      0, G_MAXINT, 0, flags);
  properties[PROP_HEIGHT] = g_param_spec_uint ("height", "Height",
      "Height of the result in pixels (0 = what downstream asks for, else as "
      "decoded)",
      0, G_MAXINT, 0, flags);
  properties[PROP_FORMAT] = g_param_spec_string ("format", "Format",
      "Pixel format of the result: RGB or BGR (unset = what downstream asks "
      "for, RGB where it does not mind)",
      DEFAULT_FORMAT, flags);
  properties[PROP_RESIZE] = g_param_spec_enum ("resize", "Resize",
      "How an image is brought to width and height", fit_get_type (),
      SPDL_FIT_STRETCH, flags);
  properties[PROP_CORRUPT] = g_param_spec_enum ("corrupt", "Corrupt",
      "What becomes of an image of which some data is missing or wrong",
      corrupt_get_type (), SPDL_CORRUPT_FAIL, flags);
  properties[PROP_MAX_PIXELS] = g_param_spec_uint64 ("max-pixels",
      "Maximum pixels",
      "An image of more pixels, or a result, fails before memory is taken for "
      "it",
      1, G_MAXUINT64, DEFAULT_MAX_PIXELS, flags);
  properties[PROP_BACKGROUND] = g_param_spec_uint ("background", "Background",
      "What shows through where an image is transparent, or is missing: "
      "0xRRGGBB",
      0, 0xffffff, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
gst_spdl_decode_element_class_init (GstSpdlDecodeElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_decode_debug, "spdldecode", 0, "Decoding");
  object_class->set_property = gst_spdl_decode_element_set_property;
  object_class->get_property = gst_spdl_decode_element_get_property;
  object_class->finalize = gst_spdl_decode_element_finalize;
  install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item decoder",
      "Codec/Decoder/Image",
      "Decodes images and brings them to one size, many at a time",
      "the gst-spdl developers");
  stage_class->negotiate = gst_spdl_decode_element_negotiate;
  stage_class->open_worker = gst_spdl_decode_element_open_worker;
  stage_class->close_worker = gst_spdl_decode_element_close_worker;
  stage_class->process = gst_spdl_decode_element_process;
  stage_class->stop = gst_spdl_decode_element_stop;
}

static void
gst_spdl_decode_element_init (GstSpdlDecodeElement *self)
{
  self->format = g_strdup (DEFAULT_FORMAT);
  self->max_pixels = DEFAULT_MAX_PIXELS;
}
