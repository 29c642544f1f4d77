/* gst-spdl: openers of Arrow streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/arrow/arrowabi.h"
#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/gstspdlloader.h"

G_BEGIN_DECLS

/* Opens a stream, or those of the parts of a table, with atomic references. */
typedef struct _SpdlArrowOpener SpdlArrowOpener;

/* @func: called by the threads of readers
 * @notify: (nullable): called by any thread when @func is no longer needed */
SPDL_PRIVATE_API
SpdlArrowOpener *spdl_arrow_opener_new (
    GstSpdlArrowFunc func, gpointer user_data, GDestroyNotify notify);

/* Creates an opener of the parts of a table. It opens no stream itself. */
SPDL_PRIVATE_API
SpdlArrowOpener *
spdl_arrow_opener_new_parts (const GstSpdlArrowPart *parts, guint n_parts,
    GstSpdlArrowPartFunc func, gpointer user_data, GDestroyNotify notify);

SPDL_PRIVATE_API
SpdlArrowOpener *spdl_arrow_opener_ref (SpdlArrowOpener *self);

SPDL_PRIVATE_API
void spdl_arrow_opener_unref (SpdlArrowOpener *self);

/* Returns the parts, NULL if it opens a stream. */
SPDL_PRIVATE_API
const GstSpdlArrowPart *
spdl_arrow_opener_get_parts (const SpdlArrowOpener *self, guint *n_parts);

/* Returns an opener of the stream of a part.
 *
 * @part: -1: a stream without rows
 * @columns: (nullable): columns of the stream; NULL: all */
SPDL_PRIVATE_API
SpdlArrowOpener *spdl_arrow_opener_new_part (
    SpdlArrowOpener *self, gint part, const gchar *const *columns);

SPDL_PRIVATE_API
gboolean spdl_arrow_opener_open (
    SpdlArrowOpener *self, struct ArrowArrayStream *stream, GError **error);

G_END_DECLS
