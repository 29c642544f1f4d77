/* gst-spdl: element spdlcudaupload
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlcudaupload
 * @title: spdlcudaupload
 * @short_description: copies batches to a CUDA device
 *
 * Copies each batch to memory of the device `device-id`, with caps
 * `other/tensors(memory:SpdlCUDAMemory)`. The device copies asynchronously on a
 * stream of the element, up to `prefetch` batches while the rest of the
 * pipeline works. A batch is pushed as soon as its copy has started. It carries
 * an event for which the consumer's stream waits; the CPU does not wait. See
 * #GstSpdlCudaMemory.
 *
 * Upstream gets a pool of page-locked memory, from which the device can copy;
 * `spdlbatch` writes into it. Tensors of a batch in one piece of this memory
 * are copied together. A batch in other memory is first copied to page-locked
 * memory in the streaming thread, and counted in `num-unpinned`.
 *
 * The field `ave-put-time` of `stage-stats` is the time that upstream waited
 * because `prefetch` copies were in progress. `ave-transfer-time`,
 * `p90-transfer-time` and `p99-transfer-time` are copy times by the device's
 * clock, without waiting.
 *
 * The CUDA Runtime is loaded in the change to READY, which fails if the
 * runtime, the driver or the device is missing.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch ! spdldecode width=224 height=224 ! spdlbatch batch-size=32
 *     ! spdlcudaupload ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/cuda/cuda.h"
#include "plugins/cuda/uploads.h"

GST_DEBUG_CATEGORY_STATIC (spdl_cuda_upload_debug);
#define GST_CAT_DEFAULT spdl_cuda_upload_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SPDL_TENSORS_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SPDL_CUDA_CAPS));

#define GST_TYPE_SPDL_CUDA_UPLOAD (gst_spdl_cuda_upload_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlCudaUpload, gst_spdl_cuda_upload, GST,
    SPDL_CUDA_UPLOAD, GstSpdlFilter)

struct _GstSpdlCudaUpload {
  GstSpdlFilter parent;

  gint device_id; /* protected by the object lock */
  guint prefetch; /* protected by the object lock */

  /* Valid from READY to PAUSED on, and until PAUSED to READY. */
  const GstSpdlCudart *cudart;
  GstSpdlCudaAllocator *allocator;
  GstAllocator *pinned; /* also protected by the object lock */
  SpdlUploads *uploads;
  gint error_was_posted; /* atomic */
};

G_DEFINE_FINAL_TYPE (
    GstSpdlCudaUpload, gst_spdl_cuda_upload, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlcudaupload, "spdlcudaupload", GST_RANK_NONE, GST_TYPE_SPDL_CUDA_UPLOAD)

/* Page-locked memory for upstream */

/* Alignment of tensors, the same as in spdlbatch's memory. */
#define ALIGNMENT 64

/* Returns the size of a batch with these caps; 0: unknown. */
static gsize
get_size (const GstCaps *caps)
{
  GstSpdlTensorsInfo info;
  gsize size = 0;

  if (!caps || !gst_caps_is_fixed (caps) ||
      !gst_spdl_tensors_info_from_caps (&info, caps, NULL))
    return 0;
  for (guint i = 0; i < info.num_tensors; i++) {
    const gsize one = gst_spdl_tensor_info_get_size (&info.tensors[i]);

    if (one > G_MAXSSIZE / GST_SPDL_MAX_TENSORS)
      return 0;
    size += (one + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  return size;
}

static void
add_pool (GstQuery *query, GstCaps *caps, gsize size, guint n_buffers,
    GstAllocator *pinned, const GstAllocationParams *params)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, n_buffers, 0);
  gst_buffer_pool_config_set_allocator (config, pinned, params);
  gst_buffer_pool_set_config (pool, config);
  gst_query_add_allocation_pool (query, pool, size, n_buffers, 0);
  gst_object_unref (pool);
}

/* Answers an allocation query with @pinned and, if a pool is requested, a pool
 * of at least @n_buffers batches. */
