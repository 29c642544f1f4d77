/* gst-spdl: sink of a worker's pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/worker/workersink.h"

#include "gst/spdl/process/slab.h"
#include "gst/spdl/wire/serializerbuffer.h"
#include "plugins/ipc/wire/workerconfig.h"

/* Slabs for upstream */

/* Allocates memories that are slabs (slab.h). */
#define TYPE_SLAB_ALLOCATOR (slab_allocator_get_type ())
G_DECLARE_FINAL_TYPE (
    SlabAllocator, slab_allocator, SLAB, ALLOCATOR, GstAllocator)

struct _SlabAllocator {
  GstAllocator parent;

  SpdlMutex lock;
  SpdlSlabs slabs; /* protected by the lock */
};

G_DEFINE_FINAL_TYPE (SlabAllocator, slab_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *
slab_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  SlabAllocator *self = SLAB_ALLOCATOR (allocator);
  const gsize begin = (SPDL_SLAB_HEAD + params->align) & ~params->align;
  const gsize more = params->prefix + params->padding;
  GstMemory *memory = NULL;
  SpdlSlab *slab;

  if (size > G_MAXSSIZE - begin - more)
    return NULL;
  spdl_mutex_lock (&self->lock);
  slab = spdl_slabs_take (&self->slabs, begin + more + size, 0);
  if (slab)
    memory = spdl_slab_wrap (slab, begin, more + size);
  spdl_mutex_unlock (&self->lock);
  if (memory && more > 0)
    gst_memory_resize (memory, params->prefix, size);
  return memory;
}

static void
slab_allocator_finalize (GObject *object)
{
  SlabAllocator *self = SLAB_ALLOCATOR (object);

  spdl_slabs_clear (&self->slabs);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (slab_allocator_parent_class)->finalize (object);
}

static void
slab_allocator_class_init (SlabAllocatorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = slab_allocator_finalize;
  GST_ALLOCATOR_CLASS (klass)->alloc = slab_allocator_alloc;
}

static void
slab_allocator_init (SlabAllocator *self)
{
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  spdl_slabs_init (&self->slabs);
  self->slabs.are_limited = TRUE;
  spdl_mutex_init (&self->lock);
}

/* Pool that keeps no buffers: the allocator knows which slabs the parent
 * process has returned. */
#define TYPE_SLAB_POOL (slab_pool_get_type ())
G_DECLARE_FINAL_TYPE (SlabPool, slab_pool, SLAB, POOL, GstBufferPool)

struct _SlabPool {
  GstBufferPool parent;
};

G_DEFINE_FINAL_TYPE (SlabPool, slab_pool, GST_TYPE_BUFFER_POOL)

static void
slab_pool_release_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  /* The flag says that the memory has changed, so the pool frees it. */
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  GST_BUFFER_POOL_CLASS (slab_pool_parent_class)->release_buffer (pool, buffer);
}

static void
slab_pool_class_init (SlabPoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->release_buffer = slab_pool_release_buffer;
}

static void
slab_pool_init (SlabPool *self)
{
}

/* Sink */

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

struct _WorkerSink {
  GstBaseSink parent;

  SpdlWire *wire;
  SpdlBell *bell;
  SlabAllocator *allocator;
  guint n_slabs;

  /* Protected by the stream lock. */
  GstCaps *caps;     /* nullable: to be sent before the next buffer */
  GByteArray *bytes; /* reused */

  SpdlMutex lock;
  SpdlCond cond; /* signaled when one of the following fields changes */
  /* Protected by the lock: */
  guint credit; /* number of events that may be sent */
  gboolean flushing;
  gboolean ended;
};

G_DEFINE_FINAL_TYPE (WorkerSink, worker_sink, GST_TYPE_BASE_SINK)

gboolean
worker_sink_add_credit (WorkerSink *self, guint32 n)
{
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  ok = n <= SPDL_WORKER_CONFIG_MAX_EVENTS - self->credit;
  if (ok)
    self->credit += n;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return ok;
}

static gboolean
is_flushing (WorkerSink *self)
{
  gboolean flushing;

  spdl_mutex_lock (&self->lock);
  flushing = self->flushing;
  spdl_mutex_unlock (&self->lock);
  return flushing;
}

static gboolean
has_slab (WorkerSink *self)
{
  guint n;

  spdl_mutex_lock (&self->allocator->lock);
  n = spdl_slabs_count_lent (&self->allocator->slabs);
  spdl_mutex_unlock (&self->allocator->lock);
  return n < self->n_slabs;
}

