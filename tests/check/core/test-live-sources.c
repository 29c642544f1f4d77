/* gst-spdl: tests of sources that are added to a pipeline that plays
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

static const gchar pipeline_text[] =
    "spdlmix name=mix order=arrival ! spdlsink name=sink "
    "spdlsrc name=a location=%s/a.txt epochs=-1 ! mix. "
    "spdlsrc name=b location=%s/b.txt epochs=-1 ! mix. ";

static gchar *
make_lists (void)
{
  gchar *folder = files_make_folder ();

  files_write_text (folder, "a.txt", "a0\na1\na2\n");
  files_write_text (folder, "b.txt", "b0\nb1\nb2\nb3\n");
  files_write_text (folder, "c.txt", "c0\nc1\nc2\nc3\nc4\n");
  return folder;
}

typedef struct {
  GstElement *pipeline;
  GstElement *mix;
  GstElement *sink;
} Live;

static Live
make_live (const gchar *folder)
{
  g_autofree gchar *text = g_strdup_printf (pipeline_text, folder, folder);
  Live self = { gst_parse_launch (text, NULL) };

  fail_unless (self.pipeline != NULL);
  self.mix = gst_bin_get_by_name (GST_BIN (self.pipeline), "mix");
  self.sink = gst_bin_get_by_name (GST_BIN (self.pipeline), "sink");
  return self;
}

static void
free_live (Live *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->mix);
  gst_object_unref (self->sink);
  gst_object_unref (self->pipeline);
}

static void
add_source (Live *self, const gchar *folder, const gchar *name)
{
  g_autofree gchar *location = g_strdup_printf ("%s/%s.txt", folder, name);
  GstElement *source = gst_element_factory_make ("spdlsrc", name);

  g_object_set (source, "location", location, "epochs", (gint64) -1, NULL);
  gst_bin_add (GST_BIN (self->pipeline), source);
  fail_unless (gst_element_link (source, self->mix));
  fail_unless (gst_element_sync_state_with_parent (source));
}

/* A change of a source, made by a thread while another one pulls. */
typedef struct {
  Live *live;
  GstElement *source;
  const gchar *location; /* nullable */
  gint is_done;
} Change;

/* The pad of the mix comes first: it wakes the source's thread. */
static void
remove_now (Change *self)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (self->source, "src");
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad);

  gst_pad_set_active (peer, FALSE);
  gst_element_set_state (self->source, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (self->live->pipeline), self->source);
  gst_element_release_request_pad (self->live->mix, peer);
}

static gpointer
change_in_thread (gpointer data)
{
  Change *self = data;

  if (self->location) {
    gst_element_set_state (self->source, GST_STATE_READY);
    g_object_set (self->source, "location", self->location, NULL);
    gst_element_set_state (self->source, GST_STATE_PLAYING);
  } else {
    remove_now (self);
  }
  g_atomic_int_set (&self->is_done, TRUE);
  return NULL;
}

/* Removes the source, or changes its location. */
static void
change_source (Live *self, const gchar *name, const gchar *location)
{
  g_autoptr (GstElement) source =
      gst_bin_get_by_name (GST_BIN (self->pipeline), name);
  Change change = { self, source, location, FALSE };
  GThread *thread = g_thread_new ("change", change_in_thread, &change);

  while (!g_atomic_int_get (&change.is_done)) {
    g_autoptr (GstSample) sample = NULL;

    g_signal_emit_by_name (
        self->sink, "try-pull-sample", 10 * GST_MSECOND, &sample);
  }
  g_thread_join (thread);
}

static void
remove_source (Live *self, const gchar *name)
{
  change_source (self, name, NULL);
}

/* Pulls until an item of the list with that name has arrived, and returns the
 * number of its source. */
static guint32
pull_after (Live *self, const gchar *name, gint last)
{
  for (;;) {
    g_autoptr (GstSample) sample = NULL;
    g_autofree gchar *base = NULL;
    const GstSpdlItemMeta *item;

    g_signal_emit_by_name (self->sink, "pull-sample", &sample);
    fail_unless (sample != NULL);
    item = gst_spdl_buffer_get_item_meta (gst_sample_get_buffer (sample));
    base = g_path_get_basename (item->uri);
    if (g_str_has_prefix (base, name) && (gint) item->source > last)
      return item->source;
  }
}

static guint
pull_until (Live *self, const gchar *name)
{
  return pull_after (self, name, -1);
}

static gchar *
get_state (Live *self)
{
  gchar *state;

  g_object_get (self->sink, "resume-state", &state, NULL);
  return state;
}

