/* gst-spdl: tests of spdlcache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

#include <string.h>

#define CAPS_OF_2                                            \
  "other/tensors,format=static,num_tensors=2,types=(string)" \
  "\"uint8,int64\",dimensions=(string)\"8:2,2\",framerate=0/1"
#define CAPS_OF_1                                            \
  "other/tensors,format=static,num_tensors=2,types=(string)" \
  "\"uint8,int64\",dimensions=(string)\"8:1,1\",framerate=0/1"

/* Number of batches that the rig's sink accepts. */
typedef struct {
  guint n;
} Quota;

static GstPadProbeReturn
take_from_quota (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Quota *quota = data;

  if (quota->n == 0) {
    GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_EOS;
    gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
    return GST_PAD_PROBE_HANDLED;
  }
  quota->n--;
  return GST_PAD_PROBE_OK;
}

/* Lets downstream end the stream after @n batches. */
static void
limit (Rig *rig, Quota *quota, guint n)
{
  quota->n = n;
  gst_pad_add_probe (
      rig->sink, GST_PAD_PROBE_TYPE_BUFFER, take_from_quota, quota, NULL);
}

static GstMemory *
make_memory (guint8 value, gsize size)
{
  guint8 *data = g_malloc (size);

  memset (data, value, size);
  return gst_memory_new_wrapped (0, data, size, 0, size, data, g_free);
}

/* Makes a batch of @n_items items from number @first on: two tensors with 8
 * bytes per item, each byte of which is the first number. */
static GstBuffer *
make_batch (guint first, guint n_items)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstSpdlBatchMeta *meta = gst_spdl_buffer_add_batch_meta (buffer, n_items);

  gst_buffer_append_memory (buffer, make_memory (first, 8 * n_items));
  gst_buffer_append_memory (buffer, make_memory (first, 8 * n_items));
  gst_spdl_batch_meta_add_name (meta, "data");
  gst_spdl_batch_meta_add_name (meta, "labels");
  for (guint i = 0; i < n_items; i++) {
    GstSpdlItemMeta item = { .label = 7, .parts = 1, .index = first + i };

    gst_spdl_batch_meta_append (meta, &item);
  }
  return buffer;
}

static guint8
value_of (GstBuffer *buffer, guint tensor)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, tensor);
  GstMapInfo map;
  guint8 value;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  value = map.data[0];
  for (gsize i = 1; i < map.size; i++)
    fail_unless_equals_int (map.data[i], value);
  gst_memory_unmap (memory, &map);
  return value;
}

/* Overwrites a batch, like a trainer that works in place. */
static void
overwrite (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMapInfo map;

    fail_unless (gst_memory_map (
        gst_buffer_peek_memory (buffer, i), &map, GST_MAP_READWRITE));
    memset (map.data, 255, map.size);
    gst_memory_unmap (gst_buffer_peek_memory (buffer, i), &map);
  }
}

static guint64
get_number (GstElement *element, const gchar *field)
{
  GstStructure *stats;
  guint64 n = G_MAXUINT64;

  g_object_get (element, "stage-stats", &stats, NULL);
  gst_structure_get_uint64 (stats, field, &n);
  gst_structure_free (stats);
  return n;
}

/* The last batches before the limit are replayed in order, repeatedly. */
GST_START_TEST (test_order)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 3, "return-caches-after", 5, NULL);
  Quota quota;

  rig_start (rig, NULL);
  limit (rig, &quota, 13);
  fail_unless_equals_int (rig_push_range (rig, 0, 3), GST_FLOW_OK);
  fail_unless (rig_find_message (rig, "spdl-cached") == NULL);
  rig_assert_log (rig, "0 1 2 3");
  fail_unless_equals_int (rig_push (rig, 4), GST_FLOW_EOS);
  rig_assert_log (rig, "4 element 2 3 4 2 3 4 2 3");
  /* The rejected batch was counted as well. */
  fail_unless_equals_uint64 (get_number (rig->element, "num-cached"), 9);
  fail_unless_equals_uint64 (get_number (rig->element, "num-batches"), 14);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_message)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 3, "return-caches-after", 5, NULL);
  const GstStructure *s;
  guint64 n_batches = 0;
  guint n_caches = 0;
  Quota quota;

  rig_start (rig, NULL);
  limit (rig, &quota, 6);
  rig_push_range (rig, 0, 4);
  s = rig_find_message (rig, "spdl-cached");
  fail_unless (s != NULL);
  fail_unless (gst_structure_get (s, "num-batches", G_TYPE_UINT64, &n_batches,
      "num-caches", G_TYPE_UINT, &n_caches, NULL));
  fail_unless_equals_uint64 (n_batches, 5);
  fail_unless_equals_int (n_caches, 3);
  rig_free (rig);
}

