/* gst-spdl: tests of spdlpipe's chains
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/run.h"
#include "tests/check/support/stills.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define N_IMAGES 60
#define THE_CHAIN                                                       \
  "avdec_mjpeg ! videoconvertscale ! video/x-raw,format=RGB,width=224," \
  "height=224"

static GBytes *
dup_content (GstBuffer *buffer)
{
  gpointer data;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, -1, &data, &size);
  return g_bytes_new_take (data, size);
}

/* Every 20th image is corrupt, in one of three ways. */
static gboolean
is_broken (guint i)
{
  return i % 20 == 7;
}

static void
write_image (const gchar *folder, guint i)
{
  g_autofree gchar *name = g_strdup_printf ("%03u.jpg", i);
  g_autoptr (GBytes) jpeg =
      files_make_jpeg (100 + i * 7 % 90, 80 + i * 11 % 120, i);
  static const guint8 zeros[1000];
  gsize size;
  gconstpointer data = g_bytes_get_data (jpeg, &size);

  if (!is_broken (i))
    files_write (folder, name, data, size);
  else if (i / 20 == 0)
    files_write_text (folder, name, "no picture at all");
  else if (i / 20 == 1)
    files_write (folder, name, zeros, sizeof zeros);
  else
    files_write (folder, name, data, 100);
}

static gchar *
make_images (void)
{
  gchar *folder = files_make_folder ();

  for (guint i = 0; i < N_IMAGES; i++)
    write_image (folder, i);
  return folder;
}

/* Returns the output of the chain for a single image. */
static GBytes *
decode_alone (const gchar *folder, guint i)
{
  Run *run =
      run_pipeline ("filesrc location=%s/%03u.jpg ! jpegparse ! " THE_CHAIN
                    " ! fakesink name=sink",
          folder, i);
  GBytes *pixels;

  fail_unless_equals_int (run->buffers->len, 1);
  pixels = dup_content (g_ptr_array_index (run->buffers, 0));
  run_free (run);
  return pixels;
}

static void
check_as_alone (Run *run, GBytes **alone, gboolean in_order)
{
  gboolean seen[N_IMAGES] = { FALSE };

  for (guint k = 0; k < run->buffers->len; k++) {
    g_autoptr (GBytes) pixels =
        dup_content (g_ptr_array_index (run->buffers, k));
    const GstSpdlItemMeta *item = run_item (run, k);
    g_autofree gchar *name = NULL;

    fail_unless (item != NULL);
    fail_unless (!seen[item->index]);
    seen[item->index] = TRUE;
    name = g_strdup_printf ("%03u.jpg", (guint) item->index);
    fail_unless (g_str_has_suffix (item->uri, name));
    fail_unless_equals_int (item->parts, 1);
    fail_unless (
        g_bytes_equal (pixels, alone[item->index]), "%s is not as alone", name);
    fail_unless (
        !in_order || k == 0 || item->index > run_item (run, k - 1)->index);
  }
  for (guint i = 0; i < N_IMAGES; i++)
    fail_unless (seen[i] == !is_broken (i), "%u", i);
}

GST_START_TEST (test_as_alone)
{
  static const gchar *orders[] = { "completion", "input" };
  static const guint64 timeouts[] = { 0, 60 * GST_SECOND };
  gchar *folder = make_images ();
  GBytes *alone[N_IMAGES] = { NULL };

  for (guint i = 0; i < N_IMAGES; i++)
    alone[i] = is_broken (i) ? NULL : decode_alone (folder, i);
  for (guint k = 0; k < 4; k++) {
    Run *run = run_pipeline (
        "spdlsrc location=%s ! spdlfetch output-order=%s concurrency=4 "
        "! spdlpipe output-order=%s concurrency=4 chain=\"" THE_CHAIN "\" "
        "task-timeout=%" G_GUINT64_FORMAT " ! fakesink name=sink",
        folder, orders[k % 2], orders[k % 2], timeouts[k / 2]);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->failures->len, N_IMAGES / 20);
    fail_unless_equals_int (run->n_dropped, N_IMAGES / 20);
    check_as_alone (run, alone, k % 2 == 1);
    run_free (run);
  }
  for (guint i = 0; i < N_IMAGES; i++)
    g_clear_pointer (&alone[i], g_bytes_unref);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A chain that fails permanently is restarted. */
