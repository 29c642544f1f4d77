/* gst-spdl: tests of loaders with items from the program, and of batch memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/files.h"
#include "tests/check/support/suite.h"

#define FOREVER GST_CLOCK_TIME_NONE
#define SIDE 32
#define ITEM_SIZE (SIDE * SIDE * 3)

static GstCaps *
item_caps (void)
{
  return gst_caps_from_string (
      "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
      "dimensions=(string)3:32:32,framerate=0/1");
}

static GstSpdlLoader *
make_loader (const gchar *description)
{
  g_autoptr (GError) error = NULL;
  GstSpdlLoader *loader = gst_spdl_loader_new (description, &error);

  fail_unless (loader != NULL, "%s", error ? error->message : "");
  fail_unless (gst_spdl_loader_has_source (loader));
  fail_unless (gst_spdl_loader_start (loader, &error), "%s",
      error ? error->message : "");
  return loader;
}

static guint8
pixel_of (guint64 number)
{
  return number * 2654435761u >> 24;
}

/* Pushes an array whose bytes depend on its number. */
static gboolean
push_array (
    GstSpdlLoader *loader, guint64 number, GstClockTime timeout, GError **error)
{
  g_autoptr (GstCaps) caps = item_caps ();
  guint8 *data = g_malloc (ITEM_SIZE);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, ITEM_SIZE);

  memset (data, pixel_of (number), ITEM_SIZE);
  return gst_spdl_loader_push_bytes (
      loader, bytes, caps, number % 10, NULL, timeout, error);
}

typedef struct {
  GstSpdlLoader *loader;
  guint n;
} Feed;

static gpointer
push_arrays (gpointer user_data)
{
  Feed *feed = user_data;

  for (guint i = 0; i < feed->n; i++)
    if (!push_array (feed->loader, i, FOREVER, NULL))
      return NULL;
  gst_spdl_loader_end_source (feed->loader, NULL, NULL);
  return NULL;
}

/* Checks the content of batch @number with @size items. */
static void
check_batch (const GstSpdlTensor *tensor, guint number, guint size)
{
  const guint8 *data = gst_spdl_tensor_get_address (tensor);

  fail_unless_equals_int (gst_spdl_tensor_get_size (tensor), size * ITEM_SIZE);
  for (guint i = 0; i < size; i++)
    for (guint k = 0; k < ITEM_SIZE; k++)
      fail_unless (data[i * ITEM_SIZE + k] == pixel_of (number * size + i),
          "byte %u of item %u of batch %u", k, i, number);
}

static void
check_first_bytes (const GstSpdlTensor *tensor, guint number, guint size)
{
  const guint8 *data = gst_spdl_tensor_get_address (tensor);

  for (guint i = 0; i < size; i++)
    fail_unless (data[i * ITEM_SIZE] == pixel_of (number * size + i) &&
                 data[(i + 1) * ITEM_SIZE - 1] == pixel_of (number * size + i));
}

/* Many batches, of which up to 64 are kept and released in random order. The
 * last ones outlive the loader and its pipeline. */
GST_START_TEST (test_many_held)
{
  struct {
    GstSpdlTensor *tensor;
    guint number;
  } held[64] = { { NULL } };
  Feed feed = { make_loader ("spdlbatch batch-size=4 ! spdlsink"), 40000 };
  GThread *thread = g_thread_new ("feed", push_arrays, &feed);
  GRand *rand = g_rand_new_with_seed (5);
  GstSpdlBatch *batch;
  guint n = 0;

  while ((batch = gst_spdl_loader_next (feed.loader, FOREVER, NULL))) {
    const guint place = g_rand_int_range (rand, 0, 64);

    if (held[place].tensor) {
      check_first_bytes (held[place].tensor, held[place].number, 4);
      gst_spdl_tensor_unref (held[place].tensor);
    }
    held[place].tensor = gst_spdl_batch_dup_tensor (batch, 0);
    held[place].number = n++;
    gst_spdl_batch_unref (batch);
  }
  fail_unless_equals_int (n, 10000);
  g_thread_join (thread);
  g_object_unref (feed.loader);
  for (guint i = 0; i < 64; i++) {
    check_batch (held[i].tensor, held[i].number, 4);
    gst_spdl_tensor_unref (held[i].tensor);
  }
  g_rand_free (rand);
}