GST_END_TEST;

/* With more caches than batches, all batches are replayed. */
GST_START_TEST (test_many_caches)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 9, "return-caches-after", 2, NULL);
  Quota quota;

  rig_start (rig, NULL);
  limit (rig, &quota, 7);
  rig_push_range (rig, 0, 1);
  rig_assert_log (rig, "0 1 element 0 1 0 1 0");
  rig_free (rig);
}

GST_END_TEST;

/* Changes to a batch do not affect later ones. */
GST_START_TEST (test_writes)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 2, "return-caches-after", 3, NULL);
  GstSpdlBatchMeta *meta;
  Quota quota;

  rig_start (rig, CAPS_OF_2);
  limit (rig, &quota, 9);
  for (guint i = 0; i < 3; i++)
    gst_pad_push (rig->src, make_batch (10 * (i + 1), 2));
  fail_unless_equals_int (rig->buffers->len, 9);
  for (guint i = 3; i < 9; i++) {
    GstBuffer *buffer = g_ptr_array_index (rig->buffers, i);
    const guint wanted = i % 2 ? 20 : 30;

    fail_unless_equals_int (gst_buffer_n_memory (buffer), 2);
    fail_unless_equals_int (value_of (buffer, 0), wanted);
    fail_unless_equals_int (value_of (buffer, 1), wanted);
    overwrite (buffer);
    meta = gst_spdl_buffer_get_batch_meta (buffer);
    fail_unless_equals_int (meta->num_items, 2);
    fail_unless_equals_int (meta->items[1].index, wanted + 1);
    fail_unless_equals_int (meta->items[1].label, 7);
    fail_unless_equals_string (meta->names[1], "labels");
  }
  rig_free (rig);
}

GST_END_TEST;

static GstPadProbeReturn
write_into (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  overwrite (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
check_value (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  fail_unless_equals_int (
      value_of (GST_PAD_PROBE_INFO_BUFFER (info), 0), *(guint *) data);
  return GST_PAD_PROBE_OK;
}

/* A trainer overwrites each batch immediately, including those from upstream;
 * memory is reused. */
GST_START_TEST (test_writes_at_once)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 1, "return-caches-after", 1, NULL);
  GPtrArray *seen = rig->buffers;
  guint value = 10;
  Quota quota;

  rig_start (rig, CAPS_OF_2);
  limit (rig, &quota, 100);
  gst_pad_add_probe (
      rig->sink, GST_PAD_PROBE_TYPE_BUFFER, check_value, &value, NULL);
  gst_pad_add_probe (
      rig->sink, GST_PAD_PROBE_TYPE_BUFFER, write_into, NULL, NULL);
  gst_pad_push (rig->src, make_batch (10, 2));
  fail_unless_equals_int (seen->len, 100);
  rig_free (rig);
}

GST_END_TEST;

static GstPadProbeReturn
note_memory (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstMapInfo map;

  fail_unless (gst_buffer_map_range (buffer, 0, 1, &map, GST_MAP_READ));
  g_hash_table_add (data, map.data);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return GST_PAD_PROBE_HANDLED;
}

/* The memory of a released batch is reused for the next one. */
GST_START_TEST (test_recycled)
{
  Rig *rig = rig_new ("spdlcache", "num-caches", 3, "return-caches-after", 3,
      "stop-after", 50, NULL);
  GHashTable *memories = g_hash_table_new (NULL, NULL);

  rig_start (rig, CAPS_OF_2);
  gst_pad_push (rig->src, make_batch (1, 2));
  gst_pad_push (rig->src, make_batch (2, 2));
  gst_pad_add_probe (
      rig->sink, GST_PAD_PROBE_TYPE_BUFFER, note_memory, memories, NULL);
  gst_pad_push (rig->src, make_batch (3, 2));
  /* The memory of the third batch, and one memory of the pool. */
  fail_unless_equals_int (g_hash_table_size (memories), 2);
  fail_unless_equals_uint64 (get_number (rig->element, "num-batches"), 50);
  g_hash_table_unref (memories);
  rig_free (rig);
}

GST_END_TEST;

static GstBufferPool *offered;

