/* gst-spdl: tests of spdlcudaupload: copies, memory reuse and interruption
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gst/spdl/cuda/pinned.h"
#include "tests/check/cuda/fake-cudart.h"
#include "tests/check/cuda/uploads.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* A thread that pushes batches, and its progress. */
typedef struct {
  Rig *rig;
  GstAllocator *allocator;
  guint n;
  gint n_pushed;
  gint n_out;
  GstFlowReturn ret;
} Pusher;

static gpointer
push_all (gpointer data)
{
  Pusher *self = data;

  for (guint i = 0; i < self->n && self->ret == GST_FLOW_OK; i++) {
    self->ret = gst_pad_push (self->rig->src,
        upload_make_batch (self->allocator, i + 1, &self->n_out));
    g_atomic_int_inc (&self->n_pushed);
  }
  return NULL;
}

/* Checks that `prefetch` batches pass while the device is blocked, and one more
 * for each batch that it completes. */
static void
check_prefetch (guint prefetch)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", prefetch, NULL);
  Pusher pusher = { .rig = rig,
    .n = prefetch + 3,
    .allocator = gst_spdl_pinned_allocator_new (0, NULL) };
  GThread *thread;

  fake_cuda_reset ();
  rig_start (rig, UPLOAD_CAPS);
  fake_cuda_hold ();
  thread = g_thread_new ("pusher", push_all, &pusher);
  rig_wait_items (rig, prefetch);
  fail_unless_equals_int (fake_cuda_count ("unfinished"), prefetch);
  for (guint i = 1; i <= 3; i++) {
    fail_unless_equals_int (rig_count_items (rig), prefetch + i - 1);
    fail_unless (
        fake_cuda_count ("cudaMemcpyAsync") == (gint) (prefetch + i - 1));
    /* No buffer is released before its copy is complete. */
    fail_unless (g_atomic_int_get (&pusher.n_out) >= (gint) prefetch);
    fake_cuda_let (1);
    rig_wait_items (rig, prefetch + i);
  }
  g_thread_join (thread);
  fail_unless_equals_int (pusher.ret, GST_FLOW_OK);
  fake_cuda_let (-1);
  rig_push_eos (rig);
  fail_unless_equals_int (g_atomic_int_get (&pusher.n_out), 0);
  for (guint i = 0; i < prefetch + 3; i++)
    upload_assert_batch (g_ptr_array_index (rig->buffers, i), i + 1);
  fail_unless_equals_uint64 (
      rig_get_stat (rig->element, "num-transfers"), prefetch + 3);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-unpinned"), 0);
  gst_object_unref (pusher.allocator);
  rig_free (rig);
}

GST_START_TEST (test_prefetch)
{
  check_prefetch (1);
  check_prefetch (2);
  check_prefetch (5);
}

GST_END_TEST;

/* Tests that tensors that are contiguous in memory take a single copy. */
GST_START_TEST (test_one_copy)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  GstBuffer *batch;
  GstCaps *caps;

  rig_start (rig, UPLOAD_CAPS);
  caps = gst_pad_get_current_caps (rig->sink);
  fail_unless (gst_caps_features_contains (
      gst_caps_get_features (caps, 0), GST_SPDL_CAPS_FEATURE_CUDA_MEMORY));
  gst_caps_unref (caps);
  gst_pad_push (rig->src, upload_make_batch (allocator, 1, NULL));
  rig_push_eos (rig);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 1);
  upload_assert_batch (g_ptr_array_index (rig->buffers, 0), 1);

  /* Tensors in two blocks take one copy each, also if their order is
   * reversed. */
  rig_free (rig);
  fake_cuda_reset ();
  rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  rig_start (rig, UPLOAD_CAPS);
  batch = upload_make_batch (allocator, 2, NULL);
  gst_buffer_replace_memory (
      batch, 1, gst_allocator_alloc (allocator, UPLOAD_LABEL_SIZE, NULL));
  gst_buffer_memset (batch, UPLOAD_IMAGE_SIZE, 2, UPLOAD_LABEL_SIZE);
  gst_pad_push (rig->src, batch);
  rig_push_eos (rig);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 2);
  upload_assert_batch (g_ptr_array_index (rig->buffers, 0), 2);
  rig_free (rig);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Tests that pageable memory is copied to pinned memory and released at
 * once. */
