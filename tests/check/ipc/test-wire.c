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

#include "gst/spdl/common/shapes.h"
#include "gst/spdl/wire/serializer.h"
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

static SpdlShapes *
make_shapes (void)
{
  const SpdlShapesSpec spec = {
    .fields = { [SPDL_SHAPES_BOXES] = g_quark_from_string ("a"),
        [SPDL_SHAPES_LABELS] = g_quark_from_string ("b"),
        [SPDL_SHAPES_POINTS] = g_quark_from_string ("c"),
        [SPDL_SHAPES_MASKS] = g_quark_from_string ("d") },
    .n_labels = 1,
    .point_size = 3
  };
  SpdlShapes *shapes = spdl_shapes_new (&spec, 2, 1);

  shapes->list = g_ref_string_new ("list.jsonl");
  shapes->width = 4;
  shapes->height = 5;
  for (guint i = 0; i < 8; i++)
    shapes->boxes[i] = i;
  shapes->labels[1] = -7;
  shapes->points[2] = 2;
  shapes->masks = spdl_masks_new (4, 5, FALSE);
  for (guint i = 0; i < 2; i++) {
    spdl_masks_add_run (shapes->masks, TRUE, 3 + i);
    spdl_masks_end_mask (shapes->masks);
  }
  return shapes;
}

/* Changes @size bytes of a field of the serialized shapes from @at on, or cuts
 * them off. Returns whether they can still be read. */
static gboolean
read_field_changed (const SpdlShapes *shapes, const gchar *field, gsize at,
    gconstpointer bytes, gsize size)
{
  g_autoptr (GstStructure) s = spdl_shapes_to_structure (shapes);
  GstBuffer *before = gst_value_get_buffer (gst_structure_get_value (s, field));
  g_autoptr (GstBuffer) changed = gst_buffer_copy_deep (before);
  SpdlShapes *read;

  if (bytes)
    gst_buffer_fill (changed, at, bytes, size);
  else
    gst_buffer_resize (changed, 0, at);
  gst_structure_set (s, field, GST_TYPE_BUFFER, changed, NULL);
  if (!(read = spdl_shapes_new_from_structure (s)))
    return FALSE;
  spdl_shapes_unref (read);
  return TRUE;
}

static gboolean
read_changed (
    const SpdlShapes *shapes, gsize at, gconstpointer bytes, gsize size)
{
  return read_field_changed (shapes, "bytes", at, bytes, size);
}

/* Tests that boxes, masks and keypoints arrive, and that broken ones do not. */
GST_START_TEST (test_shapes)
{
  static const guint many = 4000000000u;
  g_autoptr (SpdlShapes) shapes = make_shapes ();
  g_autoptr (GstStructure) extra = gst_structure_new_empty ("extra");
  g_autoptr (GstStructure) read = NULL;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GString) before = g_string_new ("{");
  g_autoptr (GString) after = g_string_new ("{");
  SpdlPayload payload;

  spdl_shapes_put (shapes, extra);
  spdl_put_structure (bytes, extra);
  payload = spdl_payload (bytes->data, bytes->len);
  read = spdl_get_structure (&payload);
  fail_unless (read && spdl_payload_is_read (&payload));
  spdl_shapes_append_json (shapes, extra, before);
  spdl_shapes_append_json (spdl_shapes_find (read), read, after);
  fail_unless_equals_string (after->str, before->str);
  fail_unless (g_str_has_prefix (after->str,
      "{\"a\":[[0.0,1.0,2.0,3.0],[4.0,5.0,6.0,7.0]],\"c\":[[0.0,0.0,2.0]],"
      "\"d\":[{\"size\":[5,4],\"counts\":\"0140005\"},"));

  fail_unless (read_changed (shapes, 0, "", 0));
  fail_if (read_changed (shapes, 0, NULL, 0));
  fail_if (read_changed (shapes, sizeof (SpdlShapes) + 1, NULL, 0));
  fail_if (read_changed (
      shapes, G_STRUCT_OFFSET (SpdlShapes, n_boxes), &many, sizeof many));
  fail_if (read_changed (
      shapes, G_STRUCT_OFFSET (SpdlShapes, n_points), &many, sizeof many));
  fail_if (read_changed (
      shapes, G_STRUCT_OFFSET (SpdlShapes, spec.n_labels), &many, sizeof many));
  fail_if (read_changed (shapes, G_STRUCT_OFFSET (SpdlShapes, spec.point_size),
      &many, sizeof many));
  fail_if (read_changed (shapes,
      G_STRUCT_OFFSET (SpdlShapes, spec.points_per_box), &many, sizeof many));
  /* The order, the ends of two masks, and three runs of each. */
  fail_unless (read_field_changed (shapes, "masks", 0, "", 0));
  fail_if (read_field_changed (shapes, "masks", 0, NULL, 0));
  fail_if (read_field_changed (shapes, "masks", 8, NULL, 0));
  fail_if (read_field_changed (shapes, "masks", 30, NULL, 0));
  for (gsize at = 4; at < 36; at += 4)
    fail_if (read_field_changed (shapes, "masks", at, &many, sizeof many));
}

GST_END_TEST;

CHECK_SUITE (wire, TEST (test_lost_message), TEST (test_full_socket),
    TEST (test_peer_exits), TEST (test_sizes), TEST (test_peer_leaves_messages),
    TEST (test_shapes))
