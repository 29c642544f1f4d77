/* gst-spdl: tests of spdlmix
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

/* Thread switches are ten times as expensive under ThreadSanitizer. */
#ifdef __SANITIZE_THREAD__
#define MANY 7000
#else
#define MANY 70000
#endif

/* Makes lists of URIs, which do not exist. */
static gchar *
make_lists (void)
{
  static const guint sizes[] = { 1, 3, 5, 10, 40, 100, MANY };
  gchar *folder = files_make_folder ();

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    g_autofree gchar *name = g_strdup_printf ("%u.txt", sizes[s]);
    g_autoptr (GString) text = g_string_new (NULL);

    for (guint i = 0; i < sizes[s]; i++)
      g_string_append_printf (text, "%u\t%u\n", i, i % 7);
    files_write_text (folder, name, text->str);
  }
  return folder;
}

/* Output of a mix, as letters: the source number for an item, groups in
 * brackets, `e` for the end of a source's epoch, or `E` if it is also that of
 * the mix, `x` for dropped items, and a full stop at the end. */
typedef struct {
  GString *log;
  GString *error;
  guint n_items;
} Mixed;

static void
note_item (Mixed *mixed, GstBuffer *buffer)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  mixed->n_items++;
  g_string_append_c (mixed->log, item ? '0' + item->source : '?');
}

static void
note_event (Mixed *mixed, GstEvent *event)
{
  gboolean partial = FALSE;

  if (gst_spdl_event_parse_epoch (event, NULL, NULL, NULL)) {
    gst_structure_get_boolean (
        gst_event_get_structure (event), "partial", &partial);
    g_string_append_c (mixed->log, partial ? 'e' : 'E');
  } else if (gst_spdl_event_parse_items_dropped (
                 event, NULL, NULL, NULL, NULL, NULL)) {
    g_string_append_c (mixed->log, 'x');
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    g_string_append_c (mixed->log, '.');
  }
}

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Mixed *mixed = user_data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    note_item (mixed, GST_PAD_PROBE_INFO_BUFFER (info));
  } else if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);

    g_string_append_c (mixed->log, '[');
    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      note_item (mixed, gst_buffer_list_get (list, i));
    g_string_append_c (mixed->log, ']');
  } else {
    note_event (mixed, GST_PAD_PROBE_INFO_EVENT (info));
  }
  return GST_PAD_PROBE_OK;
}

static GstElement *
parse (const gchar *description, Mixed *mixed)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch_full (
      description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_autoptr (GstElement) mix = NULL;
  g_autoptr (GstPad) pad = NULL;

  fail_unless (
      pipeline != NULL, "%s: %s", description, error ? error->message : "");
  mixed->log = g_string_new (NULL);
  mixed->error = g_string_new (NULL);
  mixed->n_items = 0;
  mix = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  pad = gst_element_get_static_pad (mix, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST |
          GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_data, mixed, NULL);
  return pipeline;
}

static void
note_error (Mixed *mixed, GstMessage *message)
{
  g_autoptr (GError) error = NULL;

  gst_message_parse_error (message, &error, NULL);
  g_string_append (mixed->error, error->message);
}

