/* gst-spdl: batches for tests of uploads to the fake device
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/uploads.h"

#include <string.h>

#include "tests/check/cuda/fake-cudart.h"

void
upload_set_up (void)
{
  fake_cuda_reset ();
}

void
upload_tear_down (void)
{
  g_unsetenv ("FAKE_CUDA_DEVICES");
  g_unsetenv ("FAKE_CUDA_DRIVER");
  g_unsetenv ("FAKE_CUDA_POOLS");
  fake_cuda_let (-1);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
  fail_unless_equals_int (fake_cuda_misuses (), 0);
}

static void
on_released (gpointer data, GstMiniObject *object)
{
  g_atomic_int_dec_and_test ((gint *) data);
}

GstBuffer *
upload_make_batch (GstAllocator *allocator, guint8 number, gint *n_out)
{
  GstBuffer *batch = gst_buffer_new ();
  GstMemory *slab = gst_allocator_alloc (allocator, UPLOAD_BATCH_SIZE, NULL);
  GstSpdlBatchMeta *meta = gst_spdl_buffer_add_batch_meta (batch, 1);
  const GstSpdlItemMeta item = { .label = number, .parts = 1, .index = number };
  GstMapInfo map;

  fail_unless (gst_memory_map (slab, &map, GST_MAP_WRITE));
  memset (map.data, number, map.size);
  gst_memory_unmap (slab, &map);
  gst_buffer_append_memory (
      batch, gst_memory_share (slab, 0, UPLOAD_IMAGE_SIZE));
  gst_buffer_append_memory (
      batch, gst_memory_share (slab, UPLOAD_IMAGE_SIZE, UPLOAD_LABEL_SIZE));
  if (n_out) {
    g_atomic_int_inc (n_out);
    gst_mini_object_weak_ref (GST_MINI_OBJECT_CAST (slab), on_released, n_out);
  }
  gst_memory_unref (slab);
  gst_spdl_batch_meta_append (meta, &item);
  gst_spdl_batch_meta_add_name (meta, "data");
  gst_spdl_batch_meta_add_name (meta, "labels");
  return batch;
}

gboolean
upload_is_filled (GstMemory *memory, gsize size, guint8 value)
{
  gboolean ok = TRUE;
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, size);
  for (gsize i = 0; i < map.size; i++)
    ok &= map.data[i] == value;
  gst_memory_unmap (memory, &map);
  return ok;
}

void
upload_assert_batch (GstBuffer *batch, guint8 number)
{
  const GstSpdlBatchMeta *meta = gst_spdl_buffer_get_batch_meta (batch);
  GstMemory *images = gst_buffer_peek_memory (batch, 0);
  GstMemory *labels = gst_buffer_peek_memory (batch, 1);

  fail_unless_equals_int (gst_buffer_n_memory (batch), 2);
  fail_unless (gst_spdl_is_cuda_memory (images));
  fail_unless (upload_is_filled (images, UPLOAD_IMAGE_SIZE, number));
  fail_unless (upload_is_filled (labels, UPLOAD_LABEL_SIZE, number));
  fail_unless_equals_int (meta->items[0].index, number);
  fail_unless_equals_string (meta->names[1], "labels");
}
