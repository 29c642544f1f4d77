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

#include "gst/spdl/wire/memfd.h"

#define MIN_SIZE (gsize) (64 << 10)
/* Slabs that nobody uses, above which one is freed at a time. */
#define MAX_UNUSED 4

typedef struct {
  gint lent;    /* atomic: written by both processes */
  gint retired; /* atomic: the writer will not use the slab again */
} Head;

static inline Head *
head_of (const SpdlSlab *self)
{
  return (Head *) self->data;
}

static void
slab_unref (SpdlSlab *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  munmap (self->data, self->size);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
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
  self->list = g_ptr_array_new_with_free_func ((GDestroyNotify) slab_unref);
  self->next_id = 0;
}

void
spdl_slabs_clear (SpdlSlabs *self)
{
  g_clear_pointer (&self->list, g_ptr_array_unref);
}

/* The process that writes */

static gboolean
is_unused (const SpdlSlab *slab)
{
  return g_atomic_int_get (&slab->n_refs) == 1 && !spdl_slab_is_lent (slab);
}

static void
retire (SpdlSlabs *self, guint i)
{
  const SpdlSlab *slab = g_ptr_array_index (self->list, i);

  g_atomic_int_set (&head_of (slab)->retired, TRUE);
  g_ptr_array_remove_index_fast (self->list, i);
}

/* Rounds up, so that items of slightly different sizes share slabs. */
static gsize
round_size (gsize size)
{
  gsize step = MIN_SIZE;

  while (step < size / 8)
    step *= 2;
  return (size + step - 1) & ~(step - 1);
}

static SpdlSlab *
add_slab (SpdlSlabs *self, gsize size)
{
  const gsize rounded = round_size (size);
  const int fd = size <= G_MAXSSIZE / 2 ? spdl_memfd_open (rounded) : -1;
  SpdlSlab *slab = fd >= 0 ? slab_new (self->next_id, fd, rounded) : NULL;

  if (!slab)
    return NULL;
  self->next_id++;
  g_ptr_array_add (self->list, slab);
  return slab;
}

SpdlSlab *
spdl_slabs_take (SpdlSlabs *self, gsize size)
{
  SpdlSlab *best = NULL;
  guint n_unused = 0;

  for (guint i = self->list->len; i-- > 0;) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (!is_unused (slab))
      continue;
    n_unused++;
    if (slab->size >= size && (!best || slab->size < best->size))
      best = slab;
    else if (n_unused > MAX_UNUSED)
      retire (self, i);
  }
  if (best)
    return best;
  /* Unused slabs are all too small, and would be so again. */
  for (guint i = self->list->len; i-- > 0;)
    if (is_unused (g_ptr_array_index (self->list, i)))
      retire (self, i);
  return add_slab (self, size);
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

GstMemory *
spdl_slab_wrap (SpdlSlab *self, gsize offset, gsize size)
{
  g_atomic_int_inc (&self->n_refs);
  return gst_memory_new_wrapped (
      0, self->data + offset, size, 0, size, self, (GDestroyNotify) slab_unref);
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

/* The process that reads */

struct _SpdlLoan {
  gint n_refs;
  pid_t pid; /* a forked child must not return the slab */
  SpdlSlab *slab;
};

static SpdlSlab *
find_slab (SpdlSlabs *self, guint32 id)
{
  for (guint i = 0; i < self->list->len; i++) {
    SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (slab->id == id)
      return slab;
  }
  return NULL;
}

static void
drop_retired (SpdlSlabs *self)
{
  for (guint i = self->list->len; i-- > 0;) {
    const SpdlSlab *slab = g_ptr_array_index (self->list, i);

    if (g_atomic_int_get (&head_of (slab)->retired))
      g_ptr_array_remove_index_fast (self->list, i);
  }
}

/* If the file were shorter than @size or truncated later, access to its mapping
 * would raise SIGBUS. */
static gboolean
is_sound (int fd, gsize size)
{
  struct stat status;

  return size >= SPDL_SLAB_HEAD && spdl_memfd_keeps_size (fd) &&
         fstat (fd, &status) == 0 && (guint64) status.st_size >= size;
}

/* @fd: (transfer full) */
static SpdlSlab *
map_slab (SpdlSlabs *self, guint32 id, gsize size, int fd)
{
  SpdlSlab *slab;

  drop_retired (self);
  if (!is_sound (fd, size)) {
    close (fd);
    return NULL;
  }
  slab = slab_new (id, fd, size);
  if (!slab)
    return NULL;
  close (slab->fd);
  slab->fd = -1;
  g_ptr_array_add (self->list, slab);
  return slab;
}

SpdlLoan *
spdl_slabs_borrow (
    SpdlSlabs *self, guint32 id, gsize size, int fd, GError **error)
{
  SpdlSlab *slab =
      fd >= 0 ? map_slab (self, id, size, fd) : find_slab (self, id);
  SpdlLoan *loan;

  if (!slab) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "Failed to map %" G_GSIZE_FORMAT " bytes of shared memory: %s", size,
        g_strerror (errno));
    return NULL;
  }
  loan = g_new (SpdlLoan, 1);
  loan->n_refs = 1;
  loan->pid = getpid ();
  loan->slab = slab;
  g_atomic_int_inc (&slab->n_refs);
  return loan;
}

void
spdl_loan_unref (SpdlLoan *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  if (getpid () == self->pid)
    g_atomic_int_set (&head_of (self->slab)->lent, FALSE);
  slab_unref (self->slab);
  g_free (self);
}

const guint8 *
spdl_loan_get (SpdlLoan *self, gsize offset, gsize size)
{
  const gsize end = self->slab->size;

  return offset <= end && size <= end - offset ? self->slab->data + offset
                                               : NULL;
}

GstMemory *
spdl_loan_wrap (SpdlLoan *self, const guint8 *data, gsize size)
{
  g_atomic_int_inc (&self->n_refs);
  return gst_memory_new_wrapped (0, (gpointer) data, size, 0, size, self,
      (GDestroyNotify) spdl_loan_unref);
}
