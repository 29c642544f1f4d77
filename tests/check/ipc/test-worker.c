/* gst-spdl: tests of spdlworkersrc, a pipeline in another process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <signal.h>

#include "tests/check/ipc/worker-tools.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define JOB                                                        \
  "spdlsrc location=%s label=folder shuffle=true seed=3 epochs=2 " \
  "! spdlfetch output-order=input "                                \
  "! spdldecode output-order=input width=16 height=12 "            \
  "! spdlbatch batch-size=8 labels=true indices=true"

static void
assert_same_items (GstBuffer *a, GstBuffer *b)
{
  const GstSpdlBatchMeta *x = gst_spdl_buffer_get_batch_meta (a);
  const GstSpdlBatchMeta *y = gst_spdl_buffer_get_batch_meta (b);

  fail_unless_equals_int (x->num_items, y->num_items);
  fail_unless_equals_int (x->num_tensors, y->num_tensors);
  for (guint i = 0; i < x->num_tensors; i++)
    fail_unless_equals_string (x->names[i], y->names[i]);
  for (guint i = 0; i < x->num_items; i++) {
    const GstSpdlItemMeta *v = &x->items[i], *w = &y->items[i];

    fail_unless (v->source == w->source && v->epoch == w->epoch &&
                 v->index == w->index && v->sequence == w->sequence &&
                 v->label == w->label && v->part == w->part &&
                 v->parts == w->parts);
    fail_unless_equals_string (v->uri, w->uri);
    fail_unless ((v->extra == NULL) == (w->extra == NULL));
    fail_unless (!v->extra || gst_structure_is_equal (v->extra, w->extra));
    fail_unless (GST_CLOCK_TIME_IS_VALID (w->created));
  }
}

static void
assert_same_bytes (GstBuffer *a, GstBuffer *b)
{
  const guint n = gst_buffer_n_memory (a);

  fail_unless_equals_int (n, gst_buffer_n_memory (b));
  for (guint i = 0; i < n; i++) {
    GstMapInfo x, y;

    fail_unless (gst_buffer_map_range (a, i, 1, &x, GST_MAP_READ));
    fail_unless (gst_buffer_map_range (b, i, 1, &y, GST_MAP_READ));
    fail_unless_equals_int (x.size, y.size);
    fail_unless (memcmp (x.data, y.data, x.size) == 0);
    gst_buffer_unmap (a, &x);
    gst_buffer_unmap (b, &y);
  }
}

static void
assert_same_event (GstEvent *a, GstEvent *b)
{
  const GstStructure *x = gst_event_get_structure (a);
  const GstStructure *y = gst_event_get_structure (b);

  fail_unless_equals_int (GST_EVENT_TYPE (a), GST_EVENT_TYPE (b));
  if (x && g_str_has_prefix (gst_structure_get_name (x), "spdl-"))
    fail_unless (gst_structure_is_equal (x, y),
        "%" GST_PTR_FORMAT " is %" GST_PTR_FORMAT, x, y);
}

/* Returns whether @object takes part in the comparison. Caps and segment may
 * come before or after the event that announces the source. */
static gboolean
is_counted (GstMiniObject *object)
{
  return GST_IS_BUFFER (object) ||
         GST_EVENT_TYPE (object) == GST_EVENT_CUSTOM_DOWNSTREAM ||
         GST_EVENT_TYPE (object) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY ||
         GST_EVENT_TYPE (object) == GST_EVENT_EOS;
}

static void
remove_others (GPtrArray *stream)
{
  for (guint i = stream->len; i > 0; i--)
    if (!is_counted (g_ptr_array_index (stream, i - 1)))
      g_ptr_array_remove_index (stream, i - 1);
}

