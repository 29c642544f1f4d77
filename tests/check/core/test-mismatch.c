/* gst-spdl: tests of items with another shape than their batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define RGB(w, h) \
  "video/x-raw,format=RGB,width=" #w ",height=" #h ",framerate=0/1"

/* Pushes an image of 4 or 8 by 4 pixels. */
static GstFlowReturn
push_image (Rig *rig, guint number, gboolean is_wide)
{
  g_autoptr (GstCaps) caps =
      gst_caps_from_string (is_wide ? RGB (8, 4) : RGB (4, 4));

  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  return gst_pad_push (
      rig->src, rig_make_item (number, (is_wide ? 8 : 4) * 4 * 3));
}

static Rig *
start_batch (const gchar *mode)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 3, NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "on-shape-mismatch", mode);
  rig_start (rig, RGB (4, 4));
  return rig;
}

static void
assert_posted (
    Rig *rig, GQuark domain, gint code, const gchar *first, const gchar *second)
{
  guint n = 0;

  for (guint i = 0; i < rig->messages->len; i++) {
    GstMessage *message = g_ptr_array_index (rig->messages, i);
    g_autoptr (GError) error = NULL;

    if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR)
      continue;
    n++;
    gst_message_parse_error (message, &error, NULL);
    fail_unless (g_error_matches (error, domain, code), "%s", error->message);
    fail_unless (errors_has (error, first) && errors_has (error, second), "%s",
        error->message);
  }
  fail_unless_equals_int (n, 1);
}

/* A mismatch in the first batch of a run is an error that names the item and
 * both shapes. Only EOS follows. */
GST_START_TEST (test_first_batch)
{
  static const gchar *const modes[] = { "auto", "error" };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    Rig *rig = start_batch (modes[i]);

    push_image (rig, 0, FALSE);
    fail_unless_equals_int (push_image (rig, 1, TRUE), GST_FLOW_EOS);
    fail_unless_equals_int (push_image (rig, 2, FALSE), GST_FLOW_EOS);
    gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 3));
    rig_push_eos (rig);
    rig_assert_log (rig, "error eos");
    assert_posted (rig, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "[stream-error format]|1", "uint8 (4, 8, 3)");
    assert_posted (rig, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "uint8 (4, 4, 3)", "on-shape-mismatch");
    rig_free (rig);
  }
}

GST_END_TEST;

/* Returns the message of the last failed item. */
static gchar *
get_failure (Rig *rig)
{
  g_autoptr (GError) error = NULL;

  gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
      G_TYPE_ERROR, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  return g_strdup (error->message);
}

/* After the first batch, or always with `skip`, the item fails, with the text
 * of the error. */
GST_START_TEST (test_later_batches)
{
  static const gchar *const modes[] = { "auto", "error", "skip" };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    Rig *rig = start_batch (modes[i]);

    for (guint number = 0; number < 4; number++)
      push_image (rig, number, FALSE);
    push_image (rig, 4, TRUE);
    if (i == 1) {
      rig_assert_log (rig, "batch error");
    } else {
      g_autofree gchar *text = get_failure (rig);
      Rig *other = start_batch ("error");

      push_image (other, 3, FALSE);
      push_image (other, 4, TRUE);
      fail_unless (g_str_has_suffix (rig_get_error (other), text));
      rig_free (other);
      rig_assert_log (rig, "batch failed 4 gone failed 4");
    }
    rig_free (rig);
  }
}

GST_END_TEST;

/* A new run after READY has a first batch again; a stream after a flush does
 * not. */
GST_START_TEST (test_first_batch_again)
{
  Rig *rig = start_batch ("auto");

  for (guint number = 0; number < 3; number++)
    push_image (rig, number, FALSE);
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  rig_start (rig, RGB (4, 4));
  push_image (rig, 3, FALSE);
  push_image (rig, 4, TRUE);
  rig_assert_log (rig, "batch flush-start flush-stop failed 4 gone failed 4");
  gst_element_set_state (rig->element, GST_STATE_READY);
  rig_start (rig, RGB (4, 4));
  push_image (rig, 5, FALSE);
  push_image (rig, 6, TRUE);
  rig_assert_log (rig, "error");
  rig_free (rig);
}

