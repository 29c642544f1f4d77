/* gst-spdl: what came from a worker process for the stream
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/letter.h"

#include "plugins/ipc/element/sourcebase.h"

SpdlLetter *
spdl_letter_new (SpdlLetterKind kind, gpointer object)
{
  SpdlLetter *self = g_new0 (SpdlLetter, 1);

  self->kind = kind;
  self->object = object;
  return self;
}

void
spdl_letter_free (SpdlLetter *self)
{
  if (self->object)
    gst_mini_object_unref (self->object);
  if (self->lease)
    spdl_lease_unref (self->lease);
  g_free (self->text);
  g_free (self);
}

void
spdl_letter_set_broken (GError **error, const gchar *what)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
      "%s cannot be read", what);
}

/* Takes @object. */
static SpdlLetter *
make (SpdlLetterKind kind, gpointer object, const gchar *what, GError **error)
{
  if (object)
    return spdl_letter_new (kind, object);
  spdl_letter_set_broken (error, what);
  return NULL;
}

static SpdlLetter *
open_buffer (SpdlParcel *parcel, SpdlShelf *shelf, GError **error)
{
  SpdlPlaces places;
  SpdlLetter *self = make (
      SPDL_LETTER_BUFFER, spdl_get_buffer (parcel, &places), "a buffer", error);

  if (!self)
    return NULL;
  self->places = places;
  if (places.n_memories == 0 ||
      (self->lease = spdl_shelf_take (shelf, &places, error)))
    return self;
  spdl_letter_free (self);
  return NULL;
}

static GstEvent *
get_event (SpdlParcel *parcel)
{
  const guint32 sticky = spdl_get_u32 (parcel);
  GstStructure *s = spdl_get_structure (parcel);

  if (spdl_parcel_is_read (parcel) && sticky <= 1)
    return gst_event_new_custom (sticky ? GST_EVENT_CUSTOM_DOWNSTREAM_STICKY
                                        : GST_EVENT_CUSTOM_DOWNSTREAM,
        s);
  if (s)
    gst_structure_free (s);
  return NULL;
}

static GstCaps *
get_caps (SpdlParcel *parcel)
{
  GstCaps *caps = spdl_get_caps (parcel);

  if (caps && !spdl_parcel_is_read (parcel))
    gst_clear_caps (&caps);
  return caps;
}

SpdlLetter *
spdl_letter_open (
    const SpdlWireMessage *message, SpdlShelf *shelf, GError **error)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);

  switch (message->type) {
    case SPDL_WIRE_BUFFER:
      return open_buffer (&parcel, shelf, error);
    case SPDL_WIRE_CAPS:
      return make (SPDL_LETTER_CAPS, get_caps (&parcel), "caps", error);
    case SPDL_WIRE_EVENT:
      return make (SPDL_LETTER_EVENT, get_event (&parcel), "an event", error);
    default:
      return spdl_letter_new (SPDL_LETTER_EOS, NULL);
  }
}

void
spdl_letter_shift (SpdlLetter *self, guint32 base)
{
  if (self->kind == SPDL_LETTER_BUFFER)
    spdl_source_base_shift_buffer (self->object, base);
  else if (self->kind == SPDL_LETTER_EVENT)
    spdl_source_base_shift_event (self->object, base);
}

gboolean
spdl_letter_needs_credit (const SpdlLetter *self)
{
  return self->kind == SPDL_LETTER_EVENT ||
         (self->kind == SPDL_LETTER_BUFFER && !self->lease);
}
