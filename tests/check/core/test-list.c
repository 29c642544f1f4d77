/* gst-spdl: tests of lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdllist.h"

#include <glib/gstdio.h>
#include <malloc.h>
#include <string.h>

#include "spdlcolumns.h"
#include "spdlline.h"

typedef struct {
  gchar *folder;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  f->folder = g_dir_make_tmp ("spdl-test-XXXXXX", NULL);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_rmdir (f->folder);
  g_free (f->folder);
}

static SpdlList *
open_text (Fixture *f, const gchar *name, const gchar *text, gssize size,
    gboolean labels, GError **error)
{
  g_autofree gchar *path = g_build_filename (f->folder, name, NULL);
  const SpdlListOptions options = { .labels = labels };
  SpdlList *list;

  g_assert_true (g_file_set_contents (path, text, size, NULL));
  list = spdl_list_open (path, &options, error);
  g_unlink (path);
  return list;
}

/* The items, with a newline between them: path|label|extra */
static gchar *
describe (SpdlList *list)
{
  GString *all = g_string_new (NULL);

  for (guint64 i = 0; i < spdl_list_get_size (list); i++) {
    GstStructure *extra;
    gint64 label;
    g_autofree gchar *path = spdl_list_get_item (list, i, &label, &extra, NULL);
    g_autofree gchar *fields = extra ? gst_structure_to_string (extra) : NULL;

    g_string_append_printf (all, "%s%s|%" G_GINT64_FORMAT "|%s", i ? "\n" : "",
        path, label, fields ? fields : "");
    if (extra) {
      g_assert_cmpstr (gst_structure_get_name (extra), ==, "extra");
      gst_structure_free (extra);
    }
  }
  return g_string_free (all, FALSE);
}

static void
assert_items (
    Fixture *f, const gchar *name, const gchar *text, const gchar *wanted)
{
  g_autoptr (GError) error = NULL;
  SpdlList *list = open_text (f, name, text, -1, TRUE, &error);
  g_autofree gchar *got = NULL;

  g_assert_no_error (error);
  got = describe (list);
  g_assert_cmpstr (got, ==, wanted);
  spdl_list_free (list);
}

/* @wanted: the message, behind the list's name */
static void
assert_refused (Fixture *f, const gchar *name, const gchar *text, gssize size,
    const gchar *wanted)
{
  g_autoptr (GError) error = NULL;
  const gchar *message;

  g_assert_null (open_text (f, name, text, size, TRUE, &error));
  g_assert_nonnull (error);
  g_assert_true (error->domain == GST_RESOURCE_ERROR);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  message = strstr (error->message, name);
  g_assert_nonnull (message);
  g_assert_cmpstr (message + strlen (name), ==, wanted);
}

static void
test_csv (Fixture *f, gconstpointer data)
{
  assert_items (
      f, "a.csv", "uri,label\na.jpg,1\nb.jpg,-2\n", "a.jpg|1|\nb.jpg|-2|");
  /* Any order of columns, none but uri needed, no newline at the end. */
  assert_items (f, "a.csv", "uri\na.jpg", "a.jpg|-1|");
  assert_items (f, "a.csv", "label,who,uri\n1,me,a\n,,b\n3,\"\",c",
      "a|1|extra, who=(string)me;\nb|-1|\nc|3|");
  /* A byte order mark, CRLF, empty lines, blanks around a label. */
  assert_items (f, "a.csv",
      "\357\273\277\"uri\",label\r\n\r\na b.jpg, 1 \r\n  \r\nb.jpg, \r\n",
      "a b.jpg|1|\nb.jpg|-1|");
  assert_items (f, "a.csv",
      "uri,caption,label,f.x\n"
      "\"a,\"\"b\"\".jpg\",\"one\ntwo, \"\"three\"\"\",7,\n"
      "#c.jpg,\303\251t\303\251,,4\n",
      "a,\"b\".jpg|7|extra, caption=(string)\"one\\012two\\,\\ "
      "\\\"three\\\"\";\n"
      "#c.jpg|-1|extra, caption=(string)\"\\303\\251t\\303\\251\", "
      "f.x=(string)4;");
  assert_items (f, "a.csv",
      "uri,label\na,9223372036854775807\nb,-9223372036854775808\nc,+5",
      "a|9223372036854775807|\nb|-9223372036854775808|\nc|5|");
}

