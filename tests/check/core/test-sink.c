/* gst-spdl: tests of resume states from spdlsink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdarg.h>

#include <gst/app/gstappsink.h>
#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/common/marks.h"
#include "tests/check/support/suite.h"

/* A manually created stream, and the resulting states. */

#define END G_MAXUINT
#define IDENTITY(source)                                                \
  "source=" source ",count=100,hash=0123456789abcdef,shuffle=0,seed=0," \
  "rank=0,world-size=1,shard-mode=pad,"
#define STATE(progress) "spdl1;" IDENTITY ("0") progress ";"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

typedef struct {
  GstElement *sink;
  GstPad *src;
} Feed;

static void
push_source (Feed *feed, guint source, guint n_items, const gchar *state)
{
  fail_unless (gst_pad_push_event (
      feed->src, gst_spdl_event_new_source (source, n_items, state)));
}

static void
push_segment (Feed *feed)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (
      gst_pad_push_event (feed->src, gst_event_new_segment (&segment)));
}

static void
begin_stream (Feed *feed)
{
  GstCaps *caps = gst_caps_new_empty_simple ("application/octet-stream");

  gst_pad_push_event (feed->src, gst_event_new_stream_start ("test"));
  gst_pad_push_event (feed->src, gst_event_new_caps (caps));
  push_segment (feed);
  gst_caps_unref (caps);
}

static void
feed_setup (Feed *feed)
{
  feed->sink = gst_check_setup_element ("spdlsink");
  feed->src = gst_check_setup_src_pad (feed->sink, &src_template);
  gst_pad_set_active (feed->src, TRUE);
}

static void
feed_begin (Feed *feed)
{
  feed_setup (feed);
  /* Pushing must not wait for a pull. */
  g_object_set (feed->sink, "max-buffers", 0, NULL);
  gst_element_set_state (feed->sink, GST_STATE_PLAYING);
  begin_stream (feed);
}

static void
feed_end (Feed *feed)
{
  gst_element_set_state (feed->sink, GST_STATE_NULL);
  gst_check_teardown_src_pad (feed->sink);
  gst_check_teardown_element (feed->sink);
}

static GstSpdlItemMeta
make_item (guint source, guint64 epoch, guint64 sequence)
{
  GstSpdlItemMeta item = { .label = -1, .parts = 1 };

  item.source = source;
  item.epoch = epoch;
  item.sequence = item.index = sequence;
  return item;
}

/* Makes a batch of items of a source and epoch. The list of sequence numbers
 * ends with END. */
static GstBuffer *
make_batch (guint source, guint epoch, ...)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstSpdlBatchMeta *batch = gst_spdl_buffer_add_batch_meta (buffer, 100);
  va_list args;
  guint sequence;

  va_start (args, epoch);
  while ((sequence = va_arg (args, guint)) != END) {
    const GstSpdlItemMeta item = make_item (source, epoch, sequence);

    gst_spdl_batch_meta_append (batch, &item);
  }
  va_end (args);
  return buffer;
}

#define push_batch(feed, source, ...)                                    \
  fail_unless_equals_int (                                               \
      gst_pad_push ((feed)->src, make_batch (source, __VA_ARGS__, END)), \
      GST_FLOW_OK)

static void
push_dropped (Feed *feed, guint epoch, guint64 sequence)
{
  gst_pad_push_event (
      feed->src, gst_spdl_event_new_items_dropped (
                     0, epoch, &sequence, 1, GST_SPDL_DROP_REASON_FAILED));
}

/* A flush takes the sink out of PLAYING; normally its pipeline restores the
 * state. */
static void
flush (Feed *feed)
{
  gst_pad_push_event (feed->src, gst_event_new_flush_start ());
  gst_pad_push_event (feed->src, gst_event_new_flush_stop (TRUE));
  gst_element_set_state (feed->sink, GST_STATE_PLAYING);
  push_segment (feed);
}

