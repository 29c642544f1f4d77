/* gst-spdl: tests of spdlroute, and of spdlmix after it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define N 60

/* Makes a list of items 0 to 59, every third of which is named like a PNG, with
 * labels 0 to 4; the column `size` is 1 or 2. */
static gchar *
make_list (void)
{
  gchar *folder = files_make_folder ();
  g_autoptr (GString) text = g_string_new ("uri,label,size\n");

  for (guint i = 0; i < N; i++)
    g_string_append_printf (
        text, "%u.%s,%u,%u\n", i, i % 3 ? "jpg" : "png", i % 5, i < 10 ? 1 : 2);
  files_write_text (folder, "list.csv", text->str);
  return folder;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  return *(const gint *) a - *(const gint *) b;
}

/* Returns the indices that arrived in @epoch, in ascending order. */
static GArray *
get_indices (Run *run, guint64 epoch)
{
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (gint));

  for (guint i = 0; i < run->buffers->len; i++) {
    const GstSpdlItemMeta *item = run_item (run, i);
    const gint index = item->index;

    if (item->epoch == epoch)
      g_array_append_val (indices, index);
  }
  g_array_sort (indices, compare_numbers);
  return indices;
}

/* Checks that each item arrived once in each epoch, in its epoch. */
static void
check_epochs (Run *run, guint n_epochs)
{
  guint64 epoch = 0;

  for (guint e = 0; e < n_epochs; e++) {
    g_autoptr (GArray) indices = get_indices (run, e);

    fail_unless_equals_int (indices->len, N);
    for (gint i = 0; i < N; i++)
      fail_unless_equals_int (g_array_index (indices, gint, i), i);
  }
  for (guint i = 0; i < run->stream->len; i++) {
    GstMiniObject *object = g_ptr_array_index (run->stream, i);
    guint64 ended;

    if (GST_IS_BUFFER (object)) {
      fail_unless (
          gst_spdl_buffer_get_item_meta ((GstBuffer *) object)->epoch == epoch);
    } else if (gst_spdl_event_parse_epoch (
                   (GstEvent *) object, NULL, &ended, NULL)) {
      fail_unless (ended == epoch);
      epoch++;
    }
  }
  fail_unless_equals_int (run->n_epochs, n_epochs);
  fail_unless (run->error == NULL, "%s", run->error);
}

/* Checks which items a condition selects; the others go to another path. */
static void
check_condition (const gchar *folder, const gchar *when, const gchar *label,
    gboolean (*holds) (guint index))
{
  Run *run = run_pipeline ("spdlsrc location=%s/list.csv ! %s spdlroute name=r "
                           "src_0::condition=\"%s\" r.src_0 ! queue ! "
                           "spdldisaggregate ! fakesink name=sink async=false "
                           "r.src_1 ! queue ! fakesink async=false",
      folder, label, when);
  guint n = 0;

  fail_unless (run->error == NULL, "%s", run->error);
  for (guint i = 0; i < N; i++)
    n += holds (i);
  fail_unless_equals_int (run->buffers->len, n);
  for (guint i = 0; i < n; i++)
    fail_unless (holds (run_item (run, i)->index));
  run_free (run);
}

static gboolean
is_png (guint i)
{
  return i % 3 == 0;
}

static gboolean
has_label_3 (guint i)
{
  return i % 5 == 3;
}

static gboolean
has_size_1 (guint i)
{
  return i < 10;
}

static gboolean
is_any (guint i)
{
  return TRUE;
}

static gboolean
is_none (guint i)
{
  return FALSE;
}