static void
test_txt (Fixture *f, gconstpointer data)
{
  assert_items (f, "a.txt",
      "\357\273\277a.jpg\t1\r\n# none\n\n \t \nb\tc d\ne\t\nf\t7\t8\n"
      "g \t 3 \n\303\251\t-1\nh,\"i",
      "a.jpg|1|\nb\tc d|-1|\ne|-1|\nf\t7|8|\ng |3|\n\303\251|-1|\nh,\"i|-1|");
}

/* A column that is not wanted is not looked at. */
static void
test_unwanted_labels (Fixture *f, gconstpointer data)
{
  SpdlList *list =
      open_text (f, "a.csv", "uri,label\na,cat\nb,2", -1, FALSE, NULL);
  g_autofree gchar *got = describe (list);

  g_assert_cmpstr (got, ==, "a|-1|\nb|-1|");
  spdl_list_free (list);
}

static void
test_headers (Fixture *f, gconstpointer data)
{
  assert_refused (f, "a.csv", "a.jpg,3\nb.jpg,4\n", -1,
      "\" line 1: there is no column \"uri\": the first line names the "
      "columns, such as uri,label");
  assert_refused (f, "a.csv", ",uri\n0,a\n", -1,
      "\" line 1: column 1 is named \"\", which cannot be a field of an item: "
      "use ASCII letters, digits and the characters _-+/:.");
  assert_refused (f, "a.csv", "uri,the label\na,1\n", -1,
      "\" line 1: column 2 is named \"the label\", which cannot be a field of "
      "an item: use ASCII letters, digits and the characters _-+/:.");
  assert_refused (f, "a.csv", "uri,x,x\na,1,2\n", -1,
      "\" line 1: column 3 is named \"x\", as another one is: give each a name "
      "of its own");
  assert_refused (
      f, "a.csv", "uri,\"x\n", -1, "\" line 1: a quote is never closed");
  assert_refused (f, "a.csv", "\377\376u\0r\0i\0\n\0", 10,
      "\" line 1: it is not UTF-8: save the list as UTF-8, and write names of "
      "other bytes as URIs (file:///caf%E9.jpg)");
  assert_refused (f, "a.csv", "", -1,
      "\" has no item: write a line that names the columns, such as uri,label, "
      "and then a line for each item");
  assert_refused (f, "a.csv", "uri,label\n\n", -1,
      "\" has no item: write a line that names the columns, such as uri,label, "
      "and then a line for each item");
}

static void
test_malformed_csv (Fixture *f, gconstpointer data)
{
  assert_refused (f, "a.csv", "uri,label\na,1\nb,cat\nc,2\n", -1,
      "\" line 3: label \"cat\" is no integer: number the classes, or name the "
      "column otherwise to find it among the item's extra fields (1 malformed "
      "line, of 3)");
  /* The line is the one at which the record begins. */
  assert_refused (f, "a.csv",
      "uri,x,label\n\na,\"1\n\n2\",3\nb,\"\n\",99999999999999999999\nc,,?\n",
      -1,
      "\" line 6: label \"99999999999999999999\" does not fit into 64 bits (2 "
      "malformed lines, of 3)");
  assert_refused (f, "a.csv", "uri,label\na,b,1\nb\nc,2", -1,
      "\" line 2: it has 3 fields, but the header names 2: write a field that "
      "holds a comma in quotes (2 malformed lines, of 3)");
  assert_refused (f, "a.csv", "uri,label\n,1\n \t,2\n", -1,
      "\" line 2: the path or URI is empty (2 malformed lines, of 2)");
  assert_refused (f, "a.csv", "uri\n\"\"\n", -1,
      "\" line 2: the path or URI is empty (1 malformed line, of 1)");
  /* What is behind a quote that stays open is read, line by line. */
  assert_refused (f, "a.csv", "uri,label\na,1\n\"b,2\nc,3\nd,x\n", -1,
      "\" line 3: a quote is never closed (2 malformed lines, of 4)");
  assert_refused (f, "a.csv", "uri,label\na\"b,2\n\"c\"d,3\ne,1\n", -1,
      "\" line 2: a field holds a quote: write the whole field in quotes, and "
      "the quotes in it twice (2 malformed lines, of 3)");
  assert_refused (f, "a.csv", "uri,label\na,2\n\303(,x\n", -1,
      "\" line 3: it is not UTF-8: save the list as UTF-8, and write names of "
      "other bytes as URIs (file:///caf%E9.jpg) (1 malformed line, of 2)");
}

