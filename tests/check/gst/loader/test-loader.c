/* gst-spdl: tests of the batches that a loader returns
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gst/spdl/engine/cpus.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"
#include "tests/check/support/suite.h"

#define FOREVER GST_CLOCK_TIME_NONE

/* Each epoch ends with NULL, and the last one is reported as the last. */
GST_START_TEST (test_epochs)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 3);

  loader_start (loader);
  for (guint epoch = 0; epoch < 3; epoch++) {
    fail_if (gst_spdl_loader_is_finished (loader));
    fail_unless_equals_int (loader_take (loader), 8);
    fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), epoch);
    fail_unless_equals_int (loader_take (loader), 8);
    fail_unless_equals_int (loader_take (loader), 4);
    fail_unless_equals_int (loader_take (loader), 0);
    fail_unless_equals_int (gst_spdl_loader_get_epoch (loader), epoch + 1);
  }
  fail_unless (gst_spdl_loader_is_finished (loader));
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (loader_take (loader), 0);
  fail_unless_equals_int (gst_spdl_loader_get_num_failures (loader), 0);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tensors and items of a batch. */
GST_START_TEST (test_batch)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 1);
  g_autoptr (GstSpdlTensor) data = NULL;
  g_autoptr (GstSpdlTensor) labels = NULL;
  g_autoptr (GstSpdlBatch) batch = NULL;
  g_autofree gint64 *numbers = NULL;
  g_autofree guint64 *indices = NULL;
  g_auto (GStrv) keys = NULL;
  const gint64 *shape;
  guint n;

  loader_start (loader);
  batch = gst_spdl_loader_next (loader, FOREVER, NULL);
  fail_unless_equals_int (gst_spdl_batch_get_n_tensors (batch), 2);
  fail_unless_equals_string (gst_spdl_batch_get_name (batch, 1), "labels");
  data = gst_spdl_batch_find_tensor (batch, "data");
  labels = gst_spdl_batch_dup_tensor (batch, 1);
  shape = gst_spdl_tensor_get_shape (data, &n);
  fail_unless (n == 4 && shape[0] == 8 && shape[1] == 12 && shape[2] == 16 &&
               shape[3] == 3);
  fail_unless_equals_string (gst_spdl_tensor_get_typestr (data), "|u1");
  fail_unless_equals_string (gst_spdl_tensor_get_typestr (labels), "<i8");
  fail_unless (gst_spdl_tensor_is_writable (data));
  fail_unless (gst_spdl_tensor_is_contiguous (data));

  numbers = gst_spdl_batch_dup_labels (batch, &n);
  fail_unless (n == 8 && memcmp (numbers, gst_spdl_tensor_get_address (labels),
                             8 * sizeof *numbers) == 0);
  indices = gst_spdl_batch_dup_indices (batch, &n);
  keys = gst_spdl_batch_dup_keys (batch);
  for (guint i = 0; i < 8; i++)
    fail_unless (indices[i] == i && g_str_has_suffix (keys[i], ".jpg"));
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

static gpointer
load_all (gpointer loader)
{
  guint n_items = 0, n;

  loader_start (loader);
  while (!gst_spdl_loader_is_finished (loader))
    while ((n = loader_take (loader)))
      n_items += n;
  return GUINT_TO_POINTER (n_items);
}

GST_START_TEST (test_two_loaders)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loaders[3];
  GThread *threads[3];

  for (guint i = 0; i < 3; i++) {
    loaders[i] = loader_make (LOADER_JOB, folder, 5);
    threads[i] = g_thread_new ("load", load_all, loaders[i]);
  }
  for (guint i = 0; i < 3; i++) {
    fail_unless_equals_int (GPOINTER_TO_UINT (g_thread_join (threads[i])), 100);
    g_object_unref (loaders[i]);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* A pipeline that the program created can be used by it again after the
 * stop. */
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

  loader_start (loader);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstSpdlBatch) batch =
        gst_spdl_loader_next (loader, FOREVER, NULL);

    fail_unless (batch != NULL);
  }
  fail_unless_equals_int (loader_take (loader), 0);
  g_object_unref (loader);
  fail_unless_equals_int (GST_STATE (pipeline), GST_STATE_NULL);
  gst_bus_post (bus, gst_message_new_application (GST_OBJECT (pipeline),
                         gst_structure_new_empty ("mine")));
  message = gst_bus_pop (bus);
  fail_unless (message != NULL);
  gst_message_unref (message);
  /* The same is true for its sink. */
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

