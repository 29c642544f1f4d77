/* gst-spdl: tests of loading the CUDA Runtime, of pinned memory and of device
 * memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include <string.h>

#include "gst/spdl/cuda/cudablock.h"
#include "gst/spdl/cuda/pinned.h"
#include "tests/check/cuda/fake-cudart.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/suite.h"

#define SIZE 4096

static void
set_up (void)
{
  fake_cuda_reset ();
}

/* Checks after each test that nothing leaked and that no misuse was counted. */
static void
tear_down (void)
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
assert_error (GError **error, const gchar *text)
{
  fail_unless (*error != NULL, "no error with \"%s\"", text);
  fail_unless (errors_has (*error, text), "\"%s\" has no \"%s\"",
      (*error)->message, text);
  g_clear_error (error);
}

/* Runtime */

/* This test is first, as a loaded runtime stays loaded. */
GST_START_TEST (test_load)
{
  g_autofree gchar *fake = g_strdup (g_getenv ("GST_SPDL_CUDART"));
  GError *error = NULL;

  g_setenv ("GST_SPDL_CUDART", "/nowhere/libcudart.so", TRUE);
  fail_unless (gst_spdl_cudart_get (&error) == NULL);
  assert_error (&error, "GST_SPDL_CUDART: /nowhere/");
  g_setenv ("GST_SPDL_CUDART", "libm.so.6", TRUE);
  fail_unless (gst_spdl_pinned_allocator_new (0, &error) == NULL);
  assert_error (&error, "[library-error init]");
  fail_unless (gst_spdl_cuda_allocator_new (0, NULL) == NULL);
  g_setenv ("GST_SPDL_CUDART", fake, TRUE);
  fail_unless (gst_spdl_cudart_get (&error) != NULL);
  g_assert_no_error (error);
}

GST_END_TEST;

GST_START_TEST (test_no_device)
{
  GError *error = NULL;

  g_setenv ("FAKE_CUDA_DRIVER", "0", TRUE);
  fake_cuda_reset ();
  fail_unless (gst_spdl_cuda_allocator_new (0, &error) == NULL);
  assert_error (&error, "[resource-error not-found]|13.0");
  g_setenv ("FAKE_CUDA_DRIVER", "1", TRUE);
  g_setenv ("FAKE_CUDA_DEVICES", "0", TRUE);
  fake_cuda_reset ();
  fail_unless (gst_spdl_pinned_allocator_new (0, &error) == NULL);
  assert_error (&error, "[resource-error not-found]");
  g_setenv ("FAKE_CUDA_DEVICES", "2", TRUE);
  fake_cuda_reset ();
  fail_unless (gst_spdl_cuda_allocator_new (2, &error) == NULL);
  assert_error (&error, "[resource-error not-found]|2|0|1");
}

GST_END_TEST;

/* Tests that the thread's current device and last error are restored. */
GST_START_TEST (test_guard)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);
  GstAllocator *allocator;
  GstMemory *memory;
  gint device = -1;

  g_setenv ("FAKE_CUDA_DEVICES", "2", TRUE);
  fake_cuda_reset ();
  allocator = gst_spdl_cuda_allocator_new (1, NULL);
  memory = gst_allocator_alloc (allocator, SIZE, NULL);
  fail_unless_equals_int (gst_spdl_cuda_memory_get_device_id (memory), 1);
  fail_unless (gst_spdl_cuda_memory_wait (memory, NULL, NULL));
  gst_memory_unref (memory);
  fake_cuda_fail ("cudaMallocAsync", 1, cudaErrorInvalidValue);
  fail_unless (gst_allocator_alloc (allocator, 9 * SIZE, NULL) == NULL);
  gst_object_unref (allocator);
  cudart->cudaGetDevice (&device);
  fail_unless_equals_int (device, 0);
  fail_unless_equals_int (cudart->cudaGetLastError (), cudaSuccess);
}

GST_END_TEST;

/* Page-locked memory */

