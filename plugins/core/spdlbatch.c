/* gst-spdl: spdlbatch, which stacks items into batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlbatch
 * @title: spdlbatch
 * @short_description: stacks items into batches of tensors
 *
 * Writes `size` items into one buffer of caps `other/tensors`, each once, and
 * sends it on with a #GstSpdlBatchMeta that names the items and the tensors:
 * `data`, or what the items' caps name them, then `labels` and `indices` where
 * they are asked for. Dimensions are innermost first: what NumPy calls
 * (32, 224, 224, 3) is `3:224:224:32`.
 *
 * An item of another shape than the first one of its batch fails, and is
 * reported with both shapes. At the end of an epoch and of the stream comes a
 * smaller batch, with caps of its own; with `drop-last` its items are announced
 * as gone instead.
 *
 * `type`, `layout`, `mean` and `std` change the first tensor while it is
 * written: with a type of floating point, samples of uint8 are divided by 255,
 * then `mean` is subtracted and `std` divided by, a number for each channel or
 * one for all, as torchvision's Normalize does it; `layout=nchw` gives each
 * channel a plane of its own. Items that come are taken for interleaved.
 *
 * Samples of several media become a tensor a part, named after it. `part` says
 * which of them the conversion is for, if not the first. Parts that are not
 * decoded, such as text, are taken with `pad`: as bytes, padded with zeros to
 * the longest, with a tensor of their lengths, `NAME_lengths`.
 *
 * The memory comes from downstream's pool where it offers one, else from a pool
 * of the element's own; it goes back when nobody refers to any of its tensors.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 pattern=snow
 *     ! video/x-raw,format=RGB,width=64,height=64
 *     ! spdlbatch size=32 indices=true ! fakesink silent=false -v
 * ]|
 *
 * What most models of torchvision want:
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100
 *     ! video/x-raw,format=RGB,width=64,height=64
 *     ! spdlbatch type=float32 layout=nchw mean="<0.485,0.456,0.406>"
 *     std="<0.229,0.224,0.225>" ! fakesink
 * ]|
 *
 * Images, and what is written about them:
 * |[
 * gst-launch-1.0 spdlsrc location=pairs.csv ! spdlfetch parts=text
 *     ! spdldecode part=data width=64 height=64
 *     ! spdlbatch pad=true type=float32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>

#include "gst/spdl/gstspdlcapsgate.h"
#include "gst/spdl/gstspdlfilter.h"
#include "gst/spdl/gstspdlgone.h"
#include "spdlbatchpool.h"
#include "spdlbatchsettings.h"
#include "spdlcore.h"
#include "spdlpad.h"
#include "spdlpartstack.h"
#include "spdlslab.h"

GST_DEBUG_CATEGORY_STATIC (spdl_batch_debug);
#define GST_CAT_DEFAULT spdl_batch_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (
        SPDL_STACKER_FORMATS) "; " SPDL_STACKER_SOUND "; " GST_SPDL_TENSORS_CAPS
                              "; " GST_SPDL_SAMPLE_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SPDL_TENSORS_CAPS));

#define GST_TYPE_SPDL_BATCH_ELEMENT (gst_spdl_batch_element_get_type ())
GType gst_spdl_batch_element_get_type (void);
#define GST_SPDL_BATCH_ELEMENT(obj) ((GstSpdlBatchElement *) (obj))

typedef struct {
  GstSpdlFilter parent;

  /* Properties, under the object's lock; they count from the next batch on. */
  SpdlBatchSettings settings;

  /* Under the stream lock. */
  GstSpdlCapsGate gate;
  gboolean has_caps;
  SpdlStacker stacker;  /* of the items that come */
  gboolean has_parts;   /* these are samples of several media */
  SpdlPartStack *parts; /* (nullable): of such */
  guint64 num_failures;
  guint64 next_number; /* of items that nobody numbered */
  SpdlBatchPool pool;
  gboolean told; /* that the pool did not suffice */

  /* Items that wait for the longest one, if any. */
  SpdlPad pad;
  guint pad_size; /* of their batch */

  /* The batch that is being filled, if `slab` is set. */
  SpdlSlab *slab;
  GstBuffer *batch;
  GstSpdlBatchMeta *meta;
  SpdlStacker batch_stacker;
  guint batch_size;
  gboolean batch_labels;
  gboolean batch_indices;
  gboolean batch_pad;
  guint n_tensors; /* with labels and indices */
  gsize offsets[GST_SPDL_MAX_TENSORS];
  gsize item_sizes[GST_SPDL_MAX_TENSORS];
} GstSpdlBatchElement;