/* Pulls the next batch and returns its state. */
static gchar *
pull (Feed *feed)
{
  GstSample *sample;
  const GstSpdlBatchMeta *batch;
  gchar *state;

  g_signal_emit_by_name (feed->sink, "pull-sample", &sample);
  batch = gst_spdl_buffer_get_batch_meta (gst_sample_get_buffer (sample));
  state = batch ? g_strdup (batch->resume_state) : NULL;
  gst_sample_unref (sample);
  return state;
}

static void
assert_pull (Feed *feed, const gchar *wanted)
{
  g_autofree gchar *state = pull (feed);

  fail_unless_equals_string (state, wanted);
}

static void
assert_property (Feed *feed, const gchar *wanted)
{
  g_autofree gchar *state = NULL;

  g_object_get (feed->sink, "resume-state", &state, NULL);
  fail_unless_equals_string (state, wanted);
}

GST_START_TEST (test_states)
{
  Feed feed;

  feed_begin (&feed);
  assert_property (&feed, NULL);
  push_source (&feed, 0, 10, STATE ("epoch=2,mark=1,done=BB"));
  assert_property (&feed, STATE ("epoch=2,mark=1,done=BB"));
  push_batch (&feed, 0, 2, 3, 1);
  push_dropped (&feed, 2, 6);
  push_batch (&feed, 0, 2, 4, 8);
  push_dropped (&feed, 2, 9);

  /* The state after a batch includes the drops before it. */
  assert_property (&feed, STATE ("epoch=2,mark=1,done=BB"));
  assert_pull (&feed, STATE ("epoch=2,mark=4,done="));
  assert_property (&feed, STATE ("epoch=2,mark=4,done="));
  assert_pull (&feed, STATE ("epoch=2,mark=5,done=BBBB"));
  /* When everything was pulled, the property includes later changes. */
  assert_property (&feed, STATE ("epoch=2,mark=5,done=BBBC"));
  push_dropped (&feed, 2, 7);
  assert_property (&feed, STATE ("epoch=2,mark=5,done=BE"));
  /* They stay: they were perhaps reported with this state. */
  push_batch (&feed, 0, 2, 5);
  assert_property (&feed, STATE ("epoch=2,mark=5,done=BE"));
  assert_pull (&feed, STATE ("epoch=3,mark=0,done="));
  gst_pad_push_event (feed.src, gst_spdl_event_new_epoch (0, 2, 10));
  assert_property (&feed, STATE ("epoch=3,mark=0,done="));

  /* An item is lost in this epoch. */
  push_batch (&feed, 0, 3, 0, 1, 2);
  gst_pad_push_event (feed.src, gst_spdl_event_new_epoch (0, 3, 10));
  push_batch (&feed, 0, 4, 0);
  assert_pull (&feed, STATE ("epoch=3,mark=3,done="));
  assert_pull (&feed, STATE ("epoch=4,mark=1,done="));
  /* Batches that wait at the end count as not delivered. */
  push_batch (&feed, 0, 4, 1);
  gst_element_set_state (feed.sink, GST_STATE_READY);
  assert_property (&feed, STATE ("epoch=4,mark=1,done="));
  feed_end (&feed);
}

GST_END_TEST;

