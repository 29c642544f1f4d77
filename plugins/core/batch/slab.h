/* gst-spdl: a piece of memory for all tensors of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A slab is one buffer of a pool, mapped for as long as any part of it is in
 * use. Its parts are memories of their own, which may outlive the batch that
 * they were made for; the buffer goes back to its pool with the last. */

typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
  gint n_refs;
} SpdlSlab;

/* Tensors begin at multiples of so many bytes. */
#define SPDL_SLAB_ALIGNMENT 64

/* @buffer: (transfer full). Returns NULL if it cannot be mapped. */
SpdlSlab *spdl_slab_new (GstBuffer *buffer);
void spdl_slab_unref (SpdlSlab *self);

/* Returns: (transfer full): @size bytes from @offset on. */
GstMemory *spdl_slab_get_part (SpdlSlab *self, gsize offset, gsize size);

G_END_DECLS
