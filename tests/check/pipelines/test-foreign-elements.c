/* gst-spdl: tests of what other elements attach to buffers and send as events
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <string.h>

#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

#define N_ITEMS 4
#define PTS ((GstClockTime) 5 * GST_SECOND)
#define STEP ((GstClockTime) GST_SECOND / 10)

static gchar *folder;

static void
make_folder (void)
{
  folder = files_make_folder ();
  files_write_jpeg (folder, "a.jpg", 32, 24, 90);
}

static void
remove_folder (void)
{
  g_clear_pointer (&folder, files_remove_folder);
}

static GstBuffer *
read_jpeg (void)
{
  g_autofree gchar *name = g_build_filename (folder, "a.jpg", NULL);
  gchar *data;
  gsize size;

  fail_unless (g_file_get_contents (name, &data, &size, NULL));
  return gst_buffer_new_wrapped (data, size);
}

static GstBuffer *
make_uri (void)
{
  gchar *uri = g_strdup_printf ("file://%s/a.jpg", folder);

  return gst_buffer_new_wrapped (uri, strlen (uri));
}

/* Attaches what a capture or a demuxer does. */
static void
mark (GstBuffer *buffer, guint i)
{
  g_autoptr (GstCaps) clock = gst_caps_from_string ("timestamp/x-unix");
  g_autoptr (GstCaps) other = gst_caps_from_string ("timestamp/x-ntp");

  GST_BUFFER_PTS (buffer) = PTS + i * STEP;
  GST_BUFFER_DTS (buffer) = PTS + i * STEP - 1;
  GST_BUFFER_DURATION (buffer) = STEP;
  GST_BUFFER_OFFSET (buffer) = 90 + i;
  GST_BUFFER_OFFSET_END (buffer) = 91 + i;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  gst_buffer_add_reference_timestamp_meta (
      buffer, clock, 42 + i, GST_CLOCK_TIME_NONE);
  gst_buffer_add_reference_timestamp_meta (
      buffer, other, 52 + i, GST_CLOCK_TIME_NONE);
}

static void
assert_marked (GstBuffer *buffer, guint i, const gchar *where)
{
  gpointer state = NULL;
  GstMeta *meta;
  guint64 sum = 0;

  while ((meta = gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE)))
    sum += ((GstReferenceTimestampMeta *) meta)->timestamp;
  fail_unless (GST_BUFFER_PTS (buffer) == PTS + i * STEP &&
                   GST_BUFFER_DTS (buffer) == PTS + i * STEP - 1 &&
                   GST_BUFFER_DURATION (buffer) == STEP &&
                   GST_BUFFER_OFFSET (buffer) == 90 + i &&
                   GST_BUFFER_OFFSET_END (buffer) == 91 + i,
      "%s: %" GST_PTR_FORMAT, where, buffer);
  fail_unless (
      GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER), "%s", where);
  fail_unless (sum == 94 + 2 * i, "%s: %" G_GUINT64_FORMAT, where, sum);
}

/* Runs `appsrc ! DESCRIPTION ! appsink` with marked buffers. Returns the
 * samples that arrive. */
static GPtrArray *
run (const gchar *caps, const gchar *description, GstBuffer *(*make) (void) )
{
  g_autofree gchar *text = g_strdup_printf (
      "appsrc name=source format=time caps=%s ! %s ! appsink name=sink "
      "sync=false",
      caps, description);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) source = NULL;
  g_autoptr (GstElement) sink = NULL;
  GPtrArray *samples =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
  GstSample *sample;

  g_assert_no_error (error);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < N_ITEMS; i++) {
    GstBuffer *buffer = make ();

    mark (buffer, i);
    gst_app_src_push_buffer (GST_APP_SRC (source), buffer);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink))))
    g_ptr_array_add (samples, sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return samples;
}

