/* gst-spdl: element spdlaugment
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlaugment
 * @title: spdlaugment
 * @short_description: changes images and clips at random for training
 *
 * Applies the augmentations of training recipes to raw images and clips,
 * between spdldecode and spdlbatch. `ops` lists the operations in the order in
 * which they are applied, with the names, the arguments and the defaults of
 * torchvision.transforms.v2: `color-jitter(brightness=0.4,hue=0.1,p=0.8);
 * rand-augment(n=2,m=9)`. `a..b` is a range from which each item draws a value,
 * and `p` the probability of an operation.
 *
 * ## Operations
 * Colors: `brightness`, `contrast`, `saturation`, `hue`, `color-jitter`,
 * `grayscale`, `autocontrast`, `equalize`, `invert`, `posterize`, `solarize`,
 * `solarize-add`. Neighborhoods: `sharpness`, `gaussian-blur`. Geometry:
 * `affine`, `rotate`, `perspective`, `horizontal-flip`, `vertical-flip`, `pad`,
 * `crop`, `center-crop`, `random-crop`. `erase` erases a rectangle. Policies:
 * `rand-augment`, `trivial-augment-wide`, `auto-augment`, `augmix`, and timm's
 * strings such as `rand-m9-mstd0.5-inc1`. `choice` selects one of its
 * operations, `sequence` applies all of them.
 *
 * ## Random values
 * The values depend only on `seed`, the item's epoch and its index, and not on
 * the number of workers, the order of items or the CPU. All frames of a clip
 * get the same values, and each view of spdldecode its own. The field `augment`
 * of the item's `extra` records what was drawn, as a value of `ops` that
 * repeats it.
 *
 * ## Formats
 * Images are RGB, BGR or GRAY8 in system memory, clips are uint8 tensors of the
 * shape (frames, height, width, channels). Operations on colors do not change
 * gray images. `part` names the part of a sample of several media to augment.
 *
 * Boxes and keypoints that spdlsrc names move with the image, as in
 * torchvision.transforms.v2. Boxes that are not visible any more are dropped.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=photos label=folder shuffle=true
 *     ! spdlfetch concurrency=4 ! spdldecode concurrency=2 width=224 height=224
 *     augment=random-resized-crop flip=0.5
 *     ! spdlaugment concurrency=2 ops="rand-augment(n=2,m=9); erase(p=0.25)"
 *     ! spdlbatch batch-size=32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>
#include <gst/video/video.h>

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/common/tryallocator.h"
#include "gst/spdl/stage/capsgate.h"
#include "plugins/common/viewseed.h"
#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"
#include "plugins/core/augment/planshapes.h"
#include "plugins/core/core.h"

#define FORMATS "{ RGB, BGR, GRAY8 }"

GST_DEBUG_CATEGORY_STATIC (spdl_augment_debug);
#define GST_CAT_DEFAULT spdl_augment_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (FORMATS) "; " GST_SPDL_TENSORS_CAPS
                                                   "; " GST_SPDL_SAMPLE_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (FORMATS) "; " GST_SPDL_TENSORS_CAPS
                                                   "; " GST_SPDL_SAMPLE_CAPS));

#define GST_TYPE_SPDL_AUGMENT (gst_spdl_augment_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlAugment, gst_spdl_augment, GST, SPDL_AUGMENT, GstSpdlStage)

struct _GstSpdlAugment {
  GstSpdlStage parent;

  /* Properties, guarded by the object lock. */
  gchar *ops;
  guint64 seed;
  const gchar *part; /* interned */

  /* Set from start to stop. */
  GPtrArray *list; /* of SpdlOp */
  guint64 run_seed;
  const gchar *run_part;
  gchar *view_field; /* nullable: extra field with the number of a view */
};

G_DEFINE_FINAL_TYPE (GstSpdlAugment, gst_spdl_augment, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdlaugment, "spdlaugment", GST_RANK_NONE, GST_TYPE_SPDL_AUGMENT)

