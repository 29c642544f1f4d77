/* gst-spdl: element spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlbatch
 * @title: spdlbatch
 * @short_description: collates items into batches of tensors
 *
 * Copies `batch-size` items into one buffer of caps `other/tensors`. Each item
 * is copied once. A #GstSpdlBatchMeta names the items and the tensors: `data`,
 * or the names in the caps of the items, and `labels` and `indices` if these
 * properties are set. Dimensions are listed innermost first: NumPy's shape (32,
 * 224, 224, 3) is `3:224:224:32`.
 *
 * ## Shapes
 * All items of a batch must have the same shape, type, and number and names of
 * tensors as its first item. In the first batch of a run, another shape ends
 * the stream with an error that names both shapes. Later, and in a resumed run,
 * only the item fails, with the same message. `on-shape-mismatch` forces one of
 * the two. With `pad-to-longest`, items are padded with zeros to the longest
 * item of the batch.
 *
 * The last batch of an epoch or of the stream can be smaller and then has
 * different caps. With `drop-last` it is dropped instead, and the element
 * announces downstream that its items will not come. If all items of an epoch
 * fail or are dropped, here or in an earlier element, the stream ends with an
 * error. An epoch whose items were all filtered by functions is empty.
 *
 * ## Conversion
 * `dtype`, `layout`, `mean` and `std` convert the first tensor while it is
 * copied. Large items are converted by the workers of the stage before, such as
 * spdldecode, so its `concurrency` also determines how many are converted at a
 * time. With a floating-point type, uint8 values are divided by 255, `mean`
 * is subtracted, and the result is divided by `std`, as in torchvision's
 * Normalize. `mean` and `std` have one value per channel, or one value for all
 * channels. `layout=nchw` stores each channel as a plane. Input must be
 * interleaved.
 *
 * ## Mixing
 * `mixup-alpha` and `cutmix-alpha` mix each image of a batch with the one
 * before it, and its label, as torchvision's MixUp and CutMix do. `erase-prob`
 * erases a random box of each image. Both are applied to float32 images, after
 * `mean` and `std`. `num-classes` makes a row of numbers of each label.
 *
 * ## Samples of several media
 * Each part of a sample becomes a tensor with the name of the part. `part`
 * selects the part to convert (default: the first one). Parts that are not
 * decoded, such as text, need `pad-to-longest`. They become bytes, and a tensor
 * `NAME_lengths` holds their lengths.
 *
 * ## Memory
 * Memory comes from the downstream pool if there is one, and otherwise from a
 * pool of the element. It returns to the pool when no tensor of the batch is
 * referenced any more.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 pattern=snow
 *     ! video/x-raw,format=RGB,width=64,height=64
 *     ! spdlbatch batch-size=32 indices=true ! fakesink silent=false -v
 * ]|
 *
 * Normalization for most models of torchvision:
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100
 *     ! video/x-raw,format=RGB,width=64,height=64
 *     ! spdlbatch dtype=float32 layout=nchw mean="<0.485,0.456,0.406>"
 *     std="<0.229,0.224,0.225>" ! fakesink
 * ]|
 *
 * Mixup and CutMix in turn, with labels of 1,000 classes:
 * |[
 * gst-launch-1.0 spdlsrc location=photos label=folder ! spdlfetch
 *     ! spdldecode width=224 height=224
 *     ! spdlbatch labels=true num-classes=1000 label-smoothing=0.1
 *     dtype=float32 mixup-alpha=0.2 cutmix-alpha=1.0 erase-prob=0.25 ! fakesink
 * ]|
 *
 * Images and texts from a list:
 * |[
 * gst-launch-1.0 spdlsrc location=pairs.csv ! spdlfetch parts=text
 *     ! spdldecode part=data width=64 height=64
 *     ! spdlbatch pad-to-longest=true dtype=float32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/common/marks.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/plain.h"
#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/propertytable.h"
#include "plugins/core/batch/batchbuilder.h"
#include "plugins/core/batch/batchmix.h"
#include "plugins/core/batch/batchpool.h"
#include "plugins/core/batch/batchshapes.h"
#include "plugins/core/core.h"
#include "plugins/core/outcome.h"

typedef enum {
  SPDL_ON_SHAPE_MISMATCH_AUTO,
  SPDL_ON_SHAPE_MISMATCH_ERROR,
  SPDL_ON_SHAPE_MISMATCH_SKIP,
} SpdlOnShapeMismatch;

typedef struct {
  guint size;
  gboolean drop_last;
  gboolean labels;
  gboolean indices;
  SpdlCollateSettings stack; /* applied at the next caps event */
  const gchar
      *part;    /* interned, NULL: the first; applied at the next caps event */
  gboolean pad; /* applied at the next caps event */
  SpdlMixSettings mix; /* applied at the next caps event */
  SpdlOnShapeMismatch on_shape_mismatch;
} SpdlBatchSettings;