static void
spdl_cuda_offer (GstQuery *query, GstAllocator *pinned, guint n_buffers)
{
  GstAllocationParams params;
  gboolean need_pool;
  GstCaps *caps;
  gsize size;

  gst_query_parse_allocation (query, &caps, &need_pool);
  size = get_size (caps);
  gst_allocation_params_init (&params);
  params.align = ALIGNMENT - 1;
  gst_query_add_allocation_param (query, pinned, &params);
  /* GstBufferPool stores the size in 32 bits. */
  if (need_pool && size > 0 && size <= G_MAXUINT32)
    add_pool (query, caps, size, n_buffers, pinned, &params);
}

/* Statistics */

static void
add_figures (GstElement *element, const SpdlMeterStats *stats, GstStructure *s)
{
  gst_structure_set (s, "num-transfers", G_TYPE_UINT64, stats->num_tasks,
      "ave-transfer-time", G_TYPE_UINT64, stats->ave_time, "p90-transfer-time",
      G_TYPE_UINT64, stats->p90_time, "p99-transfer-time", G_TYPE_UINT64,
      stats->p99_time, "num-unpinned", G_TYPE_UINT64, stats->num_unpooled,
      NULL);
}

static void
count_buffer (GstSpdlCudaUpload *self, GstBuffer *batch, guint64 waited,
    gboolean is_moved)
{
  GstSpdlPlainStats *stats = self->parent.stats;
  const GstSpdlBatchMeta *meta = gst_spdl_buffer_get_batch_meta (batch);
  const gsize size = gst_buffer_get_size (batch);

  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.items += meta ? meta->num_items : 1;
  stats->meter.interval.batches++;
  stats->meter.interval.bytes_in += size;
  stats->meter.interval.bytes_out += size;
  stats->meter.interval.unpooled += is_moved;
  spdl_histogram_add (&stats->meter.interval.put_time, waited);
  spdl_mutex_unlock (&stats->lock);
}

/* Posts only the first error: a failed device causes errors in several
 * places. */
static void
post_once (GstSpdlCudaUpload *self, const GError *error)
{
  if (g_atomic_int_compare_and_exchange (&self->error_was_posted, FALSE, TRUE))
    gst_spdl_post_error (GST_ELEMENT (self), error);
}

/* Called on the thread of SpdlUploads. */

static void
on_done (gpointer user_data, guint64 time)
{
  GstSpdlPlainStats *stats = GST_SPDL_CUDA_UPLOAD (user_data)->parent.stats;

  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.tasks++;
  spdl_histogram_add (&stats->meter.interval.task_time, time);
  spdl_mutex_unlock (&stats->lock);
}

static void
on_failed (gpointer user_data, const GError *error)
{
  post_once (GST_SPDL_CUDA_UPLOAD (user_data), error);
}

/* Batches */

static GstFlowReturn
wait_for_room (GstSpdlCudaUpload *self, guint64 *waited)
{
  const SpdlMeter *meter = &self->parent.stats->meter;
  const guint64 before = spdl_meter_now (meter);
  const SpdlUploadsState state = spdl_uploads_wait_for_room (self->uploads);

  *waited = spdl_meter_now (meter) - before;
  switch (state) {
    case SPDL_UPLOADS_OK:
      return GST_FLOW_OK;
    case SPDL_UPLOADS_FLUSHING:
      return GST_FLOW_FLUSHING;
    default:
      return GST_FLOW_ERROR;
  }
}

/* Creates the output buffer: the metadata of @batch with device memory. */
static GstBuffer *
make_output (
    GstBuffer *batch, const SpdlTransfer *transfer, GstSpdlCudaBlock *block)
{
  GstBuffer *output = gst_buffer_new ();

  gst_buffer_copy_into (output, batch, GST_BUFFER_COPY_METADATA, 0, -1);
  for (guint i = 0; i < transfer->n_tensors; i++)
    gst_buffer_append_memory (
        output, gst_spdl_cuda_block_get_part (
                    block, transfer->offsets[i], transfer->maps[i].size));
  return output;
}

/* Waits for copies that were started before an error, and frees the
 * transfer. */
