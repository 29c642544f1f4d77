/* gst-spdl: failure of a function
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Sets @error in the domain of GST_RESOURCE_ERROR. Returns FALSE, so that a
 * function can fail in one statement. */
gboolean spdl_fail (GError **error, GstResourceError code, const gchar *format,
    ...) G_GNUC_PRINTF (3, 4);

G_END_DECLS
