/* gst-spdl: tests of the JSON reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <jansson.h>
#include <string.h>

#include "plugins/dataset/list/jsonreader.h"

/* Returns all members, each as name=kind:value in brackets, and the error at
 * the end with its position.
 *
 * @guess: (nullable): guess of each name */
static gchar *
read_guessing (const gchar *text, gsize size, const gchar *guess)
{
  /* An exact allocation lets the sanitizer find reads past the end. */
  g_autofree gchar *copy = g_memdup2 (text, size);
  GString *all = g_string_new (NULL);
  const SpdlField name = { guess, guess ? strlen (guess) : 0 };
  SpdlJsonReader reader;
  SpdlJsonResult result;
  SpdlJsonMember member;

  spdl_json_reader_init (&reader, copy, copy + size);
  while ((result = spdl_json_reader_next (
              &reader, guess ? &name : NULL, &member)) == SPDL_JSON_MEMBER) {
    g_autofree gchar *found = spdl_field_dup (&member.name);
    g_autofree gchar *value = spdl_field_dup (&member.value);

    g_assert_true (!member.is_guess || g_str_equal (found, guess));
    g_string_append_printf (
        all, "[%s=%c:%s]", found, "0bnsv"[member.kind], value);
  }
  if (result != SPDL_JSON_END)
    g_string_append_printf (all, "%s %d",
        result == SPDL_JSON_TOO_DEEP ? "deep" : "bad",
        (int) (reader.at - copy));
  return g_string_free (all, FALSE);
}

/* Tests that a guess, right or wrong, changes nothing. */
static gchar *
read_all (const gchar *text, gsize size)
{
  static const gchar *const guesses[] = { "", "a", "ab", "a long name" };
  gchar *all = read_guessing (text, size, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (guesses); i++) {
    g_autofree gchar *guessed = read_guessing (text, size, guesses[i]);

    g_assert_cmpstr (guessed, ==, all);
  }
  return all;
}

/* Tests that a character that is not ASCII is noticed wherever it is. */
static void
test_ascii (void)
{
  static const struct {
    const gchar *begin;
    const gchar *end;
  } texts[] = { { "{\"a\": \"", "\", \"b\": 1}" },
    { "{\"", "\": {\"c\": [1]}}" }, { "{\"a\": [{\"b\": \"", "\"}]}" },
    { "{\"a\": \"\\n\\u00e9", "\"}" } };

  for (guint n = 0; n < 80 * 80; n++) {
    g_autofree gchar *before = g_strnfill (n / 80, 'x');
    g_autofree gchar *after = g_strnfill (n % 80, 'x');

    for (guint i = 0; i < 2 * G_N_ELEMENTS (texts); i++) {
      const gboolean is_ascii = i % 2 == 0;
      g_autofree gchar *text = g_strconcat (texts[i / 2].begin, before,
          is_ascii ? "y" : "\303\251", after, texts[i / 2].end, NULL);
      SpdlJsonReader reader;
      SpdlJsonMember member;
      SpdlJsonResult result;

      spdl_json_reader_init (&reader, text, text + strlen (text));
      do
        result = spdl_json_reader_next (&reader, NULL, &member);
      while (result == SPDL_JSON_MEMBER);
      g_assert_cmpint (result, ==, SPDL_JSON_END);
      g_assert_cmpint (reader.is_ascii, ==, is_ascii);
    }
  }
}

