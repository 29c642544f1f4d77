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
 *     label=3             the label is that number
 *     uri=*.png           the URI is of that form, a glob as fnmatch() knows
 *                         it, with `@(a|b)`, case-insensitive, where `*` is
 *                         also a slash
 *     caps=image/png      the caps are those, or more particular ones
 *     extra.FIELD=VALUE   what a list says besides is that; a number is
 *                         compared as a number
 */

typedef struct _SpdlCondition SpdlCondition;

/* Parses a condition; NULL with @error set if @text is not one. */
SpdlCondition *spdl_condition_parse (const gchar *text, GError **error);
void spdl_condition_free (SpdlCondition *self);

/* Returns TRUE if the condition holds for @item with @caps (nullable). A batch
 * is judged by its first item. */
gboolean
spdl_condition_holds (SpdlCondition *self, GstBuffer *item, GstCaps *caps);

G_END_DECLS
