/* gst-spdl: tests of the bell that wakes a worker's sink when a slab is free
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sys/socket.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "plugins/ipc/element/workermessage.h"
#include "plugins/ipc/worker/workersink.h"
#include "tests/check/support/suite.h"

/* Bell */

typedef struct {
  SpdlBell *theirs, *ours;
  gint n_free; /* atomic */
} Pair;

static void
pair_init (Pair *self)
{
  self->ours = spdl_bell_new ();
  fail_unless (self->ours != NULL);
  self->theirs = spdl_bell_open (dup (self->ours->fd));
  fail_unless (self->theirs != NULL);
  self->n_free = 0;
}

static void
pair_clear (Pair *self)
{
  spdl_bell_free (self->ours);
  spdl_bell_free (self->theirs);
}

static gpointer
free_all (gpointer data)
{
  Pair *pair = data;

  for (guint i = 0; i < 1000; i++) {
    g_atomic_int_inc (&pair->n_free);
    spdl_bell_ring (pair->ours);
  }
  return NULL;
}

/* Tests that no ring is lost: the last one may come before the announcement, or
 * between announcement and wait. */
GST_START_TEST (test_rings)
{
  Pair pair;
  GThread *thread;

  pair_init (&pair);
  thread = g_thread_new ("free", free_all, &pair);
  for (gint i = 1; i <= 1000; i++)
    while (g_atomic_int_get (&pair.n_free) < i) {
      spdl_bell_begin (pair.theirs);
      if (g_atomic_int_get (&pair.n_free) < i)
        spdl_bell_wait (pair.theirs);
    }
  g_thread_join (thread);
  pair_clear (&pair);
}

GST_END_TEST;

GST_START_TEST (test_rung_before)
{
  Pair pair;

  pair_init (&pair);
  /* Without an announcement, there is no wait. */
  spdl_bell_wait (pair.theirs);
  spdl_bell_begin (pair.theirs);
  spdl_bell_ring (pair.ours);
  spdl_bell_wait (pair.theirs);
  spdl_bell_begin (pair.theirs);
  spdl_bell_ring (pair.theirs);
  spdl_bell_wait (pair.theirs);
  pair_clear (&pair);
}

GST_END_TEST;

/* Tests descriptors of something else than memory of a fixed size. */
GST_START_TEST (test_no_memory)
{
  int fds[2];

  fail_unless (pipe (fds) == 0);
  fail_unless (spdl_bell_open (fds[0]) == NULL);
  fail_unless (spdl_bell_open (-1) == NULL);
  /* The descriptor was closed. */
  fail_unless (close (fds[0]) < 0 && close (fds[1]) == 0);
}

GST_END_TEST;

/* Sink. With a single slab, it waits after each buffer. */

typedef struct {
  int socket; /* the other process's end */
  SpdlBell *bell;
  SpdlSharedBuffers *shared_buffers;
  SpdlWireReader reader;
  SpdlWire *wire;
  WorkerSink *sink;
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

  fail_unless (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
  self->socket = sockets[0];
  self->wire = spdl_wire_new (sockets[1]);
  self->bell = spdl_bell_new ();
  self->shared_buffers = spdl_shared_buffers_new (self->bell);
  self->reader.large = NULL;
  self->sink =
      worker_sink_new (self->wire, spdl_bell_open (dup (self->bell->fd)), 1);
  gst_object_ref_sink (self->sink);
  self->harness =
      gst_harness_new_with_element (GST_ELEMENT (self->sink), "sink", NULL);
  gst_harness_set_src_caps_str (self->harness, "application/octet-stream");
  self->thread = g_thread_new ("push", push, self);
}

/* Waits for a buffer. Returns the loan of its slab. */
static SpdlLoan *
rig_take (Rig *self)
{
  const SpdlPlaces places = { 0 };
  SpdlWireMessage message;
  SpdlLoan *loan;
  GError *error = NULL;

  do {
    fail_unless (spdl_wire_reader_receive (&self->reader, self->socket, 0,
                     FALSE, &message, &error) == SPDL_WIRE_ONE);
    if (message.type == SPDL_WIRE_SLAB) {
      SpdlPayload payload = spdl_payload (message.data, message.size);
      const guint32 id = spdl_get_u32 (&payload);

      fail_unless (spdl_shared_buffers_add (self->shared_buffers, id,
          spdl_get_u64 (&payload), message.fd, &error));
    }
  } while (message.type != SPDL_WIRE_BUFFER);
  loan = spdl_shared_buffers_take (self->shared_buffers, &places, &error);
  fail_unless (loan != NULL);
  /* A slab is sent again only after it was returned. */
  fail_unless (
      spdl_shared_buffers_take (self->shared_buffers, &places, &error) == NULL);
  g_clear_error (&error);
  return loan;
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
  gst_harness_teardown (self->harness);
  gst_object_unref (self->sink);
  spdl_wire_free (self->wire);
  spdl_wire_reader_clear (&self->reader);
  spdl_shared_buffers_close (self->shared_buffers);
  close (self->socket);
}

GST_START_TEST (test_slab_comes)
{
  Rig rig;

  rig_init (&rig);
  spdl_loan_unref (rig_take (&rig));
  fail_unless_equals_int (rig_join (&rig), GST_FLOW_OK);
  /* The slab is used again. */
  rig.thread = g_thread_new ("push", push, &rig);
  spdl_loan_unref (rig_take (&rig));
  fail_unless_equals_int (rig_join (&rig), GST_FLOW_OK);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_flush)
{
  Rig rig;

  rig_init (&rig);
  {
    SpdlLoan *loan = rig_take (&rig);

    gst_harness_push_event (rig.harness, gst_event_new_flush_start ());
    fail_unless_equals_int (rig_join (&rig), GST_FLOW_FLUSHING);
    spdl_loan_unref (loan);
  }
  rig_clear (&rig);
}

GST_END_TEST;

CHECK_SUITE (bell, TEST (test_rings), TEST (test_rung_before),
    TEST (test_no_memory), TEST (test_slab_comes), TEST (test_flush))
