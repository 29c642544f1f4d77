/* gst-spdl: element spdlcudanormalize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlcudanormalize
 * @title: spdlcudanormalize
 * @short_description: normalizes batches on a CUDA device
 *
 * Converts the first tensor of a batch on a CUDA device from uint8 NHWC images
 * to floating-point NCHW: values are divided by 255, `mean` is subtracted, and
 * the result is divided by `std`. `mean` and `std` have one value per channel,
 * or one value for all channels. The result is bit-identical to `spdlbatch
 * dtype=float32 layout=nchw`, and only a quarter of the bytes are copied to the
 * device. Other tensors pass unchanged.
 *
 * With `flip`, each image is mirrored with that probability. The decision
 * depends only on `seed`, the epoch and the index of the item, and is recorded
 * as `flip` in its `extra`. Prefer `flip` of `spdldecode`, which costs nothing;
 * this property is for pipelines with another decoder.
 *
 * One kernel does the conversion on a stream of the element, which waits for
 * the batch; the CPU does not wait. The element is built if nvcc is found, and
 * needs a CUDA Runtime of 12.8 or later.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch ! spdldecode width=224 height=224 ! spdlbatch batch-size=32
 *     ! spdlcudaupload ! spdlcudanormalize mean="<0.485,0.456,0.406>"
 *     std="<0.229,0.224,0.225>" dtype=float16 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/gst.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/cuda/cudablock.h"
#include "gst/spdl/engine/random.h"
#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/cuda/cuda.h"
#include "plugins/cuda/normalizer.h"

typedef enum {
  SPDL_NORMALIZE_TYPE_FLOAT32,
  SPDL_NORMALIZE_TYPE_FLOAT16,
} SpdlNormalizeType;

typedef struct {
  SpdlNormalizeType type;
  double mean[SPDL_NORMALIZE_MAX_CHANNELS];
  guint n_mean; /* 0: not set */
  double std[SPDL_NORMALIZE_MAX_CHANNELS];
  guint n_std;
  gdouble flip;
  guint64 seed;
} SpdlNormalizeSettings;

#define FLIP_KEY G_GUINT64_CONSTANT (0x6e6f726d616c0001)
/* Alignment of tensors in a block. */
#define ALIGNMENT 256

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (SPDL_CUDA_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SPDL_CUDA_CAPS));

#define GST_TYPE_SPDL_CUDA_NORMALIZE (gst_spdl_cuda_normalize_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlCudaNormalize, gst_spdl_cuda_normalize, GST,
    SPDL_CUDA_NORMALIZE, GstSpdlFilter)

struct _GstSpdlCudaNormalize {
  GstSpdlFilter parent;

  SpdlNormalizeSettings settings; /* protected by the object lock */

  /* Valid from READY on. */
  const GstSpdlCudart *cudart;
  SpdlNormalizer normalizer;

  /* Protected by the stream lock. */
  gboolean has_caps;
  SpdlNormalizeTask task;  /* for batches with the current caps */
  GstSpdlTensorsInfo info; /* of the output */
  gdouble flip;
  guint64 seed;
  GstSpdlCudaAllocator
      *allocator; /* nullable: for the device of the last batch */
};

