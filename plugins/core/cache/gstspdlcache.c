/* gst-spdl: element spdlcache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlcache
 * @title: spdlcache
 * @short_description: replays cached batches
 *
 * Passes `return-caches-after` batches, keeps the last `num-caches` of them,
 * and then replays these in order without taking further batches from upstream.
 * This shows how fast training would run if loading cost nothing.
 * `gst-spdl-launch-1.0 --headspace` uses this element for its measurement.
 *
 * Put the element directly before the sink. In a pipeline without `spdlbatch`,
 * "batch" means one item.
 *
 * ## Copies
 * Both the cached and the replayed batches are copies, so a trainer may write
 * into a batch. The copies are made in the streaming thread, into memory of the
 * downstream pool or of a pool of the element. Memory that the CPU cannot map
 * is shared instead of copied, and must not be written.
 *
 * ## Epochs, end of stream, resume states
 * Epoch events pass as long as batches come from upstream, and do not count as
 * batches. Replayed batches have no epochs. If the stream ends before
 * `return-caches-after` batches, it ends as without this element; set
 * `epochs=-1` on the source to avoid that. `stop-after` ends the stream after
 * that number of batches, including those from upstream.
 *
 * A replayed batch names its items, but they do not count as delivered again.
 * Its resume state is that of the last batch from upstream.
 *
 * The element posts the message `spdl-cached` before the first replayed batch.
 * The field `num-cached` of `stage-stats` counts replayed batches.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! spdlbatch batch-size=4
 *     ! spdlcache num-caches=2 return-caches-after=10 stop-after=100
 *     ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"
#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/common/tryallocator.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/core/batch/batchpool.h"
#include "plugins/core/core.h"

/* Cached batches. Both the cached and the replayed batches are copies, because
 * the receiver of a batch may write to it. Memory of the copies comes from a
 * pool; memory that cannot be mapped is shared. Guarded by the stream lock. */
typedef struct {
  GPtrArray *batches; /* GstSample */
  guint next;
  SpdlBatchPool pool;
} SpdlCachedBatches;

static void spdl_cached_batches_reset (SpdlCachedBatches *self);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_SPDL_CACHE (gst_spdl_cache_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlCache, gst_spdl_cache, GST, SPDL_CACHE, GstSpdlFilter)

typedef struct {
  guint num_caches;
  guint return_after;
  guint stop_after; /* 0: no limit */
} Settings;

struct _GstSpdlCache {
  GstSpdlFilter parent;

  Settings settings; /* guarded by the object lock */

  /* Guarded by the stream lock. */
  Settings now;      /* of the current run */
  guint64 n_batches; /* sent so far, including replayed batches */
  SpdlCachedBatches cached;
};

G_DEFINE_FINAL_TYPE (GstSpdlCache, gst_spdl_cache, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlcache, "spdlcache", GST_RANK_NONE, GST_TYPE_SPDL_CACHE)

/* Cached batches */

static void
spdl_cached_batches_init (SpdlCachedBatches *self)
{
  *self = (SpdlCachedBatches){ 0 };
  self->batches =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
}

static void
spdl_cached_batches_clear (SpdlCachedBatches *self)
{
  spdl_cached_batches_reset (self);
  g_clear_pointer (&self->batches, g_ptr_array_unref);
}

/* Frees the cached batches and releases the pool. */
static void
spdl_cached_batches_reset (SpdlCachedBatches *self)
{
  g_ptr_array_set_size (self->batches, 0);
  self->next = 0;
  spdl_batch_pool_clear (&self->pool);
}

static gboolean
can_be_mapped (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    if (GST_MEMORY_IS_NOT_MAPPABLE (gst_buffer_peek_memory (buffer, i)))
      return FALSE;
  return TRUE;
}

/* Caches a copy of @batch. Returns FALSE if memory is exhausted.
 *
 * @caps: (nullable): caps of @batch */
static gboolean
spdl_cached_batches_add (
    SpdlCachedBatches *self, GstBuffer *batch, GstCaps *caps)
{
  GstBuffer *kept = can_be_mapped (batch) ? gst_spdl_buffer_try_copy (batch)
                                          : gst_buffer_copy (batch);
  GstSpdlBatchMeta *meta;

  if (!kept)
    return FALSE;
  /* The sink sets the resume state when the batch is replayed. */
  if ((meta = gst_spdl_buffer_get_batch_meta (kept)))
    g_clear_pointer (&meta->resume_state, g_free);
  gst_spdl_buffer_mark_cached (kept);
  g_ptr_array_add (self->batches, gst_sample_new (kept, caps, NULL, NULL));
  gst_buffer_unref (kept);
  return TRUE;
}

static guint
spdl_cached_batches_get_n (const SpdlCachedBatches *self)
{
  return self->batches->len;
}

/* Returns the size of a slab for all tensors, with their alignment. */
static gsize
lay_out (GstBuffer *batch)
{
  gsize size = 0;

  for (guint i = 0; i < gst_buffer_n_memory (batch); i++)
    size += spdl_slab_align (
        gst_memory_get_sizes (gst_buffer_peek_memory (batch, i), NULL, NULL));
  return size;
}

