/* gst-spdl: parser of a line of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/line.h"

#include <gst/gst.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "gst/spdl/engine/compat.h"

/* Parse errors */

#define MAX_QUOTED 60

gchar *
spdl_parse_error_quote (const gchar *text, gsize length)
{
  gsize shown = length;
  g_autofree gchar *valid = NULL;

  if (shown > MAX_QUOTED) {
    shown = MAX_QUOTED;
    while (shown > 0 && (text[shown] & 0xc0) == 0x80)
      shown--;
  }
  valid = g_utf8_make_valid (text, shown);
  for (gchar *c = valid; *c; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  return g_strconcat ("\"", valid, shown < length ? "...\"" : "\"", NULL);
}

/* Parts of a parse error in its description: $text and $item, which are quoted,
 * $number, $wanted, and $s, the plural of $number. */
static const gchar *const descriptions[] = {
  [SPDL_PARSE_ERROR_TOO_LONG] =
      "the line is longer than the limit of $number bytes",
  [SPDL_PARSE_ERROR_NOT_UTF8] =
      "the line is not UTF-8: save the list as UTF-8, and write names of other "
      "bytes as URIs (file:///caf%E9.jpg)",
  [SPDL_PARSE_ERROR_NO_URI] = "the path or URI is empty",
  [SPDL_PARSE_ERROR_LABEL_NO_INTEGER] =
      "label $text of item $item is text, but labels before it are numbers: "
      "correct it, write all labels as text, or set classes to the names of "
      "the classes",
  [SPDL_PARSE_ERROR_LABEL_INTEGER] =
      "label $text of item $item is a number, but labels before it are text: "
      "correct it, or set classes to the names of the classes",
  [SPDL_PARSE_ERROR_LABEL_FRACTION] =
      "label $text of item $item is not an integer, so it is not the number of "
      "a class: name the column in target-columns to get its numbers as a "
      "tensor, or set classes if the labels are names",
  [SPDL_PARSE_ERROR_LABEL_UNKNOWN] =
      "label $text of item $item is not among the $number classes: correct it, "
      "or add it to classes",
  [SPDL_PARSE_ERROR_LABEL_TOO_MANY] =
      "label $text of item $item exceeds the limit of $number classes: set "
      "label=none if the labels are not classes, or use numbers",
  [SPDL_PARSE_ERROR_LABEL_TOO_LARGE] =
      "label $text of item $item does not fit into 64 bits",
  [SPDL_PARSE_ERROR_WEIGHT] =
      "weight $text is invalid: write a decimal number such as 0.25, or 0 for "
      "an item that should never be drawn",
  [SPDL_PARSE_ERROR_N_FIELDS] =
      "the line has $number field$s, but the header names $wanted: write a "
      "field that holds a comma in quotes",
  [SPDL_PARSE_ERROR_QUOTE_UNCLOSED] = "a quote is not closed",
  [SPDL_PARSE_ERROR_QUOTE_LONG] = "a quote is not closed within $number bytes",
  [SPDL_PARSE_ERROR_QUOTE_STRAY] =
      "a field contains a quote: write the whole field in quotes, and double "
      "the quotes in it",
  [SPDL_PARSE_ERROR_JSON] =
      "the JSON is invalid at byte $number, $text: write one object on each "
      "line, such as {\"uri\": \"a.jpg\"}",
  [SPDL_PARSE_ERROR_JSON_CUT_OFF] =
      "the JSON object is cut off after $number bytes: write the whole object "
      "on one line",
  [SPDL_PARSE_ERROR_JSON_DEPTH] =
      "the JSON is nested more than $number levels deep",
  [SPDL_PARSE_ERROR_MEMBER_NAME] =
      "the name $text of a member is longer than the limit of $number bytes",
  [SPDL_PARSE_ERROR_MEMBER_TOO_MANY] =
      "the member $text exceeds the limit of $number different names: put "
      "members with varying names into an object",
  [SPDL_PARSE_ERROR_MEMBER_TWICE] =
      "the object has two members $text: remove or rename one of them",
  [SPDL_PARSE_ERROR_MEMBER_RANGE] =
      "the number $item of the member $text does not fit into 64 bits: write "
      "it as a string",
  [SPDL_PARSE_ERROR_MEMBER_URI] =
      "the member $text is $item, but must be a string with a path or URI",
  [SPDL_PARSE_ERROR_MEMBER_LABEL] =
      "the member $text is $item, but must be a string or an integer: correct "
      "it, or set label=none",
  [SPDL_PARSE_ERROR_MEMBER_NO_URI] =
      "the object has no member $text: add it, or set uri-column to the member "
      "that holds the path or URI",
  [SPDL_PARSE_ERROR_MEMBER_NO_WEIGHT] =
      "the object has no member $text with the weight: add it, or set "
      "weight-column to another member",
};

/* Skips @prefix at @text, if it is there. */
static gboolean
skip (const gchar **text, const gchar *prefix)
{
  if (!g_str_has_prefix (*text, prefix))
    return FALSE;
  *text += strlen (prefix);
  return TRUE;
}

static gchar *
describe_error (const SpdlParseError *error)
{
  g_auto (GStrv) pieces = g_strsplit (descriptions[error->kind], "$", -1);
  GString *description = g_string_new (pieces[0]);

  for (gchar **piece = pieces + 1; *piece; piece++) {
    const gchar *rest = *piece;
    g_autofree gchar *part = NULL;

    if (skip (&rest, "text"))
      part = spdl_parse_error_quote (error->text, error->length);
    else if (skip (&rest, "item"))
      part = spdl_parse_error_quote (error->item, error->item_length);
    else if (skip (&rest, "number"))
      part = g_strdup_printf ("%" G_GUINT64_FORMAT, error->number);
    else if (skip (&rest, "wanted"))
      part = g_strdup_printf ("%" G_GUINT64_FORMAT, error->wanted);
    else if (skip (&rest, "s"))
      part = g_strdup (error->number == 1 ? "" : "s");
    g_string_append (description, part);
    g_string_append (description, rest);
  }
  return g_string_free (description, FALSE);
}

void
spdl_parse_errors_add (
    SpdlParseErrors *self, const SpdlParseError *parse_error, guint64 line)
{
  if (self->n_flaws++ > 0)
    return;
  self->first = describe_error (parse_error);
  self->first_line = line;
}

void
spdl_parse_errors_clear (SpdlParseErrors *self)
{
  g_clear_pointer (&self->first, g_free);
}

GError *
spdl_parse_errors_to_error (
    const SpdlParseErrors *self, const gchar *location, guint64 n_lines)
{
  if (n_lines == 0)
    return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "\"%s\" line %" G_GUINT64_FORMAT ": %s", location, self->first_line,
        self->first);
  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "\"%s\" line %" G_GUINT64_FORMAT ": %s (%" G_GUINT64_FORMAT
      " malformed line%s, of %" G_GUINT64_FORMAT ")",
      location, self->first_line, self->first, self->n_flaws,
      self->n_flaws == 1 ? "" : "s", n_lines);
}