SPDL_DEFINE_ENUM_TYPE (GstSpdlBatchType, spdl_collate_dtype,
    { SPDL_COLLATE_DTYPE_AS_IS, "Same as the items", "as-is" },
    { SPDL_COLLATE_DTYPE_UINT8, "8-bit unsigned integer", "uint8" },
    { SPDL_COLLATE_DTYPE_FLOAT16, "IEEE half precision; uint8 becomes 0 to 1",
        "float16" },
    { SPDL_COLLATE_DTYPE_FLOAT32, "IEEE single precision; uint8 becomes 0 to 1",
        "float32" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlBatchLayout, spdl_collate_layout,
    { SPDL_COLLATE_LAYOUT_AS_IS, "Same as the items", "as-is" },
    { SPDL_COLLATE_LAYOUT_NHWC, "Channels last", "nhwc" },
    { SPDL_COLLATE_LAYOUT_NCHW, "Channels first", "nchw" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlOnShapeMismatch, spdl_on_shape_mismatch,
    { SPDL_ON_SHAPE_MISMATCH_AUTO,
        "Error in the first batch of a run from the beginning, otherwise skip",
        "auto" },
    { SPDL_ON_SHAPE_MISMATCH_ERROR, "End the stream with an error", "error" },
    { SPDL_ON_SHAPE_MISMATCH_SKIP, "Fail the item and continue", "skip" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (SpdlBatchSettings, size, PLAYING, "batch-size",
      "Batch size", "Number of items in a batch", 1, 1 << 20, 32),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, drop_last, PLAYING, "drop-last",
      "Drop last",
      "Drop an incomplete batch at the end of an epoch or of the stream",
      FALSE),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, labels, PLAYING, "labels", "Labels",
      "Add an int64 tensor of the items' labels", FALSE),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, indices, PLAYING, "indices",
      "Indices", "Add an int64 tensor of the items' indices in the dataset",
      FALSE),
  SPDL_PROPERTY_ENUM (SpdlBatchSettings, stack.type, READY, "dtype",
      "Data type",
      "Data type of the batch; for floating point, uint8 samples are divided "
      "by 255",
      spdl_collate_dtype_get_type, SPDL_COLLATE_DTYPE_AS_IS),
  SPDL_PROPERTY_ENUM (SpdlBatchSettings, stack.layout, READY, "layout",
      "Layout", "Order of the dimensions; items must be nhwc",
      spdl_collate_layout_get_type, SPDL_COLLATE_LAYOUT_AS_IS),
  SPDL_PROPERTY_MEAN (SpdlBatchSettings, stack.mean, stack.n_mean),
  SPDL_PROPERTY_STD (SpdlBatchSettings, stack.std, stack.n_std),
  SPDL_PROPERTY_INTERNED (SpdlBatchSettings, part, READY, "part", "Part",
      "Part of samples of several media that dtype, layout, mean and std apply "
      "to "
      "(unset = the first)"),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, pad, READY, "pad-to-longest",
      "Pad to longest",
      "Pad items of unequal length with zeros to the longest of the batch, and "
      "add a tensor of their lengths; in samples of several media, for parts "
      "that "
      "are bytes or audio",
      FALSE),
  SPDL_PROPERTY_UINT (SpdlBatchSettings, mix.n_classes, READY, "num-classes",
      "Number of classes",
      "Make each label a float32 row with 1 at the index of its class (0 = the "
      "labels stay numbers)",
      0, 1 << 24, 0),
  SPDL_PROPERTY_DOUBLE (SpdlBatchSettings, mix.smoothing, READY,
      "label-smoothing", "Label smoothing",
      "Share of a label that all classes get in equal parts", 0, 1, 0),
  SPDL_PROPERTY_DOUBLE (SpdlBatchSettings, mix.mixup_alpha, READY,
      "mixup-alpha", "Mixup alpha",
      "Mix each image with the one before it, in shares drawn from a beta "
      "distribution with this parameter (0 = no Mixup)",
      0, 1000, 0),
  SPDL_PROPERTY_DOUBLE (SpdlBatchSettings, mix.cutmix_alpha, READY,
      "cutmix-alpha", "CutMix alpha",
      "Take a box of each image from the one before it, with an area drawn "
      "from "
      "a beta distribution with this parameter (0 = no CutMix)",
      0, 1000, 0),
  SPDL_PROPERTY_DOUBLE (SpdlBatchSettings, mix.mix_prob, READY, "mix-prob",
      "Mix probability", "Probability that a batch is mixed", 0, 1, 1),
  SPDL_PROPERTY_DOUBLE (SpdlBatchSettings, mix.switch_prob, READY,
      "mix-switch-prob", "Mix switch probability",
      "Probability of CutMix instead of Mixup, if both are on", 0, 1, 0.5),
  SPDL_PROPERTY_DOUBLE (SpdlBatchSettings, mix.erase_prob, READY, "erase-prob",
      "Erase probability",
      "Probability that a random box of an image is erased", 0, 1, 0),
  SPDL_PROPERTY_BOOLEAN (SpdlBatchSettings, mix.erase_noise, READY,
      "erase-noise", "Erase with noise",
      "Fill the box with normally distributed noise instead of 0", FALSE),
  SPDL_PROPERTY_UINT64 (SpdlBatchSettings, mix.seed, READY, "seed", "Seed",
      "Seed of the random numbers for mixing and erasing", 0, G_MAXUINT64, 0),
  SPDL_PROPERTY_ENUM (SpdlBatchSettings, on_shape_mismatch, PLAYING,
      "on-shape-mismatch", "On shape mismatch",
      "Action for an item whose shape, type, or number or names of tensors "
      "differ from those of the first item of its batch",
      spdl_on_shape_mismatch_get_type, SPDL_ON_SHAPE_MISMATCH_AUTO),
  SPDL_PROPERTY_END
};

#define GST_TYPE_SPDL_BATCHER (gst_spdl_batcher_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlBatcher, gst_spdl_batcher, GST, SPDL_BATCHER, GstSpdlFilter)

typedef struct _GstSpdlBatcher GstSpdlBatcher;
struct _GstSpdlBatcher {
  GstSpdlFilter parent;