GST_START_TEST (test_conditions)
{
  gchar *folder = make_list ();

  check_condition (folder, "uri=*.png", "", is_png);
  check_condition (folder, "uri=*.@(PNG|gif)", "", is_png);
  check_condition (folder, "label=3", "", has_label_3);
  check_condition (folder, "label=-1", "", is_none);
  check_condition (folder, "extra.size=1", "", has_size_1);
  check_condition (folder, "extra.none=1", "", is_none);
  check_condition (folder, "caps=text/uri-list", "", is_any);
  check_condition (folder, "caps=image/png", "", is_none);
  /* Conditions select items in groups as well. */
  check_condition (
      folder, "uri=*.png", "spdlaggregate size=7 ! queue !", is_png);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_malformed)
{
  static const gchar *const texts[] = { "labl=3", "label=three", "label",
    "uri=", "caps=", "extra.=3", "extra.size", "=", "" };
  gchar *folder = make_list ();

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree gchar *text =
        g_strdup_printf ("[library-error settings]|src_0|\"%s\"", texts[i]);
    Run *run = run_pipeline ("spdlsrc location=%s/list.csv ! spdlroute name=r "
                             "src_0::condition=\"%s\" "
                             "r.src_0 ! fakesink name=sink",
        folder, texts[i]);

    fail_unless (
        run->error && errors_text_has (run->error, text), "%s", run->error);
    fail_unless_equals_int (run->buffers->len, 0);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Paths with various elements, joined again: each epoch has all its items
 * once. */
GST_START_TEST (test_joined)
{
  static const gchar *const paths[][2] = {
    { "", "" },
    { "queue !", "queue max-size-buffers=1 !" },
    { "spdlteststage jitter=300000 concurrency=4 !",
        "spdlteststage jitter=1000000 concurrency=3 !" },
    { "spdlteststage sleep=2000000 !", "spdlteststage output-order=input !" },
    { "spdlteststage concurrency=2 ! queue !", "" },
  };
  static const gchar *const whens[] = { "uri=*.png", "label=77", "uri=*" };
  gchar *folder = make_list ();

  for (guint w = 0; w < G_N_ELEMENTS (whens); w++) {
    Run *run =
        run_pipeline ("spdlsrc location=%s/list.csv epochs=3 shuffle=true ! %s "
                      "spdlroute name=r src_0::condition=\"%s\" r.src_0 ! %s "
                      "m. r.src_1 ! %s m. "
                      "spdlmix name=m order=arrival ! fakesink name=sink",
            folder, __i__ % 2 ? "spdlteststage concurrency=3 !" : "", whens[w],
            paths[__i__][0], paths[__i__][1]);

    check_epochs (run, 3);
    fail_unless_equals_int (run->n_dropped, 0);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Dropped items are announced once, on any path; items without a path are
 * counted and announced as well. */
GST_START_TEST (test_gone)
{
  gchar *folder = make_list ();
  Run *run = run_pipeline (
      "spdlsrc location=%s/list.csv epochs=2 "
      "! spdlteststage fail-every=10 concurrency=2 "
      "! spdlroute name=r src_0::condition=\"label=0\" "
      "src_1::condition=\"label=1\" "
      "r.src_0 ! spdlteststage filter-every=3 ! m. r.src_1 ! queue ! m. "
      "spdlmix name=m order=arrival ! fakesink name=sink",
      folder);

  /* Six items per epoch, with label 4, fail upstream; 36 have no path,
   * including these six. Of the 12 with label 0, every third index is
   * filtered. */
  fail_unless_equals_int (run->buffers->len, 2 * (12 + 8));
  fail_unless_equals_int (run->n_dropped, 2 * (6 + 30 + 4));
  fail_unless_equals_int (run->n_epochs, 2);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A path that exceeds its failure limit reports it and ends; the others
 * continue. */
GST_START_TEST (test_failing_path)
{
  gchar *folder = make_list ();
  Run *run =
      run_pipeline ("spdlsrc location=%s/list.csv epochs=2 "
                    "! spdlroute name=r src_0::condition=\"uri=*.png\" "
                    "r.src_0 ! spdlteststage fail-every=2 max-failures=2 ! m. "
                    "r.src_1 ! spdlteststage concurrency=2 ! m. "
                    "spdlmix name=m order=arrival ! fakesink name=sink",
          folder);
  guint n = 0;

  for (guint i = 0; i < run->buffers->len; i++)
    n += !is_png (run_item (run, i)->index);
  fail_unless_equals_int (n, 2 * 40);
  fail_unless (run->error != NULL);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* One of two sinks is blocked; the other one gets all its items and EOS. */
GST_START_TEST (test_end_beside_full)
{
  static const gchar *const heads[] = { "queue max-size-buffers=8 !",
    "spdlteststage queue-size=8 !" };
  gchar *folder = make_list ();
  /* Six items of the first 30 have label 0; the blocked sink takes one. */
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc location=%s/list.csv rank=0 world-size=2 "
                       "! spdlroute name=r src_0::condition=\"label=0\" "
                       "r.src_0 ! %s appsink name=held max-buffers=1 "
                       "r.src_1 ! %s appsink name=taken",
          folder, heads[__i__], heads[__i__]);
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  g_autoptr (GstElement) held =
      gst_bin_get_by_name (GST_BIN (pipeline), "held");
  g_autoptr (GstElement) taken =
      gst_bin_get_by_name (GST_BIN (pipeline), "taken");
  GstSample *sample;
  guint n = 0, n_held = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;) {
    g_signal_emit_by_name (taken, "pull-sample", &sample);
    if (!sample)
      break;
    gst_sample_unref (sample);
    n++;
  }
  fail_unless_equals_int (n, 24);
  for (;;) {
    g_signal_emit_by_name (held, "pull-sample", &sample);
    if (!sample)
      break;
    gst_sample_unref (sample);
    n_held++;
  }
  fail_unless_equals_int (n_held, 6);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Without a queue, pending data at EOS blocks only its own path. */
GST_START_TEST (test_end_that_waits)
{
  gchar *folder = make_list ();
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s/list.csv ! spdlroute name=r "
      "src_0::condition=\"extra.size=1\" r.src_0 ! spdlaggregate size=9 "
      "! appsink name=held max-buffers=9 async=false r.src_1 "
      "! appsink name=taken async=false",
      folder);
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  g_autoptr (GstElement) taken =
      gst_bin_get_by_name (GST_BIN (pipeline), "taken");
  GstSample *sample = NULL;
  guint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  do {
    g_clear_pointer (&sample, gst_sample_unref);
    g_signal_emit_by_name (taken, "pull-sample", &sample);
    n += sample != NULL;
  } while (sample);
  fail_unless_equals_int (n, N - 10);
  /* One of the ten still waits in a separate thread. */
  gst_element_set_state (pipeline, GST_STATE_NULL);
  files_remove_folder (folder);
}

GST_END_TEST;

/* The element after a path rejects the caps: an error names it, and other paths
 * continue. */
GST_START_TEST (test_caps_that_do_not_suit)
{
  gchar *folder = make_list ();
  Run *run = run_pipeline (
      "spdlsrc location=%s/list.csv ! spdlroute name=r "
      "src_0::condition=\"uri=*.png\" r.src_0 ! capsfilter caps=image/png ! m. "
      "r.src_1 ! queue ! m. "
      "spdlmix name=m order=arrival ! fakesink name=sink async=false",
      folder);

  fail_unless (errors_text_has (
                   run->error, "[core-error negotiation]|src_0|text/uri-list"),
      "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 40);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_figures)
{
  gchar *folder = make_list ();
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s/list.csv ! spdlroute name=r "
      "src_0::condition=\"label=0\" src_1::condition=\"label=1\" r.src_0 ! "
      "queue "
      "! fakesink async=false r.src_1 ! queue ! fakesink async=false",
      folder);
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  g_autoptr (GstElement) route = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstStructure) stats = NULL;
  guint64 n[5];

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_object_get (route, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "num-items", G_TYPE_UINT64, &n[0],
      "num-items-src_0", G_TYPE_UINT64, &n[1], "num-items-src_1", G_TYPE_UINT64,
      &n[2], "num-filtered", G_TYPE_UINT64, &n[3], "num-refused", G_TYPE_UINT64,
      &n[4], NULL));
  fail_unless_equals_int (n[0], N);
  fail_unless_equals_int (n[1], 12);
  fail_unless_equals_int (n[2], 12);
  fail_unless_equals_int (n[3], 36);
  fail_unless_equals_int (n[4], 0);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Functions */

static GstElement *
launch (const gchar *folder, const gchar *elements)
{
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc location=%s/list.csv %s", folder, elements);
  GstElement *pipeline = gst_parse_launch (description, NULL);

  fail_unless (pipeline != NULL);
  return pipeline;
}

typedef gint (*Function) (
    GstElement *element, GstSample *sample, gpointer user_data);

/* Notes the end of the stream on a branch. */
static GstPadProbeReturn
note_end (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    g_atomic_int_set ((gint *) user_data, TRUE);
  return GST_PAD_PROBE_OK;
}

/* Runs a pipeline until it ends. Returns (nullable) the text of its error. If
 * the function fails, the end of the stream follows the error. */
static gchar *
run_function (GstElement *pipeline, Function function, gpointer user_data)
{
  g_autoptr (GstElement) route = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GstPad) branch = gst_element_get_static_pad (route, "src_0");
  gint ended = FALSE;
  gulong probe = gst_pad_add_probe (
      branch, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_end, &ended, NULL);

  if (function)
    g_signal_connect (route, "select-branch", G_CALLBACK (function), user_data);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_pad_remove_probe (branch, probe);
    return NULL;
  }
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (route));
  gst_message_parse_error (message, &error, NULL);
  wait_until (error->domain != GST_STREAM_ERROR || g_atomic_int_get (&ended));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_pad_remove_probe (branch, probe);
  return errors_format (error);
}