typedef struct {
  GstSpdlFilterClass parent_class;
} GstSpdlBatchElementClass;

G_DEFINE_TYPE (
    GstSpdlBatchElement, gst_spdl_batch_element, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlbatch, "spdlbatch", GST_RANK_NONE, GST_TYPE_SPDL_BATCH_ELEMENT)

/* Memory */

static gsize
align (gsize size)
{
  return (size + SPDL_SLAB_ALIGNMENT - 1) & ~(gsize) (SPDL_SLAB_ALIGNMENT - 1);
}

/* The batch */

static void
batch_info (GstSpdlBatchElement *self, guint n, GstSpdlTensorsInfo *info)
{
  const guint32 dims[] = { n };

  *info = self->batch_stacker.info;
  for (guint i = 0; i < info->num_tensors; i++)
    info->tensors[i].dims[info->tensors[i].rank++] = n;
  if (self->batch_pad)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
  if (self->batch_labels)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
  if (self->batch_indices)
    gst_spdl_tensors_info_add (info, GST_SPDL_TENSOR_INT64, 1, dims);
}

/* Says where the tensors lie; returns the size of all, or G_MAXSIZE. */
static gsize
lay_out (GstSpdlBatchElement *self, const GstSpdlTensorsInfo *info)
{
  gsize end = 0;

  self->n_tensors = info->num_tensors;
  for (guint i = 0; i < info->num_tensors; i++) {
    const gsize size = gst_spdl_tensor_info_get_size (&info->tensors[i]);

    if (size > G_MAXSSIZE / GST_SPDL_MAX_TENSORS)
      return G_MAXSIZE;
    self->offsets[i] = end;
    self->item_sizes[i] = size / self->batch_size;
    end += align (size);
  }
  return end;
}

static void
add_names (GstSpdlBatchElement *self)
{
  for (guint i = 0; i < self->batch_stacker.info.num_tensors; i++) {
    const gchar *given = self->batch_stacker.names[i];
    g_autofree gchar *name =
        i == 0 ? g_strdup ("data") : g_strdup_printf ("data%u", i);

    gst_spdl_batch_meta_add_name (self->meta, given ? given : name);
  }
  if (self->batch_pad)
    gst_spdl_batch_meta_add_name (self->meta, "data_lengths");
  if (self->batch_labels)
    gst_spdl_batch_meta_add_name (self->meta, "labels");
  if (self->batch_indices)
    gst_spdl_batch_meta_add_name (self->meta, "indices");
  if (self->has_parts)
    spdl_part_stack_begin (self->parts, self->meta);
}

static void
count_unpooled (GstSpdlBatchElement *self)
{
  GstSpdlPlainStats *stats = self->parent.stats;

  spdl_mutex_lock (&stats->lock);
  stats->meter.lap.unpooled++;
  spdl_mutex_unlock (&stats->lock);
  if (self->told)
    return;
  self->told = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("More than %u batches are in use at the same time: each further one "
       "gets memory of its own, which costs time",
          self->pool.n_buffers),
      ("num-unpooled in stage-stats counts them; batches that are not needed "
       "any more, and all tensors made from them, should be let go of"));
}

static GstFlowReturn
acquire_slab (GstSpdlBatchElement *self, const GstSpdlTensorsInfo *info)
{
  const gsize size = lay_out (self, info);
  const gboolean asked = gst_pad_check_reconfigure (self->parent.srcpad);
  GstBuffer *buffer = NULL;
  gboolean pooled;
  GstFlowReturn ret;

  if (size == G_MAXSIZE) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("A batch of %u such items is larger than memory can be",
            self->batch_size),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if (asked || !spdl_batch_pool_fits (&self->pool, size)) {
    g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (info);

    if (!spdl_batch_pool_negotiate (
            &self->pool, self->parent.srcpad, caps, size)) {
      GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
          ("No pool of batches of %" G_GSIZE_FORMAT " bytes can be made", size),
          (NULL));
      return GST_FLOW_ERROR;
    }
  }
  ret = spdl_batch_pool_acquire (&self->pool, &buffer, &pooled);
  if (ret == GST_FLOW_OK && !pooled)
    count_unpooled (self);
  if (ret == GST_FLOW_OK && !(self->slab = spdl_slab_new (buffer)))
    ret = GST_FLOW_ERROR;
  if (ret == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for a batch of %" G_GSIZE_FORMAT " bytes", size),
        (NULL));
  return ret;
}