  /* Properties, guarded by the object lock; changes apply to the next batch. */
  SpdlBatchSettings settings;

  /* Guarded by the stream lock. */
  GstSpdlCapsGate gate;
  gboolean has_caps;
  SpdlCollator collator;   /* describes the current input */
  gboolean has_parts;      /* input: samples of several media */
  SpdlBatchBuilder *parts; /* (nullable): for samples of several media */
  SpdlBatchPool pool;
  gboolean warned_of_pool; /* about too few buffers in the pool */
  SpdlOutcome outcome;
  gboolean has_pushed; /* a batch was pushed in this run */
  gboolean has_ended;  /* with an error; further items are refused */

  /* Items that are kept until the longest one is known. */
  SpdlPadding padding;
  guint pad_size; /* number of items of their batch */

  GstSpdlBatchMeta *documents; /* (nullable): of the current item, if it is a
                                  row of tokens */
  SpdlTargets targets;         /* of the current item */
  guint num_shapes; /* tensors of the boxes and keypoints of the items */
  guint num_pad_targets;
  guint pad_targets[GST_SPDL_MAX_TENSORS]; /* sizes of those of kept items */

  SpdlBatchRows rows;        /* the current batch, if it has a slab */
  SpdlCollations collations; /* into the current batch */
};

GST_DEBUG_CATEGORY_STATIC (spdl_batch_debug);
#define GST_CAT_DEFAULT spdl_batch_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (
        GST_VIDEO_CAPS_MAKE (SPDL_COLLATOR_FORMATS) "; " SPDL_COLLATOR_SOUND
                                                    "; " GST_SPDL_TENSORS_CAPS
                                                    "; " GST_SPDL_SAMPLE_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SPDL_TENSORS_CAPS));

G_DEFINE_FINAL_TYPE (GstSpdlBatcher, gst_spdl_batcher, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlbatch, "spdlbatch", GST_RANK_NONE, GST_TYPE_SPDL_BATCHER)

/* Current batch. Functions are called with the stream lock held. */

static void
count_unpooled (GstSpdlBatcher *self)
{
  GstSpdlPlainStats *stats = self->parent.stats;

  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.unpooled++;
  spdl_mutex_unlock (&stats->lock);
  if (self->warned_of_pool)
    return;
  self->warned_of_pool = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("More than %u batches are in use at the same time: each additional "
       "batch is allocated separately, which costs time",
          self->pool.n_buffers),
      ("num-unpooled in stage-stats counts them; release batches, and all "
       "tensors made from them, as soon as they are not needed"));
}

static void
gst_spdl_batcher_clear_batch (GstSpdlBatcher *self)
{
  spdl_collations_wait (&self->collations);
  spdl_batch_rows_clear (&self->rows);
  if (self->parts)
    spdl_batch_builder_cancel (self->parts);
}

/* Posts @error, and discards all pending items. The caller must return
 * GST_FLOW_EOS, because GST_FLOW_ERROR would make the source post a second
 * error. */
static void
gst_spdl_batcher_fail (GstSpdlBatcher *self, const GError *error)
{
  self->has_ended = TRUE;
  spdl_padding_forget (&self->padding);
  gst_spdl_batcher_clear_batch (self);
  gst_spdl_post_error (GST_ELEMENT (self), error);
}

/* Posts an error and ends the stream. Returns GST_FLOW_EOS. */
static GstFlowReturn fail_for_memory (
    GstSpdlBatcher *self, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static GstFlowReturn
fail_for_memory (GstSpdlBatcher *self, const gchar *format, ...)
{
  g_autoptr (GError) error = NULL;
  va_list args;

  va_start (args, format);
  error = g_error_new_valist (
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, format, args);
  va_end (args);
  gst_spdl_batcher_fail (self, error);
  return GST_FLOW_EOS;
}

/* Acquires memory for the current batch, after negotiating a pool if necessary.
 * If memory is exhausted, ends the stream with an error. */
static GstFlowReturn
acquire_rows (GstSpdlBatcher *self)
{
  GstSpdlTensorsInfo info;
  const gsize size = spdl_batch_rows_plan (&self->rows, &info);
  const gboolean asked = gst_pad_check_reconfigure (self->parent.srcpad);
  GstBuffer *buffer = NULL;
  gboolean pooled;
  GstFlowReturn ret;

  if (size == G_MAXSIZE)
    return fail_for_memory (self,
        "A batch of %u such items is too large for the address space: lower "
        "batch-size",
        self->rows.size);
  if (asked || !spdl_batch_pool_fits (&self->pool, size)) {
    g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);

    /* Downstream negotiates memory for the caps that it has. Those of padded
     * parts are known only with the last item. */
    if (!self->has_parts || spdl_batch_builder_count_padded (self->parts) == 0)
      gst_spdl_caps_gate_open (&self->gate, caps);
    if (!spdl_batch_pool_negotiate (
            &self->pool, self->parent.srcpad, caps, size)) {
      GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
          ("Failed to create a pool of batches of %" G_GSIZE_FORMAT " bytes",
              size),
          (NULL));
      return GST_FLOW_ERROR;
    }
  }
  ret = spdl_batch_pool_acquire (&self->pool, &buffer, &pooled);
  if (ret == GST_FLOW_OK && !pooled)
    count_unpooled (self);
  if (ret == GST_FLOW_OK && !spdl_batch_rows_begin (&self->rows, buffer))
    ret = GST_FLOW_ERROR;
  if (ret == GST_FLOW_ERROR)
    return fail_for_memory (self,
        "Not enough memory for a batch of %" G_GSIZE_FORMAT
        " bytes, for %u items: lower batch-size",
        size, self->rows.size);
  return ret;
}

