/* gst-spdl: sink of a worker's pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/worker/workersink.h"

#include <unistd.h>

#include "gst/spdl/wire/serializerbuffer.h"
#include "plugins/ipc/wire/memfdallocator.h"
#include "plugins/ipc/wire/workerconfig.h"

/* A pool of slabs for copies, kept while they are large enough. */
typedef struct {
  GstBufferPool *pool; /* nullable */
  gsize size;
} WorkerCopies;

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

struct _WorkerSink {
  GstBaseSink parent;

  SpdlWire *wire;
  SpdlMailbox *mailbox;
  SpdlMemfdAllocator *allocator;
  guint n_slabs;

  /* Protected by the stream lock. */
  WorkerCopies copies;
  GstCaps *caps;     /* nullable: to be sent before the next buffer */
  GByteArray *bytes; /* reused */

  SpdlMutex lock;
  SpdlCond cond; /* signaled when one of the following fields changes */
  /* Protected by the lock: */
  GHashTable *sent; /* slab id to the GstBuffer that holds a reference to it */
  guint n_out;      /* slabs that upstream cannot use again yet */
  guint credit;     /* number of events that may be sent */
  gboolean flushing;
  gboolean ended;
};

G_DEFINE_FINAL_TYPE (WorkerSink, worker_sink, GST_TYPE_BASE_SINK)

/* Copies to slabs */

#define ALIGNMENT 64

static void
worker_copies_clear (WorkerCopies *self)
{
  if (!self->pool)
    return;
  gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  self->size = 0;
}

/* Allocates 25 % more than needed, since items differ in size. */
static gboolean
make_pool (WorkerCopies *self, GstAllocator *allocator, gsize size)
{
  GstStructure *config;

  worker_copies_clear (self);
  /* GstBufferPool stores the size in 32 bits. */
  if (size > G_MAXUINT32)
    return FALSE;
  self->size = MIN (size + size / 4, G_MAXUINT32);
  self->pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (self->pool);
  gst_buffer_pool_config_set_params (config, NULL, self->size, 0, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, NULL);
  if (gst_buffer_pool_set_config (self->pool, config) &&
      gst_buffer_pool_set_active (self->pool, TRUE))
    return TRUE;
  worker_copies_clear (self);
  return FALSE;
}

/* Computes the offsets of the memories. Returns the required size of the
 * slab. */