/* The last branch has a pad that is not linked. */
static gint
choose_by_index (GstElement *element, GstSample *sample, gpointer user_data)
{
  const guint64 index =
      gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample))->index;
  gint *n_calls = user_data;

  fail_unless (gst_caps_is_fixed (gst_sample_get_caps (sample)));
  ++*n_calls;
  return index % 3;
}

static void
check_figures (GstElement *pipeline, guint64 passed, guint64 filtered)
{
  g_autoptr (GstElement) route = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  g_autoptr (GstStructure) stats = NULL;
  guint64 n[4];

  g_object_get (route, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "num-items", G_TYPE_UINT64, &n[0],
      "num-items-src_0", G_TYPE_UINT64, &n[1], "num-items-src_1", G_TYPE_UINT64,
      &n[2], "num-filtered", G_TYPE_UINT64, &n[3], NULL));
  fail_unless_equals_int (n[0], 2 * passed + filtered);
  fail_unless_equals_int (n[1], passed);
  fail_unless_equals_int (n[2], passed);
  fail_unless_equals_int (n[3], filtered);
}

/* A function chooses the branch of each item, also of those in groups. */
GST_START_TEST (test_function)
{
  static const gchar *const elements[] = {
    "epochs=2 ! spdlroute name=r "
    "r.src_0 ! queue ! m. r.src_1 ! queue ! m. "
    "spdlmix name=m order=arrival ! fakesink",
    "epochs=2 ! spdlaggregate size=7 "
    "! spdlteststage concurrency=2 ! spdlroute name=r "
    "r.src_0 ! queue ! m. r.src_1 ! queue ! m. "
    "spdlmix name=m order=arrival ! fakesink"
  };
  gchar *folder = make_list ();
  g_autoptr (GstElement) pipeline = launch (folder, elements[__i__]);
  g_autoptr (GstElement) route = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  g_autoptr (GstPad) unlinked = gst_element_request_pad_simple (route, "src_2");
  gint n_calls = 0;

  fail_unless (run_function (pipeline, choose_by_index, &n_calls) == NULL);
  fail_unless_equals_int (n_calls, 2 * N);
  check_figures (pipeline, 2 * N / 3, 2 * N / 3);
  gst_element_release_request_pad (route, unlinked);
  files_remove_folder (folder);
}

