/* gst-spdl: fuzz target of the protocol between worker process and parent
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <unistd.h>

#include "gst/spdl/wire/memfd.h"
#include "plugins/ipc/element/sharedbuffers.h"
#include "plugins/ipc/element/sourcebase.h"
#include "plugins/ipc/element/workermessage.h"
#include "plugins/ipc/wire/serializermessage.h"
#include "plugins/ipc/wire/workerconfig.h"
#include "tests/fuzz/fuzz.h"

#define SLAB_SIZE 4096
#define MAX_HELD 8

/* The input is a setting and messages as received from the socket. Their sizes
 * are corrected or kept, depending on the setting. */
typedef struct {
  SpdlSharedBuffers *shared_buffers;
  GQueue held; /* GstBuffer */
  guint32 base;
  guint n_seen;
} Parent;

/* Messages to the parent */

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
  SpdlPayload payload;
  SpdlPlaces places;
  GstBuffer *again;

  for (guint i = 0; batch && i < batch->num_items; i++)
    g_assert_true (!batch->items[i].uri ||
                   g_utf8_validate (batch->items[i].uri, -1, NULL));
  /* A buffer that was read can be written and read again. */
  spdl_put_buffer (bytes, buffer, &none);
  payload = spdl_payload (bytes->data, bytes->len);
  again = spdl_get_buffer (&payload, &places);
  /* Parts and video metas are checked against the memory, which is missing
   * here. */
  g_assert_true (
      again || gst_spdl_buffer_get_parts_meta (buffer) ||
      gst_buffer_get_meta (buffer, g_type_from_name ("GstVideoMetaAPI")));
  gst_clear_buffer (&again);
  g_byte_array_unref (bytes);
}

static void
take_next_message (Parent *self, SpdlWorkerMessage *worker_message)
{
  GstBuffer *buffer;
  gboolean lent;

  spdl_worker_message_shift (worker_message, self->base);
  if (worker_message->kind == SPDL_WORKER_MESSAGE_BUFFER) {
    buffer = g_steal_pointer (&worker_message->object);
    check_items (buffer, self->base);
    if (worker_message->lease)
      spdl_lease_give (g_steal_pointer (&worker_message->lease), buffer,
          &worker_message->places, self->n_seen++ % 4, &lent);
    read_bytes (buffer);
    g_queue_push_tail (&self->held, buffer);
    if (self->held.length > MAX_HELD)
      gst_buffer_unref (g_queue_pop_head (&self->held));
  }
  spdl_worker_message_free (worker_message);
}

static gboolean
read_figures (SpdlPayload *payload)
{
  const guint32 n = spdl_get_u32 (payload);
  GstStructure *s;

  for (guint32 i = 0; i < n && (s = spdl_get_structure (payload)); i++)
    gst_structure_free (s);
  return spdl_payload_is_read (payload);
}

static gboolean
read_slab (Parent *self, SpdlPayload *payload, int fd, GError **error)
{
  const guint32 id = spdl_get_u32 (payload);
  const guint64 size = spdl_get_u64 (payload);

  if (spdl_payload_is_read (payload))
    return spdl_shared_buffers_add (self->shared_buffers, id, size, fd, error);
  if (fd >= 0)
    close (fd);
  spdl_worker_message_set_broken (error, "a slab");
  return FALSE;
}

static gboolean
read_message (Parent *self, SpdlPayload *payload)
{
  GstMessage *message = spdl_get_message (payload, NULL, 1);
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
read_classes (SpdlPayload *payload)
{
  g_auto (GStrv) classes = spdl_get_strings (payload);

  g_assert_true (!classes || *classes);
  for (guint i = 0; classes && classes[i]; i++)
    g_assert_true (g_utf8_validate (classes[i], -1, NULL));
  return spdl_payload_is_read (payload);
}

/* Returns FALSE if the message is invalid, with or without @error. */
static gboolean
handle_worker_message (
    Parent *self, const SpdlWireMessage *message, GError **error)
{
  SpdlPayload payload = spdl_payload (message->data, message->size);
  SpdlWorkerMessage *worker_message;
  guint32 id;

  if (message->type == SPDL_WIRE_SLAB)
    return read_slab (self, &payload, message->fd, error);
  if (message->fd >= 0)
    close (message->fd);
  switch (message->type) {
    case SPDL_WIRE_STARTED:
      return read_classes (&payload);
    case SPDL_WIRE_END:
      return TRUE;
    case SPDL_WIRE_RETIRE:
      id = spdl_get_u32 (&payload);
      return spdl_payload_is_read (&payload) &&
             spdl_shared_buffers_retire (self->shared_buffers, id, error);
    case SPDL_WIRE_MESSAGE:
      return read_message (self, &payload);
    case SPDL_WIRE_FIGURES:
      return read_figures (&payload);
    default:
      worker_message =
          spdl_worker_message_open (message, self->shared_buffers, error);
      if (worker_message)
        take_next_message (self, worker_message);
      return worker_message != NULL;
  }
}

/* Messages to the worker */

static gboolean
handle_parent_message (const SpdlWireMessage *message)
{
  SpdlPayload payload = spdl_payload (message->data, message->size);
  g_auto (SpdlWorkerConfig) config = { NULL };
  g_autoptr (GError) error = NULL;
  gdouble budget;

  if (message->fd >= 0)
    close (message->fd);
  if (message->type == SPDL_WIRE_BUDGET)
    return spdl_get_cpu_budget (&payload, &budget) &&
           spdl_payload_is_read (&payload);
  if (message->type != SPDL_WIRE_START) {
    spdl_get_u32 (&payload);
    return message->type >= SPDL_WIRE_ASK || spdl_payload_is_read (&payload);
  }
  if (!spdl_get_worker_config (&payload, &config))
    return FALSE;
  g_assert_nonnull (config.description);
  if (config.affinity && !spdl_affinity_check (config.affinity, &error))
    fuzz_check_error (error);
  return TRUE;
}

/* Both directions */

/* Feeds the input to @reader. With @framed, it makes a header with a valid size
 * for each message. */
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
  /* GStreamer warns of caps from versions before 1.0. */
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
  Parent parent = { spdl_shared_buffers_new (wire, NULL), G_QUEUE_INIT,
    settings & 4 ? 300 : 0, 0 };
  SpdlWireMessage message;
  SpdlWireStatus status;
  gboolean ok = TRUE;

  add_fds (&reader, settings >> 3 & 3);
  feed (&reader, &input, settings & 2);
  while (ok && (status = spdl_wire_reader_next (
                    &reader, to_worker, &message, &error)) == SPDL_WIRE_ONE)
    ok = to_worker ? handle_parent_message (&message)
                   : handle_worker_message (&parent, &message, &error);
  if (error)
    fuzz_check_error (error);
  g_assert_true (!ok || (status == SPDL_WIRE_BROKEN) == (error != NULL));
  /* Buffers outlive the other references to the shared buffers. */
  spdl_shared_buffers_close (parent.shared_buffers);
  spdl_shared_buffers_unref (parent.shared_buffers);
  spdl_wire_unref (wire);
  g_queue_clear_full (&parent.held, (GDestroyNotify) gst_buffer_unref);
  spdl_wire_reader_clear (&reader);
  return 0;
}
