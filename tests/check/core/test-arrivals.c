/* gst-spdl: tests of what comes to the sink for a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/sink/arrivals.h"

#define FOREVER GST_CLOCK_TIME_NONE

static void
add_buffer (SpdlArrivals *arrivals, guint64 number)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_OFFSET (buffer) = number;
  spdl_arrivals_add_buffer (arrivals, buffer, NULL, number % 2);
  gst_buffer_unref (buffer);
}

/* What comes next, as text: b7 a buffer, e7 an end of epoch 7, - nothing, w a
 * wake-up, . the end. */
static gchar *
take (SpdlArrivals *arrivals, guint *wakes)
{
  SpdlArrival arrival = { NULL };
  gboolean made_room;
  gchar *text;

  switch (spdl_arrivals_take (arrivals, 0, wakes, &arrival, &made_room)) {
    case SPDL_ARRIVED_BUFFER:
      text = g_strdup_printf (
          "b%" G_GUINT64_FORMAT, GST_BUFFER_OFFSET (arrival.buffer));
      g_assert_cmpint (
          arrival.exclusive, ==, GST_BUFFER_OFFSET (arrival.buffer) % 2);
      gst_buffer_unref (arrival.buffer);
      return text;
    case SPDL_ARRIVED_EPOCH:
      return g_strdup_printf ("e%" G_GUINT64_FORMAT, arrival.epoch);
    case SPDL_ARRIVED_WAKE:
      return g_strdup ("w");
    case SPDL_ARRIVED_EOS:
      return g_strdup (".");
    default:
      return g_strdup ("-");
  }
}

static void
assert_comes (SpdlArrivals *arrivals, guint *wakes, const gchar *expected)
{
  g_auto (GStrv) parts = g_strsplit (expected, " ", -1);

  for (guint i = 0; parts[i]; i++) {
    g_autofree gchar *text = take (arrivals, wakes);

    g_assert_cmpstr (text, ==, parts[i]);
  }
}

static void
test_wait (void)
{
  SpdlArrivals arrivals;
  guint wakes = 0;

  spdl_arrivals_init (&arrivals);
  g_assert_false (spdl_arrivals_wait (&arrivals, 0, wakes));
  g_assert_false (spdl_arrivals_wait (&arrivals, 1000, wakes));
  spdl_arrivals_add_epoch (&arrivals, 0);
  g_assert_true (spdl_arrivals_wait (&arrivals, 0, wakes));
  assert_comes (&arrivals, &wakes, "e0 -");
  spdl_arrivals_wake (&arrivals);
  /* It stays for who takes. */
  g_assert_true (spdl_arrivals_wait (&arrivals, 0, wakes));
  assert_comes (&arrivals, &wakes, "w -");
  g_assert_false (spdl_arrivals_wait (&arrivals, 0, wakes));
  add_buffer (&arrivals, 1);
  g_assert_true (spdl_arrivals_wait (&arrivals, GST_CLOCK_TIME_NONE, wakes));
  assert_comes (&arrivals, &wakes, "b1 -");
  spdl_arrivals_add_eos (&arrivals);
  g_assert_true (spdl_arrivals_wait (&arrivals, GST_CLOCK_TIME_NONE, wakes));
  spdl_arrivals_clear (&arrivals);
}

static void
test_order (void)
{
  SpdlArrivals arrivals;
  guint wakes = 0;

  spdl_arrivals_init (&arrivals);
  assert_comes (&arrivals, &wakes, "- -");
  add_buffer (&arrivals, 1);
  add_buffer (&arrivals, 2);
  for (guint i = 4; i < 7; i++)
    spdl_arrivals_add_epoch (&arrivals, i);
  add_buffer (&arrivals, 3);
  g_assert_cmpint (arrivals.queue.length, ==, 4);
  assert_comes (&arrivals, &wakes, "b1 b2 e4");
  spdl_arrivals_add_epoch (&arrivals, 7);
  /* Another source's. */
  spdl_arrivals_add_epoch (&arrivals, 6);
  spdl_arrivals_add_epoch (&arrivals, 7);
  spdl_arrivals_wake (&arrivals);
  spdl_arrivals_wake (&arrivals);
  spdl_arrivals_add_eos (&arrivals);
  /* Wake-ups are for who would wait. */
  assert_comes (&arrivals, &wakes, "e5 e6 b3 e7 . .");
  spdl_arrivals_reset (&arrivals);
  assert_comes (&arrivals, &wakes, "-");
  spdl_arrivals_wake (&arrivals);
  assert_comes (&arrivals, &wakes, "w -");
  spdl_arrivals_add_epoch (&arrivals, 0);
  add_buffer (&arrivals, 9);
  spdl_arrivals_clear (&arrivals);
}