/* Timestamps, offsets, flags and metas of an item reach its result. */
GST_START_TEST (test_heritage)
{
  static const struct {
    const gchar *caps, *description;
    GstBuffer *(*make) (void);
  } cases[] = {
    { "image/jpeg", "spdldecode", read_jpeg },
    { "image/jpeg",
        "spdldecode concurrency=3 output-order=input width=8 height=8",
        read_jpeg },
    { "image/jpeg", "spdlaggregate size=2 ! spdldecode ! spdldisaggregate",
        read_jpeg },
    { "image/jpeg", "spdlpipe chain=jpegdec", read_jpeg },
    { "image/jpeg", "spdlaggregate size=2 ! spdldisaggregate", read_jpeg },
    { "image/jpeg", "spdlmix", read_jpeg },
    { "image/jpeg", "spdlroute name=r r.", read_jpeg },
    { "text/uri-list", "spdlfetch", make_uri },
    { "text/uri-list",
        "spdlaggregate size=2 ! spdlfetch ! spdldisaggregate ! spdldecode",
        make_uri },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    const gchar *where = cases[k].description;
    g_autoptr (GPtrArray) samples = run (cases[k].caps, where, cases[k].make);

    fail_unless (samples->len == N_ITEMS, "%s: %u", where, samples->len);
    for (guint i = 0; i < N_ITEMS; i++) {
      GstBuffer *buffer = gst_sample_get_buffer (samples->pdata[i]);

      if (!strstr (where, "jpegdec"))
        assert_marked (buffer, i, where);
      else /* a decoder of GStreamer has no DTS and no offset */
        fail_unless (GST_BUFFER_PTS (buffer) == PTS + i * STEP);
    }
  }
}

GST_END_TEST;

static GstSample *
make_new (GstElement *element, GstSample *sample, gpointer user_data)
{
  const guint n = GPOINTER_TO_UINT (user_data);
  GstBufferList *list = gst_buffer_list_new ();
  GstSample *result;

  for (guint i = 0; i < n; i++)
    gst_buffer_list_add (list, gst_buffer_new_allocate (NULL, 3, NULL));
  result = gst_sample_new (NULL, NULL, NULL, NULL);
  gst_sample_set_buffer_list (result, list);
  gst_buffer_list_unref (list);
  return result;
}

/* Makes raw video whose rows are padded. */
static GstBuffer *
make_padded (void)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 1024, NULL);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 64 };

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_GRAY8, 8, 8, 1, offsets, strides);
  gst_buffer_add_video_region_of_interest_meta (buffer, "x", 0, 0, 1, 1);
  return buffer;
}

static void
assert_no_layout (GstBuffer *buffer)
{
  fail_unless (gst_buffer_get_video_meta (buffer) == NULL);
  fail_unless (gst_buffer_get_n_meta (
                   buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) == 0);
}

/* A result of a function gets no metas that describe the memory or the size of
 * its item. */
GST_START_TEST (test_function)
{
  for (guint n = 1; n < 3; n++) {
    Rig *rig = rig_new ("spdlpipe", "output-order", 1, NULL);

    g_signal_connect (
        rig->element, "process", G_CALLBACK (make_new), GUINT_TO_POINTER (n));
    rig_start (rig, "video/x-raw,format=GRAY8,width=8,height=8");
    for (guint i = 0; i < N_ITEMS; i++) {
      GstBuffer *buffer = make_padded ();

      mark (buffer, i);
      gst_pad_push (rig->src, buffer);
    }
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig->buffers->len, n * N_ITEMS);
    for (guint i = 0; i < rig->buffers->len; i++) {
      GstBuffer *buffer = rig->buffers->pdata[i];

      assert_no_layout (buffer);
      if (n == 1) {
        assert_marked (buffer, i, "process");
        continue;
      }
      /* Nobody knows how long each of several results lasts. */
      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
          i % n == 0 ? PTS + i / n * STEP : GST_CLOCK_TIME_NONE);
      fail_if (GST_BUFFER_DURATION_IS_VALID (buffer));
    }
    rig_free (rig);
  }
}

GST_END_TEST;

/* The same for functions of groups. */
GST_START_TEST (test_group_function)
{
  Rig *rig = rig_new ("spdlpipe", "output-order", 1, NULL);
  GstBufferList *list = gst_buffer_list_new ();

  g_signal_connect (rig->element, "process", G_CALLBACK (make_new),
      GUINT_TO_POINTER (N_ITEMS));
  rig_start (rig, "video/x-raw,format=GRAY8,width=8,height=8");
  for (guint i = 0; i < N_ITEMS; i++) {
    GstBuffer *buffer = make_padded ();

    mark (buffer, i);
    gst_buffer_list_add (list, buffer);
  }
  gst_pad_push_list (rig->src, list);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless_equals_int (rig->buffers->len, N_ITEMS);
  for (guint i = 0; i < N_ITEMS; i++) {
    assert_no_layout (rig->buffers->pdata[i]);
    assert_marked (rig->buffers->pdata[i], i, "group");
  }
  rig_free (rig);
}

