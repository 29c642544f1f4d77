/* gst-spdl: signature of a request given as a line of text
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Number of tab-separated fields: access key, secret key, session token,
 * region, service, method, host, path, query, time and range. */
#define SIGNED_LINE_FIELDS 11

/* Signs a request that has no body. Returns the value of Authorization, or NULL
 * if fields are missing. */
gchar *signed_line (const gchar *line);

G_END_DECLS
