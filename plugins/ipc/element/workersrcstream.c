/* gst-spdl: the stream of spdlworkersrc, over the deaths of its process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workersrc-private.h"

/* What goes on */

static void
count_copy (GstSpdlWorkerSrcElement *self, guint max)
{
  spdl_mutex_lock (&self->stats->lock);
  self->stats->meter.lap.unpooled++;
  spdl_mutex_unlock (&self->stats->lock);
  if (self->told)
    return;
  self->told = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("More than %u batches are in use at the same time: each further one is "
       "copied, which costs time",
          max),
      ("num-unpooled in stage-stats counts them; batches that are not needed "
       "any more, and all tensors made from them, should be let go of, or "
       "slabs be raised"));
}

static void
count_buffer (GstSpdlWorkerSrcElement *self, GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  const gsize size = gst_buffer_get_size (buffer);
  SpdlMeter *meter = &self->stats->meter;

  spdl_mutex_lock (&self->stats->lock);
  meter->lap.items += batch ? batch->num_items : 1;
  meter->lap.batches += batch != NULL;
  meter->lap.bytes_out += size;
  spdl_mutex_unlock (&self->stats->lock);
}

/* Returns FALSE, with an error posted, if there is no memory. */
static gboolean
add_memories (
    GstSpdlWorkerSrcElement *self, SpdlLetter *letter, GstBuffer *buffer)
{
  const guint max = self->run.order.n_slabs - 2;
  gboolean lent;

  if (!spdl_lease_give (g_steal_pointer (&letter->lease), buffer,
          &letter->places, max, &lent)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for a copy of a batch: keep fewer than %u of them",
            max),
        (NULL));
    return FALSE;
  }
  if (!lent)
    count_copy (self, max);
  return TRUE;
}

/* Returns: (transfer full) (nullable): NULL: there is no memory */
static GstBuffer *
take_buffer (GstSpdlWorkerSrcElement *self, SpdlLetter *letter)
{
  GstBuffer *buffer = g_steal_pointer (&letter->object);

  if (letter->lease && !add_memories (self, letter, buffer)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  count_buffer (self, buffer);
  self->has_pushed = TRUE;
  if (self->run.restarts > 0)
    spdl_restart_add_buffer (&self->restart, buffer);
  return buffer;
}

static void
push_event (GstSpdlWorkerSrcElement *self, GstEvent *event)
{
  if (self->run.restarts == 0 || spdl_restart_add_event (&self->restart, event))
    gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
  else
    gst_event_unref (event);
}

/* The end, and what goes on behind a death */

/* Behind all that was done. */
static GstFlowReturn
end_stream (GstSpdlWorkerSrcElement *self)
{
  if (self->error)
    gst_element_post_message (
        GST_ELEMENT (self), g_steal_pointer (&self->error));
  gst_spdl_plain_stats_finish (self->stats);
  return GST_FLOW_EOS;
}

static GstFlowReturn
give_up (GstSpdlWorkerSrcElement *self, const gchar *why, const gchar *when)
{
  /* What its pipeline has said, if it has, is the reason. */
  if (!self->error)
    gst_spdl_worker_src_element_post_death (self, why, when);
  return end_stream (self);
}

/* Returns: why there can be no other process, or NULL */
static const gchar *
find_hindrance (GstSpdlWorkerSrcElement *self)
{
  if (self->error || self->run.restarts == 0)
    return "before the end of the stream";
  if ((guint) g_atomic_int_get (&self->n_restarts) >= self->run.restarts)
    return "before the end of the stream, and was started again as often as it "
           "may be";
  if (self->has_pushed && self->restart.sources->len == 0)
    return "before the end of the stream, and cannot go on where it was, since "
           "its pipeline has no spdlsrc";
  return NULL;
}

static GstFlowReturn
go_on (GstSpdlWorkerSrcElement *self)
{
  GstEvent *event;

  while ((event = spdl_restart_next_epoch (&self->restart)))
    gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
  return GST_FLOW_OK;
}

/* Another process, behind what went into the pipeline.
 *
 * @why: (inout): how the one before died, and this one, if it does */
static SpdlLinkStatus
begin_again (GstSpdlWorkerSrcElement *self, gchar **why)
{
  g_autofree gchar *state = spdl_restart_dup_state (&self->restart);
  const guint n = g_atomic_int_add (&self->n_restarts, 1) + 1;

  GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
      ("%s, before the end of the stream: another one goes on (%u of %u)", *why,
          n, self->run.restarts),
      (NULL));
  g_clear_pointer (why, g_free);
  return gst_spdl_worker_src_element_reopen (
      self, state ? state : self->run.order.resume_state, &self->error, why);
}

static GstFlowReturn
worker_died (GstSpdlWorkerSrcElement *self, const gchar *text)
{
  g_autofree gchar *why = g_strdup (text);
  const gchar *hindrance;

  while (!(hindrance = find_hindrance (self))) {
    switch (begin_again (self, &why)) {
      case SPDL_LINK_PLAYS:
        return go_on (self);
      case SPDL_LINK_FAILED:
        return end_stream (self);
      case SPDL_LINK_INTERRUPTED:
        return GST_FLOW_FLUSHING;
      default:
        break;
    }
  }
  return give_up (self, why, hindrance);
}

/* What comes from the process */

/* GST_FLOW_CUSTOM_SUCCESS: with a buffer. */
static GstFlowReturn
open_letter (
    GstSpdlWorkerSrcElement *self, SpdlLetter *letter, GstBuffer **buffer)
{
  switch (letter->kind) {
    case SPDL_LETTER_BUFFER:
      *buffer = take_buffer (self, letter);
      return *buffer ? GST_FLOW_CUSTOM_SUCCESS : GST_FLOW_ERROR;
    case SPDL_LETTER_CAPS:
      return gst_base_src_set_caps (GST_BASE_SRC (self), letter->object)
                 ? GST_FLOW_OK
                 : GST_FLOW_NOT_NEGOTIATED;
    case SPDL_LETTER_EVENT:
      push_event (self, g_steal_pointer (&letter->object));
      return GST_FLOW_OK;
    case SPDL_LETTER_ERROR:
      self->error = g_steal_pointer (&letter->object);
      return GST_FLOW_OK;
    case SPDL_LETTER_EOS:
      return end_stream (self);
    default:
      return worker_died (self, letter->text);
  }
}

static SpdlLetter *
take_letter (GstSpdlWorkerSrcElement *self)
{
  SpdlMeter *meter = &self->stats->meter;
  const guint64 before = spdl_meter_now (meter);
  SpdlLetter *letter = spdl_link_take (self->link);

  if (!letter || letter->kind != SPDL_LETTER_BUFFER)
    return letter;
  spdl_mutex_lock (&self->stats->lock);
  spdl_histogram_add (&meter->lap.get_time, spdl_meter_now (meter) - before);
  spdl_mutex_unlock (&self->stats->lock);
  return letter;
}

GstFlowReturn
gst_spdl_worker_src_element_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstSpdlWorkerSrcElement *self = GST_SPDL_WORKER_SRC_ELEMENT (src);
  GstFlowReturn ret = GST_FLOW_OK;
  SpdlLetter *letter;

  while (ret == GST_FLOW_OK) {
    if (!(letter = take_letter (self)))
      return GST_FLOW_FLUSHING;
    ret = open_letter (self, letter, buffer);
    spdl_letter_free (letter);
  }
  return ret == GST_FLOW_CUSTOM_SUCCESS ? GST_FLOW_OK : ret;
}
