/* gst-spdl: messages of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workermessage.h"

#include "gst/spdl/common/tryallocator.h"
#include "gst/spdl/progress/state.h"

/* Memory */

#define ALIGNMENT 64

struct _SpdlSharedBuffers {
  gint n_refs;
  SpdlBell *bell;
  SpdlSlabs slabs;
  gint n_lent; /* atomic */
};

SpdlSharedBuffers *
spdl_shared_buffers_new (SpdlBell *bell)
{
  SpdlSharedBuffers *self = g_new0 (SpdlSharedBuffers, 1);

  self->n_refs = 1;
  self->bell = bell;
  spdl_slabs_init (&self->slabs);
  self->slabs.are_uploaded = TRUE;
  return self;
}

static void
unref_shared_buffers (SpdlSharedBuffers *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  spdl_bell_free (self->bell);
  g_free (self);
}

void
spdl_shared_buffers_close (SpdlSharedBuffers *self)
{
  spdl_slabs_clear (&self->slabs);
  unref_shared_buffers (self);
}

gboolean
spdl_shared_buffers_add (
    SpdlSharedBuffers *self, guint32 id, guint64 size, int fd, GError **error)
{
  spdl_slabs_drop_retired (&self->slabs);
  return spdl_slabs_map (&self->slabs, id, size, fd, error);
}

static void
on_returned (gpointer data)
{
  SpdlSharedBuffers *self = data;

  spdl_bell_ring (self->bell);
  unref_shared_buffers (self);
}

static void
on_lent_returned (gpointer data)
{
  SpdlSharedBuffers *self = data;

  g_atomic_int_add (&self->n_lent, -1);
  on_returned (self);
}

SpdlLoan *
spdl_shared_buffers_take (
    SpdlSharedBuffers *self, const SpdlPlaces *places, GError **error)
{
  SpdlLoan *loan = spdl_slabs_borrow (&self->slabs, places->slab, error);

  if (!loan)
    return NULL;
  g_atomic_int_inc (&self->n_refs);
  spdl_loan_set_returned (loan, on_returned, self);
  for (guint i = 0; i < places->n_memories; i++)
    if (!spdl_loan_get (loan, places->offsets[i], places->sizes[i])) {
      g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
          "a tensor exceeds its slab");
      spdl_loan_unref (loan);
      return NULL;
    }
  return loan;
}

/* Messages */

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
  if (self->loan)
    spdl_loan_unref (self->loan);
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
  self->shared_buffers = shared_buffers;
  if (places.n_memories == 0 ||
      (self->loan = spdl_shared_buffers_take (shared_buffers, &places, error)))
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

/* Copies @data to new memory.
 * Returns: (nullable) */
static GstMemory *
copy_bytes (const guint8 *data, gsize size)
{
  GstAllocationParams params = { .align = ALIGNMENT - 1 };
  GstMemory *memory =
      gst_allocator_alloc (gst_spdl_try_allocator_get (), size, &params);
  GstMapInfo map;

  if (memory && gst_memory_map (memory, &map, GST_MAP_WRITE)) {
    memcpy (map.data, data, size);
    gst_memory_unmap (memory, &map);
  }
  return memory;
}

gboolean
spdl_worker_message_give_memory (
    SpdlWorkerMessage *self, GstBuffer *buffer, guint max, gboolean *lent)
{
  SpdlLoan *loan = g_steal_pointer (&self->loan);
  const SpdlPlaces *places = &self->places;
  gint *n_lent = loan ? &self->shared_buffers->n_lent : NULL;
  gboolean ok = TRUE;

  *lent = !loan || (guint) g_atomic_int_get (n_lent) < max;
  if (!loan)
    return TRUE;
  if (*lent) {
    g_atomic_int_inc (n_lent);
    spdl_loan_set_returned (loan, on_lent_returned, self->shared_buffers);
  }
  for (guint i = 0; i < places->n_memories && ok; i++) {
    const gsize offset = places->offsets[i], size = places->sizes[i];
    GstMemory *memory =
        *lent ? spdl_loan_wrap (loan, NULL, offset, size)
              : copy_bytes (spdl_loan_get (loan, offset, size), size);

    ok = memory != NULL;
    if (ok)
      gst_buffer_append_memory (buffer, memory);
  }
  spdl_loan_unref (loan);
  return ok;
}

/* Source numbers */

static void
shift_buffer (GstBuffer *buffer, guint32 base)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  for (guint i = 0; batch && i < batch->num_items; i++)
    batch->items[i].source += base;
  if (item)
    item->source += base;
}

static void
shift_structure (GstStructure *s, guint32 base)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const gchar *state;
  guint number;

  if (!g_str_has_prefix (gst_structure_get_name (s), "spdl-") ||
      !gst_structure_get_uint (s, "source", &number))
    return;
  gst_structure_set (s, "source", G_TYPE_UINT, number + base, NULL);
  if (gst_structure_has_name (s, "spdl-source") &&
      (state = gst_structure_get_string (s, "resume-state")) &&
      spdl_state_renumber (text, state, 0, G_MAXUINT32, base) > 0)
    gst_structure_set (s, "resume-state", G_TYPE_STRING, text->str, NULL);
}

void
spdl_worker_message_shift (SpdlWorkerMessage *self, guint32 base)
{
  if (base > 0 && self->kind == SPDL_WORKER_MESSAGE_BUFFER)
    shift_buffer (self->object, base);
  else if (base > 0 && self->kind == SPDL_WORKER_MESSAGE_EVENT)
    shift_structure (gst_event_writable_structure (self->object), base);
}

void
spdl_worker_message_shift_bus (GstMessage *message, guint32 base)
{
  if (base > 0 && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT)
    shift_structure (gst_message_writable_structure (message), base);
}

gboolean
spdl_worker_message_needs_credit (const SpdlWorkerMessage *self)
{
  return self->kind == SPDL_WORKER_MESSAGE_EVENT ||
         (self->kind == SPDL_WORKER_MESSAGE_BUFFER && !self->loan);
}