static gboolean
check_mix (const SpdlMixSettings *mix, GError **error)
{
  if (mix->mixup_alpha == 0 && mix->cutmix_alpha == 0)
    return TRUE;
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "mixup-alpha and cutmix-alpha mix images, but not their boxes and "
      "keypoints: unset them");
  return FALSE;
}

/* Starts a batch.
 *
 * @collator: describes its items
 * @n: number of items if they are padded, otherwise 0 */
static GstFlowReturn
gst_spdl_batcher_begin_batch (
    GstSpdlBatcher *self, const SpdlCollator *collator, guint n)
{
  const guint n_padded =
      self->has_parts ? spdl_batch_builder_count_padded (self->parts) : 0;
  SpdlBatchRows *rows = &self->rows;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret;

  GST_OBJECT_LOCK (self);
  rows->size = n > 0 ? n : self->settings.size;
  rows->labels = self->settings.labels;
  rows->indices = self->settings.indices;
  GST_OBJECT_UNLOCK (self);
  rows->collator = *collator;
  rows->lengths = n > 0;
  rows->mix = &self->collations.mix;
  rows->targets = &self->targets;
  spdl_batch_rows_set_targets (rows);

  if (!spdl_mix_check_settings (rows->mix, rows->labels, &error) ||
      (self->num_shapes > 0 && !check_mix (rows->mix, &error))) {
    gst_spdl_batcher_fail (self, error);
    return GST_FLOW_EOS;
  }
  if (spdl_batch_rows_count_tensors (rows) + n_padded + self->num_shapes >
      GST_SPDL_MAX_TENSORS) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A batch holds at most %d tensors, including lengths, labels, "
         "indices, targets, boxes and keypoints",
            GST_SPDL_MAX_TENSORS),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if ((ret = acquire_rows (self)) == GST_FLOW_OK && self->has_parts)
    spdl_batch_builder_begin (self->parts, rows->meta);
  return ret;
}

static void
count_batch (GstSpdlBatcher *self, gsize size)
{
  GstSpdlPlainStats *stats = self->parent.stats;

  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.batches++;
  stats->meter.interval.bytes_out += size;
  spdl_mutex_unlock (&stats->lock);
}

/* Adds the padded tensors of samples. If memory is exhausted, posts an error
 * and returns FALSE. */
static gboolean
add_padded (GstSpdlBatcher *self, GstSpdlTensorsInfo *info)
{
  g_autoptr (GError) error = NULL;

  if (spdl_batch_builder_end (self->parts, self->rows.batch, info, &error))
    return TRUE;
  gst_spdl_batcher_fail (self, error);
  return FALSE;
}

/* Adds the boxes and keypoints of the items. */
static gboolean
add_shapes (GstSpdlBatcher *self, GstSpdlTensorsInfo *info)
{
  g_autoptr (GError) error = NULL;

  if (spdl_batch_shapes_add (self->rows.batch, self->rows.meta, info, &error))
    return TRUE;
  gst_spdl_batcher_fail (self, error);
  return FALSE;
}

/* If downstream refused the caps of the batch, posts an error that names both
 * caps. Returns @ret if there is another reason. */
static GstFlowReturn
explain_refusal (GstSpdlBatcher *self, GstFlowReturn ret)
{
  g_autoptr (GError) error = gst_spdl_caps_gate_explain (&self->gate);

  if (!error)
    return ret;
  gst_spdl_batcher_fail (self, error);
  return GST_FLOW_EOS;
}

/* Pushes the current batch, which may be incomplete. */
static GstFlowReturn
gst_spdl_batcher_push_batch (GstSpdlBatcher *self)
{
  GstSpdlTensorsInfo info;
  GstFlowReturn ret;

  if (spdl_batch_rows_get_n (&self->rows) == 0) {
    gst_spdl_batcher_clear_batch (self);
    return GST_FLOW_OK;
  }
  spdl_collations_wait (&self->collations);
  spdl_mix_batch (
      &self->collations.mix, &self->rows, &self->collations.workers);
  spdl_batch_rows_end (&self->rows, &info);
  if ((self->parts && !add_padded (self, &info)) || !add_shapes (self, &info))
    return GST_FLOW_EOS;
  g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);
  GstBuffer *batch = g_steal_pointer (&self->rows.batch);
  gst_spdl_batcher_clear_batch (self);
  gst_spdl_caps_gate_open (&self->gate, caps);
  count_batch (self, gst_buffer_get_size (batch));
  self->has_pushed = self->outcome.arrived = TRUE;
  ret = gst_pad_push (self->parent.srcpad, batch);
  return G_UNLIKELY (ret == GST_FLOW_NOT_NEGOTIATED)
             ? explain_refusal (self, ret)
             : ret;
}

static void
note_dropped (GstEvent *event, gpointer self)
{
  spdl_outcome_add_event (&((GstSpdlBatcher *) self)->outcome, event);
}

/* Announces downstream that items will not come, and clears @dropped_items. */
static void
gst_spdl_batcher_push_dropped (
    GstSpdlBatcher *self, GstSpdlDroppedItems *dropped_items)
{
  gst_spdl_dropped_items_push_noted (
      dropped_items, self->parent.srcpad, note_dropped, self);
  gst_spdl_dropped_items_clear (dropped_items);
}

/* Drops the current batch, and announces downstream that its items will not
 * come. */
