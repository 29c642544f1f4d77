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

G_END_DECLS
