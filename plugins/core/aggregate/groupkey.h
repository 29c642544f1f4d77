/* gst-spdl: keys of groups
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Key by which items are grouped: `label`, `bytes`, `caps`, `caps.FIELD` or
 * `extra.FIELD`. With a suffix `/N`, a number is divided by N and rounded down.
 * Items with the same result share a group. */

typedef struct _SpdlGroupKey SpdlGroupKey;

/* Parses a key. Returns NULL with @error set if @text is not a key. */
SpdlGroupKey *spdl_group_key_parse (const gchar *text, GError **error);
void spdl_group_key_free (SpdlGroupKey *self);

/* Reads the key of @item, with @caps (nullable). Returns: (transfer full): the
 * key; "" if the item has no such field */
gchar *
spdl_group_key_read (const SpdlGroupKey *self, GstBuffer *item, GstCaps *caps);

G_END_DECLS
