/* gst-spdl: buffer for the bytes of an item that is being read
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Collects bytes in one block of memory, which becomes the item's without a
 * copy. The size that a server announces is a hint: memory is taken as bytes
 * come, and never much more than twice of them. */

typedef struct {
  guint8 *data;
  gsize size;
  gsize capacity;
} SpdlBody;

/* Makes room behind what is there, given that @expected bytes are expected in
 * all (0: not known): *@free (at least 1) bytes at the address returned, or
 * NULL with @error set. */
guint8 *spdl_body_reserve (
    SpdlBody *self, guint64 expected, gsize *free, GError **error);

/* @n bytes were written there. */
static inline void
spdl_body_add (SpdlBody *self, gsize n)
{
  self->size += n;
}

/* Forgets what has come. */
void spdl_body_clear (SpdlBody *self);

/* Returns: (transfer full): all of it; @self is empty then. */
GstBuffer *spdl_body_steal (SpdlBody *self);

G_END_DECLS
