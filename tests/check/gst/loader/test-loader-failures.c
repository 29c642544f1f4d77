/* gst-spdl: tests of a loader's failures and errors
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define FOREVER GST_CLOCK_TIME_NONE

static void
on_failed (GstSpdlLoader *loader, const gchar *stage, const gchar *uri,
    const GError *error, guint source, guint64 epoch, guint64 index,
    guint64 sequence, gpointer user_data)
{
  fail_unless (error != NULL && g_str_has_prefix (stage, "spdldecode"));
  fail_unless (source == 0 && epoch == 0 && index < 22 && sequence == index);
  g_ptr_array_add (user_data, g_path_get_basename (uri));
}

/* Failed items are reported without an error. */
GST_START_TEST (test_failures)
{
  gchar *folder = files_make_dataset (20);
  GPtrArray *failed = g_ptr_array_new_with_free_func (g_free);
  GstSpdlLoader *loader;
  guint n_items = 0, n;

  files_write_text (folder, "class-a/bad.jpg", "no picture");
  files_write_text (folder, "class-b/worse.jpg", "");
  loader = loader_make (LOADER_JOB, folder, 1);
  g_signal_connect (loader, "failed", G_CALLBACK (on_failed), failed);
  loader_start (loader);
  while ((n = loader_take (loader)))
    n_items += n;
  fail_unless_equals_int (n_items, 20);
  fail_unless_equals_int (gst_spdl_loader_get_num_failures (loader), 2);
  fail_unless_equals_int (failed->len, 2);
  fail_unless_equals_string (g_ptr_array_index (failed, 0), "bad.jpg");
  fail_unless_equals_string (g_ptr_array_index (failed, 1), "worse.jpg");
  g_object_unref (loader);
  g_ptr_array_unref (failed);
  files_remove_folder (folder);
}

GST_END_TEST;

typedef struct {
  guint n_failed;
  guint64 max_epoch; /* highest epoch of these */
  guint n_warned;    /* number of summaries */
} Counts;

static void
count_failed (GstSpdlLoader *loader, const gchar *stage, const gchar *uri,
    const GError *error, guint source, guint64 epoch, guint64 index,
    guint64 sequence, gpointer user_data)
{
  Counts *counts = user_data;

  counts->n_failed++;
  counts->max_epoch = MAX (counts->max_epoch, epoch);
}

static void
count_warned (GstSpdlLoader *loader, const gchar *stage, const gchar *text,
    gpointer user_data)
{
  Counts *counts = user_data;
  g_autofree gchar *summary = g_strdup_printf (
      "80 of 100 items failed in epoch %u; last: ", counts->n_warned++);

  fail_unless_equals_string (stage, "dec");
  fail_unless (g_str_has_prefix (text, summary) && strstr (text, "bad-"));
}

static guint64
count_failures (GstElement *element)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 failures = 0;

  g_object_get (element, "stage-stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "num-failures", &failures);
  return failures;
}

/* Failures of prefetched items are not reported early, neither by the count nor
 * by signals. */
GST_START_TEST (test_loaded_ahead)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader;
  GstElement *decode;
  Counts counts = { 0 };

  for (guint i = 0; i < 80; i++) {
    g_autofree gchar *name = g_strdup_printf ("class-a/bad-%u.jpg", i);

    files_write_text (folder, name, "no picture");
  }
  loader = loader_make ("spdlsrc location=%s epochs=-1 ! spdlfetch "
                        "! spdldecode name=dec max-failure-rate=1 width=16 "
                        "height=12 ! spdlbatch batch-size=8 ! spdlsink",
      folder);
  decode = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "dec");
  g_signal_connect (loader, "failed", G_CALLBACK (count_failed), &counts);
  g_signal_connect (loader, "warned", G_CALLBACK (count_warned), &counts);
  loader_start (loader);
  for (guint epoch = 0; epoch < 3; epoch++) {
    guint n_items = 0, n;

    while ((n = loader_take (loader))) {
      n_items += n;
      wait_until (count_failures (decode) > 80 * (epoch + 1));
      fail_unless (
          gst_spdl_loader_get_num_failures (loader) <= 80 * (epoch + 1));
    }
    fail_unless_equals_int (n_items, 20);
    fail_unless_equals_int (
        gst_spdl_loader_get_num_failures (loader), 80 * (epoch + 1));
    fail_unless_equals_int (counts.n_failed, 80 * (epoch + 1));
    fail_unless_equals_uint64 (counts.max_epoch, epoch);
    fail_unless_equals_int (counts.n_warned, epoch + 1);
  }
  gst_object_unref (decode);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* One failure too many, in any stage: valid items come first, and the error
 * names the item, for each further call as well. */