GST_START_TEST (test_unpinned)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  gint n_out = 0;

  rig_start (rig, UPLOAD_CAPS);
  for (guint i = 1; i <= 5; i++)
    gst_pad_push (rig->src, upload_make_batch (NULL, i, &n_out));
  rig_push_eos (rig);
  fail_unless_equals_int (n_out, 0);
  fail_unless_equals_int (fake_cuda_count ("pageable"), 0);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 5);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-unpinned"), 5);
  for (guint i = 1; i <= 5; i++)
    upload_assert_batch (g_ptr_array_index (rig->buffers, i - 1), i);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that uploads work without pinned memory. */
GST_START_TEST (test_no_locked_memory)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);

  rig_start (rig, UPLOAD_CAPS);
  fake_cuda_fail ("cudaHostAlloc", 1, 2);
  gst_pad_push (rig->src, upload_make_batch (NULL, 1, NULL));
  fail_unless_equals_int (fake_cuda_count ("pageable"), 2);
  gst_pad_push (rig->src, upload_make_batch (NULL, 2, NULL));
  rig_push_eos (rig);
  fail_unless_equals_int (fake_cuda_count ("pageable"), 2);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-unpinned"), 2);
  for (guint i = 1; i <= 2; i++)
    upload_assert_batch (g_ptr_array_index (rig->buffers, i - 1), i);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that shared memory from another process is registered once. */
GST_START_TEST (test_shared)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  const gsize size = 8 * 4096;
  guint8 *shared = mmap (
      NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  fail_unless (shared != MAP_FAILED);
  gst_spdl_pinned_announce (shared, size);
  rig_start (rig, UPLOAD_CAPS);
  for (guint i = 0; i < 8; i++) {
    GstBuffer *batch = upload_make_batch (NULL, i, NULL);
    guint8 *data = shared + i * 4096;

    memset (data, i, UPLOAD_BATCH_SIZE);
    gst_buffer_remove_all_memory (batch);
    gst_buffer_append_memory (
        batch, gst_memory_new_wrapped (0, data, UPLOAD_IMAGE_SIZE, 0,
                   UPLOAD_IMAGE_SIZE, NULL, NULL));
    gst_buffer_append_memory (
        batch, gst_memory_new_wrapped (0, data + UPLOAD_IMAGE_SIZE,
                   UPLOAD_LABEL_SIZE, 0, UPLOAD_LABEL_SIZE, NULL, NULL));
    gst_pad_push (rig->src, batch);
  }
  rig_push_eos (rig);
  fail_unless_equals_int (fake_cuda_count ("cudaHostRegister"), 1);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 8);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-unpinned"), 0);
  for (guint i = 0; i < 8; i++)
    upload_assert_batch (g_ptr_array_index (rig->buffers, i), i);
  rig_free (rig);
  gst_spdl_pinned_withdraw (shared);
  munmap (shared, size);
}

GST_END_TEST;

/* Tests that memory in use on a consumer's stream is not overwritten after its
 * last unref, and that only the upload thread waits on the CPU. */
GST_START_TEST (test_reuse)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 3, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  const guint n = 200;

  fake_cuda_set_delay (50);
  rig_start (rig, UPLOAD_CAPS);
  for (guint i = 0; i < n; i++) {
    const guint8 value = i;
    GstMemory *memory;

    fail_unless_equals_int (
        gst_pad_push (rig->src, upload_make_batch (allocator, value, NULL)),
        GST_FLOW_OK);
    memory = gst_buffer_peek_memory (g_ptr_array_index (rig->buffers, 0), 0);
    fail_unless (gst_spdl_cuda_memory_wait (memory, NULL, NULL));
    fake_cuda_use (NULL, gst_spdl_cuda_memory_get_address (memory),
        UPLOAD_IMAGE_SIZE, value);
    g_ptr_array_set_size (rig->buffers, 0);
  }
  rig_push_eos (rig);
  fake_cuda_wait ();
  /* Blocks in flight, and one more for each that a consumer uses. */
  fail_unless (fake_cuda_count ("cudaMallocAsync") <= 3 + 8 + 1);
  fail_unless (fake_cuda_count ("cudaHostAlloc") <= 3 + 1);
  fail_unless_equals_int (fake_cuda_count ("cudaEventSynchronize"), n);
  fail_unless_equals_int (fake_cuda_count ("cudaStreamSynchronize"), 0);
  gst_object_unref (allocator);
  rig_free (rig);
}