GST_END_TEST;

/* A resumed run has had its first batch: it continues. */
GST_START_TEST (test_resumed)
{
  static const gchar *const places[] = { "epoch=0,mark=0,done=;",
    "epoch=0,mark=7,done=;", "epoch=1,mark=0,done=;" };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree gchar *state = g_strconcat (
        "spdl1;source=0,count=9,hash=0123456789abcdef,shuffle=0,seed=0,rank=0,"
        "world-size=1,shard-mode=pad,",
        places[i], NULL);
    Rig *rig = start_batch ("auto");

    gst_pad_push_event (rig->src, gst_spdl_event_new_source (0, 9, state));
    push_image (rig, 7, FALSE);
    push_image (rig, 8, TRUE);
    rig_assert_log (rig, i == 0 ? "custom-downstream-sticky error"
                                : "custom-downstream-sticky failed 8 gone "
                                  "failed 8");
    rig_free (rig);
  }
}

GST_END_TEST;

/* Types, names and number of tensors; also with pad-to-longest. */
GST_START_TEST (test_other_mismatches)
{
#define TENSORS(n, types, dims)                                           \
  "other/tensors,format=static,num_tensors=" #n ",types=(string)\"" types \
  "\",dimensions=(string)\"" dims "\",framerate=0/1"
  static const struct {
    const gchar *caps;
    const gchar *text;
  } others[] = {
    { TENSORS (1, "int8", "2:4"), "int8 (4, 2)" },
    { TENSORS (1, "uint8", "4:2"), "uint8 (2, 4)" },
    { TENSORS (2, "uint8,uint8", "2:2,2:2"), "[stream-error format]|2" },
    { TENSORS (1, "uint8", "2:4") ",names=(string)<\"x\">", "\"x\"" },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (others); i++) {
    Rig *rig =
        rig_new ("spdlbatch", "batch-size", 3, "pad-to-longest", i % 2, NULL);
    g_autoptr (GstCaps) caps = gst_caps_from_string (others[i / 2].caps);

    rig_start (rig, TENSORS (1, "uint8", "2:4"));
    gst_pad_push (rig->src, rig_make_item (0, 8));
    gst_pad_push_event (rig->src, gst_event_new_caps (caps));
    gst_pad_push (rig->src, rig_make_item (1, 8));
    rig_push_eos (rig);
    rig_assert_log (rig, "error eos");
    assert_posted (rig, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        others[i / 2].text, "on-shape-mismatch");
    rig_free (rig);
  }
}

GST_END_TEST;

/* Valid images of different sizes are an error, in a loader and without one. */
GST_START_TEST (test_images)
{
  gchar *folder = files_make_dataset (20);
  g_autofree gchar *job = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch output-order=input "
      "! spdldecode output-order=input ! spdlbatch batch-size=8",
      folder);
  GstSpdlLoader *loader = loader_make ("%s ! spdlsink", job);
  Run *run = run_pipeline ("%s ! fakesink name=sink", job);
  g_autoptr (GError) error = NULL;
  guint n_items;

  fail_unless (
      run->error && errors_text_has (run->error, folder), "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 0);
  run_free (run);
  loader_start (loader);
  error = loader_take_until_error (loader, &n_items);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  fail_unless (errors_has (error, folder));
  fail_unless_equals_int (n_items, 0);
  g_object_unref (loader);

  run = run_pipeline ("%s on-shape-mismatch=skip ! fakesink name=sink", job);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless (run->buffers->len > 0 && run->failures->len > 0);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (mismatch, TEST (test_first_batch), TEST (test_later_batches),
    TEST (test_first_batch_again), TEST (test_resumed),
    TEST (test_other_mismatches), TEST (test_images))