/* @stacker: what its items are; @n: how many it will have if it is to be
 * padded, else 0 */
static GstFlowReturn
begin_batch (GstSpdlBatchElement *self, const SpdlStacker *stacker, guint n)
{
  const guint n_padded =
      self->has_parts ? spdl_part_stack_count_padded (self->parts) : 0;
  GstSpdlTensorsInfo info;
  GstFlowReturn ret;

  GST_OBJECT_LOCK (self);
  self->batch_size = n > 0 ? n : self->settings.size;
  self->batch_labels = self->settings.labels;
  self->batch_indices = self->settings.indices;
  GST_OBJECT_UNLOCK (self);
  self->batch_stacker = *stacker;
  self->batch_pad = n > 0;

  if (self->batch_stacker.info.num_tensors + self->batch_pad +
          self->batch_labels + self->batch_indices + n_padded >
      GST_SPDL_MAX_TENSORS) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A batch holds at most %d tensors, lengths, labels and indices among "
         "them",
            GST_SPDL_MAX_TENSORS),
        (NULL));
    return GST_FLOW_ERROR;
  }
  batch_info (self, self->batch_size, &info);
  if ((ret = acquire_slab (self, &info)) != GST_FLOW_OK)
    return ret;
  self->batch = gst_buffer_new ();
  self->meta = gst_spdl_buffer_add_batch_meta (self->batch, self->batch_size);
  add_names (self);
  return GST_FLOW_OK;
}

static void
clear_batch (GstSpdlBatchElement *self)
{
  gst_clear_buffer (&self->batch);
  g_clear_pointer (&self->slab, spdl_slab_unref);
  self->meta = NULL;
  if (self->parts)
    spdl_part_stack_cancel (self->parts);
}

static void
count_batch (GstSpdlBatchElement *self, gsize size)
{
  GstSpdlPlainStats *stats = self->parent.stats;

  spdl_mutex_lock (&stats->lock);
  stats->meter.lap.batches++;
  stats->meter.lap.bytes_out += size;
  spdl_mutex_unlock (&stats->lock);
}

static gboolean
add_padded (GstSpdlBatchElement *self, GstSpdlTensorsInfo *info)
{
  g_autoptr (GError) error = NULL;

  if (spdl_part_stack_end (self->parts, self->batch, info, &error))
    return TRUE;
  gst_spdl_post_error (GST_ELEMENT (self), error);
  return FALSE;
}

/* Sends the batch with the items that it has. */
static GstFlowReturn
push_batch (GstSpdlBatchElement *self)
{
  const guint n = self->meta ? self->meta->num_items : 0;
  GstSpdlTensorsInfo info;

  if (n == 0) {
    clear_batch (self);
    return GST_FLOW_OK;
  }
  for (guint i = 0; i < self->n_tensors; i++)
    gst_buffer_append_memory (
        self->batch, spdl_slab_get_part (self->slab, self->offsets[i],
                         self->item_sizes[i] * n));

  batch_info (self, n, &info);
  if (self->parts && !add_padded (self, &info)) {
    clear_batch (self);
    return GST_FLOW_ERROR;
  }
  g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);
  GstBuffer *batch = g_steal_pointer (&self->batch);
  clear_batch (self);
  gst_spdl_caps_gate_open (&self->gate, caps);
  count_batch (self, gst_buffer_get_size (batch));
  return gst_pad_push (self->parent.srcpad, batch);
}

static void
drop_batch (GstSpdlBatchElement *self)
{
  GstSpdlGone gone;

  if (!self->meta)
    return;
  gst_spdl_gone_init (&gone);
  gst_spdl_gone_add_buffer (&gone, self->batch, GST_SPDL_GONE_DROPPED);
  gst_spdl_gone_push (&gone, self->parent.srcpad);
  gst_spdl_gone_clear (&gone);
  clear_batch (self);
}

/* Items */

