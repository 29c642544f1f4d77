/* gst-spdl: tests of the loader's runs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"

#define FOREVER GST_CLOCK_TIME_NONE
#define JOB                                                         \
  "spdlsrc location=%s label=folder epochs=%d "                     \
  "! spdlfetch output-order=input ! spdldecode output-order=input " \
  "width=16 height=12 ! spdlbatch size=8 labels=true ! spdlsink"

G_GNUC_PRINTF (1, 2)
static GstSpdlLoader *
make_loader (const gchar *format, ...)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GError) error = NULL;
  GstSpdlLoader *loader;
  va_list args;

  va_start (args, format);
  description = g_strdup_vprintf (format, args);
  va_end (args);
  loader = gst_spdl_loader_new (description, &error);
  fail_unless (
      loader != NULL, "%s: %s", description, error ? error->message : "");
  return loader;
}

static void
start (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;

  fail_unless (gst_spdl_loader_start (loader, &error), "%s",
      error ? error->message : "");
}

/* Returns how many items the next batch has; 0 at an end. */
static guint
take (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;
  GstSpdlBatch *batch = gst_spdl_loader_next (loader, FOREVER, &error);
  guint n;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  if (!batch)
    return 0;
  n = gst_spdl_batch_get_n_items (batch);
  gst_spdl_batch_unref (batch);
  return n;
}

/* Takes all batches up to an error, which it returns. */
static GError *
take_until_error (GstSpdlLoader *loader, guint *n_items)
{
  GError *error = NULL;
  GstSpdlBatch *batch;

  *n_items = 0;
  while (!error) {
    batch = gst_spdl_loader_next (loader, FOREVER, &error);
    if (batch) {
      *n_items += gst_spdl_batch_get_n_items (batch);
      gst_spdl_batch_unref (batch);
    }
    fail_unless (batch || error || !gst_spdl_loader_is_finished (loader));
  }
  return error;
}

static void
assert_next_fails (GstSpdlLoader *loader, GstSpdlLoaderError code)
{
  g_autoptr (GError) error = NULL;

  fail_unless (gst_spdl_loader_next (loader, 0, &error) == NULL);
  fail_unless (g_error_matches (error, GST_SPDL_LOADER_ERROR, code), "%s",
      error ? error->message : "no error");
}

/* Each epoch ends with a NULL, and the last one is known as such. */
GST_START_TEST (test_epochs)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = make_loader (JOB, folder, 3);

  start (loader);
  for (guint epoch = 0; epoch < 3; epoch++) {
    fail_if (gst_spdl_loader_is_finished (loader));
    fail_unless_equals_int (take (loader), 8);
    fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), epoch);
    fail_unless_equals_int (take (loader), 8);
    fail_unless_equals_int (take (loader), 4);
    fail_unless_equals_int (take (loader), 0);
    fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), epoch + 1);
  }
  fail_unless (gst_spdl_loader_is_finished (loader));
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (take (loader), 0);
  fail_unless_equals_int (gst_spdl_loader_get_num_failures (loader), 0);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A batch's tensors and items. */
GST_START_TEST (test_batch)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = make_loader (JOB, folder, 1);
  g_autoptr (GstSpdlTensor) data = NULL;
  g_autoptr (GstSpdlTensor) labels = NULL;
  g_autoptr (GstSpdlBatch) batch = NULL;
  g_autofree gint64 *numbers = NULL;
  g_autofree guint64 *indices = NULL;
  g_auto (GStrv) keys = NULL;
  const gint64 *shape;
  guint n;

  start (loader);
  batch = gst_spdl_loader_next (loader, FOREVER, NULL);
  fail_unless_equals_int (gst_spdl_batch_get_n_tensors (batch), 2);
  fail_unless_equals_string (gst_spdl_batch_get_name (batch, 1), "labels");
  data = gst_spdl_batch_find_tensor (batch, "data");
  labels = gst_spdl_batch_get_tensor (batch, 1);
  shape = gst_spdl_tensor_get_shape (data, &n);
  fail_unless (n == 4 && shape[0] == 8 && shape[1] == 12 && shape[2] == 16 &&
               shape[3] == 3);
  fail_unless_equals_string (gst_spdl_tensor_get_typestr (data), "|u1");
  fail_unless_equals_string (gst_spdl_tensor_get_typestr (labels), "<i8");
  fail_unless (gst_spdl_tensor_is_writable (data));
  fail_unless (gst_spdl_tensor_is_contiguous (data));

  numbers = gst_spdl_batch_get_labels (batch, &n);
  fail_unless (n == 8 && memcmp (numbers, gst_spdl_tensor_get_address (labels),
                             8 * sizeof *numbers) == 0);
  indices = gst_spdl_batch_get_indices (batch, &n);
  keys = gst_spdl_batch_get_keys (batch);
  for (guint i = 0; i < 8; i++)
    fail_unless (indices[i] == i && g_str_has_suffix (keys[i], ".jpg"));
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

