/* gst-spdl: decoder of single items in the calling thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdldecoder
 * @title: GstSpdlDecoder
 * @short_description: decodes one item in the calling thread
 *
 * Runs the work of a stage on one item, without a pipeline, a queue and
 * threads. Use it in programs that have another loader.
 *
 * |[
 * GstSpdlDecoder *decoder =
 *     gst_spdl_decoder_new ("spdldecode width=224 height=224", &error);
 * GstSpdlBatch *image = gst_spdl_decoder_decode (decoder, bytes, 0, 0, &error);
 * ]|
 *
 * A decoder may be used from any thread; concurrent calls wait for each other.
 * It has no threads and also works in a forked child, if no other thread used
 * it during the fork.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdldecoder.h"

#include "gst/spdl/common/init.h"
#include "gst/spdl/loader/parse.h"
#include "gst/spdl/stage/stage-private.h"

struct _GstSpdlDecoder {
  GObject parent;

  SpdlMutex lock;
  GstSpdlStage *stage;
  gpointer worker; /* of the stage, nullable */
  gboolean started;
  GstSpdlTask *task;
  gchar *warning; /* nullable: of the stage, the last one */
};

G_DEFINE_FINAL_TYPE (GstSpdlDecoder, gst_spdl_decoder, G_TYPE_OBJECT)

/* Returns: (transfer full): the stage of @description, which must be the only
 * element */
static GstSpdlStage *
parse_stage (const gchar *description, GError **error)
{
  GstElement *element = gst_spdl_parse_launch (description, error);

  if (!element)
    return NULL;
  gst_object_ref_sink (element);
  if (GST_IS_SPDL_STAGE (element) &&
      GST_SPDL_STAGE_GET_CLASS (element)->process)
    return GST_SPDL_STAGE (element);
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NOT_IMPLEMENTED,
      "\"%s\" cannot be used as a decoder: write a single stage that works "
      "without a pipeline, such as spdldecode",
      description);
  gst_object_unref (element);
  return NULL;
}

/* Called in decode (). */
static GstBusSyncReply
keep_warning (GstBus *bus, GstMessage *message, gpointer user_data)
{
  GstSpdlDecoder *self = user_data;
  g_autoptr (GError) warning = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning (message, &warning, NULL);
    g_free (self->warning);
    self->warning = g_strdup (warning->message);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static gboolean
open_stage (GstSpdlDecoder *self, GError **error)
{
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self->stage);
  g_autoptr (GstBus) bus =
      g_object_new (GST_TYPE_BUS, "enable-async", FALSE, NULL);

  gst_bus_set_sync_handler (bus, keep_warning, self, NULL);
  gst_element_set_bus (GST_ELEMENT (self->stage), bus);
  if (klass->start && !klass->start (self->stage, error))
    return FALSE;
  self->started = TRUE;
  if (klass->negotiate && !klass->negotiate (self->stage, NULL, error))
    return FALSE;
  if (!klass->open_worker)
    return TRUE;
  self->worker = klass->open_worker (self->stage, error);
  return self->worker != NULL;
}

/**
 * gst_spdl_decoder_new: (constructor)
 * @description: a stage and its properties in the syntax of gst-launch, such as
 *     `spdldecode width=224 height=224`
 * @error: (nullable): %GST_PARSE_ERROR, or the error with which the stage
 *     failed to start
 *
 * Creates a decoder.
 *
 * Returns: (transfer full): a decoder, or %NULL with @error set
 *
 * Since: 0.1
 */
