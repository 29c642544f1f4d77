/* gst-spdl: tests of sending over the socket between a pipeline and its worker
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>

#include "plugins/ipc/wire/wire.h"
#include "tests/check/support/suite.h"

/* Returns: a wire; its peer in @peer */
static SpdlWire *
make_wire (int *peer)
{
  int sockets[2];

  fail_unless (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
  *peer = sockets[1];
  return spdl_wire_new (sockets[0]);
}

/* Tests that the peer reads an end of file after a message that could not be
 * sent, and not the messages after it. */
GST_START_TEST (test_lost_message)
{
  SpdlWireHeader header;
  int peer;
  SpdlWire *wire = make_wire (&peer);

  fail_unless (spdl_wire_send (wire, SPDL_WIRE_ASK, NULL, 0, -1));
  fail_unless_equals_int (spdl_wire_get_problem (wire), 0);
  fail_if (
      spdl_wire_send (wire, SPDL_WIRE_ASK, NULL, SPDL_WIRE_MAX_SIZE + 1ul, -1));
  fail_if (spdl_wire_send (wire, SPDL_WIRE_EOS, NULL, 0, -1));
  fail_unless_equals_int (spdl_wire_get_problem (wire), EMSGSIZE);
  fail_unless_equals_int (
      recv (peer, &header, sizeof header, MSG_WAITALL), sizeof header);
  fail_unless_equals_int (header.type, SPDL_WIRE_ASK);
  fail_unless_equals_int (recv (peer, &header, sizeof header, MSG_WAITALL), 0);
  close (peer);
  spdl_wire_free (wire);
}

GST_END_TEST;

/* Tests that a message is not sent, nor waited for, if the socket is full. */
GST_START_TEST (test_full_socket)
{
  static guint8 data[1000], byte;
  int peer;
  SpdlWire *wire = make_wire (&peer);
  guint n = 0;

  while (spdl_wire_try_send (wire, SPDL_WIRE_BUDGET, data, sizeof data))
    n++;
  fail_unless (n > 3);
  fail_unless_equals_int (spdl_wire_get_problem (wire), 0);
  for (guint i = 0; i < n; i++)
    fail_unless_equals_int (recv (peer, &byte, 1, 0), 1);
  fail_unless_equals_int (recv (peer, &byte, 1, MSG_DONTWAIT), -1);
  fail_unless (spdl_wire_try_send (wire, SPDL_WIRE_BUDGET, data, sizeof data));
  close (peer);
  fail_unless (spdl_wire_try_send (wire, SPDL_WIRE_BUDGET, data, sizeof data));
  spdl_wire_free (wire);
}

GST_END_TEST;

/* Tests that an exit of the peer does not count as a failure. */
GST_START_TEST (test_peer_exits)
{
  int peer;
  SpdlWire *wire = make_wire (&peer);

  close (peer);
  fail_if (spdl_wire_send (wire, SPDL_WIRE_ASK, NULL, 0, -1));
  fail_unless_equals_int (spdl_wire_get_problem (wire), 0);
  spdl_wire_free (wire);
}

GST_END_TEST;

/* Tests payloads on both sides of the limit from which they are in a file. */
GST_START_TEST (test_sizes)
{
  const gsize sizes[] = { 0, 1, SPDL_WIRE_MAX_INLINE, SPDL_WIRE_MAX_INLINE + 1,
    5 * SPDL_WIRE_MAX_INLINE };
  static SpdlWireReader reader;
  SpdlWireMessage message;
  GError *error = NULL;
  int peer;
  SpdlWire *wire = make_wire (&peer);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree guint8 *data = g_malloc0 (sizes[i] + 1);

    memset (data, i + 1, sizes[i]);
    fail_unless (spdl_wire_send (wire, SPDL_WIRE_START, data, sizes[i], -1));
    fail_unless (spdl_wire_reader_receive (&reader, peer, 0, TRUE, &message,
                     &error) == SPDL_WIRE_ONE);
    fail_unless_equals_int (message.type, SPDL_WIRE_START);
    fail_unless_equals_uint64 (message.size, sizes[i]);
    fail_unless (message.fd == -1 && !memcmp (message.data, data, sizes[i]));
  }
  spdl_wire_reader_clear (&reader);
  close (peer);
  spdl_wire_free (wire);
}

GST_END_TEST;

/* Tests that all messages of a process arrive that ends with unread ones. */
GST_START_TEST (test_peer_leaves_messages)
{
  static SpdlWireReader reader;
  SpdlWireMessage message;
  GError *error = NULL;
  int peer;
  SpdlWire *wire = make_wire (&peer);

  fail_unless (send (peer, "unread", 6, 0) == 6);
  for (guint i = 0; i < 3; i++)
    fail_unless (spdl_wire_send (wire, SPDL_WIRE_ASK, &i, sizeof i, -1));
  spdl_wire_free (wire);
  for (guint i = 0; i < 3; i++) {
    fail_unless (spdl_wire_reader_receive (&reader, peer, 0, TRUE, &message,
                     &error) == SPDL_WIRE_ONE);
    fail_unless (!memcmp (message.data, &i, sizeof i));
  }
  fail_unless (spdl_wire_reader_receive (&reader, peer, 0, TRUE, &message,
                   &error) == SPDL_WIRE_CLOSED);
  close (peer);
}

GST_END_TEST;

CHECK_SUITE (wire, TEST (test_lost_message), TEST (test_full_socket),
    TEST (test_peer_exits), TEST (test_sizes), TEST (test_peer_leaves_messages))
