/* gst-spdl: part of a file in memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A part of a file that others may write, which is read because the process
 * would be killed if a mapped file became shorter. */
typedef struct {
  gchar *data;
  gsize size;
  guint64 offset; /* in the file */
  gsize room;     /* allocated bytes */
} SpdlFileWindow;

/* Loads the @size bytes at @offset. Keeps what the window already has of
 * them. Returns 0, an errno, or ENODATA if the file ends before. */
int spdl_file_window_load (
    SpdlFileWindow *self, int fd, guint64 offset, gsize size);

void spdl_file_window_clear (SpdlFileWindow *self);

G_END_DECLS
