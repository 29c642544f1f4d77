/* gst-spdl: validation of a resume state
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/state.h"

G_BEGIN_DECLS

/* Reads @text, and refuses it where it is a state of something else. Which part
 * of an epoch is this process's may have changed if the state stands between
 * two epochs. A state that has only other sources, none of whose items can have
 * come then, is the beginning.
 *
 * @state: has what the source is now, and gets how far it got
 * @n_items: how many sequences an epoch has
 * @location: for the message
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, which
 * names what differs. */
gboolean spdl_resume_read (SpdlState *state, const gchar *text, guint32 source,
    guint64 n_items, const gchar *location, GError **error);

G_END_DECLS
