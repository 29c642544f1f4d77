/* gst-spdl: tests of texts for people
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/showntext.h"

static void
test_cases (void)
{
  /* A text, the text as a message, and as a line. */
  static const gchar *const cases[][3] = {
    { "", "", "" },
    { "plain, \\x1b \303\251 \344\270\255 \360\237\230\200",
        "plain, \\x1b \303\251 \344\270\255 \360\237\230\200",
        "plain, \\x1b \303\251 \344\270\255 \360\237\230\200" },
    { "a\x1b[2Jb\r\x7f\a", "a\\x1b[2Jb\\x0d\\x7f\\x07",
        "a\\x1b[2Jb\\x0d\\x7f\\x07" },
    { "a\n\tb\n\n", "a\n\tb\n\n", "a\\n\\tb\\n\\n" },
    { "a\nerror: b", "a\n  error: b", "a\\nerror: b" },
    /* a C1 control, an override of the direction, a line separator, a tag */
    { "\302\233\342\200\256\342\200\250\363\240\200\201",
        "\\x9b\\u202e\\u2028\\U000e0001", "\\x9b\\u202e\\u2028\\U000e0001" },
    /* a joiner, as in emoji */
    { "\342\200\215", "\342\200\215", "\342\200\215" },
    /* invalid UTF-8: a byte, a surrogate, the start of a sequence */
    { "\xff \355\240\200 \303", "\\xff \\xed\\xa0\\x80 \\xc3",
        "\\xff \\xed\\xa0\\x80 \\xc3" },
    { "http://me:pw@h/\x1b", "http://***@h/\\x1b", "http://***@h/\\x1b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = spdl_show_text (cases[i][0]);
    g_autofree gchar *line = spdl_show_line (cases[i][0]);
    g_autofree gchar *again = spdl_show_line (line), *again_text = NULL;
    GError *error = g_error_new_literal (1, 2, cases[i][0]);

    spdl_show_error (error);
    g_assert_cmpstr (text, ==, cases[i][1]);
    g_assert_cmpstr (line, ==, cases[i][2]);
    g_assert_cmpstr (again, ==, line);
    again_text = spdl_show_text (text);
    g_assert_cmpstr (again_text, ==, text);
    g_assert_cmpstr (error->message, ==, text);
    g_error_free (error);
  }
}

static void
test_nothing (void)
{
  g_autofree gchar *text = spdl_show_text (NULL);

  g_assert_cmpstr (text, ==, "");
  spdl_show_error (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/showntext/cases", test_cases);
  g_test_add_func ("/showntext/nothing", test_nothing);
  return g_test_run ();
}
