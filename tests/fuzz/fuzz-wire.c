/* gst-spdl: fuzz target of the protocol between worker process and parent
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <unistd.h>

#include "gst/spdl/wire/memfd.h"
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
    spdl_worker_message_give_memory (
        worker_message, buffer, self->n_seen++ % 4, &lent);
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
  spdl_worker_message_shift_bus (message, self->base);
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

  if (message->type == SPDL_WIRE_SLAB)
    return read_slab (self, &payload, message->fd, error);
  if (message->fd >= 0)
    close (message->fd);
  switch (message->type) {
    case SPDL_WIRE_STARTED:
      return read_classes (&payload);
    case SPDL_WIRE_END:
      return TRUE;
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

/* Takes the next message of the input into the packet of @reader. With @framed,
 * makes a header with a valid size for it. Returns its size; 0: none. */
static gsize
next_packet (SpdlWireReader *reader, FuzzInput *input, gboolean framed)
{
  SpdlWireHeader header = { SPDL_WIRE_MAGIC };
  gsize begin = framed ? sizeof header : 0, size;

  if (input->size == 0)
    return 0;
  if (framed) {
    const guint8 type = fuzz_take (input);
    const guint16 length = fuzz_take_16 (input);

    header.type = type % 80;
    header.attached = type / 80;
    header.size = size = MIN (length, input->size);
    memcpy (reader->packet, &header, sizeof header);
  } else {
    memcpy (&header, input->data, MIN (sizeof header, input->size));
    size = MIN (sizeof header + header.size, input->size);
  }
  size = MIN (size, sizeof reader->packet - begin);
  memcpy (reader->packet + begin, input->data, size);
  input->data += size;
  input->size -= size;
  return begin + size;
}

/* Returns a descriptor if the message of @size bytes needs one, while there are
 * @n_fds; otherwise -1. */
static int
make_fd (const SpdlWireReader *reader, gsize size, guint *n_fds)
{
  SpdlWireHeader header = { 0 };

  memcpy (&header, reader->packet, MIN (size, sizeof header));
  if (header.attached == 0 || *n_fds == 0)
    return -1;
  --*n_fds;
  return spdl_memfd_open (SLAB_SIZE);
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
  static SpdlWireReader reader;
  Parent parent = { spdl_shared_buffers_new (spdl_bell_new ()), G_QUEUE_INIT,
    settings & 4 ? 300 : 0, 0 };
  guint n_fds = settings >> 3 & 3;
  SpdlWireStatus status = SPDL_WIRE_ONE;
  SpdlWireMessage message;
  gboolean ok = TRUE;
  gsize n;

  while (ok && (n = next_packet (&reader, &input, settings & 2)) > 0) {
    status = spdl_wire_reader_parse (
        &reader, n, make_fd (&reader, n, &n_fds), to_worker, &message, &error);
    ok = status == SPDL_WIRE_ONE &&
         (to_worker ? handle_parent_message (&message)
                    : handle_worker_message (&parent, &message, &error));
  }
  if (error)
    fuzz_check_error (error);
  g_assert_true ((status == SPDL_WIRE_ONE) || error);
  /* Buffers outlive the shared buffers. */
  spdl_shared_buffers_close (parent.shared_buffers);
  g_queue_clear_full (&parent.held, (GDestroyNotify) gst_buffer_unref);
  spdl_wire_reader_clear (&reader);
  return 0;
}