static gboolean
offer_pool (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default (pad, parent, query);
  gst_query_add_allocation_pool (query, offered, 1024, 0, 4);
  return TRUE;
}

/* A pool of downstream is used; when it is exhausted, other memory is
 * allocated. */
GST_START_TEST (test_pool)
{
  Rig *rig = rig_new ("spdlcache", "num-caches", 2, "return-caches-after", 2,
      "stop-after", 9, NULL);
  GstStructure *config;
  guint size = 0;

  offered = gst_buffer_pool_new ();
  gst_pad_set_query_function (rig->sink, offer_pool);
  rig_start (rig, CAPS_OF_2);
  gst_pad_push (rig->src, make_batch (1, 2));
  fail_unless (!gst_buffer_pool_is_active (offered));
  gst_pad_push (rig->src, make_batch (2, 2));
  fail_unless (gst_buffer_pool_is_active (offered));
  config = gst_buffer_pool_get_config (offered);
  gst_buffer_pool_config_get_params (config, NULL, &size, NULL, NULL);
  fail_unless_equals_int (size, 1024);
  fail_unless_equals_int (rig->buffers->len, 9);
  for (guint i = 2; i < 9; i++)
    fail_unless_equals_int (
        value_of (g_ptr_array_index (rig->buffers, i), 1), 1 + i % 2);
  gst_structure_free (config);
  rig_free (rig);
  gst_object_unref (offered);
}

GST_END_TEST;

/* Caps are sent again if batches differ in size. */
GST_START_TEST (test_caps)
{
  Rig *rig = rig_new ("spdlcache", "num-caches", 2, "return-caches-after", 2,
      "stop-after", 6, NULL);
  GstCaps *caps = gst_caps_from_string (CAPS_OF_1);
  guint n_caps = 0;

  rig_start (rig, CAPS_OF_2);
  gst_pad_push (rig->src, make_batch (1, 2));
  gst_pad_push_event (rig->src, gst_event_new_caps (caps));
  gst_pad_push (rig->src, make_batch (2, 1));
  rig_wait_eos (rig);
  for (guint i = 0; i < rig->log->len; i++)
    n_caps += g_str_equal (g_ptr_array_index (rig->log, i), "caps");
  fail_unless_equals_int (n_caps, 6);
  for (guint i = 0; i < 6; i++)
    fail_unless_equals_int (
        gst_buffer_get_size (g_ptr_array_index (rig->buffers, i)),
        i % 2 ? 16 : 32);
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

/* The stream ends after that number of batches in total. */
GST_START_TEST (test_stop_after)
{
  static const struct {
    guint stop;
    GstFlowReturn last;
    const gchar *log;
  } cases[] = {
    { 2, GST_FLOW_EOS, "0 1 eos" },
    { 4, GST_FLOW_EOS, "0 1 2 3 eos" },
    { 5, GST_FLOW_EOS, "0 1 2 3 element 2 eos" },
    { 9, GST_FLOW_EOS, "0 1 2 3 element 2 3 2 3 2 eos" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Rig *rig = rig_new ("spdlcache", "num-caches", 2, "return-caches-after", 4,
        "stop-after", cases[i].stop, NULL);

    rig_start (rig, NULL);
    fail_unless_equals_int (rig_push_range (rig, 0, 3), cases[i].last);
    fail_unless_equals_int (rig_push (rig, 4), GST_FLOW_EOS);
    rig_push_eos (rig);
    rig_assert_log (rig, cases[i].log);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Streams that end early, and epoch events, pass unchanged. */
GST_START_TEST (test_early_end)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 2, "return-caches-after", 4, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 1);
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 2));
  rig_push (rig, 2);
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 1, 1));
  rig_push_eos (rig);
  rig_assert_log (rig, "0 1 epoch 0 2 epoch 1 eos");
  fail_unless (rig_find_message (rig, "spdl-cached") == NULL);
  fail_unless_equals_uint64 (get_number (rig->element, "num-cached"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Caching continues across epochs: batches of two epochs are stored. */
GST_START_TEST (test_epochs)
{
  Rig *rig = rig_new ("spdlcache", "num-caches", 4, "return-caches-after", 4,
      "stop-after", 8, NULL);

  rig_start (rig, NULL);
  rig_push_range (rig, 0, 1);
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, 0, 2));
  rig_push_range (rig, 2, 3);
  rig_assert_log (rig, "0 1 epoch 0 2 3 element 0 1 2 3 eos");
  rig_free (rig);
}

GST_END_TEST;

/* Threads that push endlessly */