/* Formats */

/* Layout of an image or a clip. */
typedef struct {
  GstCaps *caps; /* nullable: not set */
  gboolean is_tensor;
  GstVideoInfo video;
  GstSpdlTensorsInfo tensors;
  SpdlRaster raster; /* without data: the first frame */
  guint n_frames;
  gsize frame_size; /* distance of frames */
  gsize size;
} Layout;

static gboolean
fail_format (const GstCaps *caps, GError **error)
{
  g_autofree gchar *text =
      caps ? gst_caps_to_string (caps) : g_strdup ("data without caps");

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "spdlaugment needs images of the format RGB, BGR or GRAY8, or clips of "
      "uint8 with 1 or 3 channels, but got %s: write spdldecode before it, and "
      "set format=RGB there",
      text);
  return FALSE;
}

static void
set_video_layout (Layout *self)
{
  const GstVideoInfo *info = &self->video;

  self->is_tensor = FALSE;
  self->raster = (SpdlRaster){ .stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0),
    .width = GST_VIDEO_INFO_WIDTH (info),
    .height = GST_VIDEO_INFO_HEIGHT (info),
    .n_channels = GST_VIDEO_INFO_COMP_PSTRIDE (info, 0),
    .bgr = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_BGR };
  self->n_frames = 1;
  self->size = GST_VIDEO_INFO_SIZE (info);
  self->frame_size = self->size;
}

static void
set_tensor_layout (Layout *self)
{
  const GstSpdlTensorInfo *tensor = &self->tensors.tensors[0];
  const guint32 *dims = tensor->dims;

  self->is_tensor = TRUE;
  self->raster = (SpdlRaster){ .stride = (gsize) dims[0] * dims[1],
    .width = dims[1],
    .height = dims[2],
    .n_channels = dims[0] };
  self->n_frames = tensor->rank == 4 ? dims[3] : 1;
  self->size = gst_spdl_tensor_info_get_size (tensor);
  self->frame_size = self->size / MAX (self->n_frames, 1);
}

static gboolean
is_image_tensor (const GstSpdlTensorsInfo *tensors)
{
  const GstSpdlTensorInfo *tensor = &tensors->tensors[0];

  return tensors->num_tensors == 1 && tensor->type == GST_SPDL_TENSOR_UINT8 &&
         (tensor->rank == 3 || tensor->rank == 4) &&
         (tensor->dims[0] == 1 || tensor->dims[0] == 3) &&
         gst_spdl_tensor_info_get_size (tensor) > 0;
}

static gboolean
is_known_format (const GstVideoInfo *info)
{
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT (info);

  return format == GST_VIDEO_FORMAT_RGB || format == GST_VIDEO_FORMAT_BGR ||
         format == GST_VIDEO_FORMAT_GRAY8;
}

/* Sets the layout of items with @caps (nullable), if it is another one. */
static gboolean
set_layout (Layout *self, GstCaps *caps, GError **error)
{
  const GstStructure *s;

  if (self->caps && self->caps == caps)
    return TRUE;
  gst_caps_replace (&self->caps, NULL);
  if (!caps || gst_caps_get_size (caps) != 1)
    return fail_format (caps, error);
  s = gst_caps_get_structure (caps, 0);
  if (gst_structure_has_name (s, "video/x-raw") &&
      gst_video_info_from_caps (&self->video, caps) &&
      is_known_format (&self->video))
    set_video_layout (self);
  else if (gst_structure_has_name (s, "other/tensors") &&
           gst_spdl_tensors_info_from_caps (&self->tensors, caps, NULL) &&
           is_image_tensor (&self->tensors))
    set_tensor_layout (self);
  else
    return fail_format (caps, error);
  gst_caps_replace (&self->caps, caps);
  return TRUE;
}

/* Sets the layout of results of @width by @height pixels from items of the
 * layout @in. Its caps are NULL after a change of @in. */
