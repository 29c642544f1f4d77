/* gst-spdl: tests of epochs without any items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define FOREVER GST_CLOCK_TIME_NONE

#define IMAGES \
  "spdlsrc location=%s epochs=%d %s ! spdlfetch output-order=input ! "

/* Asserts that the error comes before any batch or end of an epoch. */
static void
assert_error (GstSpdlLoader *loader, GQuark domain, gint code,
    const gchar *first, const gchar *second)
{
  g_autoptr (GError) error = NULL;

  loader_start (loader);
  fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
  fail_unless (g_error_matches (error, domain, code), "%s",
      error ? error->message : "no error");
  fail_unless (errors_has (error, first) && errors_has (error, second), "%s",
      error->message);
  g_object_unref (loader);
}

#define assert_nothing_arrived(loader, first, second) \
  assert_error (                                      \
      (loader), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, (first), (second))

/* Any stage may have lost the items, with and without spdlbatch, in a single
 * epoch or in endless ones. */
GST_START_TEST (test_nothing_arrives)
{
  static const struct {
    const gchar *rest;
    const gchar *first;
    const gchar *second;
  } lines[] = {
    { "spdldecode width=8 height=8 ! spdlbatch name=b batch-size=21 "
      "drop-last=true",
        "[stream-error failed]|20", "[stream-error failed]|20" },
    { "spdldecode width=8 height=8 ! spdlaggregate name=a size=21 "
      "drop-last=true ! spdlbatch batch-size=4",
        "[stream-error failed]|20", "[stream-error failed]|20" },
    { "spdldecode name=d ! audio/x-raw ! spdlbatch", "[stream-error failed]|20",
        "[stream-error failed]" },
    { "spdldecode name=d ! audio/x-raw", "[stream-error failed]|20",
        "[stream-error failed]" },
    { "spdldecode ! audio/x-raw ! spdlbatch batch-size=30 drop-last=true", "0",
        "[stream-error failed]|20" },
    { "spdlpipe name=p chain=\"jpegdec ! video/x-raw,width=1\" ! spdlbatch",
        "[stream-error failed]|20", "[stream-error failed]" },
  };
  gchar *folder = files_make_dataset (20);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (lines); i++)
    assert_nothing_arrived (loader_make (IMAGES "%s ! spdlsink", folder,
                                i % 2 ? -1 : 1, "", lines[i / 2].rest),
        lines[i / 2].first, lines[i / 2].second);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests pipelines without spdlsink, as in gst-launch-1.0. */
GST_START_TEST (test_without_sink)
{
  gchar *folder = files_make_dataset (20);
  Run *run =
      run_pipeline (IMAGES "spdldecode width=8 height=8 ! spdlbatch "
                           "batch-size=21 drop-last=true ! fakesink name=sink",
          folder, 2, "");

  fail_unless (
      run->error && errors_text_has (run->error, "0"), "%s", run->error);
  fail_unless_equals_int (run->n_epochs, 0);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Previous epochs are delivered with their ends. */
GST_START_TEST (test_later_epoch)
{
  static const gchar *const elements[] = {
    "spdlbatch batch-size=2 drop-last=true ! ", ""
  };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstSpdlLoader *loader =
        loader_make ("spdldecode width=4 height=4 ! %sspdlsink", elements[i]);
    g_autoptr (GBytes) image = files_make_jpeg (16, 16, 1);
    g_autoptr (GBytes) none = g_bytes_new_static ("none", 4);
    g_autoptr (GError) error = NULL;

    loader_start (loader);
    for (guint epoch = 0; epoch < 2; epoch++) {
      for (guint n = 0; n < 2; n++)
        fail_unless (gst_spdl_loader_push_bytes (
            loader, epoch == 0 ? image : none, NULL, -1, NULL, FOREVER, NULL));
      fail_unless (gst_spdl_loader_end_epoch (loader, NULL));
    }
    for (guint n = 0; n < (i == 0 ? 1 : 2); n++)
      fail_unless_equals_int (loader_take (loader), i == 0 ? 2 : 1);
    fail_unless_equals_int (loader_take (loader), 0);
    fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
    fail_unless (
        g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED));
    fail_unless (errors_has (error, "[stream-error failed]|1"));
    g_object_unref (loader);
  }
}

GST_END_TEST;

/* Pushed items, without an end of the epoch before EOS. */
GST_START_TEST (test_end_of_stream)
{
  GstSpdlLoader *loader = loader_make ("spdldecode name=d ! spdlsink");
  g_autoptr (GBytes) none = g_bytes_new_static ("none", 4);
  g_autoptr (GError) error = NULL;

  loader_start (loader);
  fail_unless (
      gst_spdl_loader_push_bytes (loader, none, NULL, -1, NULL, FOREVER, NULL));
  fail_unless (gst_spdl_loader_end_source (loader, NULL, NULL));
  fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED));
  fail_unless (errors_has (error, "[stream-error failed]|1"));
  g_object_unref (loader);
}

GST_END_TEST;

/* If the next element rejects the caps, there is a single error with both
 * caps. */
