/* gst-spdl: tests of sending over the socket between a pipeline and its worker
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sys/socket.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>

#include "plugins/ipc/wire/wire.h"

/* Returns: a wire; its peer in @peer */
static SpdlWire *
make_wire (int *peer)
{
  int sockets[2];

  fail_unless (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
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
  spdl_wire_unref (wire);
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
  for (gsize i = 0; i < n * (sizeof (SpdlWireHeader) + sizeof data); i++)
    fail_unless_equals_int (recv (peer, &byte, 1, 0), 1);
  fail_unless_equals_int (recv (peer, &byte, 1, MSG_DONTWAIT), -1);
  fail_unless (spdl_wire_try_send (wire, SPDL_WIRE_BUDGET, data, sizeof data));
  close (peer);
  fail_unless (spdl_wire_try_send (wire, SPDL_WIRE_BUDGET, data, sizeof data));
  spdl_wire_unref (wire);
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
  spdl_wire_unref (wire);
}

GST_END_TEST;

static Suite *
wire_suite (void)
{
  Suite *suite = suite_create ("wire");
  TCase *tcase = tcase_create ("all");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_lost_message);
  tcase_add_test (tcase, test_full_socket);
  tcase_add_test (tcase, test_peer_exits);
  return suite;
}

GST_CHECK_MAIN (wire);
