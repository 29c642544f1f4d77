/* gst-spdl: fuzzes what a worker process and its parent send each other
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <unistd.h>

#include "plugins/ipc/element/letter.h"
#include "plugins/ipc/element/sourcebase.h"
#include "plugins/ipc/wire/order.h"
#include "plugins/ipc/wire/memfd.h"
#include "plugins/ipc/wire/parcelmessage.h"
#include "tests/fuzz/fuzz.h"

#define SLAB_SIZE 4096
#define MAX_HELD 8

/* Fuzzed: a setting, then messages as they come off the socket. Their sizes are
 * put right, or left as they are. */
typedef struct {
  SpdlShelf *shelf;
  GQueue held; /* GstBuffer */
  guint32 base;
  guint n_seen;
} Parent;

/* To the parent */

static void
read_bytes (GstBuffer *buffer)
{
  GstMapInfo map;
  guint8 sum = 0;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  for (gsize i = 0; i < map.size; i++)
    sum += map.data[i];
  gst_buffer_unmap (buffer, &map);
  g_assert_cmpuint (sum, ==, 0);
}

static void
check_items (GstBuffer *buffer, guint32 base)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  GByteArray *bytes = g_byte_array_new ();
  const SpdlPlaces none = { 0 };
  SpdlParcel parcel;
  SpdlPlaces places;
  GstBuffer *again;

  for (guint i = 0; batch && i < batch->num_items; i++)
    g_assert_true (!batch->items[i].uri ||
                   g_utf8_validate (batch->items[i].uri, -1, NULL));
  /* What was read is written so that it is read, too. */
  spdl_put_buffer (bytes, buffer, &none);
  parcel = spdl_parcel (bytes->data, bytes->len);
  again = spdl_get_buffer (&parcel, &places);
  /* Parts and pictures must lie within their memory, which is not here. */
  g_assert_true (
      again || gst_spdl_buffer_get_parts_meta (buffer) ||
      gst_buffer_get_meta (buffer, g_type_from_name ("GstVideoMetaAPI")));
  gst_clear_buffer (&again);
  g_byte_array_unref (bytes);
}

static void
take_letter (Parent *self, SpdlLetter *letter)
{
  GstBuffer *buffer;
  gboolean lent;

  spdl_letter_shift (letter, self->base);
  if (letter->kind == SPDL_LETTER_BUFFER) {
    buffer = g_steal_pointer (&letter->object);
    check_items (buffer, self->base);
    if (letter->lease)
      spdl_lease_give (g_steal_pointer (&letter->lease), buffer,
          &letter->places, self->n_seen++ % 4, &lent);
    read_bytes (buffer);
    g_queue_push_tail (&self->held, buffer);
    if (self->held.length > MAX_HELD)
      gst_buffer_unref (g_queue_pop_head (&self->held));
  }
  spdl_letter_free (letter);
}

static gboolean
read_figures (SpdlParcel *parcel)
{
  const guint32 n = spdl_get_u32 (parcel);
  GstStructure *s;

  for (guint32 i = 0; i < n && (s = spdl_get_structure (parcel)); i++)
    gst_structure_free (s);
  return spdl_parcel_is_read (parcel);
}

static gboolean
read_slab (Parent *self, SpdlParcel *parcel, int fd, GError **error)
{
  const guint32 id = spdl_get_u32 (parcel);
  const guint64 size = spdl_get_u64 (parcel);

  if (spdl_parcel_is_read (parcel))
    return spdl_shelf_add (self->shelf, id, size, fd, error);
  if (fd >= 0)
    close (fd);
  spdl_letter_set_broken (error, "a slab");
  return FALSE;
}

static gboolean
read_message (Parent *self, SpdlParcel *parcel)
{
  GstMessage *message = spdl_get_message (parcel, NULL, 1);
  const GstStructure *s;

  if (!message)
    return FALSE;
  spdl_source_base_shift_message (message, self->base);
  s = gst_message_get_structure (message);
  g_assert_nonnull (s);
  g_free (gst_structure_to_string (s));
  gst_message_unref (message);
  return TRUE;
}

static gboolean
read_classes (SpdlParcel *parcel)
{
  g_auto (GStrv) classes = spdl_get_strings (parcel);

  g_assert_true (!classes || *classes);
  for (guint i = 0; classes && classes[i]; i++)
    g_assert_true (g_utf8_validate (classes[i], -1, NULL));
  return spdl_parcel_is_read (parcel);
}