GST_END_TEST;

#define BAD_ITEM 40

/* Gives the number in @user_data for an item, else 0. */
static gint
choose_badly (GstElement *element, GstSample *sample, gpointer user_data)
{
  const guint64 index =
      gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample))->index;

  if (index != BAD_ITEM)
    return 0;
  if (GPOINTER_TO_INT (user_data) == -1)
    GST_ELEMENT_ERROR (element, RESOURCE, BUSY, ("no"), (NULL));
  return GPOINTER_TO_INT (user_data);
}

static void
count_buffer (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  ++*(gint *) user_data;
}

/* A number without a pad is an error of the element, and the item goes
 * nowhere. */
GST_START_TEST (test_function_errors)
{
  static const struct {
    gint number;
    const gchar *text;
  } cases[] = {
    { 2, "[stream-error failed]|src_2" },
    { -2, "[stream-error failed]|-2" },
    { G_MAXINT, "[stream-error failed]|2147483647" },
    { -1, "[resource-error busy]|no" },
  };
  static const gchar *const elements[] = {
    "! spdlroute name=r r.src_0 ! queue "
    "! fakesink name=sink signal-handoffs=true r.src_1 ! queue ! fakesink",
    "! spdlaggregate size=15 "
    "! spdlteststage concurrency=2 output-order=input ! spdlroute name=r "
    "r.src_0 ! queue ! spdldisaggregate "
    "! fakesink name=sink signal-handoffs=true r.src_1 ! queue ! fakesink"
  };
  gchar *folder = make_list ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) pipeline = launch (folder, elements[__i__]);
    g_autoptr (GstElement) sink =
        gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    g_autofree gchar *text = NULL;
    gint n = 0;

    g_signal_connect (sink, "handoff", G_CALLBACK (count_buffer), &n);
    text = run_function (
        pipeline, choose_badly, GINT_TO_POINTER (cases[i].number));
    fail_unless (text && errors_text_has (text, cases[i].text), "%s", text);
    fail_unless (n <= BAD_ITEM);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

