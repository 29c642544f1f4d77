/* gst-spdl: part of a file in memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/filewindow.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Makes room for @size bytes, and moves the ones from @offset on to the
 * beginning. Returns FALSE if there is not enough memory. */
static gboolean
move_window (SpdlFileWindow *self, guint64 offset, gsize size)
{
  const guint64 from = offset - self->offset;
  const gsize kept = offset >= self->offset && from < self->size
                         ? MIN (self->size - from, size)
                         : 0;
  gchar *data = self->data;

  if (self->room < size) {
    data = g_try_malloc (size);
    if (!data)
      return FALSE;
  }
  if (kept > 0)
    memmove (data, self->data + from, kept);
  if (data != self->data) {
    g_free (self->data);
    self->data = data;
    self->room = size;
  }
  self->offset = offset;
  self->size = kept;
  return TRUE;
}

int
spdl_file_window_load (SpdlFileWindow *self, int fd, guint64 offset, gsize size)
{
  if (!move_window (self, offset, size))
    return ENOMEM;
  while (self->size < size) {
    const gssize n = pread (
        fd, self->data + self->size, size - self->size, offset + self->size);

    if (n == 0)
      return ENODATA;
    if (n < 0 && errno != EINTR)
      return errno;
    self->size += MAX (n, 0);
  }
  return 0;
}

void
spdl_file_window_clear (SpdlFileWindow *self)
{
  g_free (self->data);
  *self = (SpdlFileWindow){ NULL };
}
