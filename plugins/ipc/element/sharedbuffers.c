/* gst-spdl: shared memory of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/sharedbuffers.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/common/tryallocator.h"
#include "gst/spdl/cuda/pinned.h"
#include "gst/spdl/wire/memfd.h"

/* Limit on concurrent slabs; a larger number is treated as invalid data. */
#define MAX_SLABS 65536
#define ALIGNMENT 64

typedef struct {
  guint32 id;
  guint8 *data;
  gsize size;
  gboolean is_here;
  gboolean retired;
} Slab;

struct _SpdlSharedBuffers {
  gint n_refs;
  SpdlWire *wire;
  SpdlMailbox *mailbox; /* nullable */

  SpdlMutex lock;
  /* Protected by the lock: */
  GHashTable *slabs; /* id to Slab */
  guint n_lent;
  gboolean closed;
};

struct _SpdlLease {
  gint n_refs;
  SpdlSharedBuffers *shared_buffers;
  Slab *slab; /* owned by shared_buffers */
  gboolean lent;
};

static void
slab_free (gpointer data)
{
  Slab *slab = data;

  gst_spdl_pinned_withdraw (slab->data);
  munmap (slab->data, slab->size);
  g_free (slab);
}

SpdlSharedBuffers *
spdl_shared_buffers_new (SpdlWire *wire, SpdlMailbox *mailbox)
{
  SpdlSharedBuffers *self = g_new0 (SpdlSharedBuffers, 1);

  self->n_refs = 1;
  self->wire = spdl_wire_ref (wire);
  self->mailbox = mailbox;
  self->slabs = g_hash_table_new_full (NULL, NULL, NULL, slab_free);
  spdl_mutex_init (&self->lock);
  return self;
}

