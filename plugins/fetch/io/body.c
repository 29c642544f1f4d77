/* gst-spdl: growing buffer for the content of an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/body.h"

/* Maximum initial allocation for a size that a server declares. */
#define MAX_FIRST (1024 * 1024)
/* Initial allocation if the size is unknown. */
#define DEFAULT_FIRST (64 * 1024)

static gsize
next_capacity (const SpdlBody *self, guint64 expected, guint64 max_size)
{
  const guint64 doubled = (guint64) self->capacity * 2;
  /* One more byte, to detect the end without growing. */
  const guint64 wanted = expected > 0 ? expected + 1 : DEFAULT_FIRST;
  const guint64 next = self->capacity == 0       ? MIN (wanted, MAX_FIRST)
                       : wanted > self->capacity ? MIN (wanted, doubled)
                                                 : doubled;

  return max_size > 0 && max_size < next ? max_size + 1 : next;
}

guint8 *
spdl_body_reserve (SpdlBody *self, guint64 expected, guint64 max_size,
    gsize *free, GError **error)
{
  if (self->size == self->capacity) {
    const gsize capacity = next_capacity (self, expected, max_size);
    guint8 *data = g_try_realloc (self->data, capacity);

    if (!data) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "Not enough memory for more than %" G_GSIZE_FORMAT
          " bytes of the item",
          self->size);
      return NULL;
    }
    self->data = data;
    self->capacity = capacity;
  }
  *free = self->capacity - self->size;
  return self->data + self->size;
}

void
spdl_body_clear (SpdlBody *self)
{
  g_clear_pointer (&self->data, g_free);
  self->size = self->capacity = 0;
}

GstBuffer *
spdl_body_steal (SpdlBody *self)
{
  GstBuffer *buffer;

  if (self->size == 0) {
    spdl_body_clear (self);
    return gst_buffer_new ();
  }
  if (self->capacity / 2 > self->size) {
    guint8 *less = g_try_realloc (self->data, self->size);

    if (less)
      self->data = less;
  }
  buffer = gst_buffer_new_wrapped (self->data, self->size);
  self->data = NULL;
  spdl_body_clear (self);
  return buffer;
}