GST_END_TEST;

static void
count_warning (GstSpdlLoader *loader, const gchar *stage, const gchar *text,
    gpointer n_warnings)
{
  fail_unless (g_str_has_prefix (stage, "spdlbatch"));
  fail_unless (strstr (text, "More than 16 batches") != NULL, "%s", text);
  ++*(guint *) n_warnings;
}

static guint64
get_figure (GstSpdlLoader *loader, const gchar *stage, const gchar *field)
{
  GList *stats = gst_spdl_loader_dup_stats (loader);
  guint64 figure = 0;

  for (GList *l = stats; l; l = l->next)
    if (g_str_has_prefix (gst_structure_get_string (l->data, "stage"), stage))
      fail_unless (gst_structure_get_uint64 (l->data, field, &figure));
  g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
  return figure;
}

/* A consumer that keeps all batches gets memory for all of them, with a single
 * warning. */
GST_START_TEST (test_keep_all)
{
  Feed feed = { make_loader ("spdlbatch batch-size=2 ! spdlsink"), 100 };
  GThread *thread = g_thread_new ("feed", push_arrays, &feed);
  GPtrArray *all =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_spdl_batch_unref);
  GstSpdlBatch *batch;
  guint n_warnings = 0;

  g_signal_connect (
      feed.loader, "warned", G_CALLBACK (count_warning), &n_warnings);
  while ((batch = gst_spdl_loader_next (feed.loader, FOREVER, NULL)))
    g_ptr_array_add (all, batch);
  g_thread_join (thread);
  fail_unless_equals_int (all->len, 50);
  fail_unless_equals_int (n_warnings, 1);
  fail_unless_equals_int (
      get_figure (feed.loader, "spdlbatch", "num-unpooled"), 50 - 16);
  for (guint i = 0; i < 50; i++) {
    g_autoptr (GstSpdlTensor) tensor =
        gst_spdl_batch_find_tensor (g_ptr_array_index (all, i), "data");

    check_batch (tensor, i, 2);
  }
  g_ptr_array_unref (all);
  g_object_unref (feed.loader);
}

GST_END_TEST;

/* A consumer that keeps few batches does not increase memory usage. */
GST_START_TEST (test_keep_one)
{
  Feed feed = { make_loader ("spdlbatch batch-size=2 ! spdlsink"), 400 };
  GThread *thread = g_thread_new ("feed", push_arrays, &feed);
  GstSpdlBatch *batch;
  gpointer addresses[200];
  guint n = 0, n_different = 0;

  while ((batch = gst_spdl_loader_next (feed.loader, FOREVER, NULL))) {
    g_autoptr (GstSpdlTensor) tensor = gst_spdl_batch_dup_tensor (batch, 0);
    guint i;

    addresses[n] = gst_spdl_tensor_get_address (tensor);
    for (i = 0; i < n && addresses[i] != addresses[n]; i++)
      ;
    n_different += i == n++;
    gst_spdl_batch_unref (batch);
  }
  g_thread_join (thread);
  fail_unless_equals_int (n, 200);
  fail_unless (n_different <= 6, "%u pieces of memory", n_different);
  fail_unless_equals_int (
      get_figure (feed.loader, "spdlbatch", "num-unpooled"), 0);
  g_object_unref (feed.loader);
}

GST_END_TEST;

/* Writing to a batch does not change others. */
GST_START_TEST (test_write_in_place)
{
  Feed feed = { make_loader ("spdlbatch batch-size=2 ! spdlsink"), 200 };
  GThread *thread = g_thread_new ("feed", push_arrays, &feed);
  GstSpdlBatch *batch, *kept = NULL;
  guint n = 0;

  while ((batch = gst_spdl_loader_next (feed.loader, FOREVER, NULL))) {
    g_autoptr (GstSpdlTensor) tensor = gst_spdl_batch_dup_tensor (batch, 0);

    fail_unless (gst_spdl_tensor_is_writable (tensor));
    check_batch (tensor, n++, 2);
    memset (gst_spdl_tensor_get_address (tensor), 0xee, 2 * ITEM_SIZE);
    g_clear_pointer (&kept, gst_spdl_batch_unref);
    kept = batch;
  }
  fail_unless_equals_int (n, 100);
  g_thread_join (thread);
  gst_spdl_batch_unref (kept);
  g_object_unref (feed.loader);
}