GST_END_TEST;

static void
assert_caps (GstSample *sample, gint rate, gint par)
{
  const GstStructure *s =
      gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  gint n, d;

  fail_unless (gst_structure_get_fraction (s, "framerate", &n, &d));
  fail_unless (n == rate && d == 1, "%d/%d", n, d);
  fail_unless (gst_structure_get_fraction (s, "pixel-aspect-ratio", &n, &d));
  fail_unless (n == par && d == 1, "%d/%d", n, d);
}

/* Elements that need a frame rate work behind spdldecode. */
GST_START_TEST (test_frame_rate)
{
  static const gchar caps[] =
      "image/jpeg,framerate=10/1,pixel-aspect-ratio=2/1";
  static const gchar *const decoders[] = { "spdldecode",
    "spdldecode width=16 height=16", "spdldecode resize=none concurrency=2" };
  GPtrArray *samples;

  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++) {
    samples = run (caps, decoders[i], read_jpeg);
    fail_unless_equals_int (samples->len, N_ITEMS);
    for (guint k = 0; k < N_ITEMS; k++)
      assert_caps (samples->pdata[k], 10, 2);
    g_ptr_array_unref (samples);
  }
  samples = run ("image/jpeg", "spdldecode", read_jpeg);
  fail_unless_equals_int (samples->len, N_ITEMS);
  assert_caps (samples->pdata[0], 0, 1);
  g_ptr_array_unref (samples);

  samples = run (caps,
      "spdldecode ! videorate skip-to-first=true ! video/x-raw,framerate=20/1",
      read_jpeg);
  fail_unless_equals_int (samples->len, 2 * N_ITEMS - 1);
  g_ptr_array_unref (samples);
  samples =
      run (caps, "spdldecode ! videoconvert ! theoraenc ! oggmux", read_jpeg);
  fail_unless (samples->len > 0);
  g_ptr_array_unref (samples);
}

GST_END_TEST;

/* Events */

static gchar *
describe_log (Rig *rig)
{
  GString *text = g_string_new (NULL);

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->log->len; i++)
    if (!g_str_equal (rig->log->pdata[i], "stats"))
      g_string_append_printf (
          text, "%s%s", i > 0 ? " " : "", (gchar *) rig->log->pdata[i]);
  g_mutex_unlock (&rig->lock);
  return g_string_free (text, FALSE);
}

static void
wait_log (Rig *rig, guint n)
{
  g_mutex_lock (&rig->lock);
  while (rig->log->len < n)
    g_cond_wait (&rig->cond, &rig->lock);
  g_mutex_unlock (&rig->lock);
}

static void
push_custom (Rig *rig, GstEventType type, const gchar *name)
{
  gst_pad_push_event (
      rig->src, gst_event_new_custom (type, gst_structure_new_empty (name)));
}

/* Events of other elements follow caps and segment. Those of gst-spdl pass. */
GST_START_TEST (test_order)
{
  static const gchar *const elements[] = { "spdldecode", "spdlbatch" };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    const gboolean batches = g_str_equal (elements[i], "spdlbatch");
    Rig *rig =
        rig_new (elements[i], batches ? "batch-size" : "concurrency", 1, NULL);
    g_autofree gchar *log = NULL;

    rig_start (
        rig, batches ? "video/x-raw,format=GRAY8,width=4,height=4,framerate=0/1"
                     : "image/jpeg");
    gst_pad_push_event (rig->src, gst_event_new_gap (0, GST_SECOND));
    gst_pad_push_event (rig->src, gst_event_new_gap (GST_SECOND, GST_SECOND));
    push_custom (rig, GST_EVENT_CUSTOM_DOWNSTREAM, "mine");
    push_custom (rig, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, "mine-too");
    gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (7, 0, 0));
    gst_pad_push (rig->src, batches ? rig_make_item (0, 16) : read_jpeg ());
    gst_pad_push_event (rig->src, gst_event_new_gap (0, GST_SECOND));
    rig_push_eos (rig);
    rig_wait_eos (rig);
    log = describe_log (rig);
    fail_unless_equals_string (log,
        batches ? "stream-start epoch 0 caps segment gap custom-downstream "
                  "custom-downstream-sticky batch gap eos"
                : "stream-start epoch 0 caps segment gap custom-downstream "
                  "custom-downstream-sticky 0 gap eos");
    rig_free (rig);
  }
}