G_DEFINE_FINAL_TYPE (
    GstSpdlCudaNormalize, gst_spdl_cuda_normalize, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (spdlcudanormalize, "spdlcudanormalize",
    GST_RANK_NONE, GST_TYPE_SPDL_CUDA_NORMALIZE)

/* Properties */

SPDL_DEFINE_ENUM_TYPE (GstSpdlCudaNormalizeType, normalize_type,
    { SPDL_NORMALIZE_TYPE_FLOAT32, "IEEE single precision", "float32" },
    { SPDL_NORMALIZE_TYPE_FLOAT16, "IEEE half precision", "float16" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_ENUM (SpdlNormalizeSettings, type, READY, "dtype", "Data type",
      "Data type of the result", normalize_type_get_type,
      SPDL_NORMALIZE_TYPE_FLOAT32),
  SPDL_PROPERTY_MEAN (SpdlNormalizeSettings, mean, n_mean),
  SPDL_PROPERTY_STD (SpdlNormalizeSettings, std, n_std),
  SPDL_PROPERTY_DOUBLE (SpdlNormalizeSettings, flip, READY, "flip", "Flip",
      "Probability of mirroring an image horizontally", 0.0, 1.0, 0.0),
  SPDL_PROPERTY_UINT64 (SpdlNormalizeSettings, seed, READY, "seed", "Seed",
      "Seed of the flips, combined with an item's epoch and index", 0,
      G_MAXUINT64, 0),
  SPDL_PROPERTY_END
};

static gboolean
read_images (GstSpdlCudaNormalize *self, GError **error)
{
  GstSpdlTensorInfo *tensor = &self->info.tensors[0];
  SpdlNormalizeTask *task = &self->task;

  if (tensor->type != GST_SPDL_TENSOR_UINT8 || tensor->rank != 4 ||
      tensor->dims[0] > SPDL_NORMALIZE_MAX_CHANNELS ||
      gst_spdl_tensor_info_get_size (tensor) == 0) {
    g_autofree gchar *is = gst_spdl_tensor_info_to_string (tensor);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The first tensor must hold uint8 images with 1 to %d channels, "
        "such as (32, 224, 224, 3), but is %s",
        SPDL_NORMALIZE_MAX_CHANNELS, is);
    return FALSE;
  }
  task->n_channels = tensor->dims[0];
  task->width = tensor->dims[1];
  task->height = tensor->dims[2];
  task->n_images = tensor->dims[3];
  tensor->type = task->half ? GST_SPDL_TENSOR_FLOAT16 : GST_SPDL_TENSOR_FLOAT32;
  tensor->dims[0] = task->width;
  tensor->dims[1] = task->height;
  tensor->dims[2] = task->n_channels;
  return TRUE;
}

static gboolean
read_caps (GstSpdlCudaNormalize *self, const GstCaps *caps, GError **error)
{
  SpdlNormalizeSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  self->flip = settings.flip;
  self->seed = settings.seed;
  self->task.half = settings.type == SPDL_NORMALIZE_TYPE_FLOAT16;
  return gst_spdl_tensors_info_from_caps (&self->info, caps, error) &&
         read_images (self, error) &&
         spdl_normalize_task_set_factors (&self->task, settings.mean,
             settings.n_mean, settings.std, settings.n_std, error);
}

static gboolean
set_caps (GstSpdlCudaNormalize *self, GstEvent *event)
{
  g_autoptr (GError) error = NULL;
  GstCaps *caps, *plain, *moved;
  const GValue *names;
  gboolean ok;

  gst_event_parse_caps (event, &caps);
  self->has_caps = read_caps (self, caps, &error);
  if (!self->has_caps) {
    gst_spdl_post_error (GST_ELEMENT (self), error);
    gst_event_unref (event);
    return FALSE;
  }
  plain = gst_spdl_tensors_info_to_caps (&self->info);
  names = gst_structure_get_value (gst_caps_get_structure (caps, 0), "names");
  if (names)
    gst_caps_set_value (plain, "names", names);
  moved = spdl_cuda_caps_move (plain, TRUE);
  ok = gst_pad_push_event (self->parent.srcpad, gst_event_new_caps (moved));
  gst_caps_unref (plain);
  gst_caps_unref (moved);
  gst_event_unref (event);
  return ok;
}

/* Batches */

/* Draws the flip of each image, and records it in the item's `extra`.
 * @flips: a byte per image */
static gboolean
draw_flips (GstSpdlCudaNormalize *self, GstBuffer *batch, guint8 *flips)
{
  GstSpdlBatchMeta *meta = gst_spdl_buffer_get_batch_meta (batch);
  const guint n = meta ? MIN (meta->num_items, self->task.n_images) : 0;

  if (self->flip <= 0.0)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    GstSpdlItemMeta *item = &meta->items[i];
    const guint64 key[] = { self->seed, item->epoch, item->index, FLIP_KEY };
    SpdlRandom random;

    spdl_random_init (&random, key, G_N_ELEMENTS (key));
    flips[i] = spdl_random_double (&random) < self->flip;
    if (!item->extra)
      item->extra = gst_structure_new_empty ("extra");
    gst_structure_set (
        item->extra, "flip", G_TYPE_BOOLEAN, (gboolean) flips[i], NULL);
  }
  return TRUE;
}

