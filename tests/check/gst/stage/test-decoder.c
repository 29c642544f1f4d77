/* gst-spdl: tests of a stage's work in the calling thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/files.h"
#include "tests/check/support/stills.h"
#include "tests/check/support/suite.h"

static GstSpdlDecoder *
make_decoder (const gchar *description)
{
  g_autoptr (GError) error = NULL;
  GstSpdlDecoder *decoder = gst_spdl_decoder_new (description, &error);

  fail_unless (
      decoder != NULL, "%s: %s", description, error ? error->message : "");
  return decoder;
}

static void
assert_size (GstSpdlBatch *batch, gint64 width, gint64 height)
{
  GstSpdlTensor *tensor = gst_spdl_batch_find_tensor (batch, "data");
  guint n_dims;
  const gint64 *shape = gst_spdl_tensor_get_shape (tensor, &n_dims);

  fail_unless_equals_int (n_dims, 3);
  fail_unless_equals_int64 (shape[0], height);
  fail_unless_equals_int64 (shape[1], width);
  fail_unless_equals_int64 (shape[2], 3);
  fail_unless (gst_spdl_tensor_is_writable (tensor));
  gst_spdl_tensor_unref (tensor);
}

/* Results of all sizes and formats outlive each other and the decoder. */
GST_START_TEST (test_decode)
{
  GstSpdlDecoder *decoder = make_decoder ("spdldecode");
  GstSpdlBatch *batches[2 * N_STILLS];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2 * N_STILLS; i++) {
    GBytes *bytes = stills_make (i % N_STILLS, 60 + i, 48);

    batches[i] = gst_spdl_decoder_decode (decoder, bytes, 3, i, &error);
    fail_unless (batches[i] != NULL, "%s", error ? error->message : "");
    fail_unless_equals_int (gst_spdl_batch_get_n_items (batches[i]), 1);
    fail_unless_equals_int64 (
        gst_spdl_batch_get_item (batches[i], 0)->index, i);
    fail_unless_equals_int64 (gst_spdl_batch_get_epoch (batches[i]), 3);
    g_bytes_unref (bytes);
  }
  g_object_unref (decoder);
  for (guint i = 0; i < 2 * N_STILLS; i++) {
    assert_size (batches[i], 60 + i, 48);
    gst_spdl_batch_unref (batches[i]);
  }
}

GST_END_TEST;

/* The decoder can be used after a failure. */
GST_START_TEST (test_failures)
{
  GstSpdlDecoder *decoder = make_decoder ("spdldecode width=8 height=4");
  g_autoptr (GBytes) good = files_make_jpeg (30, 20, 1);
  g_autoptr (GBytes) empty = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) bad = g_bytes_new_static ("no picture", 10);

  for (guint i = 0; i < 3; i++) {
    GBytes *wrong = i % 2 ? bad : empty;
    g_autoptr (GError) error = NULL;
    GstSpdlBatch *batch;

    fail_unless (
        gst_spdl_decoder_decode (decoder, wrong, 0, 0, &error) == NULL);
    fail_unless (error != NULL);
    batch = gst_spdl_decoder_decode (decoder, good, 0, 0, NULL);
    assert_size (batch, 8, 4);
    gst_spdl_batch_unref (batch);
  }
  g_object_unref (decoder);
}

GST_END_TEST;

GST_START_TEST (test_descriptions)
{
  static const gchar *const wrong[] = { "spdldecode nothing=1", "spdlfetch",
    "identity", "spdldecode ! spdldecode", "nothing-of-that-name",
    "spdldecode width=70000" };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;

    fail_unless (
        gst_spdl_decoder_new (wrong[i], &error) == NULL, "%s", wrong[i]);
    fail_unless (error != NULL, "%s", wrong[i]);
  }
}

GST_END_TEST;

static gpointer
decode_often (gpointer user_data)
{
  g_autoptr (GBytes) bytes = files_make_jpeg (64, 48, 7);

  for (guint i = 0; i < 50; i++) {
    GstSpdlBatch *batch =
        gst_spdl_decoder_decode (user_data, bytes, 0, i, NULL);

    assert_size (batch, 16, 16);
    gst_spdl_batch_unref (batch);
  }
  return NULL;
}

/* Threads take turns. */
GST_START_TEST (test_threads)
{
  GstSpdlDecoder *decoder = make_decoder (
      "spdldecode width=16 height=16 augment=random-resized-crop flip=0.5");
  GThread *threads[4];

  for (guint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("decode", decode_often, decoder);
  for (guint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
  g_object_unref (decoder);
}

GST_END_TEST;

CHECK_SUITE (decoder, TEST (test_decode), TEST (test_failures),
    TEST (test_descriptions), TEST (test_threads))