GST_END_TEST;

/* Tests that device memory outlives the element while a consumer uses it. */
GST_START_TEST (test_outlives)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  GstBuffer *batch;
  GstMemory *memory;

  rig_start (rig, UPLOAD_CAPS);
  gst_pad_push (rig->src, upload_make_batch (allocator, 3, NULL));
  batch = gst_buffer_ref (g_ptr_array_index (rig->buffers, 0));
  rig_free (rig);
  gst_object_unref (allocator);
  upload_assert_batch (batch, 3);
  memory = gst_buffer_peek_memory (batch, 0);
  fail_unless (gst_spdl_cuda_memory_wait (memory, NULL, NULL));
  fake_cuda_hold ();
  fake_cuda_use (
      NULL, gst_spdl_cuda_memory_get_address (memory), UPLOAD_IMAGE_SIZE, 3);
  gst_buffer_unref (batch);
  fake_cuda_let (-1);
}

GST_END_TEST;

static gpointer
push_one (gpointer data)
{
  Pusher *self = data;

  self->ret = gst_pad_push (
      self->rig->src, upload_make_batch (self->allocator, 99, NULL));
  return NULL;
}

/* Checks that a push that waits for a free slot is ended by a flush or by the
 * end of the stream. */
static void
check_interrupted (gboolean flush)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 1, NULL);
  Pusher pusher = { .rig = rig,
    .allocator = gst_spdl_pinned_allocator_new (0, NULL) };
  GThread *thread;

  rig_start (rig, UPLOAD_CAPS);
  fake_cuda_hold ();
  gst_pad_push (rig->src, upload_make_batch (pusher.allocator, 1, NULL));
  wait_until (fake_cuda_count ("cudaEventSynchronize") >= 1);
  thread = g_thread_new ("pusher", push_one, &pusher);
  if (flush)
    gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  else
    fake_cuda_let (-1);
  if (!flush)
    gst_element_set_state (rig->element, GST_STATE_READY);
  g_thread_join (thread);
  fail_unless (pusher.ret == GST_FLOW_FLUSHING || !flush);
  if (flush) {
    gst_pad_push_event (rig->src, gst_event_new_flush_stop (FALSE));
    fake_cuda_let (-1);
    rig_start (rig, UPLOAD_CAPS);
    fail_unless_equals_int (
        gst_pad_push (rig->src, upload_make_batch (pusher.allocator, 5, NULL)),
        GST_FLOW_OK);
    rig_push_eos (rig);
    fail_unless (rig_get_error (rig) == NULL);
  }
  rig_free (rig);
  gst_object_unref (pusher.allocator);
}

GST_START_TEST (test_flush)
{
  check_interrupted (TRUE);
}

GST_END_TEST;

GST_START_TEST (test_stop)
{
  for (guint i = 0; i < 20; i++)
    check_interrupted (FALSE);
}

GST_END_TEST;

/* Tests repeated changes between NULL and PLAYING at random moments. */
GST_START_TEST (test_restart)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);

  fake_cuda_set_delay (100);
  for (guint i = 0; i < 10; i++) {
    rig_start (rig, UPLOAD_CAPS);
    for (guint k = 0; k < i; k++)
      gst_pad_push (rig->src, upload_make_batch (allocator, k, NULL));
    gst_element_set_state (rig->element, GST_STATE_NULL);
    g_ptr_array_set_size (rig->buffers, 0);
    gst_pad_set_active (rig->src, FALSE);
    gst_pad_set_active (rig->sink, FALSE);
  }
  rig_free (rig);
  gst_object_unref (allocator);
}

GST_END_TEST;

CHECK_SUITE (cuda_upload, FIXTURE (upload_set_up, upload_tear_down),
    TEST (test_prefetch), TEST (test_one_copy), TEST (test_unpinned),
    TEST (test_no_locked_memory), TEST (test_shared), TEST (test_reuse),
    TEST (test_outlives), TEST (test_flush), TEST (test_stop),
    TEST (test_restart))