static void
abandon_transfer (
    GstSpdlCudaUpload *self, SpdlTransfer *transfer, GstSpdlCudaBlock *block)
{
  self->cudart->cudaStreamSynchronize (
      gst_spdl_cuda_allocator_get_stream (self->allocator));
  self->cudart->cudaGetLastError ();
  spdl_transfer_clear (transfer);
  gst_spdl_cuda_block_unref (block);
}

/* @batch: (transfer full) */
static GstBuffer *
upload_buffer (GstSpdlCudaUpload *self, GstBuffer *batch, gboolean *is_moved,
    GError **error)
{
  SpdlTransfer transfer;
  GstSpdlCudaBlock *block;
  GstBuffer *output;

  if (!spdl_transfer_init (
          &transfer, batch, self->allocator, self->pinned, error))
    return NULL;
  *is_moved = transfer.is_moved;
  block = gst_spdl_cuda_block_take (self->allocator, transfer.size, error);
  if (!block) {
    spdl_transfer_clear (&transfer);
    return NULL;
  }
  output = make_output (batch, &transfer, block);
  if (!spdl_transfer_begin (&transfer, block, error)) {
    gst_buffer_unref (output);
    abandon_transfer (self, &transfer, block);
    return NULL;
  }
  spdl_uploads_add (self->uploads, &transfer, block);
  return output;
}

static GstFlowReturn
gst_spdl_cuda_upload_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlCudaUpload *self = GST_SPDL_CUDA_UPLOAD (filter);
  g_autoptr (GError) error = NULL;
  gboolean is_moved = FALSE;
  GstBuffer *output;
  GstFlowReturn ret;
  guint64 waited;

  ret = wait_for_room (self, &waited);
  if (ret != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return ret;
  }
  gst_spdl_cudart_join (
      self->cudart, gst_spdl_cuda_allocator_get_device_id (self->allocator));
  output = upload_buffer (self, buffer, &is_moved, &error);
  if (!output) {
    post_once (self, error);
    return GST_FLOW_ERROR;
  }
  count_buffer (self, output, waited, is_moved);
  return gst_pad_push (filter->srcpad, output);
}

/* Events and queries */

static gboolean
set_caps (GstSpdlFilter *filter, GstEvent *event)
{
  GstCaps *caps, *moved;

  gst_event_parse_caps (event, &caps);
  moved = spdl_cuda_caps_move (caps, TRUE);
  gst_event_unref (event);
  event = gst_event_new_caps (moved);
  gst_caps_unref (moved);
  return gst_pad_push_event (filter->srcpad, event);
}

static gboolean
gst_spdl_cuda_upload_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlCudaUpload *self = GST_SPDL_CUDA_UPLOAD (filter);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      return set_caps (filter, event);
    case GST_EVENT_FLUSH_START:
      spdl_uploads_set_flushing (self->uploads, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      spdl_uploads_set_flushing (self->uploads, FALSE);
      break;
    case GST_EVENT_EOS:
      /* Errors and the last statistics must be posted before EOS. */
      spdl_uploads_drain (self->uploads);
      break;
    default:
      break;
  }
  return GST_SPDL_FILTER_CLASS (gst_spdl_cuda_upload_parent_class)
      ->event (filter, event);
}

/* Requests memory for the batches in flight and the one that is being
 * filled. */
static gboolean
propose_allocation (GstSpdlCudaUpload *self, GstQuery *query)
{
  g_autoptr (GstAllocator) pinned = NULL;
  guint n;

  GST_OBJECT_LOCK (self);
  pinned = self->pinned ? gst_object_ref (self->pinned) : NULL;
  n = self->prefetch + 1;
  GST_OBJECT_UNLOCK (self);
  if (pinned)
    spdl_cuda_offer (query, pinned, n);
  return pinned != NULL;
}

static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstSpdlFilter *filter = GST_SPDL_FILTER (parent);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_ALLOCATION:
      return propose_allocation (GST_SPDL_CUDA_UPLOAD (parent), query);
    case GST_QUERY_CAPS:
      spdl_cuda_caps_answer (pad, filter->srcpad, FALSE, query);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  spdl_cuda_caps_answer (pad, GST_SPDL_FILTER (parent)->sinkpad, TRUE, query);
  return TRUE;
}

/* State changes */

