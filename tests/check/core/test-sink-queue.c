/* gst-spdl: tests of the sink queue
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/sink/sinkqueue.h"

#define FOREVER GST_CLOCK_TIME_NONE

static void
add_buffer (SpdlSinkQueue *queue, guint64 number)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_OFFSET (buffer) = number;
  spdl_sink_queue_add_buffer (queue, buffer, NULL, number % 2);
  gst_buffer_unref (buffer);
}

/* Takes the next entry, as text: b7 is a buffer, e7 the end of epoch 7, -
 * nothing, w a wake-up, and . the end. */
static gchar *
take (SpdlSinkQueue *queue, guint *wakes)
{
  SpdlSinkItem sink_item = { NULL };
  gboolean made_room;
  gchar *text;

  switch (spdl_sink_queue_take (queue, 0, wakes, &sink_item, &made_room)) {
    case SPDL_SINK_QUEUE_RESULT_BUFFER:
      text = g_strdup_printf (
          "b%" G_GUINT64_FORMAT, GST_BUFFER_OFFSET (sink_item.buffer));
      g_assert_cmpint (
          sink_item.exclusive, ==, GST_BUFFER_OFFSET (sink_item.buffer) % 2);
      gst_buffer_unref (sink_item.buffer);
      return text;
    case SPDL_SINK_QUEUE_RESULT_EPOCH:
      return g_strdup_printf ("e%" G_GUINT64_FORMAT, sink_item.epoch);
    case SPDL_SINK_QUEUE_RESULT_WAKE:
      return g_strdup ("w");
    case SPDL_SINK_QUEUE_RESULT_EOS:
      return g_strdup (".");
    default:
      return g_strdup ("-");
  }
}

static void
assert_comes (SpdlSinkQueue *queue, guint *wakes, const gchar *expected)
{
  g_auto (GStrv) parts = g_strsplit (expected, " ", -1);

  for (guint i = 0; parts[i]; i++) {
    g_autofree gchar *text = take (queue, wakes);

    g_assert_cmpstr (text, ==, parts[i]);
  }
}

static void
test_wait (void)
{
  SpdlSinkQueue queue;
  guint wakes = 0;

  spdl_sink_queue_init (&queue);
  g_assert_false (spdl_sink_queue_wait (&queue, 0, wakes));
  g_assert_false (spdl_sink_queue_wait (&queue, 1000, wakes));
  spdl_sink_queue_add_epoch (&queue, 0, NULL);
  g_assert_true (spdl_sink_queue_wait (&queue, 0, wakes));
  assert_comes (&queue, &wakes, "e0 -");
  spdl_sink_queue_wake (&queue);
  /* A wake-up stays until it is taken. */
  g_assert_true (spdl_sink_queue_wait (&queue, 0, wakes));
  assert_comes (&queue, &wakes, "w -");
  g_assert_false (spdl_sink_queue_wait (&queue, 0, wakes));
  add_buffer (&queue, 1);
  g_assert_true (spdl_sink_queue_wait (&queue, GST_CLOCK_TIME_NONE, wakes));
  assert_comes (&queue, &wakes, "b1 -");
  spdl_sink_queue_add_eos (&queue);
  g_assert_true (spdl_sink_queue_wait (&queue, GST_CLOCK_TIME_NONE, wakes));
  spdl_sink_queue_clear (&queue);
}

static void
test_order (void)
{
  SpdlSinkQueue queue;
  guint wakes = 0;

  spdl_sink_queue_init (&queue);
  assert_comes (&queue, &wakes, "- -");
  add_buffer (&queue, 1);
  add_buffer (&queue, 2);
  for (guint i = 4; i < 7; i++)
    spdl_sink_queue_add_epoch (&queue, i, NULL);
  add_buffer (&queue, 3);
  g_assert_cmpint (queue.queue.length, ==, 4);
  assert_comes (&queue, &wakes, "b1 b2 e4");
  spdl_sink_queue_add_epoch (&queue, 7, NULL);
  /* The end of an epoch of another source. */
  spdl_sink_queue_add_epoch (&queue, 6, NULL);
  spdl_sink_queue_add_epoch (&queue, 7, NULL);
  spdl_sink_queue_wake (&queue);
  spdl_sink_queue_wake (&queue);
  spdl_sink_queue_add_eos (&queue);
  /* Wake-ups apply only to callers that would wait. */
  assert_comes (&queue, &wakes, "e5 e6 b3 e7 . .");
  spdl_sink_queue_reset (&queue);
  assert_comes (&queue, &wakes, "-");
  spdl_sink_queue_wake (&queue);
  assert_comes (&queue, &wakes, "w -");
  spdl_sink_queue_add_epoch (&queue, 0, NULL);
  add_buffer (&queue, 9);
  spdl_sink_queue_clear (&queue);
}

/* Takes an entry and checks its epoch and state. */
static void
assert_ends (SpdlSinkQueue *queue, guint64 epoch, const gchar *state)
{
  SpdlSinkItem sink_item = { NULL };
  gboolean made_room;
  guint wakes = 0;

  g_assert_cmpint (
      spdl_sink_queue_take (queue, 0, &wakes, &sink_item, &made_room), ==,
      SPDL_SINK_QUEUE_RESULT_EPOCH);
  g_assert_cmpuint (sink_item.epoch, ==, epoch);
  g_assert_cmpstr (sink_item.state, ==, state);
  g_free (sink_item.state);
}

/* The last of several consecutive ends has the state, also that of another
 * source, and after the buffer between them was dropped. */