GST_START_TEST (test_errors)
{
  static const struct {
    const gchar *chain;
    const gchar *message;
  } cases[] = {
    { "spdltestfilter fail-every=4", "[stream-error failed]" },
    { "spdltestfilter fail-every=4 silent=true", "[stream-error failed]" },
    { "spdltestfilter fail-every=4 fails-for-good=true",
        "[stream-error failed]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Rig *rig = rig_new ("spdlpipe", "chain", cases[i].chain, NULL);
    GError *error = NULL;

    rig_start (rig, "application/octet-stream");
    rig_push_range (rig, 0, 7);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
        G_TYPE_ERROR, &error, NULL);
    fail_unless (errors_has (error, cases[i].message), "%s", error->message);
    g_error_free (error);
    fail_unless_equals_int (rig_count_items (rig), 6);
    fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-failures"), 2);
    rig_free (rig);
  }
}

GST_END_TEST;

/* An invalid chain is reported by name before the pipeline starts. */
GST_START_TEST (test_refused)
{
  static const struct {
    const gchar *chain;
    const gchar *message;
  } cases[] = {
    { "[library-error settings]", "[library-error settings]" },
    { "identity ! queue2 name=waits ! identity", "[library-error settings]" },
    { "[library-error settings]", "[library-error settings]" },
    { "spdlteststage", "[library-error settings]" },
    { "decodebin", "[library-error settings]" },
    { "decodebin ! videoconvert", "[library-error settings]" },
    { "tee name=t ! fakesink t. ! identity", "[library-error settings]" },
    { "videotestsrc", "[library-error settings]" },
    { "no-such-element", "no-such-element" },
    { "identity !", "[library-error settings]" },
    { "", "[library-error settings]" },
    { "videoconvert ! audioconvert", "[library-error settings]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Rig *rig = rig_new ("spdlpipe", "chain", cases[i].chain, NULL);

    fail_unless (gst_element_set_state (rig->element, GST_STATE_PLAYING) ==
                     GST_STATE_CHANGE_FAILURE,
        "%s", cases[i].chain);
    fail_unless (errors_text_has (rig_get_error (rig), cases[i].message),
        "%s: %s", cases[i].chain, rig_get_error (rig));
    rig_free (rig);
  }
}

GST_END_TEST;

GST_START_TEST (test_nothing_to_do)
{
  Rig *rig = rig_new ("spdlpipe", NULL, NULL);

  fail_unless (gst_element_set_state (rig->element, GST_STATE_PLAYING) ==
               GST_STATE_CHANGE_FAILURE);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[library-error settings]|chain"));
  rig_free (rig);
}

GST_END_TEST;

/* Items that the chain does not accept end the stream with an error. */
GST_START_TEST (test_wrong_caps)
{
  Rig *rig = rig_new ("spdlpipe", "chain", "videoconvert", NULL);

  rig_start (rig, "audio/x-raw,format=S16LE,rate=8000,channels=1");
  rig_push (rig, 0);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (errors_text_has (rig_get_error (rig), "audio/x-raw"));
  fail_unless_equals_int (rig_count_items (rig), 0);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_none_and_many)
{
  Rig *rig = rig_new ("spdlpipe", "chain", "spdltestfilter yield=3", NULL);
  GstBuffer *half;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 1);
  rig_push_group (rig, 2, 3);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "0 0 0 1 1 1 [2 2 2 3 3 3] eos");
  for (guint i = 0; i < 12; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, i));

    fail_unless_equals_int (item->part, i % 3);
    fail_unless_equals_int (item->parts, 3);
  }
  rig_free (rig);

  /* A part that is split again. */
  rig = rig_new ("spdlpipe", "chain", "spdltestfilter yield=3", NULL);
  rig_start (rig, NULL);
  half = rig_make_item (0, 16);
  gst_spdl_buffer_get_item_meta (half)->part = 1;
  gst_spdl_buffer_get_item_meta (half)->parts = 2;
  gst_pad_push (rig->src, half);
  rig_wait_items (rig, 3);
  for (guint i = 0; i < 3; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, i));

    fail_unless_equals_int (item->part, 3 + i);
    fail_unless_equals_int (item->parts, 6);
  }
  rig_free (rig);

  rig = rig_new ("spdlpipe", "chain", "spdltestfilter yield=0", NULL);
  rig_start (rig, NULL);
  rig_push_range (rig, 0, 2);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "gone filtered 0 gone filtered 1 gone filtered 2 eos");
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-filtered"), 3);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-failures"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Each item gets its own result even if the chain delays it. A partial result
 * is an error with advice, and not the data of another item. */