static gsize
lay_out (GstBuffer *buffer, SpdlPlaces *places)
{
  gsize end = 0;

  places->n_memories = gst_buffer_n_memory (buffer);
  for (guint i = 0; i < places->n_memories; i++) {
    places->offsets[i] = end;
    places->sizes[i] = gst_buffer_peek_memory (buffer, i)->size;
    end += (places->sizes[i] + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
  }
  return end;
}

static gboolean
copy_buffer (GstBuffer *buffer, GstBuffer *keeper, const SpdlPlaces *places)
{
  gsize at = 0;
  GstMapInfo map;

  if (!gst_buffer_map (keeper, &map, GST_MAP_WRITE))
    return FALSE;
  for (guint i = 0; i < places->n_memories; i++) {
    gst_buffer_extract (
        buffer, at, map.data + places->offsets[i], places->sizes[i]);
    at += places->sizes[i];
  }
  gst_buffer_unmap (keeper, &map);
  return TRUE;
}

/* Copies the memories of @buffer to a slab, consecutively.
 * @places: (out): their offsets and sizes; the slab's id is not set
 * @keeper: (out) (transfer full): buffer that holds the slab */
static gboolean
worker_copies_make (WorkerCopies *self, GstAllocator *allocator,
    GstBuffer *buffer, SpdlPlaces *places, GstBuffer **keeper)
{
  const gsize size = lay_out (buffer, places);

  if (size > self->size && !make_pool (self, allocator, size))
    return FALSE;
  if (gst_buffer_pool_acquire_buffer (self->pool, keeper, NULL) != GST_FLOW_OK)
    return FALSE;
  if (copy_buffer (buffer, *keeper, places))
    return TRUE;
  gst_clear_buffer (keeper);
  return FALSE;
}

/* Slabs */

static void
on_retired (guint32 id, gpointer wire)
{
  spdl_wire_send_u32 (wire, SPDL_WIRE_RETIRE, id);
}

/* Lock held. */
static void
wake_sink (WorkerSink *self)
{
  spdl_mailbox_wake (self->mailbox);
  spdl_cond_broadcast (&self->cond);
}

/* Returns the slab to upstream's pool before it wakes the sink: otherwise
 * upstream could find the pool empty and allocate other memory. */
gboolean
worker_sink_release (WorkerSink *self, guint32 slab)
{
  gpointer buffer = NULL;

  spdl_mutex_lock (&self->lock);
  g_hash_table_steal_extended (
      self->sent, GUINT_TO_POINTER (slab), NULL, &buffer);
  spdl_mutex_unlock (&self->lock);
  if (!buffer)
    return FALSE;
  gst_buffer_unref (buffer);
  spdl_mutex_lock (&self->lock);
  self->n_out--;
  wake_sink (self);
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

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

/* Returns whether it is necessary to wait. */
static gboolean
begin_to_wait (WorkerSink *self)
{
  gboolean wait;

  spdl_mutex_lock (&self->lock);
  wait = !self->flushing && self->n_out >= self->n_slabs;
  if (wait)
    spdl_mailbox_begin (self->mailbox);
  spdl_mutex_unlock (&self->lock);
  return wait;
}

/* Waits until a slab is free for upstream. */
static GstFlowReturn
wait_for_slab (WorkerSink *self)
{
  gboolean flushing;
  guint32 slab;

  while (begin_to_wait (self)) {
    if (!spdl_mailbox_wait (self->mailbox, &slab) ||
        worker_sink_release (self, slab))
      continue;
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("The parent process returned slab %u, which it does not have", slab),
        (NULL));
    return GST_FLOW_ERROR;
  }
  spdl_mutex_lock (&self->lock);
  flushing = self->flushing;
  spdl_mutex_unlock (&self->lock);
  return flushing ? GST_FLOW_FLUSHING : GST_FLOW_OK;
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

static gboolean
is_sent (WorkerSink *self, const SpdlMemfd *slab)
{
  gboolean sent;

  spdl_mutex_lock (&self->lock);
  sent = g_hash_table_contains (self->sent, GUINT_TO_POINTER (slab->id));
  spdl_mutex_unlock (&self->lock);
  return sent;
}

/* Returns the slab of @memory and its offset, or NULL if it is in no slab or is
 * shared. */
static SpdlMemfd *
find_memory (WorkerSink *self, GstMemory *memory, guint64 *offset)
{
  SpdlMemfd *slab = NULL;
  GstMapInfo map;

  if (GST_MINI_OBJECT_REFCOUNT_VALUE (memory) == 1 &&
      gst_memory_map (memory, &map, GST_MAP_READ)) {
    slab = spdl_memfd_allocator_find (self->allocator, map.data, map.size);
    if (slab)
      *offset = map.data - slab->data;
    gst_memory_unmap (memory, &map);
  }
  return slab;
}

/* Returns the slab that contains all memories of @buffer, or NULL. */
static SpdlMemfd *
find_slab (WorkerSink *self, GstBuffer *buffer, SpdlPlaces *places)
{
  const guint n = gst_buffer_n_memory (buffer);
  SpdlMemfd *slab = NULL, *other;

  if (n > SPDL_PAYLOAD_MAX_MEMORIES || !gst_buffer_is_writable (buffer))
    return NULL;
  for (guint i = 0; i < n; i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    other = find_memory (self, memory, &places->offsets[i]);
    if (!other || (slab && other != slab))
      return NULL;
    slab = other;
    places->sizes[i] = memory->size;
  }
  if (!slab || is_sent (self, slab))
    return NULL;
  places->slab = slab->id;
  places->n_memories = n;
  return slab;
}

/* Buffers */

static gboolean
announce_slab (WorkerSink *self, SpdlMemfd *slab)
{
  guint8 payload[sizeof (guint32) + sizeof (guint64)];
  const guint64 size = slab->memory.maxsize;

  if (slab->fd < 0)
    return TRUE;
  memcpy (payload, &slab->id, sizeof slab->id);
  memcpy (payload + sizeof slab->id, &size, sizeof size);
  if (!spdl_wire_send (
          self->wire, SPDL_WIRE_SLAB, payload, sizeof payload, slab->fd))
    return FALSE;
  /* The mapping stays valid. */
  close (slab->fd);
  slab->fd = -1;
  return TRUE;
}

static gboolean
send_bytes (WorkerSink *self, SpdlWireType type)
{
  const gboolean ok = spdl_wire_send (
      self->wire, type, self->bytes->data, self->bytes->len, -1);

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
  return send_bytes (self, SPDL_WIRE_CAPS);
}

/* @keeper: (nullable): holds the slab until it is returned */
static gboolean
send_buffer (WorkerSink *self, GstBuffer *buffer, GstBuffer *keeper,
    const SpdlPlaces *places)
{
  if (!send_caps (self))
    return FALSE;
  if (keeper) {
    spdl_mutex_lock (&self->lock);
    g_hash_table_insert (
        self->sent, GUINT_TO_POINTER (places->slab), gst_buffer_ref (keeper));
    self->n_out++;
    spdl_mutex_unlock (&self->lock);
  }
  spdl_put_buffer (self->bytes, buffer, places);
  return send_bytes (self, SPDL_WIRE_BUFFER);
}

static GstFlowReturn
send_copy (WorkerSink *self, GstBuffer *buffer)
{
  SpdlPlaces places;
  GstBuffer *keeper;
  SpdlMemfd *slab;
  gboolean ok;

  if (!worker_copies_make (&self->copies, GST_ALLOCATOR (self->allocator),
          buffer, &places, &keeper)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Not enough memory for a buffer of %" G_GSIZE_FORMAT " bytes",
            gst_buffer_get_size (buffer)),
        (NULL));
    return GST_FLOW_ERROR;
  }
  slab = (SpdlMemfd *) gst_buffer_peek_memory (keeper, 0);
  places.slab = slab->id;
  ok =
      announce_slab (self, slab) && send_buffer (self, buffer, keeper, &places);
  gst_buffer_unref (keeper);
  return ok ? GST_FLOW_OK : GST_FLOW_EOS;
}