static gint
get_device_id (GstSpdlCudaUpload *self)
{
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->device_id;
  GST_OBJECT_UNLOCK (self);
  return device_id;
}

static gboolean
check_device (GstSpdlCudaUpload *self, GError **error)
{
  self->cudart = gst_spdl_cudart_get (error);
  return self->cudart && gst_spdl_cudart_check_device (
                             self->cudart, get_device_id (self), error);
}

/* Buffers that are still in use hold references to their allocator. */
static void
gst_spdl_cuda_upload_stop (GstSpdlFilter *filter)
{
  GstSpdlCudaUpload *self = GST_SPDL_CUDA_UPLOAD (filter);
  GstAllocator *pinned;

  g_clear_pointer (&self->uploads, spdl_uploads_free);
  gst_clear_object (&self->allocator);
  GST_OBJECT_LOCK (self);
  pinned = g_steal_pointer (&self->pinned);
  GST_OBJECT_UNLOCK (self);
  gst_clear_object (&pinned);
}

static gboolean
gst_spdl_cuda_upload_start (GstSpdlFilter *filter, GError **error)
{
  GstSpdlCudaUpload *self = GST_SPDL_CUDA_UPLOAD (filter);
  const gint device_id = get_device_id (self);
  const SpdlUploadsFuncs funcs = { on_done, on_failed, self };
  GstAllocator *allocator = gst_spdl_cuda_allocator_new (device_id, error);
  GstAllocator *pinned;

  if (!allocator)
    return FALSE;
  pinned = gst_spdl_pinned_allocator_new (device_id, error);
  if (!pinned) {
    gst_object_unref (allocator);
    return FALSE;
  }
  self->allocator = GST_SPDL_CUDA_ALLOCATOR (allocator);
  g_atomic_int_set (&self->error_was_posted, FALSE);
  GST_OBJECT_LOCK (self);
  self->pinned = pinned;
  const guint prefetch = self->prefetch;
  GST_OBJECT_UNLOCK (self);
  self->uploads =
      spdl_uploads_new (self->cudart, device_id, prefetch, &funcs, error);
  if (!self->uploads)
    gst_spdl_cuda_upload_stop (filter);
  return self->uploads != NULL;
}

static GstStateChangeReturn
gst_spdl_cuda_upload_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSpdlCudaUpload *self = GST_SPDL_CUDA_UPLOAD (element);
  g_autoptr (GError) error = NULL;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY &&
      !check_device (self, &error)) {
    gst_spdl_post_error (element, error);
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    spdl_uploads_set_flushing (self->uploads, TRUE);
  return GST_ELEMENT_CLASS (gst_spdl_cuda_upload_parent_class)
      ->change_state (element, transition);
}

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_INT (GstSpdlCudaUpload, device_id, READY, "device-id", "Device",
      "Number of the CUDA device to copy batches to", 0, G_MAXINT, 0),
  SPDL_PROPERTY_UINT (GstSpdlCudaUpload, prefetch, READY, "prefetch",
      "Prefetch",
      "Number of batches that may be copied to the device at the same time", 1,
      64, 2),
  SPDL_PROPERTY_END
};

static void
gst_spdl_cuda_upload_class_init (GstSpdlCudaUploadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      spdl_cuda_upload_debug, "spdlcudaupload", 0, "CUDA upload");
  gst_spdl_property_table_implement (properties, object_class, 0);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "CUDA uploader",
      "Filter/Hardware", "Copies batches to a CUDA device",
      "the gst-spdl developers");
  element_class->change_state = gst_spdl_cuda_upload_change_state;
  filter_class->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_PUT;
  filter_class->chain = gst_spdl_cuda_upload_chain;
  filter_class->event = gst_spdl_cuda_upload_event;
  filter_class->start = gst_spdl_cuda_upload_start;
  filter_class->stop = gst_spdl_cuda_upload_stop;
}

static void
gst_spdl_cuda_upload_init (GstSpdlCudaUpload *self)
{
  gst_spdl_property_table_init (properties, self);
  self->parent.stats->add_figures = add_figures;
  gst_pad_set_query_function (self->parent.sinkpad, sink_query);
  gst_pad_set_query_function (self->parent.srcpad, src_query);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