GST_END_TEST;

/* A shared batch is not writable. */
GST_START_TEST (test_shared)
{
  Feed feed = { make_loader ("spdlbatch batch-size=2 ! tee name=t ! spdlsink "
                             "t. ! fakesink enable-last-sample=true"),
    2 };
  g_autoptr (GstSpdlTensor) tensor = NULL;
  g_autoptr (GstSpdlBatch) batch = NULL;

  push_arrays (&feed);
  batch = gst_spdl_loader_next (feed.loader, FOREVER, NULL);
  tensor = gst_spdl_batch_dup_tensor (batch, 0);
  fail_if (gst_spdl_tensor_is_writable (tensor));
  check_batch (tensor, 0, 2);
  g_object_unref (feed.loader);
}

GST_END_TEST;

static void
assert_error (GError **error, GstSpdlLoaderError code)
{
  fail_unless (g_error_matches (*error, GST_SPDL_LOADER_ERROR, code), "%s",
      *error ? (*error)->message : "no error");
  g_clear_error (error);
}

static guint
take_label (GstSpdlLoader *loader, GstClockTime timeout, GError **error)
{
  g_autoptr (GstSpdlBatch) batch =
      gst_spdl_loader_next (loader, timeout, error);
  g_autofree gint64 *labels = NULL;
  guint n;

  if (!batch)
    return G_MAXUINT;
  labels = gst_spdl_batch_dup_labels (batch, &n);
  fail_unless_equals_int (n, 1);
  return labels[0];
}

/* Timeouts on both sides lose no data. */
GST_START_TEST (test_timeouts)
{
  GstSpdlLoader *loader = make_loader ("spdlbatch batch-size=1 ! spdlsink");
  GError *error = NULL;
  guint n_pushed = 0, n_taken = 0;

  take_label (loader, 0, &error);
  assert_error (&error, GST_SPDL_LOADER_ERROR_TIMED_OUT);
  take_label (loader, 2 * GST_MSECOND, &error);
  assert_error (&error, GST_SPDL_LOADER_ERROR_TIMED_OUT);
  for (guint round = 0; round < 20; round++) {
    /* Push until the queues are full. */
    while (push_array (loader, n_pushed, 5 * GST_MSECOND, &error))
      n_pushed++;
    assert_error (&error, GST_SPDL_LOADER_ERROR_TIMED_OUT);
    for (guint i = 0; i < 5; i++)
      fail_unless_equals_int (
          take_label (loader, FOREVER, NULL), n_taken++ % 10);
  }
  gst_spdl_loader_end_source (loader, NULL, NULL);
  while (n_taken < n_pushed)
    fail_unless_equals_int (take_label (loader, FOREVER, NULL), n_taken++ % 10);
  fail_unless_equals_int (take_label (loader, FOREVER, &error), G_MAXUINT);
  fail_unless (error == NULL && gst_spdl_loader_is_finished (loader));
  g_object_unref (loader);
}

GST_END_TEST;

/* Epochs that are empty from the start end before any item has set caps. */
GST_START_TEST (test_empty_first_epochs)
{
  GstSpdlLoader *loader =
      make_loader ("spdlbatch batch-size=4 ! queue ! spdlsink");
  g_autoptr (GstSpdlBatch) batch = NULL;
  GError *error = NULL;

  for (guint run = 0; run < 2; run++) {
    for (guint epoch = 0; epoch < 3; epoch++) {
      fail_unless (gst_spdl_loader_end_epoch (loader, NULL));
      fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
      fail_unless (error == NULL);
      fail_if (gst_spdl_loader_is_finished (loader));
      fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), epoch + 1);
    }
    fail_unless (push_array (loader, 0, FOREVER, NULL));
    fail_unless (gst_spdl_loader_end_epoch (loader, NULL));
    batch = gst_spdl_loader_next (loader, FOREVER, NULL);
    fail_unless_equals_int (gst_spdl_batch_get_n_items (batch), 1);
    fail_unless_equals_int (gst_spdl_batch_get_epoch (batch), 3);
    g_clear_pointer (&batch, gst_spdl_batch_unref);
    gst_spdl_loader_stop (loader);
    fail_unless (gst_spdl_loader_start (loader, NULL));
  }
  g_object_unref (loader);
}

