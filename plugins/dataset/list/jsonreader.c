/* gst-spdl: JSON reader (RFC 8259)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/jsonreader.h"

#include <string.h>

/* The functions that read something move to its end. On failure, they return
 * FALSE and leave the position at the byte that is wrong. */

void
spdl_json_reader_init (
    SpdlJsonReader *self, const gchar *text, const gchar *end)
{
  *self = (SpdlJsonReader){ text, end, 3, FALSE, TRUE };
}

void
spdl_json_reader_init_part (
    SpdlJsonReader *self, const gchar *text, const gchar *end)
{
  *self = (SpdlJsonReader){ text, end, 4, FALSE, TRUE };
}

static gboolean
is_next (const SpdlJsonReader *self, gchar wanted)
{
  return self->at < self->end && *self->at == wanted;
}

static gboolean
read_char (SpdlJsonReader *self, gchar wanted)
{
  if (!is_next (self, wanted))
    return FALSE;
  self->at++;
  return TRUE;
}

static inline void
skip_blanks (SpdlJsonReader *self)
{
  while (self->at < self->end && (guchar) *self->at <= ' ' &&
         memchr (" \t\r\n", *self->at, self->n_blanks))
    self->at++;
}

/* Strings */

/* Sixteen bytes, which compilers compare at once. */
typedef guint8 Bytes __attribute__ ((vector_size (16)));
typedef guint64 Words __attribute__ ((vector_size (16)));

/* Moves to the first quote, backslash or control character, or to the end. */
static void
find_special (SpdlJsonReader *self)
{
  const gchar *at = self->at, *end = self->end;
  Bytes bytes, all = { 0 };
  Words found = { 0 };
  guchar last = 0;

  /* Bytes behind the character that is found count as well, which may only
   * cause a validation that is not needed. */
  for (; end - at >= (gssize) sizeof bytes; at += sizeof bytes) {
    memcpy (&bytes, at, sizeof bytes);
    all |= bytes;
    found = (Words) ((bytes == '"') | (bytes == '\\') | (bytes < ' '));
    if (found[0] | found[1])
      break;
  }
  if (found[0])
    at += __builtin_ctzll (GUINT64_FROM_LE (found[0])) / 8;
  else if (found[1])
    at += 8 + __builtin_ctzll (GUINT64_FROM_LE (found[1])) / 8;
  else
    for (; at < end && *at != '"' && *at != '\\' && (guchar) *at >= ' '; at++)
      last |= (guchar) *at;
  found = (Words) (all >= 0x80);
  if ((found[0] | found[1]) || last >= 0x80)
    self->is_ascii = FALSE;
  self->at = at;
}

/* Reads `u` and four digits. */
static gboolean
read_code (SpdlJsonReader *self, guint *code)
{
  if (!read_char (self, 'u'))
    return FALSE;
  *code = 0;
  for (guint i = 0; i < 4; i++, self->at++) {
    if (self->at == self->end || !g_ascii_isxdigit (*self->at))
      return FALSE;
    *code = *code << 4 | g_ascii_xdigit_value (*self->at);
  }
  return TRUE;
}

/* Reads an escape after its backslash. */
static gboolean
read_escape (SpdlJsonReader *self)
{
  const gchar *begin = self->at;
  guint code, low = 0;

  if (self->at < self->end && memchr ("\"\\/bfnrt", *self->at, 8)) {
    self->at++;
    return TRUE;
  }
  if (!read_code (self, &code))
    return FALSE;
  if (code >> 10 == 0xd800 >> 10 &&
      (!read_char (self, '\\') || !read_code (self, &low)))
    return FALSE;
  if (code > 0 && code >> 10 != 0xdc00 >> 10 &&
      (code >> 10 != 0xd800 >> 10 || low >> 10 == 0xdc00 >> 10))
    return TRUE;
  self->at = begin;
  return FALSE;
}

static gboolean
read_string (SpdlJsonReader *self, SpdlField *field)
{
  if (!read_char (self, '"'))
    return FALSE;
  field->text = self->at;
  field->escapes = SPDL_FIELD_PLAIN;
  for (;;) {
    find_special (self);
    if (!read_char (self, '\\'))
      break;
    field->escapes = SPDL_FIELD_JSON;
    if (!read_escape (self))
      return FALSE;
  }
  field->length = self->at - field->text;
  return read_char (self, '"');
}

/* Numbers and words */

static gboolean
read_digits (SpdlJsonReader *self)
{
  const gchar *begin = self->at;

  while (self->at < self->end && g_ascii_isdigit (*self->at))
    self->at++;
  return self->at > begin;
}

