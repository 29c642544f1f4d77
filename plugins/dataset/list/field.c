/* gst-spdl: field of a list: a text in the list, and its escapes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/field.h"

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

gchar *
spdl_field_dup (const SpdlField *self)
{
  gchar *text = g_strndup (self->text, self->length);

  if (self->escapes == SPDL_FIELD_QUOTES)
    remove_doubled_quotes (text);
  return text;
}
