/* gst-spdl: page-locked host memory, and its allocator
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlpinnedallocator
 * @title: GstSpdlPinnedAllocator
 * @short_description: allocator of page-locked host memory
 *
 * Allocates the memory that `spdlcudaupload` offers to upstream elements.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlpinnedallocator.h"

#include <stdlib.h>

#include "gst/spdl/cuda/pinned.h"
#include "gst/spdl/engine/sync.h"

/* Page-locked ranges of the process */

typedef enum {
  STATE_LOCKED,    /* by its owner */
  STATE_ANNOUNCED, /* may be locked on demand */
  STATE_OURS,      /* announced, and locked by us */
  STATE_REFUSED,   /* announced, but locking failed */
} State;

typedef struct {
  GstSpdlPinnedRange range;
  State state;
  gint device_id; /* for STATE_OURS */
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GArray *entries; /* Entry; guarded by the lock */

static void
append_range (gconstpointer base, gsize size, State state)
{
  const Entry entry = { { base, size }, state, 0 };

  pthread_mutex_lock (&lock);
  if (!entries)
    entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_append_val (entries, entry);
  pthread_mutex_unlock (&lock);
}

void
gst_spdl_pinned_add (gconstpointer base, gsize size)
{
  append_range (base, size, STATE_LOCKED);
}

void
gst_spdl_pinned_announce (gpointer base, gsize size)
{
  append_range (base, size, STATE_ANNOUNCED);
}

static void
unlock_range (gpointer base)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);

  if (cudart->cudaHostUnregister (base) != cudaSuccess)
    cudart->cudaGetLastError ();
}

void
gst_spdl_pinned_withdraw (gconstpointer base)
{
  pthread_mutex_lock (&lock);
  for (guint i = 0; entries && i < entries->len; i++) {
    const Entry *entry = &g_array_index (entries, Entry, i);

    if (entry->range.base != base)
      continue;
    if (entry->state == STATE_OURS)
      gst_spdl_cudart_call (gst_spdl_cudart_get (NULL), entry->device_id,
          unlock_range, (gpointer) base);
    g_array_remove_index_fast (entries, i);
    break;
  }
  if (entries && entries->len == 0)
    g_clear_pointer (&entries, g_array_unref);
  pthread_mutex_unlock (&lock);
}

/* Page-locks a range. Read-only mappings need a flag that some systems do not
 * support. */
static cudaError_t
lock_range (const GstSpdlCudart *cudart, const GstSpdlPinnedRange *range)
{
  gpointer base = (gpointer) range->base;
  cudaError_t code =
      cudart->cudaHostRegister (base, range->size, cudaHostRegisterPortable);

  if (code == cudaErrorInvalidValue) {
    cudart->cudaGetLastError ();
    code = cudart->cudaHostRegister (
        base, range->size, cudaHostRegisterPortable | cudaHostRegisterReadOnly);
  }
  if (code != cudaSuccess)
    cudart->cudaGetLastError ();
  return code;
}

static State
try_to_lock (const GstSpdlCudart *cudart, gint device_id,
    const GstSpdlPinnedRange *range)
{
  const GstSpdlCudartSaved saved = gst_spdl_cudart_enter (cudart, device_id);
  const cudaError_t code = lock_range (cudart, range);

  gst_spdl_cudart_leave (cudart, saved);
  if (code == cudaSuccess)
    return STATE_OURS;
  if (code == cudaErrorHostMemoryAlreadyRegistered)
    return STATE_LOCKED;
  GST_WARNING ("Failed to page-lock %" G_GSIZE_FORMAT
               " bytes of shared memory: %s",
      range->size, cudart->cudaGetErrorString (code));
  return STATE_REFUSED;
}

static gboolean
range_contains (const GstSpdlPinnedRange *range, const guint8 *data, gsize size)
{
  return data >= range->base && size <= range->size &&
         (gsize) (data - range->base) <= range->size - size;
}