/* What a loader restores */

static gboolean
has_handler (gpointer object)
{
  for (GType type = G_OBJECT_TYPE (object); type; type = g_type_parent (type)) {
    guint n;
    g_autofree guint *ids = g_signal_list_ids (type, &n);

    for (guint i = 0; i < n; i++)
      if (g_signal_handler_find (
              object, G_SIGNAL_MATCH_ID, ids[i], 0, NULL, NULL, NULL))
        return TRUE;
  }
  return FALSE;
}

/* Properties that are read-only show the results of a run. */
static void
describe_object (gpointer object, GString *text)
{
  guint n;
  g_autofree GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  g_string_append_printf (text, "%s: flags 0x%x%s\n", GST_OBJECT_NAME (object),
      GST_IS_PAD (object) ? 0 : GST_OBJECT_FLAGS (object),
      has_handler (object) ? ", handlers" : "");
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;
    g_autofree gchar *shown = NULL;

    if ((specs[i]->flags & G_PARAM_READWRITE) != G_PARAM_READWRITE &&
        !g_str_equal (specs[i]->name, "current-concurrency"))
      continue;
    g_value_init (&value, specs[i]->value_type);
    g_object_get_property (object, specs[i]->name, &value);
    if (!G_VALUE_HOLDS_BOXED (&value) || g_value_get_boxed (&value))
      shown = g_strdup_value_contents (&value);
    g_string_append_printf (text, "  %s %s\n", specs[i]->name, shown);
    g_value_unset (&value);
  }
}

static void
describe_element (GstElement *element, GString *text)
{
  describe_object (element, text);
  g_string_append_printf (text, "  state %d\n", GST_STATE (element));
  for (GList *l = element->pads; l; l = l->next) {
    GstPad *pad = l->data, *peer = gst_pad_get_peer (pad);

    describe_object (pad, text);
    g_string_append_printf (
        text, "  peer %p, probes %d\n", peer, pad->num_probes);
    gst_clear_object (&peer);
  }
  if (GST_IS_BIN (element))
    for (GList *l = GST_BIN_CHILDREN (element); l; l = l->next)
      describe_element (l->data, text);
}

/* Describes a pipeline that no thread uses, and its bus. */
static gchar *
describe_pipeline (GstElement *pipeline)
{
  GString *text = g_string_new (NULL);
  GstBus *bus = gst_element_get_bus (pipeline);

  describe_element (pipeline, text);
  g_string_append_printf (text, "bus %p, flags 0x%x, messages %d\n", bus,
      GST_OBJECT_FLAGS (bus), gst_bus_have_pending (bus));
  gst_object_unref (bus);
  return g_string_free (text, FALSE);
}

static GstBusSyncReply
count_messages (GstBus *bus, GstMessage *message, gpointer n)
{
  g_atomic_int_inc ((gint *) n);
  return GST_BUS_PASS;
}

static GstSpdlLoader *
make_for (GstElement *pipeline)
{
  g_autoptr (GError) error = NULL;
  GstSpdlLoader *loader =
      gst_spdl_loader_new_from_pipeline (GST_PIPELINE (pipeline), &error);

  g_assert_no_error (error);
  return loader;
}

static void
use_again (GstSpdlLoader *loader)
{
  loader_start (loader);
  fail_unless (loader_take (loader) > 0);
  fail_unless (gst_spdl_loader_next_epoch (loader, NULL));
  fail_unless (loader_take (loader) > 0);
  gst_spdl_loader_stop (loader);
  loader_start (loader);
  fail_unless (loader_take (loader) > 0);
}

static void
push_items (GstSpdlLoader *loader)
{
  for (guint run = 0; run < 2; run++) {
    g_autoptr (GBytes) item = g_bytes_new_static ("12", 2);
    g_autoptr (GstCaps) caps = gst_caps_from_string (
        "other/tensors,format=static,num_tensors=1,types=(string)uint8,"
        "dimensions=(string)2,framerate=0/1");

    loader_start (loader);
    fail_unless (gst_spdl_loader_push_bytes (
        loader, item, caps, -1, NULL, FOREVER, NULL));
    fail_unless_equals_int (loader_take (loader), 1);
    gst_spdl_loader_stop (loader);
  }
}