GST_START_TEST (test_drain)
{
  static const gchar *parts = "spdltestfilter yield=2 "
                              "! spdltestfilter late=true";

  for (guint drain = 0; drain < 2; drain++) {
    Rig *rig = rig_new (
        "spdlpipe", "chain", "spdltestfilter late=true", "drain", drain, NULL);

    rig_start (rig, NULL);
    rig_push_range (rig, 0, 3);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    rig_assert_log (rig, "0 1 2 3 eos");
    rig_free (rig);

    rig = rig_new ("spdlpipe", "chain", parts, "drain", drain, NULL);
    rig_start (rig, NULL);
    rig_push_range (rig, 0, 1);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    if (drain)
      rig_assert_log (rig, "0 0 1 1 eos");
    else
      fail_unless (errors_text_has (rig_get_error (rig), "drain=true"));
    rig_free (rig);
  }
}

GST_END_TEST;

/* pngdec of GStreamer 1.22 leaks a frame when it fails. */
#ifdef __SANITIZE_ADDRESS__
#define FIRST_DECODER 1
#else
#define FIRST_DECODER 0
#endif

/* Truncated images do not affect the next one; decoders that do not support
 * flushing are restarted. */
GST_START_TEST (test_in_pieces)
{
  static const gchar *decoders[] = { "pngdec", "gdkpixbufdec" };
  g_autoptr (GBytes) png = stills_make (STILL_PNG, 60, 40);
  gsize size;
  gconstpointer data = g_bytes_get_data (png, &size);

  for (guint k = 2 * FIRST_DECODER; k < 4; k++) {
    g_autofree gchar *chain =
        g_strdup_printf ("%s ! videoconvertscale "
                         "! video/x-raw,format=RGB,width=16,height=16",
            decoders[k / 2]);
    Rig *rig = rig_new ("spdlpipe", "chain", chain, "drain", k % 2, NULL);
    gboolean seen[12] = { FALSE };

    rig_start (rig, "image/png");
    for (guint i = 0; i < 12; i++) {
      const gsize n = i % 4 == 1 ? 20 : size;
      GstBuffer *item = rig_make_item (i, n);

      gst_buffer_fill (item, 0, data, n);
      gst_pad_push (rig->src, item);
    }
    rig_push_eos (rig);
    rig_wait_eos (rig);
    for (guint i = 0; i < rig_count_items (rig); i++)
      seen[gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, i))
               ->index] = TRUE;
    for (guint i = 0; i < 12; i++)
      fail_unless (seen[i] == (i % 4 != 1), "%s: %u", chain, i);
    rig_free (rig);
  }
}

GST_END_TEST;

static void
push_frame (Rig *rig, guint number, guint width, guint8 value)
{
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("video/x-raw", "format",
      G_TYPE_STRING, "RGB", "width", G_TYPE_INT, width, "height", G_TYPE_INT, 4,
      "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  GstBuffer *frame = rig_make_item (number, GST_ROUND_UP_4 (width * 3) * 4);

  gst_buffer_memset (frame, 0, value, -1);
  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  gst_pad_push (rig->src, frame);
}

/* Caps that change with each item are reflected in the results. */
GST_START_TEST (test_caps_change)
{
  Rig *rig = rig_new ("spdlpipe", "chain",
      "videoconvertscale ! video/x-raw,format=GRAY8,height=2", "concurrency", 3,
      "output-order", GST_SPDL_OUTPUT_ORDER_INPUT, NULL);

  rig_start (rig, "video/x-raw,format=RGB,width=1,height=1,framerate=0/1");
  for (guint i = 0; i < 30; i++)
    push_frame (rig, i, 4 + i % 5, i * 8);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig_count_items (rig), 30);
  for (guint i = 0; i < 30; i++) {
    g_autoptr (GBytes) content =
        dup_content (g_ptr_array_index (rig->buffers, i));
    const guint8 *gray = g_bytes_get_data (content, NULL);

    fail_unless (ABS (gray[0] - (gint) i * 8) <= 1, "%u: %u", i, gray[0]);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Downstream caps determine the output of the chains. */
GST_START_TEST (test_downstream_caps)
{
  Run *run = run_pipeline (
      "videotestsrc num-buffers=8 ! video/x-raw,width=64,height=48 "
      "! spdlpipe concurrency=3 chain=videoconvertscale "
      "! video/x-raw,format=GRAY8,width=16,height=12 ! fakesink name=sink");

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 8);
  for (guint i = 0; i < 8; i++)
    fail_unless_equals_int (
        gst_buffer_get_size (g_ptr_array_index (run->buffers, i)), 16 * 12);
  run_free (run);
}

GST_END_TEST;

/* Chains that hang */

static void
set_released (gboolean released)
{
  GstElement *any = gst_element_factory_make ("spdltestfilter", NULL);

  g_object_set (any, "released", released, NULL);
  gst_object_unref (gst_object_ref_sink (any));
}

static gint
count_hanging (void)
{
  GstElement *any = gst_element_factory_make ("spdltestfilter", NULL);
  gint n;

  g_object_get (any, "n-hanging", &n, NULL);
  gst_object_unref (gst_object_ref_sink (any));
  return n;
}

static void
wait_hanging (gint n)
{
  wait_until (count_hanging () == n);
}

static void
release_all (void)
{
  set_released (TRUE);
  wait_hanging (0);
  set_released (FALSE);
}

/* A flush ends them: only their items fail. */
GST_START_TEST (test_hanging)
{
  Rig *rig = rig_new ("spdlpipe", "chain", "spdltestfilter hang-every=4",
      "task-timeout", 500 * GST_MSECOND, NULL);
  GError *error = NULL;

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 7);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  fail_unless_equals_int (rig_count_items (rig), 6);
  fail_unless_equals_uint64 (rig_get_stat (rig->element, "num-failures"), 2);
  gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
      G_TYPE_ERROR, &error, NULL);
  fail_unless_equals_string (
      error->message, "Processing took longer than task-timeout (0.500 s)");
  g_error_free (error);
  fail_unless_equals_int (count_hanging (), 0);
  rig_free (rig);
}

