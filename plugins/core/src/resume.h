/* gst-spdl: validation of a resume state
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/state.h"

G_BEGIN_DECLS

/* Parses a resume state, and checks that it belongs to the source. Rank, world
 * size, shard mode and shard run may differ if the state is at an epoch
 * boundary. A state that contains only other sources, so that no item of this
 * one had arrived, means the beginning.
 *
 * @state: (inout): identity of the source; gets the progress
 * @n_items: number of sequence numbers per epoch
 * @n_places: number of items per epoch on all ranks
 * @location: for messages
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if
 * something differs, which the message names. */
gboolean spdl_resume_read (SpdlState *state, const gchar *text, guint32 source,
    guint64 n_items, guint64 n_places, const gchar *location, GError **error);

G_END_DECLS
