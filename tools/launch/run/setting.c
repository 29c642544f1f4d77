/* gst-spdl-launch: settings of the form ELEMENT.PROPERTY=VALUE
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/setting.h"

#include <gio/gio.h>
#include <string.h>

gboolean
setting_split (const gchar *text, gchar **element, gchar **property,
    gchar **value, GError **error)
{
  const gchar *equals = strchr (text, '=');
  const gchar *dot = equals ? g_strrstr_len (text, equals - text, ".") : NULL;

  if (!dot || dot == text || equals == dot + 1) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%.*s%s\" is not ELEMENT.PROPERTY=VALUE",
        (int) (equals ? equals + 1 - text : (gssize) strlen (text)), text,
        equals ? "..." : "");
    return FALSE;
  }
  *element = g_strndup (text, dot - text);
  *property = g_strndup (dot + 1, equals - dot - 1);
  *value = g_strdup (equals + 1);
  return TRUE;
}

static gboolean
set_property (Part *part, const gchar *name, const gchar *text, GError **error)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (part->element), name);
  GValue value = G_VALUE_INIT;

  if (!pspec || !(pspec->flags & G_PARAM_WRITABLE)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "%s has no writable property \"%s\"", part->name, name);
    return FALSE;
  }
  g_value_init (&value, pspec->value_type);
  if (!gst_value_deserialize_with_pspec (&value, text, pspec) ||
      (g_param_value_validate (pspec, &value) &&
          !(pspec->flags & G_PARAM_LAX_VALIDATION))) {
    g_value_unset (&value);
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is not a value of %s.%s",
        g_str_equal (name, "extra-headers") ? "***" : text, part->name, name);
    return FALSE;
  }
  g_object_set_property (G_OBJECT (part->element), name, &value);
  g_value_unset (&value);
  return TRUE;
}

Part *
setting_find_element (const gchar *element, GPtrArray *parts, GError **error)
{
  Part *part = parts_find (parts, element);

  if (!part) {
    g_autofree gchar *names = parts_list_names (parts);

    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "the pipeline has no element \"%s\"; it has: %s", element, names);
  }
  return part;
}

gboolean
setting_apply (const gchar *text, GPtrArray *parts, GError **error)
{
  g_autofree gchar *element = NULL, *property = NULL, *value = NULL;
  Part *part;

  return setting_split (text, &element, &property, &value, error) &&
         (part = setting_find_element (element, parts, error)) &&
         set_property (part, property, value, error);
}