/* A restarted source is distinguished from a repeated event. */
GST_START_TEST (test_sources)
{
  GstEvent *event =
      gst_spdl_event_new_source (0, 10, STATE ("epoch=0,mark=0,done="));
  GstEvent *other =
      gst_spdl_event_new_source (0, 10, STATE ("epoch=0,mark=0,done="));
  Feed feed;

  feed_begin (&feed);
  push_batch (&feed, 0, 0, 0);
  assert_pull (&feed, NULL);
  assert_property (&feed, NULL);
  gst_pad_push_event (feed.src, gst_event_ref (event));
  push_batch (&feed, 0, 0, 0);
  assert_pull (&feed, STATE ("epoch=0,mark=1,done="));
  gst_pad_push_event (feed.src, gst_event_copy (event));
  push_batch (&feed, 0, 0, 1);
  assert_pull (&feed, STATE ("epoch=0,mark=2,done="));
  gst_pad_push_event (feed.src, other);
  push_batch (&feed, 0, 0, 1);
  assert_pull (&feed, STATE ("epoch=0,mark=0,done=BB"));

  /* Two sources, in the order of their numbers. */
  push_source (&feed, 7, 5, "spdl1;" IDENTITY ("7") "epoch=1,mark=0,done=;");
  push_source (&feed, 3, 5, "spdl1;" IDENTITY ("3") "epoch=0,mark=4,done=;");
  push_batch (&feed, 7, 1, 2);
  push_batch (&feed, 3, 0, 4);
  g_free (pull (&feed));
  assert_pull (&feed,
      "spdl1;" IDENTITY ("0") "epoch=0,mark=0,done=BB;" IDENTITY (
          "3") "epoch=1,mark=0,done=;" IDENTITY ("7") "epoch=1,mark=0,"
                                                      "done=CB;");
  gst_event_unref (event);
  feed_end (&feed);
}

GST_END_TEST;

/* A number that is announced again for another dataset ends the states, with
 * one warning. The next run has states again. */
GST_START_TEST (test_conflict)
{
  static const gchar other[] =
      "spdl1;source=0,count=100,hash=fedcba9876543210,shuffle=0,seed=0,rank=0,"
      "world-size=1,shard-mode=pad,epoch=0,mark=0,done=;";
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstMessage *message;
  guint n_warnings = 0;
  Feed feed;

  feed_begin (&feed);
  gst_element_set_bus (feed.sink, bus);
  push_source (&feed, 0, 10, STATE ("epoch=0,mark=0,done="));
  push_batch (&feed, 0, 0, 0);
  push_source (&feed, 0, 10, other);
  push_batch (&feed, 0, 0, 0);
  push_source (&feed, 0, 10, STATE ("epoch=0,mark=0,done="));
  push_batch (&feed, 0, 0, 1);
  assert_pull (&feed, STATE ("epoch=0,mark=1,done="));
  assert_property (&feed, STATE ("epoch=0,mark=1,done="));
  assert_pull (&feed, NULL);
  assert_pull (&feed, NULL);
  assert_property (&feed, NULL);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    n_warnings++;
  }
  fail_unless_equals_int (n_warnings, 1);

  gst_element_set_state (feed.sink, GST_STATE_READY);
  gst_element_set_state (feed.sink, GST_STATE_PLAYING);
  gst_pad_set_active (feed.src, TRUE);
  begin_stream (&feed);
  push_source (&feed, 0, 10, other);
  push_batch (&feed, 0, 0, 0);
  assert_pull (&feed,
      "spdl1;source=0,count=100,hash=fedcba9876543210,shuffle=0,seed=0,rank=0,"
      "world-size=1,shard-mode=pad,epoch=0,mark=1,done=;");
  gst_element_set_bus (feed.sink, NULL);
  gst_bus_set_flushing (bus, TRUE);
  feed_end (&feed);
}

GST_END_TEST;

/* A run that starts from READY has none of the batches of the last one, nor its
 * end. */
GST_START_TEST (test_ready)
{
  Feed feed;
  GstSample *sample;
  gboolean eos;

  feed_begin (&feed);
  for (guint i = 0; i < 3; i++) {
    push_source (&feed, 0, 100, STATE ("epoch=0,mark=0,done="));
    push_batch (&feed, 0, 0, 0, 1);
    push_batch (&feed, 0, 0, 2, 3);
    assert_pull (&feed, STATE ("epoch=0,mark=2,done="));
    if (i > 0) {
      assert_pull (&feed, STATE ("epoch=0,mark=4,done="));
      /* Appsink waits here until all batches are pulled. */
      gst_pad_push_event (feed.src, gst_event_new_eos ());
    }
    gst_element_set_state (feed.sink, GST_STATE_READY);
    gst_element_set_state (feed.sink, GST_STATE_PLAYING);
    assert_property (&feed, NULL);
    begin_stream (&feed);
    g_object_get (feed.sink, "eos", &eos, NULL);
    fail_if (eos);
    g_signal_emit_by_name (feed.sink, "try-pull-sample", (guint64) 0, &sample);
    fail_unless (sample == NULL);
  }
  feed_end (&feed);
}

