/* gst-spdl: allocator of shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* Allocator whose memories are slabs: each is a memfd with a sealed size, so
 * that another process can map it safely. */

#define SPDL_TYPE_MEMFD_ALLOCATOR (spdl_memfd_allocator_get_type ())
G_DECLARE_FINAL_TYPE (SpdlMemfdAllocator, spdl_memfd_allocator, SPDL,
    MEMFD_ALLOCATOR, GstAllocator)

typedef struct {
  GstMemory memory;

  guint32 id; /* starts at 0; never reused */
  int fd;     /* -1 after it was announced */
  guint8 *data;
} SpdlMemfd;

/* @retired: called on any thread when an announced slab is freed */
SpdlMemfdAllocator *spdl_memfd_allocator_new (
    void (*retired) (guint32 id, gpointer user_data), gpointer user_data);

/* Finds the slab that contains the given bytes. It is valid while the caller
 * holds a reference to the bytes. Can be called from any thread.
 * Returns: (nullable) */
SpdlMemfd *spdl_memfd_allocator_find (
    SpdlMemfdAllocator *self, const guint8 *data, gsize size);

/* Creates a sealed memfd of @size bytes. Returns -1 with errno set on
 * failure. */
int spdl_memfd_open (gsize size);

/* Returns whether a seal prevents shrinking. Access to a mapping past the end
 * of its file would raise SIGBUS. */
gboolean spdl_memfd_keeps_size (int fd);

/* Maps a file for reading and writing and populates its pages, so that later
 * accesses cause no page faults. Returns NULL with errno set on failure. */
gpointer spdl_memfd_map_populated (int fd, gsize size);

G_END_DECLS
