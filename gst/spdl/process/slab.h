/* gst-spdl: slabs of memory that two processes share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <sys/types.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* A slab is a memfd of a fixed size. One process creates and writes it, the
 * other one maps it. The head of a slab is shared: the writer marks the slab as
 * lent when it sends it, and the reader clears the mark when all memory in it
 * was freed, so that returning a slab takes no message. Either process may
 * therefore keep memory for any time.
 *
 * A third process may map a slab as well. The process that sends it there
 * keeps the memory until the slab of that message was returned.
 *
 * One thread at a time uses the slabs of a direction. Any thread may free the
 * memory in them. */

typedef struct {
  gint n_refs;     /* of lists, loans and memories */
  gint n_memories; /* of this process, which writes the slab */
  guint32 id;
  int fd;               /* -1: closed, because nobody else is to map the slab */
  gboolean is_known;    /* the reader has mapped it */
  gboolean is_uploaded; /* it was announced to CUDA */
  gint is_on_loan;      /* atomic: in the process that reads */
  guint8 *data;
  gsize size;
  GPtrArray *kept; /* of GstMemory, while the slab is lent; NULL: none */
} SpdlSlab;

/* Offset of the first byte after the head, and alignment of memories. */
#define SPDL_SLAB_HEAD 64

typedef struct {
  GPtrArray *list; /* of SpdlSlab */
  guint32 next_id;
  /* Their memory may go on to a third process, which then maps them. */
  gboolean are_forwarded;
  /* Their memory may go to a GPU, for which it is page-locked. */
  gboolean are_uploaded;
  /* Somebody else limits their number, and they are expensive for the reader:
   * those that are not needed for a while are kept. */
  gboolean are_limited;
  /* Since the last check: takes, and the fewest slabs that one left unused */
  guint n_takes;
  guint min_unused;
} SpdlSlabs;

SPDL_PRIVATE_API
void spdl_slabs_init (SpdlSlabs *self);
/* Unmaps the slabs; those that memory refers to, when it is freed. */
SPDL_PRIVATE_API
void spdl_slabs_clear (SpdlSlabs *self);

/* The process that writes */

/* Returns: (transfer none) (nullable): a slab that nobody uses, of at least
 * @size bytes; NULL if memory cannot be allocated
 * @spare: bytes that a new slab has in addition, because sizes differ */
SPDL_PRIVATE_API
SpdlSlab *spdl_slabs_take (SpdlSlabs *self, gsize size, gsize spare);
/* Returns: (transfer none) (nullable): the slab that contains the bytes */
SPDL_PRIVATE_API
SpdlSlab *spdl_slabs_find (SpdlSlabs *self, const guint8 *data, gsize size);
/* Returns: (transfer full) (nullable): a memory of the slab, which is not taken
 * again while the memory exists; NULL if it is not inside of the slab */
SPDL_PRIVATE_API
GstMemory *spdl_slab_wrap (SpdlSlab *self, gsize offset, gsize size);
/* Keeps a memory until the reader has returned the slab. */
void spdl_slab_keep (SpdlSlab *self, GstMemory *memory);
/* Frees what slabs kept that were returned. */
void spdl_slabs_drop_kept (SpdlSlabs *self);
/* Marks a slab as lent to the reader. */
SPDL_PRIVATE_API
void spdl_slab_lend (SpdlSlab *self);
SPDL_PRIVATE_API
guint spdl_slabs_count_lent (const SpdlSlabs *self);
SPDL_PRIVATE_API
gboolean spdl_slab_is_lent (const SpdlSlab *self);
/* The reader has mapped the slab, so its file is not needed any more. */
SPDL_PRIVATE_API
void spdl_slabs_set_known (SpdlSlabs *self, SpdlSlab *slab);

/* Slabs of other writers */

/* Returns: (transfer none) (nullable): the slab in which a memory lies, of any
 * link of this process */
SpdlSlab *spdl_memory_get_slab (GstMemory *memory);
/* Returns: (transfer none) (nullable): the slab with the id */
SpdlSlab *spdl_slabs_get (const SpdlSlabs *self, guint32 id);
/* Returns TRUE if the writer has ended, or will not use the slab again. */
gboolean spdl_slab_is_retired (const SpdlSlab *self);
/* Unmaps retired slabs. */
SPDL_PRIVATE_API
void spdl_slabs_drop_retired (SpdlSlabs *self);
SpdlSlab *spdl_slab_ref (SpdlSlab *self);
void spdl_slab_unref (SpdlSlab *self);

/* The process that reads */

/* A slab on loan, which is returned with the last reference. */
typedef struct _SpdlLoan SpdlLoan;

/* Maps a slab, before the first message that uses it, which may be of a third
 * process. Returns FALSE with @error set if the writer sent invalid data or the
 * slab cannot be mapped.
 *
 * @fd: (transfer full): the memfd */
SPDL_PRIVATE_API
gboolean spdl_slabs_map (
    SpdlSlabs *self, guint32 id, gsize size, int fd, GError **error);
/* Returns: (transfer full): NULL with @error set if the writer sent invalid
 * data */
SPDL_PRIVATE_API
SpdlLoan *spdl_slabs_borrow (SpdlSlabs *self, guint32 id, GError **error);
/* Sets a function that is called after the slab was returned, in any thread. */
SPDL_PRIVATE_API
void spdl_loan_set_returned (
    SpdlLoan *self, GDestroyNotify returned, gpointer user_data);
SPDL_PRIVATE_API
void spdl_loan_unref (SpdlLoan *self);
/* Returns: the bytes, or NULL if they are not inside of the slab */
SPDL_PRIVATE_API
const guint8 *spdl_loan_get (SpdlLoan *self, gsize offset, gsize size);
/* Returns: (transfer full) (nullable): a memory of the slab on loan, or of
 * @slab, which the loan covers as well; NULL if it is not inside. That of @slab
 * is read-only: other processes read it, and another worker gets it if this one
 * ends. */
SPDL_PRIVATE_API
GstMemory *
spdl_loan_wrap (SpdlLoan *self, SpdlSlab *slab, gsize offset, gsize size);

G_END_DECLS