static void
set_all (GstSpdlLoader *loader)
{
  static const gchar *const classes[] = { "a", "b", NULL };

  gst_spdl_loader_set_default_epochs (loader, -1);
  gst_spdl_loader_set_default_epochs (loader, 5);
  gst_spdl_loader_set_default_rank (loader, 0, 2);
  fail_unless (gst_spdl_loader_set_classes (loader, classes, NULL));
  fail_unless (gst_spdl_loader_restore_state (loader, "spdl1;", NULL));
  g_object_set (loader, "cpu-budget", 0.5, NULL);
}

static void
set_and_use (GstSpdlLoader *loader)
{
  gst_spdl_loader_set_default_epochs (loader, -1);
  gst_spdl_loader_set_default_rank (loader, 0, 1);
  use_again (loader);
}

static void
do_nothing (GstSpdlLoader *loader)
{
}

/* A loader leaves a pipeline as it was: its elements with all properties,
 * flags, handlers, links and probes, and its bus. */
GST_START_TEST (test_restores)
{
  static const struct {
    const gchar *description; /* %s: a folder */
    void (*use) (GstSpdlLoader *loader);
  } cases[] = {
    { "spdlsrc location=%s ! spdlsink", do_nothing },
    { "spdlsrc location=%s epochs=4 ! spdlfetch ! tee name=t ! queue "
      "! bin.( spdldecode width=8 height=8 ) ! spdlbatch batch-size=4 "
      "! spdlsink t. ! queue ! spdldecode ! fakesink",
        use_again },
    { "spdlsrc location=%s epochs=4 ! spdlfetch "
      "! spdldecode width=8 height=8 ! spdlbatch batch-size=4 "
      "! spdlsink async=false",
        set_and_use },
    { "spdlbatch batch-size=1 ! spdlsink", push_items },
    { "spdlsrc location=%s ! spdlsink", set_all },
    { "spdlworkersrc ! spdlsink", set_all },
  };
  gchar *folder = files_make_dataset (20);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint plays = 0; plays < 2; plays++) {
      g_auto (GStrv) parts = g_strsplit (cases[i].description, "%s", 2);
      g_autofree gchar *description = g_strjoinv (folder, parts);
      GstElement *pipeline = gst_parse_launch (description, NULL);
      GstBus *bus = gst_element_get_bus (pipeline);
      gint n_messages = 0, n_used; /* atomic */
      g_autofree gchar *before = NULL;
      g_autofree gchar *after = NULL;
      GstSpdlLoader *loader;

      gst_bus_set_sync_handler (bus, count_messages, &n_messages, NULL);
      before = describe_pipeline (pipeline);
      loader = make_for (pipeline);
      cases[i].use (loader);
      /* The program may use the pipeline before the loader is gone. */
      if (plays) {
        gst_spdl_loader_stop (loader);
        n_used = g_atomic_int_get (&n_messages);
        gst_element_set_state (pipeline, GST_STATE_PAUSED);
        fail_unless (g_atomic_int_get (&n_messages) > n_used);
      }
      g_object_unref (loader);
      if (plays) {
        gst_element_set_state (pipeline, GST_STATE_NULL);
        gst_bus_set_flushing (bus, FALSE);
      }
      after = describe_pipeline (pipeline);
      fail_unless_equals_string (after, before);
      gst_object_unref (bus);
      gst_object_unref (pipeline);
    }
  files_remove_folder (folder);
}

GST_END_TEST;

/* The bus of a program */

/* Makes a pipeline of the JPEGs of a folder. */
static GstElement *
make_jpegs (const gchar *folder)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch ! spdldecode width=8 height=8 "
      "! spdlbatch batch-size=4 ! spdlsink",
      folder);

  return gst_parse_launch (description, NULL);
}

/* Returns the number of items. */
static guint
take_epoch (GstSpdlLoader *loader)
{
  guint n, all = 0;

  while ((n = loader_take (loader)) > 0)
    all += n;
  return all;
}

static GstBusSyncReply
note_type (GstBus *bus, GstMessage *message, gpointer types)
{
  g_atomic_int_or ((guint *) types, GST_MESSAGE_TYPE (message));
  return GST_BUS_PASS;
}

static void
note_async (GstBus *bus, GstMessage *message, gpointer types)
{
  note_type (bus, message, types);
}

/* The program gets all messages of a run: on the bus, in its sync handler and
 * in its handlers of signals, also if it adds them during the run. */