static void
set_result_layout (Layout *self, const Layout *in, guint width, guint height)
{
  GstSpdlTensorInfo *tensor = &self->tensors.tensors[0];
  const gchar *name;

  if (self->caps && self->raster.width == width &&
      self->raster.height == height)
    return;
  if (in->is_tensor) {
    self->tensors = in->tensors;
    tensor->dims[1] = width;
    tensor->dims[2] = height;
    set_tensor_layout (self);
    gst_caps_take (&self->caps, gst_spdl_tensors_info_to_caps (&self->tensors));
    if ((name = gst_spdl_caps_get_tensor_name (in->caps, 0)))
      gst_spdl_caps_set_tensor_names (self->caps, &name, 1);
    return;
  }
  gst_video_info_set_format (
      &self->video, GST_VIDEO_INFO_FORMAT (&in->video), width, height);
  GST_VIDEO_INFO_FPS_N (&self->video) = GST_VIDEO_INFO_FPS_N (&in->video);
  GST_VIDEO_INFO_FPS_D (&self->video) = GST_VIDEO_INFO_FPS_D (&in->video);
  set_video_layout (self);
  gst_caps_take (&self->caps, gst_video_info_to_caps (&self->video));
}

/* Workers */

typedef struct {
  SpdlPlan *plan;
  SpdlPainter *painter;
  Layout in;
  Layout out; /* of results of another size */
} Worker;

static gpointer
gst_spdl_augment_open_worker (GstSpdlStage *stage, GError **error)
{
  Worker *worker = g_new0 (Worker, 1);

  worker->plan = spdl_plan_new ();
  worker->painter = spdl_painter_new (NULL);
  return worker;
}

static void
gst_spdl_augment_close_worker (GstSpdlStage *stage, gpointer data)
{
  Worker *worker = data;

  spdl_plan_free (worker->plan);
  spdl_painter_free (worker->painter);
  gst_clear_caps (&worker->in.caps);
  gst_clear_caps (&worker->out.caps);
  g_free (worker);
}

/* Maps @buffer and sets @raster to its first frame. */
static gboolean
map_frames (GstBuffer *buffer, const Layout *layout, GstMapFlags flags,
    GstMapInfo *map, SpdlRaster *raster, GError **error)
{
  const GstVideoMeta *meta =
      layout->is_tensor ? NULL : gst_buffer_get_video_meta (buffer);
  gsize offset = 0, row;

  if (!gst_buffer_map (buffer, map, flags)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map the image's memory");
    return FALSE;
  }
  *raster = layout->raster;
  if (meta) {
    raster->stride = meta->stride[0];
    offset = meta->offset[0];
  }
  raster->data = map->data + offset;
  row = (gsize) raster->width * raster->n_channels;
  if (map->size >= offset + layout->frame_size * (layout->n_frames - 1) +
                       raster->stride * (raster->height - 1) + row)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The image has %" G_GSIZE_FORMAT " bytes, fewer than its caps need",
      map->size);
  gst_buffer_unmap (buffer, map);
  return FALSE;
}

/* Augments the frames of @item to those of @result, which may be @item. */
static gboolean
paint_frames (
    Worker *worker, GstBuffer *item, GstBuffer *result, GError **error)
{
  const gboolean in_place = item == result;
  const GArray *steps = worker->plan->steps;
  const Layout *layout = in_place ? &worker->in : &worker->out;
  SpdlRaster in, out;
  GstMapInfo from, to;
  gboolean ok;

  if (!map_frames (result, layout, in_place ? GST_MAP_READWRITE : GST_MAP_WRITE,
          &to, &out, error))
    return FALSE;
  in = out;
  ok = in_place ||
       map_frames (item, &worker->in, GST_MAP_READ, &from, &in, error);
  if (ok) {
    for (guint i = 0; ok && i < layout->n_frames; i++) {
      ok = spdl_painter_run (worker->painter, (const SpdlStep *) steps->data,
          steps->len, &in, &out, error);
      in.data += worker->in.frame_size;
      out.data += layout->frame_size;
    }
    if (!in_place)
      gst_buffer_unmap (item, &from);
  }
  gst_buffer_unmap (result, &to);
  return ok;
}

