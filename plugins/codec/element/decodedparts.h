/* gst-spdl: parts of the samples that are decoded
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/fanout.h"

G_BEGIN_DECLS

/* Checks that items with @caps (nullable) match @part (NULL: decode the whole
 * item), and that downstream of @srcpad accepts the result, which is a sample
 * if @has_views. Returns FALSE with @error set, which names the property to
 * change. */
gboolean spdl_part_check_caps (const gchar *part, gboolean has_views,
    GstCaps *caps, GstPad *srcpad, GError **error);

/* Returns the part @name of @sample; shares the sample's memory.
 * @caps: (out) (transfer none) (nullable)
 * Returns: (transfer full): NULL with @error set if there is no such part */
GstBuffer *spdl_part_take (
    GstBuffer *sample, const gchar *name, GstCaps **caps, GError **error);

/* Replaces the part @name of @sample with @result (transfer full). A pooled
 * @result returns to its pool when its memory is freed.
 * Returns: (transfer full): NULL with @error set if memory cannot be
 * allocated */
GstBuffer *spdl_part_put (GstBuffer *sample, const gchar *name,
    GstBuffer *result, GstCaps *caps, GError **error);

/* Makes @n views, whose buffers are taken, parts of @sample, or of a new sample
 * if it is NULL. The first one replaces the part "data" of @sample.
 * Returns: (transfer full): NULL with @error set on failure */
GstBuffer *spdl_part_put_views (
    GstBuffer *sample, SpdlView *views, guint n, GError **error);
void spdl_part_drop_views (SpdlView *views, guint n);

G_END_DECLS
