/* gst-spdl: texts for people: messages, logs, the terminal
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/showntext.h"

#include <string.h>

#include "gst/spdl/common/redact.h"

/* Checks if @c may be displayed. Format characters can reorder a line. The
 * joiners are parts of emoji and of words in some scripts. */
static gboolean
is_shown (gunichar c, gboolean lines)
{
  if (c >= ' ' && c < 127)
    return TRUE;
  switch (g_unichar_type (c)) {
    case G_UNICODE_CONTROL:
      return lines && (c == '\n' || c == '\t');
    case G_UNICODE_FORMAT:
      return c == 0x200c || c == 0x200d;
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SURROGATE:
      return FALSE;
    default:
      return TRUE;
  }
}

static void
append_escaped (GString *out, gunichar c)
{
  if (c == '\n' || c == '\t')
    g_string_append (out, c == '\n' ? "\\n" : "\\t");
  else if (c < 0x100)
    g_string_append_printf (out, "\\x%02x", c);
  else
    g_string_append_printf (out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
}

static gchar *
show (const gchar *text, gboolean lines)
{
  g_autofree gchar *redacted = spdl_redact_text (text ? text : "");
  const gsize size = strlen (redacted);
  g_autoptr (GString) out = g_string_sized_new (size);

  for (const gchar *at = redacted; *at;) {
    const gunichar c = g_utf8_get_char_validated (at, -1);
    const gchar *next = at + 1;

    if (c >= (gunichar) -2) { /* invalid UTF-8 */
      append_escaped (out, *(const guchar *) at);
    } else {
      next = g_utf8_next_char (at);
      if (is_shown (c, lines))
        g_string_append_len (out, at, next - at);
      else
        append_escaped (out, c);
      if (lines && c == '\n' && *next && !g_ascii_isspace (*next))
        g_string_append (out, "  ");
    }
    at = next;
  }
  /* An escaped character may be in the middle of a secret. */
  return out->len > size ? spdl_redact_text (out->str) : g_strdup (out->str);
}

gchar *
spdl_show_text (const gchar *text)
{
  return show (text, TRUE);
}

gchar *
spdl_show_line (const gchar *text)
{
  return show (text, FALSE);
}

void
spdl_show_error (GError *error)
{
  gchar *shown;

  if (!error)
    return;
  shown = spdl_show_text (error->message);
  g_free (error->message);
  error->message = shown;
}