/* FALSE: it is broken, with or without @error. */
static gboolean
tell_parent (Parent *self, const SpdlWireMessage *message, GError **error)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);
  SpdlLetter *letter;
  guint32 id;

  if (message->type == SPDL_WIRE_SLAB)
    return read_slab (self, &parcel, message->fd, error);
  if (message->fd >= 0)
    close (message->fd);
  switch (message->type) {
    case SPDL_WIRE_STARTED:
      return read_classes (&parcel);
    case SPDL_WIRE_END:
      return TRUE;
    case SPDL_WIRE_RETIRE:
      id = spdl_get_u32 (&parcel);
      return spdl_parcel_is_read (&parcel) &&
             spdl_shelf_retire (self->shelf, id, error);
    case SPDL_WIRE_MESSAGE:
      return read_message (self, &parcel);
    case SPDL_WIRE_FIGURES:
      return read_figures (&parcel);
    default:
      letter = spdl_letter_open (message, self->shelf, error);
      if (letter)
        take_letter (self, letter);
      return letter != NULL;
  }
}

/* To the worker */

static gboolean
tell_worker (const SpdlWireMessage *message)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);
  g_auto (SpdlOrder) order = { NULL };
  g_autoptr (GError) error = NULL;
  gdouble budget;

  if (message->fd >= 0)
    close (message->fd);
  if (message->type == SPDL_WIRE_BUDGET)
    return spdl_get_cpu_budget (&parcel, &budget) &&
           spdl_parcel_is_read (&parcel);
  if (message->type != SPDL_WIRE_START) {
    spdl_get_u32 (&parcel);
    return message->type >= SPDL_WIRE_ASK || spdl_parcel_is_read (&parcel);
  }
  if (!spdl_get_order (&parcel, &order))
    return FALSE;
  g_assert_nonnull (order.description);
  if (order.affinity && !spdl_affinity_check (order.affinity, &error))
    fuzz_check_error (error);
  return TRUE;
}

/* Both */

/* A header's size, where it says none that can be. */
static void
feed (SpdlWireReader *reader, FuzzInput *input, gboolean framed)
{
  if (!framed) {
    spdl_wire_reader_feed (reader, input->data, input->size);
    return;
  }
  while (input->size > 0) {
    SpdlWireHeader header = { SPDL_WIRE_MAGIC };
    const guint8 type = fuzz_take (input);
    const guint16 size = fuzz_take_16 (input);

    header.type = type % 80;
    header.num_fds = type >= 160;
    header.size = MIN (size, input->size);
    spdl_wire_reader_feed (reader, &header, sizeof header);
    spdl_wire_reader_feed (reader, input->data, header.size);
    input->data += header.size;
    input->size -= header.size;
  }
}

static void
add_fds (SpdlWireReader *reader, guint n)
{
  for (; n > 0; n--)
    reader->fds[reader->n_fds++] = spdl_memfd_open (SLAB_SIZE);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  /* GStreamer warns of caps that its versions before 1 had. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);
  const gboolean to_worker = settings & 1;
  g_autoptr (GError) error = NULL;
  SpdlWireReader reader = { NULL };
  SpdlWire *wire = spdl_wire_new (-1);
  Parent parent = { spdl_shelf_new (wire, NULL), G_QUEUE_INIT,
    settings & 4 ? 300 : 0, 0 };
  SpdlWireMessage message;
  SpdlWireStatus status;
  gboolean ok = TRUE;

  add_fds (&reader, settings >> 3 & 3);
  feed (&reader, &input, settings & 2);
  while (ok && (status = spdl_wire_reader_next (
                    &reader, to_worker, &message, &error)) == SPDL_WIRE_ONE)
    ok = to_worker ? tell_worker (&message)
                   : tell_parent (&parent, &message, &error);
  if (error)
    fuzz_check_error (error);
  g_assert_true (!ok || (status == SPDL_WIRE_BROKEN) == (error != NULL));
  /* Buffers outlive the shelf's other users. */
  spdl_shelf_close (parent.shelf);
  spdl_shelf_unref (parent.shelf);
  spdl_wire_unref (wire);
  g_queue_clear_full (&parent.held, (GDestroyNotify) gst_buffer_unref);
  spdl_wire_reader_clear (&reader);
  return 0;
}