static guint
count_warnings (Live *self)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* Sets the state of all sources of a pipeline in READY, and starts it. */
static void
assert_start (Live *self, const gchar *state, const gchar *problem)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  static const gchar *const names[] = { "a", "b", "c" };
  GstStateChangeReturn ret;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstElement) source =
        gst_bin_get_by_name (GST_BIN (self->pipeline), names[i]);

    if (source)
      g_object_set (source, "resume-state", state, NULL);
  }
  ret = gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (ret == GST_STATE_CHANGE_FAILURE, problem != NULL);
  if (problem) {
    g_autoptr (GstMessage) message =
        gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_autoptr (GError) error = NULL;

    gst_message_parse_error (message, &error, NULL);
    fail_unless (errors_has (error, problem), "%s", error->message);
  }
}

/* A source that takes the place of another one does not get a number that has
 * been used, so the states have all three. They are only accepted by a pipeline
 * that has them, too. */
GST_START_TEST (test_exchange)
{
  gchar *folder = make_lists ();
  Live live = make_live (folder);
  g_autofree gchar *state = NULL;

  gst_element_set_state (live.pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (pull_until (&live, "a"), 0);
  fail_unless_equals_int (pull_until (&live, "b"), 1);
  remove_source (&live, "a");
  add_source (&live, folder, "c");
  fail_unless_equals_int (pull_until (&live, "c"), 2);
  fail_unless_equals_int (pull_until (&live, "b"), 1);
  state = get_state (&live);
  fail_unless (strstr (state, "source=0,count=3,") != NULL, "%s", state);
  fail_unless (strstr (state, "source=1,count=4,") != NULL, "%s", state);
  fail_unless (strstr (state, "source=2,count=5,") != NULL, "%s", state);
  fail_unless_equals_int (count_warnings (&live), 0);
  free_live (&live);

  live = make_live (folder);
  assert_start (&live, state, "[resource-error settings]|source 2");
  gst_element_set_state (live.pipeline, GST_STATE_READY);
  add_source (&live, folder, "c");
  assert_start (&live, state, NULL);
  fail_unless_equals_int (pull_until (&live, "c"), 2);
  free_live (&live);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Numbers of removed sources are not given again before the next run, which
 * numbers what is there. */
GST_START_TEST (test_numbers)
{
  gchar *folder = make_lists ();
  Live live = make_live (folder);

  gst_element_set_state (live.pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (pull_until (&live, "b"), 1);
  add_source (&live, folder, "c");
  fail_unless_equals_int (pull_until (&live, "c"), 2);
  remove_source (&live, "c");
  add_source (&live, folder, "c");
  fail_unless_equals_int (pull_after (&live, "c", 2), 3);
  remove_source (&live, "a");
  remove_source (&live, "b");
  remove_source (&live, "c");
  add_source (&live, folder, "c");
  fail_unless_equals_int (pull_after (&live, "c", 3), 4);
  add_source (&live, folder, "b");
  fail_unless_equals_int (pull_after (&live, "b", 1), 5);

  gst_element_set_state (live.pipeline, GST_STATE_READY);
  gst_element_set_state (live.pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (pull_until (&live, "c"), 0);
  fail_unless_equals_int (pull_until (&live, "b"), 1);
  free_live (&live);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A source that continues with another dataset keeps its number, of which there
 * is no state then. */
GST_START_TEST (test_other_location)
{
  gchar *folder = make_lists ();
  Live live = make_live (folder);
  g_autofree gchar *location = g_strdup_printf ("%s/c.txt", folder);
  g_autofree gchar *state = NULL;

  gst_element_set_state (live.pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (pull_until (&live, "a"), 0);
  change_source (&live, "a", location);
  fail_unless_equals_int (pull_until (&live, "c"), 0);
  state = get_state (&live);
  fail_unless (state == NULL, "%s", state);
  fail_unless_equals_int (count_warnings (&live), 1);
  free_live (&live);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Items that no source has numbered do not count for an spdlsrc. */
GST_START_TEST (test_other_sources)
{
  gchar *folder = make_lists ();
  Run *run = run_pipeline (
      "spdlmix name=mix order=arrival ! fakesink name=sink "
      "spdlsrc location=%s/a.txt ! mix. "
      "fakesrc num-buffers=4 sizetype=fixed ! spdlteststage ! mix. "
      "spdlsrc location=%s/b.txt ! mix.",
      folder, folder);
  guint n[3] = { 0, 0, 0 };

  fail_unless (run->error == NULL, "%s", run->error);
  for (guint i = 0; i < run->buffers->len; i++) {
    const guint32 source = run_item (run, i)->source;

    fail_unless (source < G_N_ELEMENTS (n));
    n[source]++;
  }
  fail_unless_equals_int (n[0], 3);
  fail_unless_equals_int (n[1], 4);
  fail_unless_equals_int (n[2], 4);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (live_sources, TEST (test_exchange), TEST (test_numbers),
    TEST (test_other_location), TEST (test_other_sources))
