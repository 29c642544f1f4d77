/* gst-spdl-launch: JSON output of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/session.h"

G_BEGIN_DECLS

/* Writes all statistics of a run.
 * @file: path, or "-" for stdout */
gboolean json_write (
    Session *session, const gchar *file, const GError *failure, GError **error);

G_END_DECLS
