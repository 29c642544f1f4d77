/* gst-spdl: slabs of memory that two processes share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/slab.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/cuda/pinned.h"
#include "gst/spdl/wire/memfd.h"

#define MIN_SIZE (gsize) (64 << 10)
/* Number of takes after which a slab that none of them needed is freed. The
 * kernel clears the pages of a new one, which takes longer than to fill it. */
#define TAKES_PER_CHECK 32
/* Files of slabs that this process keeps open for third processes. Most systems
 * allow 1024 open files. */
#define MAX_FILES 256
/* A writer that has more slabs at a time sends invalid data. */
#define MAX_SLABS 65536

typedef struct {
  gint lent;    /* atomic: written by both processes */
  gint retired; /* atomic: the writer will not use the slab again */
} Head;

static inline Head *
head_of (const SpdlSlab *self)
{
  return (Head *) self->data;
}

static gint n_files; /* atomic: those of slabs that are known */

static GQuark
slab_quark (void)
{
  return g_quark_from_static_string ("spdl-slab");
}

SpdlSlab *
spdl_slab_ref (SpdlSlab *self)
{
  g_atomic_int_inc (&self->n_refs);
  return self;
}

static void
close_file (SpdlSlab *self)
{
  if (self->fd < 0)
    return;
  close (self->fd);
  self->fd = -1;
  if (self->is_known)
    g_atomic_int_add (&n_files, -1);
}

void
spdl_slab_unref (SpdlSlab *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  if (self->is_uploaded)
    gst_spdl_pinned_withdraw (self->data);
  munmap (self->data, self->size);
  close_file (self);
  g_clear_pointer (&self->kept, g_ptr_array_unref);
  g_free (self);
}

/* Returns (transfer full) a memory that holds @owner. */
static GstMemory *
wrap (SpdlSlab *slab, gsize offset, gsize size, gpointer owner,
    GDestroyNotify release)
{
  GstMemory *memory = gst_memory_new_wrapped (
      0, slab->data + offset, size, 0, size, owner, release);

  gst_mini_object_set_qdata (
      GST_MINI_OBJECT_CAST (memory), slab_quark (), slab, NULL);
  return memory;
}

static gboolean
contains (const SpdlSlab *self, gsize offset, gsize size)
{
  return offset <= self->size && size <= self->size - offset;
}

/* @fd: (transfer full) */
static SpdlSlab *
slab_new (guint32 id, int fd, gsize size)
{
  gpointer data = spdl_memfd_map_populated (fd, size);
  SpdlSlab *self;

  if (!data) {
    close (fd);
    return NULL;
  }
  self = g_new0 (SpdlSlab, 1);
  self->n_refs = 1;
  self->id = id;
  self->fd = fd;
  self->data = data;
  self->size = size;
  return self;
}

void
spdl_slabs_init (SpdlSlabs *self)
{
  self->list =
      g_ptr_array_new_with_free_func ((GDestroyNotify) spdl_slab_unref);
  self->next_id = 0;
  self->are_forwarded = self->are_uploaded = self->are_limited = FALSE;
  self->n_takes = 0;
  self->min_unused = G_MAXUINT;
}

void
spdl_slabs_clear (SpdlSlabs *self)
{
  for (guint i = 0; i < self->list->len; i++) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    /* Third processes unmap it. */
    g_atomic_int_set (&head_of (slab)->retired, TRUE);
    g_clear_pointer (&slab->kept, g_ptr_array_unref);
  }
  g_clear_pointer (&self->list, g_ptr_array_unref);
}

void
spdl_slabs_set_known (SpdlSlabs *self, SpdlSlab *slab)
{
  if (slab->is_known)
    return;
  slab->is_known = TRUE;
  if (g_atomic_int_add (&n_files, 1) >= MAX_FILES || !self->are_forwarded)
    close_file (slab);
}

/* The process that writes */

static gboolean
is_unused (const SpdlSlab *slab)
{
  return g_atomic_int_get (&slab->n_memories) == 0 && !spdl_slab_is_lent (slab);
}

static void
retire (SpdlSlabs *self, guint i)
{
  const SpdlSlab *slab = g_ptr_array_index (self->list, i);

  g_atomic_int_set (&head_of (slab)->retired, TRUE);
  g_ptr_array_remove_index_fast (self->list, i);
}

static SpdlSlab *
add_slab (SpdlSlabs *self, gsize size, gsize spare)
{
  const gsize rounded = (size + spare + MIN_SIZE - 1) & ~(MIN_SIZE - 1);
  const int fd = size <= G_MAXSSIZE / 2 ? spdl_memfd_open (rounded) : -1;
  SpdlSlab *slab = fd >= 0 ? slab_new (self->next_id, fd, rounded) : NULL;

  if (!slab)
    return NULL;
  self->next_id++;
  g_ptr_array_add (self->list, slab);
  return slab;
}