GST_END_TEST;

/* A flush does not end them: the stage fails if there are too many. */
GST_START_TEST (test_stubborn)
{
  Rig *rig =
      rig_new ("spdlpipe", "chain", "spdltestfilter hang-every=1 stubborn=true",
          "task-timeout", 20 * GST_MSECOND, "concurrency", 4, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 99);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (errors_text_has (rig_get_error (rig), "[stream-error failed]"),
      "%s", rig_get_error (rig));
  fail_unless_equals_int (rig_count_items (rig), 0);
  fail_unless (count_hanging () >= 16);
  fail_unless (count_hanging () < 16 + 4);
  rig_free (rig);
  release_all ();
}

GST_END_TEST;

/* Hanging chains are replaced. */
GST_START_TEST (test_replaced)
{
  Rig *rig =
      rig_new ("spdlpipe", "chain", "spdltestfilter hang-every=4 stubborn=true",
          "task-timeout", 500 * GST_MSECOND, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 7);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL);
  fail_unless_equals_int (rig_count_items (rig), 6);
  fail_unless_equals_int (count_hanging (), 2);
  rig_free (rig);
  release_all ();
}

GST_END_TEST;

/* Chains that hang permanently with a long task-timeout, or until a flush
 * without one, do not prevent the stage from stopping. */
GST_START_TEST (test_stop_while_hanging)
{
  for (guint i = 0; i < 2; i++) {
    Rig *rig = rig_new ("spdlpipe", "chain",
        i == 0 ? "spdltestfilter hang-every=1 stubborn=true"
               : "spdltestfilter hang-every=1",
        "task-timeout", i == 0 ? 3600 * GST_SECOND : (guint64) 0, "concurrency",
        3, NULL);

    rig_start (rig, NULL);
    rig_push_range (rig, 0, 2);
    wait_hanging (3);
    rig_free (rig);
    fail_unless_equals_int (count_hanging (), i == 0 ? 3 : 0);
    release_all ();
  }
}

GST_END_TEST;

/* After a flush, the stage works as before. */
GST_START_TEST (test_flush)
{
  for (guint i = 0; i < 2; i++) {
    Rig *rig = rig_new ("spdlpipe", "chain", "spdltestfilter hang-every=3",
        "task-timeout", i == 0 ? 3600 * GST_SECOND : (guint64) 0, NULL);
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    rig_start (rig, NULL);
    rig_push_range (rig, 0, 2);
    wait_hanging (1);
    gst_pad_push_event (rig->src, gst_event_new_flush_start ());
    gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
    gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
    g_free (rig_take_log (rig));
    rig_push_range (rig, 10, 11);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    rig_assert_log (rig, "10 11 eos");
    rig_free (rig);
  }
}

GST_END_TEST;

CHECK_SUITE (pipe, TEST (test_as_alone), TEST (test_errors),
    TEST (test_refused), TEST (test_nothing_to_do), TEST (test_wrong_caps),
    TEST (test_none_and_many), TEST (test_drain), TEST (test_in_pieces),
    TEST (test_caps_change), TEST (test_downstream_caps), TEST (test_hanging),
    TEST (test_stubborn), TEST (test_replaced), TEST (test_stop_while_hanging),
    TEST (test_flush))