GST_START_TEST (test_bus)
{
  const guint expected = GST_MESSAGE_STATE_CHANGED | GST_MESSAGE_ELEMENT |
                         GST_MESSAGE_STREAM_STATUS | GST_MESSAGE_WARNING;
  gchar *folder = files_make_dataset (20);
  GstElement *pipeline;
  GstSpdlLoader *loader;
  guint in_handler = 0, in_signal = 0, on_bus = 0, seen; /* atomic */
  GstBus *bus, *now;
  GstMessage *message;
  gulong id;

  files_write_text (folder, "bad.jpg", "no JPEG");
  pipeline = make_jpegs (folder);
  loader = make_for (pipeline);
  bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, note_type, &in_handler, NULL);
  loader_start (loader);
  now = gst_element_get_bus (pipeline);
  fail_unless (now == bus);
  gst_bus_enable_sync_message_emission (bus);
  id = g_signal_connect (
      bus, "sync-message", G_CALLBACK (note_async), &in_signal);
  fail_unless_equals_int (take_epoch (loader), 20);
  while ((message = gst_bus_pop (bus))) {
    on_bus |= GST_MESSAGE_TYPE (message);
    gst_message_unref (message);
  }
  fail_unless_equals_int (gst_spdl_loader_get_num_failures (loader), 1);
  fail_unless ((on_bus & expected) == expected, "%x", on_bus);
  seen = g_atomic_int_get (&in_handler);
  fail_unless ((seen & expected) == expected, "%x", seen);
  gst_spdl_loader_stop (loader);
  g_object_unref (loader);
  /* Handlers of the program stay. */
  fail_unless (g_signal_handler_is_connected (bus, id));
  g_atomic_int_set (&in_handler, 0);
  g_atomic_int_set (&in_signal, 0);
  gst_element_set_state (pipeline, GST_STATE_READY);
  fail_unless (g_atomic_int_get (&in_handler) & GST_MESSAGE_STATE_CHANGED);
  fail_unless (g_atomic_int_get (&in_signal) & GST_MESSAGE_STATE_CHANGED);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (now);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