static GstFlowReturn
acquire_slab (SpdlCachedBatches *self, GstPad *srcpad, GstCaps *caps,
    gsize size, SpdlSlab **slab)
{
  const gboolean asked = gst_pad_check_reconfigure (srcpad);
  GstBuffer *buffer = NULL;
  GstFlowReturn ret;
  gboolean pooled;

  if ((asked || !spdl_batch_pool_fits (&self->pool, size)) &&
      !spdl_batch_pool_negotiate (&self->pool, srcpad, caps, size))
    return GST_FLOW_ERROR;
  ret = spdl_batch_pool_acquire (&self->pool, &buffer, &pooled);
  if (ret == GST_FLOW_OK && !(*slab = spdl_slab_new (buffer)))
    ret = GST_FLOW_ERROR;
  return ret;
}

/* Copies tensor @i into the slab, and replaces its memory in @copy. */
static gboolean
copy_tensor (GstBuffer *copy, guint i, SpdlSlab *slab, gsize offset)
{
  GstMemory *memory = gst_buffer_peek_memory (copy, i);
  GstMapInfo map;

  if (!gst_memory_map (memory, &map, GST_MAP_READ))
    return FALSE;
  memcpy (slab->map.data + offset, map.data, map.size);
  const gsize size = map.size;
  gst_memory_unmap (memory, &map);
  gst_buffer_replace_memory (copy, i, spdl_slab_get_part (slab, offset, size));
  return TRUE;
}

/* Replaces the memory of @copy, which shares its memory with @kept, by copies
 * in a slab. */
static GstFlowReturn
copy_tensors (
    SpdlCachedBatches *self, GstPad *srcpad, GstSample *kept, GstBuffer *copy)
{
  const gsize size = lay_out (copy);
  SpdlSlab *slab = NULL;
  gsize offset = 0;
  GstFlowReturn ret;

  if (size == 0)
    return GST_FLOW_OK;
  ret = acquire_slab (self, srcpad, gst_sample_get_caps (kept), size, &slab);
  for (guint i = 0; i < gst_buffer_n_memory (copy) && ret == GST_FLOW_OK; i++) {
    const gsize at = offset;

    offset += spdl_slab_align (
        gst_memory_get_sizes (gst_buffer_peek_memory (copy, i), NULL, NULL));
    if (!copy_tensor (copy, i, slab, at))
      ret = GST_FLOW_ERROR;
  }
  g_clear_pointer (&slab, spdl_slab_unref);
  return ret;
}

/* Returns a copy of the next batch, cyclically.
 *
 * @srcpad: its peer is queried for a pool
 * @batch: (out) (transfer full): the copy, marked as cached
 * @caps: (out) (transfer none) (nullable) */
static GstFlowReturn
spdl_cached_batches_take (
    SpdlCachedBatches *self, GstPad *srcpad, GstBuffer **batch, GstCaps **caps)
{
  GstSample *kept = g_ptr_array_index (self->batches, self->next);
  GstBuffer *copy = gst_buffer_copy (gst_sample_get_buffer (kept));
  GstFlowReturn ret = GST_FLOW_OK;

  self->next = (self->next + 1) % self->batches->len;
  if (can_be_mapped (copy))
    ret = copy_tensors (self, srcpad, kept, copy);
  if (ret != GST_FLOW_OK)
    gst_clear_buffer (&copy);
  *batch = copy;
  *caps = gst_sample_get_caps (kept);
  return ret;
}

/* Counts a batch.
 *
 * @cached: whether it is replayed */
static void
count_buffer (GstSpdlCache *self, GstBuffer *buffer, gboolean cached)
{
  GstSpdlPlainStats *stats = self->parent.stats;
  const gsize bytes = gst_buffer_get_size (buffer);

  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.items += spdl_buffer_count_items (buffer);
  stats->meter.interval.batches++;
  stats->meter.interval.cached += cached;
  stats->meter.interval.bytes_in += cached ? 0 : bytes;
  stats->meter.interval.bytes_out += bytes;
  spdl_mutex_unlock (&stats->lock);
  self->n_batches++;
}

static gboolean
is_over (GstSpdlCache *self)
{
  return self->now.stop_after > 0 && self->n_batches >= self->now.stop_after;
}

static GstFlowReturn
end_stream (GstSpdlCache *self)
{
  gst_spdl_plain_stats_finish (self->parent.stats);
  gst_pad_push_event (self->parent.srcpad, gst_event_new_eos ());
  return GST_FLOW_EOS;
}

/* Batches from upstream */

/* Copies the settings, which stay fixed during the run. */
static void
begin_run (GstSpdlCache *self)
{
  GST_OBJECT_LOCK (self);
  self->now = self->settings;
  GST_OBJECT_UNLOCK (self);
}

/* Returns TRUE if the current batch is one of the last num-caches from
 * upstream. */
