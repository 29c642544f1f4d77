/* gst-spdl: shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* An allocator each of whose memories is a slab: a memfd of its own, sealed in
 * its size, so that who maps it cannot come upon a hole. */

#define SPDL_TYPE_MEMFD_ALLOCATOR (spdl_memfd_allocator_get_type ())
G_DECLARE_FINAL_TYPE (SpdlMemfdAllocator, spdl_memfd_allocator, SPDL,
    MEMFD_ALLOCATOR, GstAllocator)

typedef struct {
  GstMemory memory;

  guint32 id; /* from 0, none comes twice */
  int fd;     /* -1 once it was announced */
  guint8 *data;
} SpdlMemfd;

/* @retired: called when a slab is freed that was announced, from any thread */
SpdlMemfdAllocator *spdl_memfd_allocator_new (
    void (*retired) (guint32 id, gpointer user_data), gpointer user_data);

/* Returns: (nullable): the slab that has all of these bytes; valid as long as
 * who asks keeps them. From any thread. */
SpdlMemfd *spdl_memfd_allocator_find (
    SpdlMemfdAllocator *self, const guint8 *data, gsize size);

/* A memfd of that many bytes, sealed; -1 with errno set */
int spdl_memfd_open (gsize size);

/* Returns whether a seal keeps the file from being shrunk: access to a mapping
 * behind its file's end would end the process. */
gboolean spdl_memfd_keeps_size (int fd);

/* Maps a file for reading and writing, and all its pages at once, so that no
 * later access waits for them. Returns NULL with errno set. */
gpointer spdl_memfd_map_populated (int fd, gsize size);

G_END_DECLS
