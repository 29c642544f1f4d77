/* gst-spdl: messages of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workermessage.h"

#include "plugins/ipc/element/sharedbuffers.h"
#include "plugins/ipc/element/sourcebase.h"

SpdlWorkerMessage *
spdl_worker_message_new (SpdlWorkerMessageKind kind, gpointer object)
{
  SpdlWorkerMessage *self = g_new0 (SpdlWorkerMessage, 1);

  self->kind = kind;
  self->object = object;
  return self;
}

void
spdl_worker_message_free (SpdlWorkerMessage *self)
{
  if (self->object)
    gst_mini_object_unref (self->object);
  if (self->lease)
    spdl_lease_unref (self->lease);
  g_free (self->text);
  g_free (self);
}

void
spdl_worker_message_set_broken (GError **error, const gchar *what)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
      "%s cannot be read", what);
}

/* Takes ownership of @object. */
static SpdlWorkerMessage *
make_message (SpdlWorkerMessageKind kind, gpointer object, const gchar *what,
    GError **error)
{
  if (object)
    return spdl_worker_message_new (kind, object);
  spdl_worker_message_set_broken (error, what);
  return NULL;
}

static SpdlWorkerMessage *
open_buffer (
    SpdlPayload *payload, SpdlSharedBuffers *shared_buffers, GError **error)
{
  SpdlPlaces places;
  SpdlWorkerMessage *self = make_message (SPDL_WORKER_MESSAGE_BUFFER,
      spdl_get_buffer (payload, &places), "a buffer", error);

  if (!self)
    return NULL;
  self->places = places;
  if (places.n_memories == 0 ||
      (self->lease = spdl_shared_buffers_take (shared_buffers, &places, error)))
    return self;
  spdl_worker_message_free (self);
  return NULL;
}

static GstEvent *
get_event (SpdlPayload *payload)
{
  const guint32 sticky = spdl_get_u32 (payload);
  GstStructure *s = spdl_get_structure (payload);

  if (spdl_payload_is_read (payload) && sticky <= 1)
    return gst_event_new_custom (sticky ? GST_EVENT_CUSTOM_DOWNSTREAM_STICKY
                                        : GST_EVENT_CUSTOM_DOWNSTREAM,
        s);
  if (s)
    gst_structure_free (s);
  return NULL;
}

static GstCaps *
get_caps (SpdlPayload *payload)
{
  GstCaps *caps = spdl_get_caps (payload);

  if (caps && !spdl_payload_is_read (payload))
    gst_clear_caps (&caps);
  return caps;
}

SpdlWorkerMessage *
spdl_worker_message_open (const SpdlWireMessage *message,
    SpdlSharedBuffers *shared_buffers, GError **error)
{
  SpdlPayload payload = spdl_payload (message->data, message->size);

  switch (message->type) {
    case SPDL_WIRE_BUFFER:
      return open_buffer (&payload, shared_buffers, error);
    case SPDL_WIRE_CAPS:
      return make_message (
          SPDL_WORKER_MESSAGE_CAPS, get_caps (&payload), "caps", error);
    case SPDL_WIRE_EVENT:
      return make_message (
          SPDL_WORKER_MESSAGE_EVENT, get_event (&payload), "an event", error);
    default:
      return spdl_worker_message_new (SPDL_WORKER_MESSAGE_EOS, NULL);
  }
}

void
spdl_worker_message_shift (SpdlWorkerMessage *self, guint32 base)
{
  if (self->kind == SPDL_WORKER_MESSAGE_BUFFER)
    spdl_source_base_shift_buffer (self->object, base);
  else if (self->kind == SPDL_WORKER_MESSAGE_EVENT)
    spdl_source_base_shift_event (self->object, base);
}

gboolean
spdl_worker_message_needs_credit (const SpdlWorkerMessage *self)
{
  return self->kind == SPDL_WORKER_MESSAGE_EVENT ||
         (self->kind == SPDL_WORKER_MESSAGE_BUFFER && !self->lease);
}
