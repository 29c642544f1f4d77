/* gst-spdl: serialization of bus messages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/wire/serializer.h"

G_BEGIN_DECLS

/* Writes element messages, errors, warnings and infos, with the name of the
 * posting element. Other messages concern only their own pipeline: for these
 * the function returns FALSE and writes nothing. */
gboolean spdl_put_message (GByteArray *bytes, GstMessage *message);

/* @source: new source of the message; the name of the original source is in the
 * field `stage` of its structure or details
 * @pid: process ID of the worker, added to statistics and details
 * Returns: (transfer full): NULL if the data is invalid */
GstMessage *spdl_get_message (SpdlPayload *self, GstObject *source, guint pid);

G_END_DECLS