static void
gst_spdl_batcher_drop_batch (GstSpdlBatcher *self)
{
  GstSpdlDroppedItems dropped_items;

  if (!self->rows.batch)
    return;
  gst_spdl_dropped_items_init (&dropped_items);
  gst_spdl_dropped_items_add_buffer (
      &dropped_items, self->rows.batch, GST_SPDL_DROP_REASON_DROPPED);
  gst_spdl_batcher_push_dropped (self, &dropped_items);
  gst_spdl_batcher_clear_batch (self);
}

/* Items. Functions are called with the stream lock held. */

static void
item_failed (GstSpdlBatcher *self, const GstSpdlItemMeta *item, GError *error)
{
  GstSpdlFailure *failure =
      gst_spdl_filter_report_failure (&self->parent, item, error);
  GstSpdlDroppedItems dropped_items;

  gst_spdl_dropped_items_init (&dropped_items);
  gst_spdl_dropped_items_add (
      &dropped_items, item, GST_SPDL_DROP_REASON_FAILED);
  for (guint i = 1; self->documents && i < self->documents->num_items; i++)
    gst_spdl_dropped_items_add (&dropped_items, &self->documents->items[i],
        GST_SPDL_DROP_REASON_FAILED);
  dropped_items.last = failure;
  gst_spdl_batcher_push_dropped (self, &dropped_items);
  g_error_free (error);
}

/* Returns TRUE if an item with another shape ends the stream. In automatic
 * mode, that is so in the first batch, since most items would be lost if all
 * shapes differ. In a resumed run the first batch was sent before, so the item
 * fails, as it did in the original run. */
static gboolean
is_mismatch_an_error (GstSpdlBatcher *self)
{
  SpdlOnShapeMismatch mode;

  GST_OBJECT_LOCK (self);
  mode = self->settings.on_shape_mismatch;
  GST_OBJECT_UNLOCK (self);
  return mode == SPDL_ON_SHAPE_MISMATCH_ERROR ||
         (mode == SPDL_ON_SHAPE_MISMATCH_AUTO && !self->has_pushed &&
             !self->outcome.is_resumed);
}

/* Handles an item that is not compatible with the current batch. @error:
 * (transfer full) */
static GstFlowReturn
item_differs (GstSpdlBatcher *self, const GstSpdlItemMeta *item, GError *error)
{
  g_autofree gchar *name = NULL;

  if (!is_mismatch_an_error (self)) {
    item_failed (self, item, error);
    return GST_FLOW_OK;
  }
  name = gst_spdl_item_meta_describe (item);
  g_prefix_error (&error, "%s: ", name);
  gst_spdl_batcher_fail (self, error);
  g_error_free (error);
  return GST_FLOW_EOS;
}

/* Handles the failure of an item, of which a worker may still write a part into
 * the row that the next item gets. */
static void
row_failed (GstSpdlBatcher *self, const GstSpdlItemMeta *item, GError *error)
{
  spdl_collations_wait (&self->collations);
  item_failed (self, item, error);
}

static gboolean
write_item (GstSpdlBatcher *self, GstBuffer *buffer,
    const GstSpdlItemMeta *item, GError **error)
{
  guint8 *places[GST_SPDL_MAX_TENSORS];

  spdl_batch_rows_get_places (&self->rows, places);
  self->collations.is_last =
      spdl_batch_rows_get_n (&self->rows) + 1 == self->rows.size;
  /* The collator of the item is used, not that of the batch, because the
   * strides of items may differ. */
  if (!spdl_batch_rows_has_free_names (&self->rows, &self->collator, error) ||
      !(self->has_parts
              ? spdl_batch_builder_write (self->parts, buffer, places, error)
              : spdl_collator_write (
                    &self->collator, buffer, places, &self->collations, error)))
    return FALSE;
  if (!self->documents)
    return spdl_batch_rows_end_row (&self->rows, item, 0, error);
  spdl_batch_rows_end_documents (&self->rows, self->documents);
  return TRUE;
}

/* Pushes a batch of the kept items, padded to the longest. */
static GstFlowReturn
push_pending (GstSpdlBatcher *self)
{
  const guint n = self->padding.items->len;
  GstFlowReturn ret = GST_FLOW_OK;

  if (n == 0)
    return GST_FLOW_OK;
  memcpy (self->targets.sizes, self->pad_targets, sizeof self->pad_targets);
  ret = gst_spdl_batcher_begin_batch (
      self, spdl_padding_get_longest (&self->padding), n);
  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    const SpdlPaddedItem *padded =
        &g_array_index (self->padding.items, SpdlPaddedItem, i);
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (padded->buffer);
    guint8 *places[GST_SPDL_MAX_TENSORS];
    GError *error = NULL;

    spdl_batch_rows_get_places (&self->rows, places);
    self->collations.is_last = i + 1 == n;
    if (spdl_targets_read (&self->targets, item, &error) &&
        spdl_batch_rows_has_free_names (
            &self->rows, &padded->collator, &error) &&
        spdl_padding_write (&self->padding, i, &self->rows.collator, places,
            &self->collations, &error) &&
        spdl_batch_rows_end_row (&self->rows, item,
            spdl_padding_get_length (&self->padding, i), &error))
      continue;
    row_failed (self, item, error);
  }
  spdl_collations_wait (&self->collations);
  spdl_padding_forget (&self->padding);
  return ret == GST_FLOW_OK ? gst_spdl_batcher_push_batch (self) : ret;
}

/* Keeps an item for a padded batch, and pushes the batch when it is
 * complete. */
