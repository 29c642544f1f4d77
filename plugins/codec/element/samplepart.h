/* gst-spdl: one part of a sample of several media
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Whether items of @caps (nullable) are what decoding @part (NULL: items as a
 * whole) takes, and whether downstream of @srcpad takes what it makes; else
 * says in @error what to set. */
gboolean spdl_part_check_caps (
    const gchar *part, GstCaps *caps, GstPad *srcpad, GError **error);

/* The part @name of @sample, which shares its memory.
 *
 * Returns: (transfer full): NULL with @error set if there is none
 * @caps: (out) (transfer none) (nullable) */
GstBuffer *spdl_part_take (
    GstBuffer *sample, const gchar *name, GstCaps **caps, GError **error);

/* Returns: (transfer full): @sample with @result (transfer full) in the place
 * of that part, whose memory goes back to its pool with the last reference;
 * NULL with @error set if there is no memory. */
GstBuffer *spdl_part_put (GstBuffer *sample, const gchar *name,
    GstBuffer *result, GstCaps *caps, GError **error);

G_END_DECLS
