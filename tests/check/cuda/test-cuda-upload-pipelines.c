/* gst-spdl: tests of spdlcudaupload in pipelines
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/fake-cudart.h"
#include "tests/check/cuda/uploads.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

/* Runs a pipeline with @between between spdlbatch and spdlcudaupload. @is_ours:
 * whether spdlbatch writes into the element's pinned memory */
static void
check_pipeline (const gchar *between, guint device, gboolean is_ours)
{
  Run *run = run_pipeline (
      "videotestsrc num-buffers=40 pattern=white "
      "! video/x-raw,format=RGB,width=32,height=32 "
      "! spdlbatch batch-size=8 labels=true %s ! spdlcudaupload name=upload "
      "device-id=%u ! fakesink name=sink",
      between, device);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 5);
  fail_unless_equals_int (fake_cuda_count ("pageable"), 0);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 5);
  fail_unless_equals_int (
      fake_cuda_count ("cudaPointerGetAttributes"), is_ours ? 0 : 5);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *batch = g_ptr_array_index (run->buffers, i);

    fail_unless_equals_int (run_batch (run, i)->num_items, 8);
    fail_unless_equals_int (
        gst_spdl_cuda_memory_get_device_id (gst_buffer_peek_memory (batch, 0)),
        device);
    fail_unless (upload_is_filled (
                     gst_buffer_peek_memory (batch, 0), 8 * 32 * 32 * 3, 235) ||
                 upload_is_filled (
                     gst_buffer_peek_memory (batch, 0), 8 * 32 * 32 * 3, 255));
  }
  run_free (run);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
}

GST_START_TEST (test_pool)
{
  check_pipeline ("", 0, TRUE);
  fake_cuda_reset ();
  check_pipeline ("! queue", 0, TRUE);
  fake_cuda_reset ();
  check_pipeline ("! queue ! identity ! queue", 0, TRUE);
  fake_cuda_reset ();
  check_pipeline ("! identity drop-allocation=true", 0, FALSE);
}

GST_END_TEST;

/* Tests that batches from a worker process are copied from the shared memory,
 * and that each slab is registered once. */
GST_START_TEST (test_worker)
{
  GstElementFactory *factory = gst_element_factory_find ("spdlworkersrc");
  Run *run;

  if (!factory)
    return;
  gst_object_unref (factory);
  run = run_pipeline (
      "spdlworkersrc pipeline=\"videotestsrc num-buffers=400 "
      "! video/x-raw,format=RGB,width=16,height=16 ! spdlbatch batch-size=8 "
      "labels=true\" ! spdlcudaupload ! fakesink name=sink");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 50);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 50);
  fail_unless_equals_int (fake_cuda_count ("cudaPointerGetAttributes"), 0);
  fail_unless (fake_cuda_count ("cudaHostRegister") > 0);
  fail_unless (fake_cuda_count ("cudaHostRegister") < 50);
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_devices)
{
  g_setenv ("FAKE_CUDA_DEVICES", "2", TRUE);
  for (guint device = 0; device < 2; device++) {
    fake_cuda_reset ();
    check_pipeline ("! queue", device, TRUE);
  }
}

GST_END_TEST;

/* Tests one stream of batches split between two devices in one process. */
GST_START_TEST (test_two_devices)
{
  Run *run;

  g_setenv ("FAKE_CUDA_DEVICES", "2", TRUE);
  fake_cuda_reset ();
  fake_cuda_set_delay (20);
  run = run_pipeline (
      "videotestsrc num-buffers=80 ! video/x-raw,format=RGB,width=16,height=16 "
      "! spdlbatch batch-size=4 ! tee name=t ! queue ! spdlcudaupload "
      "device-id=1 "
      "! fakesink name=sink  t. ! queue ! spdlcudaupload ! fakesink "
      "async=false");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 20);
  fail_unless_equals_int (fake_cuda_count ("cudaMemcpyAsync"), 40);
  run_free (run);
}

GST_END_TEST;

static void
upload_all (const gchar *properties)
{
  Run *run = run_pipeline (
      "videotestsrc num-buffers=40 ! video/x-raw,format=RGB,width=16,height=16 "
      "! spdlbatch batch-size=4 ! queue ! spdlcudaupload %s "
      "! fakesink name=sink",
      properties);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 10);
  run_free (run);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
}

/* Tests that a pipeline creates no context on a device that it does not use, as
 * cudaSetDevice() does. */
GST_START_TEST (test_other_device)
{
  g_setenv ("FAKE_CUDA_DEVICES", "2", TRUE);
  fake_cuda_reset ();
  upload_all ("device-id=1");
  fail_unless (fake_cuda_count ("device 1") > 0);
  fail_unless_equals_int (fake_cuda_count ("device 0"), 0);
}

GST_END_TEST;

/* Tests that uploads go on while another thread captures a CUDA graph. */
GST_START_TEST (test_capture)
{
  fake_cuda_capture (TRUE);
  upload_all ("");
  g_setenv ("FAKE_CUDA_POOLS", "0", TRUE);
  fake_cuda_reset ();
  fake_cuda_capture (TRUE);
  upload_all ("");
}

GST_END_TEST;

CHECK_SUITE (cuda_upload_pipelines, FIXTURE (upload_set_up, upload_tear_down),
    TEST (test_pool), TEST (test_worker), TEST (test_devices),
    TEST (test_two_devices), TEST (test_other_device), TEST (test_capture))
