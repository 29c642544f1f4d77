/* gst-spdl: intersection of properties with downstream caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Intersect @caps, all of media type @type, with a property. Return FALSE with
 * @error set, and @caps unchanged, if the result is empty. */

/* @number: value of @property and of the caps field of the same name; 0: not
 * set */
gboolean spdl_caps_set_number (GstCaps **caps, const gchar *type,
    const gchar *property, guint number, GError **error);

/* @format: value of @property. If it is NULL, @preferred is selected if the
 * caps include it, and the function returns TRUE. */
gboolean
spdl_caps_set_formats (GstCaps **caps, const gchar *type, const gchar *property,
    const gchar *format, const gchar *preferred, GError **error);

/* Returns the value of @field if it is fixed; else 0. */
guint spdl_get_fixed_number (const GstStructure *s, const gchar *field);

G_END_DECLS
