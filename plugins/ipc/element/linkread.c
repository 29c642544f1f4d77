/* gst-spdl: what a worker process says to its parent
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/link-private.h"

#include <unistd.h>

#include "plugins/ipc/element/sourcebase.h"
#include "plugins/ipc/wire/parcelmessage.h"

/* A buffer may bring caps. */
#define MAX_LETTERS (2 * SPDL_ORDER_MAX_SLABS + 2 * SPDL_ORDER_MAX_EVENTS)

/* What is told of the process */

void
spdl_link_add_letter (SpdlLink *self, SpdlLetter *letter)
{
  spdl_mutex_lock (&self->lock);
  if (!self->stopping) {
    g_queue_push_tail (&self->letters, letter);
    letter = NULL;
    spdl_cond_broadcast (&self->cond);
  }
  spdl_mutex_unlock (&self->lock);
  if (letter)
    spdl_letter_free (letter);
}

/* Only the first one ends the stream; others are its consequences. */
static void
add_error (SpdlLink *self, GstMessage *message)
{
  gboolean first;

  spdl_mutex_lock (&self->lock);
  first = !self->has_error;
  self->has_error = TRUE;
  spdl_mutex_unlock (&self->lock);
  if (first)
    spdl_link_add_letter (self, spdl_letter_new (SPDL_LETTER_ERROR, message));
  else
    gst_message_unref (message);
}

/* Messages of the process */

static gboolean
read_slab (SpdlLink *self, const SpdlWireMessage *message, GError **error)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);
  const guint32 id = spdl_get_u32 (&parcel);
  const guint64 size = spdl_get_u64 (&parcel);

  if (spdl_parcel_is_read (&parcel))
    return spdl_shelf_add (self->shelf, id, size, message->fd, error);
  if (message->fd >= 0)
    close (message->fd);
  spdl_letter_set_broken (error, "a slab");
  return FALSE;
}

static gboolean
read_retire (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  const guint32 id = spdl_get_u32 (parcel);

  if (spdl_parcel_is_read (parcel))
    return spdl_shelf_retire (self->shelf, id, error);
  spdl_letter_set_broken (error, "a slab's number");
  return FALSE;
}

static gboolean
read_message (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  GstMessage *message =
      spdl_get_message (parcel, GST_OBJECT (self->element), self->process.pid);

  if (!message) {
    spdl_letter_set_broken (error, "a message");
    return FALSE;
  }
  spdl_source_base_shift_message (message, self->base);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    add_error (self, message);
  else
    gst_element_post_message (self->element, message);
  return TRUE;
}

static gboolean
read_figures (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  GPtrArray *figures = spdl_link_new_figures (), *old;
  const guint32 n = spdl_get_u32 (parcel);

  for (guint32 i = 0; i < n && !parcel->broken; i++) {
    GstStructure *s = spdl_get_structure (parcel);

    if (!s)
      break;
    gst_structure_set (s, "pid", G_TYPE_UINT, (guint) self->process.pid, NULL);
    g_ptr_array_add (figures, s);
  }
  if (!spdl_parcel_is_read (parcel)) {
    g_ptr_array_unref (figures);
    spdl_letter_set_broken (error, "figures");
    return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  old = self->figures;
  self->figures = figures;
  self->n_answers++;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  g_clear_pointer (&old, g_ptr_array_unref);
  return TRUE;
}

/* No honest worker has more on their way. */
static gboolean
has_room (SpdlLink *self, GError **error)
{
  guint n;

  spdl_mutex_lock (&self->lock);
  n = self->letters.length;
  spdl_mutex_unlock (&self->lock);
  if (n < MAX_LETTERS)
    return TRUE;
  spdl_letter_set_broken (error, "so much at a time");
  return FALSE;
}

static gboolean
read_letter (SpdlLink *self, const SpdlWireMessage *message, GError **error)
{
  SpdlLetter *letter;

  if (!has_room (self, error) ||
      !(letter = spdl_letter_open (message, self->shelf, error)))
    return FALSE;
  spdl_letter_shift (letter, self->base);
  self->got_eos |= letter->kind == SPDL_LETTER_EOS;
  spdl_link_add_letter (self, letter);
  return TRUE;
}

static gboolean
read_started (SpdlLink *self, SpdlParcel *parcel, GError **error)
{
  g_auto (GStrv) classes = spdl_get_strings (parcel);

  if (!spdl_parcel_is_read (parcel)) {
    spdl_letter_set_broken (error, "the classes");
    return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  g_strfreev (self->classes);
  self->classes = g_steal_pointer (&classes);
  self->plays = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

gboolean
spdl_link_handle (
    SpdlLink *self, const SpdlWireMessage *message, GError **error)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);

  if (message->fd >= 0 && message->type != SPDL_WIRE_SLAB)
    close (message->fd);
  switch (message->type) {
    case SPDL_WIRE_STARTED:
      return read_started (self, &parcel, error);
    case SPDL_WIRE_SLAB:
      return read_slab (self, message, error);
    case SPDL_WIRE_RETIRE:
      return read_retire (self, &parcel, error);
    case SPDL_WIRE_MESSAGE:
      return read_message (self, &parcel, error);
    case SPDL_WIRE_FIGURES:
      return read_figures (self, &parcel, error);
    case SPDL_WIRE_END:
      self->got_end = TRUE;
      return TRUE;
    default:
      return read_letter (self, message, error);
  }
}