static void
test_room (void)
{
  SpdlArrivals arrivals;
  SpdlArrival arrival;
  gboolean made_room;
  guint wakes = 0;

  spdl_arrivals_init (&arrivals);
  for (guint i = 0; i < 3; i++) {
    g_assert_true (spdl_arrivals_has_room (&arrivals, 3));
    add_buffer (&arrivals, i);
    spdl_arrivals_add_epoch (&arrivals, i);
  }
  g_assert_true (spdl_arrivals_has_room (&arrivals, 0));
  g_assert_false (spdl_arrivals_has_room (&arrivals, 3));
  /* Told once, to the first who makes room. */
  for (guint i = 0; i < 4; i++) {
    spdl_arrivals_take (&arrivals, 0, &wakes, &arrival, &made_room);
    g_assert_cmpint (made_room, ==, i == 0);
    gst_clear_buffer (&arrival.buffer);
  }
  g_assert_true (spdl_arrivals_has_room (&arrivals, 3));
  spdl_arrivals_drop (&arrivals);
  spdl_arrivals_drop (&arrivals);
  assert_comes (&arrivals, &wakes, "e2 -");
  spdl_arrivals_reset (&arrivals);
  /* Without the buffers between them, ends of epochs are one entry. */
  for (guint i = 0; i < 3; i++) {
    spdl_arrivals_add_epoch (&arrivals, i);
    add_buffer (&arrivals, i);
  }
  for (guint i = 0; i < 3; i++)
    spdl_arrivals_drop (&arrivals);
  g_assert_cmpint (arrivals.queue.length, ==, 1);
  assert_comes (&arrivals, &wakes, "e0 e1 e2 -");
  spdl_arrivals_clear (&arrivals);
}

#define N_BUFFERS 10000

typedef struct {
  SpdlArrivals arrivals;
  GstBuffer *buffers[N_BUFFERS];
} Shared;

static gpointer
add_all (gpointer user_data)
{
  Shared *shared = user_data;
  SpdlArrivals *arrivals = &shared->arrivals;

  for (guint i = 0; i < N_BUFFERS; i++) {
    while (!spdl_arrivals_has_room (arrivals, 4))
      g_thread_yield ();
    spdl_arrivals_add_buffer (arrivals, shared->buffers[i], NULL, TRUE);
    if (i % 10 == 9)
      spdl_arrivals_add_epoch (arrivals, i / 10);
    if (i % 7 == 0)
      spdl_arrivals_wake (arrivals);
  }
  spdl_arrivals_add_eos (arrivals);
  return NULL;
}

/* From one thread to another nothing is lost, and nobody sleeps for ever. */
static void
test_threads (void)
{
  Shared *shared = g_new0 (Shared, 1);
  SpdlArrival arrival;
  SpdlArrived arrived;
  gboolean made_room;
  guint wakes = 0, n_buffers = 0, n_epochs = 0;
  GThread *thread;

  spdl_arrivals_init (&shared->arrivals);
  for (guint i = 0; i < N_BUFFERS; i++)
    shared->buffers[i] = gst_buffer_new ();
  thread = g_thread_new ("add", add_all, shared);
  do {
    arrived = spdl_arrivals_take (
        &shared->arrivals, FOREVER, &wakes, &arrival, &made_room);
    if (arrived == SPDL_ARRIVED_BUFFER) {
      g_assert_true (arrival.buffer == shared->buffers[n_buffers++]);
      gst_buffer_unref (arrival.buffer);
    } else if (arrived == SPDL_ARRIVED_EPOCH) {
      g_assert_cmpuint (arrival.epoch, ==, n_epochs);
      g_assert_cmpuint (n_buffers, ==, ++n_epochs * 10);
    }
  } while (arrived != SPDL_ARRIVED_EOS);
  g_assert_cmpuint (n_buffers, ==, N_BUFFERS);
  g_assert_cmpuint (n_epochs, ==, N_BUFFERS / 10);
  g_thread_join (thread);
  for (guint i = 0; i < N_BUFFERS; i++)
    gst_buffer_unref (shared->buffers[i]);
  spdl_arrivals_clear (&shared->arrivals);
  g_free (shared);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/arrivals/order", test_order);
  g_test_add_func ("/arrivals/wait", test_wait);
  g_test_add_func ("/arrivals/room", test_room);
  g_test_add_func ("/arrivals/threads", test_threads);
  return g_test_run ();
}