static void
on_failed (GstSpdlLoader *loader, const gchar *stage, const gchar *uri,
    const GError *error, guint source, guint64 epoch, guint64 index,
    guint64 sequence, gpointer user_data)
{
  fail_unless (error != NULL && g_str_has_prefix (stage, "spdldecode"));
  fail_unless (source == 0 && epoch == 0 && index < 22 && sequence == index);
  g_ptr_array_add (user_data, g_path_get_basename (uri));
}

/* Items that fail are told, and are no errors. */
GST_START_TEST (test_failures)
{
  gchar *folder = files_make_dataset (20);
  GPtrArray *failed = g_ptr_array_new_with_free_func (g_free);
  GstSpdlLoader *loader;
  guint n_items = 0, n;

  files_write_text (folder, "class-a/bad.jpg", "no picture");
  files_write_text (folder, "class-b/worse.jpg", "");
  loader = make_loader (JOB, folder, 1);
  g_signal_connect (loader, "failed", G_CALLBACK (on_failed), failed);
  start (loader);
  while ((n = take (loader)))
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

/* One failure too many, in whatever stage: what was good comes first, and the
 * error names the item; from then on each time. */
GST_START_TEST (test_budget)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader;
  GError *error;
  guint n_items;

  files_write_text (folder, "class-c/zy.jpg", "no picture");
  files_write_text (folder, "class-c/zz.jpg", "no picture");
  loader = make_loader (JOB, folder, 1);
  g_object_set (loader, "max-failures", 1, NULL);
  start (loader);
  for (guint i = 0; i < 2; i++) {
    error = take_until_error (loader, &n_items);
    fail_unless_equals_int (n_items, i == 0 ? 20 : 0);
    fail_unless (g_error_matches (
        error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FAILURES));
    fail_unless (strstr (error->message, "class-c/z") &&
                     strstr (error->message, "spdldecode"),
        "%s", error->message);
    g_error_free (error);
  }
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Endless epochs: the budget ends them. */
GST_START_TEST (test_budget_ends_endless)
{
  gchar *folder = files_make_dataset (10);
  GstSpdlLoader *loader;
  GError *error;
  guint n_items;

  files_write_text (folder, "class-a/bad.jpg", "no picture");
  loader = make_loader (JOB, folder, -1);
  g_object_set (loader, "max-failures", 3, NULL);
  start (loader);
  error = take_until_error (loader, &n_items);
  fail_unless (n_items >= 30, "%u", n_items);
  fail_unless (strstr (error->message, "bad.jpg") != NULL);
  g_error_free (error);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* What fails last in an epoch ends that one, though the next has begun. */
GST_START_TEST (test_budget_at_the_end)
{
  static const gchar *const stages[] = { "spdldecode max-failures=0",
    "spdldecode" };
  gchar *folder = files_make_dataset (20);

  files_write_text (folder, "zzz/bad.jpg", "no picture");
  for (guint i = 0; i < G_N_ELEMENTS (stages); i++) {
    GstSpdlLoader *loader = make_loader (
        "spdlsrc location=%s epochs=-1 ! spdlfetch output-order=input "
        "! %s output-order=input width=16 height=12 ! spdlbatch size=8 "
        "! spdlsink",
        folder, stages[i]);
    guint n_items = 0, n;

    g_object_set (loader, "max-failures", i == 0 ? -1 : 0, NULL);
    start (loader);
    for (n = 0; n < 3; n++)
      n_items += take (loader);
    fail_unless_equals_int (n_items, 20);
    for (n = 0; n < 2; n++) {
      g_autoptr (GError) error = NULL;

      fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
      fail_unless (error && strstr (error->message, "bad.jpg"));
    }
    g_object_unref (loader);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Errors of all kinds of elements, with work behind them. */
GST_START_TEST (test_errors)
{
  static const struct {
    const gchar *rest;
    const gchar *stage;
    guint n_items; /* 0: unknown */
  } lines[] = {
    /* A stage that gives up. */
    { "spdldecode name=here output-order=input width=8 height=8 "
      "max-failures=0 ! spdlbatch size=8 ! queue ! spdlsink",
        "here: ", 40 },
    /* An element that fails and sends no end, with a batch begun. */
    { "spdldecode output-order=input width=8 height=8 "
      "! identity name=here error-after=21 ! spdlbatch size=8 ! queue "
      "! spdlsink",
        "here: ", 20 },
    /* A branch beside. */
    { "spdldecode output-order=input width=8 height=8 ! tee name=t "
      "! queue ! spdlbatch size=8 ! spdlsink "
      "t. ! queue ! identity name=here error-after=5 ! fakesink",
        "here: ", 0 },
    /* No negotiation, which is told at the source, behind a stage that is
     * dead; other caps are asked for below. */
    { "spdldecode output-order=input width=8 height=8 ! queue "
      "! capsfilter name=late ! spdlsink",
        "", 0 },
  };
  gchar *folder = files_make_dataset (40);

  files_write_text (folder, "class-c/zz.jpg", "no picture");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstSpdlLoader *loader =
        make_loader ("spdlsrc location=%s epochs=%d ! spdlfetch "
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
    start (loader);
    error = take_until_error (loader, &n_items);
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

/* An error of the sink itself: what it has comes, and no end is waited for. */
GST_START_TEST (test_error_of_sink)
{
  GstSpdlLoader *loader =
      make_loader ("videotestsrc ! video/x-raw,width=8,height=8 "
                   "! spdlsink name=here");
  GstElement *sink = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "here");
  GError *error;
  guint n_items;

  start (loader);
  fail_unless_equals_int (take (loader), 0);
  GST_ELEMENT_ERROR (sink, RESOURCE, FAILED, ("Broken"), (NULL));
  error = take_until_error (loader, &n_items);
  fail_unless_equals_string (error->message, "here: Broken");
  g_error_free (error);
  gst_object_unref (sink);
  g_object_unref (loader);
}

GST_END_TEST;

/* What keeps a pipeline from starting. */
GST_START_TEST (test_start_fails)
{
  gchar *folder = files_make_dataset (3);
  GstSpdlLoader *loader = make_loader (
      "spdlsrc name=src location=%s pattern=*.png ! spdlsink", folder);
  GstElement *source;
  g_autoptr (GError) error = NULL;

  assert_next_fails (loader, GST_SPDL_LOADER_ERROR_NOT_STARTED);
  fail_if (gst_spdl_loader_start (loader, &error));
  fail_unless (g_str_has_prefix (error->message, "src: ") &&
                   strstr (error->message, "*.png"),
      "%s", error->message);
  fail_if (gst_spdl_loader_is_running (loader));
  /* It can be mended. */
  source = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "src");
  g_object_set (source, "pattern", "*.jpg", NULL);
  gst_object_unref (source);
  start (loader);
  fail_unless (gst_spdl_loader_is_running (loader));
  fail_unless_equals_int (take (loader), 1);
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
    { "videotestsrc ! fakesink", "has no spdlsink" },
    { "videotestsrc", "has no spdlsink" },
    { "videotestsrc ! tee name=t ! spdlsink t. ! spdlsink", "more than one" },
    { "videotestsrc ! tee name=t ! spdlsink t. ! appsink name=mine", "mine" },
    { "nosuchelement ! spdlsink", "nosuchelement" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;

    fail_unless (gst_spdl_loader_new (bad[i].description, &error) == NULL);
    fail_unless (
        strstr (error->message, bad[i].says) != NULL, "%s", error->message);
  }
}

GST_END_TEST;

static gpointer
wait_for_batch (gpointer loader)
{
  GError *error = NULL;

  do {
    g_clear_error (&error);
    fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
  } while (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY));
  return error;
}

/* A `next` that waits in another thread is woken, and says why. */
GST_START_TEST (test_stop_wakes)
{
  GstSpdlLoader *loader = make_loader ("identity ! spdlsink");

  gst_spdl_loader_stop (loader);
  for (guint i = 0; i < 20; i++) {
    GError *error = NULL;
    GThread *thread;

    start (loader);
    thread = g_thread_new ("next", wait_for_batch, loader);
    /* Until it is in there. */
    while (TRUE) {
      gst_spdl_loader_next (loader, 0, &error);
      if (g_error_matches (
              error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY))
        break;
      g_clear_error (&error);
      g_thread_yield ();
    }
    g_clear_error (&error);
    gst_spdl_loader_stop (loader);
    error = g_thread_join (thread);
    fail_unless (g_error_matches (error, GST_SPDL_LOADER_ERROR,
                     GST_SPDL_LOADER_ERROR_STOPPED),
        "%s", error->message);
    g_error_free (error);
    assert_next_fails (loader, GST_SPDL_LOADER_ERROR_STOPPED);
    gst_spdl_loader_stop (loader);
  }
  g_object_unref (loader);
}

GST_END_TEST;

static gpointer
stop_soon (gpointer loader)
{
  g_usleep (g_random_int_range (0, 8000));
  gst_spdl_loader_stop (loader);
  return NULL;
}

static void
stop_at_random (GstSpdlLoader *loader)
{
  g_autoptr (GError) error = NULL;
  GThread *thread;

  start (loader);
  thread = g_thread_new ("stop", stop_soon, loader);
  while (!error) {
    GstSpdlBatch *batch = gst_spdl_loader_next (loader, FOREVER, &error);

    if (batch)
      gst_spdl_batch_unref (batch);
  }
  fail_unless (g_error_matches (
                   error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STOPPED),
      "%s", error->message);
  g_thread_join (thread);
}

GST_START_TEST (test_stop_any_time)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = make_loader (JOB, folder, -1);
  guint n_threads, n_files;

  for (guint i = 0; i < 5; i++)
    stop_at_random (loader);
  /* What GStreamer makes once is made now. */
  g_usleep (600000);
  n_threads = files_count_entries ("/proc/self/task");
  n_files = files_count_entries ("/proc/self/fd");
  for (guint i = 0; i < 50; i++)
    stop_at_random (loader);
  /* Threads of GLib's pools may still be on their way out. */
  for (guint i = 0;
       i < 100 && files_count_entries ("/proc/self/task") > n_threads; i++)
    g_usleep (50000);
  fail_unless (files_count_entries ("/proc/self/task") <= n_threads);
  if (files_count_entries ("/proc/self/fd") != n_files) {
    g_autofree char *c = g_strdup_printf ("ls -l /proc/%d/fd", getpid ());
    system (c);
  }
  fail_unless_equals_int (files_count_entries ("/proc/self/fd"), n_files);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A start begins at the beginning; figures outlive the stop. */
GST_START_TEST (test_restart)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = make_loader (JOB, folder, 1);
  static const gchar *const names[] = { "spdlsrc", "spdlfetch", "spdldecode",
    "spdlbatch", "spdlsink" };

  for (guint i = 0; i < 3; i++) {
    g_autofree guint64 *indices = NULL;
    g_autoptr (GstSpdlBatch) batch = NULL;
    GList *stats;
    guint n, k = 0;

    start (loader);
    batch = gst_spdl_loader_next (loader, FOREVER, NULL);
    indices = gst_spdl_batch_get_indices (batch, &n);
    fail_unless (n == 8 && indices[0] == 0);
    if (i > 0)
      while (take (loader))
        ;
    gst_spdl_loader_stop (loader);
    stats = gst_spdl_loader_dup_stats (loader);
    fail_unless_equals_int (g_list_length (stats), G_N_ELEMENTS (names));
    for (GList *l = stats; l; l = l->next, k++)
      fail_unless (g_str_has_prefix (
          gst_structure_get_string (l->data, "stage"), names[k]));
    g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
  }
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

static gpointer
load_all (gpointer loader)
{
  guint n_items = 0, n;

  start (loader);
  while (!gst_spdl_loader_is_finished (loader))
    while ((n = take (loader)))
      n_items += n;
  return GUINT_TO_POINTER (n_items);
}

GST_START_TEST (test_two_loaders)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loaders[3];
  GThread *threads[3];

  for (guint i = 0; i < 3; i++) {
    loaders[i] = make_loader (JOB, folder, 5);
    threads[i] = g_thread_new ("load", load_all, loaders[i]);
  }
  for (guint i = 0; i < 3; i++) {
    fail_unless_equals_int (GPOINTER_TO_UINT (g_thread_join (threads[i])), 100);
    g_object_unref (loaders[i]);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* A pipeline of the program's own is its own again after the stop. */
GST_START_TEST (test_own_pipeline)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=3 ! video/x-raw,width=8,height=8 "
      "! spdlsink name=sink",
      NULL);
  GstSpdlLoader *loader =
      gst_spdl_loader_new_from_pipeline (GST_PIPELINE (pipeline), NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstSample *sample = NULL;
  GstMessage *message;
  GstElement *sink;

  start (loader);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstSpdlBatch) batch =
        gst_spdl_loader_next (loader, FOREVER, NULL);

    fail_unless (batch != NULL);
  }
  fail_unless_equals_int (take (loader), 0);
  g_object_unref (loader);
  fail_unless_equals_int (GST_STATE (pipeline), GST_STATE_NULL);
  gst_bus_set_flushing (bus, FALSE);
  gst_bus_post (bus, gst_message_new_application (GST_OBJECT (pipeline),
                         gst_structure_new_empty ("mine")));
  message = gst_bus_pop (bus);
  fail_unless (message != NULL);
  gst_message_unref (message);
  /* So is its sink. */
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample != NULL);
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static guint
get_concurrency (GstSpdlLoader *loader, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), name);
  guint concurrency;

  g_object_get (element, "concurrency", &concurrency, NULL);
  gst_object_unref (element);
  return concurrency;
}

