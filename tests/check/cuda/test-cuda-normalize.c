/* gst-spdl: tests of spdlcudanormalize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/cuda/fake-cudart.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define CUDA_CAPS(types, dims)                                   \
  "other/tensors(" GST_SPDL_CAPS_FEATURE_CUDA_MEMORY             \
  "),format=(string)static,num_tensors=1,types=(string)\"" types \
  "\",dimensions=(string)\"" dims "\",framerate=(fraction)0/1"

static void
set_up (void)
{
  fake_cuda_reset ();
}

static void
tear_down (void)
{
  fake_cuda_let (-1);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
  fail_unless_equals_int (fake_cuda_misuses (), 0);
}

static GBytes *
get_bytes (GstMemory *memory)
{
  GstMapInfo map;
  GBytes *bytes;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  bytes = g_bytes_new (map.data, map.size);
  gst_memory_unmap (memory, &map);
  return bytes;
}

static void
assert_equal (GstBuffer *a, GstBuffer *b)
{
  fail_unless_equals_int (gst_buffer_n_memory (a), gst_buffer_n_memory (b));
  for (guint i = 0; i < gst_buffer_n_memory (a); i++) {
    g_autoptr (GBytes) left = get_bytes (gst_buffer_peek_memory (a, i));
    g_autoptr (GBytes) right = get_bytes (gst_buffer_peek_memory (b, i));

    fail_unless (g_bytes_equal (left, right), "tensor %u", i);
  }
}

/* Checks that the result equals spdlbatch's on the CPU bit for bit. */
static void
check_like_batch (
    const gchar *type, guint width, const gchar *format, const gchar *factors)
{
  static const gchar source[] =
      "videotestsrc num-buffers=10 pattern=snow ! video/x-raw,format=%s,"
      "width=%u,height=18 ! spdlbatch batch-size=4 indices=true %s %s %s %s ! "
      "%s "
      "fakesink name=sink";
  g_autofree gchar *kind = g_strdup_printf ("dtype=%s", type);
  g_autofree gchar *after = g_strdup_printf (
      "spdlcudaupload ! spdlcudanormalize dtype=%s %s ! ", type, factors);
  Run *cpu = run_pipeline (
      source, format, width, kind, "layout=nchw", factors, "", "");
  Run *gpu = run_pipeline (source, format, width, "", "", "", "", after);

  fail_unless (cpu->error == NULL && gpu->error == NULL, "%s", gpu->error);
  fail_unless_equals_int (gpu->buffers->len, 3);
  for (guint i = 0; i < gpu->buffers->len; i++) {
    GstCaps *there = g_ptr_array_index (gpu->caps, i);
    GstCaps *here = gst_caps_copy (there);

    fail_unless_equals_string (
        gst_caps_features_get_nth (gst_caps_get_features (there, 0), 0),
        GST_SPDL_CAPS_FEATURE_CUDA_MEMORY);
    gst_caps_set_features_simple (here, NULL);
    fail_unless (gst_caps_is_equal (here, g_ptr_array_index (cpu->caps, i)));
    gst_caps_unref (here);
    assert_equal (g_ptr_array_index (gpu->buffers, i),
        g_ptr_array_index (cpu->buffers, i));
    fail_unless_equals_int (
        run_batch (gpu, i)->num_items, run_batch (cpu, i)->num_items);
    fail_unless_equals_string (run_batch (gpu, i)->names[1], "indices");
  }
  run_free (cpu);
  run_free (gpu);
}

GST_START_TEST (test_like_batch)
{
  static const gchar factors[] =
      "mean=\"<0.485,0.456,0.406>\" std=\"<0.229,0.224,0.225>\"";

  check_like_batch ("float32", 32, "RGB", factors);
  check_like_batch ("float16", 32, "RGB", factors);
  check_like_batch ("float32", 33, "RGB", factors);
  check_like_batch ("float16", 20, "RGB", "mean=\"<0.5>\"");
  check_like_batch ("float32", 32, "GRAY8", "std=\"<0.25>\"");
  check_like_batch ("float16", 24, "RGBA", "");
  check_like_batch ("float32", 21, "GRAY8", "");
}

GST_END_TEST;

/* Tests that seed, epoch and index determine which images are flipped, and that
 * the item meta has the flag. */
GST_START_TEST (test_flip)
{
  static const gchar line[] =
      "videotestsrc num-buffers=40 pattern=snow ! video/x-raw,format=GRAY8,"
      "width=16,height=1 ! spdlbatch batch-size=20 ! spdlcudaupload "
      "! spdlcudanormalize flip=%s seed=%u ! fakesink name=sink";
  Run *plain = run_pipeline (line, "0", 0);
  Run *first = run_pipeline (line, "0.5", 7);
  Run *again = run_pipeline (line, "0.5", 7);
  Run *other = run_pipeline (line, "0.5", 8);
  guint n_flipped = 0, n_other = 0;

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GBytes) a = get_bytes (
        gst_buffer_peek_memory (g_ptr_array_index (plain->buffers, i), 0));
    g_autoptr (GBytes) b = get_bytes (
        gst_buffer_peek_memory (g_ptr_array_index (first->buffers, i), 0));
    const gfloat *before = g_bytes_get_data (a, NULL);
    const gfloat *after = g_bytes_get_data (b, NULL);

    assert_equal (g_ptr_array_index (first->buffers, i),
        g_ptr_array_index (again->buffers, i));
    for (guint n = 0; n < 20; n++) {
      gboolean flipped, there;

      fail_unless (gst_structure_get_boolean (
          run_batch (first, i)->items[n].extra, "flip", &flipped));
      fail_unless (gst_structure_get_boolean (
          run_batch (other, i)->items[n].extra, "flip", &there));
      n_flipped += flipped;
      n_other += flipped != there;
      for (guint x = 0; x < 16; x++)
        fail_unless (
            after[16 * n + x] == before[16 * n + (flipped ? 15 - x : x)]);
    }
  }
  fail_unless (n_flipped > 8 && n_flipped < 32, "%u", n_flipped);
  fail_unless (n_other > 0);
  run_free (plain);
  run_free (first);
  run_free (again);
  run_free (other);
}