void
spdl_slabs_drop_kept (SpdlSlabs *self)
{
  for (guint i = 0; i < self->list->len; i++) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (slab->kept && !spdl_slab_is_lent (slab))
      g_clear_pointer (&slab->kept, g_ptr_array_unref);
  }
}

/* Counts the slabs that a take leaves unused, and frees one if there was one at
 * each of the last takes. */
static void
check_unused (SpdlSlabs *self, const SpdlSlab *taken)
{
  guint n_unused = 0, last = 0;

  for (guint i = 0; i < self->list->len; i++) {
    const SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (slab == taken || !is_unused (slab))
      continue;
    n_unused++;
    last = i;
  }
  self->min_unused = MIN (self->min_unused, n_unused);
  if (++self->n_takes < TAKES_PER_CHECK)
    return;
  if (self->min_unused > 0 && !self->are_limited)
    retire (self, last);
  self->n_takes = 0;
  self->min_unused = G_MAXUINT;
}

/* Returns (transfer none) (nullable) the smallest unused slab of at least @size
 * bytes. */
static SpdlSlab *
find_unused (SpdlSlabs *self, gsize size)
{
  SpdlSlab *best = NULL;

  for (guint i = 0; i < self->list->len; i++) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (slab->size >= size && (!best || slab->size < best->size) &&
        is_unused (slab))
      best = slab;
  }
  return best;
}

SpdlSlab *
spdl_slabs_take (SpdlSlabs *self, gsize size, gsize spare)
{
  SpdlSlab *best;

  spdl_slabs_drop_kept (self);
  best = find_unused (self, size);
  if (best) {
    check_unused (self, best);
    return best;
  }
  /* Unused slabs are all too small, and would be so again. */
  for (guint i = self->list->len; i-- > 0;)
    if (is_unused (g_ptr_array_index (self->list, i)))
      retire (self, i);
  self->min_unused = 0;
  return add_slab (self, size, spare);
}

SpdlSlab *
spdl_slabs_find (SpdlSlabs *self, const guint8 *data, gsize size)
{
  for (guint i = 0; i < self->list->len; i++) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (data >= slab->data && data < slab->data + slab->size &&
        size <= (gsize) (slab->data + slab->size - data))
      return slab;
  }
  return NULL;
}

static void
release_memory (gpointer data)
{
  SpdlSlab *self = data;

  g_atomic_int_add (&self->n_memories, -1);
  spdl_slab_unref (self);
}

GstMemory *
spdl_slab_wrap (SpdlSlab *self, gsize offset, gsize size)
{
  if (!contains (self, offset, size))
    return NULL;
  g_atomic_int_inc (&self->n_memories);
  return wrap (self, offset, size, spdl_slab_ref (self), release_memory);
}

static void
release_kept (gpointer data)
{
  gst_memory_unlock (data, GST_LOCK_FLAG_EXCLUSIVE);
  gst_memory_unref (data);
}

void
spdl_slab_keep (SpdlSlab *self, GstMemory *memory)
{
  if (!self->kept)
    self->kept = g_ptr_array_new_with_free_func (release_kept);
  /* As in a second buffer, the memory is not writable meanwhile. */
  gst_memory_lock (memory, GST_LOCK_FLAG_EXCLUSIVE);
  g_ptr_array_add (self->kept, gst_memory_ref (memory));
}

gboolean
spdl_slab_is_lent (const SpdlSlab *self)
{
  return g_atomic_int_get (&head_of (self)->lent) != 0;
}

void
spdl_slab_lend (SpdlSlab *self)
{
  g_atomic_int_set (&head_of (self)->lent, TRUE);
}

guint
spdl_slabs_count_lent (const SpdlSlabs *self)
{
  guint n = 0;

  for (guint i = 0; i < self->list->len; i++)
    n += spdl_slab_is_lent (g_ptr_array_index (self->list, i));
  return n;
}

/* Slabs of other writers */

SpdlSlab *
spdl_memory_get_slab (GstMemory *memory)
{
  while (memory->parent)
    memory = memory->parent;
  return gst_mini_object_get_qdata (
      GST_MINI_OBJECT_CAST (memory), slab_quark ());
}

SpdlSlab *
spdl_slabs_get (const SpdlSlabs *self, guint32 id)
{
  for (guint i = 0; i < self->list->len; i++) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (slab->id == id)
      return slab;
  }
  return NULL;
}

gboolean
spdl_slab_is_retired (const SpdlSlab *self)
{
  return g_atomic_int_get (&head_of (self)->retired) != 0;
}

void
spdl_slabs_drop_retired (SpdlSlabs *self)
{
  for (guint i = self->list->len; i-- > 0;)
    if (spdl_slab_is_retired (g_ptr_array_index (self->list, i)))
      g_ptr_array_remove_index_fast (self->list, i);
}