/* Augments @item (transfer full): in place, unless the size changes. It is
 * copied if it is shared. */
static GstBuffer *
paint_image (
    Worker *worker, GstBuffer *item, gboolean is_resized, GError **error)
{
  const SpdlPlan *plan = worker->plan;
  GstBuffer *result = item;
  gboolean ok;

  if (is_resized) {
    set_result_layout (&worker->out, &worker->in, plan->width, plan->height);
    result = gst_spdl_buffer_try_new (worker->out.size);
  } else if (plan->steps->len == 0) {
    return item;
  } else if (!gst_buffer_is_all_memory_writable (item)) {
    result = gst_spdl_buffer_try_copy (item);
    gst_buffer_unref (item);
    item = result;
  }
  if (!result)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for an image of %u by %u", plan->width,
        plan->height);
  ok = result && paint_frames (worker, item, result, error);
  if (ok && is_resized)
    gst_buffer_copy_into (result, item, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  if (item != result)
    gst_buffer_unref (item);
  if (!ok)
    gst_clear_buffer (&result);
  return result;
}

/* Returns the seed of an item. A part that is a view of an image draws other
 * values than the other views. */
static guint64
get_seed (const GstSpdlAugment *self, const GstSpdlItemMeta *meta)
{
  const GValue *value =
      self->view_field && meta && meta->extra
          ? gst_structure_get_value (meta->extra, self->view_field)
          : NULL;
  GValue number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_UINT);
  /* A function of an application may have written another type of number. */
  if (value)
    g_value_transform (value, &number);
  return spdl_view_get_seed (self->run_seed, g_value_get_uint (&number));
}

/* Augments an image (transfer full) of the format @caps (nullable).
 *
 * @new_caps: (out) (transfer none): caps of the result
 *
 * Returns: (transfer full): NULL with @error set on failure */
static GstBuffer *
paint_item (GstSpdlAugment *self, Worker *worker, GstBuffer *item,
    GstCaps *caps, const GstSpdlItemMeta *meta, GstCaps **new_caps,
    GError **error)
{
  const SpdlRaster *raster = &worker->in.raster;
  SpdlPlan *plan = worker->plan;
  gboolean is_resized;

  /* The caps of results have fields of those of items. */
  if (worker->in.caps != caps)
    gst_clear_caps (&worker->out.caps);
  if (!set_layout (&worker->in, caps, error) ||
      !spdl_plan_draw (plan, self->list, get_seed (self, meta),
          meta ? meta->epoch : 0, meta ? meta->index : 0, raster->width,
          raster->height, error)) {
    gst_buffer_unref (item);
    return NULL;
  }
  is_resized = plan->width != raster->width || plan->height != raster->height;
  item = paint_image (worker, item, is_resized, error);
  *new_caps = is_resized ? worker->out.caps : worker->in.caps;
  return item;
}

/* Moves the boxes and keypoints of an item like its image. Those of a sample
 * belong to the main part. */
static gboolean
move_shapes (GstSpdlAugment *self, const Worker *worker, GstBuffer *result,
    GstStructure *extra, GError **error)
{
  const SpdlShapes *shapes = spdl_shapes_find (extra);
  g_autoptr (SpdlShapes) own = NULL;

  if (G_LIKELY (!shapes) || !spdl_shapes_belong_to (result, self->run_part))
    return TRUE;
  own = spdl_plan_move_shapes (
      worker->plan, shapes, extra, worker->painter, &worker->in.raster, error);
  if (own)
    spdl_shapes_put (own, extra);
  return own != NULL;
}

