/* gst-spdl: tests of the CSV reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/columns.h"

#include <string.h>

/* Returns all records, one per line with fields in brackets, and the error at
 * the end. */
static gchar *
read_all (const gchar *text, gsize size)
{
  /* An exact allocation lets the sanitizer find reads past the end. */
  g_autofree gchar *copy = g_memdup2 (text, size);
  const gchar *at = copy;
  GString *all = g_string_new (NULL);

  while (at < copy + size) {
    SpdlCsvResult result;
    SpdlField field;
    SpdlCsv csv;

    spdl_csv_init (&csv, at, copy + size);
    if (all->len > 0)
      g_string_append_c (all, '\n');
    do {
      result = spdl_csv_read (&csv, &field);
      if (result == SPDL_CSV_UNCLOSED || result == SPDL_CSV_STRAY) {
        g_string_append (all, result == SPDL_CSV_STRAY ? "stray" : "unclosed");
        return g_string_free (all, FALSE);
      }
      g_autofree gchar *value = spdl_field_dup (&field);
      g_string_append_printf (all, "[%s]", value);
    } while (result == SPDL_CSV_FIELD);
    g_assert_true (csv.at > at);
    at = csv.at;
  }
  return g_string_free (all, FALSE);
}

static void
test_read (void)
{
  static const struct {
    const gchar *text;
    const gchar *wanted;
  } cases[] = {
    { "", "" },
    { "a", "[a]" },
    { "a\n", "[a]" },
    { "a,b\nc,d", "[a][b]\n[c][d]" },
    { "a,b\r\nc,d\r\n", "[a][b]\n[c][d]" },
    { "a,b\r\nc,d\r", "[a][b]\n[c][d]" },
    { "\n\r\na", "[]\n[]\n[a]" },
    { ",", "[][]" },
    { ",,\n,", "[][][]\n[][]" },
    { "a,\n", "[a][]" },
    { " a , b ", "[ a ][ b ]" },
    { "a\rb,c\n", "[a\rb][c]" },
    { "\"a\"", "[a]" },
    { "\"a\"\n", "[a]" },
    { "\"a\"\r\n\"b\"", "[a]\n[b]" },
    { "\"\",\"\"\r\n", "[][]" },
    { "\"a,b\",c", "[a,b][c]" },
    { "\"a\nb\",c\nd", "[a\nb][c]\n[d]" },
    { "\"a\r\n\r\nb\",\"c\nd\"\r\ne", "[a\r\n\r\nb][c\nd]\n[e]" },
    { "\"say \"\"hi\"\"\",b", "[say \"hi\"][b]" },
    { "\"\"\"\"", "[\"]" },
    { "\"\"\"\"\"\",\"\"\"\"", "[\"\"][\"]" },
    { "\"\n\"", "[\n]" },
    { "\"a\n\"\"\n\"\nb", "[a\n\"\n]\n[b]" },
    { "\"", "unclosed" },
    { "a,\"b", "[a]unclosed" },
    { "a\n\"b\"\"\nc", "[a]\nunclosed" },
    { "a\"b", "stray" },
    { "a,b\"\n", "[a]stray" },
    { " \"a\"", "stray" },
    { "\"a\"b", "stray" },
    { "\"a\" ,b", "stray" },
    { "\"a\"\rb", "stray" },
    { "\"a\nb\"c\n", "stray" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *got = read_all (cases[i].text, strlen (cases[i].text));

    g_assert_cmpstr (got, ==, cases[i].wanted);
  }
}

/* Tests that the reader stays in bounds and terminates on random input. */
static void
test_noise (void)
{
  static const gchar characters[] = "a,,\"\"\"\r\n\n";

  for (guint i = 0; i < 20000; i++) {
    gchar text[24];
    const gint size = g_test_rand_int_range (0, sizeof text);

    for (gint k = 0; k < size; k++)
      text[k] = characters[g_test_rand_int_range (0, sizeof characters - 1)];
    g_free (read_all (text, size));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/csv/read", test_read);
  g_test_add_func ("/csv/noise", test_noise);
  return g_test_run ();
}