static gboolean
read_number (SpdlJsonReader *self)
{
  read_char (self, '-');
  if (!read_char (self, '0') && !read_digits (self))
    return FALSE;
  if (read_char (self, '.') && !read_digits (self))
    return FALSE;
  if (!read_char (self, 'e') && !read_char (self, 'E'))
    return TRUE;
  if (!read_char (self, '-'))
    read_char (self, '+');
  return read_digits (self);
}

static gboolean
read_word (SpdlJsonReader *self, const gchar *word)
{
  while (*word)
    if (!read_char (self, *word++))
      return FALSE;
  return TRUE;
}

/* Values */

/* Reads a value that contains no other. */
static gboolean
read_simple (SpdlJsonReader *self, SpdlField *field, SpdlJsonKind *kind)
{
  gboolean is_valid;

  if (is_next (self, '"')) {
    *kind = SPDL_JSON_STRING;
    return read_string (self, field);
  }
  field->text = self->at;
  field->escapes = SPDL_FIELD_PLAIN;
  *kind = SPDL_JSON_BOOLEAN;
  if (is_next (self, 't')) {
    is_valid = read_word (self, "true");
  } else if (is_next (self, 'f')) {
    is_valid = read_word (self, "false");
  } else if (is_next (self, 'n')) {
    *kind = SPDL_JSON_NULL;
    is_valid = read_word (self, "null");
  } else {
    *kind = SPDL_JSON_NUMBER;
    is_valid = read_number (self);
  }
  field->length = self->at - field->text;
  return is_valid;
}

static gboolean
read_guess (SpdlJsonReader *self, const SpdlField *guess, SpdlField *name)
{
  const gchar *text = self->at + 1;

  if (self->end - self->at < (gssize) guess->length + 2 || text[-1] != '"' ||
      text[guess->length] != '"' ||
      memcmp (text, guess->text, guess->length) != 0)
    return FALSE;
  *name = (SpdlField){ text, guess->length, SPDL_FIELD_PLAIN };
  self->at = text + guess->length + 1;
  return TRUE;
}

/* Reads the name of a member up to its value.
 *
 * @guess: (nullable) */
static gboolean
read_name (SpdlJsonReader *self, const SpdlField *guess, SpdlField *name,
    gboolean *is_guess)
{
  skip_blanks (self);
  *is_guess = guess && read_guess (self, guess, name);
  if (!*is_guess && !read_string (self, name))
    return FALSE;
  skip_blanks (self);
  if (!read_char (self, ':'))
    return FALSE;
  skip_blanks (self);
  return TRUE;
}

/* Open arrays and objects. A loop needs no stack for each, unlike a recursion,
 * which a text of brackets would exhaust. */
typedef struct {
  guint8 is_object[SPDL_JSON_MAX_DEPTH];
  guint depth;
} Nesting;

/* Reads what follows a value: the ends of arrays and objects, then a comma and
 * the name of the next value. Returns TRUE at the next value, or with depth 0
 * at the end of the outermost. */
static gboolean
read_on (SpdlJsonReader *self, Nesting *nesting)
{
  SpdlField name;
  gboolean is_guess;

  while (nesting->depth > 0) {
    const gboolean is_object = nesting->is_object[nesting->depth - 1];

    skip_blanks (self);
    if (read_char (self, ',')) {
      skip_blanks (self);
      return !is_object || read_name (self, NULL, &name, &is_guess);
    }
    if (!read_char (self, is_object ? '}' : ']'))
      return FALSE;
    nesting->depth--;
  }
  return TRUE;
}

/* Reads an array or an object. */
static SpdlJsonResult
read_nested (SpdlJsonReader *self)
{
  SpdlJsonKind kind;
  SpdlField field;
  gboolean is_guess;
  Nesting nesting;

  nesting.depth = 0;
  do {
    /* Each value is a level, also the object that the reader reads. */
    if (nesting.depth == SPDL_JSON_MAX_DEPTH - 1)
      return SPDL_JSON_TOO_DEEP;
    if (is_next (self, '{') || is_next (self, '[')) {
      const gboolean is_object = *self->at == '{';

      nesting.is_object[nesting.depth++] = is_object;
      self->at++;
      skip_blanks (self);
      if (!is_next (self, is_object ? '}' : ']')) {
        if (is_object && !read_name (self, NULL, &field, &is_guess))
          return SPDL_JSON_INVALID;
        continue;
      }
    } else if (!read_simple (self, &field, &kind)) {
      return SPDL_JSON_INVALID;
    }
    if (!read_on (self, &nesting))
      return SPDL_JSON_INVALID;
  } while (nesting.depth > 0);
  return SPDL_JSON_MEMBER;
}