GST_END_TEST;

/* Flushed items count as not delivered. */
GST_START_TEST (test_flush)
{
  Feed feed;

  feed_begin (&feed);
  push_source (&feed, 0, 100, STATE ("epoch=0,mark=0,done="));
  push_batch (&feed, 0, 0, 0, 1);
  push_batch (&feed, 0, 0, 2, 3);
  push_batch (&feed, 0, 0, 4, 5);
  assert_pull (&feed, STATE ("epoch=0,mark=2,done="));
  flush (&feed);
  assert_property (&feed, STATE ("epoch=0,mark=2,done="));
  push_batch (&feed, 0, 0, 6, 7);
  assert_pull (&feed, STATE ("epoch=0,mark=2,done=EC"));
  flush (&feed);
  push_batch (&feed, 0, 0, 8);
  assert_pull (&feed, STATE ("epoch=0,mark=2,done=ED"));

  feed_end (&feed);
}

GST_END_TEST;

/* With appsink's functions, the sink cannot count pulled batches: it gives no
 * state rather than a wrong one. */
GST_START_TEST (test_flush_unknown)
{
  Feed feed;

  feed_begin (&feed);
  push_source (&feed, 0, 100, STATE ("epoch=0,mark=0,done="));
  push_batch (&feed, 0, 0, 0, 1);
  push_batch (&feed, 0, 0, 2, 3);
  gst_sample_unref (gst_app_sink_pull_sample (GST_APP_SINK (feed.sink)));
  assert_property (&feed, NULL);
  flush (&feed);
  push_batch (&feed, 0, 0, 4);
  assert_pull (&feed, NULL);
  assert_property (&feed, NULL);
  feed_end (&feed);
}

GST_END_TEST;

static void
push_item (Feed *feed, guint64 epoch, guint64 sequence, guint parts)
{
  const GstSpdlItemMeta item = make_item (0, epoch, sequence);
  GstBuffer *buffer = gst_buffer_new ();
  GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (buffer);

  gst_spdl_item_meta_assign (meta, &item);
  meta->parts = parts;
  fail_unless_equals_int (gst_pad_push (feed->src, buffer), GST_FLOW_OK);
}

GST_START_TEST (test_items)
{
  Feed feed;

  feed_begin (&feed);
  push_source (&feed, 0, 4, STATE ("epoch=0,mark=0,done="));
  push_item (&feed, 0, 1, 1);
  push_item (&feed, 0, 0, 2);
  push_item (&feed, 0, 0, 2);
  push_dropped (&feed, 0, 3);
  push_item (&feed, 0, 2, 1);
  gst_pad_push_event (feed.src, gst_spdl_event_new_epoch (0, 0, 4));
  push_dropped (&feed, 1, 0);
  push_item (&feed, 1, 1, 1);
  assert_property (&feed, STATE ("epoch=0,mark=0,done=DB"));
  assert_pull (&feed, NULL);
  assert_property (&feed, STATE ("epoch=0,mark=0,done=BBBB"));
  assert_pull (&feed, NULL);
  assert_property (&feed, STATE ("epoch=0,mark=0,done=BBBB"));
  assert_pull (&feed, NULL);
  assert_property (&feed, STATE ("epoch=0,mark=2,done=BB"));
  assert_pull (&feed, NULL);
  assert_property (&feed, STATE ("epoch=1,mark=1,done="));
  assert_pull (&feed, NULL);
  assert_property (&feed, STATE ("epoch=1,mark=2,done="));
  feed_end (&feed);
}

GST_END_TEST;

