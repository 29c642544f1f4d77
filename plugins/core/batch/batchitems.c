/* gst-spdl: the items that come to spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batcher-private.h"

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
  gst_spdl_losses_add (&self->losses, GST_ELEMENT (self),
      gst_spdl_loss_new (item, NULL, 0, error));

  gst_spdl_gone_init (&gone);
  gst_spdl_gone_add (&gone, item, GST_SPDL_GONE_FAILED);
  gst_spdl_gone_note_failure (&gone, item, error);
  gst_spdl_batch_element_push_gone (self, &gone);
  gst_spdl_gone_clear (&gone);
  g_error_free (error);
}

/* Where shapes differ from the start, most items would be lost. A run that
 * resumes has been past its first batch, and must not end where it did not
 * before. */
static gboolean
is_mismatch_an_error (GstSpdlBatchElement *self)
{
  SpdlOnShapeMismatch mode;

  GST_OBJECT_LOCK (self);
  mode = self->settings.on_shape_mismatch;
  GST_OBJECT_UNLOCK (self);
  return mode == SPDL_ON_SHAPE_MISMATCH_ERROR ||
         (mode == SPDL_ON_SHAPE_MISMATCH_AUTO && !self->has_pushed &&
             !self->outcome.is_resumed);
}

/* An item is not what its batch began with. @error: (transfer full) */
static GstFlowReturn
item_differs (
    GstSpdlBatchElement *self, const GstSpdlItemMeta *item, GError *error)
{
  g_autofree gchar *name = NULL;

  if (!is_mismatch_an_error (self)) {
    item_failed (self, item, error);
    return GST_FLOW_OK;
  }
  name = gst_spdl_item_meta_describe (item);
  g_prefix_error (&error, "%s: ", name);
  gst_spdl_batch_element_fail (self, error);
  g_error_free (error);
  return GST_FLOW_EOS;
}

static gboolean
write_item (GstSpdlBatchElement *self, GstBuffer *buffer,
    const GstSpdlItemMeta *item, GError **error)
{
  guint8 *places[GST_SPDL_MAX_TENSORS];

  spdl_batch_rows_get_places (&self->rows, places);
  /* By the item's own caps: only they know its padding. */
  if (!spdl_batch_rows_has_free_names (&self->rows, &self->stacker, error) ||
      !(self->has_parts
              ? spdl_part_stack_write (self->parts, buffer, places, error)
              : spdl_stacker_write (&self->stacker, buffer, places, error)))
    return FALSE;
  spdl_batch_rows_end_row (&self->rows, item, 0);
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
  ret = gst_spdl_batch_element_begin_batch (
      self, spdl_pad_get_longest (&self->pad), n);
  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    const SpdlHeld *held = &g_array_index (self->pad.held, SpdlHeld, i);
    const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (held->buffer);
    guint8 *places[GST_SPDL_MAX_TENSORS];
    GError *error = NULL;

    spdl_batch_rows_get_places (&self->rows, places);
    if (spdl_batch_rows_has_free_names (&self->rows, &held->stacker, &error) &&
        spdl_pad_write (&self->pad, i, &self->rows.stacker, places, &error))
      spdl_batch_rows_end_row (
          &self->rows, item, spdl_pad_get_length (&self->pad, i));
    else
      item_failed (self, item, error);
  }
  spdl_pad_forget (&self->pad);
  return ret == GST_FLOW_OK ? gst_spdl_batch_element_push_batch (self) : ret;
}

static GstFlowReturn
hold_item (GstSpdlBatchElement *self, GstBuffer *buffer,
    const GstSpdlItemMeta *item, guint size)
{
  GError *error = NULL;

  if (self->pad.held->len == 0)
    self->pad_size = size;
  if (!spdl_pad_take (&self->pad, &self->stacker, buffer, &error))
    return item_differs (self, item, error);
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
  gst_spdl_batch_element_push_gone (self, &gone);
  gst_spdl_gone_clear (&gone);
  spdl_pad_forget (&self->pad);
}

GstFlowReturn
gst_spdl_batch_element_end_batch (GstSpdlBatchElement *self)
{
  gboolean drop;

  GST_OBJECT_LOCK (self);
  drop = self->settings.drop_last;
  GST_OBJECT_UNLOCK (self);
  if (!drop) {
    const GstFlowReturn ret = push_held (self);

    return ret == GST_FLOW_OK ? gst_spdl_batch_element_push_batch (self) : ret;
  }
  drop_held (self);
  gst_spdl_batch_element_drop_batch (self);
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

  if (!self->rows.slab)
    ret = gst_spdl_batch_element_begin_batch (self, &self->stacker, 0);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!spdl_stacker_is_compatible (&self->rows.stacker, &self->stacker, &error))
    return item_differs (self, item, error);
  if (!write_item (self, buffer, item, &error)) {
    item_failed (self, item, error);
    /* A bad first item must not decide its batch's shape. */
    if (spdl_batch_rows_get_n (&self->rows) == 0)
      gst_spdl_batch_element_clear_batch (self);
  }
  if (self->rows.meta && self->rows.meta->num_items == self->rows.size)
    return gst_spdl_batch_element_push_batch (self);
  return GST_FLOW_OK;
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
  return self->rows.slab || !spdl_pad_can (&self->stacker) ? 0 : size;
}

GstFlowReturn
gst_spdl_batch_element_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlBatchElement *self = GST_SPDL_BATCH_ELEMENT (filter);
  const GstSpdlItemMeta *item;
  GError *error = NULL;
  GstFlowReturn ret;
  guint pad_size;

  if (!self->has_caps || self->has_ended) {
    gst_buffer_unref (buffer);
    return self->has_ended ? GST_FLOW_EOS : GST_FLOW_NOT_NEGOTIATED;
  }
  if (gst_spdl_buffer_get_batch_meta (buffer))
    return refuse_batch (self, buffer);
  buffer = ensure_item (self, buffer);
  item = gst_spdl_buffer_get_item_meta (buffer);
  self->losses.num_items++;
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