GST_END_TEST;

/* The end of an epoch is delivered before there is data of the next one. */
GST_START_TEST (test_epoch_is_prompt)
{
  GstSpdlLoader *loader =
      make_loader ("spdlbatch batch-size=4 ! queue ! spdlsink");
  GError *error = NULL;

  for (guint epoch = 0; epoch < 5; epoch++) {
    g_autoptr (GstSpdlBatch) batch = NULL;
    g_autofree guint64 *indices = NULL;
    guint n;

    for (guint i = 0; i < 3; i++)
      fail_unless (push_array (loader, i, FOREVER, NULL));
    fail_unless (gst_spdl_loader_end_epoch (loader, NULL));
    batch = gst_spdl_loader_next (loader, FOREVER, NULL);
    indices = gst_spdl_batch_dup_indices (batch, &n);
    fail_unless (n == 3 && indices[0] == 0 && indices[2] == 2);
    fail_unless_equals_int (gst_spdl_batch_get_epoch (batch), epoch);
    fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
    fail_unless (error == NULL);
    fail_if (gst_spdl_loader_is_finished (loader));
    fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), epoch + 1);
  }
  /* Empty epochs count as epochs. */
  for (guint i = 0; i < 3; i++)
    fail_unless (gst_spdl_loader_end_epoch (loader, NULL));
  fail_unless (gst_spdl_loader_end_source (loader, NULL, NULL));
  for (guint i = 0; i < 3; i++) {
    fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
    fail_if (gst_spdl_loader_is_finished (loader));
    fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), 6 + i);
  }
  fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
  fail_unless (error == NULL && gst_spdl_loader_is_finished (loader));
  g_object_unref (loader);
}

GST_END_TEST;

/* Pushes encoded data with labels and keys, then an error, which is reported
 * after the valid items. */
GST_START_TEST (test_cause)
{
  GstSpdlLoader *loader = make_loader (
      "spdldecode width=8 height=8 output-order=input ! spdlbatch batch-size=4 "
      "! spdlsink");
  const GQuark domain = g_quark_from_static_string ("my-domain");
  g_autoptr (GError) cause = g_error_new (domain, 7, "the generator broke");
  g_autoptr (GBytes) jpeg = files_make_jpeg (40, 30, 1);
  GError *error = NULL;
  guint n = 0;

  for (guint i = 0; i < 6; i++) {
    g_autofree gchar *uri = g_strdup_printf ("item:%u", i);

    fail_unless (
        gst_spdl_loader_push_bytes (loader, jpeg, NULL, i, uri, FOREVER, NULL));
  }
  fail_unless (gst_spdl_loader_end_source (loader, cause, NULL));
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstSpdlBatch) batch =
        gst_spdl_loader_next (loader, FOREVER, NULL);
    g_auto (GStrv) keys = gst_spdl_batch_dup_keys (batch);
    g_autofree gint64 *labels = gst_spdl_batch_dup_labels (batch, &n);

    fail_unless_equals_int (n, i == 0 ? 4 : 2);
    fail_unless_equals_int (labels[1], i * 4 + 1);
    fail_unless_equals_string (keys[1], i == 0 ? "item:1" : "item:5");
  }
  for (guint i = 0; i < 2; i++) {
    fail_unless (gst_spdl_loader_next (loader, FOREVER, &error) == NULL);
    fail_unless (g_error_matches (error, domain, 7));
    fail_unless_equals_string (error->message, "the generator broke");
    g_clear_error (&error);
  }
  fail_if (gst_spdl_loader_push_bytes (
      loader, jpeg, NULL, -1, NULL, FOREVER, &error));
  fail_unless (error != NULL);
  g_clear_error (&error);

  /* Restart from the beginning. */
  gst_spdl_loader_stop (loader);
  fail_unless (gst_spdl_loader_start (loader, NULL));
  fail_unless (
      gst_spdl_loader_push_bytes (loader, jpeg, NULL, 3, NULL, FOREVER, NULL));
  fail_unless (gst_spdl_loader_end_source (loader, NULL, NULL));
  fail_unless_equals_int (take_label (loader, FOREVER, NULL), 3);
  g_object_unref (loader);
}