static gboolean
is_to_be_kept (GstSpdlCache *self)
{
  const Settings *now = &self->now;

  if (now->stop_after > 0 && now->stop_after <= now->return_after)
    return FALSE;
  return self->n_batches + now->num_caches >= now->return_after;
}

static gboolean
keep_buffer (GstSpdlCache *self, GstBuffer *buffer)
{
  GstCaps *caps = gst_pad_get_current_caps (self->parent.sinkpad);
  const gboolean ok = spdl_cached_batches_add (&self->cached, buffer, caps);

  gst_clear_caps (&caps);
  if (!ok)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Not enough memory to keep a batch of %" G_GSIZE_FORMAT " bytes",
            gst_buffer_get_size (buffer)),
        (NULL));
  return ok;
}

/* Replayed batches */

static void
post_cached (GstSpdlCache *self)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT (self));

  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("spdl-cached", "stage", G_TYPE_STRING, name,
              "num-batches", G_TYPE_UINT64, self->n_batches, "num-caches",
              G_TYPE_UINT, spdl_cached_batches_get_n (&self->cached), NULL)));
}

/* Sends caps if they differ from the current ones, as the last batch of an
 * epoch may be smaller. */
static void
send_caps (GstSpdlCache *self, GstCaps *caps)
{
  GstPad *srcpad = self->parent.srcpad;
  GstCaps *current = gst_pad_get_current_caps (srcpad);

  if (caps && (!current || !gst_caps_is_equal (caps, current)))
    gst_pad_push_event (srcpad, gst_event_new_caps (caps));
  gst_clear_caps (&current);
}

static GstFlowReturn
push_cached (GstSpdlCache *self)
{
  GstPad *srcpad = self->parent.srcpad;
  GstBuffer *batch;
  GstCaps *caps;
  GstFlowReturn ret =
      spdl_cached_batches_take (&self->cached, srcpad, &batch, &caps);

  if (ret == GST_FLOW_OK) {
    send_caps (self, caps);
    count_buffer (self, batch, TRUE);
    ret = gst_pad_push (srcpad, batch);
  } else if (ret == GST_FLOW_ERROR) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Not enough memory for a copy of a cached batch"), (NULL));
  }
  return ret;
}

/* Replays batches until stop-after, or until downstream returns an error, for
 * example because of a flush or a state change. Blocks upstream meanwhile. */
static GstFlowReturn
return_cached (GstSpdlCache *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  post_cached (self);
  while (ret == GST_FLOW_OK && !is_over (self))
    ret = push_cached (self);
  return ret == GST_FLOW_OK ? end_stream (self) : ret;
}

static GstFlowReturn
gst_spdl_cache_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlCache *self = GST_SPDL_CACHE (filter);
  GstFlowReturn ret;

  if (self->n_batches == 0)
    begin_run (self);
  if (is_over (self)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  if (is_to_be_kept (self) && !keep_buffer (self, buffer)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  count_buffer (self, buffer, FALSE);
  ret = gst_pad_push (filter->srcpad, buffer);
  if (ret == GST_FLOW_OK && is_over (self))
    return end_stream (self);
  if (ret == GST_FLOW_OK && self->n_batches >= self->now.return_after)
    return return_cached (self);
  return ret;
}

static void
gst_spdl_cache_reset (GstSpdlFilter *filter)
{
  GstSpdlCache *self = GST_SPDL_CACHE (filter);

  self->n_batches = 0;
  spdl_cached_batches_reset (&self->cached);
}

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (Settings, num_caches, READY, "num-caches",
      "Number of caches", "Maximum number of batches to keep", 1, G_MAXUINT,
      10),
  SPDL_PROPERTY_UINT (Settings, return_after, READY, "return-caches-after",
      "Return caches after",
      "Number of batches to take from upstream; the last num-caches of them "
      "are kept and then sent repeatedly",
      1, G_MAXUINT, 100),
  SPDL_PROPERTY_UINT (Settings, stop_after, READY, "stop-after", "Stop after",
      "Number of batches, from upstream and from the cache, after which the "
      "stream ends (0 = never)",
      0, G_MAXUINT, 0),
  SPDL_PROPERTY_END
};

static void
gst_spdl_cache_finalize (GObject *object)
{
  spdl_cached_batches_clear (&GST_SPDL_CACHE (object)->cached);
  G_OBJECT_CLASS (gst_spdl_cache_parent_class)->finalize (object);
}

static void
gst_spdl_cache_class_init (GstSpdlCacheClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  object_class->finalize = gst_spdl_cache_finalize;
  gst_spdl_property_table_implement (
      properties, object_class, G_STRUCT_OFFSET (GstSpdlCache, settings));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Batch cache", "Filter",
      "Sends the same cached batches repeatedly, to measure training without "
      "loading",
      "the gst-spdl developers");
  filter_class->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_CACHED;
  filter_class->chain = gst_spdl_cache_chain;
  filter_class->reset = gst_spdl_cache_reset;
}

static void
gst_spdl_cache_init (GstSpdlCache *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  spdl_cached_batches_init (&self->cached);
  gst_spdl_filter_set_proxy (&self->parent);
}