static GstFlowReturn
hold_item (GstSpdlBatcher *self, GstBuffer *buffer, const GstSpdlItemMeta *item,
    guint size)
{
  GError *error = NULL;

  if (self->padding.items->len == 0) {
    self->pad_size = size;
    self->num_pad_targets = self->targets.n;
    memcpy (self->pad_targets, self->targets.sizes, sizeof self->pad_targets);
  }
  if (!spdl_targets_have_sizes (
          &self->targets, self->num_pad_targets, self->pad_targets, &error) ||
      !spdl_padding_take (&self->padding, &self->collator, buffer, &error))
    return item_differs (self, item, error);
  return self->padding.items->len < self->pad_size ? GST_FLOW_OK
                                                   : push_pending (self);
}

/* Drops the kept items, and announces downstream that they will not come. */
static void
drop_pending (GstSpdlBatcher *self)
{
  GstSpdlDroppedItems dropped_items;

  if (self->padding.items->len == 0)
    return;
  gst_spdl_dropped_items_init (&dropped_items);
  for (guint i = 0; i < self->padding.items->len; i++)
    gst_spdl_dropped_items_add_buffer (&dropped_items,
        g_array_index (self->padding.items, SpdlPaddedItem, i).buffer,
        GST_SPDL_DROP_REASON_DROPPED);
  gst_spdl_batcher_push_dropped (self, &dropped_items);
  spdl_padding_forget (&self->padding);
}

/* Completes or drops the last batch of an epoch or of the stream. */
static GstFlowReturn
gst_spdl_batcher_end_batch (GstSpdlBatcher *self)
{
  gboolean drop;

  GST_OBJECT_LOCK (self);
  drop = self->settings.drop_last;
  GST_OBJECT_UNLOCK (self);
  if (!drop) {
    const GstFlowReturn ret = push_pending (self);

    return ret == GST_FLOW_OK ? gst_spdl_batcher_push_batch (self) : ret;
  }
  drop_pending (self);
  gst_spdl_batcher_drop_batch (self);
  return GST_FLOW_OK;
}

/* Refuses a batch as input; its items would be counted as a single one. */
static GstFlowReturn
refuse_batch (GstSpdlBatcher *self, GstBuffer *batch)
{
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("Input is already a batch and cannot be stacked again: use groups of as "
       "many rows as a batch should have, and remove spdlbatch"),
      (NULL));
  gst_buffer_unref (batch);
  return GST_FLOW_ERROR;
}

/* Adds an item to the current batch. */
static GstFlowReturn
add_item (GstSpdlBatcher *self, GstBuffer *buffer, const GstSpdlItemMeta *item)
{
  GstFlowReturn ret = GST_FLOW_OK;
  GError *error = NULL;

  if (!self->rows.slab)
    ret = gst_spdl_batcher_begin_batch (self, &self->collator, 0);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!((self->rows.n_targets == 0 && spdl_targets_are_none (&self->targets)) ||
          spdl_targets_have_sizes (&self->targets, self->rows.n_targets,
              self->rows.target_sizes, &error)) ||
      !spdl_collator_is_compatible (
          &self->rows.collator, &self->collator, &error) ||
      (self->has_parts &&
          !spdl_batch_builder_is_compatible (self->parts, &error)))
    return item_differs (self, item, error);
  if (!write_item (self, buffer, item, &error)) {
    row_failed (self, item, error);
    /* A corrupt first item must not determine the shape of the batch. */
    if (spdl_batch_rows_get_n (&self->rows) == 0)
      gst_spdl_batcher_clear_batch (self);
  }
  if (self->rows.meta && self->rows.n == self->rows.size)
    return gst_spdl_batcher_push_batch (self);
  return GST_FLOW_OK;
}

/* Returns the number of items in a padded batch; 0 if the next item is written
 * at once, because padding is off, the item has no length, or the current batch
 * is not padded. */
static guint
get_pad_size (GstSpdlBatcher *self)
{
  guint size;

  GST_OBJECT_LOCK (self);
  size = self->settings.pad && !self->has_parts && !self->documents
             ? self->settings.size
             : 0;
  GST_OBJECT_UNLOCK (self);
  if (self->padding.items->len > 0)
    return self->pad_size;
  return self->rows.slab || !spdl_padding_can (&self->collator) ? 0 : size;
}

/* Returns the fields of the first item of the batch to which the next item
 * belongs; those of the next one if it is the first. */
static const GstStructure *
get_first_extra (GstSpdlBatcher *self, const GstSpdlItemMeta *item)
{
  if (self->padding.items->len > 0)
    item = gst_spdl_buffer_get_item_meta (
        g_array_index (self->padding.items, SpdlPaddedItem, 0).buffer);
  else if (spdl_batch_rows_get_n (&self->rows) > 0)
    item = &self->rows.meta->items[0];
  return item->extra;
}

/* Reads the boxes and keypoints of an item. */
static gboolean
look_at_shapes (GstSpdlBatcher *self, GstBuffer **buffer, GError **error)
{
  const GstSpdlItemMeta *item;

  if (!spdl_batch_shapes_look (buffer, &self->collator, error))
    return FALSE;
  item = gst_spdl_buffer_get_item_meta (*buffer);
  if (!spdl_batch_shapes_fit (get_first_extra (self, item), item->extra, error))
    return FALSE;
  self->num_shapes = spdl_batch_shapes_count (item->extra);
  return TRUE;
}

/* Returns FALSE, after an error, if each row of tokens should have a label, an
 * index or a target, as only its documents have. */
