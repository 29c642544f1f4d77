/* gst-spdl: tests of class names and their indices
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/classes.h"
#include "tests/check/support/errors.h"

#include <gst/gst.h>
#include <string.h>

static SpdlClasses *
make (const gchar *list)
{
  g_auto (GStrv) names = g_strsplit (list, ",", -1);
  g_autoptr (GError) error = NULL;
  SpdlClasses *classes =
      spdl_classes_new_from_names ((const gchar *const *) names, &error);

  g_assert_no_error (error);
  g_assert_nonnull (classes);
  return classes;
}

static void
assert_names (const SpdlClasses *classes, const gchar *wanted)
{
  g_autofree gchar *names =
      g_strjoinv (",", (GStrv) spdl_classes_get_names (classes));

  g_assert_cmpstr (names, ==, wanted);
}

/* Tests that collected names are sorted by bytes, independent of the locale. */
static void
test_sorted (void)
{
  static const gchar *const names[] = { "b", "\303\244", "a", "B", "b", "aa",
    "10", "9" };
  g_autoptr (SpdlClasses) classes = spdl_classes_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_true (spdl_classes_add (classes, names[i], strlen (names[i])));
  g_assert_cmpuint (spdl_classes_get_size (classes), ==, 7);
  spdl_classes_sort (classes);
  assert_names (classes, "10,9,B,a,aa,b,\303\244");
  for (guint i = 0; i < 7; i++) {
    const gchar *name = spdl_classes_get_names (classes)[i];

    g_assert_cmpint (spdl_classes_find (classes, name, strlen (name)), ==, i);
  }
  /* The length limits the comparison. */
  g_assert_cmpint (spdl_classes_find (classes, "aaa", 2), ==, 4);
  g_assert_cmpint (spdl_classes_find (classes, "aaa", 3), ==, -1);
}

static void
assert_refused (const gchar *const *names, const gchar *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (spdl_classes_new_from_names (names, &error));
  g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
  g_assert_true (errors_has (error, part));
}

static void
test_given (void)
{
  static const gchar *const none[] = { NULL },
                            *const empty[] = { "a", "", NULL },
                            *const twice[] = { "dog", "cat", "dog", NULL },
                            *const blank[] = { "a", "b", "cat ", NULL },
                            *const latin[] = { "caf\351", NULL };
  g_autoptr (SpdlClasses) classes = make ("dog,cat,a b");
  g_autoptr (GError) error = NULL;

  assert_names (classes, "dog,cat,a b");
  g_assert_null (spdl_classes_new_from_names (NULL, &error));
  g_assert_null (spdl_classes_new_from_names (none, &error));
  g_assert_no_error (error);
  assert_refused (empty, "[resource-error settings]|1|classes");
  assert_refused (twice, "\"dog\"");
  assert_refused (blank, "[resource-error settings]|2|classes");
  assert_refused (latin, "[resource-error settings]|0|classes");
}

#define NO_CLASS (G_MININT64 + 1)

/* Returns the index of @label, or NO_CLASS if it is not a class. */
static gint64
number (const SpdlClasses *classes, const gchar *label)
{
  SpdlLine line;

  spdl_line_init (&line, NULL);
  line.name = (SpdlField){ label, strlen (label), SPDL_FIELD_PLAIN };
  return spdl_classes_number_line (classes, &line) ? line.label : NO_CLASS;
}

static void
test_numbers (void)
{
  g_autoptr (SpdlClasses) words = make ("dog,cat");
  g_autoptr (SpdlClasses) digits = make ("10,7,2,1");
  gint64 label;

  g_assert_cmpint (number (words, "cat"), ==, 1);
  g_assert_cmpint (number (words, " dog "), ==, 0);
  g_assert_cmpint (number (words, ""), ==, SPDL_NO_LABEL);
  g_assert_cmpint (number (words, "-1"), ==, -1);
  g_assert_cmpint (number (words, "1"), ==, 1);
  g_assert_cmpint (number (words, "2"), ==, NO_CLASS);
  g_assert_cmpint (number (words, "-2"), ==, NO_CLASS);
  g_assert_cmpint (number (words, "Cat"), ==, NO_CLASS);
  /* If class names are integers, a label is a name and not an index. */
  g_assert_cmpint (number (digits, "1"), ==, 3);
  g_assert_cmpint (number (digits, "10"), ==, 0);
  g_assert_cmpint (number (digits, "0"), ==, NO_CLASS);
  g_assert_true (spdl_classes_number (digits, NULL, 0, TRUE, 7, &label));
  g_assert_cmpint (label, ==, 1);
  g_assert_false (spdl_classes_number (digits, NULL, 0, TRUE, 3, &label));
  /* Without classes, integers are labels and text is none. */
  g_assert_cmpint (number (NULL, "12345"), ==, 12345);
  /* Integers of pandas. */
  g_assert_cmpint (number (NULL, "-3.0"), ==, -3);
  g_assert_cmpint (number (NULL, "9007199254740992.0"), ==, 1LL << 53);
  g_assert_cmpint (number (NULL, "9007199254740994.0"), ==, NO_CLASS);
  g_assert_cmpint (number (NULL, "0.5"), ==, NO_CLASS);
  g_assert_cmpint (number (NULL, "."), ==, NO_CLASS);
  g_assert_cmpint (number (words, "1.0"), ==, 1);
  g_assert_cmpint (number (digits, "1.0"), ==, 3);
  g_assert_cmpint (number (NULL, "cat"), ==, NO_CLASS);
}

/* Tests that the hash depends on names, order and boundaries of names. */
static void
test_hash (void)
{
  static const gchar *const lists[] = { "a,b", "b,a", "a", "ab", "a,b,c",
    "a,bc", "ab,c" };
  guint64 hashes[G_N_ELEMENTS (lists)];

  g_assert_cmpuint (spdl_classes_get_hash (NULL), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autoptr (SpdlClasses) classes = make (lists[i]);
    g_autoptr (SpdlClasses) same = make (lists[i]);

    hashes[i] = spdl_classes_get_hash (classes);
    g_assert_cmpuint (hashes[i], ==, spdl_classes_get_hash (same));
    g_assert_cmpuint (hashes[i], !=, 0);
    for (guint k = 0; k < i; k++)
      g_assert_cmpuint (hashes[i], !=, hashes[k]);
  }
}

static void
test_too_many (void)
{
  g_autoptr (SpdlClasses) classes = spdl_classes_new ();
  g_autofree gchar *large = g_strnfill (SPDL_CLASSES_MAX_SIZE - 2, 'x');
  gchar name[16];

  g_assert_true (spdl_classes_add (classes, large, strlen (large)));
  g_assert_false (spdl_classes_add (classes, "a", 1));
  g_assert_true (spdl_classes_add (classes, large, strlen (large)));
  spdl_classes_free (g_steal_pointer (&classes));

  classes = spdl_classes_new ();
  for (guint i = 0; i < SPDL_CLASSES_MAX; i++) {
    const gint length = g_snprintf (name, sizeof name, "c%u", i);

    g_assert_true (spdl_classes_add (classes, name, length));
  }
  g_assert_false (spdl_classes_add (classes, "one more", 8));
  g_assert_true (spdl_classes_add (classes, "c0", 2));
  g_assert_cmpuint (spdl_classes_get_size (classes), ==, SPDL_CLASSES_MAX);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/classes/sorted", test_sorted);
  g_test_add_func ("/classes/given", test_given);
  g_test_add_func ("/classes/numbers", test_numbers);
  g_test_add_func ("/classes/hash", test_hash);
  g_test_add_func ("/classes/too-many", test_too_many);
  return g_test_run ();
}