GST_END_TEST;

/* Tests that only the upload thread waits on the CPU. */
GST_START_TEST (test_no_wait)
{
  Run *run;

  fake_cuda_set_delay (100);
  run = run_pipeline (
      "videotestsrc num-buffers=100 ! "
      "video/x-raw,format=RGB,width=16,height=16 "
      "! spdlbatch batch-size=2 ! spdlcudaupload ! spdlcudanormalize "
      "! fakesink name=sink");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (fake_cuda_count ("cudaLaunchKernel"), 50);
  fail_unless_equals_int (fake_cuda_count ("cudaEventSynchronize"), 50);
  /* At the end, before the program is unloaded. */
  fail_unless_equals_int (fake_cuda_count ("cudaStreamSynchronize"), 1);
  run_free (run);
}

GST_END_TEST;

static void
check_refused (const gchar *caps, const gchar *text)
{
  Rig *rig =
      rig_new ("spdlcudanormalize", "seed", G_GUINT64_CONSTANT (1), NULL);

  rig_start (rig, caps);
  fail_unless_equals_int (rig_push (rig, 0), GST_FLOW_NOT_NEGOTIATED);
  fail_unless (rig_get_error (rig) != NULL, "%s: no error", caps);
  fail_unless (
      errors_text_has (rig_get_error (rig), text), "%s", rig_get_error (rig));
  rig_free (rig);
}

GST_START_TEST (test_refused)
{
  Rig *rig;

  check_refused (CUDA_CAPS ("float32", "3:4:4:2"),
      "[stream-error format]|16|(32, 224, 224, 3)|float32 (2, 4, 4, 3)");
  check_refused (
      CUDA_CAPS ("uint8", "3:4:4"), "[stream-error format]|uint8 (4, 4, 3)");
  check_refused (CUDA_CAPS ("uint8", "17:4:4:2"),
      "[stream-error format]|uint8 (2, 4, 4, 17)");

  rig = rig_new ("spdlcudanormalize", "seed", G_GUINT64_CONSTANT (1), NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "std", "<1.0,2.0>");
  rig_start (rig, CUDA_CAPS ("uint8", "3:4:4:2"));
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error format]|2|3|std"));
  rig_free (rig);

  /* System memory is rejected. */
  rig = rig_new ("spdlcudanormalize", "seed", G_GUINT64_CONSTANT (1), NULL);
  rig_start (rig, CUDA_CAPS ("uint8", "1:4:4:1"));
  fail_unless_equals_int (rig_push (rig, 0), GST_FLOW_ERROR);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error wrong-type]"));
  rig_free (rig);
}

GST_END_TEST;

/* Checks the first error of a pipeline; the source posts a second one. */
static void
check_error (const gchar *line, const gchar *text)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GError *error = NULL;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR,
      "no error with \"%s\"", text);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (errors_has (error, text), "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  fake_cuda_wait ();
  fail_unless_equals_int (fake_cuda_live (), 0);
}

GST_START_TEST (test_failures)
{
  static const struct {
    const gchar *call;
    gint code;
    const gchar *text;
  } cases[] = {
    { "cudaLibraryLoadData", 209, "[resource-error failed]" },
    { "cudaLibraryGetKernel", 500, "[resource-error failed]" },
    { "cudaLaunchKernel", 701, "[resource-error failed]" },
    { "kernel", 719, "[resource-error failed]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    fake_cuda_reset ();
    fake_cuda_fail (cases[i].call, 1, cases[i].code);
    check_error (
        "videotestsrc ! video/x-raw,format=RGB,width=8,height=8 "
        "! spdlbatch batch-size=1 ! spdlcudaupload ! spdlcudanormalize "
        "! fakesink",
        cases[i].text);
  }
}

GST_END_TEST;

/* Tests batches that are kept after the stream of the element is destroyed. */
GST_START_TEST (test_kept_batches)
{
  Run *run = run_pipeline (
      "videotestsrc num-buffers=80 ! video/x-raw,format=RGB,width=16,height=16 "
      "! spdlbatch batch-size=4 ! spdlcudaupload ! spdlcache num-caches=4 "
      "return-caches-after=8 stop-after=20 ! spdlcudanormalize "
      "! fakesink name=sink");

  fail_unless (run->error == NULL, "%s", run->error);
  run_free (run);
}

GST_END_TEST;

CHECK_SUITE (cuda_normalize, FIXTURE (set_up, tear_down),
    TEST (test_like_batch), TEST (test_flip), TEST (test_no_wait),
    TEST (test_refused), TEST (test_failures), TEST (test_kept_batches))