static SpdlJsonResult
read_value (SpdlJsonReader *self, SpdlJsonMember *member)
{
  SpdlJsonResult result;

  if (!is_next (self, '{') && !is_next (self, '['))
    return read_simple (self, &member->value, &member->kind)
               ? SPDL_JSON_MEMBER
               : SPDL_JSON_INVALID;
  member->kind = SPDL_JSON_NESTED;
  member->value.text = self->at;
  member->value.escapes = SPDL_FIELD_PLAIN;
  result = read_nested (self);
  member->value.length = self->at - member->value.text;
  return result;
}

static SpdlJsonResult
read_end (SpdlJsonReader *self)
{
  if (!read_char (self, '}'))
    return SPDL_JSON_INVALID;
  skip_blanks (self);
  return self->at == self->end || *self->at == '\n' ? SPDL_JSON_END
                                                    : SPDL_JSON_INVALID;
}

SpdlJsonResult
spdl_json_reader_value (SpdlJsonReader *self, SpdlJsonMember *member)
{
  skip_blanks (self);
  return read_value (self, member);
}

SpdlJsonResult
spdl_json_reader_next (
    SpdlJsonReader *self, const SpdlField *guess, SpdlJsonMember *member)
{
  skip_blanks (self);
  if (!self->begun) {
    if (!read_char (self, '{'))
      return SPDL_JSON_INVALID;
    self->begun = TRUE;
    skip_blanks (self);
    if (is_next (self, '}'))
      return read_end (self);
  } else if (!read_char (self, ',')) {
    return read_end (self);
  }
  if (!read_name (self, guess, &member->name, &member->is_guess))
    return SPDL_JSON_INVALID;
  return read_value (self, member);
}

/* Members of members */

#define MAX_DEPTH 8

static gboolean append_member (const gchar *text, const gchar *end,
    const gchar *name, guint depth, GString *to);

/* Returns whether @member is the first part of @name, and longer than @length
 * bytes, which then are its length. */
static gboolean
is_longer_part (const SpdlField *member, const gchar *name, gsize *length)
{
  g_autofree gchar *text = spdl_field_dup (member);
  const gsize n = strlen (text);

  if (n <= *length || !g_str_has_prefix (name, text) ||
      (name[n] != '\0' && name[n] != '.'))
    return FALSE;
  *length = n;
  return TRUE;
}

static gboolean
append_of_object (const gchar *text, const gchar *end, const gchar *name,
    guint depth, GString *to)
{
  SpdlJsonMember member, found = { .kind = SPDL_JSON_NULL };
  SpdlJsonReader reader;
  SpdlJsonResult result;
  gsize length = 0;

  spdl_json_reader_init_part (&reader, text, end);
  while ((result = spdl_json_reader_next (&reader, NULL, &member)) ==
         SPDL_JSON_MEMBER)
    if (is_longer_part (&member.name, name, &length))
      found = member;
  if (result != SPDL_JSON_END || length == 0)
    return FALSE;
  text = found.value.text;
  if (name[length] == '.')
    return found.kind == SPDL_JSON_NESTED &&
           append_member (text, text + found.value.length, name + length + 1,
               depth + 1, to);
  if (found.kind == SPDL_JSON_STRING)
    g_string_append_printf (to, "\"%.*s\"", (gint) found.value.length, text);
  else
    g_string_append_len (to, text, found.value.length);
  return TRUE;
}

static gboolean
append_of_array (const gchar *text, const gchar *end, const gchar *name,
    guint depth, GString *to)
{
  SpdlJsonReader reader;
  SpdlJsonMember element;

  spdl_json_reader_init_part (&reader, text + 1, end);
  g_string_append_c (to, '[');
  for (skip_blanks (&reader); !is_next (&reader, ']'); reader.at++) {
    if (spdl_json_reader_value (&reader, &element) != SPDL_JSON_MEMBER)
      return FALSE;
    text = element.value.text;
    if (element.kind != SPDL_JSON_NESTED ||
        !append_member (text, text + element.value.length, name, depth + 1, to))
      g_string_append (to, "null");
    skip_blanks (&reader);
    if (is_next (&reader, ']'))
      break;
    if (!is_next (&reader, ','))
      return FALSE;
    g_string_append_c (to, ',');
  }
  g_string_append_c (to, ']');
  return TRUE;
}

static gboolean
append_member (const gchar *text, const gchar *end, const gchar *name,
    guint depth, GString *to)
{
  if (depth == MAX_DEPTH || text == end)
    return FALSE;
  return *text == '[' ? append_of_array (text, end, name, depth, to)
                      : append_of_object (text, end, name, depth, to);
}

gchar *
spdl_json_dup_member (const gchar *text, const gchar *name)
{
  GString *to = g_string_new (NULL);
  const gboolean found =
      append_member (text, text + strlen (text), name, 0, to);

  return g_string_free (to, !found);
}
