/* gst-spdl-launch: text in columns
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/table.h"

#include <math.h>
#include <string.h>

static gboolean
is_utf8 (void)
{
  return g_get_charset (NULL);
}

gchar *
text_fit (const gchar *text, guint width)
{
  const guint length = g_utf8_strlen (text, -1);
  GString *fitted;

  if (length <= width) {
    fitted = g_string_new (text);
    for (guint i = length; i < width; i++)
      g_string_append_c (fitted, ' ');
  } else {
    g_autofree gchar *head = g_utf8_substring (text, 0, MAX (width, 1) - 1);

    fitted = g_string_new (head);
    g_string_append (fitted, is_utf8 () ? "\u2026" : "~");
  }
  return g_string_free (fitted, FALSE);
}

gchar *
text_wrap (const gchar *text, guint width)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  GString *lines = g_string_new (NULL);
  guint column = 0;

  for (guint i = 0; words[i]; i++) {
    const guint length = g_utf8_strlen (words[i], -1);

    if (column > 0 && column + 1 + length > width) {
      g_string_append_c (lines, '\n');
      column = 0;
    } else if (column > 0) {
      g_string_append_c (lines, ' ');
      column++;
    }
    if (length > width) {
      g_autofree gchar *fitted = text_fit (words[i], width);

      g_string_append (lines, fitted);
      column = width;
    } else {
      g_string_append (lines, words[i]);
      column += length;
    }
  }
  return g_string_free (lines, FALSE);
}

gchar *
text_bar (double share, guint width)
{
  /* U+2588 is a full block, the seven behind it are thinner ones. */
  const gboolean fine = is_utf8 ();
  const guint steps = fine ? 8 : 1;
  const guint filled = (guint) lround (CLAMP (share, 0, 1) * width * steps);
  GString *bar = g_string_new (NULL);

  for (guint i = 0; i < width; i++) {
    if ((i + 1) * steps <= filled)
      g_string_append (bar, fine ? "\u2588" : "#");
    else if (i * steps < filled)
      g_string_append_unichar (bar, 0x2588 + steps - filled % steps);
    else
      g_string_append (bar, fine ? "\u00b7" : ".");
  }
  return g_string_free (bar, FALSE);
}