/* Records the steps in the extra fields of @result, after those of an element
 * before this one, and moves its shapes. */
static gboolean
note_steps (GstSpdlAugment *self, const Worker *worker, GstBuffer *result,
    const GstSpdlItemMeta *item, GError **error)
{
  const SpdlPlan *plan = worker->plan;
  g_autofree gchar *text = spdl_steps_to_text (
      (const SpdlStep *) plan->steps->data, plan->steps->len);
  g_autofree gchar *field = self->run_part
                                ? g_strdup_printf ("%s.augment", self->run_part)
                                : g_strdup ("augment");
  g_autofree gchar *all = NULL;
  GstSpdlItemMeta *own = gst_spdl_buffer_get_item_meta (result);
  const gchar *before;

  if (!own) {
    own = gst_spdl_buffer_add_item_meta (result);
    gst_spdl_item_meta_assign (own, item);
  }
  if (!own->extra)
    own->extra = gst_structure_new_empty ("extra");
  before = gst_structure_get_string (own->extra, field);
  if (before && *before)
    all = g_strconcat (before, *text ? "; " : "", text, NULL);
  gst_structure_set (own->extra, field, G_TYPE_STRING, all ? all : text, NULL);
  return move_shapes (self, worker, result, own->extra, error);
}

/* Returns: (transfer full) the part's buffer; NULL with @error set */
static GstBuffer *
take_part (
    GstSpdlAugment *self, GstBuffer *sample, GstCaps **caps, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  const GstSpdlPart *part =
      parts ? gst_spdl_parts_meta_find_part (parts, self->run_part) : NULL;

  if (part) {
    *caps = part->caps;
    return gst_spdl_buffer_dup_part (sample, self->run_part);
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Item has no part \"%s\": set part to the name of a part that "
      "spdlfetch fetches",
      self->run_part);
  return NULL;
}

/* Augments a part of @sample. The other parts stay unchanged. */
static GstBuffer *
paint_part (GstSpdlAugment *self, Worker *worker, GstBuffer *sample,
    const GstSpdlItemMeta *meta, GError **error)
{
  GstCaps *caps = NULL, *new_caps = NULL;
  GstBuffer *part = take_part (self, sample, &caps, error);
  GstBuffer *result = NULL;

  if (part)
    part = paint_item (self, worker, part, caps, meta, &new_caps, error);
  if (part) {
    result =
        gst_spdl_buffer_replace_part (sample, self->run_part, part, new_caps);
    gst_buffer_unref (part);
    if (!result)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
          "Not enough memory for part \"%s\"", self->run_part);
  }
  return result;
}

static gboolean
gst_spdl_augment_process (
    GstSpdlStage *stage, gpointer data, GstSpdlTask *task, GError **error)
{
  GstSpdlAugment *self = GST_SPDL_AUGMENT (stage);
  const GstSpdlItemMeta *meta = gst_spdl_task_get_item_meta (task);
  Worker *worker = data;
  GstCaps *caps = NULL;
  GstBuffer *result;

  if (self->run_part)
    result =
        paint_part (self, worker, gst_spdl_task_get_item (task), meta, error);
  else
    result = paint_item (self, worker, gst_spdl_task_take_item (task),
        gst_spdl_task_get_caps (task), gst_spdl_task_get_item_meta (task),
        &caps, error);
  if (!result)
    return FALSE;
  if ((meta = gst_spdl_task_get_item_meta (task))) {
    result = gst_buffer_make_writable (result);
    if (!note_steps (self, worker, result, meta, error)) {
      gst_buffer_unref (result);
      return FALSE;
    }
  }
  gst_spdl_task_push (task, result, caps);
  return TRUE;
}

/* Start, stop and caps */

