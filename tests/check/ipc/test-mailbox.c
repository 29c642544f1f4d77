/* gst-spdl: tests of the mailbox through which a worker's sink gets free slabs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sys/socket.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "plugins/ipc/worker/workersink.h"
#include "tests/check/support/errors.h"

/* Mailbox */

typedef struct {
  SpdlMailbox *theirs, *ours;
} Pair;

static void
pair_init (Pair *self)
{
  self->ours = spdl_mailbox_new ();
  fail_unless (self->ours != NULL);
  self->theirs = spdl_mailbox_open (dup (spdl_mailbox_get_fd (self->ours)));
}

static void
pair_clear (Pair *self)
{
  spdl_mailbox_free (self->ours);
  spdl_mailbox_free (self->theirs);
}

/* Puts each number as soon as the other side waits. */
static gpointer
put_next (gpointer data)
{
  Pair *pair = data;

  for (guint32 i = 0; i < 1000; i++)
    while (!spdl_mailbox_put (pair->ours, i))
      g_thread_yield ();
  return NULL;
}

GST_START_TEST (test_numbers)
{
  Pair pair;
  guint32 number;
  GThread *thread;

  pair_init (&pair);
  fail_if (spdl_mailbox_put (pair.ours, 7));
  thread = g_thread_new ("put", put_next, &pair);
  for (guint32 i = 0; i < 1000; i++) {
    spdl_mailbox_begin (pair.theirs);
    fail_unless (spdl_mailbox_wait (pair.theirs, &number));
    fail_unless_equals_int (number, i);
  }
  g_thread_join (thread);
  pair_clear (&pair);
}

GST_END_TEST;

GST_START_TEST (test_wake)
{
  Pair pair;
  guint32 number;

  pair_init (&pair);
  spdl_mailbox_wake (pair.theirs);
  spdl_mailbox_begin (pair.theirs);
  fail_if (spdl_mailbox_put (pair.ours, G_MAXUINT32));
  spdl_mailbox_wake (pair.theirs);
  fail_if (spdl_mailbox_put (pair.ours, 1));
  fail_if (spdl_mailbox_wait (pair.theirs, &number));
  /* A wake ends a wait without a number, but does not cancel a number that was
   * put. */
  spdl_mailbox_begin (pair.theirs);
  fail_unless (spdl_mailbox_put (pair.ours, 2));
  spdl_mailbox_wake (pair.theirs);
  fail_unless (spdl_mailbox_wait (pair.theirs, &number));
  fail_unless_equals_int (number, 2);
  pair_clear (&pair);
}

GST_END_TEST;

/* Tests a mailbox without shared memory: it is woken at once and takes no
 * numbers. */
GST_START_TEST (test_no_memory)
{
  int fds[2];
  guint32 number;

  fail_unless (pipe (fds) == 0);
  for (int i = 0; i < 2; i++) {
    SpdlMailbox *mailbox = spdl_mailbox_open (i == 0 ? fds[0] : -1);

    spdl_mailbox_begin (mailbox);
    spdl_mailbox_wake (mailbox);
    fail_if (spdl_mailbox_wait (mailbox, &number));
    spdl_mailbox_free (mailbox);
  }
  /* The mailbox has closed its file descriptor. */
  fail_unless (close (fds[0]) < 0 && close (fds[1]) == 0);
}

GST_END_TEST;

/* Sink. With a single slab, it waits after each buffer. */

typedef struct {
  int socket; /* the other process's end */
  SpdlMailbox *mailbox;
  SpdlWire *wire;
  WorkerSink *sink;
  GstBus *bus;
  GstHarness *harness;
  GThread *thread; /* pushes one buffer */
} Rig;

static gpointer
push (gpointer data)
{
  Rig *rig = data;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16, NULL);

  gst_buffer_memset (buffer, 0, 0, 16);
  return GINT_TO_POINTER (gst_harness_push (rig->harness, buffer));
}

static void
rig_init (Rig *self)
{
  int sockets[2];

  fail_unless (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  self->socket = sockets[0];
  self->wire = spdl_wire_new (sockets[1]);
  self->mailbox = spdl_mailbox_new ();
  self->sink = worker_sink_new (self->wire,
      spdl_mailbox_open (dup (spdl_mailbox_get_fd (self->mailbox))), 1);
  gst_object_ref_sink (self->sink);
  self->bus = gst_bus_new ();
  gst_element_set_bus (GST_ELEMENT (self->sink), self->bus);
  self->harness =
      gst_harness_new_with_element (GST_ELEMENT (self->sink), "sink", NULL);
  gst_harness_set_src_caps_str (self->harness, "application/octet-stream");
  self->thread = g_thread_new ("push", push, self);
}

static void
rig_put (Rig *self, guint32 slab)
{
  while (!spdl_mailbox_put (self->mailbox, slab))
    g_thread_yield ();
}

static GstFlowReturn
rig_join (Rig *self)
{
  return GPOINTER_TO_INT (g_thread_join (g_steal_pointer (&self->thread)));
}

static void
rig_clear (Rig *self)
{
  fail_unless (self->thread == NULL);
  gst_element_set_bus (GST_ELEMENT (self->sink), NULL);
  gst_harness_teardown (self->harness);
  gst_object_unref (self->sink);
  gst_object_unref (self->bus);
  spdl_wire_unref (self->wire);
  spdl_mailbox_free (self->mailbox);
  close (self->socket);
}

GST_START_TEST (test_slab_comes)
{
  Rig rig;

  rig_init (&rig);
  rig_put (&rig, 0);
  fail_unless_equals_int (rig_join (&rig), GST_FLOW_OK);
  /* As the element does if the sink does not wait. */
  rig.thread = g_thread_new ("push", push, &rig);
  while (!worker_sink_release (rig.sink, 0))
    g_thread_yield ();
  fail_unless_equals_int (rig_join (&rig), GST_FLOW_OK);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_no_such_slab)
{
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  Rig rig;

  rig_init (&rig);
  rig_put (&rig, 5);
  fail_unless_equals_int (rig_join (&rig), GST_FLOW_ERROR);
  message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (errors_has (error, "[resource-error failed]|5"));
  gst_message_unref (message);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Rig rig;

  rig_init (&rig);
  /* The slab was sent. */
  fail_unless (recv (rig.socket, &(gchar){ 0 }, 1, 0) == 1);
  gst_harness_push_event (rig.harness, gst_event_new_flush_start ());
  fail_unless_equals_int (rig_join (&rig), GST_FLOW_FLUSHING);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
mailbox_suite (void)
{
  Suite *suite = suite_create ("mailbox");
  TCase *tcase = tcase_create ("all");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_numbers);
  tcase_add_test (tcase, test_wake);
  tcase_add_test (tcase, test_no_memory);
  tcase_add_test (tcase, test_slab_comes);
  tcase_add_test (tcase, test_no_such_slab);
  tcase_add_test (tcase, test_flush);
  return suite;
}

GST_CHECK_MAIN (mailbox);
