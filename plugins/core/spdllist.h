/* gst-spdl: a list of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_LIST_H__
#define __SPDL_LIST_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* A `.txt` or a `.csv` list, mapped into memory. It is scanned once, when it is
 * opened; a line is parsed again when it is asked for, so only its offset is
 * kept. Immutable once opened, so it may be read from any thread. */
typedef struct _SpdlList SpdlList;

gboolean spdl_list_is_list (const gchar *location);

/* @labels: whether labels are wanted; if not, a `.csv`'s are not looked at
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlList *
spdl_list_open (const gchar *location, gboolean labels, GError **error);

void spdl_list_free (SpdlList *self);

guint64 spdl_list_get_size (const SpdlList *self);

/* Of the list's bytes. */
guint64 spdl_list_get_hash (const SpdlList *self);

/* The path or URI (transfer full) of item @i, its label (-1: none) and its
 * other fields (nullable, transfer full). */
gchar *spdl_list_get_item (
    const SpdlList *self, guint64 i, gint64 *label, GstStructure **extra);

G_END_DECLS

#endif /* __SPDL_LIST_H__ */
