/* gst-spdl: the batch that spdlbatch is filling
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batcher-private.h"

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

/* Ends the stream with an error; GST_FLOW_ERROR would make the source post a
 * second one. */
static GstFlowReturn fail_for_memory (
    GstSpdlBatchElement *self, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static GstFlowReturn
fail_for_memory (GstSpdlBatchElement *self, const gchar *format, ...)
{
  g_autoptr (GError) error = NULL;
  va_list args;

  va_start (args, format);
  error = g_error_new_valist (
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, format, args);
  va_end (args);
  gst_spdl_batch_element_fail (self, error);
  return GST_FLOW_EOS;
}

static GstFlowReturn
acquire_rows (GstSpdlBatchElement *self)
{
  GstSpdlTensorsInfo info;
  const gsize size = spdl_batch_rows_plan (&self->rows, &info);
  const gboolean asked = gst_pad_check_reconfigure (self->parent.srcpad);
  GstBuffer *buffer = NULL;
  gboolean pooled;
  GstFlowReturn ret;

  if (size == G_MAXSIZE)
    return fail_for_memory (self,
        "A batch of %u such items is larger than memory can be: lower size",
        self->rows.size);
  if (asked || !spdl_batch_pool_fits (&self->pool, size)) {
    g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);

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
  if (ret == GST_FLOW_OK && !spdl_batch_rows_begin (&self->rows, buffer))
    ret = GST_FLOW_ERROR;
  if (ret == GST_FLOW_ERROR)
    return fail_for_memory (self,
        "There is no memory for a batch of %" G_GSIZE_FORMAT " bytes, for %u "
        "items: lower size",
        size, self->rows.size);
  return ret;
}

GstFlowReturn
gst_spdl_batch_element_begin_batch (
    GstSpdlBatchElement *self, const SpdlStacker *stacker, guint n)
{
  const guint n_padded =
      self->has_parts ? spdl_part_stack_count_padded (self->parts) : 0;
  SpdlBatchRows *rows = &self->rows;
  GstFlowReturn ret;

  GST_OBJECT_LOCK (self);
  rows->size = n > 0 ? n : self->settings.size;
  rows->labels = self->settings.labels;
  rows->indices = self->settings.indices;
  GST_OBJECT_UNLOCK (self);
  rows->stacker = *stacker;
  rows->lengths = n > 0;

  if (spdl_batch_rows_count_tensors (rows) + n_padded > GST_SPDL_MAX_TENSORS) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A batch holds at most %d tensors, lengths, labels and indices among "
         "them",
            GST_SPDL_MAX_TENSORS),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if ((ret = acquire_rows (self)) == GST_FLOW_OK && self->has_parts)
    spdl_part_stack_begin (self->parts, rows->meta);
  return ret;
}

void
gst_spdl_batch_element_clear_batch (GstSpdlBatchElement *self)
{
  spdl_batch_rows_clear (&self->rows);
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

/* Returns FALSE, with the stream ended by an error, if there is no memory. */
static gboolean
add_padded (GstSpdlBatchElement *self, GstSpdlTensorsInfo *info)
{
  g_autoptr (GError) error = NULL;

  if (spdl_part_stack_end (self->parts, self->rows.batch, info, &error))
    return TRUE;
  gst_spdl_batch_element_fail (self, error);
  return FALSE;
}

/* Ends the stream with an error that names both caps, where the next element
 * refuses those of batches; @ret otherwise. */
static GstFlowReturn
explain_refusal (GstSpdlBatchElement *self, GstFlowReturn ret)
{
  g_autoptr (GError) error = gst_spdl_caps_gate_explain (&self->gate);

  if (!error)
    return ret;
  gst_spdl_batch_element_fail (self, error);
  return GST_FLOW_EOS;
}

GstFlowReturn
gst_spdl_batch_element_push_batch (GstSpdlBatchElement *self)
{
  GstSpdlTensorsInfo info;
  GstFlowReturn ret;

  if (spdl_batch_rows_get_n (&self->rows) == 0) {
    gst_spdl_batch_element_clear_batch (self);
    return GST_FLOW_OK;
  }
  spdl_batch_rows_end (&self->rows, &info);
  if (self->parts && !add_padded (self, &info))
    return GST_FLOW_EOS;
  g_autoptr (GstCaps) caps = gst_spdl_tensors_info_to_caps (&info);
  GstBuffer *batch = g_steal_pointer (&self->rows.batch);
  gst_spdl_batch_element_clear_batch (self);
  gst_spdl_caps_gate_open (&self->gate, caps);
  count_batch (self, gst_buffer_get_size (batch));
  self->has_pushed = self->outcome.arrived = TRUE;
  ret = gst_pad_push (self->parent.srcpad, batch);
  return G_UNLIKELY (ret == GST_FLOW_NOT_NEGOTIATED)
             ? explain_refusal (self, ret)
             : ret;
}

static void
note_gone (GstEvent *event, gpointer self)
{
  spdl_outcome_add_event (&((GstSpdlBatchElement *) self)->outcome, event);
}

void
gst_spdl_batch_element_push_gone (GstSpdlBatchElement *self, GstSpdlGone *gone)
{
  gst_spdl_gone_push_noted (gone, self->parent.srcpad, note_gone, self);
}

/* GST_FLOW_ERROR would make the source post a second error. */
void
gst_spdl_batch_element_fail (GstSpdlBatchElement *self, const GError *error)
{
  self->has_ended = TRUE;
  spdl_pad_forget (&self->pad);
  gst_spdl_batch_element_clear_batch (self);
  gst_spdl_post_error (GST_ELEMENT (self), error);
}

void
gst_spdl_batch_element_drop_batch (GstSpdlBatchElement *self)
{
  GstSpdlGone gone;

  if (!self->rows.batch)
    return;
  gst_spdl_gone_init (&gone);
  gst_spdl_gone_add_buffer (&gone, self->rows.batch, GST_SPDL_GONE_DROPPED);
  gst_spdl_batch_element_push_gone (self, &gone);
  gst_spdl_gone_clear (&gone);
  gst_spdl_batch_element_clear_batch (self);
}
