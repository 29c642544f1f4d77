/* gst-spdl: contents that travel in the buffer of their URI
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* What a source has read already, because it can be read in order alone, goes
 * with the item's URI, and spdlfetch passes it on in place of a fetch. It
 * survives copies of the buffer. */

typedef struct _GstSpdlCarried GstSpdlCarried;

SPDL_PRIVATE_API
GstSpdlCarried *gst_spdl_carried_new (void);
SPDL_PRIVATE_API
void gst_spdl_carried_unref (GstSpdlCarried *self);

/* @uri, @content: (transfer full). Before it is given to a buffer. */
SPDL_PRIVATE_API
void
gst_spdl_carried_add (GstSpdlCarried *self, gchar *uri, GstBuffer *content);

/* @buffer: writable. @carried: (transfer full) */
SPDL_PRIVATE_API
void gst_spdl_buffer_set_carried (GstBuffer *buffer, GstSpdlCarried *carried);

SPDL_PRIVATE_API
gboolean gst_spdl_buffer_has_carried (GstBuffer *buffer);

/* What @uri names, in the memory that came with @buffer.
 *
 * Returns: (transfer full) (nullable): NULL: it did not come with it */
SPDL_PRIVATE_API
GstBuffer *gst_spdl_buffer_dup_carried (GstBuffer *buffer, const gchar *uri);

G_END_DECLS