static void
item_failed (
    GstSpdlBatchElement *self, const GstSpdlItemMeta *item, GError *error)
{
  GstSpdlPlainStats *stats = self->parent.stats;
  GstSpdlGone gone;

  spdl_mutex_lock (&stats->lock);
  stats->meter.lap.failures++;
  spdl_mutex_unlock (&stats->lock);
  gst_spdl_post_item_failed (
      GST_ELEMENT (self), item, error, ++self->num_failures);
  g_error_free (error);

  gst_spdl_gone_init (&gone);
  gst_spdl_gone_add (&gone, item, GST_SPDL_GONE_FAILED);
  gst_spdl_gone_push (&gone, self->parent.srcpad);
  gst_spdl_gone_clear (&gone);
}

static void
write_number (GstSpdlBatchElement *self, guint tensor, guint i, gint64 number)
{
  memcpy (self->slab->map.data + self->offsets[tensor] + i * sizeof number,
      &number, sizeof number);
}

/* The item must have no tensor that is called as one of the batch's own. */
static gboolean
is_free (const SpdlStacker *item, const gchar *name, GError **error)
{
  for (guint i = 0; i < item->info.num_tensors; i++) {
    if (g_strcmp0 (item->names[i], name) != 0)
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It has a tensor named \"%s\", to which %s=true would add another one",
        name, name);
    return FALSE;
  }
  return TRUE;
}

static gboolean
has_free_names (
    GstSpdlBatchElement *self, const SpdlStacker *item, GError **error)
{
  return (!self->batch_labels || is_free (item, "labels", error)) &&
         (!self->batch_indices || is_free (item, "indices", error));
}

/* The numbers beside the data of the item that comes next. */
static void
end_item (GstSpdlBatchElement *self, const GstSpdlItemMeta *item, gint64 length)
{
  const guint i = self->meta->num_items;
  guint t = self->batch_stacker.info.num_tensors;

  if (self->batch_pad)
    write_number (self, t++, i, length);
  if (self->batch_labels)
    write_number (self, t++, i, item->label);
  if (self->batch_indices)
    write_number (self, t++, i, item->index);
  gst_spdl_batch_meta_append (self->meta, item);
}

/* Where the data of the item that comes next belongs. */
static void
find_places (GstSpdlBatchElement *self, guint8 **places)
{
  for (guint k = 0; k < self->batch_stacker.info.num_tensors; k++)
    places[k] = self->slab->map.data + self->offsets[k] +
                self->meta->num_items * self->item_sizes[k];
}

static gboolean
write_item (GstSpdlBatchElement *self, GstBuffer *buffer,
    const GstSpdlItemMeta *item, GError **error)
{
  guint8 *places[GST_SPDL_MAX_TENSORS];

  find_places (self, places);
  /* By the item's own caps: only they know its padding. */
  if (!has_free_names (self, &self->stacker, error) ||
      !spdl_stacker_is_compatible (
          &self->batch_stacker, &self->stacker, error) ||
      !(self->has_parts
              ? spdl_part_stack_write (self->parts, buffer, places, error)
              : spdl_stacker_write (&self->stacker, buffer, places, error)))
    return FALSE;
  end_item (self, item, 0);
  return TRUE;
}

/* Sends what was held, of one length. */
static GstFlowReturn
push_held (GstSpdlBatchElement *self)
{
  const guint n = self->pad.held->len;
  GstFlowReturn ret = GST_FLOW_OK;

  if (n == 0)
    return GST_FLOW_OK;
  ret = begin_batch (self, spdl_pad_get_longest (&self->pad), n);
  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    const SpdlHeld *held = &g_array_index (self->pad.held, SpdlHeld, i);
    const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (held->buffer);
    guint8 *places[GST_SPDL_MAX_TENSORS];
    GError *error = NULL;

    find_places (self, places);
    if (has_free_names (self, &held->stacker, &error) &&
        spdl_pad_write (&self->pad, i, &self->batch_stacker, places, &error))
      end_item (self, item, spdl_pad_get_length (&self->pad, i));
    else
      item_failed (self, item, error);
  }
  spdl_pad_forget (&self->pad);
  return ret == GST_FLOW_OK ? push_batch (self) : ret;
}

static GstFlowReturn
hold_item (GstSpdlBatchElement *self, GstBuffer *buffer,
    const GstSpdlItemMeta *item, guint size)
{
  GError *error = NULL;

  if (self->pad.held->len == 0)
    self->pad_size = size;
  if (!spdl_pad_take (&self->pad, &self->stacker, buffer, &error)) {
    item_failed (self, item, error);
    return GST_FLOW_OK;
  }
  return self->pad.held->len < self->pad_size ? GST_FLOW_OK : push_held (self);
}

