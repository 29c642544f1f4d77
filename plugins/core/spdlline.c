/* gst-spdl: a line of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlline.h"

#include <string.h>

gboolean
spdl_line_is_utf8 (const gchar *text, gsize length)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);
  const guint64 highs = ones << 7;
  guint64 bytes;

  /* Most lists are plain ASCII: eight bytes at a time, none of which is NUL
   * (from which a one can only be taken with a borrow) or has its high bit. */
  for (; length >= sizeof bytes; text += sizeof bytes, length -= sizeof bytes) {
    memcpy (&bytes, text, sizeof bytes);
    if (((bytes - ones) | bytes) & highs)
      break;
  }
  return g_utf8_validate (text, length, NULL);
}

SpdlFlawKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label)
{
  const gchar *end = text + length;
  gint64 value = 0;
  gboolean negative, fits = TRUE;

  while (end > text && g_ascii_isspace (end[-1]))
    end--;
  while (text < end && g_ascii_isspace (*text))
    text++;
  negative = text < end && *text == '-';
  if (text < end && (*text == '-' || *text == '+'))
    text++;
  if (text == end)
    return SPDL_FLAW_LABEL_NO_INTEGER;
  for (; text < end; text++) {
    const gint digit = *text - '0';

    if (!g_ascii_isdigit (*text))
      return SPDL_FLAW_LABEL_NO_INTEGER;
    fits = fits && !__builtin_mul_overflow (value, 10, &value) &&
           !__builtin_add_overflow (value, negative ? -digit : digit, &value);
  }
  if (!fits)
    return SPDL_FLAW_LABEL_TOO_LARGE;
  *label = value;
  return SPDL_FLAW_NONE;
}

/* A tab with no integer behind it belongs to the path. */
static void
split_label (SpdlLine *line)
{
  const gchar *text = line->path.text;
  const gchar *tab = memrchr (text, '\t', line->path.length);
  SpdlFlawKind kind;

  if (!tab)
    return;
  const gsize length = text + line->path.length - (tab + 1);
  kind = spdl_line_parse_label (tab + 1, length, &line->label);
  if (kind == SPDL_FLAW_LABEL_NO_INTEGER)
    return;
  line->path.length = tab - text;
  line->flaw = (SpdlFlaw){ kind, tab + 1, length };
}

void
spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line)
{
  const gchar *newline = memchr (text, '\n', end - text);
  gsize length = (newline ? newline : end) - text;

  *line = (SpdlLine){ .next = newline ? newline + 1 : end, .label = -1 };
  if (length > SPDL_LINE_MAX) {
    line->flaw.kind = SPDL_FLAW_TOO_LONG;
    line->flaw.number = SPDL_LINE_MAX;
    return;
  }
  while (length > 0 && g_ascii_isspace (text[length - 1]))
    length--;
  if (length == 0 || *text == '#')
    return;
  line->path.text = text;
  line->path.length = length;
  split_label (line);
  if (line->path.length == 0)
    line->flaw.kind = SPDL_FLAW_NO_URI;
}
