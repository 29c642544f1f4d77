/* gst-spdl: slabs of memory that two processes share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* A slab is a memfd of a fixed size. One process creates and writes it, the
 * other one maps it. The head of a slab is shared: the writer marks the slab as
 * lent when it sends it, and the reader clears the mark when all memory in it
 * was freed, so that returning a slab takes no message. Either process may
 * therefore keep memory for any time.
 *
 * One thread at a time uses the slabs of a direction. Any thread may free the
 * memory in them. */

typedef struct {
  gint n_refs; /* one of the list, one per memory */
  guint32 id;
  int fd; /* -1: sent, or of the other process */
  guint8 *data;
  gsize size;
} SpdlSlab;

/* Offset of the first byte after the head, and alignment of memories. */
#define SPDL_SLAB_HEAD 64

typedef struct {
  GPtrArray *list; /* of SpdlSlab */
  guint32 next_id;
} SpdlSlabs;

void spdl_slabs_init (SpdlSlabs *self);
/* Unmaps the slabs; those that memory refers to, when it is freed. */
void spdl_slabs_clear (SpdlSlabs *self);

/* The process that writes */

/* Returns: (transfer none) (nullable): a slab that nobody uses, of at least
 * @size bytes; NULL if memory cannot be allocated */
SpdlSlab *spdl_slabs_take (SpdlSlabs *self, gsize size);
/* Returns: (transfer none) (nullable): the slab that contains the bytes */
SpdlSlab *spdl_slabs_find (SpdlSlabs *self, const guint8 *data, gsize size);
/* Returns: (transfer full): a memory of the slab, which is not taken again
 * while the memory exists */
GstMemory *spdl_slab_wrap (SpdlSlab *self, gsize offset, gsize size);
/* Marks a slab as lent to the reader. */
void spdl_slab_lend (SpdlSlab *self);
gboolean spdl_slab_is_lent (const SpdlSlab *self);

/* The process that reads */

/* A slab on loan, which is returned with the last reference. */
typedef struct _SpdlLoan SpdlLoan;

/* @fd: (transfer full): the memfd, or -1 if the slab came before
 * Returns: (transfer full): NULL with @error set if the writer sent invalid
 * data or the slab cannot be mapped */
SpdlLoan *spdl_slabs_borrow (
    SpdlSlabs *self, guint32 id, gsize size, int fd, GError **error);
void spdl_loan_unref (SpdlLoan *self);
/* Returns: the bytes, or NULL if they are not inside of the slab */
const guint8 *spdl_loan_get (SpdlLoan *self, gsize offset, gsize size);
/* Returns: (transfer full): a memory of bytes that spdl_loan_get() returned */
GstMemory *spdl_loan_wrap (SpdlLoan *self, const guint8 *data, gsize size);

G_END_DECLS
