/* gst-spdl: bus messages in messages between processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/wire/serializer.h"

G_BEGIN_DECLS

/* Element messages, errors, warnings and infos cross, with the name of the
 * element that posted them; others say nothing beyond their own pipeline.
 *
 * Returns FALSE for those, and has written nothing. */
gboolean spdl_put_message (GByteArray *bytes, GstMessage *message);

/* @source: whose message it is here; the name of the other process's element is
 *     the field `stage` of its structure or details
 * @pid: the other process's, which goes into figures and details
 *
 * Returns: (transfer full): NULL if the data is broken */
GstMessage *spdl_get_message (SpdlPayload *self, GstObject *source, guint pid);

G_END_DECLS