GST_START_TEST (test_max_gaps)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  Feed feed;

  feed_begin (&feed);
  gst_element_set_bus (feed.sink, bus);
  g_object_set (feed.sink, "max-gaps", 2, NULL);
  push_source (&feed, 0, 20, STATE ("epoch=0,mark=0,done="));
  push_batch (&feed, 0, 0, 1, 3);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  push_batch (&feed, 0, 0, 5);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  push_batch (&feed, 0, 0, 7);
  push_batch (&feed, 0, 0, 2, 4);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  assert_pull (&feed, STATE ("epoch=0,mark=0,done=BBBB"));
  assert_pull (&feed, NULL);
  assert_property (&feed, NULL);
  assert_pull (&feed, NULL);
  assert_pull (&feed, STATE ("epoch=0,mark=0,done=BFBB"));
  gst_element_set_bus (feed.sink, NULL);
  gst_object_unref (bus);
  feed_end (&feed);
}

GST_END_TEST;

/* A shared batch is not modified. */
GST_START_TEST (test_shared)
{
  GstBuffer *first = make_batch (0, 0, 0, END);
  GstBuffer *batch = make_batch (0, 0, 1, END);
  GstSample *sample;
  Feed feed;

  feed_begin (&feed);
  push_source (&feed, 0, 20, STATE ("epoch=0,mark=0,done="));
  gst_pad_push (feed.src, gst_buffer_ref (first));
  assert_pull (&feed, STATE ("epoch=0,mark=1,done="));
  fail_unless (gst_spdl_buffer_get_batch_meta (first)->resume_state == NULL);
  /* Otherwise it is not copied. */
  gst_pad_push (feed.src, batch);
  g_signal_emit_by_name (feed.sink, "pull-sample", &sample);
  fail_unless (gst_sample_get_buffer (sample) == batch);
  fail_unless_equals_string (
      gst_spdl_buffer_get_batch_meta (batch)->resume_state,
      STATE ("epoch=0,mark=2,done="));
  gst_sample_unref (sample);
  gst_buffer_unref (first);
  feed_end (&feed);
}

GST_END_TEST;

static GstBuffer *
mark_cached (GstBuffer *buffer)
{
  gst_spdl_buffer_mark_cached (buffer);
  return buffer;
}

/* Batches and items from a cache do not count as delivered. */
GST_START_TEST (test_cached)
{
  const GstSpdlItemMeta item = make_item (0, 0, 6);
  GstBuffer *single = gst_buffer_new ();
  Feed feed;

  feed_begin (&feed);
  push_source (&feed, 0, 20, STATE ("epoch=0,mark=0,done="));
  push_batch (&feed, 0, 0, 0, 1);
  gst_pad_push (feed.src, mark_cached (make_batch (0, 0, 2, 3, END)));
  gst_pad_push (feed.src, mark_cached (make_batch (0, 5, 0, 1, END)));
  assert_pull (&feed, STATE ("epoch=0,mark=2,done="));
  assert_pull (&feed, STATE ("epoch=0,mark=2,done="));
  assert_property (&feed, STATE ("epoch=0,mark=2,done="));
  flush (&feed);
  assert_property (&feed, STATE ("epoch=0,mark=2,done="));

  gst_spdl_item_meta_assign (gst_spdl_buffer_add_item_meta (single), &item);
  gst_pad_push (feed.src, mark_cached (gst_buffer_copy (single)));
  gst_pad_push (feed.src, single);
  g_free (pull (&feed));
  assert_property (&feed, STATE ("epoch=0,mark=2,done="));
  g_free (pull (&feed));
  assert_property (&feed, STATE ("epoch=0,mark=2,done=EB"));
  feed_end (&feed);
}

GST_END_TEST;

static guint64
get_time (Feed *feed, const gchar *field)
{
  GstStructure *stats;
  guint64 time = 0;

  g_object_get (feed->sink, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &time), "%s", field);
  gst_structure_free (stats);
  return time;
}

/* The time between two pulls is the training step; a wait does not count, even
 * with several attempts. */
