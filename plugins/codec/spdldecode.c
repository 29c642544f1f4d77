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
 * `height`, `concurrency` of them at a time. JPEG is decoded by libjpeg-turbo,
 * with its accurate transform, and stretched row by row with an antialiased
 * bilinear filter, as Pillow and torchvision do it.
 *
 * A size or a format that is not set follows downstream's caps; without either
 * an image keeps its size. One that contradicts downstream's caps ends the
 * stream with an error that names the property. A file that is no JPEG, is cut
 * off, or lacks some of its pixels' data fails by name.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=photos pattern="*.@(jpg|jpeg)"
 *     ! spdlfetch concurrency=4 ! spdldecode concurrency=2 width=224 height=224
 *     ! spdlbatch size=32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>
#include <gst/video/video.h>

#include "spdlcodec.h"
#include "spdljpeg.h"
#include "spdlresize.h"
#include "spdltarget.h"

GST_DEBUG_CATEGORY_STATIC (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS ("application/octet-stream; image/jpeg"));
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
  guint64 max_pixels;
  SpdlTarget *target;
};

/* The state of one worker. */
typedef struct {
  SpdlJpeg *jpeg;
  SpdlResize *resize;
  GstCaps *caps; /* of the last image of its own size */
  GstVideoInfo info;
} Worker;

enum {
  PROP_0,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_FORMAT,
  PROP_MAX_PIXELS,
  N_PROPS,
};

#define DEFAULT_FORMAT "RGB"
#define DEFAULT_MAX_PIXELS 178956970
#define MAX_SIZE 65535

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (
    GstSpdlDecodeElement, gst_spdl_decode_element, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdldecode, "spdldecode", GST_RANK_NONE, GST_TYPE_SPDL_DECODE_ELEMENT)

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
  settings.max_pixels = self->max_pixels;
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
  Worker *worker = g_new0 (Worker, 1);

  worker->jpeg = spdl_jpeg_new ();
  worker->resize = spdl_resize_new ();
  return worker;
}

static void
gst_spdl_decode_element_close_worker (GstSpdlStage *stage, gpointer data)
{
  Worker *worker = data;

  spdl_jpeg_free (worker->jpeg);
  spdl_resize_free (worker->resize);
  gst_clear_caps (&worker->caps);
  g_free (worker);
}

/* An image that is decoded: its size, and where it goes. */
typedef struct {
  Worker *worker;
  const SpdlTarget *target;
  guint in_width, in_height;
  GstVideoInfo *info;
  GstCaps *caps; /* not owned */
  guint8 *pixels;
} Image;

static guint8 *
get_row_resized (gpointer user_data, guint y)
{
  return spdl_resize_get_row (((Image *) user_data)->worker->resize, y);
}

static void
rows_done_resized (gpointer user_data, guint y_end)
{
  spdl_resize_rows_done (((Image *) user_data)->worker->resize, y_end);
}

static guint8 *
get_row_as_is (gpointer user_data, guint y)
{
  const Image *image = user_data;

  return image->pixels +
         (gsize) y * GST_VIDEO_INFO_PLANE_STRIDE (image->info, 0);
}

static void
rows_done_as_is (gpointer user_data, guint y_end)
{
}

/* Caps of an image that keeps its own size, or one of its sides. */
static void
set_own_size (Image *image)
{
  Worker *worker = image->worker;
  const SpdlTarget *target = image->target;
  const guint width = target->width ? target->width : image->in_width;
  const guint height = target->height ? target->height : image->in_height;

  if (!worker->caps || (guint) GST_VIDEO_INFO_WIDTH (&worker->info) != width ||
      (guint) GST_VIDEO_INFO_HEIGHT (&worker->info) != height ||
      GST_VIDEO_INFO_FORMAT (&worker->info) != target->format) {
    spdl_target_set_info (&worker->info, target->format, width, height);
    gst_caps_take (&worker->caps, gst_video_info_to_caps (&worker->info));
  }
  image->info = &worker->info;
  image->caps = worker->caps;
}

static GstBuffer *
make_buffer (Image *image, GError **error)
{
  GstBuffer *buffer = NULL;

  if (image->target->pool) {
    image->info = (GstVideoInfo *) &image->target->info;
    image->caps = image->target->caps;
    gst_buffer_pool_acquire_buffer (image->target->pool, &buffer, NULL);
  } else {
    set_own_size (image);
    buffer =
        gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (image->info), NULL);
  }
  if (!buffer)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for an image of %d by %d",
        GST_VIDEO_INFO_WIDTH (image->info),
        GST_VIDEO_INFO_HEIGHT (image->info));
  return buffer;
}