static gpointer
push_two (gpointer data)
{
  return GINT_TO_POINTER (rig_push_range (data, 0, 1));
}

static Rig *
begin_endless (GThread **thread)
{
  Rig *rig =
      rig_new ("spdlcache", "num-caches", 2, "return-caches-after", 2, NULL);

  rig_start (rig, NULL);
  *thread = g_thread_new ("push", push_two, rig);
  rig_wait_items (rig, 20);
  return rig;
}

static GstFlowReturn
join (GThread *thread)
{
  return GPOINTER_TO_INT (g_thread_join (thread));
}

/* Stops the rig like a pipeline, which stops the sink before upstream elements;
 * the waiting batch is released afterwards. */
static void
stop_downstream (Rig *rig)
{
  rig_hold (rig, TRUE);
  g_mutex_lock (&rig->lock);
  rig->flushing = TRUE;
  g_cond_broadcast (&rig->cond);
  g_mutex_unlock (&rig->lock);
}

/* State changes while batches are replayed, and while one waits in the sink. */
GST_START_TEST (test_states)
{
  static const GstState states[] = { GST_STATE_READY, GST_STATE_NULL };

  for (guint i = 0; i < 4; i++) {
    GThread *thread;
    Rig *rig = begin_endless (&thread);

    if (i < 2)
      stop_downstream (rig);
    fail_unless_equals_int (gst_element_set_state (rig->element, states[i % 2]),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (join (thread), GST_FLOW_FLUSHING);
    rig_free (rig);
  }
}

GST_END_TEST;

/* After a flush, caching starts again with the following batches. */
GST_START_TEST (test_flush)
{
  GThread *thread;
  Rig *rig = begin_endless (&thread);
  GstSegment segment;

  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  fail_unless_equals_int (join (thread), GST_FLOW_FLUSHING);
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  g_free (rig_take_log (rig));

  fail_unless_equals_int (rig_push (rig, 7), GST_FLOW_OK);
  rig_assert_log (rig, "7");
  rig_hold (rig, FALSE);
  rig_free (rig);
}

GST_END_TEST;

/* Caching starts again after READY as well; properties then take effect. */
GST_START_TEST (test_again)
{
  GThread *thread;
  Rig *rig = begin_endless (&thread);

  gst_element_set_state (rig->element, GST_STATE_READY);
  fail_unless_equals_int (join (thread), GST_FLOW_FLUSHING);
  g_free (rig_take_log (rig));
  g_object_set (rig->element, "return-caches-after", 1, "stop-after", 3, NULL);
  rig_start (rig, NULL);
  rig_push (rig, 5);
  rig_assert_log (rig, "5 element 5 5 eos");
  rig_free (rig);
}

GST_END_TEST;

/* Memory that the CPU cannot map, like device memory */

static GstMemory *
make_device_memory (void)
{
  GstMemory *memory = make_memory (3, 16);

  GST_MINI_OBJECT_FLAG_SET (memory, GST_MEMORY_FLAG_NOT_MAPPABLE);
  return memory;
}

/* Memory that cannot be mapped is shared and passes unchanged. */
GST_START_TEST (test_not_mappable)
{
  Rig *rig = rig_new ("spdlcache", "num-caches", 1, "return-caches-after", 1,
      "stop-after", 4, NULL);
  GstMemory *memory = make_device_memory ();
  GstBuffer *buffer = gst_buffer_new ();

  rig_start (rig, NULL);
  gst_buffer_append_memory (buffer, gst_memory_ref (memory));
  gst_pad_push (rig->src, buffer);
  rig_assert_log (rig, "? element ? ? ? eos");
  for (guint i = 0; i < 4; i++)
    fail_unless (gst_buffer_peek_memory (
                     g_ptr_array_index (rig->buffers, i), 0) == memory);
  gst_memory_unref (memory);
  rig_free (rig);
}

GST_END_TEST;

/* In pipelines */

static gchar *
pull_state (GstElement *sink, guint *number)
{
  GstSample *sample = NULL;
  GstSpdlBatchMeta *meta;
  gchar *state;

  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample != NULL);
  meta = gst_spdl_buffer_get_batch_meta (gst_sample_get_buffer (sample));
  *number = meta->items[0].index;
  state = g_strdup (meta->resume_state);
  gst_sample_unref (sample);
  return state;
}