static void
test_states (void)
{
  SpdlSinkQueue queue;

  spdl_sink_queue_init (&queue);
  for (guint i = 0; i < 2; i++)
    spdl_sink_queue_add_epoch (&queue, i, g_strdup_printf ("after %u", i));
  spdl_sink_queue_add_epoch (&queue, 1, g_strdup ("of all"));
  spdl_sink_queue_add_epoch (&queue, 1, NULL);
  assert_ends (&queue, 0, NULL);
  assert_ends (&queue, 1, "of all");
  spdl_sink_queue_add_epoch (&queue, 1, g_strdup ("late"));
  spdl_sink_queue_add_epoch (&queue, 2, g_strdup ("before"));
  add_buffer (&queue, 1);
  spdl_sink_queue_add_epoch (&queue, 3, g_strdup ("behind"));
  spdl_sink_queue_drop (&queue);
  assert_ends (&queue, 2, NULL);
  assert_ends (&queue, 3, "behind");
  spdl_sink_queue_add_epoch (&queue, 4, g_strdup ("left"));
  spdl_sink_queue_clear (&queue);
}

static void
test_room (void)
{
  SpdlSinkQueue queue;
  SpdlSinkItem sink_item;
  gboolean made_room;
  guint wakes = 0;

  spdl_sink_queue_init (&queue);
  for (guint i = 0; i < 3; i++) {
    g_assert_true (spdl_sink_queue_has_room (&queue, 3));
    add_buffer (&queue, i);
    spdl_sink_queue_add_epoch (&queue, i, NULL);
  }
  g_assert_true (spdl_sink_queue_has_room (&queue, 0));
  g_assert_false (spdl_sink_queue_has_room (&queue, 3));
  /* Only the first call that makes room reports it. */
  for (guint i = 0; i < 4; i++) {
    spdl_sink_queue_take (&queue, 0, &wakes, &sink_item, &made_room);
    g_assert_cmpint (made_room, ==, i == 0);
    gst_clear_buffer (&sink_item.buffer);
  }
  g_assert_true (spdl_sink_queue_has_room (&queue, 3));
  spdl_sink_queue_drop (&queue);
  spdl_sink_queue_drop (&queue);
  assert_comes (&queue, &wakes, "e2 -");
  spdl_sink_queue_reset (&queue);
  /* Ends of epochs without buffers in between are merged. */
  for (guint i = 0; i < 3; i++) {
    spdl_sink_queue_add_epoch (&queue, i, NULL);
    add_buffer (&queue, i);
  }
  for (guint i = 0; i < 3; i++)
    spdl_sink_queue_drop (&queue);
  g_assert_cmpint (queue.queue.length, ==, 1);
  assert_comes (&queue, &wakes, "e0 e1 e2 -");
  spdl_sink_queue_clear (&queue);
}

#define N_BUFFERS 10000

typedef struct {
  SpdlSinkQueue queue;
  GstBuffer *buffers[N_BUFFERS];
} Shared;

static gpointer
add_all (gpointer user_data)
{
  Shared *shared = user_data;
  SpdlSinkQueue *queue = &shared->queue;

  for (guint i = 0; i < N_BUFFERS; i++) {
    while (!spdl_sink_queue_has_room (queue, 4))
      g_thread_yield ();
    spdl_sink_queue_add_buffer (queue, shared->buffers[i], NULL, TRUE);
    if (i % 10 == 9)
      spdl_sink_queue_add_epoch (queue, i / 10, NULL);
    if (i % 7 == 0)
      spdl_sink_queue_wake (queue);
  }
  spdl_sink_queue_add_eos (queue);
  return NULL;
}

/* Nothing is lost between threads, and no thread waits forever. */
static void
test_threads (void)
{
  Shared *shared = g_new0 (Shared, 1);
  SpdlSinkItem sink_item;
  SpdlSinkQueueResult arrived;
  gboolean made_room;
  guint wakes = 0, n_buffers = 0, n_epochs = 0;
  GThread *thread;

  spdl_sink_queue_init (&shared->queue);
  for (guint i = 0; i < N_BUFFERS; i++)
    shared->buffers[i] = gst_buffer_new ();
  thread = g_thread_new ("add", add_all, shared);
  do {
    arrived = spdl_sink_queue_take (
        &shared->queue, FOREVER, &wakes, &sink_item, &made_room);
    if (arrived == SPDL_SINK_QUEUE_RESULT_BUFFER) {
      g_assert_true (sink_item.buffer == shared->buffers[n_buffers++]);
      gst_buffer_unref (sink_item.buffer);
    } else if (arrived == SPDL_SINK_QUEUE_RESULT_EPOCH) {
      g_assert_cmpuint (sink_item.epoch, ==, n_epochs);
      g_assert_cmpuint (n_buffers, ==, ++n_epochs * 10);
    }
  } while (arrived != SPDL_SINK_QUEUE_RESULT_EOS);
  g_assert_cmpuint (n_buffers, ==, N_BUFFERS);
  g_assert_cmpuint (n_epochs, ==, N_BUFFERS / 10);
  g_thread_join (thread);
  for (guint i = 0; i < N_BUFFERS; i++)
    gst_buffer_unref (shared->buffers[i]);
  spdl_sink_queue_clear (&shared->queue);
  g_free (shared);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/sink-queue/order", test_order);
  g_test_add_func ("/sink-queue/states", test_states);
  g_test_add_func ("/sink-queue/wait", test_wait);
  g_test_add_func ("/sink-queue/room", test_room);
  g_test_add_func ("/sink-queue/threads", test_threads);
  return g_test_run ();
}