static void
give_nothing (GClosure *closure, GValue *result, guint n, const GValue *values,
    gpointer hint, gpointer data)
{
}

/* No result, as when a PyGObject callback raises an exception. */
GST_START_TEST (test_function_without_result)
{
  gchar *folder = make_list ();
  g_autoptr (GstElement) pipeline =
      launch (folder, "! spdlroute name=r "
                      "r.src_0 ! queue ! fakesink");
  g_autoptr (GstElement) route = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  GClosure *closure = g_closure_new_simple (sizeof (GClosure), NULL);
  g_autofree gchar *text = NULL;

  g_closure_set_marshal (closure, give_nothing);
  g_signal_connect_closure (route, "select-branch", closure, FALSE);
  text = run_function (pipeline, NULL, NULL);
  fail_unless (
      text && errors_text_has (text, "[stream-error failed]|select-branch"),
      "%s", text);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_function_and_condition)
{
  gchar *folder = make_list ();
  g_autoptr (GstElement) pipeline = launch (folder,
      "! spdlroute name=r "
      "src_1::condition=label=3 r.src_0 ! queue ! fakesink r.src_1 ! queue "
      "! fakesink");
  gint n_calls = 0;
  g_autofree gchar *text = run_function (pipeline, choose_by_index, &n_calls);

  fail_unless (
      text && errors_text_has (
                  text, "[library-error settings]|src_1|label=3|select-branch"),
      "%s", text);
  fail_unless_equals_int (n_calls, 0);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Pads */

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GPtrArray *events;

static gboolean
keep_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  g_ptr_array_add (events, event);
  return TRUE;
}

static GstPad *
open_path (GstElement *route)
{
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (route, "src_%u");
  GstPad *end = gst_pad_new ("end", GST_PAD_SINK);

  gst_pad_set_chain_function (end, gst_check_chain_func);
  gst_pad_set_event_function (end, keep_event);
  gst_pad_set_active (end, TRUE);
  fail_unless (gst_pad_link (pad, end) == GST_PAD_LINK_OK);
  return end;
}

static gboolean
has_event (GstEventType type)
{
  for (guint i = 0; i < events->len; i++)
    if (GST_EVENT_TYPE (g_ptr_array_index (events, i)) == type)
      return TRUE;
  return FALSE;
}

static void
unref_event (gpointer event)
{
  gst_event_unref (event);
}

/* Starts @route and sends it the events before the first item. */
static void
begin_flow (GstElement *route, GstPad *src)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string ("image/png");
  GstSegment segment;

  gst_element_set_state (route, GST_STATE_PLAYING);
  gst_pad_set_active (src, TRUE);
  gst_pad_push_event (src, gst_event_new_stream_start ("a"));
  gst_pad_push_event (src, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (src, gst_event_new_segment (&segment));
}

/* Stops @route and frees the two ends of its paths. */
static void
end_flow (GstElement *route, GstPad *src, GstPad **ends)
{
  gst_check_drop_buffers ();
  gst_element_set_state (route, GST_STATE_NULL);
  gst_pad_set_active (src, FALSE);
  for (guint i = 0; i < 2; i++) {
    gst_pad_set_active (ends[i], FALSE);
    gst_object_unref (ends[i]);
  }
}

/* A path that is requested while data flows gets all sticky events and current
 * ones. */
