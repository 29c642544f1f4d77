/* gst-spdl: tests of spdlcudaupload's error handling
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/cuda/fake-cudart.h"
#include "tests/check/cuda/uploads.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/suite.h"

/* Pushes @n batches, or fewer if a push fails. */
static GstFlowReturn
push_some (Rig *rig, GstAllocator *allocator, guint n)
{
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++)
    ret = gst_pad_push (rig->src, upload_make_batch (allocator, i, NULL));
  return ret;
}

static void
check_failure (const gchar *call, gint nth, gint code, const gchar *text)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  const gchar *error;

  fake_cuda_reset ();
  rig_start (rig, UPLOAD_CAPS);
  fake_cuda_fail (call, nth, code);
  fail_unless_equals_int (push_some (rig, allocator, 300), GST_FLOW_ERROR);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  error = rig_get_error (rig);
  fail_unless (error != NULL, "%s: no error", call);
  fail_unless (errors_text_has (error, text), "%s: %s", call, error);
  rig_free (rig);
  gst_object_unref (allocator);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
}

/* Tests that a batch is kept until its copy ends, even if the wait for it
 * failed. */
GST_START_TEST (test_slow_copies)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);

  fake_cuda_reset ();
  fake_cuda_set_delay (20000);
  rig_start (rig, UPLOAD_CAPS);
  fake_cuda_fail ("cudaEventSynchronize", 1, 400);
  push_some (rig, allocator, 10);
  /* Frees memory that is not used any more. */
  gst_object_unref (allocator);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[resource-error failed]"));
  rig_free (rig);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
}

GST_END_TEST;

GST_START_TEST (test_failures)
{
  /* An allocation is retried after free blocks are released, so two calls
   * fail. */
  check_failure ("cudaMemcpyAsync", 1, 1, "[resource-error failed]");
  check_failure ("cudaMemcpyAsync", 5, 1, "[resource-error failed]|1");
  check_failure ("cudaEventRecord", 1, 400, "[resource-error failed]");
  check_failure ("cudaEventRecord", 8, 400, "[resource-error failed]");
  check_failure (
      "cudaEventCreateWithFlags", 1, 2, "[resource-error no-space-left]");
  check_failure (
      "cudaEventCreateWithFlags", 2, 2, "[resource-error no-space-left]");
  check_failure ("cudaMallocAsync", 1, 1, "[resource-error failed]|1088");
  check_failure ("cudaEventSynchronize", 3, 719, "[resource-error failed]");
  check_failure ("cudaEventElapsedTime", 3, 400, "[resource-error failed]");
}

GST_END_TEST;

/* Tests errors in the change to PLAYING, and a start after each of them. */
GST_START_TEST (test_no_start)
{
  static const gchar *const calls[] = { "cudaStreamCreateWithFlags",
    "cudaGetDeviceCount" };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++) {
    Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);

    fake_cuda_fail (calls[i], 1, 719);
    fail_unless_equals_int (
        gst_element_set_state (rig->element, GST_STATE_PLAYING),
        GST_STATE_CHANGE_FAILURE);
    fail_unless (rig_get_error (rig) != NULL);
    gst_element_set_state (rig->element, GST_STATE_NULL);
    rig_start (rig, UPLOAD_CAPS);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests a missing runtime. No runtime is loaded yet, as each test runs in its
 * own process. */
GST_START_TEST (test_no_runtime)
{
  g_autofree gchar *fake = g_strdup (g_getenv ("GST_SPDL_CUDART"));
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);

  g_setenv ("GST_SPDL_CUDART", "/nowhere/libcudart.so", TRUE);
  fail_unless_equals_int (gst_element_set_state (rig->element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  fail_unless (errors_text_has (
      rig_get_error (rig), "GST_SPDL_CUDART: /nowhere/libcudart.so"));
  rig_free (rig);
  g_setenv ("GST_SPDL_CUDART", fake, TRUE);
}

GST_END_TEST;

GST_START_TEST (test_no_device)
{
  Rig *rig = rig_new ("spdlcudaupload", "device-id", 3, NULL);

  fail_unless_equals_int (gst_element_set_state (rig->element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[resource-error not-found]|3|0"));
  rig_free (rig);
  g_setenv ("FAKE_CUDA_DRIVER", "0", TRUE);
  fake_cuda_reset ();
  rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  fail_unless_equals_int (gst_element_set_state (rig->element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  fail_unless (
      errors_text_has (rig_get_error (rig), "NVIDIA driver not found"));
  rig_free (rig);
}

GST_END_TEST;

/* Tests a device that fails during a copy. Consumers of the batches that were
 * sent get the error, the error message comes before EOS, and all memory is
 * freed. */
GST_START_TEST (test_lost)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 4, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);
  GError *error = NULL;
  gint n_out = 0;

  rig_start (rig, UPLOAD_CAPS);
  fake_cuda_fail ("copy", 3, 719);
  fake_cuda_hold ();
  for (guint i = 0; i < 4; i++)
    gst_pad_push (rig->src, upload_make_batch (allocator, i, &n_out));
  fake_cuda_let (-1);
  rig_push_eos (rig);
  rig_assert_log (rig, "batch batch batch batch error eos");
  /* The error may come from any of several calls. */
  fail_unless (errors_text_has (
      rig_get_error (rig), "[resource-error failed]|(CUDA error 719)"));
  fail_unless_equals_int (
      gst_pad_push (rig->src, upload_make_batch (allocator, 9, &n_out)),
      GST_FLOW_EOS);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless_equals_int (n_out, 0);
  fail_unless (!gst_spdl_cuda_memory_wait (
      gst_buffer_peek_memory (g_ptr_array_index (rig->buffers, 3), 0), NULL,
      &error));
  fail_unless (errors_has (error, "transfer to the CUDA device failed"));
  g_clear_error (&error);
  rig_free (rig);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Tests that an error for too many buffers in use gives their number. */
GST_START_TEST (test_full)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);

  rig_start (rig, UPLOAD_CAPS);
  fail_unless_equals_int (push_some (rig, allocator, 6), GST_FLOW_OK);
  /* The allocation and its retry both fail. */
  fake_cuda_fail ("cudaMallocAsync", 1, 1);
  fail_unless_equals_int (push_some (rig, allocator, 1), GST_FLOW_ERROR);
  fail_unless (errors_text_has (
      rig_get_error (rig), "[resource-error failed]|0|1088|6"));
  rig_free (rig);
  gst_object_unref (allocator);
}

GST_END_TEST;

CHECK_SUITE (cuda_upload_failures, FIXTURE (upload_set_up, upload_tear_down),
    TEST (test_failures), TEST (test_slow_copies), TEST (test_no_start),
    TEST (test_no_runtime), TEST (test_no_device), TEST (test_lost),
    TEST (test_full))
