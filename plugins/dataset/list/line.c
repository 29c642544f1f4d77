/* gst-spdl: a line of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/line.h"

#include <math.h>
#include <string.h>

#include "gst/spdl/engine/compat.h"

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

static void
strip (const gchar **text, const gchar **end)
{
  while (*end > *text && g_ascii_isspace ((*end)[-1]))
    (*end)--;
  while (*text < *end && g_ascii_isspace (**text))
    (*text)++;
}

/* Without blanks around it. */
static inline SpdlFlawKind
parse_integer (const gchar *text, const gchar *end, gint64 *label)
{
  gint64 value = 0;
  gboolean negative, fits = TRUE;

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

SpdlFlawKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label)
{
  const gchar *end = text + length;

  strip (&text, &end);
  return parse_integer (text, end, label);
}

/* Returns where the digits end, and takes the first 15 of them for a number,
 * which a double holds exactly. */
static const gchar *
read_digits (
    const gchar *at, const gchar *end, guint64 *number, guint *n_digits)
{
  for (; at < end && g_ascii_isdigit (*at); at++)
    if ((*n_digits)++ < 15)
      *number = *number * 10 + (*at - '0');
  return at;
}

static gboolean
is_exponent (const gchar *at, const gchar *end)
{
  guint64 number = 0;
  guint n_digits = 0;

  if (at == end || (*at != 'e' && *at != 'E'))
    return FALSE;
  at++;
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  return read_digits (at, end, &number, &n_digits) == end && n_digits > 0;
}

static double
read_slowly (const gchar *text, const gchar *end)
{
  g_autofree gchar *copy = g_strndup (text, end - text);

  return g_ascii_strtod (copy, NULL);
}

SpdlFlawKind
spdl_line_parse_weight (const gchar *text, gsize length, double *weight)
{
  static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
  const gchar *end = text + length, *at, *point;
  guint n_digits = 0, n_places = 0;
  guint64 number = 0;
  double value;

  strip (&text, &end);
  if (text < end && *text == '+')
    text++;
  at = read_digits (text, end, &number, &n_digits);
  if (at < end && *at == '.') {
    point = at + 1;
    at = read_digits (point, end, &number, &n_digits);
    n_places = at - point;
  }
  if (n_digits == 0 || (at < end && !is_exponent (at, end)))
    return SPDL_FLAW_WEIGHT;
  /* A quotient of two numbers that are exact is rounded but once. */
  value = at == end && n_digits <= 15 ? number / powers[n_places]
                                      : read_slowly (text, end);
  if (!isfinite (value))
    return SPDL_FLAW_WEIGHT;
  *weight = value;
  return SPDL_FLAW_NONE;
}

void
spdl_line_read_label (SpdlLine *self)
{
  const gchar *text = self->name.text, *end;

  if (!text)
    return;
  end = text + self->name.length;
  strip (&text, &end);
  self->name.text = text < end ? text : NULL;
  self->name.length = end - text;
  if (text < end)
    self->name_kind = parse_integer (text, end, &self->label);
}

/* The last tab of a line: a path that has one can be written as a URI. */
static void
split_label (SpdlLine *line)
{
  const gchar *text = line->path.text;
  const gchar *tab = spdl_compat_memrchr (text, '\t', line->path.length);

  if (!tab)
    return;
  line->name.text = tab + 1;
  line->name.length = text + line->path.length - (tab + 1);
  line->name.has_quotes = FALSE;
  line->path.length = tab - text;
}

void
spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line)
{
  const gchar *newline = memchr (text, '\n', end - text);
  gsize length = (newline ? newline : end) - text;

  spdl_line_init (line, newline ? newline + 1 : end);
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
