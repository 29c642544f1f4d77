/* gst-spdl: byte ranges in URIs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Byte range as in HTTP: first and last byte. */
typedef struct {
  guint64 first;
  guint64 last; /* G_MAXUINT64: to the end */
} SpdlRange;

/* Returns `#bytes=...` in @uri, or NULL if it has no byte range or is a path,
 * whose name may contain the same text. */
gchar *spdl_range_find (gchar *uri);

/* Splits `#bytes=FIRST-LAST` off @uri, in place. Returns FALSE with @error set
 * if there is such a fragment and it is invalid. */
gboolean spdl_range_split (gchar *uri, SpdlRange *range, GError **error);

static inline gboolean
spdl_range_is_open (const SpdlRange *self)
{
  return self->last == G_MAXUINT64;
}

/* Computes the number of bytes in the range, for a resource of @whole bytes.
 * Returns FALSE with @error set if the resource ends before the range. */
gboolean spdl_range_get_size (
    const SpdlRange *self, guint64 whole, guint64 *size, GError **error);

/* Returns FALSE with @error set if @size exceeds @max_size (0: no limit). */
gboolean spdl_check_max_size (guint64 size, guint64 max_size, GError **error);

/* Same for an item of unknown size of which @size bytes were received. */
gboolean spdl_check_max_part (guint64 size, guint64 max_size, GError **error);

G_END_DECLS