/* Makes a pipeline with ten names in a folder, in batches of two. */
static GstElement *
make_pipeline (const gchar *folder, GstElement **sink)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s epochs=-1 ! spdlpipe name=work "
      "! spdlbatch batch-size=2 indices=true ! spdlcache num-caches=2 "
      "return-caches-after=7 name=cache ! spdlsink name=sink",
      folder);
  GstElement *pipeline = gst_parse_launch (description, NULL);

  *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  return pipeline;
}

static GstSample *
make_tensor (GstElement *work, GstSample *sample, gpointer data)
{
  g_autoptr (GstCaps) caps =
      gst_caps_from_string ("other/tensors,format=static,num_tensors=1,types=("
                            "string)uint8,dimensions=(string)16,framerate=0/1");
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16, NULL);
  GstSample *result;

  gst_buffer_memset (buffer, 0, 0, 16);
  result = gst_sample_new (buffer, caps, NULL, NULL);
  gst_buffer_unref (buffer);
  return result;
}

static gchar *
make_folder (void)
{
  gchar *folder = files_make_folder ();

  for (guint i = 0; i < 10; i++) {
    g_autofree gchar *name = g_strdup_printf ("%u", i);

    files_write_text (folder, name, "x");
  }
  return folder;
}

/* Replayed batches are not counted as delivered: the resume state stays after
 * the last batch from upstream, also after a flush of waiting batches. */
GST_START_TEST (test_resume_state)
{
  gchar *folder = make_folder ();
  GstElement *sink, *pipeline = make_pipeline (folder, &sink);
  GstElement *work = gst_bin_get_by_name (GST_BIN (pipeline), "work");
  g_autofree gchar *last = NULL, *property = NULL;
  guint number;

  g_signal_connect (work, "process", G_CALLBACK (make_tensor), NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 7; i++) {
    g_free (last);
    last = pull_state (sink, &number);
    fail_unless_equals_int (number, 2 * (i % 5));
  }
  fail_unless (strstr (last, "epoch=1,mark=4,done=;") != NULL, "%s", last);
  for (guint i = 0; i < 20; i++) {
    g_autofree gchar *state = pull_state (sink, &number);

    fail_unless_equals_int (number, 2 * (i % 2));
    fail_unless_equals_string (state, last);
  }
  g_object_get (sink, "resume-state", &property, NULL);
  fail_unless_equals_string (property, last);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (work);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  files_remove_folder (folder);
}

GST_END_TEST;

/* The pipeline can be stopped at any time by one of its threads, blocked or
 * not. */
GST_START_TEST (test_stop)
{
  gchar *folder = make_folder ();

  for (guint i = 0; i < 20; i++) {
    GstElement *sink, *pipeline = make_pipeline (folder, &sink);
    GstElement *work = gst_bin_get_by_name (GST_BIN (pipeline), "work");
    guint number;

    g_signal_connect (work, "process", G_CALLBACK (make_tensor), NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    for (guint k = 0; k < i; k++)
      g_free (pull_state (sink, &number));
    if (i % 3 == 1)
      gst_element_set_state (pipeline, GST_STATE_PAUSED);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (work);
    gst_object_unref (sink);
    gst_object_unref (pipeline);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* A loader reaches the end that stop-after causes. */
GST_START_TEST (test_loader)
{
  GError *error = NULL;
  GstSpdlLoader *loader = gst_spdl_loader_new (
      "fakesrc num-buffers=1000 sizetype=fixed sizemax=12 filltype=zero "
      "! spdlcache num-caches=2 return-caches-after=5 stop-after=23 ! spdlsink",
      &error);
  GstSpdlBatch *batch;
  guint n = 0;

  fail_unless (gst_spdl_loader_start (loader, &error));
  while ((batch = gst_spdl_loader_next (loader, 60 * GST_SECOND, &error))) {
    gst_spdl_batch_unref (batch);
    n++;
  }
  fail_unless (error == NULL);
  fail_unless (gst_spdl_loader_is_finished (loader));
  fail_unless_equals_int (n, 23);
  g_object_unref (loader);
}

GST_END_TEST;

CHECK_SUITE (cache, TEST (test_order), TEST (test_message),
    TEST (test_many_caches), TEST (test_writes), TEST (test_writes_at_once),
    TEST (test_recycled), TEST (test_pool), TEST (test_caps),
    TEST (test_stop_after), TEST (test_early_end), TEST (test_epochs),
    TEST (test_states), TEST (test_flush), TEST (test_again),
    TEST (test_not_mappable), TEST (test_resume_state), TEST (test_stop),
    TEST (test_loader))