GST_START_TEST (test_step_time)
{
  GstSample *sample = NULL;
  Feed feed;
  gint64 begun;

  feed_begin (&feed);
  push_batch (&feed, 0, 0, 0);
  g_free (pull (&feed));
  /* A step of at least 20 ms. */
  g_usleep (20000);
  begun = g_get_monotonic_time ();
  for (guint i = 0; i < 4; i++) {
    g_signal_emit_by_name (
        feed.sink, "try-pull-sample", (guint64) (30 * GST_MSECOND), &sample);
    fail_unless (sample == NULL);
  }
  push_batch (&feed, 0, 0, 1);
  g_free (pull (&feed));
  begun = g_get_monotonic_time () - begun;
  fail_unless (get_time (&feed, "p50-step-time") >= 20 * GST_MSECOND);
  fail_unless (
      get_time (&feed, "p99-step-time") == get_time (&feed, "ave-step-time"));
  /* The two waits include all attempts. */
  fail_unless (get_time (&feed, "ave-get-time") >= 60 * GST_MSECOND);
  /* Nothing is counted twice. */
  fail_unless (get_time (&feed, "ave-get-time") * 2 <=
               begun * GST_USECOND + get_time (&feed, "p99-get-time"));
  feed_end (&feed);
}

GST_END_TEST;

/* gst-launch-1.0 cannot pull batches: a warning is posted when the sink would
 * wait. */
GST_START_TEST (test_gst_launch)
{
  static const struct {
    const gchar *program, *sink;
    gboolean warns;
  } cases[] = {
    { "gst-launch-1.0", "spdlsink", TRUE },
    { "gst-launch-1.0", "spdlsink max-buffers=0", FALSE },
    { "gst-launch-1.0", "spdlsink drop=true", FALSE },
    { "gst-spdl-launch-1.0", "spdlsink", FALSE },
  };
  g_autofree gchar *own = g_strdup (g_get_prgname ());

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *line = g_strconcat (
        "videotestsrc num-buffers=1 ! spdlbatch ! ", cases[i].sink, NULL);
    GstElement *pipeline = gst_parse_launch (line, NULL);
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message;

    g_set_prgname (cases[i].program);
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    message = gst_bus_timed_pop_filtered (
        bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING | GST_MESSAGE_ASYNC_DONE);
    fail_unless_equals_int (
        GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING, cases[i].warns);
    if (cases[i].warns) {
      g_autoptr (GError) warning = NULL;

      gst_message_parse_warning (message, &warning, NULL);
      g_assert_error (warning, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
    }
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
  }
  g_set_prgname (own);
}

GST_END_TEST;

/* Waits of appsink */

typedef struct {
  Feed feed;
  GstBufferList *list; /* to push */
  GMutex lock;
  GCond cond;
  gboolean prerolls;
} Race;

static GstState
get_pending (GstElement *element)
{
  GstState pending;

  GST_OBJECT_LOCK (element);
  pending = GST_STATE_PENDING (element);
  GST_OBJECT_UNLOCK (element);
  return pending;
}

/* Holds the preroll lock until PLAYING is pending. */
static GstFlowReturn
on_preroll (GstElement *sink, Race *race)
{
  g_mutex_lock (&race->lock);
  race->prerolls = TRUE;
  g_cond_signal (&race->cond);
  g_mutex_unlock (&race->lock);
  while (get_pending (sink) != GST_STATE_PLAYING)
    g_thread_yield ();
  return GST_FLOW_OK;
}

static void
race_begin (Race *race, guint max_buffers)
{
  *race = (Race){ .prerolls = FALSE };
  g_mutex_init (&race->lock);
  g_cond_init (&race->cond);
  feed_setup (&race->feed);
  g_object_set (race->feed.sink, "max-buffers", max_buffers, "async", FALSE,
      "emit-signals", TRUE, NULL);
}

static void
race_end (Race *race)
{
  feed_end (&race->feed);
  g_mutex_clear (&race->lock);
  g_cond_clear (&race->cond);
}

static gpointer
push_list (gpointer user_data)
{
  Race *race = user_data;

  return GINT_TO_POINTER (gst_pad_push_list (race->feed.src, race->list));
}