GstSpdlDecoder *
gst_spdl_decoder_new (const gchar *description, GError **error)
{
  g_autoptr (GstSpdlDecoder) self = NULL;

  g_return_val_if_fail (description != NULL, NULL);

  if (!gst_spdl_init (error))
    return NULL;
  self = g_object_new (GST_TYPE_SPDL_DECODER, NULL);
  if (!(self->stage = parse_stage (description, error)) ||
      !open_stage (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

static GstBuffer *
make_item (GBytes *data, guint64 epoch, guint64 index)
{
  GstBuffer *item = g_bytes_get_size (data) > 0
                        ? gst_buffer_new_wrapped_bytes (data)
                        : gst_buffer_new ();
  GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (item);

  meta->epoch = epoch;
  meta->index = meta->sequence = index;
  meta->label = -1;
  return item;
}

/* Returns: (transfer full): the only result */
static GstSpdlBatch *
take_result (GstSpdlTask *task, GError **error)
{
  GstSpdlResult *result;
  GstSpdlBatch *batch;
  GstBuffer *buffer;

  if (task->results->len != 1) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "The stage returned %u items instead of one", task->results->len);
    return NULL;
  }
  gst_spdl_task_adopt_results (task, 0);
  result = &g_array_index (task->results, GstSpdlResult, 0);
  buffer = g_steal_pointer (&result->buffer);
  batch = gst_spdl_batch_new (buffer, result->caps, error);
  gst_buffer_unref (buffer);
  return batch;
}

/**
 * gst_spdl_decoder_decode:
 * @decoder: a decoder
 * @data: (transfer none): encoded bytes of the item
 * @epoch: epoch of the item, for random transforms
 * @index: index of the item in the dataset, for random transforms
 * @error: (nullable): reason of the failure
 *
 * Decodes one item and returns when it is done.
 *
 * Returns: (transfer full): the result, or %NULL with @error set
 *
 * Since: 0.1
 */
GstSpdlBatch *
gst_spdl_decoder_decode (GstSpdlDecoder *decoder, GBytes *data, guint64 epoch,
    guint64 index, GError **error)
{
  GstSpdlStageClass *klass;
  GstSpdlBatch *batch = NULL;
  GstSpdlTask *task;

  g_return_val_if_fail (GST_IS_SPDL_DECODER (decoder), NULL);
  g_return_val_if_fail (data != NULL, NULL);

  klass = GST_SPDL_STAGE_GET_CLASS (decoder->stage);
  spdl_mutex_lock (&decoder->lock);
  task = decoder->task;
  task->stage = decoder->stage;
  task->cancellable = gst_spdl_stage_get_private (decoder->stage)->cancellable;
  gst_spdl_task_set_item (task, make_item (data, epoch, index));
  gst_spdl_task_begin_item (task, 0);
  if (klass->process (decoder->stage, decoder->worker, task, error))
    batch = take_result (task, error);
  gst_spdl_task_reset (task);
  spdl_mutex_unlock (&decoder->lock);
  return batch;
}

/**
 * gst_spdl_decoder_take_warning:
 * @decoder: a decoder
 *
 * Returns the last warning of the stage since the last call, for example that
 * an image lost bits. A stage warns of the first item of each kind.
 *
 * Returns: (transfer full) (nullable): the warning, or %NULL
 *
 * Since: 0.1
 */
gchar *
gst_spdl_decoder_take_warning (GstSpdlDecoder *decoder)
{
  gchar *warning;

  g_return_val_if_fail (GST_IS_SPDL_DECODER (decoder), NULL);

  spdl_mutex_lock (&decoder->lock);
  warning = g_steal_pointer (&decoder->warning);
  spdl_mutex_unlock (&decoder->lock);
  return warning;
}

static void
gst_spdl_decoder_finalize (GObject *object)
{
  GstSpdlDecoder *self = GST_SPDL_DECODER (object);

  if (self->stage) {
    GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self->stage);

    if (self->worker && klass->close_worker)
      klass->close_worker (self->stage, self->worker);
    if (self->started && klass->stop)
      klass->stop (self->stage);
    gst_element_set_bus (GST_ELEMENT (self->stage), NULL);
    gst_object_unref (self->stage);
  }
  g_free (self->warning);
  gst_spdl_task_free (self->task);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_decoder_parent_class)->finalize (object);
}

static void
gst_spdl_decoder_class_init (GstSpdlDecoderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_spdl_decoder_finalize;
}

static void
gst_spdl_decoder_init (GstSpdlDecoder *self)
{
  spdl_mutex_init (&self->lock);
  self->task = gst_spdl_task_new ();
}