gboolean
gst_spdl_pinned_find (const GstSpdlCudart *cudart, gint device_id,
    gconstpointer data, gsize size, GstSpdlPinnedRange *range)
{
  gboolean found = FALSE;

  pthread_mutex_lock (&lock);
  for (guint i = 0; entries && i < entries->len && !found; i++) {
    Entry *entry = &g_array_index (entries, Entry, i);

    if (!range_contains (&entry->range, data, size))
      continue;
    if (entry->state == STATE_ANNOUNCED) {
      entry->state = try_to_lock (cudart, device_id, &entry->range);
      entry->device_id = device_id;
    }
    if (entry->state == STATE_REFUSED)
      break;
    found = TRUE;
    if (range)
      *range = entry->range;
  }
  pthread_mutex_unlock (&lock);
  return found;
}

/* Memory of the allocator */

/* Maximum number of free slabs that are kept, equal to the size of spdlbatch's
 * pool. */
#define MAX_FREE 16
#define PAGE 4096
/* Maximum factor by which a slab may exceed the requested size. */
#define MAX_WASTE 2

typedef struct {
  guint8 *data;
  gsize size;
  gboolean locked;
} Slab;

typedef struct {
  GstMemory memory;
  guint8 *data;
  Slab slab; /* owned if the memory has no parent */
} Pinned;

struct _GstSpdlPinnedAllocator {
  GstAllocator parent;

  const GstSpdlCudart *cudart;
  gint device_id;
  SpdlMutex lock;
  GArray *free; /* Slab, last freed at the end; guarded by the lock */
};

G_DEFINE_TYPE (
    GstSpdlPinnedAllocator, gst_spdl_pinned_allocator, GST_TYPE_ALLOCATOR)

/* Slabs */

/* Uses ordinary memory, because the limit of locked memory is reached or the
 * device is lost. Uploads from it are slower, and a lost device is reported by
 * them. */
static gboolean
make_unlocked (GstSpdlPinnedAllocator *self, Slab *slab, cudaError_t code)
{
  gpointer data;

  GST_WARNING_OBJECT (self,
      "Failed to allocate %" G_GSIZE_FORMAT " page-locked bytes: %s",
      slab->size, self->cudart->cudaGetErrorString (code));
  if (posix_memalign (&data, PAGE, slab->size) != 0)
    return FALSE;
  slab->data = data;
  slab->locked = FALSE;
  return TRUE;
}

typedef struct {
  gpointer data;
  gsize size;
  cudaError_t code;
} Locking;

static void
allocate_locked (gpointer user_data)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);
  Locking *locking = user_data;

  locking->code = cudart->cudaHostAlloc (
      &locking->data, locking->size, cudaHostAllocPortable);
  if (locking->code != cudaSuccess)
    cudart->cudaGetLastError ();
}

static gboolean
make_slab (GstSpdlPinnedAllocator *self, gsize size, Slab *slab)
{
  Locking locking = { .size = (size + PAGE - 1) / PAGE * PAGE };

  slab->size = locking.size;
  gst_spdl_cudart_call (
      self->cudart, self->device_id, allocate_locked, &locking);
  if (locking.code != cudaSuccess)
    return make_unlocked (self, slab, locking.code);
  slab->data = locking.data;
  slab->locked = TRUE;
  gst_spdl_pinned_add (slab->data, slab->size);
  return TRUE;
}

static void
free_locked (gpointer data)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);

  if (cudart->cudaFreeHost (data) != cudaSuccess)
    cudart->cudaGetLastError ();
}

static void
free_slab (GstSpdlPinnedAllocator *self, const Slab *slab)
{
  if (!slab->locked) {
    free (slab->data);
    return;
  }
  gst_spdl_pinned_withdraw (slab->data);
  gst_spdl_cudart_call (self->cudart, self->device_id, free_locked, slab->data);
}

static gboolean
find_free (GstSpdlPinnedAllocator *self, gsize size, Slab *slab)
{
  gboolean found = FALSE;

  spdl_mutex_lock (&self->lock);
  for (guint i = self->free->len; i > 0 && !found; i--) {
    *slab = g_array_index (self->free, Slab, i - 1);
    found = slab->size >= size && slab->size / MAX_WASTE <= MAX (size, PAGE);
    if (found)
      g_array_remove_index (self->free, i - 1);
  }
  spdl_mutex_unlock (&self->lock);
  return found;
}

