/* gst-spdl: registry of page-locked host memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/cuda/pinned.h"

#include "gst/spdl/engine/sync.h"

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
