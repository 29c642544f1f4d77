/* gst-spdl: intersection of properties with downstream's caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Each leaves of @caps, all of media type @type, what agrees with a property;
 * FALSE with @error set, and @caps as they were, if that is nothing. */

/* @property is @number, and the caps' field of that name is to be; 0: it is not
 * set. */
gboolean spdl_caps_set_number (GstCaps **caps, const gchar *type,
    const gchar *property, guint number, GError **error);

/* @property is @format. Where that is NULL, @preferred is taken if the caps
 * have it, and the result is always TRUE. */
gboolean
spdl_caps_set_formats (GstCaps **caps, const gchar *type, const gchar *property,
    const gchar *format, const gchar *preferred, GError **error);

/* The one number that @field can be; 0: there are several, or none. */
guint spdl_get_fixed_number (const GstStructure *s, const gchar *field);

G_END_DECLS
