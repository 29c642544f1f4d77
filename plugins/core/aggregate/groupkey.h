/* gst-spdl: keys of groups
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A key says what of an item is looked at: `label`, `bytes`, `caps`,
 * `caps.FIELD` or `extra.FIELD`; with `/N` behind it, a number is divided by
 * N. Items for which the same comes out belong together. */

typedef struct _SpdlGroupKey SpdlGroupKey;

/* NULL with @error set if @text is no key. */
SpdlGroupKey *spdl_group_key_parse (const gchar *text, GError **error);
void spdl_group_key_free (SpdlGroupKey *self);

/* Returns: (transfer full): what comes out for @item, of @caps (nullable): ""
 * where it has nothing of that name. */
gchar *
spdl_group_key_read (const SpdlGroupKey *self, GstBuffer *item, GstCaps *caps);

G_END_DECLS