static void
test_read (void)
{
  static const struct {
    const gchar *text;
    const gchar *wanted;
  } cases[] = {
    { "{}", "" },
    { " { } \r", "" },
    { "{\"a\":\"b\"}", "[a=s:b]" },
    { "\t{ \"a\" : \"b\" , \"c\" : 1 } ", "[a=s:b][c=n:1]" },
    { "{\"\":\"\"}", "[=s:]" },
    { "{\"a\":null,\"b\":true,\"c\":false}",
        "[a=0:null][b=b:true][c=b:false]" },
    { "{\"a\":-0,\"b\":0.5e-7,\"c\":12E+3,\"d\":-9}",
        "[a=n:-0][b=n:0.5e-7][c=n:12E+3][d=n:-9]" },
    { "{\"a\":[1, {\"b\": []}],\"c\":{}}", "[a=v:[1, {\"b\": []}]][c=v:{}]" },
    { "{\"a\":{\"b\":{\"c\":[[],{}]},\"d\":[\"]\",\"}\"]}}",
        "[a=v:{\"b\":{\"c\":[[],{}]},\"d\":[\"]\",\"}\"]}]" },
    { "{\"a\":1,\"a\":2}", "[a=n:1][a=n:2]" },
    { "{\"long name with no escapes\":\"a value of more than eight bytes\"}",
        "[long name with no escapes=s:a value of more than eight bytes]" },
    { "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\uD83D\\ude00\"}",
        "[a=s:\"\\/\b\f\n\r\t\303\251\342\202\254\360\237\230\200]" },
    { "{\"\\u0061\":\"\303\251\177\"}", "[a=s:\303\251\177]" },
    { "{\"a\":1} \n{", "[a=n:1]" },
    { "{\"a\":\n1}", "bad 5" },
    { "\n{}", "bad 0" },
    { "", "bad 0" },
    { "  ", "bad 2" },
    { "[1]", "bad 0" },
    { "1", "bad 0" },
    { "{", "bad 1" },
    { "{\"a\"", "bad 4" },
    { "{\"a\":", "bad 5" },
    { "{\"a\":}", "bad 5" },
    { "{\"a\":1", "[a=n:1]bad 6" },
    { "{\"a\":1,", "[a=n:1]bad 7" },
    { "{\"a\":1,}", "[a=n:1]bad 7" },
    { "{,}", "bad 1" },
    { "{a:1}", "bad 1" },
    { "{'a':1}", "bad 1" },
    { "{\"a\" 1}", "bad 5" },
    { "{\"a\":1 \"b\":2}", "[a=n:1]bad 7" },
    { "{\"a\":1}x", "[a=n:1]bad 7" },
    { "{\"a\":1}{}", "[a=n:1]bad 7" },
    { "{\"a\":1}]", "[a=n:1]bad 7" },
    { "{\"a\":01}", "[a=n:0]bad 6" },
    { "{\"a\":+1}", "bad 5" },
    { "{\"a\":.5}", "bad 5" },
    { "{\"a\":1.}", "bad 7" },
    { "{\"a\":1e}", "bad 7" },
    { "{\"a\":-}", "bad 6" },
    { "{\"a\":NaN}", "bad 5" },
    { "{\"a\":nul}", "bad 8" },
    { "{\"a\":tr", "bad 7" },
    { "{\"a\":True}", "bad 5" },
    { "{\"a\":\"b", "bad 7" },
    { "{\"a\":\"b\tc\"}", "bad 7" },
    { "{\"a\":\"\\x\"}", "bad 7" },
    { "{\"a\":\"\\", "bad 7" },
    { "{\"a\":\"\\u12", "bad 10" },
    { "{\"a\":\"\\u12g4\"}", "bad 10" },
    { "{\"a\":\"\\u0000\"}", "bad 7" },
    { "{\"a\":\"\\ud800\"}", "bad 12" },
    { "{\"a\":\"\\ud800\\n\"}", "bad 13" },
    { "{\"a\":\"\\ud800\\u0041\"}", "bad 7" },
    { "{\"a\":\"\\udc00\"}", "bad 7" },
    { "{\"a\":[1,]}", "bad 8" },
    { "{\"a\":[}", "bad 6" },
    { "{\"a\":[1}", "bad 7" },
    { "{\"a\":{1}}", "bad 6" },
    { "{\"a\":{\"b\":1]}", "bad 11" },
    { "{\"a\":{\"b\" 1}}", "bad 10" },
    { "{\"a\":[[[", "bad 8" },
    { "\357\273\277{}", "bad 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *got = read_all (cases[i].text, strlen (cases[i].text));

    g_assert_cmpstr (got, ==, cases[i].wanted);
  }
}

/* Tests that a control character, a quote or a backslash is found at each
 * position of the eight bytes that are checked at a time, and after any
 * byte. */
static void
test_positions (void)
{
  for (guint byte = 0; byte < 256; byte++)
    for (guint i = 0; i < 40; i++) {
      gchar text[64] = "{\"a\":\"";
      g_autofree gchar *got = NULL;
      const gboolean is_plain = byte >= ' ' && byte != '"' && byte != '\\';

      memset (text + 6, byte % 2 ? '\177' : '!', 40);
      text[6 + i] = byte;
      memcpy (text + 46, "\"}", 2);
      got = read_all (text, 48);
      if (is_plain)
        g_assert_true (g_str_has_prefix (got, "[a=s:"));
      else
        g_assert_true (strstr (got, "bad"));
      g_assert_true (
          is_plain || byte == '"' || byte == '\\' ||
          g_ascii_strtoull (strstr (got, "bad") + 4, NULL, 10) == 6 + i);
    }
}

/* Returns an object whose innermost value is at level @depth. */
static gchar *
make_deep (guint depth)
{
  GString *text = g_string_new ("{\"a\":");

  for (guint i = 1; i < depth - 1; i++)
    g_string_append (text, i % 3 ? "[" : "{\"b\":");
  g_string_append (text, "7");
  for (guint i = depth - 2; i > 0; i--)
    g_string_append (text, i % 3 ? "]" : "}");
  return g_string_free (g_string_append (text, "}"), FALSE);
}

/* The limit is Jansson's, which parses the values. */
static void
test_depth (void)
{
  g_autofree gchar *deep = make_deep (SPDL_JSON_MAX_DEPTH);
  g_autofree gchar *deeper = make_deep (SPDL_JSON_MAX_DEPTH + 1);
  g_autofree gchar *brackets = g_strnfill (1 << 20, '[');
  g_autofree gchar *hostile = g_strconcat ("{\"a\":", brackets, NULL);
  g_autofree gchar *got = read_all (deep, strlen (deep));
  g_autofree gchar *refused = read_all (deeper, strlen (deeper));
  g_autofree gchar *bounded = read_all (hostile, strlen (hostile));
  json_t *json = json_loads (deep, 0, NULL);

  g_assert_nonnull (json);
  json_decref (json);
  g_assert_null (json_loads (deeper, 0, NULL));
  g_assert_true (g_str_has_prefix (got, "[a=v:["));
  g_assert_null (strstr (got, "deep"));
  g_assert_true (g_str_has_prefix (refused, "deep "));
  g_assert_true (g_str_has_prefix (bounded, "deep "));
}

/* Tests on random input that the reader stays in bounds, and that it accepts
 * what Jansson accepts. */
static void
test_noise (void)
{
  static const gchar *const pieces[] = { "{", "}", "[", "]", ":", ",", "\"a\"",
    "\"b\"", "\"", "\\", "u", "d83d", "dc00", "0", "12", "-", ".5", "e-3",
    "true", "null", " ", "\r", "\"a\":", "{}", "\303\251" };
  guint n_valid = 0;

  for (guint i = 0; i < 200000; i++) {
    g_autoptr (GString) text = g_string_new ("{\"a\":");
    const gint n = g_test_rand_int_range (0, 9);
    g_autofree gchar *got = NULL;
    json_t *json;

    for (gint k = 0; k < n; k++)
      g_string_append (
          text, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
    g_string_append (text, "}");
    got = read_all (text->str, text->len);
    json = json_loadb (text->str, text->len, 0, NULL);
    n_valid += json != NULL;
    if ((json != NULL) != !strstr (got, "bad"))
      g_error ("%s: %s, but Jansson %s it", text->str, got,
          json ? "accepts" : "refuses");
    json_decref (json);
  }
  g_assert_cmpuint (n_valid, >, 1000);
}

/* Tests members of objects and of the objects of arrays. */
static void
test_members (void)
{
  static const struct {
    const gchar *text, *name, *found;
  } cases[] = {
    { "{\"a\":[[1, 2.50]],\"b\":3}", "a", "[[1, 2.50]]" },
    { "{\"a\":{\"b\":{\"c\":[1]}}}", "a.b.c", "[1]" },
    { "{\"a\":{\"b\":1},\"a.b\":2}", "a.b", "2" },
    { "{\"a\":{\"b.c\":1}}", "a.b.c", "1" },
    { "{\"\\u0061\":\"x\\n\"}", "a", "\"x\\n\"" },
    { "[{\"a\":1}, {\"a\":[2]} ,{\"b\":3},4]", "a", "[1,[2],null,null]" },
    { "{\"a\":[ ]}", "a.b", "[]" },
    { "{\n \"a\": [\n{\"b\": 1}\n]\n}", "a.b", "[1]" },
    { "[[{\"a\":1}],[]]", "a", "[[1],[]]" },
    { "{\"ab\":1,\"\":2}", "a", NULL },
    { "{\"a\":1}", "a.b", NULL },
    { "{\"a\":1", "a", NULL },
    { "[{\"a\":1}", "a", NULL },
    { "[{\"a\":1} 2]", "a", NULL },
    { "3", "a", NULL },
    { "", "a", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *found =
        spdl_json_dup_member (cases[i].text, cases[i].name);

    g_assert_cmpstr (found, ==, cases[i].found);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/ascii", test_ascii);
  g_test_add_func ("/json/read", test_read);
  g_test_add_func ("/json/positions", test_positions);
  g_test_add_func ("/json/depth", test_depth);
  g_test_add_func ("/json/noise", test_noise);
  g_test_add_func ("/json/members", test_members);
  return g_test_run ();
}
