/* gst-spdl: growing buffer for the content of an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Collects bytes in one block of memory, which becomes the item's buffer
 * without a copy. The size that a server declares is only a hint: the block
 * grows with the received data, to about twice its size at most. */

typedef struct {
  guint8 *data;
  gsize size;
  gsize capacity;
} SpdlBody;

/* Makes room for more data.
 * @expected: expected total size; 0: unknown
 * @max_size: maximum total size; 0: none. There is room for one more byte,
 * which shows that the data is too large.
 * @free: (out): number of free bytes, at least 1
 * Returns the address of the free bytes, or NULL with @error set. */
guint8 *spdl_body_reserve (SpdlBody *self, guint64 expected, guint64 max_size,
    gsize *free, GError **error);

/* Commits @n bytes at the reserved address. */
static inline void
spdl_body_add (SpdlBody *self, gsize n)
{
  self->size += n;
}

/* Drops the data. */
void spdl_body_clear (SpdlBody *self);

/* Returns: (transfer full): buffer with the data; @self is then empty */
GstBuffer *spdl_body_steal (SpdlBody *self);

G_END_DECLS