static void
pull_one (GstElement *sink)
{
  GstSample *sample = NULL;

  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample != NULL);
  gst_sample_unref (sample);
}

static gboolean
unlock_sink (GstElement *sink)
{
  return GST_BASE_SINK_GET_CLASS (sink)->unlock (GST_BASE_SINK (sink));
}

/* The end of a flush. */
static void
unlock_stop_sink (GstElement *sink)
{
  GST_BASE_SINK_PREROLL_LOCK (sink);
  GST_BASE_SINK_GET_CLASS (sink)->unlock_stop (GST_BASE_SINK (sink));
  GST_BASE_SINK_PREROLL_SIGNAL (sink);
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
}

/* The stream fills the sink before the thread that sets PLAYING has the preroll
 * lock. Nothing is pulled until it has set PLAYING, also if a flush wants the
 * lock at the same time. */
GST_START_TEST (test_playing_when_full)
{
  for (guint flushes = 0; flushes < 2; flushes++) {
    Race race;
    GstElement *sink;
    GThread *thread;

    race_begin (&race, 1);
    sink = race.feed.sink;
    g_signal_connect (sink, "new-preroll", G_CALLBACK (on_preroll), &race);
    gst_element_set_state (sink, GST_STATE_PAUSED);
    begin_stream (&race.feed);
    race.list = gst_buffer_list_new ();
    for (guint i = 0; i < 3; i++)
      gst_buffer_list_add (race.list, gst_buffer_new_allocate (NULL, 1, NULL));
    thread = g_thread_new ("push", push_list, &race);
    g_mutex_lock (&race.lock);
    while (!race.prerolls)
      g_cond_wait (&race.cond, &race.lock);
    g_mutex_unlock (&race.lock);
    if (flushes)
      fail_unless (unlock_sink (sink));
    fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PLAYING),
        GST_STATE_CHANGE_SUCCESS);
    if (flushes)
      unlock_stop_sink (sink);
    for (guint i = 0; i < 3; i++)
      pull_one (sink);
    fail_unless_equals_int (
        GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_OK);
    race_end (&race);
  }
}

GST_END_TEST;

static gpointer
drain (gpointer user_data)
{
  Race *race = user_data;
  GstQuery *query = gst_query_new_drain ();
  const gboolean ok = gst_pad_peer_query (race->feed.src, query);

  gst_query_unref (query);
  return GINT_TO_POINTER (ok);
}

static gboolean
waits_in_preroll (GstElement *sink)
{
  gboolean waits;

  GST_BASE_SINK_PREROLL_LOCK (sink);
  waits = GST_BASE_SINK (sink)->have_preroll;
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
  return waits;
}

/* A drain that is asked to leave the wait waits for the end of this request,
 * and then for the application. */
GST_START_TEST (test_drain)
{
  Race race;
  GThread *thread;

  race_begin (&race, 0);
  gst_element_set_state (race.feed.sink, GST_STATE_PLAYING);
  begin_stream (&race.feed);
  fail_unless_equals_int (
      gst_pad_push (race.feed.src, gst_buffer_new_allocate (NULL, 1, NULL)),
      GST_FLOW_OK);
  fail_unless (unlock_sink (race.feed.sink));
  thread = g_thread_new ("drain", drain, &race);
  while (!waits_in_preroll (race.feed.sink))
    g_thread_yield ();
  unlock_stop_sink (race.feed.sink);
  pull_one (race.feed.sink);
  fail_unless (GPOINTER_TO_INT (g_thread_join (thread)));
  race_end (&race);
}

GST_END_TEST;

CHECK_SUITE (sink, TEST (test_states), TEST (test_sources),
    TEST (test_conflict), TEST (test_ready), TEST (test_flush),
    TEST (test_flush_unknown), TEST (test_items), TEST (test_max_gaps),
    TEST (test_shared), TEST (test_cached), TEST (test_step_time),
    TEST (test_gst_launch), TEST (test_playing_when_full), TEST (test_drain))