GST_START_TEST (test_refused_caps)
{
  static const struct {
    const gchar *rest;
    const gchar *first;
    const gchar *second;
  } lines[] = {
    { "spdlfetch ! spdldecode width=8 height=8 ! spdlbatch name=b batch-size=4 "
      "! other/tensors,dimensions=(string)3:8:8:5",
        "3:8:8:4", "3:8:8:5" },
    /* The last batch, which is smaller. */
    { "spdlfetch ! spdldecode width=8 height=8 ! spdlbatch name=b "
      "batch-size=64 "
      "! other/tensors,dimensions=(string)3:8:8:64",
        "3:8:8:20", "3:8:8:64" },
    { "spdlfetch name=b caps=image/jpeg ! image/png ! spdldecode ! spdlbatch",
        "image/jpeg", "image/png" },
  };
  gchar *folder = files_make_dataset (20);
  Run *run;

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=%s ! %s ! fakesink name=sink", folder, lines[i].rest);

    fail_unless (run->error && errors_text_has (run->error, lines[i].first) &&
                     errors_text_has (run->error, lines[i].second),
        "%u: %s", i, run->error);
    run_free (run);
    assert_error (loader_make ("spdlsrc location=%s epochs=-1 ! %s ! spdlsink",
                      folder, lines[i].rest),
        GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION, lines[i].first,
        lines[i].second);
  }
  /* run_pipeline() checks that there is a single error. */
  run = run_pipeline (
      "spdlsrc location=%s ! %s ! fakesink name=sink", folder, lines[0].rest);
  fail_unless (
      run->error && errors_text_has (run->error, "3:8:8:4"), "%s", run->error);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Asserts that empty epochs are not an error. */

static void
assert_empty_epochs (GstSpdlLoader *loader)
{
  loader_start (loader);
  while (!gst_spdl_loader_is_finished (loader))
    fail_unless_equals_int (loader_take (loader), 0);
  g_object_unref (loader);
}

GST_START_TEST (test_empty_epochs)
{
  gchar *folder = files_make_dataset (20);

  /* All items are filtered. */
  assert_empty_epochs (loader_make (IMAGES
      "spdldecode width=8 height=8 ! spdlpipe chain=\"identity "
      "drop-probability=1\" ! spdlbatch ! spdlsink",
      folder, 2, ""));
  assert_empty_epochs (
      loader_make (IMAGES "spdldecode width=8 height=8 ! spdlroute name=r "
                          "src_0::condition=\"uri=*.png\" r.src_0 "
                          "! queue ! spdlsink",
          folder, 2, ""));
  /* Some or all items are removed by another element. */
  assert_empty_epochs (
      loader_make (IMAGES "identity drop-probability=1 ! spdldecode "
                          "! spdlbatch ! spdlsink",
          folder, 2, ""));
  assert_empty_epochs (
      loader_make (IMAGES "identity drop-probability=0.5 ! spdldecode "
                          "! audio/x-raw ! spdlbatch ! spdlsink",
          folder, 1, ""));
  /* A rank without items. */
  assert_empty_epochs (
      loader_make (IMAGES "spdldecode ! spdlbatch drop-last=true ! spdlsink",
          folder, 2, "rank=20 world-size=21 shard-mode=uneven"));
  files_remove_folder (folder);
}

GST_END_TEST;

/* The rest of an epoch after resuming may be smaller than a batch. */
GST_START_TEST (test_resumed_rest)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader =
      loader_make (IMAGES "spdldecode output-order=input width=8 height=8 "
                          "! spdlbatch batch-size=8 drop-last=true ! spdlsink",
          folder, 1, "");
  g_autofree gchar *state = NULL;

  loader_start (loader);
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_int (loader_take (loader), 8);
  state = gst_spdl_loader_dup_state (loader);
  gst_spdl_loader_stop (loader);
  fail_unless (gst_spdl_loader_restore_state (loader, state, NULL));
  assert_empty_epochs (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A path has too few items for a batch while another has more; and a mix has a
 * source whose items all fail before it. */
GST_START_TEST (test_paths)
{
  gchar *folder = files_make_dataset (20);
  gchar *broken = files_make_folder ();
  GstSpdlLoader *loader;
  guint n_items = 0, n;

  files_write_text (broken, "bad.jpg", "no picture");
  loader = loader_make (IMAGES
      "spdldecode width=8 height=8 ! spdlroute name=r "
      "src_0::condition=\"uri=*class-a*\" r.src_0 ! queue ! spdlbatch "
      "batch-size=16 "
      "drop-last=true ! m.sink_0 r.src_1 ! queue ! spdlbatch batch-size=4 "
      "! m.sink_1 spdlmix name=m order=arrival ! spdlsink",
      folder, 1, "");
  loader_start (loader);
  while ((n = loader_take (loader)))
    n_items += n;
  fail_unless (n_items > 0 && n_items < 20, "%u", n_items);
  g_object_unref (loader);

  loader = loader_make (IMAGES
      "spdldecode width=8 height=8 ! m.sink_0 " IMAGES
      "spdldecode width=8 height=8 ! m.sink_1 spdlmix name=m "
      "! spdlbatch batch-size=4 ! spdlsink",
      folder, 1, "", broken, 1, "");
  loader_start (loader);
  for (n_items = 0; (n = loader_take (loader));)
    n_items += n;
  fail_unless_equals_int (n_items, 20);
  g_object_unref (loader);

  assert_nothing_arrived (
      loader_make (IMAGES "spdldecode name=a ! m.sink_0 " IMAGES
                          "spdldecode name=b ! m.sink_1 spdlmix name=m "
                          "! spdlbatch batch-size=4 ! spdlsink",
          broken, 1, "", broken, 1, ""),
      "[stream-error failed]|2", "[stream-error failed]|1");
  files_remove_folder (folder);
  files_remove_folder (broken);
}

GST_END_TEST;

CHECK_SUITE (empty_epochs, TEST (test_nothing_arrives),
    TEST (test_without_sink), TEST (test_later_epoch),
    TEST (test_end_of_stream), TEST (test_refused_caps),
    TEST (test_empty_epochs), TEST (test_resumed_rest), TEST (test_paths))