GST_END_TEST;

GST_START_TEST (test_uris)
{
  gchar *folder = files_make_dataset (9);
  GstSpdlLoader *loader =
      make_loader ("spdlfetch output-order=input ! spdldecode width=8 height=8 "
                   "output-order=input ! spdlbatch batch-size=3 ! spdlsink");
  GError *error = NULL;

  for (guint i = 0; i < 9; i++) {
    g_autofree gchar *path =
        g_strdup_printf ("%s/class-%c/%04u.jpg", folder, 'a' + i % 3, i);

    fail_unless (gst_spdl_loader_push_uri (loader, path, i, FOREVER, NULL));
  }
  fail_unless (gst_spdl_loader_end_source (loader, NULL, NULL));
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstSpdlBatch) batch =
        gst_spdl_loader_next (loader, FOREVER, &error);
    g_auto (GStrv) keys = NULL;

    fail_unless (batch != NULL, "%s", error ? error->message : "end");
    keys = gst_spdl_batch_dup_keys (batch);
    fail_unless (g_str_has_prefix (keys[0], "file:///"));
    fail_unless (g_str_has_prefix (keys[0] + strlen ("file://"), folder));
  }
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

static gpointer
push_until_error (gpointer loader)
{
  GError *error = NULL;

  for (guint i = 0; push_array (loader, i, FOREVER, &error); i++)
    ;
  return error;
}

/* A waiting push returns when the loader ends for any reason. */
GST_START_TEST (test_push_is_woken)
{
  for (guint i = 0; i < 20; i++) {
    GstSpdlLoader *loader = make_loader (
        i % 2 ? "spdlbatch batch-size=1 ! spdlsink"
              : "identity error-after=10 name=here ! spdlbatch ! spdlsink");
    GThread *thread = g_thread_new ("push", push_until_error, loader);
    GError *error = NULL;

    if (i % 2) {
      fail_unless_equals_int (take_label (loader, FOREVER, NULL), 0);
      g_usleep (i * 100);
      gst_spdl_loader_stop (loader);
      error = g_thread_join (thread);
      assert_error (&error, GST_SPDL_LOADER_ERROR_STOPPED);
    } else {
      error = g_thread_join (thread);
      fail_unless (g_str_has_prefix (error->message, "here: "));
      g_error_free (error);
    }
    g_object_unref (loader);
  }
}

GST_END_TEST;

GST_START_TEST (test_no_source)
{
  GstSpdlLoader *loader = gst_spdl_loader_new ("videotestsrc ! spdlsink", NULL);
  GError *error = NULL;

  fail_if (gst_spdl_loader_has_source (loader));
  fail_if (gst_spdl_loader_end_source (loader, NULL, &error));
  assert_error (&error, GST_SPDL_LOADER_ERROR_SOURCE);
  g_object_unref (loader);
  loader = gst_spdl_loader_new ("spdlbatch ! spdlsink", NULL);
  fail_if (push_array (loader, 0, 0, &error));
  assert_error (&error, GST_SPDL_LOADER_ERROR_NOT_STARTED);
  g_object_unref (loader);
}

GST_END_TEST;

CHECK_SUITE (loader_push, TIMEOUT (180), TEST (test_many_held),
    TEST (test_keep_all), TEST (test_keep_one), TEST (test_write_in_place),
    TEST (test_shared), TEST (test_timeouts), TEST (test_empty_first_epochs),
    TEST (test_epoch_is_prompt), TEST (test_cause), TEST (test_uris),
    TEST (test_push_is_woken), TEST (test_no_source))
