/* gst-spdl: batches to be uploaded to a device that is none, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/check/support/rig.h"

G_BEGIN_DECLS

/* Two tensors, of 1024 bytes and 8 numbers. */
#define UPLOAD_CAPS                                                  \
  "other/tensors,format=(string)static,num_tensors=2,types=(string)" \
  "\"uint8,int64\",dimensions=(string)\"4:256,8\",framerate=(fraction)0/1"
#define UPLOAD_IMAGE_SIZE 1024
#define UPLOAD_LABEL_SIZE 64
#define UPLOAD_BATCH_SIZE (UPLOAD_IMAGE_SIZE + UPLOAD_LABEL_SIZE)

/* Of a test: the device is as new, and nothing is left on it. */
void upload_set_up (void);
void upload_tear_down (void);

/* Memories of one slab, a batch's meta, all bytes @number. @n_out counts the
 * slabs that are not given back. */
GstBuffer *
upload_make_batch (GstAllocator *allocator, guint8 number, gint *n_out);

gboolean upload_is_filled (GstMemory *memory, gsize size, guint8 value);

/* On the device, with all of its meta. */
void upload_assert_batch (GstBuffer *batch, guint8 number);

G_END_DECLS
