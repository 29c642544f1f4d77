/* gst-spdl: error domains, codes and values in tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <string.h>

G_BEGIN_DECLS

/* Returns the enumeration of a domain's codes, or NULL. */
static inline GEnumClass *
errors_get_codes (GQuark domain)
{
  if (domain == GST_CORE_ERROR)
    return g_type_class_ref (GST_TYPE_CORE_ERROR);
  if (domain == GST_LIBRARY_ERROR)
    return g_type_class_ref (GST_TYPE_LIBRARY_ERROR);
  if (domain == GST_RESOURCE_ERROR)
    return g_type_class_ref (GST_TYPE_RESOURCE_ERROR);
  if (domain == GST_STREAM_ERROR)
    return g_type_class_ref (GST_TYPE_STREAM_ERROR);
  if (domain == GST_PARSE_ERROR)
    return g_type_class_ref (GST_TYPE_PARSE_ERROR);
  return NULL;
}

/* Returns the message after its domain and code, such as
 * "[stream-error decode] ...". (transfer full) */
static inline gchar *
errors_format (const GError *error)
{
  GEnumClass *codes = errors_get_codes (error->domain);
  const GEnumValue *value =
      codes ? g_enum_get_value (codes, error->code) : NULL;
  const gchar *domain = g_quark_to_string (error->domain);
  const gsize skipped = g_str_has_prefix (domain, "gst") ? strlen ("gst-") : 0;
  g_autofree gchar *name = g_strdup (domain + skipped);
  gchar *text;

  if (g_str_has_suffix (name, "-quark"))
    name[strlen (name) - strlen ("-quark")] = '\0';
  text =
      value ? g_strdup_printf (
                  "[%s %s] %s", name, value->value_nick, error->message)
            : g_strdup_printf ("[%s %d] %s", name, error->code, error->message);

  if (codes)
    g_type_class_unref (codes);
  return text;
}

/* Returns whether @text, see errors_format(), contains all @parts, which are
 * separated by "|": domain and code in brackets, and the values and names that
 * the message must contain, but no prose. */
static inline gboolean
errors_text_has (const gchar *text, const gchar *parts)
{
  g_auto (GStrv) list = g_strsplit (parts, "|", -1);
  gboolean all = TRUE;

  for (guint i = 0; list[i] && all; i++)
    all = text && strstr (text, list[i]) != NULL;
  return all;
}

/* Like errors_text_has(), for an error. */
static inline gboolean
errors_has (const GError *error, const gchar *parts)
{
  g_autofree gchar *text = error ? errors_format (error) : NULL;

  return errors_text_has (text, parts);
}

G_END_DECLS