gboolean
spdl_line_is_utf8 (const gchar *text, gsize length)
{
  /* Sixteen bytes, which compilers compare at once. */
  typedef gint8 Bytes __attribute__ ((vector_size (16)));
  typedef guint64 Words __attribute__ ((vector_size (16)));
  Bytes bytes;
  Words found;

  /* Most lists are plain ASCII: no byte is NUL or, as a signed number, less. */
  for (; length >= sizeof bytes; text += sizeof bytes, length -= sizeof bytes) {
    memcpy (&bytes, text, sizeof bytes);
    found = (Words) (bytes <= 0);
    if (found[0] | found[1])
      break;
  }
  return g_utf8_validate (text, length, NULL);
}

static void
strip_spaces (const gchar **text, const gchar **end)
{
  while (*end > *text && g_ascii_isspace ((*end)[-1]))
    (*end)--;
  while (*text < *end && g_ascii_isspace (**text))
    (*text)++;
}

/* So many digits fit into 64 bits. */
#define SAFE_DIGITS 18

/* Parses an integer without surrounding blanks. */
static inline SpdlParseErrorKind
parse_integer (const gchar *text, const gchar *end, gint64 *label)
{
  gint64 value = 0;
  gboolean negative, fits = TRUE;

  negative = text < end && *text == '-';
  if (text < end && (*text == '-' || *text == '+'))
    text++;
  if (text == end)
    return SPDL_PARSE_ERROR_LABEL_NO_INTEGER;
  if (G_LIKELY (end - text <= SAFE_DIGITS)) {
    for (; text < end; text++) {
      const guint digit = (guchar) *text - '0';

      if (digit > 9)
        return SPDL_PARSE_ERROR_LABEL_NO_INTEGER;
      value = 10 * value + digit;
    }
    *label = negative ? -value : value;
    return SPDL_PARSE_ERROR_NONE;
  }
  for (; text < end; text++) {
    const gint digit = *text - '0';

    if (!g_ascii_isdigit (*text))
      return SPDL_PARSE_ERROR_LABEL_NO_INTEGER;
    fits = fits && !__builtin_mul_overflow (value, 10, &value) &&
           !__builtin_add_overflow (value, negative ? -digit : digit, &value);
  }
  if (!fits || value == SPDL_NO_LABEL)
    return SPDL_PARSE_ERROR_LABEL_TOO_LARGE;
  *label = value;
  return SPDL_PARSE_ERROR_NONE;
}