static void
test_malformed_txt (Fixture *f, gconstpointer data)
{
  assert_refused (f, "a.txt", "a\n\t5\n", -1,
      "\" line 2: the path or URI is empty (1 malformed line, of 2)");
  assert_refused (f, "a.txt", "#\na\t123456789012345678901234567890\n", -1,
      "\" line 2: label \"123456789012345678901234567890\" does not fit into "
      "64 bits (1 malformed line, of 1)");
  assert_refused (f, "a.txt", "a\nb\0c\nd\n", 8,
      "\" line 2: it is not UTF-8: save the list as UTF-8, and write names of "
      "other bytes as URIs (file:///caf%E9.jpg) (1 malformed line, of 3)");
  assert_refused (f, "a.txt", "caf\351 noir.jpg\n", -1,
      "\" line 1: it is not UTF-8: save the list as UTF-8, and write names of "
      "other bytes as URIs (file:///caf%E9.jpg) (1 malformed line, of 1)");
  assert_refused (f, "a.txt", "\n\n# x\n", -1,
      "\" has no item: write a path or a URI on each line, if you like with a "
      "tab and a label behind it");
}

/* A long thing is shown in part, without control characters, as UTF-8. */
static void
test_long (Fixture *f, gconstpointer data)
{
  GString *text = g_string_new ("uri,label\na,\"x\ny");

  for (guint i = 0; i < 100; i++)
    g_string_append (text, "\342\202\254");
  g_string_append (text, "\"\n");
  assert_refused (f, "a.csv", text->str, -1,
      "\" line 2: label \"x y\342\202\254\342\202\254\342\202\254\342\202\254"
      "\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254"
      "\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254"
      "\342\202\254\342\202\254\342\202\254...\" is no integer: number the "
      "classes, or name the column otherwise to find it among the item's extra "
      "fields (1 malformed line, of 1)");

  g_string_assign (text, "a\n");
  for (guint i = 0; i < SPDL_LINE_MAX; i++)
    g_string_append_c (text, 'x');
  g_assert_nonnull (text->str);
  SpdlList *list = open_text (f, "a.txt", text->str, -1, TRUE, NULL);
  g_assert_cmpuint (spdl_list_get_size (list), ==, 2);
  spdl_list_free (list);
  g_string_append (text, "x\nb\n");
  assert_refused (f, "a.txt", text->str, -1,
      "\" line 2: it is longer than 65536 bytes (1 malformed line, of 3)");

  for (guint quoted = 0; quoted < 2; quoted++) {
    g_string_assign (text, quoted ? "uri\na\n\"" : "uri\na\n");
    for (guint i = 0; i < SPDL_COLUMNS_MAX_RECORD; i++)
      g_string_append_c (text, i % 50 || !quoted ? 'x' : '\n');
    g_string_append (text, quoted ? "\"\nb" : "\nb");
    assert_refused (f, "a.csv", text->str, -1,
        quoted ? "\" line 3: a quote is not closed within 1048576 bytes (2 "
                 "malformed "
                 "lines, of 20975)"
               : "\" line 3: it is longer than 1048576 bytes (1 malformed "
                 "line, of "
                 "3)");
  }
  g_string_free (text, TRUE);
}

static gsize
bytes_in_use (void)
{
  const struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* One error, however many lines are bad, and nothing kept for any of them. */
static void
test_a_million (Fixture *f, gconstpointer data)
{
  GString *text = g_string_new ("uri,label\n");
  g_autofree gchar *path = g_build_filename (f->folder, "a.csv", NULL);
  const SpdlListOptions options = { .labels = TRUE };
  g_autoptr (GError) error = NULL;
  gsize before;
  gint64 time;

  for (guint i = 0; i < 1000000; i++)
    g_string_append_printf (text, "%u.jpg,cat\n", i);
  g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
  g_string_free (text, TRUE);
  before = bytes_in_use ();
  time = g_get_monotonic_time ();
  g_assert_null (spdl_list_open (path, &options, &error));
  g_test_message ("%" G_GINT64_FORMAT " us", g_get_monotonic_time () - time);
  g_assert_cmpuint (bytes_in_use (), <, before + 65536);
  g_assert_true (g_str_has_suffix (error->message,
      "a.csv\" line 2: label \"cat\" is no integer: number the classes, or "
      "name the column otherwise to find it among the item's extra fields "
      "(1000000 malformed lines, of 1000000)"));
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) \
  g_test_add ("/list/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("csv", test_csv);
  ADD ("txt", test_txt);
  ADD ("unwanted-labels", test_unwanted_labels);
  ADD ("headers", test_headers);
  ADD ("malformed-csv", test_malformed_csv);
  ADD ("malformed-txt", test_malformed_txt);
  ADD ("long", test_long);
  ADD ("a-million", test_a_million);
  return g_test_run ();
}