static gboolean
gst_spdl_augment_start (GstSpdlStage *stage, GError **error)
{
  GstSpdlAugment *self = GST_SPDL_AUGMENT (stage);
  g_autofree gchar *ops = NULL;

  GST_OBJECT_LOCK (self);
  ops = g_strdup (self->ops);
  self->run_seed = self->seed;
  self->run_part = self->part;
  GST_OBJECT_UNLOCK (self);
  if (!ops) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "The property ops is not set: list operations, such as "
        "ops=\"rand-augment(n=2,m=9)\"");
    return FALSE;
  }
  if (!(self->list = spdl_op_list_parse (ops, error)))
    return FALSE;
  if (self->run_part)
    self->view_field = g_strdup_printf ("%s." SPDL_VIEW_FIELD, self->run_part);
  return TRUE;
}

static void
gst_spdl_augment_stop (GstSpdlStage *stage)
{
  g_clear_pointer (&GST_SPDL_AUGMENT (stage)->list, g_ptr_array_unref);
  g_clear_pointer (&GST_SPDL_AUGMENT (stage)->view_field, g_free);
}

static gboolean
gst_spdl_augment_negotiate (GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  const gchar *part = GST_SPDL_AUGMENT (stage)->run_part;
  const gboolean is_sample =
      caps && gst_structure_has_name (
                  gst_caps_get_structure (caps, 0), GST_SPDL_SAMPLE_CAPS);
  Layout layout = { NULL };
  gboolean ok;

  if (part && is_sample)
    return TRUE;
  if (part || is_sample) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        part ? "part=%s is set, but the items are not samples of several "
               "media: leave part unset"
             : "Items are samples of several media: set part to the name of "
               "the part to augment",
        part);
    return FALSE;
  }
  ok = set_layout (&layout, caps, error);
  gst_clear_caps (&layout.caps);
  return ok;
}

/* Class */

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_STRING (GstSpdlAugment, ops, READY, "ops", "Operations",
      "Operations to apply, in order, such as "
      "\"color-jitter(brightness=0.4,p=0.8); rand-augment(n=2,m=9)\"",
      NULL),
  SPDL_PROPERTY_UINT64 (GstSpdlAugment, seed, READY, "seed", "Seed",
      "Seed of random values, combined with an item's epoch and index", 0,
      G_MAXUINT64, 0),
  SPDL_PROPERTY_INTERNED (GstSpdlAugment, part, READY, "part", "Part",
      "Part of samples of several media to augment; other parts pass unchanged "
      "(unset = an item is one medium)"),
  SPDL_PROPERTY_END
};

static void
gst_spdl_augment_finalize (GObject *object)
{
  gst_spdl_property_table_clear (properties, GST_SPDL_AUGMENT (object));
  G_OBJECT_CLASS (gst_spdl_augment_parent_class)->finalize (object);
}

static void
gst_spdl_augment_class_init (GstSpdlAugmentClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      spdl_augment_debug, "spdlaugment", 0, "Augmentation");
  object_class->finalize = gst_spdl_augment_finalize;
  gst_spdl_property_table_implement (properties, object_class, 0);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item augmentation",
      "Filter/Effect/Video",
      "Changes images and clips at random for training, in parallel",
      "the gst-spdl developers");
  stage_class->start = gst_spdl_augment_start;
  stage_class->stop = gst_spdl_augment_stop;
  stage_class->negotiate = gst_spdl_augment_negotiate;
  stage_class->open_worker = gst_spdl_augment_open_worker;
  stage_class->close_worker = gst_spdl_augment_close_worker;
  stage_class->process = gst_spdl_augment_process;
}

static void
gst_spdl_augment_init (GstSpdlAugment *self)
{
  GstPad *sinkpad = gst_spdl_stage_get_sink_pad (GST_SPDL_STAGE (self));

  gst_spdl_property_table_init (properties, self);
  GST_PAD_SET_ACCEPT_INTERSECT (sinkpad);
  /* negotiate() refuses with a better message than GStreamer. */
  gst_spdl_pad_take_all_caps_events (sinkpad);
}