static void
assert_same_stream (Run *here, Run *there)
{
  remove_others (here->stream);
  remove_others (there->stream);
  fail_unless_equals_int (here->stream->len, there->stream->len);
  for (guint i = 0; i < here->stream->len; i++) {
    GstMiniObject *a = g_ptr_array_index (here->stream, i);
    GstMiniObject *b = g_ptr_array_index (there->stream, i);

    fail_unless (GST_MINI_OBJECT_TYPE (a) == GST_MINI_OBJECT_TYPE (b));
    if (GST_IS_EVENT (a)) {
      assert_same_event (GST_EVENT (a), GST_EVENT (b));
      continue;
    }
    if (gst_spdl_buffer_get_batch_meta (GST_BUFFER (a)))
      assert_same_items (GST_BUFFER (a), GST_BUFFER (b));
    assert_same_bytes (GST_BUFFER (a), GST_BUFFER (b));
  }
  for (guint i = 0; i < here->caps->len; i++)
    fail_unless (gst_caps_is_equal (
        g_ptr_array_index (here->caps, i), g_ptr_array_index (there->caps, i)));
}

/* @job: the description of the pipeline, including the folder */
static void
assert_same (const gchar *job)
{
  Run *here = run_pipeline ("%s ! fakesink name=sink", job);
  Run *there =
      run_pipeline ("spdlworkersrc pipeline=\"%s\" ! fakesink name=sink", job);

  fail_unless (here->buffers->len > 0);
  fail_unless (there->error == NULL, "%s", there->error);
  assert_same_stream (here, there);
  fail_unless_equals_int (here->failures->len, there->failures->len);
  for (guint i = 0; i < here->failures->len; i++) {
    const GstStructure *x = g_ptr_array_index (here->failures, i);
    const GstStructure *y = g_ptr_array_index (there->failures, i);

    fail_unless_equals_string (gst_structure_get_string (x, "uri"),
        gst_structure_get_string (y, "uri"));
    fail_unless_equals_string (
        run_failure_text (here, i), run_failure_text (there, i));
  }
  run_free (here);
  run_free (there);
}

/* Tests that buffers, metas, caps and events are the same as in process and in
 * the same order. Some items fail, the last batch is smaller, and there are
 * more batches than slabs. */
GST_START_TEST (test_same)
{
  gchar *folder = files_make_dataset (100);
  g_autofree gchar *job = g_strdup_printf (JOB, folder);

  files_write_text (folder, "class-a/bad.jpg", "no picture");
  files_write_text (folder, "class-b/worse.jpg", "");
  assert_same (job);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that buffers outside of slabs are copied into one: single items, and
 * buffers of other elements. */
GST_START_TEST (test_same_without_batches)
{
  gchar *folder = files_make_dataset (30);
  g_autofree gchar *items =
      g_strdup_printf ("spdlsrc location=%s ! spdlfetch output-order=input "
                       "! spdldecode output-order=input width=20 height=12",
          folder);

  assert_same (items);
  assert_same ("videotestsrc num-buffers=40 "
               "! video/x-raw,format=I420,width=48,height=30");
  assert_same ("audiotestsrc num-buffers=40 ! queue ! audioconvert");
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that slabs grow for batches of different sizes. */
GST_START_TEST (test_growing)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *job = NULL;

  for (guint i = 0; i < 12; i++) {
    g_autofree gchar *name = g_strdup_printf ("%02u.jpg", i);

    files_write_jpeg (folder, name, 16 << (i / 2), 16 << (i / 3), i);
  }
  job = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch output-order=input "
      "! spdldecode output-order=input ! spdlbatch batch-size=1",
      folder);
  assert_same (job);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that a sample of several media keeps its parts. */
GST_START_TEST (test_parts)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *list = g_build_filename (folder, "list.csv", NULL);
  GString *text = g_string_new ("uri,text,caption\n");
  g_autofree gchar *job = NULL;

  for (guint i = 0; i < 20; i++) {
    g_autofree gchar *name = g_strdup_printf ("%02u.jpg", i);

    files_write_jpeg (folder, name, 30 + i, 20, i);
    g_string_append_printf (text, "%s,%s,\"number %u, é\"\n", name, name, i);
  }
  files_write_text (folder, "list.csv", text->str);
  job = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch output-order=input parts=text", list);
  assert_same (job);
  {
    Run *run = run_pipeline (
        "spdlworkersrc pipeline=\"%s\" "
        "! spdldecode part=data width=8 height=8 "
        "output-order=input ! spdlbatch batch-size=4 pad-to-longest=true "
        "! fakesink name=sink",
        job);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->buffers->len, 5);
    fail_unless_equals_string (
        gst_structure_get_string (
            run_batch (run, 0)->items[3].extra, "caption"),
        "number 3, é");
    run_free (run);
  }
  g_string_free (text, TRUE);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests a consumer that keeps more batches than there are slabs. The stream
 * continues, the data is intact, and copies are counted and cause one
 * warning. */
