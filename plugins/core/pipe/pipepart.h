/* gst-spdl: a chain's work on one part of a sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PIPE_PART_H__
#define __SPDL_PIPE_PART_H__

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* The part @name of @sample, as an item of its own.
 *
 * Returns: (transfer full): NULL with @error set if there is none
 * @caps: (out) (transfer full): the part's, or those of a part that is just
 *     bytes: what @entry, where the chain begins, takes, if that is one kind */
GstBuffer *spdl_pipe_part_take (GstBuffer *sample, const gchar *name,
    GstPad *entry, GstCaps **caps, GError **error);

/* Puts @result, of @caps (nullable), in the place of that part.
 *
 * Returns: (transfer full): NULL with @error set if it cannot be */
GstBuffer *spdl_pipe_part_put (GstBuffer *sample, const gchar *name,
    GstBuffer *result, GstCaps *caps, GError **error);

G_END_DECLS

#endif /* __SPDL_PIPE_PART_H__ */