/* Waits until fewer than all slabs are lent. */
static GstFlowReturn
wait_for_slab (WorkerSink *self)
{
  while (!has_slab (self)) {
    spdl_bell_begin (self->bell);
    if (is_flushing (self))
      return GST_FLOW_FLUSHING;
    if (!has_slab (self))
      spdl_bell_wait (self->bell);
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
wait_for_credit (WorkerSink *self)
{
  gboolean flushing;

  spdl_mutex_lock (&self->lock);
  while (!self->flushing && self->credit == 0)
    spdl_cond_wait (&self->cond, &self->lock);
  flushing = self->flushing;
  if (!flushing)
    self->credit--;
  spdl_mutex_unlock (&self->lock);
  return flushing ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

/* Buffers */

/* Returns the slab of @memory and its offset, or NULL if it is in no slab or is
 * shared. */
static SpdlSlab *
find_memory (WorkerSink *self, GstMemory *memory, guint64 *offset)
{
  SpdlSlab *slab = NULL;
  GstMapInfo map;

  if (GST_MINI_OBJECT_REFCOUNT_VALUE (memory) == 1 &&
      gst_memory_map (memory, &map, GST_MAP_READ)) {
    spdl_mutex_lock (&self->allocator->lock);
    slab = spdl_slabs_find (&self->allocator->slabs, map.data, map.size);
    spdl_mutex_unlock (&self->allocator->lock);
    if (slab)
      *offset = map.data - slab->data;
    gst_memory_unmap (memory, &map);
  }
  return slab;
}

/* Returns the slab that contains all memories of @buffer, or NULL. */
static SpdlSlab *
find_slab (WorkerSink *self, GstBuffer *buffer, SpdlPlaces *places)
{
  SpdlSlab *slab = NULL, *other;

  if (!gst_buffer_is_writable (buffer))
    return NULL;
  for (guint i = 0; i < places->n_memories; i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    other = find_memory (self, memory, &places->offsets[i]);
    if (!other || (slab && other != slab))
      return NULL;
    slab = other;
    places->sizes[i] = memory->size;
  }
  /* It may have been sent before. */
  if (!slab || spdl_slab_is_lent (slab))
    return NULL;
  spdl_slab_lend (slab);
  return slab;
}

/* Copies the memories of @buffer to a slab, consecutively. */
static SpdlSlab *
copy_to_slab (WorkerSink *self, GstBuffer *buffer, SpdlPlaces *places)
{
  gsize end = SPDL_SLAB_HEAD, at = 0;
  SpdlSlab *slab;

  for (guint i = 0; i < places->n_memories; i++) {
    places->offsets[i] = end;
    places->sizes[i] = gst_buffer_peek_memory (buffer, i)->size;
    end +=
        (places->sizes[i] + SPDL_SLAB_HEAD - 1) & ~(gsize) (SPDL_SLAB_HEAD - 1);
  }
  spdl_mutex_lock (&self->allocator->lock);
  slab = spdl_slabs_take (&self->allocator->slabs, end, end / 4);
  if (slab)
    spdl_slab_lend (slab);
  spdl_mutex_unlock (&self->allocator->lock);
  if (!slab) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Not enough memory for a buffer of %" G_GSIZE_FORMAT " bytes",
            gst_buffer_get_size (buffer)),
        (NULL));
    return NULL;
  }
  for (guint i = 0; i < places->n_memories; i++) {
    gst_buffer_extract (
        buffer, at, slab->data + places->offsets[i], places->sizes[i]);
    at += places->sizes[i];
  }
  return slab;
}

/* @fd: to attach, or -1 */
static gboolean
send_bytes (WorkerSink *self, SpdlWireType type, int fd)
{
  const gboolean ok = spdl_wire_send (
      self->wire, type, self->bytes->data, self->bytes->len, fd);

  g_byte_array_set_size (self->bytes, 0);
  return ok;
}

static gboolean
send_caps (WorkerSink *self)
{
  g_autoptr (GstCaps) caps = g_steal_pointer (&self->caps);

  if (!caps)
    return TRUE;
  spdl_put_caps (self->bytes, caps);
  return send_bytes (self, SPDL_WIRE_CAPS, -1);
}

static gboolean
announce_slab (WorkerSink *self, SpdlSlab *slab)
{
  if (slab->is_known)
    return TRUE;
  spdl_put_u32 (self->bytes, slab->id);
  spdl_put_u64 (self->bytes, slab->size);
  if (!send_bytes (self, SPDL_WIRE_SLAB, slab->fd))
    return FALSE;
  spdl_slabs_set_known (&self->allocator->slabs, slab);
  return TRUE;
}

static gboolean
send_buffer (WorkerSink *self, GstBuffer *buffer, const SpdlPlaces *places)
{
  if (!send_caps (self))
    return FALSE;
  spdl_put_buffer (self->bytes, buffer, places);
  return send_bytes (self, SPDL_WIRE_BUFFER, -1);
}

static GstFlowReturn
send_empty (WorkerSink *self, GstBuffer *buffer)
{
  const SpdlPlaces places = { 0 };
  const GstFlowReturn ret = wait_for_credit (self);

  if (ret != GST_FLOW_OK)
    return ret;
  return send_buffer (self, buffer, &places) ? GST_FLOW_OK : GST_FLOW_EOS;
}