/* Plays until EOS or an error. */
static void
play (GstElement *pipeline, Mixed *mixed)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 100 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "no end behind %s", mixed->log->str);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    note_error (mixed, message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
mixed_clear (Mixed *mixed)
{
  g_string_free (mixed->log, TRUE);
  g_string_free (mixed->error, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Mixed, mixed_clear)

G_GNUC_PRINTF (2, 3)
static void
run (Mixed *mixed, const gchar *format, ...)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  va_list args;

  va_start (args, format);
  description = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = parse (description, mixed);
  play (pipeline, mixed);
}

static guint
count (const Mixed *mixed, gchar letter)
{
  guint n = 0;

  for (const gchar *at = mixed->log->str; *at; at++)
    n += *at == letter;
  return n;
}

/* Checks that each prefix has the documented proportions. */
static guint64
check_shares (const gchar *log, const double *shares)
{
  guint64 counts[3] = { 0 }, n = 0;

  for (; *log; log++) {
    if (*log < '0' || *log > '2')
      continue;
    counts[*log - '0']++;
    n++;
    for (guint i = 0; i < 3; i++)
      fail_unless (fabs (counts[i] - shares[i] * n) < 1 + shares[i],
          "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " are of %u", counts[i],
          n, i);
  }
  return n;
}

#define THREE                                                            \
  "spdlmix name=m stopping-strategy=first-exhausted seed=%d "            \
  "sink_0::weight=0.7 "                                                  \
  "sink_1::weight=0.2 sink_2::weight=0.1 ! fakesink "                    \
  "spdlsrc location=%s/%s.txt ! %s m.sink_0 spdlsrc location=%s/%s.txt " \
  "! %s m.sink_1 spdlsrc location=%s/%s.txt ! %s m.sink_2"

/* 10^5 items in the same order, independent of the speed of the sources. */
GST_START_TEST (test_proportions)
{
  static const double shares[] = { 0.7, 0.2, 0.1 };
  gchar *folder = make_lists ();
  g_auto (Mixed) one = { 0 }, again = { 0 }, other = { 0 };
  const gchar *s = G_STRINGIFY (MANY);

  run (&one, THREE, 1, folder, s, "", folder, s, "", folder, s, "");
  fail_unless (check_shares (one.log->str, shares) > MANY * 10 / 7 - 5);
  run (&again, THREE, 1, folder, s, "queue !", folder, s, "", folder, s,
      "queue max-size-buffers=1 !");
  fail_unless_equals_string (one.log->str, again.log->str);
  s = "100";
  run (&other, THREE, 2, folder, s, "", folder, s, "", folder, s, "");
  check_shares (other.log->str, shares);
  fail_if (strncmp (one.log->str, other.log->str, 100) == 0);
  files_remove_folder (folder);
}

GST_END_TEST;

/* One source is a thousand times slower than the others. */
GST_START_TEST (test_speeds)
{
  static const gchar *const ways[] = { "",
    "spdlteststage sleep=500000 concurrency=2 output-order=input !" };
  gchar *folder = make_lists ();
  g_autofree gchar *first = NULL;

  for (guint i = 0; i < 4; i++) {
    g_auto (Mixed) mixed = { 0 };

    run (&mixed, THREE, 3, folder, "100", ways[i == 1], folder, "100",
        ways[i == 2], folder, "40", ways[i == 3]);
    fail_unless_equals_string (mixed.error->str, "");
    if (!first)
      first = g_strdup (mixed.log->str);
    fail_unless_equals_string (mixed.log->str, first);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

#define TWO                                                            \
  "spdlmix name=m %s ! fakesink spdlsrc location=%s/%s.txt epochs=%d " \
  "! m.sink_0 spdlsrc location=%s/%s.txt epochs=%d ! m.sink_1"

/* An epoch has all items of each source; when one has ended, the others
 * continue. */
GST_START_TEST (test_all)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };
  g_auto (Mixed) longer = { 0 };
  const gchar *at;

  run (&mixed, TWO, "seed=5", folder, "40", 2, folder, "100", 2);
  fail_unless_equals_int (mixed.n_items, 280);
  at = mixed.log->str;
  for (guint epoch = 0; epoch < 2; epoch++, at += 142) {
    fail_unless_equals_int (strspn (at, "01"), 140);
    fail_unless (g_str_has_prefix (at + 140, "eE"));
  }
  fail_unless_equals_string (at, ".");
  /* The orders of the two epochs differ. */
  fail_if (strncmp (mixed.log->str, mixed.log->str + 142, 140) == 0);

  run (&longer, TWO, "", folder, "3", 1, folder, "5", 3);
  fail_unless_equals_int (count (&longer, '0'), 3);
  fail_unless (g_str_has_suffix (longer.log->str, "eE11111E11111E."), "%s",
      longer.log->str);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_first)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };
  g_auto (Mixed) longer = { 0 };

  run (&mixed, TWO, "stopping-strategy=first-exhausted", folder, "5", 1, folder,
      "100", 1);
  fail_unless_equals_int (count (&mixed, '0'), 5);
  fail_unless (count (&mixed, '1') >= 4 && count (&mixed, '1') <= 6);
  fail_unless (g_str_has_suffix (mixed.log->str, "E."), "%s", mixed.log->str);

  /* The source that is ahead determines the ends of epochs, without waiting. */
  run (&longer, TWO, "stopping-strategy=first-exhausted sink_0::weight=3",
      folder, "5", 4, folder, "5", 4);
  fail_unless_equals_int (count (&longer, '0'), 20);
  fail_unless_equals_int (count (&longer, 'E'), 4);
  fail_unless_equals_int (count (&longer, 'e'), 1);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_repeat)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };
  g_auto (Mixed) finite = { 0 };

  /* Two passes over the larger source, with the same number of items from the
   * smaller one. */
  run (&mixed, TWO, "stopping-strategy=all-exhausted", folder, "3", -1, folder,
      "10", 2);
  fail_unless_equals_int (count (&mixed, '1'), 20);
  fail_unless (count (&mixed, '0') >= 19 && count (&mixed, '0') <= 21);
  fail_unless_equals_int (count (&mixed, 'E'), 2);
  fail_unless (g_str_has_suffix (mixed.log->str, "E."), "%s", mixed.log->str);

  /* If a source does not repeat, the other one continues alone. */
  run (&finite, TWO, "stopping-strategy=all-exhausted", folder, "3", 1, folder,
      "10", 5);
  fail_unless_equals_int (count (&finite, '0'), 3);
  fail_unless_equals_int (count (&finite, '1'), 10);
  fail_unless (
      g_str_has_suffix (finite.log->str, "1E."), "%s", finite.log->str);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_arrival)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };

  run (&mixed, TWO, "order=arrival", folder, "40", 3, folder, "100", 3);
  fail_unless_equals_int (count (&mixed, '0'), 120);
  fail_unless_equals_int (count (&mixed, '1'), 300);
  fail_unless_equals_int (count (&mixed, 'E'), 3);
  for (const gchar *at = mixed.log->str; *at != '.'; at += 142)
    fail_unless_equals_int (strspn (at, "01"), 140);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Ranks without items have epochs as well. */
