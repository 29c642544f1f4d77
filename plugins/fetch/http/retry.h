/* gst-spdl: delays between retries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Whether an answer with that status may be another one next time. */
gboolean spdl_retry_is_status (guint status);

/* Whether a request that failed with @error, before or while its answer came,
 * may succeed next time. */
gboolean spdl_retry_is_error (const GError *error);

/* How long to wait before try @n (the first repetition is 1), in us: twice as
 * long each time, and at random between a half and all of it, so that requests
 * that failed together do not come back together. */
gint64 spdl_retry_get_delay (guint n);

/* What the server asks to wait, in us; 0 if it does not say. */
gint64 spdl_retry_get_asked (SoupMessageHeaders *headers);

G_END_DECLS
