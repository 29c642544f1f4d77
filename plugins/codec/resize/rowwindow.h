/* gst-spdl: ring buffer of rows of pixels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/kernels.h"

G_BEGIN_DECLS

/* Row y is at (y + offset) % n_rows. Rows of one horizontal pass are
 * consecutive. Each row is followed by the padding that kernels may read and
 * write. */
typedef struct {
  guint8 *data; /* to be freed with g_free() */
  gsize n_allocated;
  gsize stride;
  guint n_rows;
  guint offset;
} SpdlRowWindow;

/* Allocates zeros, so that unwritten rows have defined content. Returns FALSE
 * if memory is exhausted.
 *
 * @first: the row at the beginning of the memory */
static inline gboolean
spdl_row_window_begin (
    SpdlRowWindow *self, gsize row_size, guint n_rows, guint first)
{
  gsize size;

  self->stride = row_size + SPDL_KERNEL_PADDING;
  self->n_rows = n_rows;
  self->offset = n_rows - first % n_rows;
  if (!g_size_checked_mul (&size, self->stride, n_rows))
    return FALSE;
  if (size > self->n_allocated) {
    g_free (self->data);
    self->data = g_try_malloc0 (size);
    self->n_allocated = self->data ? size : 0;
  }
  return self->data != NULL;
}

static inline guint8 *
spdl_row_window_get (const SpdlRowWindow *self, guint y)
{
  return self->data + (y + self->offset) % self->n_rows * self->stride;
}

G_END_DECLS
