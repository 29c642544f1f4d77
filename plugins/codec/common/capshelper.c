/* gst-spdl: intersection of properties with downstream caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/common/capshelper.h"

/* @wanted: (transfer full): caps that the value of @property stands for */
static gboolean
restrict_caps (
    GstCaps **caps, const gchar *property, GstCaps *wanted, GError **error)
{
  GstCaps *agreed = gst_caps_intersect (*caps, wanted);
  const gboolean ok = !gst_caps_is_empty (agreed);

  if (ok) {
    gst_caps_replace (caps, agreed);
  } else {
    g_autofree gchar *mine = gst_caps_to_string (wanted);
    g_autofree gchar *theirs = gst_caps_to_string (*caps);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The property %s contradicts downstream, not negotiated: %s is set, "
        "but downstream accepts only %s",
        property, mine, theirs);
  }
  gst_caps_unref (agreed);
  gst_caps_unref (wanted);
  return ok;
}

gboolean
spdl_caps_set_number (GstCaps **caps, const gchar *type, const gchar *property,
    guint number, GError **error)
{
  return number == 0 || restrict_caps (caps, property,
                            gst_caps_new_simple (type, property, G_TYPE_INT,
                                (gint) number, NULL),
                            error);
}

gboolean
spdl_caps_set_formats (GstCaps **caps, const gchar *type, const gchar *property,
    const gchar *format, const gchar *preferred, GError **error)
{
  const gboolean ok = restrict_caps (caps, property,
      gst_caps_new_simple (
          type, "format", G_TYPE_STRING, format ? format : preferred, NULL),
      format ? error : NULL);

  return ok || !format;
}

guint
spdl_get_fixed_number (const GstStructure *s, const gchar *field)
{
  gint number;

  return gst_structure_get_int (s, field, &number) ? number : 0;
}