static gboolean
check_batch (GstSpdlCudaNormalize *self, GstBuffer *batch, GError **error)
{
  const SpdlNormalizeTask *task = &self->task;
  const gsize size =
      (gsize) task->n_images * task->width * task->height * task->n_channels;
  guint n = gst_buffer_n_memory (batch);

  if (n != self->info.num_tensors) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The batch has %u tensors, but %u memories", self->info.num_tensors, n);
    return FALSE;
  }
  while (n-- > 0)
    if (!gst_spdl_is_cuda_memory (gst_buffer_peek_memory (batch, n))) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
          "Tensor %u of the batch is not on a CUDA device: put spdlcudaupload "
          "before spdlcudanormalize",
          n);
      return FALSE;
    }
  if (gst_buffer_peek_memory (batch, 0)->size >= size)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The images of the batch have %" G_GSIZE_FORMAT
      " bytes, but should have %" G_GSIZE_FORMAT,
      gst_buffer_peek_memory (batch, 0)->size, size);
  return FALSE;
}

/* Ensures that there is an allocator, with its stream, for the device of the
 * batch. */
static gboolean
ensure_allocator (GstSpdlCudaNormalize *self, gint device_id, GError **error)
{
  GstAllocator *allocator;

  if (self->allocator &&
      gst_spdl_cuda_allocator_get_device_id (self->allocator) == device_id)
    return TRUE;
  gst_clear_object (&self->allocator);
  allocator = gst_spdl_cuda_allocator_new (device_id, error);
  if (!allocator)
    return FALSE;
  self->allocator = GST_SPDL_CUDA_ALLOCATOR (allocator);
  return TRUE;
}