GST_START_TEST (test_pinned)
{
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  GstAllocationParams params = { .align = 1023, .prefix = 100, .padding = 10 };
  GstMemory *memory, *part;
  GstMapInfo map;
  guint8 *data;

  memory = gst_allocator_alloc (allocator, SIZE, &params);
  fail_unless_equals_string (
      memory->allocator->mem_type, GST_SPDL_PINNED_MEMORY_TYPE);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READWRITE));
  fail_unless_equals_int (map.size, SIZE);
  fail_unless_equals_int ((gsize) (map.data - 100) & 1023, 0);
  memset (map.data, 7, map.size);
  data = map.data;
  gst_memory_unmap (memory, &map);

  part = gst_memory_share (memory, 1000, 50);
  fail_unless (gst_memory_map (part, &map, GST_MAP_READ));
  fail_unless (map.data == data + 1000 && map.size == 50 && map.data[49] == 7);
  gst_memory_unmap (part, &map);
  gst_memory_unref (memory);
  gst_memory_unref (part);

  /* The freed block is reused. */
  memory = gst_allocator_alloc (allocator, SIZE, &params);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  fail_unless (map.data == data);
  gst_memory_unmap (memory, &map);
  fail_unless_equals_int (fake_cuda_count ("cudaHostAlloc"), 1);
  /* A memory holds a reference to its allocator. */
  gst_object_unref (allocator);
  fail_unless_equals_int (fake_cuda_live (), 1);
  gst_memory_unref (memory);
}

GST_END_TEST;

/* Tests the limit on the number of free blocks that are kept. */
GST_START_TEST (test_pinned_bound)
{
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  GstMemory *memories[40];
  GstMapInfo map;

  for (guint i = 0; i < 40; i++)
    memories[i] = gst_allocator_alloc (allocator, SIZE, NULL);
  for (guint i = 0; i < 40; i++)
    gst_memory_unref (memories[i]);
  fail_unless_equals_int (fake_cuda_live (), 16);

  /* If page-locking fails, the allocator returns pageable memory, which is not
   * kept. */
  fake_cuda_fail ("cudaHostAlloc", 1, cudaErrorMemoryAllocation);
  memories[0] = gst_allocator_alloc (allocator, 100 * SIZE, NULL);
  fail_unless (gst_memory_map (memories[0], &map, GST_MAP_WRITE));
  memset (map.data, 1, map.size);
  fail_unless (!gst_spdl_pinned_find (
      gst_spdl_cudart_get (NULL), 0, map.data, map.size, NULL));
  gst_memory_unmap (memories[0], &map);
  gst_memory_unref (memories[0]);
  fail_unless_equals_int (fake_cuda_live (), 16);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Tests that memory from elsewhere, such as shared memory, is registered
 * once. */
GST_START_TEST (test_announced)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);
  static guint8 shared[8 * SIZE];
  GstSpdlPinnedRange range = { NULL };

  fail_unless (!gst_spdl_pinned_find (cudart, 0, shared, 1, NULL));
  gst_spdl_pinned_announce (shared, sizeof shared);
  fail_unless_equals_int (fake_cuda_count ("cudaHostRegister"), 0);
  for (guint i = 0; i < 8; i++) {
    fail_unless (
        gst_spdl_pinned_find (cudart, 0, shared + i * SIZE, SIZE, &range));
    fail_unless (range.base == shared && range.size == sizeof shared);
  }
  fail_unless (
      !gst_spdl_pinned_find (cudart, 0, shared + 7 * SIZE, SIZE + 1, NULL));
  fail_unless_equals_int (fake_cuda_count ("cudaHostRegister"), 1);
  gst_spdl_pinned_withdraw (shared);
  fail_unless_equals_int (fake_cuda_count ("cudaHostUnregister"), 1);
  fail_unless (!gst_spdl_pinned_find (cudart, 0, shared, 1, NULL));

  /* A failed registration is not retried. */
  gst_spdl_pinned_announce (shared, sizeof shared);
  fake_cuda_fail ("cudaHostRegister", 1, cudaErrorMemoryAllocation);
  fail_unless (!gst_spdl_pinned_find (cudart, 0, shared, 1, NULL));
  fail_unless (!gst_spdl_pinned_find (cudart, 0, shared, 1, NULL));
  gst_spdl_pinned_withdraw (shared);
  fail_unless_equals_int (fake_cuda_count ("cudaHostUnregister"), 1);
}