/* Announces as gone what was held. */
static void
drop_held (GstSpdlBatchElement *self)
{
  GstSpdlGone gone;

  if (self->pad.held->len == 0)
    return;
  gst_spdl_gone_init (&gone);
  for (guint i = 0; i < self->pad.held->len; i++)
    gst_spdl_gone_add_buffer (&gone,
        g_array_index (self->pad.held, SpdlHeld, i).buffer,
        GST_SPDL_GONE_DROPPED);
  gst_spdl_gone_push (&gone, self->parent.srcpad);
  gst_spdl_gone_clear (&gone);
  spdl_pad_forget (&self->pad);
}

/* At the end of an epoch or of the stream. */
static GstFlowReturn
end_batch (GstSpdlBatchElement *self)
{
  gboolean drop;

  GST_OBJECT_LOCK (self);
  drop = self->settings.drop_last;
  GST_OBJECT_UNLOCK (self);
  if (!drop) {
    const GstFlowReturn ret = push_held (self);

    return ret == GST_FLOW_OK ? push_batch (self) : ret;
  }
  drop_held (self);
  drop_batch (self);
  return GST_FLOW_OK;
}

/* Items of a pipeline without spdlsrc and stages are numbered here. */
static GstBuffer *
ensure_item (GstSpdlBatchElement *self, GstBuffer *buffer)
{
  GstSpdlItemMeta *meta;

  if (gst_spdl_buffer_get_item_meta (buffer))
    return buffer;
  buffer = gst_buffer_make_writable (buffer);
  meta = gst_spdl_buffer_add_item_meta (buffer);
  meta->index = meta->sequence = self->next_number++;
  meta->created = gst_util_get_timestamp ();
  return buffer;
}

/* Its items would be numbered anew, as if they were one. */
static GstFlowReturn
refuse_batch (GstSpdlBatchElement *self, GstBuffer *batch)
{
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("A batch came, but batches are not stacked again: make of a group as "
       "many rows as a batch is to have, and leave spdlbatch out"),
      (NULL));
  gst_buffer_unref (batch);
  return GST_FLOW_ERROR;
}

/* Writes an item into the batch that is being filled. */
static GstFlowReturn
add_item (
    GstSpdlBatchElement *self, GstBuffer *buffer, const GstSpdlItemMeta *item)
{
  GstFlowReturn ret = GST_FLOW_OK;
  GError *error = NULL;

  if (!self->slab)
    ret = begin_batch (self, &self->stacker, 0);
  if (ret == GST_FLOW_OK && !write_item (self, buffer, item, &error)) {
    item_failed (self, item, error);
    /* A bad first item must not decide its batch's shape. */
    if (self->meta->num_items == 0)
      clear_batch (self);
  }
  if (self->meta && self->meta->num_items == self->batch_size)
    ret = push_batch (self);
  return ret;
}

/* Whether the item that comes is to wait for others, and for how many in all;
 * not within a batch that others are in already. */
static guint
get_pad_size (GstSpdlBatchElement *self)
{
  guint size;

  GST_OBJECT_LOCK (self);
  size = self->settings.pad && !self->has_parts ? self->settings.size : 0;
  GST_OBJECT_UNLOCK (self);
  if (self->pad.held->len > 0)
    return self->pad_size;
  return self->slab || !spdl_pad_can (&self->stacker) ? 0 : size;
}