gchar *
spdl_line_dup_label (const SpdlLine *self)
{
  return g_strstrip (spdl_field_dup (&self->name));
}

/* Returns the end of the digits. @number gets the value of the first 15 of
 * them, which a double represents exactly. */
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

SpdlParseErrorKind
spdl_line_convert_label (double number, gint64 *label)
{
  /* Larger ones are not exact. */
  if (!(fabs (number) <= 9007199254740992.0))
    return isnan (number) ? SPDL_PARSE_ERROR_LABEL_FRACTION
                          : SPDL_PARSE_ERROR_LABEL_TOO_LARGE;
  if (number != floor (number))
    return SPDL_PARSE_ERROR_LABEL_FRACTION;
  *label = number;
  return SPDL_PARSE_ERROR_NONE;
}

/* Parses a number without surrounding blanks. */
static SpdlParseErrorKind
parse_number (const gchar *text, const gchar *end, gint64 *label)
{
  const SpdlParseErrorKind kind = parse_integer (text, end, label);
  const gchar *at = text;
  guint64 number = 0;
  guint n_digits = 0;

  if (kind != SPDL_PARSE_ERROR_LABEL_NO_INTEGER)
    return kind;
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  at = read_digits (at, end, &number, &n_digits);
  if (at < end && *at == '.')
    at = read_digits (at + 1, end, &number, &n_digits);
  if (n_digits == 0 || (at < end && !is_exponent (at, end)))
    return kind;
  return spdl_line_convert_label (read_slowly (text, end), label);
}

SpdlParseErrorKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label)
{
  const gchar *end = text + length;

  strip_spaces (&text, &end);
  return parse_number (text, end, label);
}

SpdlParseErrorKind
spdl_line_parse_weight (const gchar *text, gsize length, double *weight)
{
  static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
  const gchar *end = text + length, *at, *point;
  guint n_digits = 0, n_places = 0;
  guint64 number = 0;
  double value;

  strip_spaces (&text, &end);
  if (text < end && *text == '+')
    text++;
  at = read_digits (text, end, &number, &n_digits);
  if (at < end && *at == '.') {
    point = at + 1;
    at = read_digits (point, end, &number, &n_digits);
    n_places = at - point;
  }
  if (n_digits == 0 || (at < end && !is_exponent (at, end)))
    return SPDL_PARSE_ERROR_WEIGHT;
  /* The quotient of two exact numbers is rounded only once. */
  value = at == end && n_digits <= 15 ? number / powers[n_places]
                                      : read_slowly (text, end);
  if (!isfinite (value))
    return SPDL_PARSE_ERROR_WEIGHT;
  *weight = value;
  return SPDL_PARSE_ERROR_NONE;
}

void
spdl_line_read_label (SpdlLine *self)
{
  const gchar *text = self->name.text, *end;

  if (!text)
    return;
  end = text + self->name.length;
  strip_spaces (&text, &end);
  if (G_UNLIKELY (self->name.escapes)) {
    g_autofree gchar *label = spdl_line_dup_label (self);

    self->name_kind =
        parse_number (label, label + strlen (label), &self->label);
    if (!*label)
      self->name.text = NULL;
    return;
  }
  self->name.text = text < end ? text : NULL;
  self->name.length = end - text;
  if (text < end)
    self->name_kind = parse_number (text, end, &self->label);
}

/* Splits the line at its last tab. A path that contains a tab can be written as
 * a URI. */
static void
split_label (SpdlLine *line)
{
  const gchar *text = line->path.text;
  const gchar *tab = spdl_compat_memrchr (text, '\t', line->path.length);

  if (!tab)
    return;
  line->name.text = tab + 1;
  line->name.length = text + line->path.length - (tab + 1);
  line->name.escapes = SPDL_FIELD_PLAIN;
  line->path.length = tab - text;
}

gboolean
spdl_line_is_blank (const gchar *text, gsize length)
{
  while (length > 0 && g_ascii_isspace (*text)) {
    text++;
    length--;
  }
  return length == 0;
}

void
spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line)
{
  const gchar *newline = memchr (text, '\n', end - text);
  gsize length = (newline ? newline : end) - text;

  spdl_line_init (line, newline ? newline + 1 : end);
  if (length > SPDL_LINE_MAX) {
    line->parse_error.kind = SPDL_PARSE_ERROR_TOO_LONG;
    line->parse_error.number = SPDL_LINE_MAX;
    return;
  }
  if (length > 0 && text[length - 1] == '\r')
    length--;
  if (spdl_line_is_blank (text, length) || *text == '#')
    return;
  line->path.text = text;
  line->path.length = length;
  split_label (line);
  if (line->path.length == 0)
    line->parse_error.kind = SPDL_PARSE_ERROR_NO_URI;
}

/* Fields */

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