static GstBusSyncReply
drop_all (GstBus *bus, GstMessage *message, gpointer user_data)
{
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* A handler that drops all messages would hide errors from the loader. */
GST_START_TEST (test_bus_that_drops)
{
  gchar *folder = files_make_dataset (20);
  GstElement *pipeline = make_jpegs (folder);
  GstSpdlLoader *loader = make_for (pipeline);
  GstBus *bus = gst_element_get_bus (pipeline);
  GError *error = NULL;

  gst_bus_set_sync_handler (bus, drop_all, NULL, NULL);
  fail_if (gst_spdl_loader_start (loader, &error));
  g_assert_error (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_PIPELINE);
  g_clear_error (&error);
  fail_unless_equals_int (GST_STATE (pipeline), GST_STATE_NULL);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  loader_start (loader);
  fail_unless_equals_int (take_epoch (loader), 20);
  g_object_unref (loader);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A program that does not read its bus keeps the last 10,000 messages. */
GST_START_TEST (test_bus_that_is_not_read)
{
  gchar *folder = files_make_dataset (20);
  GstElement *pipeline = make_jpegs (folder);
  GstSpdlLoader *loader = make_for (pipeline);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message, *last = NULL;
  guint n = 0;

  loader_start (loader);
  fail_unless_equals_int (take_epoch (loader), 20);
  for (guint i = 0; i < 10100; i++)
    gst_bus_post (
        bus, gst_message_new_application (GST_OBJECT (pipeline),
                 gst_structure_new ("mine", "number", G_TYPE_UINT, i, NULL)));
  for (; (message = gst_bus_pop (bus)); n++)
    gst_message_take (&last, message);
  fail_unless_equals_int (n, 10000);
  fail_unless (
      gst_structure_get_uint (gst_message_get_structure (last), "number", &n));
  fail_unless_equals_int (n, 10099);
  gst_message_unref (last);
  g_object_unref (loader);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A property that the program sets after the loader keeps its value, also if
 * the loader has set the same value. */
GST_START_TEST (test_restores_own_only)
{
  GstElement *pipeline =
      gst_parse_launch ("spdlsrc name=source ! spdlfetch ! spdldecode "
                        "name=decode ! tee name=t ! queue "
                        "! spdlsink name=sink t. ! queue ! fakesink name=other",
          NULL);
  GstBin *bin = GST_BIN (pipeline);
  GstElement *source = gst_bin_get_by_name (bin, "source");
  GstElement *decode = gst_bin_get_by_name (bin, "decode");
  GstElement *sink = gst_bin_get_by_name (bin, "sink");
  GstElement *other = gst_bin_get_by_name (bin, "other");
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader;
  gint64 epochs;
  gint rank, world_size;
  guint concurrency;
  gboolean async, other_async;

  g_object_set (source, "location", folder, NULL);
  loader = make_for (pipeline);
  gst_spdl_loader_set_default_epochs (loader, 3);
  gst_spdl_loader_set_default_rank (loader, 0, 2);
  g_object_get (sink, "async", &async, NULL);
  fail_unless (async);
  loader_start (loader);
  g_object_get (sink, "async", &async, NULL);
  g_object_get (other, "async", &other_async, NULL);
  fail_if (async || other_async);
  g_object_set (sink, "async", FALSE, NULL);
  g_object_set (source, "epochs", (gint64) 3, "rank", 1, NULL);
  g_object_set (decode, "concurrency", 2, NULL);
  gst_spdl_loader_stop (loader);
  g_object_get (sink, "async", &async, NULL);
  g_object_get (other, "async", &other_async, NULL);
  fail_unless (!async && other_async);
  g_object_unref (loader);
  g_object_get (source, "epochs", &epochs, "rank", &rank, "world-size",
      &world_size, NULL);
  g_object_get (decode, "concurrency", &concurrency, NULL);
  fail_unless_equals_int64 (epochs, 3);
  fail_unless (rank == 1 && world_size == -1 && concurrency == 2);
  gst_object_unref (other);
  gst_object_unref (sink);
  gst_object_unref (decode);
  gst_object_unref (source);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

static gint64
get_epochs (GstSpdlLoader *loader, const gchar *name)
{
  GstPipeline *pipeline = gst_spdl_loader_get_pipeline (loader);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  gint64 epochs;

  g_object_get (element, "epochs", &epochs, NULL);
  gst_object_unref (element);
  return epochs;
}

/* Default number of epochs of a description without the property, also inside
 * of a string. */
GST_START_TEST (test_default_epochs)
{
  static const struct {
    const gchar *description;
    gint64 epochs;
  } cases[] = {
    { "spdlsrc name=s ! spdlsink", -1 },
    { "spdlsrc name=s location=epochs=2.txt ! spdlsink", -1 },
    { "spdlsrc name=s epochs=2 ! spdlsink", 2 },
    { "spdlsrc name=s epochs = 1 ! spdlsink", 1 },
    { "spdlworkersrc name=s pipeline=\"spdlsrc\" ! spdlsink", -1 },
    { "spdlworkersrc name=s pipeline=\"spdlsrc epochs=2\" ! spdlsink", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    GstSpdlLoader *loader = gst_spdl_loader_new (cases[i].description, &error);

    g_assert_no_error (error);
    gst_spdl_loader_set_default_epochs (loader, -1);
    fail_unless_equals_int64 (get_epochs (loader, "s"), cases[i].epochs);
    g_object_unref (loader);
  }
}

GST_END_TEST;

/* The sink stays in this process, wherever it is in the description. */
GST_START_TEST (test_in_process)
{
  static const struct {
    const gchar *description, *rest, *sink;
  } cases[] = {
    { "a ! b ! spdlsink", "a ! b ", "spdlsink0" },
    { "a x=\"!\" !spdlsink name=s max-buffers=3  c ! m.", "a x=\"!\"   c ! m.",
        "s" },
    { "a ! spdlsink name=\"a b\"", "a ", "a b" },
  };
  static const gchar *const bad[] = { "spdlsrc ! spdlbatch",
    "a ! spdlsink b ! spdlsink", "spdlsink" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    GstSpdlLoader *loader =
        gst_spdl_loader_new_in_process (cases[i].description, "nice=7", &error);
    GstBin *pipeline = GST_BIN (gst_spdl_loader_get_pipeline (loader));
    GstElement *worker = gst_bin_get_by_name (pipeline, "worker");
    g_autofree gchar *rest = NULL;
    gint nice;

    g_assert_no_error (error);
    g_object_get (worker, "pipeline", &rest, "nice", &nice, NULL);
    fail_unless_equals_int (nice, 7);
    fail_unless_equals_string (rest, cases[i].rest);
    fail_unless_equals_int (GST_BIN_NUMCHILDREN (pipeline), 2);
    if (i > 0) {
      GstElement *sink = gst_bin_get_by_name (pipeline, cases[i].sink);

      fail_unless (sink != NULL);
      gst_object_unref (sink);
    }
    gst_object_unref (worker);
    g_object_unref (loader);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GError *error = NULL;

    fail_unless (gst_spdl_loader_new_in_process (bad[i], NULL, &error) == NULL);
    g_assert_error (
        error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_PIPELINE);
    g_error_free (error);
  }
}

GST_END_TEST;

#define UNKNOWN G_MAXUINT64

/* Number of batches per epoch: of 20 files, and of items that the program
 * pushes. */
GST_START_TEST (test_num_batches)
{
  const struct {
    const gchar *elements;
    gboolean files;
    guint64 pushed, n;
  } cases[] = {
    { "! spdlbatch batch-size=8", TRUE, 0, 3 },
    { "! spdlbatch batch-size=8 drop-last=true", TRUE, 0, 2 },
    { "! queue ! identity ! identity", TRUE, 0, 20 },
    { "! bin.( spdlbatch batch-size=20 )", TRUE, 0, 1 },
    { "! spdlpipe chain=identity", TRUE, 0, UNKNOWN },
    { "! spdlbatch batch-size=2 ! spdlbatch", TRUE, 0, UNKNOWN },
    { "! spdlaggregate size=3 ! spdldisaggregate", TRUE, 0, 20 },
    { "! spdlaggregate drop-last=true ! spdldisaggregate", TRUE, 0, UNKNOWN },
    { "spdlbatch batch-size=7", FALSE, 15, 3 },
    { "spdlbatch batch-size=7", FALSE, UNKNOWN, UNKNOWN },
  };
  gchar *folder = files_make_dataset (20);
  g_autofree gchar *source =
      g_strdup_printf ("spdlsrc location=%s ! spdlfetch ! spdldecode", folder);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstSpdlLoader *loader = loader_make (
        "%s %s ! spdlsink", cases[i].files ? source : "", cases[i].elements);

    loader_start (loader);
    fail_unless_equals_uint64 (
        gst_spdl_loader_get_num_batches (loader, cases[i].pushed), cases[i].n);
    g_object_unref (loader);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* The default rank applies to sources without a rank. */
GST_START_TEST (test_default_rank)
{
  const struct {
    const gchar *properties;
    gint rank, world_size;
  } cases[] = {
    { "", 1, 4 },
    { "rank=0", 0, 4 },
    { "rank=2 world-size=3", 2, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *description = g_strdup_printf (
        "spdlsrc name=source %s ! spdlsink", cases[i].properties);
    GstSpdlLoader *loader = gst_spdl_loader_new (description, NULL);
    GstElement *source = gst_bin_get_by_name (
        GST_BIN (gst_spdl_loader_get_pipeline (loader)), "source");
    gint rank, world_size;

    gst_spdl_loader_set_default_rank (loader, 1, 4);
    g_object_get (source, "rank", &rank, "world-size", &world_size, NULL);
    fail_unless_equals_int (rank, cases[i].rank);
    fail_unless_equals_int (world_size, cases[i].world_size);
    gst_object_unref (source);
    g_object_unref (loader);
  }
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
  GstSpdlLoader *loader = loader_make (
      "spdlsrc location=%s ! spdlfetch name=fetch "
      "! bin.( spdldecode name=unset ! spdlteststage concurrency=1 name=set ) "
      "! spdlsink",
      folder);

  fail_unless_equals_int (get_concurrency (loader, "unset"), 1);
  loader_start (loader);
  fail_unless_equals_int (get_concurrency (loader, "fetch"), 16);
  fail_unless_equals_int (
      get_concurrency (loader, "unset"), gst_spdl_get_num_cores ());
  fail_unless_equals_int (get_concurrency (loader, "set"), 1);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Simulates a quota of @cores on a machine with 64. */
static gchar *
set_quota (const gchar *cores)
{
  gchar *root = files_make_folder ();
  g_autofree gchar *quota = g_strconcat (cores, "00000 100000\n", NULL);

  files_write_text (root, "proc/self/cgroup", "0::/\n");
  files_write_text (root, "sys/fs/cgroup/cpu.max", quota);
  spdl_cpus_pretend (root, 64);
  return root;
}

/* With a quota of 4 cores on a machine with 64, fewer than 64 decoders
 * start. */
GST_START_TEST (test_quota)
{
  gchar *folder = files_make_dataset (3), *root = set_quota ("4");
  GstSpdlLoader *loader =
      loader_make ("spdlsrc location=%s ! spdlfetch ! spdldecode name=unset "
                   "! spdldecode name=automatic concurrency=0 ! spdlsink",
          folder);
  GstElement *automatic = gst_bin_get_by_name (
      GST_BIN (gst_spdl_loader_get_pipeline (loader)), "automatic");
  guint concurrency;

  fail_unless_equals_int (gst_spdl_get_num_cores (), 4);
  g_object_get (automatic, "current-concurrency", &concurrency, NULL);
  fail_unless_equals_int (concurrency, 4);
  loader_start (loader);
  fail_unless_equals_int (get_concurrency (loader, "unset"), 4);
  gst_object_unref (automatic);
  g_object_unref (loader);
  spdl_cpus_pretend (NULL, 0);
  files_remove_folder (root);
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
  g_autoptr (GstSpdlDiagnosis) diagnosis = gst_spdl_loader_diagnose (loader);
  if (gst_spdl_diagnosis_get_limit (diagnosis) != GST_SPDL_LIMIT_TOO_FEW)
    return 4;
  g_object_unref (loader);
  return 42;
}

/* A forked child gets an error with advice, and the parent's loader is
 * unaffected. */
GST_START_TEST (test_fork)
{
  gchar *folder = files_make_dataset (20);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 20);
  guint n_items = 0, n;
  int status;
  pid_t pid;

  loader_start (loader);
  for (guint i = 0; i < 10; i++) {
    n_items += loader_take (loader);
    pid = fork ();
    if (pid == 0)
      _exit (use_in_child (loader));
    fail_unless (waitpid (pid, &status, 0) == pid);
    fail_unless (
        WIFEXITED (status) && WEXITSTATUS (status) == 42, "%x", status);
  }
  while (!gst_spdl_loader_is_finished (loader))
    while ((n = loader_take (loader)))
      n_items += n;
  fail_unless_equals_int (n_items, 400);
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

/* wait() reports everything that next() would, and takes no batch. */
GST_START_TEST (test_wait)
{
  gchar *folder = files_make_dataset (8);
  GstSpdlLoader *loader = loader_make (LOADER_JOB, folder, 1);
  GstSpdlLoader *fed = loader_make ("identity ! spdlbatch ! spdlsink");

  fail_unless (gst_spdl_loader_wait (loader, 0));
  loader_assert_next_fails (loader, GST_SPDL_LOADER_ERROR_NOT_STARTED);
  loader_start (loader);
  for (guint i = 0; i < 3; i++)
    fail_unless (gst_spdl_loader_wait (loader, FOREVER));
  fail_unless_equals_int (loader_take (loader), 8);
  fail_unless (gst_spdl_loader_wait (loader, FOREVER));
  fail_unless_equals_int (loader_take (loader), 0);
  fail_unless (gst_spdl_loader_is_finished (loader));
  fail_unless (gst_spdl_loader_wait (loader, 0));
  gst_spdl_loader_stop (loader);
  fail_unless (gst_spdl_loader_wait (loader, 0));
  loader_assert_next_fails (loader, GST_SPDL_LOADER_ERROR_STOPPED);
  g_object_unref (loader);

  /* Nothing was pushed. */
  loader_start (fed);
  fail_if (gst_spdl_loader_wait (fed, 0));
  fail_if (gst_spdl_loader_wait (fed, GST_MSECOND));
  gst_spdl_loader_end_source (fed, NULL, NULL);
  fail_unless (gst_spdl_loader_wait (fed, FOREVER));
  fail_unless_equals_int (loader_take (fed), 0);
  g_object_unref (fed);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (loader, TIMEOUT (180), TEST (test_epochs), TEST (test_wait),
    TEST (test_batch), TEST (test_two_loaders), TEST (test_own_pipeline),
    TEST (test_restores), TEST (test_bus), TEST (test_bus_that_drops),
    TEST (test_bus_that_is_not_read), TEST (test_restores_own_only),
    TEST (test_default_epochs), TEST (test_in_process), TEST (test_num_batches),
    TEST (test_default_rank), TEST (test_concurrency), TEST (test_quota),
    TEST (test_fork))
