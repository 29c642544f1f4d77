/* gst-spdl-launch: settings of the form ELEMENT.PROPERTY=VALUE
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/parts.h"

G_BEGIN_DECLS

/* Applies a setting such as "decode.concurrency=4" to an element in @parts. */
gboolean setting_apply (const gchar *text, GPtrArray *parts, GError **error);

/* Splits a setting such as "decode.concurrency=1,2,4". Free the results with
 * g_free(). */
gboolean setting_split (const gchar *text, gchar **element, gchar **property,
    gchar **value, GError **error);

/* Returns the element with that name. The error lists the available names. */
Part *
setting_find_element (const gchar *element, GPtrArray *parts, GError **error);

G_END_DECLS