GST_START_TEST (test_concurrency)
{
  gchar *folder = files_make_dataset (3);
  GstSpdlLoader *loader = make_loader (
      "spdlsrc location=%s ! spdlfetch name=fetch "
      "! bin.( spdldecode name=unset ! spdlteststage concurrency=1 name=set ) "
      "! spdlsink",
      folder);

  fail_unless_equals_int (get_concurrency (loader, "unset"), 1);
  start (loader);
  fail_unless_equals_int (get_concurrency (loader, "fetch"), 16);
  fail_unless_equals_int (
      get_concurrency (loader, "unset"), g_get_num_processors ());
  fail_unless_equals_int (get_concurrency (loader, "set"), 1);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Marks the items of the next batch; returns whether there was one. */
static gboolean
mark_items (GstSpdlLoader *loader, guint *counts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstSpdlBatch) batch =
      gst_spdl_loader_next (loader, FOREVER, &error);
  g_autofree guint64 *indices = NULL;
  guint n;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  if (!batch)
    return FALSE;
  indices = gst_spdl_batch_get_indices (batch, &n);
  for (guint i = 0; i < n; i++)
    counts[indices[i]]++;
  return TRUE;
}

/* Another loader goes on behind the batch that was handed out last, and does so
 * at each start. */
GST_START_TEST (test_resume)
{
  gchar *folder = files_make_dataset (50);
  GstSpdlLoader *first = make_loader (JOB, folder, 1);
  GstSpdlLoader *second = make_loader (JOB, folder, 1);
  g_autofree gchar *state = NULL;
  g_autoptr (GError) error = NULL;
  guint before[50] = { 0 };

  start (first);
  for (guint i = 0; i < 3; i++)
    fail_unless (mark_items (first, before));
  state = gst_spdl_loader_dup_state (first);
  fail_unless (state != NULL);
  g_object_unref (first);

  fail_unless (gst_spdl_loader_restore_state (second, state, &error));
  for (guint round = 0; round < 2; round++) {
    g_autofree gchar *same = NULL;
    g_autofree gchar *other = NULL;
    guint counts[50];

    memcpy (counts, before, sizeof counts);
    start (second);
    same = gst_spdl_loader_dup_state (second);
    fail_unless_equals_string (same, state);
    while (mark_items (second, counts))
      ;
    for (guint i = 0; i < 50; i++)
      fail_unless_equals_int (counts[i], 1);
    gst_spdl_loader_stop (second);
    other = gst_spdl_loader_dup_state (second);
    fail_if (g_str_equal (other, state));
  }
  fail_unless (gst_spdl_loader_restore_state (second, NULL, NULL));
  start (second);
  memset (before, 0, sizeof before);
  while (mark_items (second, before))
    ;
  for (guint i = 0; i < 50; i++)
    fail_unless_equals_int (before[i], 1);
  gst_spdl_loader_stop (second);

  fail_unless (gst_spdl_loader_restore_state (second, "no state", NULL));
  fail_if (gst_spdl_loader_start (second, &error));
  fail_unless (error != NULL);
  g_object_unref (second);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_state)
{
  gchar *folder = files_make_dataset (3);
  GstSpdlLoader *without = make_loader ("videotestsrc ! spdlsink");
  GstSpdlLoader *loader = make_loader (JOB, folder, 1);
  g_autoptr (GError) error = NULL;

  fail_if (gst_spdl_loader_restore_state (without, "spdl1;", &error));
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STATE));
  fail_unless (strstr (error->message, "spdlsrc") != NULL);
  g_clear_error (&error);
  start (loader);
  fail_if (gst_spdl_loader_restore_state (loader, NULL, &error));
  fail_unless (g_error_matches (
      error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_STARTED));
  g_object_unref (loader);
  g_object_unref (without);
  files_remove_folder (folder);
}