GST_END_TEST;

/* Device memory */

static void
fill (GstMemory *memory, guint8 value)
{
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  memset (map.data, value, map.size);
  gst_memory_unmap (memory, &map);
}

static void
assert_filled (GstMemory *memory, gsize size, guint8 value)
{
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, size);
  for (gsize i = 0; i < map.size; i++)
    fail_unless_equals_int (map.data[i], value);
  gst_memory_unmap (memory, &map);
}

GST_START_TEST (test_mapping)
{
  GstAllocator *allocator = gst_spdl_cuda_allocator_new (0, NULL);
  GstMemory *memory = gst_allocator_alloc (allocator, SIZE, NULL);
  GstMemory *part, *copy;
  GstMapInfo map, again;

  fail_unless (gst_spdl_is_cuda_memory (memory));
  fail_unless (GST_MEMORY_IS_NOT_MAPPABLE (memory));
  fill (memory, 5);
  assert_filled (memory, SIZE, 5);
  part = gst_memory_share (memory, 100, 200);
  fail_unless (gst_spdl_cuda_memory_get_address (part) ==
               (guint8 *) gst_spdl_cuda_memory_get_address (memory) + 100);
  assert_filled (part, 200, 5);
  copy = gst_memory_copy (part, 50, 100);
  fill (memory, 6);
  assert_filled (part, 200, 6);
  assert_filled (copy, 100, 5);

  /* The memory may be mapped twice at the same time. */
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  fail_unless (gst_memory_map (memory, &again, GST_MAP_READ));
  fail_unless (map.data == again.data);
  gst_memory_unmap (memory, &map);
  fail_unless_equals_int (again.data[SIZE - 1], 6);
  gst_memory_unmap (memory, &again);

  fake_cuda_fail ("cudaMemcpyAsync", 1, cudaErrorInvalidValue);
  fail_unless (!gst_memory_map (memory, &map, GST_MAP_READ));
  gst_memory_unref (part);
  gst_memory_unref (copy);
  gst_memory_unref (memory);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Returns a block into which the allocator's stream writes @value. */
static GstMemory *
upload (GstAllocator *allocator, GstMemory *from, guint8 value)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);
  GstSpdlCudaBlock *block = gst_spdl_cuda_block_take (
      GST_SPDL_CUDA_ALLOCATOR (allocator), SIZE, NULL);
  GstMemory *memory;
  GstMapInfo map;

  fill (from, value);
  fail_unless (gst_memory_map (from, &map, GST_MAP_READ));
  fail_unless (gst_spdl_cuda_block_begin (block, NULL));
  fail_unless_equals_int (
      cudart->cudaMemcpyAsync (block->data, map.data, SIZE,
          cudaMemcpyHostToDevice,
          gst_spdl_cuda_allocator_get_stream (block->allocator)),
      cudaSuccess);
  fail_unless (gst_spdl_cuda_block_end (block, NULL));
  gst_memory_unmap (from, &map);
  memory = gst_spdl_cuda_block_get_part (block, 0, SIZE);
  gst_spdl_cuda_block_unref (block);
  return memory;
}

static cudaStream_t
make_stream (void)
{
  cudaStream_t stream = NULL;

  gst_spdl_cudart_get (NULL)->cudaStreamCreateWithFlags (&stream, 0);
  return stream;
}

/* Uses a block on @users streams and frees it while they run. With @waits, each
 * stream calls gst_spdl_cuda_memory_wait() first, so that the next write to the
 * block waits for the streams on the device and not on the CPU. */
