/* gst-spdl: fuzz target of the JSON reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <jansson.h>
#include <string.h>

#include "plugins/dataset/list/jsonreader.h"
#include "tests/fuzz/fuzz.h"

/* The input is a line of a list, which the reader must accept if Jansson does,
 * with the same members. */

/* Returns the value of a member as Jansson reads it; NULL if a number does not
 * fit. */
static json_t *
decode (const SpdlJsonMember *member)
{
  const gboolean is_string = member->kind == SPDL_JSON_STRING;
  json_error_t error;
  json_t *value = json_loadb (member->value.text - is_string,
      member->value.length + 2 * is_string, JSON_DECODE_ANY, &error);

  g_assert_true (
      value || json_error_code (&error) == json_error_numeric_overflow);
  return value;
}

/* @json: (nullable): the object that Jansson read */
static void
check_member (const SpdlJsonMember *member, const json_t *json, gboolean once)
{
  g_autofree gchar *name = spdl_field_dup (&member->name);
  json_t *value = decode (member);

  g_assert_true (g_utf8_validate (name, -1, NULL));
  fuzz_check_text (name);
  g_assert_true (value || member->kind == SPDL_JSON_NUMBER ||
                 member->kind == SPDL_JSON_NESTED);
  if (value && member->kind == SPDL_JSON_STRING) {
    g_autofree gchar *text = spdl_field_dup (&member->value);

    g_assert_cmpstr (text, ==, json_string_value (value));
    fuzz_check_text (text);
  }
  if (value)
    g_assert_true (
        (member->kind == SPDL_JSON_NULL) == json_is_null (value) &&
        (member->kind == SPDL_JSON_BOOLEAN) == json_is_boolean (value) &&
        (member->kind == SPDL_JSON_NUMBER) == json_is_number (value));
  if (json && once)
    g_assert_true (json_equal (value, json_object_get (json, name)));
  json_decref (value);
}

/* Reads all members. Returns the result, and the number of members. */
static SpdlJsonResult
read_all (const FuzzInput *input, const json_t *json, gboolean once, guint *n)
{
  const gchar *text = (const gchar *) input->data;
  const SpdlField guess = { "a", 1, SPDL_FIELD_PLAIN };
  SpdlJsonReader reader;
  SpdlJsonResult result;
  SpdlJsonMember member;

  *n = 0;
  spdl_json_reader_init (&reader, text, text + input->size);
  while ((result = spdl_json_reader_next (
              &reader, json ? &guess : NULL, &member)) == SPDL_JSON_MEMBER) {
    g_assert_true (member.name.text > text);
    g_assert_true (member.value.text + member.value.length <= reader.at);
    check_member (&member, json, once);
    (*n)++;
  }
  g_assert_true (reader.at >= text && reader.at <= text + input->size);
  return result;
}

/* Lists are checked for UTF-8 after this, unless they are ASCII. */
static void
check_ascii (const FuzzInput *input)
{
  const gchar *text = (const gchar *) input->data;
  SpdlJsonReader reader;
  SpdlJsonResult result;
  SpdlJsonMember member;

  spdl_json_reader_init (&reader, text, text + input->size);
  do
    result = spdl_json_reader_next (&reader, NULL, &member);
  while (result == SPDL_JSON_MEMBER);
  if (result != SPDL_JSON_END || !reader.is_ascii)
    return;
  for (const gchar *at = text; at < reader.at; at++)
    g_assert_true (*at && (guchar) *at < 0x80);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const FuzzInput input = { data, size };
  SpdlJsonResult result;
  json_error_t error;
  json_t *json;
  guint n;

  check_ascii (&input);
  /* Jansson reads UTF-8 only, and the reader ends at a newline. */
  if (!g_utf8_validate ((const gchar *) data, size, NULL) ||
      (size > 0 && memchr (data, '\n', size)))
    return 0;
  json = json_loadb ((const gchar *) data, size, 0, &error);
  result = read_all (&input, NULL, FALSE, &n);
  if (json_is_object (json)) {
    g_assert_true (result == SPDL_JSON_END);
    read_all (&input, json, json_object_size (json) == n, &n);
  } else {
    g_assert_true (result != SPDL_JSON_END ||
                   json_error_code (&error) == json_error_numeric_overflow);
  }
  json_decref (json);
  return 0;
}
