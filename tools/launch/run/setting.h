/* gst-spdl-launch: settings of the form ELEMENT.PROPERTY=VALUE
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/parts.h"

G_BEGIN_DECLS

/* Sets what @text says, "decode.concurrency=4", on an element of @parts. */
gboolean setting_apply (const gchar *text, GPtrArray *parts, GError **error);

/* Splits "decode.concurrency=1,2,4". The parts are to be freed. */
gboolean setting_split (const gchar *text, gchar **element, gchar **property,
    gchar **value, GError **error);

/* The element of that name; the error says which ones there are. */
Part *
setting_find_element (const gchar *element, GPtrArray *parts, GError **error);

G_END_DECLS