static void
reuse (guint users, gboolean waits)
{
  GstAllocator *allocator = gst_spdl_cuda_allocator_new (0, NULL);
  GstAllocator *pinned = gst_spdl_pinned_allocator_new (0, NULL);
  GstMemory *a = gst_allocator_alloc (pinned, SIZE, NULL);
  GstMemory *b = gst_allocator_alloc (pinned, SIZE, NULL);
  cudaStream_t streams[4] = { NULL, GST_SPDL_CUDA_PER_THREAD };
  GstMemory *first, *second;
  gpointer address;

  for (guint i = 2; i < users; i++)
    streams[i] = make_stream ();
  first = upload (allocator, a, 1);
  address = gst_spdl_cuda_memory_get_address (first);
  if (!waits)
    fake_cuda_wait ();
  fake_cuda_hold ();
  for (guint i = 0; i < users; i++) {
    fail_unless (!waits || gst_spdl_cuda_memory_wait (first, streams[i], NULL));
    fake_cuda_use (streams[i], address, SIZE, 1);
  }
  gst_memory_unref (first);
  second = upload (allocator, b, 2);
  fail_unless (gst_spdl_cuda_memory_get_address (second) == address);
  fake_cuda_let (-1);
  assert_filled (second, SIZE, 2);
  fake_cuda_wait ();
  for (guint i = 2; i < users; i++)
    gst_spdl_cudart_get (NULL)->cudaStreamDestroy (streams[i]);
  gst_memory_unref (second);
  gst_memory_unref (a);
  gst_memory_unref (b);
  gst_object_unref (pinned);
  gst_object_unref (allocator);
}

GST_START_TEST (test_reuse)
{
  for (guint users = 1; users <= 4; users++)
    reuse (users, TRUE);
  fail_unless_equals_int (fake_cuda_count ("cudaMallocAsync"), 4);
  fail_unless_equals_int (fake_cuda_count ("cudaEventSynchronize"), 0);
  g_setenv ("FAKE_CUDA_POOLS", "0", TRUE);
  fake_cuda_reset ();
  reuse (4, TRUE);
  fail_unless_equals_int (fake_cuda_count ("cudaMalloc"), 1);
  fail_unless_equals_int (fake_cuda_count ("cudaMallocAsync"), 0);
}

GST_END_TEST;

/* Tests that the fake runtime detects a missing wait. */
GST_START_TEST (test_reuse_too_early)
{
  gint misuses = 0;

  for (guint i = 0; i < 50 && misuses == 0; i++) {
    reuse (1, FALSE);
    misuses = fake_cuda_misuses ();
  }
  fail_unless (misuses > 0);
  fake_cuda_reset ();
}

GST_END_TEST;

/* Tests that a stream may be destroyed once the memory is freed, although the
 * thread that waits for the upload still has the block. */
GST_START_TEST (test_destroyed_stream)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (NULL);
  GstAllocator *allocator = gst_spdl_cuda_allocator_new (0, NULL);
  GstSpdlCudaBlock *block = gst_spdl_cuda_block_take (
      GST_SPDL_CUDA_ALLOCATOR (allocator), SIZE, NULL);
  cudaStream_t stream = make_stream ();
  GstMemory *memory;
  gpointer address;

  fail_unless (gst_spdl_cuda_block_begin (block, NULL));
  fail_unless (gst_spdl_cuda_block_end (block, NULL));
  memory = gst_spdl_cuda_block_get_part (block, 0, SIZE);
  address = gst_spdl_cuda_memory_get_address (memory);
  fail_unless (gst_spdl_cuda_memory_wait (memory, stream, NULL));
  fake_cuda_hold ();
  fake_cuda_use (stream, address, SIZE, 0xcd);
  gst_memory_unref (memory);
  cudart->cudaStreamDestroy (stream);
  gst_spdl_cuda_block_unref (block);

  /* The next use of the block still waits for the stream. */
  memory = gst_allocator_alloc (allocator, SIZE, NULL);
  fail_unless (gst_spdl_cuda_memory_get_address (memory) == address);
  fake_cuda_let (-1);
  fill (memory, 1);
  gst_memory_unref (memory);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Tests that a block whose end of use is unknown is not reused, but freed once
 * the device is idle. */