GST_START_TEST (test_kept)
{
  gchar *folder = files_make_dataset (80);
  GstElement *pipeline = worker_make (
      "spdlworkersrc name=worker slabs=5 pipeline=\"spdlsrc location=%s "
      "! spdlfetch ! spdldecode width=16 height=12 ! spdlbatch batch-size=4 "
      "indices=true\" ! appsink name=sink sync=false max-buffers=1",
      folder);
  GPtrArray *kept = worker_pull_all (pipeline);
  guint64 unpooled = worker_get_figure (pipeline, "num-unpooled");

  fail_unless_equals_int (kept->len, 20);
  /* Three batches are in slabs, and 17 are copies. */
  fail_unless_equals_uint64 (unpooled, 17);
  fail_unless_equals_int (worker_count_warnings (pipeline), 1);
  /* Batches outlive the worker. */
  worker_stop (pipeline);
  worker_assert_items_once (kept, 80);
  g_ptr_array_unref (kept);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that batches are not copied if the consumer releases them, and that
 * slabs are reused. */
GST_START_TEST (test_reused)
{
  gchar *folder = files_make_dataset (80);
  GstElement *pipeline = worker_make (
      "spdlworkersrc name=worker slabs=4 pipeline=\"spdlsrc location=%s "
      "epochs=5 ! spdlfetch ! spdldecode width=16 height=12 "
      "! spdlbatch batch-size=4\" ! fakesink name=sink async=false",
      folder);

  worker_run_to_end (pipeline);
  fail_unless_equals_uint64 (worker_get_figure (pipeline, "num-unpooled"), 0);
  fail_unless_equals_uint64 (worker_get_figure (pipeline, "num-batches"), 100);
  fail_unless_equals_uint64 (worker_get_figure (pipeline, "num-items"), 400);
  worker_stop (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

static void
assert_fails (const gchar *properties, const gchar *job, const gchar *text)
{
  run_expect_error (
      run_pipeline ("spdlworkersrc %s pipeline=\"%s\" ! fakesink name=sink",
          properties, job),
      text);
}

/* Tests that an error before the pipeline plays is reported at once, with the
 * message of its element. */
GST_START_TEST (test_no_start)
{
  gchar *folder = files_make_dataset (3);
  g_autofree gchar *job =
      g_strdup_printf ("spdlsrc location=%s ! spdlfetch", folder);
  Run *run = run_pipeline ("spdlworkersrc ! fakesink name=sink");

  fail_unless (
      errors_text_has (run->error, "[resource-error settings]|pipeline"));
  run_free (run);
  assert_fails (
      "", "nosuchelement ! spdlbatch", "[parse_error no-such-element]");
  assert_fails ("", "spdlbatch", "[resource-error settings]");
  assert_fails ("", "videotestsrc ! fakesink", "[resource-error settings]");
  assert_fails ("", "videotestsrc ! tee name=t  t. ! queue  t. ! queue",
      "[resource-error ");
  assert_fails ("", "spdlsrc location=/nowhere ! spdlfetch", "/nowhere");
  assert_fails (
      "cpu-affinity=3-1", "videotestsrc", "[resource-error settings]|CPUs");
  assert_fails ("resume-state=spdl1;", job, "[resource-error settings]");
  assert_fails (
      "resume-state=spdl2;", "videotestsrc", "[resource-error settings]");
  assert_fails ("",
      "fakesrc num-buffers=1 ! other/tensors(memory:SpdlCUDAMemory)",
      "[stream-error wrong-type]");
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that an error in the stream comes after the batches before it, with the
 * message of its element. */
GST_START_TEST (test_error)
{
  gchar *folder = files_make_dataset (40);
  g_autofree gchar *job = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch output-order=input "
      "! spdldecode name=decode concurrency=1 output-order=input "
      "max-failures=0 width=8 "
      "height=8 ! spdlbatch batch-size=4",
      folder);
  Run *here, *there;

  files_write_text (folder, "class-b/0bad.jpg", "no picture");
  here = run_pipeline ("%s ! fakesink name=sink", job);
  there =
      run_pipeline ("spdlworkersrc pipeline=\"%s\" ! fakesink name=sink", job);
  fail_unless (here->error != NULL && here->buffers->len > 0);
  fail_unless_equals_string (here->error, there->error);
  assert_same_stream (here, there);
  run_free (here);
  run_free (there);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that several workers in one pipeline have different source IDs, and
 * that the sink's resume state covers all of them. */
GST_START_TEST (test_two)
{
  gchar *folder = files_make_dataset (40);
  Run *run = run_pipeline (
      "spdlmix name=m ! spdlbatch batch-size=8 ! fakesink name=sink "
      "spdlworkersrc pipeline=\"spdlsrc location=%s/class-a "
      "! spdlfetch ! spdldecode width=8 height=8\" ! m. "
      "spdlworkersrc pipeline=\"spdlsrc location=%s/class-b ! spdlfetch "
      "! spdldecode width=8 height=8\" ! m.",
      folder, folder);
  GstSpdlBatchMeta *last;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless (run->buffers->len > 1);
  last = run_batch (run, run->buffers->len - 1);
  for (guint i = 0; i < last->num_items; i++)
    fail_unless (last->items[i].source == 0 || last->items[i].source == 256);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

static GstPadProbeReturn
note_source (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const GstSpdlItemMeta *item =
      gst_spdl_buffer_get_item_meta (GST_PAD_PROBE_INFO_BUFFER (info));

  g_atomic_int_set ((gint *) user_data, item->source);
  return GST_PAD_PROBE_OK;
}

/* A source that is added to a pipeline with a worker gets the number after
 * those of the worker, and items without a number that before it. */
GST_START_TEST (test_late_source)
{
  gchar *folder = files_make_dataset (4);
  g_autofree gchar *text = g_strdup_printf (
      "spdlworkersrc pipeline=\"spdlsrc location=%s epochs=-1\" "
      "! fakesink sync=false async=false "
      "fakesrc sizetype=fixed ! spdlteststage name=other "
      "! fakesink async=false",
      folder);
  GstElement *pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) other =
      gst_bin_get_by_name (GST_BIN (pipeline), "other");
  GstElement *source = gst_element_factory_make ("spdlsrc", NULL);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  GstElement *elements[] = { other, source };
  gint numbers[2] = { -1, -1 };

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstPad) pad = gst_element_get_static_pad (elements[i], "src");

    gst_pad_add_probe (
        pad, GST_PAD_PROBE_TYPE_BUFFER, note_source, &numbers[i], NULL);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_until (g_atomic_int_get (&numbers[0]) >= 0);
  g_object_set (source, "location", folder, NULL);
  g_object_set (sink, "async", FALSE, NULL);
  gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
  fail_unless (gst_element_link (source, sink));
  gst_element_sync_state_with_parent (sink);
  gst_element_sync_state_with_parent (source);
  wait_until (g_atomic_int_get (&numbers[1]) >= 0);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (numbers[0], 256);
  fail_unless_equals_int (numbers[1], 257);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

static gboolean
is_throttled (GstElement *worker)
{
  gboolean held = FALSE;
  GstStructure *stats;
  const GValue *stages;

  g_object_get (worker, "stage-stats", &stats, NULL);
  stages = gst_structure_get_value (stats, "stages");
  for (guint i = 0; i < gst_value_array_get_size (stages); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (stages, i));

    if (g_strcmp0 (gst_structure_get_string (s, "stage"), "spin") == 0)
      gst_structure_get_boolean (s, "throttled", &held);
  }
  gst_structure_free (stats);
  return held;
}

/* Takes batches meanwhile, so that the worker stays busy. */
static void
wait_until_throttled (
    GstSpdlLoader *loader, GstElement *worker, gboolean wanted)
{
  while (is_throttled (worker) != wanted)
    loader_take (loader);
}

/* Tests that a worker process has its own budget, that a change applies while
 * it plays and after a restart, and that the loader's property sets the
 * worker's. */
GST_START_TEST (test_cpu_budget)
{
  gchar *folder = files_make_dataset (40);
  /* A twentieth of a core on any machine. */
  const gdouble budget = 0.05 / gst_spdl_get_num_cores ();
  GstSpdlLoader *loader =
      loader_make ("spdlworkersrc name=worker restarts=1 "
                   "pipeline=\"spdlsrc location=%s epochs=-1 ! spdlfetch "
                   "! spdlteststage name=spin concurrency=2 spin=1000000 "
                   "! spdldecode width=8 height=8 ! spdlbatch batch-size=4\" "
                   "! spdlsink",
          folder);
  GstElement *pipeline = GST_ELEMENT (gst_spdl_loader_get_pipeline (loader));
  GstElement *worker = gst_bin_get_by_name (GST_BIN (pipeline), "worker");
  gdouble value;
  pid_t pid;

  g_object_set (loader, "cpu-budget", budget, NULL);
  g_object_get (worker, "cpu-budget", &value, NULL);
  fail_unless (value == budget);
  loader_start (loader);
  wait_until_throttled (loader, worker, TRUE);
  g_object_set (worker, "cpu-budget", 0.0, NULL);
  wait_until_throttled (loader, worker, FALSE);
  g_object_set (loader, "cpu-budget", budget, NULL);
  wait_until_throttled (loader, worker, TRUE);
  pid = worker_get_pid (pipeline);
  kill (pid, SIGKILL);
  /* A stream that waits for a free slab does not notice the kill. */
  while (worker_get_pid (pipeline) == pid)
    loader_take (loader);
  wait_until_throttled (loader, worker, TRUE);
  gst_spdl_loader_stop (loader);
  gst_object_unref (worker);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that starts and stops at random moments leak no descriptors, threads,
 * mappings or processes. */
GST_START_TEST (test_cycles)
{
  gchar *folder = files_make_dataset (40);
  const guint n = worker_get_cycles (50);
  GstElement *pipeline = worker_make (
      "spdlworkersrc name=worker pipeline=\"spdlsrc location=%s epochs=-1 "
      "! spdlfetch ! spdldecode width=16 height=12 ! spdlbatch batch-size=4\" "
      "! appsink name=sink sync=false max-buffers=1",
      folder);
  WorkerTraces before;

  for (guint i = 0; i < n; i++) {
    worker_play (pipeline);
    if (i % 3 > 0)
      worker_drop_batches (pipeline, i % 7);
    gst_element_set_state (pipeline, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
    if (i == 4)
      before = worker_get_traces ();
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  worker_assert_traces (&before);
  worker_stop (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (worker, TEST (test_same), TEST (test_same_without_batches),
    TEST (test_growing), TEST (test_parts), TEST (test_kept),
    TEST (test_reused), TEST (test_no_start), TEST (test_error),
    TEST (test_two), TEST (test_late_source), TEST (test_cpu_budget),
    TEST (test_cycles))