GST_START_TEST (test_late_path)
{
  GstElement *route =
      gst_object_ref_sink (gst_element_factory_make ("spdlroute", NULL));
  GstPad *in = gst_element_get_static_pad (route, "sink");
  GstPad *src = gst_pad_new_from_static_template (&src_template, "out");
  GstPad *ends[2], *late;

  events = g_ptr_array_new_with_free_func (unref_event);
  gst_pad_link (src, in);
  ends[0] = open_path (route);
  begin_flow (route, src);
  gst_pad_push_event (src, gst_spdl_event_new_source (0, 10, "spdl1;source=0"));
  gst_pad_push_event (src, gst_spdl_event_new_source (1, 10, "spdl1;source=1"));
  fail_unless_equals_int (gst_pad_push (src, gst_buffer_new ()), GST_FLOW_OK);
  fail_unless_equals_int (g_list_length (buffers), 1);

  g_ptr_array_set_size (events, 0);
  ends[1] = open_path (route);
  late = gst_pad_get_peer (ends[0]);
  g_object_set (late, "condition", "label=5", NULL);
  fail_unless_equals_int (gst_pad_push (src, gst_buffer_new ()), GST_FLOW_OK);
  fail_unless_equals_int (g_list_length (buffers), 2);
  fail_unless (has_event (GST_EVENT_STREAM_START));
  fail_unless (has_event (GST_EVENT_CAPS));
  fail_unless (has_event (GST_EVENT_SEGMENT));
  fail_unless_equals_int (events->len, 5);

  end_flow (route, src, ends);
  gst_object_unref (late);
  gst_object_unref (in);
  gst_object_unref (src);
  gst_object_unref (route);
  g_ptr_array_unref (events);
}

GST_END_TEST;

/* Releases the pad of its path while an item is pushed. */
static GstFlowReturn
release_path (GstPad *end, GstObject *parent, GstBuffer *buffer)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (end);
  g_autoptr (GstElement) route = gst_pad_get_parent_element (pad);

  gst_buffer_unref (buffer);
  gst_element_release_request_pad (route, pad);
  return GST_FLOW_FLUSHING;
}

/* If a path goes while an item is pushed to it, the others continue. */
GST_START_TEST (test_released_path)
{
  GstElement *route =
      gst_object_ref_sink (gst_element_factory_make ("spdlroute", NULL));
  GstPad *in = gst_element_get_static_pad (route, "sink");
  GstPad *src = gst_pad_new_from_static_template (&src_template, "out");
  GstPad *ends[2];

  events = g_ptr_array_new_with_free_func (unref_event);
  gst_pad_link (src, in);
  for (guint i = 0; i < 2; i++)
    ends[i] = open_path (route);
  gst_pad_set_chain_function (ends[0], release_path);
  begin_flow (route, src);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_pad_push (src, gst_buffer_new ()), GST_FLOW_OK);
  fail_unless_equals_int (g_list_length (buffers), 2);

  end_flow (route, src, ends);
  gst_object_unref (in);
  gst_object_unref (src);
  gst_object_unref (route);
  g_ptr_array_unref (events);
}

GST_END_TEST;

/* The pipeline can be stopped at any time with a blocked path. */
GST_START_TEST (test_stop_when_full)
{
  gchar *folder = make_list ();
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s/list.csv epochs=-1 ! spdlroute name=r "
      "src_0::condition=\"uri=*.png\" r.src_0 ! spdlteststage concurrency=2 ! "
      "m. "
      "r.src_1 ! %s m. spdlmix name=m order=arrival ! spdlsink",
      folder, __i__ ? "queue !" : "");
  g_autoptr (GstElement) pipeline = gst_parse_launch (description, NULL);
  GRand *rand = g_rand_new_with_seed (__i__);

  for (guint i = 0; i < 20; i++) {
    gst_element_set_state (
        pipeline, i % 3 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    g_usleep (g_rand_int_range (rand, 0, 3000));
    gst_element_set_state (pipeline, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (route, TEST (test_conditions), TEST (test_malformed),
    LOOP (test_joined, 5), TEST (test_gone), TEST (test_failing_path),
    LOOP (test_end_beside_full, 2), TEST (test_end_that_waits),
    TEST (test_caps_that_do_not_suit), TEST (test_figures),
    LOOP (test_function, 2), LOOP (test_function_errors, 2),
    TEST (test_function_without_result), TEST (test_function_and_condition),
    TEST (test_late_path), TEST (test_released_path),
    LOOP (test_stop_when_full, 2))
