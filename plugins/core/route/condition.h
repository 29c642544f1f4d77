/* gst-spdl: conditions of spdlroute
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* One of
 *
 *     label=3             the label equals the number
 *     uri=*.png           the URI matches a glob for fnmatch(), which ignores
 *                         case and may contain `@(a|b)`; `*` matches slashes
 *     caps=image/png      the caps are a subset of these
 *     extra.FIELD=VALUE   the field of `extra` equals VALUE; numbers are
 *                         compared by value
 */

typedef struct _SpdlCondition SpdlCondition;

/* Parses a condition. Returns NULL with @error set if @text is not one. */
SpdlCondition *spdl_condition_parse (const gchar *text, GError **error);
void spdl_condition_free (SpdlCondition *self);

/* Returns TRUE if the condition holds for @item with @caps (nullable). For a
 * batch, the first item is tested. */
gboolean
spdl_condition_holds (SpdlCondition *self, GstBuffer *item, GstCaps *caps);

G_END_DECLS
