/* gst-spdl: field of a list: a text in the list, and its escapes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/field.h"

#include <jansson.h>

static void
remove_doubled_quotes (gchar *text)
{
  gchar *to = text;

  for (const gchar *from = text; *from; from++) {
    *to++ = *from;
    from += *from == '"';
  }
  *to = '\0';
}

static gchar *
decode_json (const gchar *text)
{
  g_autofree gchar *quoted = g_strconcat ("\"", text, "\"", NULL);
  json_t *string = json_loads (quoted, JSON_DECODE_ANY, NULL);
  /* The text was validated, but the file may have been changed since. */
  gchar *decoded = string ? g_strdup (json_string_value (string))
                          : g_utf8_make_valid (text, -1);

  json_decref (string);
  return decoded;
}

gchar *
spdl_field_dup (const SpdlField *self)
{
  g_autofree gchar *text = g_strndup (self->text, self->length);

  if (self->escapes == SPDL_FIELD_JSON)
    return decode_json (text);
  if (self->escapes == SPDL_FIELD_QUOTES)
    remove_doubled_quotes (text);
  return g_steal_pointer (&text);
}