GST_START_TEST (test_budget)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader;
  GError *error;
  guint n_items;

  files_write_text (folder, "class-c/zy.jpg", "no picture");
  files_write_text (folder, "class-c/zz.jpg", "no picture");
  loader = loader_make (LOADER_JOB, folder, 1);
  g_object_set (loader, "max-failures", 1, NULL);
  loader_start (loader);
  for (guint i = 0; i < 2; i++) {
    error = loader_take_until_error (loader, &n_items);
    fail_unless_equals_int (n_items, i == 0 ? 20 : 0);
    fail_unless (g_error_matches (
        error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FAILURES));
    fail_unless (
        errors_has (error, "class-c/z") && errors_has (error, "spdldecode"),
        "%s", error->message);
    g_error_free (error);
  }
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* The limit ends a loader with endless epochs. */
GST_START_TEST (test_budget_ends_endless)
{
  gchar *folder = files_make_dataset (10);
  GstSpdlLoader *loader;
  GError *error;
  guint n_items;

  files_write_text (folder, "class-a/bad.jpg", "no picture");
  loader = loader_make (LOADER_JOB, folder, -1);
  g_object_set (loader, "max-failures", 3, NULL);
  loader_start (loader);
  error = loader_take_until_error (loader, &n_items);
  fail_unless (n_items >= 30, "%u", n_items);
  fail_unless (errors_has (error, "bad.jpg"));
  g_error_free (error);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A failure at the end of an epoch ends that epoch, even if the next one has
 * started. */
GST_START_TEST (test_budget_at_the_end)
{
  static const gchar *const stages[] = { "spdldecode max-failures=0",
    "spdldecode" };
  gchar *folder = files_make_dataset (20);

  files_write_text (folder, "zzz/bad.jpg", "no picture");
  for (guint i = 0; i < G_N_ELEMENTS (stages); i++) {
    GstSpdlLoader *loader = loader_make (
        "spdlsrc location=%s epochs=-1 ! spdlfetch output-order=input "
        "! %s output-order=input width=16 height=12 ! spdlbatch batch-size=8 "
        "! spdlsink",
        folder, stages[i]);
    guint n_items = 0, n;

    g_object_set (loader, "max-failures", i == 0 ? -1 : 0, NULL);
    loader_start (loader);
    for (n = 0; n < 3; n++)
      n_items += loader_take (loader);
    fail_unless_equals_int (n_items, 20);
    for (n = 0; n < 2; n++) {
      g_autoptr (GError) error = NULL;

      fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
      fail_unless (error && errors_has (error, "bad.jpg"));
    }
    g_object_unref (loader);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Errors of different kinds of elements, with items in flight after them. */
GST_START_TEST (test_errors)
{
  static const struct {
    const gchar *rest;
    const gchar *stage;
    guint n_items; /* 0: not known */
  } lines[] = {
    /* A stage that exceeds its limit. */
    { "spdldecode name=here output-order=input width=8 height=8 "
      "max-failures=0 ! spdlbatch batch-size=8 ! queue ! spdlsink",
        "here: ", 40 },
    /* An element that fails and sends no EOS, with an incomplete batch. */
    { "spdldecode output-order=input width=8 height=8 "
      "! identity name=here error-after=21 ! spdlbatch batch-size=8 ! queue "
      "! spdlsink",
        "here: ", 20 },
    /* A second branch. */
    { "spdldecode output-order=input width=8 height=8 ! tee name=t "
      "! queue ! spdlbatch batch-size=8 ! spdlsink "
      "t. ! queue ! identity name=here error-after=5 ! fakesink",
        "here: ", 0 },
    /* Failed negotiation, which the source reports, after a stage that has
     * stopped; the caps are set below. */
    { "spdldecode output-order=input width=8 height=8 ! queue "
      "! capsfilter name=late ! spdlsink",
        "", 0 },
  };
  gchar *folder = files_make_dataset (40);

  files_write_text (folder, "class-c/zz.jpg", "no picture");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstSpdlLoader *loader =
        loader_make ("spdlsrc location=%s epochs=%d ! spdlfetch "
                     "output-order=input ! %s",
            folder, i == 2 ? -1 : 1, lines[i].rest);
    GstElement *late = gst_bin_get_by_name (
        GST_BIN (gst_spdl_loader_get_pipeline (loader)), "late");
    GError *error;
    guint n_items;

    if (late) {
      gst_util_set_object_arg (
          G_OBJECT (late), "caps", "video/x-raw,format=I420");
      gst_object_unref (late);
    }
    loader_start (loader);
    error = loader_take_until_error (loader, &n_items);
    fail_unless (g_str_has_prefix (error->message, lines[i].stage), "%s",
        error->message);
    if (lines[i].n_items)
      fail_unless_equals_int (n_items, lines[i].n_items);
    g_error_free (error);
    g_object_unref (loader);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* An error of the sink: received data is delivered, and EOS is not awaited. */
GST_START_TEST (test_error_of_sink)
{
  GstSpdlLoader *loader =
      loader_make ("videotestsrc ! video/x-raw,width=8,height=8 "
                   "! spdlsink name=here");
  GstElement *sink = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "here");
  GError *error;
  guint n_items;

  loader_start (loader);
  fail_unless_equals_int (loader_take (loader), 0);
  GST_ELEMENT_ERROR (sink, RESOURCE, FAILED, ("Broken"), (NULL));
  error = loader_take_until_error (loader, &n_items);
  fail_unless_equals_string (error->message, "here: Broken");
  g_error_free (error);
  gst_object_unref (sink);
  g_object_unref (loader);
}

GST_END_TEST;

/* Errors that prevent the pipeline from starting. */
GST_START_TEST (test_start_fails)
{
  gchar *folder = files_make_dataset (3);
  GstSpdlLoader *loader = loader_make (
      "spdlsrc name=src location=%s pattern=*.png ! spdlsink", folder);
  GstElement *source;
  g_autoptr (GError) error = NULL;

  loader_assert_next_fails (loader, GST_SPDL_LOADER_ERROR_NOT_STARTED);
  fail_if (gst_spdl_loader_start (loader, &error));
  fail_unless (g_str_has_prefix (error->message, "src: ") &&
                   errors_has (error, "[resource-error not-found]"),
      "%s", error->message);
  fail_if (gst_spdl_loader_is_running (loader));
  /* The loader can be started after the mistake is fixed. */
  source = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "src");
  g_object_set (source, "pattern", "*.jpg", NULL);
  gst_object_unref (source);
  loader_start (loader);
  fail_unless (gst_spdl_loader_is_running (loader));
  fail_unless_equals_int (loader_take (loader), 1);
  g_clear_error (&error);
  fail_if (gst_spdl_loader_start (loader, &error));
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STARTED));
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_bad_pipelines)
{
  static const struct {
    const gchar *description;
    const gchar *says;
  } bad[] = {
    { "videotestsrc ! fakesink", "[spdl-loader-error 1]" },
    { "videotestsrc", "[spdl-loader-error 1]" },
    { "videotestsrc ! tee name=t ! spdlsink t. ! spdlsink",
        "[spdl-loader-error" },
    { "videotestsrc ! tee name=t ! spdlsink t. ! appsink name=mine",
        "[spdl-loader-error 1]" },
    { "nosuchelement ! spdlsink", "[parse_error no-such-element]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;

    fail_unless (gst_spdl_loader_new (bad[i].description, &error) == NULL);
    fail_unless (errors_has (error, bad[i].says), "%s", error->message);
  }
}

GST_END_TEST;

CHECK_SUITE (loader_failures, TIMEOUT (180), TEST (test_failures),
    TEST (test_loaded_ahead), TEST (test_budget),
    TEST (test_budget_ends_endless), TEST (test_budget_at_the_end),
    TEST (test_errors), TEST (test_error_of_sink), TEST (test_start_fails),
    TEST (test_bad_pipelines))