GST_END_TEST;

static int
use_in_child (GstSpdlLoader *loader)
{
  GError *error = NULL;

  alarm (20);
  if (gst_spdl_loader_next (loader, FOREVER, &error) ||
      !g_error_matches (
          error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FORKED) ||
      !strstr (error->message, "after the fork"))
    return 1;
  g_clear_error (&error);
  if (gst_spdl_loader_start (loader, &error) || !error)
    return 2;
  g_error_free (error);
  gst_spdl_loader_stop (loader);
  if (gst_spdl_loader_dup_stats (loader) || gst_spdl_loader_dup_state (loader))
    return 3;
  g_object_unref (loader);
  return 42;
}

/* A child is told what to do, and leaves the parent's loader whole. */
GST_START_TEST (test_fork)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = make_loader (JOB, folder, 20);
  guint n_items = 0, n;
  int status;
  pid_t pid;

  start (loader);
  for (guint i = 0; i < 10; i++) {
    n_items += take (loader);
    pid = fork ();
    if (pid == 0)
      _exit (use_in_child (loader));
    fail_unless (waitpid (pid, &status, 0) == pid);
    fail_unless (
        WIFEXITED (status) && WEXITSTATUS (status) == 42, "%x", status);
  }
  while (!gst_spdl_loader_is_finished (loader))
    while ((n = take (loader)))
      n_items += n;
  fail_unless_equals_int (n_items, 400);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A wait tells of all that next() would, and takes nothing. */
