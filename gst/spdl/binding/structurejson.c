/* gst-spdl: conversion of structures to JSON
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/structurejson.h"

#include <math.h>
#include <string.h>

static void
append_string (GString *json, const gchar *text)
{
  if (!text) {
    g_string_append (json, "null");
    return;
  }
  g_string_append_c (json, '"');
  for (const guchar *p = (const guchar *) text; *p; p++) {
    if (*p == '"' || *p == '\\')
      g_string_append_printf (json, "\\%c", *p);
    else if (*p < 0x20)
      g_string_append_printf (json, "\\u%04x", *p);
    else
      g_string_append_c (json, (gchar) *p);
  }
  g_string_append_c (json, '"');
}

static void
append_double (GString *json, gdouble value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_dtostr (digits, sizeof (digits), value);
  /* NaN and infinity are not valid JSON, but the readers accept them. */
  if (!isfinite (value))
    g_string_append (json, isnan (value) ? "NaN"
                           : value > 0   ? "Infinity"
                                         : "-Infinity");
  else
    /* Readers make an integer of a number without a point. */
    g_string_append_printf (
        json, "%s%s", digits, strpbrk (digits, ".e") ? "" : ".0");
}

static void append_value (GString *json, const GValue *value);

static void
append_values (GString *json, const GValue *values, guint n,
    const GValue *(*get) (const GValue *values, guint i))
{
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (json, ',');
    append_value (json, get (values, i));
  }
  g_string_append_c (json, ']');
}

static void
append_value (GString *json, const GValue *value)
{
  g_autofree gchar *text = NULL;

  if (G_VALUE_HOLDS_STRING (value))
    append_string (json, g_value_get_string (value));
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_string_append (json, g_value_get_boolean (value) ? "true" : "false");
  else if (G_VALUE_HOLDS_DOUBLE (value))
    append_double (json, g_value_get_double (value));
  else if (G_VALUE_HOLDS_FLOAT (value))
    append_double (json, (gdouble) g_value_get_float (value));
  else if (G_VALUE_HOLDS_INT (value))
    g_string_append_printf (json, "%d", g_value_get_int (value));
  else if (G_VALUE_HOLDS_UINT (value))
    g_string_append_printf (json, "%u", g_value_get_uint (value));
  else if (G_VALUE_HOLDS_INT64 (value))
    g_string_append_printf (
        json, "%" G_GINT64_FORMAT, g_value_get_int64 (value));
  else if (G_VALUE_HOLDS_UINT64 (value))
    g_string_append_printf (
        json, "%" G_GUINT64_FORMAT, g_value_get_uint64 (value));
  else if (GST_VALUE_HOLDS_STRUCTURE (value))
    spdl_json_append_structure (json, gst_value_get_structure (value));
  else if (GST_VALUE_HOLDS_ARRAY (value))
    append_values (json, value, gst_value_array_get_size (value),
        gst_value_array_get_value);
  else if (GST_VALUE_HOLDS_LIST (value))
    append_values (
        json, value, gst_value_list_get_size (value), gst_value_list_get_value);
  else
    append_string (json, text = gst_value_serialize (value));
}

void
spdl_json_append_structure (GString *json, const GstStructure *structure)
{
  const gint n = structure ? gst_structure_n_fields (structure) : 0;

  g_string_append_c (json, '{');
  for (gint i = 0; i < n; i++) {
    const gchar *name = gst_structure_nth_field_name (structure, (guint) i);

    if (i > 0)
      g_string_append_c (json, ',');
    append_string (json, name);
    g_string_append_c (json, ':');
    append_value (json, gst_structure_get_value (structure, name));
  }
  g_string_append_c (json, '}');
}