static gboolean
take_documents (GstSpdlBatcher *self, GstSpdlBatchMeta *documents)
{
  g_autoptr (GError) error = NULL;
  gboolean has_numbers;

  GST_OBJECT_LOCK (self);
  has_numbers = self->settings.labels || self->settings.indices;
  GST_OBJECT_UNLOCK (self);
  self->documents = documents;
  if (!has_numbers && spdl_targets_are_none (&self->targets))
    return TRUE;
  g_set_error_literal (&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "A row of tokens has several documents, and no label, index or target: "
      "unset labels and indices, and target-columns of the source");
  gst_spdl_batcher_fail (self, error);
  return FALSE;
}

/* Prepares for an item, or a row of tokens: a batch without tensors. Consumes
 * @buffer unless it returns GST_FLOW_OK. */
static GstFlowReturn
look_at_input (GstSpdlBatcher *self, GstBuffer **buffer)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (*buffer);

  self->documents = NULL;
  if (!batch) {
    *buffer = gst_spdl_filter_ensure_item (&self->parent, *buffer);
    return GST_FLOW_OK;
  }
  if (batch->num_tensors > 0 || batch->num_items == 0)
    return refuse_batch (self, *buffer);
  if (take_documents (self, batch))
    return GST_FLOW_OK;
  gst_buffer_unref (*buffer);
  return GST_FLOW_EOS;
}

/* Implements GstSpdlFilterClass::chain. */
static GstFlowReturn
gst_spdl_batcher_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (filter);
  const GstSpdlItemMeta *item;
  GError *error = NULL;
  GstFlowReturn ret;
  guint pad_size;

  if (!self->has_caps || self->has_ended) {
    gst_buffer_unref (buffer);
    return self->has_ended ? GST_FLOW_EOS : GST_FLOW_NOT_NEGOTIATED;
  }
  if ((ret = look_at_input (self, &buffer)) != GST_FLOW_OK)
    return ret;
  filter->losses.num_items++;
  gst_spdl_plain_stats_pass (filter->stats, 1, gst_buffer_get_size (buffer), 0);
  if ((self->has_parts && !spdl_batch_builder_look (
                              self->parts, buffer, &self->collator, &error)) ||
      (!self->documents && !look_at_shapes (self, &buffer, &error))) {
    item_failed (self, spdl_buffer_get_first_item (buffer), error);
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  item = spdl_buffer_get_first_item (buffer);
  if (!spdl_collator_measure (&self->collator, buffer, &error) ||
      !(spdl_targets_are_none (&self->targets) ||
          spdl_targets_read (&self->targets, item, &error))) {
    item_failed (self, item, error);
    ret = GST_FLOW_OK;
  } else if ((pad_size = get_pad_size (self)) > 0) {
    ret = hold_item (self, buffer, item, pad_size);
  } else {
    ret = add_item (self, buffer, item);
  }
  self->documents = NULL;
  gst_buffer_unref (buffer);
  return ret;
}

/* Gives the reason for refused caps to a stage that asks. */
static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *caps = gst_spdl_query_parse_refusal (query);
  g_autoptr (GError) error = NULL;

  if (!caps || spdl_collator_check_caps (caps, pad, &error))
    return gst_pad_query_default (pad, parent, query);
  gst_spdl_query_set_refusal (query, pad, error);
  return TRUE;
}

/* Returns FALSE with @error set if images of samples would be mixed. */
static gboolean
check_parts (GstSpdlBatcher *self, GError **error)
{
  static const SpdlCollator sample = { 0 };

  if (spdl_mix_check_items (&self->collations.mix, &sample, NULL))
    return TRUE;
  g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "mixup-alpha, cutmix-alpha and erase-prob need items that are images, "
      "not "
      "samples of several parts: unset them");
  return FALSE;
}

/* Applies new caps. Settings of the conversion are read here, so changes apply
 * to the next caps. Takes ownership of @event. */
static gboolean
set_caps (GstSpdlBatcher *self, GstEvent *event)
{
  g_autoptr (GError) error = NULL;
  SpdlPartSettings settings;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  spdl_collations_wait (&self->collations);
  spdl_batch_workers_find (&self->collations.workers, self->parent.sinkpad);
  GST_OBJECT_LOCK (self);
  settings.stack = self->settings.stack;
  settings.part = self->settings.part;
  settings.pad = self->settings.pad;
  self->collations.mix = self->settings.mix;
  GST_OBJECT_UNLOCK (self);
  if (!spdl_collator_check_caps (caps, self->parent.sinkpad, &error)) {
    gst_spdl_batcher_fail (self, error);
    self->has_caps = FALSE;
    gst_event_unref (event);
    /* Upstream would post another error. chain() refuses the items. */
    return TRUE;
  }
  self->has_parts = gst_structure_has_name (
      gst_caps_get_structure (caps, 0), GST_SPDL_SAMPLE_CAPS);
  /* The parts of samples are known only from each sample. */
  if (self->has_parts) {
    if (!self->parts)
      self->parts = spdl_batch_builder_new (&self->collations);
    spdl_batch_builder_set (self->parts, &settings);
  }
  self->has_caps = self->has_parts
                       ? check_parts (self, &error)
                       : spdl_collator_init (
                             &self->collator, caps, &settings.stack, &error) &&
                             spdl_mix_check_items (&self->collations.mix,
                                 &self->collator, &error);
  if (!self->has_caps)
    gst_spdl_post_error (GST_ELEMENT (self), error);
  gst_event_unref (event);
  return self->has_caps;
}

/* Returns TRUE if @event may continue downstream. After an error, the end of an
 * epoch is not sent, because the epoch would seem complete. */