GST_END_TEST;

/* A flush drops gaps that wait for caps. */
GST_START_TEST (test_flushed_gap)
{
  Rig *rig = rig_new ("spdldecode", NULL, NULL);
  GstSegment segment;
  g_autofree gchar *log = NULL;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_start (rig, "image/jpeg");
  gst_pad_push_event (rig->src, gst_event_new_gap (0, GST_SECOND));
  wait_log (rig, 1);
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  gst_pad_push (rig->src, read_jpeg ());
  rig_push_eos (rig);
  rig_wait_eos (rig);
  log = describe_log (rig);
  /* If the flush is faster than the push of stream-start, it is pushed again.
   */
  fail_unless (g_regex_match_simple (
                   "^stream-start flush-start flush-stop (stream-start )?"
                   "caps segment 0 eos$",
                   log, 0, 0),
      "%s", log);
  rig_free (rig);
}

GST_END_TEST;

/* Memory */

/* A pool that makes buffers larger than asked. */
#define TEST_TYPE_POOL (test_pool_get_type ())
G_DECLARE_FINAL_TYPE (TestPool, test_pool, TEST, POOL, GstBufferPool)

struct _TestPool {
  GstBufferPool parent;
};

G_DEFINE_FINAL_TYPE (TestPool, test_pool, GST_TYPE_BUFFER_POOL)

static gboolean
test_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstCaps *caps;
  guint size, min, max;
  gboolean fits;

  gst_buffer_pool_config_get_params (config, &caps, &size, &min, &max);
  fits = size >= 8192;
  gst_buffer_pool_config_set_params (config, caps, MAX (size, 8192), min, max);
  return GST_BUFFER_POOL_CLASS (test_pool_parent_class)
             ->set_config (pool, config) &&
         fits;
}

static void
test_pool_class_init (TestPoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->set_config = test_pool_set_config;
}

static void
test_pool_init (TestPool *self)
{
}

static GstBufferPool *pool;

static gboolean
offer_pool (GstPad *pad, GstObject *parent, GstQuery *query)
{
  Rig *rig = gst_pad_get_element_private (pad);
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_allocation (query, &caps, NULL);
  gst_query_add_allocation_pool (query, pool, 16, 0, 0);
  g_mutex_lock (&rig->lock);
  g_ptr_array_add (rig->log, g_strdup ("allocation"));
  g_mutex_unlock (&rig->lock);
  return TRUE;
}

/* Downstream is asked for memory when it has the caps, and its pool is used
 * although it adjusts the configuration. */
GST_START_TEST (test_allocation)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 4, NULL);
  g_autofree gchar *log = NULL;

  pool = g_object_new (TEST_TYPE_POOL, NULL);
  gst_pad_set_query_function (rig->sink, offer_pool);
  rig_start (rig, "video/x-raw,format=GRAY8,width=4,height=4,framerate=0/1");
  for (guint i = 0; i < 8; i++)
    gst_pad_push (rig->src, rig_make_item (i, 16));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  log = describe_log (rig);
  fail_unless_equals_string (
      log, "stream-start caps segment allocation batch batch eos");
  fail_unless (gst_buffer_pool_is_active (pool));
  rig_free (rig);
  gst_clear_object (&pool);
}

GST_END_TEST;

CHECK_SUITE (foreign_elements, TIMEOUT (60),
    FIXTURE (make_folder, remove_folder), TEST (test_heritage),
    TEST (test_function), TEST (test_group_function), TEST (test_frame_rate),
    TEST (test_order), TEST (test_flushed_gap), TEST (test_allocation))