/* The process that reads */

struct _SpdlLoan {
  gint n_refs;
  pid_t pid; /* a forked child must not return the slab */
  SpdlSlab *slab;
  GPtrArray *others; /* slabs of third processes that it covers; NULL: none */
  GDestroyNotify returned; /* nullable */
  gpointer user_data;
};

/* Sets the error of invalid data. */
#define SET_PROBLEM(error, ...) \
  g_set_error (                 \
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, __VA_ARGS__)

/* If the file were shorter than @size or truncated later, access to its mapping
 * would raise SIGBUS. */
static gboolean
check_new (
    const SpdlSlabs *self, guint32 id, gsize size, int fd, GError **error)
{
  struct stat status;

  if (fd < 0 || !spdl_memfd_keeps_size (fd))
    SET_PROBLEM (error, "a slab is not memory of a fixed size");
  else if (size < SPDL_SLAB_HEAD || size > G_MAXSSIZE ||
           fstat (fd, &status) != 0 || (guint64) status.st_size < size)
    SET_PROBLEM (error, "a slab has fewer than %" G_GSIZE_FORMAT " bytes",
        MAX (size, SPDL_SLAB_HEAD));
  else if (spdl_slabs_get (self, id))
    SET_PROBLEM (error, "slab %u was sent twice", id);
  else if (self->list->len >= MAX_SLABS)
    SET_PROBLEM (error, "the limit of slabs is exceeded");
  else
    return TRUE;
  return FALSE;
}

gboolean
spdl_slabs_map (SpdlSlabs *self, guint32 id, gsize size, int fd, GError **error)
{
  SpdlSlab *slab;

  if (!check_new (self, id, size, fd, error)) {
    if (fd >= 0)
      close (fd);
    return FALSE;
  }
  slab = slab_new (id, fd, size);
  if (!slab) {
    SET_PROBLEM (error,
        "Failed to map %" G_GSIZE_FORMAT " bytes of shared memory: %s", size,
        g_strerror (errno));
    return FALSE;
  }
  slab->is_uploaded = self->are_uploaded;
  /* It is page-locked when it is first used in an upload. */
  if (slab->is_uploaded)
    gst_spdl_pinned_announce (slab->data, size);
  spdl_slabs_set_known (self, slab);
  g_ptr_array_add (self->list, slab);
  return TRUE;
}

SpdlLoan *
spdl_slabs_borrow (SpdlSlabs *self, guint32 id, GError **error)
{
  SpdlSlab *slab = spdl_slabs_get (self, id);
  SpdlLoan *loan;

  if (!slab) {
    SET_PROBLEM (error, "slab %u does not exist", id);
    return NULL;
  }
  if (!g_atomic_int_compare_and_exchange (&slab->is_on_loan, FALSE, TRUE)) {
    SET_PROBLEM (error, "slab %u was not returned", id);
    return NULL;
  }
  loan = g_new0 (SpdlLoan, 1);
  loan->n_refs = 1;
  loan->pid = getpid ();
  loan->slab = spdl_slab_ref (slab);
  return loan;
}

void
spdl_loan_set_returned (
    SpdlLoan *self, GDestroyNotify returned, gpointer user_data)
{
  self->returned = returned;
  self->user_data = user_data;
}

void
spdl_loan_unref (SpdlLoan *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  if (getpid () == self->pid) {
    g_atomic_int_set (&self->slab->is_on_loan, FALSE);
    g_atomic_int_set (&head_of (self->slab)->lent, FALSE);
  }
  spdl_slab_unref (self->slab);
  if (self->returned)
    self->returned (self->user_data);
  g_clear_pointer (&self->others, g_ptr_array_unref);
  g_free (self);
}

const guint8 *
spdl_loan_get (SpdlLoan *self, gsize offset, gsize size)
{
  return contains (self->slab, offset, size) ? self->slab->data + offset : NULL;
}

GstMemory *
spdl_loan_wrap (SpdlLoan *self, SpdlSlab *slab, gsize offset, gsize size)
{
  GstMemory *memory;

  if (!slab)
    slab = self->slab;
  if (!contains (slab, offset, size))
    return NULL;
  if (slab != self->slab) {
    if (!self->others)
      self->others =
          g_ptr_array_new_with_free_func ((GDestroyNotify) spdl_slab_unref);
    g_ptr_array_add (self->others, spdl_slab_ref (slab));
  }
  g_atomic_int_inc (&self->n_refs);
  memory = wrap (slab, offset, size, self, (GDestroyNotify) spdl_loan_unref);
  if (slab != self->slab)
    GST_MINI_OBJECT_FLAG_SET (memory, GST_MEMORY_FLAG_READONLY);
  return memory;
}