static gboolean
end_epoch (GstSpdlBatcher *self, GstEvent *event)
{
  g_autoptr (GError) error = NULL;

  if (!self->has_ended &&
      (error = spdl_outcome_end_epoch (&self->outcome, event)))
    gst_spdl_batcher_fail (self, error);
  return !self->has_ended ||
         !gst_spdl_event_parse_epoch (event, NULL, NULL, NULL);
}

static gboolean
gst_spdl_batcher_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (filter);
  GstSpdlFilterClass *parent_class =
      GST_SPDL_FILTER_CLASS (gst_spdl_batcher_parent_class);
  GError *error = NULL;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return set_caps (self, event);
  if (!spdl_targets_take_event (&self->targets, event, &error)) {
    gst_spdl_batcher_fail (self, error);
    g_error_free (error);
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
      gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
    gst_spdl_batcher_end_batch (self);
  gst_spdl_filter_sum_up_losses (filter, event);
  spdl_outcome_add_event (&self->outcome, event);
  if (!end_epoch (self, event)) {
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
      !GST_EVENT_IS_SERIALIZED (event)) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
      gst_spdl_caps_gate_open (&self->gate, NULL);
    return parent_class->event (filter, event);
  }
  gst_spdl_caps_gate_push_event (&self->gate, event);
  return TRUE;
}

static void
gst_spdl_batcher_reset (GstSpdlFilter *filter)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (filter);

  gst_spdl_batcher_clear_batch (self);
  spdl_padding_forget (&self->padding);
  gst_spdl_caps_gate_flush (&self->gate);
  spdl_outcome_flush (&self->outcome);
  self->has_ended = FALSE;
}

static gboolean
gst_spdl_batcher_start (GstSpdlFilter *filter, GError **error)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (filter);

  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = spdl_mix_check_settings (
      &self->settings.mix, self->settings.labels, error);
  GST_OBJECT_UNLOCK (self);
  spdl_targets_reset (&self->targets);
  self->warned_of_pool = self->has_pushed = FALSE;
  spdl_outcome_reset (&self->outcome);
  return ok;
}

static void
gst_spdl_batcher_stop (GstSpdlFilter *filter)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (filter);

  spdl_batch_workers_find (&self->collations.workers, NULL);
  spdl_batch_pool_clear (&self->pool);
  gst_spdl_caps_gate_clear (&self->gate);
  self->has_caps = self->has_parts = FALSE;
  g_clear_pointer (&self->parts, spdl_batch_builder_free);
}

enum {
  PROP_0,
  PROP_NAME,
  PROP_SETTINGS, /* first property of the table */
};

/* Names the element. GstObject would name it after the type, spdlbatcher0, if
 * @name is NULL. The type has another name than the element, since GstSpdlBatch
 * is the batch. */
static void
set_name (GObject *object, const gchar *name)
{
  static gint n_made; /* atomic */
  g_autofree gchar *made = NULL;

  if (!name)
    name = made =
        g_strdup_printf ("spdlbatch%d", g_atomic_int_add (&n_made, 1));
  gst_object_set_name (GST_OBJECT (object), name);
}

static void
gst_spdl_batcher_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (object);

  if (id == PROP_NAME)
    set_name (object, g_value_get_string (value));
  else
    gst_spdl_property_table_set (
        properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_batcher_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlBatcher *self = GST_SPDL_BATCHER (object);

  if (id == PROP_NAME)
    g_value_take_string (value, gst_object_get_name (GST_OBJECT (object)));
  else
    gst_spdl_property_table_get (
        properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_batcher_finalize (GObject *object)
{
  spdl_collations_clear (&GST_SPDL_BATCHER (object)->collations);
  spdl_padding_clear (&GST_SPDL_BATCHER (object)->padding);
  spdl_targets_clear (&GST_SPDL_BATCHER (object)->targets);
  spdl_outcome_clear (&GST_SPDL_BATCHER (object)->outcome);
  G_OBJECT_CLASS (gst_spdl_batcher_parent_class)->finalize (object);
}

static void
gst_spdl_batcher_class_init (GstSpdlBatcherClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_batch_debug, "spdlbatch", 0, "Batches");
  object_class->set_property = gst_spdl_batcher_set_property;
  object_class->get_property = gst_spdl_batcher_get_property;
  object_class->finalize = gst_spdl_batcher_finalize;
  g_object_class_override_property (object_class, PROP_NAME, "name");
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item batcher",
      "Filter/Converter", "Stacks items into batches of tensors",
      "the gst-spdl developers");
  filter_class->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_FAILURES |
                         GST_SPDL_FIELDS_UNPOOLED | GST_SPDL_FIELDS_WORKERS;
  filter_class->chain = gst_spdl_batcher_chain;
  filter_class->event = gst_spdl_batcher_event;
  filter_class->reset = gst_spdl_batcher_reset;
  filter_class->start = gst_spdl_batcher_start;
  filter_class->stop = gst_spdl_batcher_stop;
}

static void
gst_spdl_batcher_init (GstSpdlBatcher *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  spdl_collations_init (&self->collations, self->parent.stats);
  spdl_padding_init (&self->padding);
  spdl_targets_init (&self->targets);
  spdl_outcome_init (&self->outcome);
  gst_spdl_caps_gate_init (&self->gate, self->parent.srcpad);
  gst_pad_set_query_function (self->parent.sinkpad, sink_query);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->parent.sinkpad);
  gst_spdl_pad_take_all_caps_events (self->parent.sinkpad);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
