/* gst-spdl: words of JSON, one after the other
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdljson.h"

#include <string.h>

static void
skip_blanks (SpdlJson *self)
{
  while (self->at < self->end && *self->at && strchr (" \t\r\n", *self->at))
    self->at++;
}

gboolean
spdl_json_is_next (SpdlJson *self, gchar mark)
{
  skip_blanks (self);
  return self->at < self->end && *self->at == mark;
}

gboolean
spdl_json_take (SpdlJson *self, gchar mark)
{
  if (!spdl_json_is_next (self, mark))
    return FALSE;
  self->at++;
  return TRUE;
}

gboolean
spdl_json_is_end (SpdlJson *self)
{
  skip_blanks (self);
  return self->at == self->end;
}

gboolean
spdl_json_take_number (SpdlJson *self, guint64 *number)
{
  const gchar *begin;

  skip_blanks (self);
  begin = self->at;
  *number = 0;
  while (self->at < self->end && g_ascii_isdigit (*self->at)) {
    if (!g_uint64_checked_mul (number, *number, 10) ||
        !g_uint64_checked_add (number, *number, *self->at - '0'))
      *number = G_MAXUINT64;
    self->at++;
  }
  return self->at > begin;
}

/* Four hexadecimal digits. */
static gboolean
take_code (SpdlJson *self, guint *code)
{
  *code = 0;
  if (self->end - self->at < 4)
    return FALSE;
  for (guint i = 0; i < 4; i++) {
    const gint digit = g_ascii_xdigit_value (*self->at++);

    if (digit < 0)
      return FALSE;
    *code = *code * 16 + digit;
  }
  return TRUE;
}

/* What follows on \u; beyond 16 bits it is two of them. */
static gboolean
take_unicode (SpdlJson *self, gunichar *c)
{
  guint high, low;

  if (!take_code (self, &high))
    return FALSE;
  *c = high;
  if (high < 0xd800 || high > 0xdfff)
    return high != 0;
  if (high > 0xdbff || self->end - self->at < 6 || self->at[0] != '\\' ||
      self->at[1] != 'u')
    return FALSE;
  self->at += 2;
  if (!take_code (self, &low) || low < 0xdc00 || low > 0xdfff)
    return FALSE;
  *c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  return TRUE;
}

/* What follows on a backslash. */
static gboolean
take_escape (SpdlJson *self, gunichar *c)
{
  static const gchar names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const gchar *name;

  if (self->at == self->end)
    return FALSE;
  if (*self->at == 'u') {
    self->at++;
    return take_unicode (self, c);
  }
  name = *self->at ? strchr (names, *self->at++) : NULL;
  if (!name)
    return FALSE;
  *c = values[name - names];
  return TRUE;
}

/* Returns the length of the string as it stands here, up to its end or that of
 * the text. */
static gsize
measure (const SpdlJson *self)
{
  const gchar *at = self->at;

  while (at < self->end && *at != '"')
    at += *at == '\\' && self->end - at > 1 ? 2 : 1;
  return at - self->at;
}

/* Reads the next character, as UTF-8, to @to. Returns its length; 0: it is
 * wrong. */
static guint
take_character (SpdlJson *self, gchar to[6])
{
  gunichar c;

  if ((guchar) *self->at < ' ')
    return 0;
  *to = *self->at++;
  if (*to != '\\')
    return 1;
  return take_escape (self, &c) ? g_unichar_to_utf8 (c, to) : 0;
}

gboolean
spdl_json_take_string (SpdlJson *self, gchar **string)
{
  g_autofree gchar *text = NULL;
  gsize length = 0;

  if (!spdl_json_take (self, '"'))
    return FALSE;
  /* An escape is at least as long as what it stands for. */
  if (string && !(text = g_try_malloc (measure (self) + 1))) {
    self->no_memory = TRUE;
    return FALSE;
  }
  while (self->at < self->end && *self->at != '"') {
    gchar character[6];
    const guint n = take_character (self, character);

    if (n == 0)
      return FALSE;
    if (text)
      memcpy (text + length, character, n);
    length += n;
  }
  if (self->at == self->end)
    return FALSE;
  self->at++;
  if (string) {
    text[length] = '\0';
    *string = g_steal_pointer (&text);
  }
  return TRUE;
}