/* Computes the offset and size of each tensor. Returns the total size. */
static gsize
lay_out (const GstSpdlCudaNormalize *self, GstBuffer *batch, gsize *offsets,
    gsize *sizes)
{
  gsize end = 0;

  for (guint i = 0; i < self->info.num_tensors; i++) {
    sizes[i] = i == 0 ? gst_spdl_tensor_info_get_size (&self->info.tensors[0])
                      : gst_buffer_peek_memory (batch, i)->size;
    offsets[i] = end;
    end += (sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  return end;
}

/* Copies a tensor that is not converted. */
static gboolean
copy_tensor (GstSpdlCudaNormalize *self, GstMemory *from, guint8 *to,
    cudaStream_t stream, GError **error)
{
  return from->size == 0 ||
         (gst_spdl_cuda_memory_wait_by (from, self->allocator, error) &&
             gst_spdl_cudart_check (self->cudart,
                 self->cudart->cudaMemcpyAsync (to,
                     gst_spdl_cuda_memory_get_address (from), from->size,
                     cudaMemcpyDeviceToDevice, stream),
                 "Failed to copy a tensor", error));
}

static gboolean
fill_block (GstSpdlCudaNormalize *self, GstBuffer *batch,
    GstSpdlCudaBlock *block, const gsize *offsets, const guint8 *flips,
    GError **error)
{
  cudaStream_t stream = gst_spdl_cuda_allocator_get_stream (self->allocator);
  GstMemory *images = gst_buffer_peek_memory (batch, 0);

  if (!gst_spdl_cuda_memory_wait_by (images, self->allocator, error) ||
      !gst_spdl_cuda_block_begin (block, error) ||
      !spdl_normalizer_launch (&self->normalizer, &self->task,
          gst_spdl_cuda_memory_get_address (images), block->data, flips, stream,
          error))
    return FALSE;
  for (guint i = 1; i < self->info.num_tensors; i++)
    if (!copy_tensor (self, gst_buffer_peek_memory (batch, i),
            block->data + offsets[i], stream, error))
      return FALSE;
  return gst_spdl_cuda_block_end (block, error);
}

/* The batch's device must be current. The input is released immediately: its
 * memory is not reused before the stream has read it. */
static GstBuffer *
normalize_buffer (GstSpdlCudaNormalize *self, GstBuffer *batch, GError **error)
{
  g_autofree guint8 *flips = g_new0 (guint8, MAX (self->task.n_images, 1));
  gsize offsets[GST_SPDL_MAX_TENSORS], sizes[GST_SPDL_MAX_TENSORS];
  GstSpdlCudaBlock *block = gst_spdl_cuda_block_take (
      self->allocator, lay_out (self, batch, offsets, sizes), error);
  GstBuffer *output;
  gboolean ok, flipped;

  if (!block)
    return NULL;
  output = gst_buffer_new ();
  gst_buffer_copy_into (output, batch, GST_BUFFER_COPY_METADATA, 0, -1);
  flipped = draw_flips (self, output, flips);
  ok = fill_block (self, batch, block, offsets, flipped ? flips : NULL, error);
  for (guint i = 0; i < self->info.num_tensors; i++)
    gst_buffer_append_memory (
        output, gst_spdl_cuda_block_get_part (block, offsets[i], sizes[i]));
  gst_spdl_cuda_block_unref (block);
  if (!ok)
    gst_clear_buffer (&output);
  return output;
}

static GstBuffer *
process_buffer (GstSpdlCudaNormalize *self, GstBuffer *batch, GError **error)
{
  GstBuffer *output = NULL;
  gint device_id;

  if (!check_batch (self, batch, error))
    return NULL;
  device_id =
      gst_spdl_cuda_memory_get_device_id (gst_buffer_peek_memory (batch, 0));
  gst_spdl_cudart_join (self->cudart, device_id);
  if (ensure_allocator (self, device_id, error))
    output = normalize_buffer (self, batch, error);
  return output;
}

static void
count_buffer (GstSpdlCudaNormalize *self, GstBuffer *batch, GstBuffer *output)
{
  GstSpdlPlainStats *stats = self->parent.stats;
  const GstSpdlBatchMeta *meta = gst_spdl_buffer_get_batch_meta (output);

  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.items += meta ? meta->num_items : 1;
  stats->meter.interval.batches++;
  stats->meter.interval.bytes_in += gst_buffer_get_size (batch);
  stats->meter.interval.bytes_out += gst_buffer_get_size (output);
  spdl_mutex_unlock (&stats->lock);
}

static GstFlowReturn
gst_spdl_cuda_normalize_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlCudaNormalize *self = GST_SPDL_CUDA_NORMALIZE (filter);
  g_autoptr (GError) error = NULL;
  GstBuffer *output;

  if (!self->has_caps) {
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  output = process_buffer (self, buffer, &error);
  if (output)
    count_buffer (self, buffer, output);
  gst_buffer_unref (buffer);
  if (output)
    return gst_pad_push (filter->srcpad, output);
  gst_spdl_post_error (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

static gboolean
gst_spdl_cuda_normalize_event (GstSpdlFilter *filter, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return set_caps (GST_SPDL_CUDA_NORMALIZE (filter), event);
  return GST_SPDL_FILTER_CLASS (gst_spdl_cuda_normalize_parent_class)
      ->event (filter, event);
}

/* State changes */

static gboolean
open_device (GstSpdlCudaNormalize *self, GError **error)
{
  self->cudart = gst_spdl_cudart_get (error);
  return self->cudart &&
         gst_spdl_cudart_check_device (self->cudart, 0, error) &&
         spdl_normalizer_open (&self->normalizer, self->cudart, error);
}

/* Waits for launched kernels, before their module is unloaded. */
static void
wait_for_kernels (gpointer user_data)
{
  const GstSpdlCudaNormalize *self = user_data;

  self->cudart->cudaStreamSynchronize (
      gst_spdl_cuda_allocator_get_stream (self->allocator));
}

static GstStateChangeReturn
gst_spdl_cuda_normalize_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlCudaNormalize *self = GST_SPDL_CUDA_NORMALIZE (element);
  g_autoptr (GError) error = NULL;
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY &&
      !open_device (self, &error)) {
    gst_spdl_post_error (element, error);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (gst_spdl_cuda_normalize_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    if (self->allocator)
      gst_spdl_cudart_call (self->cudart,
          gst_spdl_cuda_allocator_get_device_id (self->allocator),
          wait_for_kernels, self);
    gst_clear_object (&self->allocator);
    self->has_caps = FALSE;
  } else if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    spdl_normalizer_close (&self->normalizer);
  }
  return ret;
}

static void
gst_spdl_cuda_normalize_class_init (GstSpdlCudaNormalizeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  gst_spdl_property_table_implement (properties, object_class,
      G_STRUCT_OFFSET (GstSpdlCudaNormalize, settings));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "CUDA normalizer",
      "Filter/Converter/Image/Hardware",
      "Converts uint8 images to normalized float NCHW on a CUDA device",
      "the gst-spdl developers");
  element_class->change_state = gst_spdl_cuda_normalize_change_state;
  filter_class->fields = GST_SPDL_FIELDS_BATCHES;
  filter_class->chain = gst_spdl_cuda_normalize_chain;
  filter_class->event = gst_spdl_cuda_normalize_event;
}

static void
gst_spdl_cuda_normalize_init (GstSpdlCudaNormalize *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
