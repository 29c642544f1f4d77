/* gst-spdl: batches for tests of uploads to the fake device
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/check/support/rig.h"

G_BEGIN_DECLS

/* Caps of two tensors, with 1024 bytes and 8 integers. */
#define UPLOAD_CAPS                                                  \
  "other/tensors,format=(string)static,num_tensors=2,types=(string)" \
  "\"uint8,int64\",dimensions=(string)\"4:256,8\",framerate=(fraction)0/1"
#define UPLOAD_IMAGE_SIZE 1024
#define UPLOAD_LABEL_SIZE 64
#define UPLOAD_BATCH_SIZE (UPLOAD_IMAGE_SIZE + UPLOAD_LABEL_SIZE)

/* The fixture of a test: resets the fake device and checks that nothing
 * leaked. */
void upload_set_up (void);
void upload_tear_down (void);

/* Returns a batch with a batch meta, whose memories lie in one slab and have
 * all bytes @number. @n_out counts the slabs that are not released. */
GstBuffer *
upload_make_batch (GstAllocator *allocator, guint8 number, gint *n_out);

gboolean upload_is_filled (GstMemory *memory, gsize size, guint8 value);

/* Checks the contents in device memory and all metas of the batch. */
void upload_assert_batch (GstBuffer *batch, guint8 number);

G_END_DECLS