static gboolean
read_pixels (Image *image, GError **error)
{
  const gboolean bgr = image->target->format == GST_VIDEO_FORMAT_BGR;
  const guint width = GST_VIDEO_INFO_WIDTH (image->info);
  const guint height = GST_VIDEO_INFO_HEIGHT (image->info);
  const SpdlJpegRows as_is = { get_row_as_is, rows_done_as_is, image };
  const SpdlJpegRows resized = { get_row_resized, rows_done_resized, image };

  if (width == image->in_width && height == image->in_height)
    return spdl_jpeg_read_rows (image->worker->jpeg,
        bgr ? SPDL_JPEG_BGR : SPDL_JPEG_RGB, &as_is, error);
  if (!spdl_resize_begin (image->worker->resize, image->in_width,
          image->in_height, width, height, image->pixels,
          GST_VIDEO_INFO_PLANE_STRIDE (image->info, 0))) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory to resize an image of %u by %u", image->in_width,
        image->in_height);
    return FALSE;
  }
  return spdl_jpeg_read_rows (image->worker->jpeg,
      bgr ? SPDL_JPEG_BGRX : SPDL_JPEG_RGBX, &resized, error);
}

static gboolean
check_size (const Image *image, GError **error)
{
  const guint64 pixels = (guint64) image->in_width * image->in_height;

  if (pixels <= image->target->max_pixels)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It has %u by %u pixels, more than max-pixels (%" G_GUINT64_FORMAT ")",
      image->in_width, image->in_height, image->target->max_pixels);
  return FALSE;
}

static gboolean
check_is_jpeg (const GstMapInfo *map, GError **error)
{
  if (spdl_jpeg_is_jpeg (map->data, map->size))
    return TRUE;
  if (map->size == 0)
    g_set_error (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "It is empty");
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "It is no JPEG: its first byte is 0x%02x, of %" G_GSIZE_FORMAT
        "; leave such files out with the pattern of spdlsrc",
        map->data[0], map->size);
  return FALSE;
}

static GstBuffer *
decode (Image *image, const GstMapInfo *in, GError **error)
{
  GstBuffer *buffer;
  GstMapInfo out;
  gboolean ok;

  if (!check_is_jpeg (in, error) ||
      !spdl_jpeg_read_header (image->worker->jpeg, in->data, in->size,
          &image->in_width, &image->in_height, error) ||
      !check_size (image, error) || !(buffer = make_buffer (image, error)))
    return NULL;
  if (!gst_buffer_map (buffer, &out, GST_MAP_WRITE)) {
    gst_buffer_unref (buffer);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
        "The memory for its pixels cannot be mapped");
    return NULL;
  }
  image->pixels = out.data;
  ok = read_pixels (image, error);
  gst_buffer_unmap (buffer, &out);
  if (!ok)
    gst_clear_buffer (&buffer);
  return buffer;
}

static gboolean
gst_spdl_decode_element_process (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  SpdlTarget *target = get_target (GST_SPDL_DECODE_ELEMENT (stage));
  Image image = { worker, target };
  GstBuffer *item = gst_spdl_task_get_item (task);
  GstBuffer *result;
  GstMapInfo map;

  if (!gst_buffer_map (item, &map, GST_MAP_READ)) {
    spdl_target_unref (target);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Its memory cannot be mapped");
    return FALSE;
  }
  result = decode (&image, &map, error);
  gst_buffer_unmap (item, &map);
  if (result)
    gst_spdl_task_push (task, result, image.caps);
  spdl_target_unref (target);
  return result != NULL;
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
    case PROP_MAX_PIXELS:
      self->max_pixels = g_value_get_uint64 (value);
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
    case PROP_MAX_PIXELS:
      g_value_set_uint64 (value, self->max_pixels);
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
      0, MAX_SIZE, 0, flags);
  properties[PROP_HEIGHT] = g_param_spec_uint ("height", "Height",
      "Height of the result in pixels (0 = what downstream asks for, else as "
      "decoded)",
      0, MAX_SIZE, 0, flags);
  properties[PROP_FORMAT] = g_param_spec_string ("format", "Format",
      "Pixel format of the result: RGB or BGR (unset = what downstream asks "
      "for, RGB where it does not mind)",
      DEFAULT_FORMAT, flags);
  properties[PROP_MAX_PIXELS] = g_param_spec_uint64 ("max-pixels",
      "Maximum pixels", "An image of more pixels fails before it is decoded", 1,
      G_MAXUINT64, DEFAULT_MAX_PIXELS, flags);
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