void
spdl_shared_buffers_unref (SpdlSharedBuffers *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  g_hash_table_unref (self->slabs);
  g_clear_pointer (&self->mailbox, spdl_mailbox_free);
  spdl_wire_unref (self->wire);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

static gboolean
is_not_here (gpointer key, gpointer value, gpointer user_data)
{
  return !((Slab *) value)->is_here;
}

void
spdl_shared_buffers_close (SpdlSharedBuffers *self)
{
  spdl_mutex_lock (&self->lock);
  self->closed = TRUE;
  g_hash_table_foreach_remove (self->slabs, is_not_here, NULL);
  spdl_mutex_unlock (&self->lock);
}

static void
set_problem (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
set_problem (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (GST_RESOURCE_ERROR,
                                GST_RESOURCE_ERROR_FAILED, format, args));
  va_end (args);
}

/* Checks that @fd is sealed memory of sufficient size. If the file were
 * truncated, access to the mapping would raise SIGBUS. */
static gboolean
check_fd (int fd, guint64 size, GError **error)
{
  struct stat status;

  if (fd < 0 || !spdl_memfd_keeps_size (fd))
    set_problem (error, "a slab is not memory of a fixed size");
  else if (size == 0 || size > G_MAXSSIZE || fstat (fd, &status) != 0 ||
           (guint64) status.st_size < size)
    set_problem (
        error, "a slab has fewer than %" G_GUINT64_FORMAT " bytes", size);
  else
    return TRUE;
  return FALSE;
}

static Slab *
map_slab (guint32 id, guint64 size, int fd, GError **error)
{
  Slab *slab;
  gpointer data;

  if (!check_fd (fd, size, error))
    return NULL;
  /* Populates the pages, so that the consumer's first access does not cause
   * page faults. */
  data = spdl_memfd_map_populated (fd, size);
  if (!data) {
    set_problem (error,
        "failed to map a slab of %" G_GUINT64_FORMAT " bytes: %s", size,
        g_strerror (errno));
    return NULL;
  }
  slab = g_new0 (Slab, 1);
  slab->id = id;
  slab->data = data;
  slab->size = size;
  /* The slab is page-locked when it is first used in an upload. */
  gst_spdl_pinned_announce (data, size);
  return slab;
}

gboolean
spdl_shared_buffers_add (
    SpdlSharedBuffers *self, guint32 id, guint64 size, int fd, GError **error)
{
  Slab *slab = map_slab (id, size, fd, error);
  gboolean ok = FALSE;

  if (fd >= 0)
    close (fd);
  if (!slab)
    return FALSE;
  spdl_mutex_lock (&self->lock);
  if (g_hash_table_contains (self->slabs, GUINT_TO_POINTER (id)))
    set_problem (error, "slab %u was sent twice", id);
  else if (g_hash_table_size (self->slabs) >= MAX_SLABS)
    set_problem (error, "the limit of slabs is exceeded");
  else
    ok = g_hash_table_insert (self->slabs, GUINT_TO_POINTER (id), slab);
  spdl_mutex_unlock (&self->lock);
  if (!ok)
    slab_free (slab);
  return ok;
}

/* Lock held. */
static Slab *
find_slab (SpdlSharedBuffers *self, guint32 id, GError **error)
{
  Slab *slab = g_hash_table_lookup (self->slabs, GUINT_TO_POINTER (id));

  if (slab && !slab->retired)
    return slab;
  set_problem (error, "slab %u does not exist", id);
  return NULL;
}

gboolean
spdl_shared_buffers_retire (SpdlSharedBuffers *self, guint32 id, GError **error)
{
  Slab *slab;

  spdl_mutex_lock (&self->lock);
  slab = find_slab (self, id, error);
  if (slab && slab->is_here)
    slab->retired = TRUE;
  else if (slab)
    g_hash_table_remove (self->slabs, GUINT_TO_POINTER (id));
  spdl_mutex_unlock (&self->lock);
  return slab != NULL;
}

static gboolean
check_places (const Slab *slab, const SpdlPlaces *places, GError **error)
{
  for (guint i = 0; i < places->n_memories; i++)
    if (places->sizes[i] > slab->size ||
        places->offsets[i] > slab->size - places->sizes[i]) {
      set_problem (error, "a tensor exceeds its slab");
      return FALSE;
    }
  return TRUE;
}

SpdlLease *
spdl_shared_buffers_take (
    SpdlSharedBuffers *self, const SpdlPlaces *places, GError **error)
{
  SpdlLease *lease = NULL;
  Slab *slab;

  spdl_mutex_lock (&self->lock);
  slab = find_slab (self, places->slab, error);
  if (slab && slab->is_here) {
    set_problem (error, "slab %u was not returned", places->slab);
  } else if (slab && check_places (slab, places, error)) {
    slab->is_here = TRUE;
    g_atomic_int_inc (&self->n_refs);
    lease = g_new0 (SpdlLease, 1);
    lease->n_refs = 1;
    lease->shared_buffers = self;
    lease->slab = slab;
  }
  spdl_mutex_unlock (&self->lock);
  return lease;
}

/* Returns the slab of @lease. Returns whether the worker must be notified. */
static gboolean
put_back (SpdlLease *lease)
{
  SpdlSharedBuffers *self = lease->shared_buffers;
  Slab *slab = lease->slab;
  gboolean tell;

  spdl_mutex_lock (&self->lock);
  slab->is_here = FALSE;
  self->n_lent -= lease->lent;
  tell = !self->closed && !slab->retired;
  if (!tell)
    g_hash_table_remove (self->slabs, GUINT_TO_POINTER (slab->id));
  spdl_mutex_unlock (&self->lock);
  return tell;
}

static void
give_back (SpdlSharedBuffers *self, guint32 id)
{
  if (!spdl_wire_is_own (self->wire))
    return;
  if (!self->mailbox || !spdl_mailbox_put (self->mailbox, id))
    spdl_wire_send_u32 (self->wire, SPDL_WIRE_RELEASE, id);
}

void
spdl_lease_unref (SpdlLease *self)
{
  const guint32 id = self->slab->id;

  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  if (put_back (self))
    give_back (self->shared_buffers, id);
  spdl_shared_buffers_unref (self->shared_buffers);
  g_free (self);
}

static gboolean
lend_slab (SpdlLease *self, guint max)
{
  SpdlSharedBuffers *shared_buffers = self->shared_buffers;

  spdl_mutex_lock (&shared_buffers->lock);
  self->lent = shared_buffers->n_lent < max;
  shared_buffers->n_lent += self->lent;
  spdl_mutex_unlock (&shared_buffers->lock);
  return self->lent;
}

/* Copies @data to new memory.
 * Returns: (nullable) */
static GstMemory *
copy_bytes (const guint8 *data, gsize size)
{
  GstAllocationParams params = { .align = ALIGNMENT - 1 };
  GstMemory *memory =
      gst_allocator_alloc (gst_spdl_try_allocator_get (), size, &params);
  GstMapInfo map;

  if (memory && gst_memory_map (memory, &map, GST_MAP_WRITE)) {
    memcpy (map.data, data, size);
    gst_memory_unmap (memory, &map);
  }
  return memory;
}

static GstMemory *
wrap_bytes (SpdlLease *self, guint8 *data, gsize size)
{
  g_atomic_int_inc (&self->n_refs);
  return gst_memory_new_wrapped (
      0, data, size, 0, size, self, (GDestroyNotify) spdl_lease_unref);
}

gboolean
spdl_lease_give (SpdlLease *self, GstBuffer *buffer, const SpdlPlaces *places,
    guint max, gboolean *lent)
{
  gboolean ok = TRUE;

  *lent = lend_slab (self, max);
  for (guint i = 0; i < places->n_memories && ok; i++) {
    guint8 *data = self->slab->data + places->offsets[i];
    GstMemory *memory = *lent ? wrap_bytes (self, data, places->sizes[i])
                              : copy_bytes (data, places->sizes[i]);

    ok = memory != NULL;
    if (ok)
      gst_buffer_append_memory (buffer, memory);
  }
  spdl_lease_unref (self);
  return ok;
}
