/* gst-spdl: tests of spdlcudaupload's errors
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/cuda/fake-cudart.h"
#include "tests/check/cuda/uploads.h"

/* Pushes until it is refused or over. */
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
  fail_unless (strstr (error, text) != NULL, "%s: %s", call, error);
  rig_free (rig);
  gst_object_unref (allocator);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
}

GST_START_TEST (test_failures)
{
  /* Where no other memory is left to give back, it is asked for twice. */
  check_failure ("cudaMemcpyAsync", 1, 1, "to the device");
  check_failure ("cudaMemcpyAsync", 5, 1, "(CUDA error 1)");
  check_failure ("cudaEventRecord", 1, 400, "record a CUDA event");
  check_failure ("cudaEventRecord", 8, 400, "record a CUDA event");
  check_failure ("cudaEventCreateWithFlags", 1, 2, "create a CUDA event");
  check_failure ("cudaEventCreateWithFlags", 2, 2, "create a CUDA event");
  check_failure (
      "cudaMallocAsync", 1, 1, "has too little memory for a batch of 1088");
  check_failure ("cudaEventSynchronize", 3, 719,
      "The CUDA device is lost: A transfer to the CUDA device failed");
  check_failure ("cudaEventElapsedTime", 3, 400, "duration");
}

GST_END_TEST;

/* Errors before anything plays. */
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

/* Before one was loaded: each test has a process of its own. */
GST_START_TEST (test_no_runtime)
{
  g_autofree gchar *fake = g_strdup (g_getenv ("GST_SPDL_CUDART"));
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);

  g_setenv ("GST_SPDL_CUDART", "/nowhere/libcudart.so", TRUE);
  fail_unless_equals_int (gst_element_set_state (rig->element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  fail_unless (
      strstr (rig_get_error (rig), "GST_SPDL_CUDART: /nowhere/libcudart.so"));
  rig_free (rig);
  g_setenv ("GST_SPDL_CUDART", fake, TRUE);
}

GST_END_TEST;

GST_START_TEST (test_no_device)
{
  Rig *rig = rig_new ("spdlcudaupload", "device-id", 3, NULL);

  fail_unless_equals_int (gst_element_set_state (rig->element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_string (rig_get_error (rig),
      "CUDA device 3 does not exist: device numbers are 0 to 0");
  rig_free (rig);
  g_setenv ("FAKE_CUDA_DRIVER", "0", TRUE);
  fake_cuda_reset ();
  rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  fail_unless_equals_int (gst_element_set_state (rig->element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  fail_unless (strstr (rig_get_error (rig), "NVIDIA driver not found"));
  rig_free (rig);
}

GST_END_TEST;

/* A device that fails while it copies: what was sent says so to its consumers,
 * the error comes before the end, and all memory is given back. */
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
  /* Whichever call saw it first: the one for the end, or for the time. */
  fail_unless (
      g_str_has_prefix (rig_get_error (rig), "The CUDA device is lost: "));
  fail_unless (strstr (rig_get_error (rig), "(CUDA error 719)"));
  fail_unless_equals_int (
      gst_pad_push (rig->src, upload_make_batch (allocator, 9, &n_out)),
      GST_FLOW_EOS);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless_equals_int (n_out, 0);
  fail_unless (!gst_spdl_cuda_memory_wait (
      gst_buffer_peek_memory (g_ptr_array_index (rig->buffers, 3), 0), NULL,
      &error));
  fail_unless (
      strstr (error->message, "transfer to the CUDA device failed") != NULL);
  g_clear_error (&error);
  rig_free (rig);
  gst_object_unref (allocator);
}

GST_END_TEST;

/* Too many in use: an error that says how many. */
GST_START_TEST (test_full)
{
  Rig *rig = rig_new ("spdlcudaupload", "prefetch", 2, NULL);
  GstAllocator *allocator = gst_spdl_pinned_allocator_new (0, NULL);

  rig_start (rig, UPLOAD_CAPS);
  fail_unless_equals_int (push_some (rig, allocator, 6), GST_FLOW_OK);
  /* Once for itself, and once when nothing could be given back. */
  fake_cuda_fail ("cudaMallocAsync", 1, 1);
  fail_unless_equals_int (push_some (rig, allocator, 1), GST_FLOW_ERROR);
  fail_unless (
      strstr (rig_get_error (rig), "CUDA device 0 has too little memory for a "
                                   "batch of 1088 bytes while 6 are in use"));
  rig_free (rig);
  gst_object_unref (allocator);
}

GST_END_TEST;

static Suite *
cuda_upload_failures_suite (void)
{
  Suite *s = suite_create ("cuda-upload-failures");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, upload_set_up, upload_tear_down);
  tcase_add_test (tc, test_failures);
  tcase_add_test (tc, test_no_start);
  tcase_add_test (tc, test_no_runtime);
  tcase_add_test (tc, test_no_device);
  tcase_add_test (tc, test_lost);
  tcase_add_test (tc, test_full);
  return s;
}

GST_CHECK_MAIN (cuda_upload_failures);