GST_START_TEST (test_wait)
{
  gchar *folder = files_make_dataset (8);
  GstSpdlLoader *loader = make_loader (JOB, folder, 1);
  GstSpdlLoader *fed = make_loader ("identity ! spdlbatch ! spdlsink");

  fail_unless (gst_spdl_loader_wait (loader, 0));
  assert_next_fails (loader, GST_SPDL_LOADER_ERROR_NOT_STARTED);
  start (loader);
  for (guint i = 0; i < 3; i++)
    fail_unless (gst_spdl_loader_wait (loader, FOREVER));
  fail_unless_equals_int (take (loader), 8);
  fail_unless (gst_spdl_loader_wait (loader, FOREVER));
  fail_unless_equals_int (take (loader), 0);
  fail_unless (gst_spdl_loader_is_finished (loader));
  fail_unless (gst_spdl_loader_wait (loader, 0));
  gst_spdl_loader_stop (loader);
  fail_unless (gst_spdl_loader_wait (loader, 0));
  assert_next_fails (loader, GST_SPDL_LOADER_ERROR_STOPPED);
  g_object_unref (loader);

  /* Nothing was pushed. */
  start (fed);
  fail_if (gst_spdl_loader_wait (fed, 0));
  fail_if (gst_spdl_loader_wait (fed, GST_MSECOND));
  gst_spdl_loader_end_source (fed, NULL, NULL);
  fail_unless (gst_spdl_loader_wait (fed, FOREVER));
  fail_unless_equals_int (take (fed), 0);
  g_object_unref (fed);
  files_remove_folder (folder);
}

GST_END_TEST;

static Suite *
loader_suite (void)
{
  Suite *s = suite_create ("loader");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 180);
  tcase_add_test (tc, test_epochs);
  tcase_add_test (tc, test_wait);
  tcase_add_test (tc, test_batch);
  tcase_add_test (tc, test_failures);
  tcase_add_test (tc, test_budget);
  tcase_add_test (tc, test_budget_ends_endless);
  tcase_add_test (tc, test_budget_at_the_end);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_error_of_sink);
  tcase_add_test (tc, test_start_fails);
  tcase_add_test (tc, test_bad_pipelines);
  tcase_add_test (tc, test_stop_wakes);
  tcase_add_test (tc, test_stop_any_time);
  tcase_add_test (tc, test_restart);
  tcase_add_test (tc, test_two_loaders);
  tcase_add_test (tc, test_own_pipeline);
  tcase_add_test (tc, test_concurrency);
  tcase_add_test (tc, test_resume);
  tcase_add_test (tc, test_state);
  tcase_add_test (tc, test_fork);
  return s;
}

GST_CHECK_MAIN (loader);