static GstFlowReturn
gst_spdl_batch_element_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (filter);
  const GstSpdlItemMeta *item;
  GError *error = NULL;
  GstFlowReturn ret;
  guint pad_size;

  if (!self->has_caps) {
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (gst_spdl_buffer_get_batch_meta (buffer))
    return refuse_batch (self, buffer);
  buffer = ensure_item (self, buffer);
  item = gst_spdl_buffer_get_item_meta (buffer);
  gst_spdl_plain_stats_pass (filter->stats, 1, gst_buffer_get_size (buffer), 0);
  if (self->has_parts &&
      !spdl_part_stack_look (self->parts, buffer, &self->stacker, &error)) {
    item_failed (self, item, error);
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (!spdl_stacker_measure (&self->stacker, buffer, &error)) {
    item_failed (self, item, error);
    ret = GST_FLOW_OK;
  } else if ((pad_size = get_pad_size (self)) > 0) {
    ret = hold_item (self, buffer, item, pad_size);
  } else {
    ret = add_item (self, buffer, item);
  }
  gst_buffer_unref (buffer);
  return ret;
}

/* What samples of several media consist of, each says itself. */
static void
begin_parts (GstSpdlBatchElement *self, const SpdlPartSettings *settings)
{
  if (!self->parts)
    self->parts = spdl_part_stack_new ();
  spdl_part_stack_set (self->parts, settings);
}

static gboolean
set_caps (GstSpdlBatchElement *self, GstEvent *event)
{
  g_autoptr (GError) error = NULL;
  SpdlPartSettings settings;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_OBJECT_LOCK (self);
  settings.stack = self->settings.stack;
  settings.part = self->settings.part;
  settings.pad = self->settings.pad;
  GST_OBJECT_UNLOCK (self);
  self->has_parts = gst_structure_has_name (
      gst_caps_get_structure (caps, 0), GST_SPDL_SAMPLE_CAPS);
  if (self->has_parts)
    begin_parts (self, &settings);
  self->has_caps = self->has_parts || spdl_stacker_init (&self->stacker, caps,
                                          &settings.stack, &error);
  if (!self->has_caps)
    gst_spdl_post_error (GST_ELEMENT (self), error);
  gst_event_unref (event);
  return self->has_caps;
}

static gboolean
gst_spdl_batch_element_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (filter);
  GstSpdlFilterClass *parent_class =
      GST_SPDL_FILTER_CLASS (gst_spdl_batch_element_parent_class);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return set_caps (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
      gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
    end_batch (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS || !GST_EVENT_IS_STICKY (event) ||
      !GST_EVENT_IS_SERIALIZED (event)) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
      gst_spdl_caps_gate_open (&self->gate, NULL);
    return parent_class->event (filter, event);
  }
  gst_spdl_caps_gate_push_event (&self->gate, event);
  return TRUE;
}

static void
gst_spdl_batch_element_reset (GstSpdlFilter *filter)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (filter);

  clear_batch (self);
  spdl_pad_forget (&self->pad);
  gst_spdl_caps_gate_flush (&self->gate);
}

static GstStateChangeReturn
gst_spdl_batch_element_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->num_failures = self->next_number = 0;
    self->told = FALSE;
  }
  ret = GST_ELEMENT_CLASS (gst_spdl_batch_element_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    spdl_batch_pool_clear (&self->pool);
    gst_spdl_caps_gate_clear (&self->gate);
    self->has_caps = self->has_parts = FALSE;
    g_clear_pointer (&self->parts, spdl_part_stack_free);
  }
  return ret;
}

static void
gst_spdl_batch_element_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (object);
  gboolean known;

  GST_OBJECT_LOCK (self);
  known = spdl_batch_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_batch_element_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (object);
  gboolean known;

  GST_OBJECT_LOCK (self);
  known = spdl_batch_settings_get (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_spdl_batch_element_finalize (GObject *object)
{
  spdl_pad_clear (&GST_SPDL_BATCH_ELEMENT (object)->pad);
  G_OBJECT_CLASS (gst_spdl_batch_element_parent_class)->finalize (object);
}

static void
gst_spdl_batch_element_class_init (GstSpdlBatchElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_batch_debug, "spdlbatch", 0, "Batches");
  object_class->set_property = gst_spdl_batch_element_set_property;
  object_class->get_property = gst_spdl_batch_element_get_property;
  object_class->finalize = gst_spdl_batch_element_finalize;
  spdl_batch_settings_install (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item batcher",
      "Generic", "Stacks items into batches of tensors",
      "the gst-spdl developers");
  element_class->change_state = gst_spdl_batch_element_change_state;
  filter_class->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_FAILURES |
                         GST_SPDL_FIELDS_UNPOOLED;
  filter_class->chain = gst_spdl_batch_element_chain;
  filter_class->event = gst_spdl_batch_element_event;
  filter_class->reset = gst_spdl_batch_element_reset;
}

static void
gst_spdl_batch_element_init (GstSpdlBatchElement *self)
{
  spdl_batch_settings_init (&self->settings);
  spdl_pad_init (&self->pad);
  gst_spdl_caps_gate_init (&self->gate, self->parent.srcpad);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
