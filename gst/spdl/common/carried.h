/* gst-spdl: file contents attached to the buffer of a URI
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* A source that reads sequentially attaches the contents to the item with their
 * URIs. spdlfetch uses them instead of fetching. They survive copies of the
 * buffer. */

typedef struct _GstSpdlCarried GstSpdlCarried;

GType gst_spdl_carried_meta_api_get_type (void);

SPDL_PRIVATE_API
GstSpdlCarried *gst_spdl_carried_new (void);
SPDL_PRIVATE_API
void gst_spdl_carried_unref (GstSpdlCarried *self);

/* Adds a content, before the contents are attached to a buffer.
 *
 * @uri, @content: (transfer full) */
SPDL_PRIVATE_API
void
gst_spdl_carried_add (GstSpdlCarried *self, gchar *uri, GstBuffer *content);

/* Sets why there are no further contents, before they are attached to a buffer.
 *
 * @error: (transfer full) */
SPDL_PRIVATE_API
void gst_spdl_carried_set_error (GstSpdlCarried *self, GError *error);

/* Attaches @carried (transfer full) to @buffer, which must be writable. */
SPDL_PRIVATE_API
void gst_spdl_buffer_set_carried (GstBuffer *buffer, GstSpdlCarried *carried);

SPDL_PRIVATE_API
gboolean gst_spdl_buffer_has_carried (GstBuffer *buffer);

/* Returns the content of @uri.
 *
 * Returns: (transfer full) (nullable): a buffer that shares memory with the
 * attached one; NULL: @uri is not attached */
SPDL_PRIVATE_API
GstBuffer *gst_spdl_buffer_dup_carried (GstBuffer *buffer, const gchar *uri);

/* Returns why a content is not attached.
 *
 * Returns: (transfer full) (nullable): NULL: there was no error */
SPDL_PRIVATE_API
GError *gst_spdl_buffer_dup_carried_error (GstBuffer *buffer);

G_END_DECLS