GST_START_TEST (test_empty)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };

  run (&mixed,
      "spdlmix name=m ! fakesink spdlsrc location=%s/1.txt epochs=3 rank=1 "
      "world-size=2 shard-mode=uneven ! m. "
      "spdlsrc location=%s/3.txt epochs=3 ! m.",
      folder, folder);
  fail_unless_equals_string (mixed.log->str, "111eE111eE111eE.");
  files_remove_folder (folder);
}

GST_END_TEST;

/* A mix of mixes numbers all sources, and has a common end of an epoch. */
GST_START_TEST (test_nested)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };

  run (&mixed,
      "spdlsrc location=%s/3.txt epochs=2 ! n. "
      "spdlsrc location=%s/5.txt epochs=2 ! n. "
      "spdlmix name=n ! queue ! m. "
      "spdlsrc location=%s/10.txt epochs=2 ! m. spdlmix name=m ! fakesink",
      folder, folder, folder);
  fail_unless_equals_int (count (&mixed, '0'), 6);
  fail_unless_equals_int (count (&mixed, '1'), 10);
  fail_unless_equals_int (count (&mixed, '2'), 20);
  fail_unless_equals_int (count (&mixed, 'E'), 2);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A group counts as its number of items, and is preserved. */
GST_START_TEST (test_groups)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };
  guint counts[2] = { 0 }, n = 0;

  run (&mixed,
      "spdlsrc location=%s/100.txt ! spdlaggregate size=4 ! m.sink_0 "
      "spdlsrc location=%s/" G_STRINGIFY (
          MANY) ".txt ! m.sink_1 "
                "spdlmix name=m stopping-strategy=first-exhausted "
                "sink_1::weight=3 ! fakesink",
      folder, folder);
  fail_unless_equals_int (count (&mixed, '['), 25);
  for (const gchar *at = mixed.log->str; *at != 'E'; at++) {
    if (*at == '[')
      fail_unless (g_str_has_prefix (at, "[0000]"));
    if (*at != '0' && *at != '1')
      continue;
    counts[*at - '0']++;
    n++;
    fail_unless (fabs (counts[0] - 0.25 * n) < 4);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Items keep their caps. */
GST_START_TEST (test_caps)
{
  gchar *folder = files_make_folder ();
  Run *result;
  guint n_png = 0;

  for (guint i = 0; i < 20; i++) {
    g_autofree gchar *name =
        g_strdup_printf ("%s/%u.bin", i % 2 ? "a" : "b", i);

    files_write_text (folder, name, "x");
  }
  result =
      run_pipeline ("spdlsrc location=%s/a ! spdlfetch caps=image/png ! m. "
                    "spdlsrc location=%s/b ! spdlfetch caps=image/jpeg ! m. "
                    "spdlmix name=m ! fakesink name=sink",
          folder, folder);
  fail_unless_equals_int (result->buffers->len, 20);
  for (guint i = 0; i < 20; i++) {
    const GstSpdlItemMeta *item = run_item (result, i);
    const GstStructure *s =
        gst_caps_get_structure (g_ptr_array_index (result->caps, i), 0);
    const gboolean png = gst_structure_has_name (s, "image/png");

    n_png += png;
    fail_unless (strstr (item->uri, png ? "/a/" : "/b/") != NULL);
    fail_unless_equals_int (item->source, png ? 0 : 1);
  }
  fail_unless_equals_int (n_png, 10);
  run_free (result);
  files_remove_folder (folder);
}

GST_END_TEST;

GST_START_TEST (test_refused)
{
  static const gchar *const settings[][2] = {
    { "sink_1::weight=0", "The weight of sink_1 is 0" },
    { "sink_0::weight=-2", "The weight of sink_0 is -2" },
    { "stopping-strategy=all-exhausted order=arrival",
        "stopping-strategy=all-exhausted needs order=weighted" },
  };
  gchar *folder = make_lists ();

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_auto (Mixed) mixed = { 0 };

    run (&mixed, TWO, settings[i][0], folder, "3", 1, folder, "3", 1);
    fail_unless (strstr (mixed.error->str, settings[i][1]) != NULL, "%s",
        mixed.error->str);
    fail_unless_equals_int (mixed.n_items, 0);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* A changed weight takes effect at the next start; statistics are per pad. */
GST_START_TEST (test_weight_and_figures)
{
  gchar *folder = make_lists ();
  g_autofree gchar *description = g_strdup_printf (TWO,
      "stopping-strategy=first-exhausted", folder, "100", 1, folder, "100", 1);
  g_auto (Mixed) mixed = { 0 };
  g_autoptr (GstElement) pipeline = parse (description, &mixed);
  g_autoptr (GstElement) mix = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (mix, "sink_0");
  g_autoptr (GstStructure) stats = NULL;
  guint64 n[3];

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_object_set (pad, "weight", 9.0, NULL);
  play (pipeline, &mixed);
  fail_unless (count (&mixed, '1') > 90);
  g_object_get (mix, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "num-items", G_TYPE_UINT64, &n[0],
      "num-items-sink_0", G_TYPE_UINT64, &n[1], "num-items-sink_1",
      G_TYPE_UINT64, &n[2], NULL));
  fail_unless_equals_int (n[0], mixed.n_items);
  fail_unless_equals_int (n[1], count (&mixed, '0'));
  fail_unless_equals_int (n[2], count (&mixed, '1'));
  fail_unless (gst_structure_has_field (stats, "ave-put-time"));

  g_string_truncate (mixed.log, 0);
  play (pipeline, &mixed);
  fail_unless (count (&mixed, '1') < 15);
  g_object_get (pad, "num-items", &n[0], NULL);
  fail_unless_equals_int (n[0], count (&mixed, '0'));
  files_remove_folder (folder);
}

GST_END_TEST;

/* The mix can be stopped or paused at any time with a blocked consumer. */
GST_START_TEST (test_stop_when_full)
{
  static const gchar *const orders[] = { "weighted", "arrival" };
  gchar *folder = make_lists ();
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s/100.txt epochs=-1 ! spdlteststage ! m. "
      "spdlsrc location=%s/3.txt epochs=-1 ! m. "
      "spdlsrc location=%s/40.txt epochs=-1 ! queue ! m. "
      "spdlmix name=m order=%s ! spdlsink",
      folder, folder, folder, orders[__i__ % 2]);
  g_auto (Mixed) mixed = { 0 };
  g_autoptr (GstElement) pipeline = parse (description, &mixed);
  GRand *rand = g_rand_new_with_seed (__i__);

  for (guint i = 0; i < 20; i++) {
    gst_element_set_state (
        pipeline, i % 3 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    g_usleep (g_rand_int_range (rand, 0, 3000));
    if (i % 5 == 0)
      gst_element_set_state (pipeline, GST_STATE_PAUSED);
    gst_element_set_state (pipeline, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Pads */

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Thread that pushes an item, and its flow return. */
typedef struct {
  GstPad *pad;
  GThread *thread;
  GstFlowReturn ret;
} Pusher;

static gpointer
push_one (gpointer data)
{
  Pusher *pusher = data;

  pusher->ret = gst_pad_push (pusher->pad, gst_buffer_new ());
  return NULL;
}

static void
push_in_thread (Pusher *pusher)
{
  pusher->thread = g_thread_new ("push", push_one, pusher);
}

static void
begin_stream (GstPad *pad)
{
  GstSegment segment;

  gst_pad_push_event (pad, gst_event_new_stream_start (GST_PAD_NAME (pad)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
}

static GstElement *
make_mix (const gchar *order, GstPad **pads, guint n)
{
  GstElement *mix =
      gst_object_ref_sink (gst_element_factory_make ("spdlmix", NULL));

  gst_util_set_object_arg (G_OBJECT (mix), "order", order);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("out_%u", i);
    g_autoptr (GstPad) sink = gst_element_request_pad_simple (mix, "sink_%u");

    pads[i] = gst_pad_new_from_static_template (&src_template, name);
    fail_unless (gst_pad_link (pads[i], sink) == GST_PAD_LINK_OK);
  }
  gst_element_set_state (mix, GST_STATE_PLAYING);
  for (guint i = 0; i < n; i++) {
    gst_pad_set_active (pads[i], TRUE);
    begin_stream (pads[i]);
  }
  return mix;
}

static void
free_mix (GstElement *mix, GstPad **pads, guint n)
{
  gst_element_set_state (mix, GST_STATE_NULL);
  for (guint i = 0; i < n; i++) {
    gst_pad_set_active (pads[i], FALSE);
    gst_object_unref (pads[i]);
  }
  gst_object_unref (mix);
}

/* A flush interrupts a thread that waits for its turn; the mix then
 * continues. */
GST_START_TEST (test_flush)
{
  GstPad *pads[2], *out;
  GstElement *mix = make_mix ("weighted", pads, 2);
  GstPad *end = gst_pad_new ("end", GST_PAD_SINK);
  Pusher pusher = { pads[0] };

  out = gst_element_get_static_pad (mix, "src");
  gst_pad_set_chain_function (end, gst_check_chain_func);
  gst_pad_set_active (end, TRUE);
  gst_pad_link (out, end);
  push_in_thread (&pusher);
  gst_pad_push_event (pads[0], gst_event_new_flush_start ());
  g_thread_join (pusher.thread);
  fail_unless_equals_int (pusher.ret, GST_FLOW_FLUSHING);
  gst_pad_push_event (pads[0], gst_event_new_flush_stop (TRUE));
  begin_stream (pads[0]);
  push_in_thread (&pusher);
  gst_pad_push_event (pads[1], gst_event_new_eos ());
  g_thread_join (pusher.thread);
  fail_unless_equals_int (pusher.ret, GST_FLOW_OK);
  fail_unless_equals_int (g_list_length (buffers), 1);
  gst_check_drop_buffers ();
  gst_pad_set_active (end, FALSE);
  gst_object_unref (out);
  gst_object_unref (end);
  free_mix (mix, pads, 2);
}

GST_END_TEST;

/* The mix does not wait for a released pad; no pads can be added while data
 * flows. */
GST_START_TEST (test_release)
{
  GstPad *pads[2];
  GstElement *mix = make_mix ("weighted", pads, 2);
  g_autoptr (GstPad) second = gst_element_get_static_pad (mix, "sink_1");
  Pusher pusher = { pads[0] };

  fail_unless (gst_element_request_pad_simple (mix, "sink_%u") == NULL);
  push_in_thread (&pusher);
  gst_pad_unlink (pads[1], second);
  gst_element_release_request_pad (mix, second);
  g_thread_join (pusher.thread);
  /* Nothing is linked after the mix. */
  fail_unless_equals_int (pusher.ret, GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (
      gst_pad_push (pads[0], gst_buffer_new ()), GST_FLOW_NOT_LINKED);
  free_mix (mix, pads, 2);
}

GST_END_TEST;

/* Output of a mix whose first push blocks until it is released. */
typedef struct {
  GMutex lock;
  GCond changed;
  gboolean is_busy;
  gboolean may_go_on;
  GString *log; /* `i` for an item, `s` for a source */
} SlowEnd;

static GstFlowReturn
chain_slowly (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlowEnd *self = gst_pad_get_element_private (pad);

  g_mutex_lock (&self->lock);
  g_string_append_c (self->log, 'i');
  self->is_busy = TRUE;
  g_cond_broadcast (&self->changed);
  while (!self->may_go_on)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
note_source (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlowEnd *self = gst_pad_get_element_private (pad);

  if (gst_spdl_event_parse_source (event, NULL, NULL, NULL)) {
    g_mutex_lock (&self->lock);
    g_string_append_c (self->log, 's');
    g_mutex_unlock (&self->lock);
  }
  gst_event_unref (event);
  return TRUE;
}

typedef struct {
  GstPad *pad;
  GstEvent *event;
} Announcer;

static gpointer
announce_and_push (gpointer data)
{
  Announcer *self = data;

  gst_pad_push_event (self->pad, gst_event_ref (self->event));
  fail_unless (gst_pad_push (self->pad, gst_buffer_new ()) == GST_FLOW_OK);
  return NULL;
}

/* Two paths of a route announce the same source to a busy mix: the announcement
 * precedes the items of both. */
static void
check_announced_first (void)
{
  GstPad *pads[3];
  GstElement *mix = make_mix ("arrival", pads, 3);
  g_autoptr (GstPad) out = gst_element_get_static_pad (mix, "src");
  g_autoptr (GstPad) end =
      gst_object_ref_sink (gst_pad_new ("e", GST_PAD_SINK));
  g_autoptr (GstEvent) event = gst_spdl_event_new_source (7, 10, "");
  Announcer announcers[] = { { pads[1], event }, { pads[2], event } };
  Pusher pusher = { pads[0] };
  SlowEnd self = { .log = g_string_new (NULL) };
  GThread *threads[2];

  gst_pad_set_element_private (end, &self);
  gst_pad_set_chain_function (end, chain_slowly);
  gst_pad_set_event_function (end, note_source);
  gst_pad_set_active (end, TRUE);
  gst_pad_link (out, end);
  push_in_thread (&pusher);
  g_mutex_lock (&self.lock);
  while (!self.is_busy)
    g_cond_wait (&self.changed, &self.lock);
  g_mutex_unlock (&self.lock);
  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("a", announce_and_push, &announcers[i]);
  wait_until_asleep ();
  g_mutex_lock (&self.lock);
  self.may_go_on = TRUE;
  g_cond_broadcast (&self.changed);
  g_mutex_unlock (&self.lock);
  g_thread_join (pusher.thread);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  fail_unless_equals_string (self.log->str, "isii");
  gst_pad_set_active (end, FALSE);
  free_mix (mix, pads, 3);
  g_string_free (self.log, TRUE);
}

GST_START_TEST (test_announced_first)
{
  for (guint i = 0; i < 100; i++)
    check_announced_first ();
}

GST_END_TEST;

/* When downstream returns EOS, all inputs get it, and EOS is forwarded. */
GST_START_TEST (test_enough)
{
  gchar *folder = make_lists ();
  g_auto (Mixed) mixed = { 0 };

  run (&mixed,
      "spdlsrc location=%s/100.txt epochs=-1 ! m. "
      "spdlsrc location=%s/100.txt epochs=-1 ! spdlteststage ! m. "
      "spdlmix name=m ! identity eos-after=50 ! fakesink",
      folder, folder);
  fail_unless_equals_string (mixed.error->str, "");
  fail_unless (mixed.n_items >= 50 && mixed.n_items < 60);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A failing path ends, and the items of the other one arrive. */
GST_START_TEST (test_failing_source)
{
  gchar *folder = make_lists ();
  Run *result = run_pipeline (
      "spdlsrc location=%s/100.txt ! spdlteststage fail-every=5 max-failures=2 "
      "! m. spdlsrc location=%s/40.txt ! m. "
      "spdlmix name=m ! fakesink name=sink",
      folder, folder);
  guint n = 0;

  for (guint i = 0; i < result->buffers->len; i++)
    n += run_item (result, i)->source == 1;
  fail_unless_equals_int (n, 40);
  fail_unless (result->error != NULL);
  run_free (result);
  files_remove_folder (folder);
}

GST_END_TEST;

/* spdlmix and spdlroute have the class of GStreamer's funnel and tee. */
GST_START_TEST (test_class)
{
  static const gchar *const pairs[][2] = { { "spdlmix", "funnel" },
    { "spdlroute", "tee" } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autoptr (GstElementFactory) ours = gst_element_factory_find (pairs[i][0]);
    g_autoptr (GstElementFactory) theirs =
        gst_element_factory_find (pairs[i][1]);

    fail_unless_equals_string (
        gst_element_factory_get_metadata (ours, GST_ELEMENT_METADATA_KLASS),
        gst_element_factory_get_metadata (theirs, GST_ELEMENT_METADATA_KLASS));
  }
}

GST_END_TEST;

CHECK_SUITE (mix, TEST (test_proportions), TEST (test_speeds), TEST (test_all),
    TEST (test_first), TEST (test_repeat), TEST (test_arrival),
    TEST (test_empty), TEST (test_nested), TEST (test_groups), TEST (test_caps),
    TEST (test_refused), TEST (test_weight_and_figures),
    LOOP (test_stop_when_full, 4), TEST (test_flush), TEST (test_release),
    TEST (test_announced_first), TEST (test_enough), TEST (test_failing_source),
    TEST (test_class))