static GstFlowReturn
send_empty (WorkerSink *self, GstBuffer *buffer)
{
  const SpdlPlaces places = { 0 };
  const GstFlowReturn ret = wait_for_credit (self);

  if (ret != GST_FLOW_OK)
    return ret;
  return send_buffer (self, buffer, NULL, &places) ? GST_FLOW_OK : GST_FLOW_EOS;
}

static GstFlowReturn
worker_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  WorkerSink *self = WORKER_SINK (sink);
  GstFlowReturn ret = GST_FLOW_OK;
  SpdlPlaces places;
  SpdlMemfd *slab;

  if (gst_buffer_get_size (buffer) == 0)
    return send_empty (self, buffer);
  slab = find_slab (self, buffer, &places);
  if (!slab)
    ret = send_copy (self, buffer);
  else if (!announce_slab (self, slab) ||
           !send_buffer (self, buffer, buffer, &places))
    ret = GST_FLOW_EOS;
  return ret == GST_FLOW_OK ? wait_for_slab (self) : ret;
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
  return send_bytes (self, SPDL_WIRE_EVENT);
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
  GstSpdlTensorsInfo info;
  GstCaps *caps;
  gsize size = 0;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_spdl_tensors_info_from_caps (&info, caps, NULL))
    return FALSE;
  for (guint i = 0; i < info.num_tensors; i++)
    size += gst_spdl_tensor_info_get_size (&info.tensors[i]);
  gst_query_add_allocation_param (query, GST_ALLOCATOR (self->allocator), NULL);
  gst_query_add_allocation_pool (query, NULL, size, 0, self->n_slabs);
  return TRUE;
}

static gboolean
set_flushing (GstBaseSink *sink, gboolean flushing)
{
  WorkerSink *self = WORKER_SINK (sink);

  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  wake_sink (self);
  spdl_mutex_unlock (&self->lock);
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

  worker_copies_clear (&self->copies);
  g_hash_table_unref (self->sent);
  gst_object_unref (self->allocator);
  spdl_mailbox_free (self->mailbox);
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
unref_buffer (gpointer buffer)
{
  gst_buffer_unref (buffer);
}

static void
worker_sink_init (WorkerSink *self)
{
  self->bytes = g_byte_array_new ();
  self->sent = g_hash_table_new_full (NULL, NULL, NULL, unref_buffer);
  self->credit = SPDL_WORKER_CONFIG_MAX_EVENTS;
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}

WorkerSink *
worker_sink_new (SpdlWire *wire, SpdlMailbox *mailbox, guint n_slabs)
{
  WorkerSink *self = g_object_new (TYPE_WORKER_SINK, "name", "worker", NULL);

  self->wire = wire;
  self->mailbox = mailbox;
  self->n_slabs = n_slabs;
  self->allocator = spdl_memfd_allocator_new (on_retired, wire);
  return self;
}