GST_START_TEST (test_gone_stream)
{
  GstAllocator *allocator = gst_spdl_cuda_allocator_new (0, NULL);
  GstMemory *memory = gst_allocator_alloc (allocator, SIZE, NULL);

  fail_unless (gst_spdl_cuda_memory_wait (memory, NULL, NULL));
  fake_cuda_fail ("cudaEventRecord", 1, cudaErrorInvalidResourceHandle);
  gst_memory_unref (memory);
  fail_unless_equals_int (fake_cuda_count ("cudaDeviceSynchronize"), 1);
  fail_unless_equals_int (fake_cuda_count ("cudaFreeAsync"), 1);
  memory = gst_allocator_alloc (allocator, SIZE, NULL);
  fail_unless_equals_int (fake_cuda_count ("cudaMallocAsync"), 2);
  gst_memory_unref (memory);
  gst_object_unref (allocator);
}

GST_END_TEST;

GST_START_TEST (test_full)
{
  GstSpdlCudaAllocator *allocator =
      GST_SPDL_CUDA_ALLOCATOR (gst_spdl_cuda_allocator_new (0, NULL));
  GstSpdlCudaBlock *blocks[20], *block;
  GError *error = NULL;

  for (guint i = 0; i < 20; i++)
    blocks[i] = gst_spdl_cuda_block_take (allocator, SIZE, NULL);
  for (guint i = 1; i < 20; i++)
    gst_spdl_cuda_block_unref (blocks[i]);
  fail_unless_equals_int (fake_cuda_count ("cudaFreeAsync"), 11);

  /* Kept blocks are freed to make room for one of another size. */
  fake_cuda_fail ("cudaMallocAsync", 1, cudaErrorMemoryAllocation);
  block = gst_spdl_cuda_block_take (allocator, 100 * SIZE, &error);
  g_assert_no_error (error);
  fail_unless_equals_int (fake_cuda_count ("cudaFreeAsync"), 19);
  gst_spdl_cuda_block_unref (block);
  fail_unless (gst_spdl_cuda_block_take (allocator, G_MAXSIZE, &error) == NULL);
  assert_error (&error, "[resource-error no-space-left]");
  gst_spdl_cuda_block_unref (blocks[0]);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Tests a tensor in device memory. */
GST_START_TEST (test_tensor)
{
  GstAllocator *allocator = gst_spdl_cuda_allocator_new (0, NULL);
  GstCaps *caps = gst_caps_from_string (
      "other/tensors(" GST_SPDL_CAPS_FEATURE_CUDA_MEMORY "), format=static, "
      "num_tensors=1, types=(string)uint8, dimensions=(string)\"64:64\", "
      "framerate=0/1");
  GstBuffer *buffer = gst_buffer_new ();
  GstMemory *memory = gst_allocator_alloc (allocator, SIZE, NULL);
  GstSpdlTensor *tensor;
  GstSpdlBatch *batch;
  GError *error = NULL;
  gint device = -1;

  fill (memory, 9);
  gst_buffer_append_memory (buffer, memory);
  batch = gst_spdl_batch_new (buffer, caps, &error);
  g_assert_no_error (error);
  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
  tensor = gst_spdl_batch_dup_tensor (batch, 0);
  gst_spdl_batch_unref (batch);
  fail_unless_equals_int (
      gst_spdl_tensor_get_device (tensor, &device), GST_SPDL_DEVICE_CUDA);
  fail_unless_equals_int (device, 0);
  fail_unless (gst_spdl_tensor_is_writable (tensor));
  fail_unless (gst_spdl_tensor_wait (tensor, NULL, NULL));
  fake_cuda_use (NULL, gst_spdl_tensor_get_address (tensor), SIZE, 9);
  gst_spdl_dlpack_free (gst_spdl_tensor_to_dlpack (tensor));
  gst_spdl_tensor_unref (tensor);
  gst_object_unref (allocator);
}

GST_END_TEST;

CHECK_SUITE (cuda_memory, FIXTURE (set_up, tear_down), TEST (test_load),
    TEST (test_no_device), TEST (test_guard), TEST (test_pinned),
    TEST (test_pinned_bound), TEST (test_announced), TEST (test_mapping),
    TEST (test_reuse), TEST (test_reuse_too_early),
    TEST (test_destroyed_stream), TEST (test_gone_stream), TEST (test_full),
    TEST (test_tensor))