static void
keep_or_free (GstSpdlPinnedAllocator *self, const Slab *slab)
{
  Slab oldest = { NULL };

  if (!slab->locked) {
    free_slab (self, slab);
    return;
  }
  spdl_mutex_lock (&self->lock);
  g_array_append_val (self->free, *slab);
  if (self->free->len > MAX_FREE) {
    oldest = g_array_index (self->free, Slab, 0);
    g_array_remove_index (self->free, 0);
  }
  spdl_mutex_unlock (&self->lock);
  if (oldest.data)
    free_slab (self, &oldest);
}

/* Memory */

static Pinned *
make_memory (GstAllocator *allocator, GstMemoryFlags flags, GstMemory *parent,
    guint8 *data, gsize maxsize, gsize align, gsize offset, gsize size)
{
  Pinned *self = g_new0 (Pinned, 1);

  gst_memory_init (GST_MEMORY_CAST (self), flags, allocator, parent, maxsize,
      align, offset, size);
  self->data = data;
  return self;
}

static GstMemory *
gst_spdl_pinned_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstSpdlPinnedAllocator *self = GST_SPDL_PINNED_ALLOCATOR (allocator);
  const gsize maxsize = size + params->prefix + params->padding;
  Pinned *memory;
  gsize skip;
  Slab slab;

  if (maxsize < size || maxsize > G_MAXSSIZE - params->align - PAGE)
    return NULL;
  if (!find_free (self, maxsize + params->align, &slab) &&
      !make_slab (self, maxsize + params->align, &slab))
    return NULL;
  skip = -(gsize) slab.data & params->align;
  memory = make_memory (allocator, params->flags, NULL, slab.data + skip,
      slab.size - skip, params->align, params->prefix, size);
  memory->slab = slab;
  return GST_MEMORY_CAST (memory);
}

static void
gst_spdl_pinned_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  Pinned *self = (Pinned *) memory;

  if (!memory->parent)
    keep_or_free (GST_SPDL_PINNED_ALLOCATOR (allocator), &self->slab);
  g_free (self);
}

static gpointer
map_memory (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  return ((Pinned *) memory)->data;
}

static void
unmap_memory (GstMemory *memory)
{
}

static GstMemory *
share_memory (GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *parent = memory->parent ? memory->parent : memory;

  if (size == -1)
    size = memory->size - offset;
  return GST_MEMORY_CAST (make_memory (memory->allocator,
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      parent, ((Pinned *) memory)->data, memory->maxsize, memory->align,
      memory->offset + offset, size));
}

static void
gst_spdl_pinned_allocator_finalize (GObject *object)
{
  GstSpdlPinnedAllocator *self = GST_SPDL_PINNED_ALLOCATOR (object);

  for (guint i = 0; i < self->free->len; i++)
    free_slab (self, &g_array_index (self->free, Slab, i));
  g_array_unref (self->free);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_pinned_allocator_parent_class)->finalize (object);
}

static void
gst_spdl_pinned_allocator_class_init (GstSpdlPinnedAllocatorClass *klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  allocator_class->alloc = gst_spdl_pinned_allocator_alloc;
  allocator_class->free = gst_spdl_pinned_allocator_free;
  G_OBJECT_CLASS (klass)->finalize = gst_spdl_pinned_allocator_finalize;
}

static void
gst_spdl_pinned_allocator_init (GstSpdlPinnedAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  spdl_mutex_init (&self->lock);
  self->free = g_array_new (FALSE, FALSE, sizeof (Slab));
  allocator->mem_type = GST_SPDL_PINNED_MEMORY_TYPE;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
}

/**
 * gst_spdl_pinned_allocator_new:
 * @device_id: number of the CUDA device that copies; other devices can copy too
 * @error: (nullable): %GST_LIBRARY_ERROR or %GST_RESOURCE_ERROR
 *
 * Creates an allocator.
 *
 * Returns: (transfer full) (nullable): the allocator, or %NULL with @error set
 *     if the CUDA Runtime, the driver or the device is missing
 *
 * Since: 0.1
 */
GstAllocator *
gst_spdl_pinned_allocator_new (gint device_id, GError **error)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (error);
  GstSpdlPinnedAllocator *self;

  if (!cudart || !gst_spdl_cudart_check_device (cudart, device_id, error))
    return NULL;
  self = g_object_new (GST_TYPE_SPDL_PINNED_ALLOCATOR, NULL);
  self->cudart = cudart;
  self->device_id = device_id;
  return GST_ALLOCATOR (gst_object_ref_sink (self));
}