static GstFlowReturn
worker_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  WorkerSink *self = WORKER_SINK (sink);
  SpdlPlaces places = { .n_memories = gst_buffer_n_memory (buffer) };
  SpdlSlab *slab;

  if (gst_buffer_get_size (buffer) == 0)
    return send_empty (self, buffer);
  slab = find_slab (self, buffer, &places);
  if (!slab && !(slab = copy_to_slab (self, buffer, &places)))
    return GST_FLOW_ERROR;
  places.slab = slab->id;
  if (!announce_slab (self, slab) || !send_buffer (self, buffer, &places))
    return GST_FLOW_EOS;
  return wait_for_slab (self);
}

/* Events */

static gboolean
worker_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, 0);

  if (!gst_caps_features_is_equal (
          features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
    g_autofree gchar *text = gst_caps_features_to_string (features);

    GST_ELEMENT_ERROR (sink, STREAM, WRONG_TYPE,
        ("%s cannot be sent to another process: move the element that makes it "
         "after spdlworkersrc",
            text),
        (NULL));
    return FALSE;
  }
  gst_caps_replace (&WORKER_SINK (sink)->caps, caps);
  return TRUE;
}

static gboolean
send_event (WorkerSink *self, GstEvent *event)
{
  if (wait_for_credit (self) != GST_FLOW_OK)
    return FALSE;
  spdl_put_u32 (self->bytes,
      GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
  spdl_put_structure (self->bytes, gst_event_get_structure (event));
  return send_bytes (self, SPDL_WIRE_EVENT, -1);
}

void
worker_sink_end (WorkerSink *self)
{
  gboolean ended;

  spdl_mutex_lock (&self->lock);
  ended = self->ended;
  self->ended = TRUE;
  spdl_mutex_unlock (&self->lock);
  if (!ended)
    spdl_wire_send (self->wire, SPDL_WIRE_EOS, NULL, 0, -1);
}

static gboolean
worker_sink_event (GstBaseSink *sink, GstEvent *event)
{
  WorkerSink *self = WORKER_SINK (sink);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CUSTOM_DOWNSTREAM:
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      send_event (self, event);
      break;
    case GST_EVENT_EOS:
      worker_sink_end (self);
      break;
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (worker_sink_parent_class)->event (sink, event);
}

/* Offers slabs for batches only. Elements with other output have their own
 * allocation requirements, and copying their buffers is cheap. */
static gboolean
worker_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  WorkerSink *self = WORKER_SINK (sink);
  g_autoptr (GstBufferPool) pool = NULL;
  GstSpdlTensorsInfo info;
  GstCaps *caps;
  gsize size = 0;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_spdl_tensors_info_from_caps (&info, caps, NULL))
    return FALSE;
  for (guint i = 0; i < info.num_tensors; i++)
    size += gst_spdl_tensor_info_get_size (&info.tensors[i]);
  gst_query_add_allocation_param (query, GST_ALLOCATOR (self->allocator), NULL);
  pool = gst_object_ref_sink (g_object_new (TYPE_SLAB_POOL, NULL));
  gst_query_add_allocation_pool (query, pool, size, 0, self->n_slabs);
  return TRUE;
}

static gboolean
set_flushing (GstBaseSink *sink, gboolean flushing)
{
  WorkerSink *self = WORKER_SINK (sink);

  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  spdl_bell_ring (self->bell);
  return TRUE;
}

static gboolean
worker_sink_unlock (GstBaseSink *sink)
{
  return set_flushing (sink, TRUE);
}

static gboolean
worker_sink_unlock_stop (GstBaseSink *sink)
{
  return set_flushing (sink, FALSE);
}

static void
worker_sink_finalize (GObject *object)
{
  WorkerSink *self = WORKER_SINK (object);

  gst_object_unref (self->allocator);
  spdl_bell_free (self->bell);
  gst_clear_caps (&self->caps);
  g_byte_array_unref (self->bytes);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (worker_sink_parent_class)->finalize (object);
}

static void
worker_sink_class_init (WorkerSinkClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *base_class = GST_BASE_SINK_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = worker_sink_finalize;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Worker's end", "Sink",
      "Sends buffers to the parent process", "the gst-spdl developers");
  base_class->render = worker_sink_render;
  base_class->set_caps = worker_sink_set_caps;
  base_class->event = worker_sink_event;
  base_class->propose_allocation = worker_sink_propose_allocation;
  base_class->unlock = worker_sink_unlock;
  base_class->unlock_stop = worker_sink_unlock_stop;
}

static void
worker_sink_init (WorkerSink *self)
{
  self->bytes = g_byte_array_new ();
  self->allocator =
      gst_object_ref_sink (g_object_new (TYPE_SLAB_ALLOCATOR, NULL));
  self->credit = SPDL_WORKER_CONFIG_MAX_EVENTS;
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}

WorkerSink *
worker_sink_new (SpdlWire *wire, SpdlBell *bell, guint n_slabs)
{
  WorkerSink *self = g_object_new (TYPE_WORKER_SINK, "name", "worker", NULL);

  self->wire = wire;
  self->bell = bell;
  self->n_slabs = n_slabs;
  return self;
}
