/* gst-spdl: tests of lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/list.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/line.h"
#include "plugins/dataset/list/members.h"
#include "tests/check/support/heap.h"

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
open_with (Fixture *f, const gchar *name, const gchar *text, gssize size,
    gboolean labels, const SpdlClasses *classes, GError **error)
{
  g_autofree gchar *path = g_build_filename (f->folder, name, NULL);
  const SpdlDatasetOptions options = { .labels = { .read = labels,
                                           .classes = classes } };
  SpdlList *list;

  g_assert_true (g_file_set_contents (path, text, size, NULL));
  list = spdl_list_open (path, &options, error);
  g_unlink (path);
  return list;
}

static SpdlList *
open_text (Fixture *f, const gchar *name, const gchar *text, gssize size,
    gboolean labels, GError **error)
{
  return open_with (f, name, text, size, labels, NULL, error);
}

/* Returns the items as lines of path|label|extra. */
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
        path, label == SPDL_NO_LABEL ? -1 : label, fields ? fields : "");
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

/* @wanted: the pattern of the message after the name of the list, including
 * values */
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
  if (!g_pattern_match_simple (wanted, message + strlen (name)))
    g_error ("\"%s\" does not match \"%s\"", error->message, wanted);
}

static void
test_csv (Fixture *f, gconstpointer data)
{
  assert_items (
      f, "a.csv", "uri,label\na.jpg,1\nb.jpg,-2\n", "a.jpg|1|\nb.jpg|-2|");
  /* Columns in any order, only uri required, no newline at the end. */
  assert_items (f, "a.csv", "uri\na.jpg", "a.jpg|-1|");
  assert_items (f, "a.csv", "label,who,uri\n1,me,a\n,,b\n3,\"\",c",
      "a|1|extra, who=(string)me;\nb|-1|\nc|3|");
  /* A byte order mark, CRLF, empty lines, spaces around a label. */
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
      "uri,label\na,9223372036854775807\nb,-9223372036854775807\nc,+5",
      "a|9223372036854775807|\nb|-9223372036854775807|\nc|5|");
}

static void
test_txt (Fixture *f, gconstpointer data)
{
  assert_items (f, "a.txt",
      "\357\273\277a.jpg\t1\r\n# none\n\n \t \nb\tc d\t2\ne\t\nf\t7\t8\n"
      "g \t 3 \n\303\251\t-1\nh,\"i",
      "a.jpg|1|\nb\tc d|2|\ne|-1|\nf\t7|8|\ng |3|\n\303\251|-1|\nh,\"i|-1|");
  /* Blanks are parts of a name, in each kind of list. */
  assert_items (
      f, "a.txt", " a \r\n\fb\f\n \t7\nc\r", " a |-1|\n\fb\f|-1|\n |7|\nc|-1|");
  assert_items (f, "a.csv", "uri,label\n a ,1\n \t,2\n\"b\r\",3\r\n",
      " a |1|\n \t|2|\nb\r|3|");
  assert_items (
      f, "a.jsonl", "{\"uri\":\" a\\n\"}\n{\"uri\":\" \"}", " a\n|-1|\n |-1|");
}

static void
test_jsonl (Fixture *f, gconstpointer data)
{
  assert_items (f, "a.jsonl", "{\"uri\": \"a.jpg\"}", "a.jpg|-1|");
  assert_items (f, "a.ndjson", "{\"label\":3,\"uri\":\"a\"}\n", "a|3|");
  /* A byte order mark, CRLF, empty lines, blanks, labels as in a .csv. */
  assert_items (f, "a.jsonl",
      "\357\273\277{\"uri\":\"a b.jpg\",\"label\":\" 1 \"}\r\n\r\n  \t\r\n"
      "\t{ \"uri\" : \"b\", \"label\" : -9223372036854775807 } \r\n"
      "{\"uri\":\"c\",\"label\":null}\n{\"uri\":\"d\",\"label\":\"\"}\n"
      "{\"uri\":\"e\",\"label\":\"\\t\"}",
      "a b.jpg|1|\nb|-9223372036854775807|\nc|-1|\nd|-1|\ne|-1|");
  /* Escapes, and characters outside the basic plane. */
  assert_items (f, "a.jsonl",
      "{\"uri\":\"http:\\/\\/h\\/\\u00e9\\ud83d\\ude00.jpg\","
      "\"x\":\"\\\"\\\\\\n\",\"y\":\"\303\251\"}",
      "http://h/\303\251\360\237\230\200.jpg|-1|extra, "
      "x=(string)\"\\\"\\\\\\012\", y=(string)\"\\303\\251\";");
  /* All kinds of values. */
  assert_items (f, "a.jsonl",
      "{\"uri\":\"a\",\"i\":-7,\"r\":0.5,\"e\":1e3,\"t\":true,\"f\":false,"
      "\"n\":null,\"s\":\"\",\"m\":9223372036854775807}\n"
      "{\"uri\":\"b\",\"a\":[1, \"x\"],\"o\":{\"a\": {\"a\": 1, \"a\": 2}}}",
      "a|-1|extra, i=(gint64)-7, r=(double)0.5, e=(double)1000, "
      "t=(boolean)true, f=(boolean)false, s=(string)\"\", "
      "m=(gint64)9223372036854775807;\n"
      "b|-1|extra, a=(string)\"\\[1\\,\\ \\\"x\\\"\\]\", "
      "o=(string)\"\\{\\\"a\\\":\\ \\{\\\"a\\\":\\ 1\\,\\ "
      "\\\"a\\\":\\ 2\\}\\}\";");
  /* Members in any order and number. */
  assert_items (f, "a.jsonl",
      "{\"x\":\"1\",\"uri\":\"a\"}\n{\"uri\":\"b\"}\n"
      "{\"y-/:.\":\"2\",\"x\":\"3\",\"label\":5,\"uri\":\"c\"}",
      "a|-1|extra, x=(string)1;\nb|-1|\n"
      "c|5|extra, y-/:.=(string)2, x=(string)3;");
}

static void
assert_classes (const SpdlList *list, const gchar *wanted)
{
  const SpdlClasses *classes = spdl_list_get_classes (list);
  g_autofree gchar *names =
      classes ? g_strjoinv ("|", (GStrv) spdl_classes_get_names (classes))
              : NULL;

  g_assert_cmpstr (names, ==, wanted);
}

static void
assert_numbered (Fixture *f, const gchar *name, const gchar *text,
    const gchar *classes, const gchar *wanted)
{
  g_autoptr (GError) error = NULL;
  SpdlList *list = open_text (f, name, text, -1, TRUE, &error);
  g_autofree gchar *got = NULL;

  g_assert_no_error (error);
  got = describe (list);
  g_assert_cmpstr (got, ==, wanted);
  assert_classes (list, classes);
  spdl_list_free (list);
}

/* Tests that text labels are numbered in byte order. */
static void
test_text_labels (Fixture *f, gconstpointer data)
{
  assert_numbered (f, "a.csv",
      "uri,label,x\na,dog,1\nb, cat ,\nc,\"a \"\"b\"\", c\",\nd,,\ne,-1,\n"
      "f,cat,\n\"g\",\"dog\",",
      "a \"b\", c|cat|dog",
      "a|2|extra, x=(string)1;\nb|1|\nc|0|\nd|-1|\ne|-1|\nf|1|\ng|2|");
  assert_numbered (f, "a.txt",
      "a.jpg\taqua\n# \tnone\nb.jpg\nc d.jpg\tAqua\r\ne\tf\t two words \n"
      "file:///g%09h.jpg\taqua",
      "Aqua|aqua|two words",
      "a.jpg|1|\nb.jpg|-1|\nc d.jpg|0|\ne\tf|2|\nfile:///g%09h.jpg|1|");
  assert_numbered (f, "a.jsonl",
      "{\"uri\":\"a\",\"label\":\"dog\"}\n{\"uri\":\"b\",\"label\":\" "
      "\\tcat\"}\n{\"uri\":\"c\",\"label\":\"a \\\"b\\\"\"}\n{\"uri\":\"d\"}\n"
      "{\"uri\":\"e\",\"label\":-1}\n{\"uri\":\"f\",\"label\":\"\\n\"}\n"
      "{\"uri\":\"g\",\"label\":\"cat\"}",
      "a \"b\"|cat|dog", "a|2|\nb|1|\nc|0|\nd|-1|\ne|-1|\nf|-1|\ng|1|");
  /* Integer labels create no classes. */
  assert_numbered (f, "a.csv", "uri,label\na,3\n", NULL, "a|3|");
  assert_numbered (
      f, "a.csv", "uri,x\na,b\n", NULL, "a|-1|extra, x=(string)b;");
}

static SpdlClasses *
make_classes (const gchar *list)
{
  g_auto (GStrv) names = g_strsplit (list, "|", -1);

  return spdl_classes_new_from_names ((const gchar *const *) names, NULL);
}

/* Tests that given classes determine the indices and the allowed labels. */
static void
test_given_classes (Fixture *f, gconstpointer data)
{
  g_autoptr (SpdlClasses) classes = make_classes ("dog|cat|emu");
  g_autoptr (GError) error = NULL;
  SpdlList *list = open_with (f, "a.csv",
      "uri,label\na,cat\nb,dog\nc,2\nd,\ne,-1\n", -1, TRUE, classes, &error);
  g_autofree gchar *got = NULL;

  g_assert_no_error (error);
  got = describe (list);
  g_assert_cmpstr (got, ==, "a|1|\nb|0|\nc|2|\nd|-1|\ne|-1|");
  assert_classes (list, "dog|cat|emu");
  spdl_list_free (list);

  g_assert_null (open_with (
      f, "a.txt", "a\tcat\nb.jpg\taqua\nc\t3\n", -1, TRUE, classes, &error));
  g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
  g_assert_true (g_pattern_match_simple (
      "*a.txt\" line 2: *\"aqua\"*\"b.jpg\"*3*(2 malformed lines, of 3)",
      error->message));
}

/* Tests that labels of mixed kinds are an error rather than classes. */
static void
test_mixed_labels (Fixture *f, gconstpointer data)
{
  assert_refused (f, "a.csv", "uri,label\na,cat\nb,7\nc,8\n", -1,
      "\" line 3: *\"7\"*\"b\"*(2 malformed lines, of 3)");
  assert_refused (f, "a.jsonl",
      "{\"uri\":\"a\",\"label\":1}\n{\"uri\":\"b\",\"label\":\"cat\"}", -1,
      "\" line 2: *\"cat\"*\"b\"*(1 malformed line, of 2)");
  assert_refused (f, "a.txt", "a\t1\nb\tc d\n", -1,
      "\" line 2: *\"c d\"*\"b\"*(1 malformed line, of 2)");
}

/* Tests the limit on classes, which catches a column of captions. */
static void
test_too_many_classes (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i <= SPDL_CLASSES_MAX; i++)
    g_string_append_printf (text, "a\tc%u\n", i);
  assert_refused (f, "a.txt", text->str, text->len,
      "\" line 1048577: *\"c1048576\"*\"a\"*1048576*(1 malformed line, of "
      "1048577)");
}

/* Tests that an unused label column is not validated. */
static void
test_unwanted_labels (Fixture *f, gconstpointer data)
{
  static const struct {
    const gchar *name;
    const gchar *text;
  } lists[] = { { "a.csv", "uri,label\na,cat\nb,2" },
    { "a.txt", "a\tcat\nb\t99999999999999999999" },
    { "a.jsonl",
        "{\"uri\":\"a\",\"label\":[1]}\n{\"label\":2,\"uri\":\"b\"}" } };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    SpdlList *list =
        open_text (f, lists[i].name, lists[i].text, -1, FALSE, NULL);
    g_autofree gchar *got = describe (list);

    g_assert_cmpstr (got, ==, "a|-1|\nb|-1|");
    assert_classes (list, NULL);
    spdl_list_free (list);
  }
}

static void
test_headers (Fixture *f, gconstpointer data)
{
  assert_refused (f, "a.csv", "a.jpg,3\nb.jpg,4\n", -1, "\" line 1: *\"uri\"*");
  assert_refused (
      f, "a.csv", "uri,x,uri\na,1,2\n", -1, "\" line 1: *3*\"uri\"*");
  assert_refused (
      f, "a.csv", "label,uri,label\n1,a,2\n", -1, "\" line 1: *3*\"label\"*");
  assert_refused (f, "a.csv", "uri,\"x\n", -1, "\" line 1: *quote*");
  assert_refused (
      f, "a.csv", "\377\376u\0r\0i\0\n\0", 10, "\" line 1: *UTF-8*");
  assert_refused (f, "a.csv", "", -1, "*no items*");
  assert_refused (f, "a.csv", "uri,label\n\n", -1, "*no items*");
}

static void
test_malformed_csv (Fixture *f, gconstpointer data)
{
  assert_refused (f, "a.csv", "uri,label\na,1\nb,cat\nc,2\n", -1,
      "\" line 3: *\"cat\"*\"b\"*(1 malformed line, of 3)");
  /* An error has the line at which the record begins. */
  assert_refused (f, "a.csv",
      "uri,x,label\n\na,\"1\n\n2\",3\nb,\"\n\",99999999999999999999\nc,,?\n",
      -1,
      "\" line 6: *\"99999999999999999999\"*\"b\"*64*(2 malformed lines, of "
      "3)");
  assert_refused (f, "a.csv", "uri,label\na,b,1\nb\nc,2", -1,
      "\" line 2: *3*2*(2 malformed lines, of 3)");
  assert_refused (f, "a.csv", "uri,label\n,1\n\"\",2\n", -1,
      "\" line 2: *empty*(2 malformed lines, of 2)");
  assert_refused (f, "a.csv", "uri\n\"\"\n", -1,
      "\" line 2: *empty*(1 malformed line, of 1)");
  /* After an unterminated quote, reading continues with the next line. */
  assert_refused (f, "a.csv", "uri,label\na,1\n\"b,2\nc,3\nd,x\n", -1,
      "\" line 3: *quote*(2 malformed lines, of 4)");
  assert_refused (f, "a.csv", "uri,label\na\"b,2\n\"c\"d,3\ne,1\n", -1,
      "\" line 2: *quote*(2 malformed lines, of 3)");
  assert_refused (f, "a.csv", "uri,label\na,2\n\303(,x\n", -1,
      "\" line 3: *UTF-8*(1 malformed line, of 2)");
}

/* Each line but the second is wrong, so that reading continues after each. */
static void
assert_malformed (Fixture *f, const gchar *line, const gchar *wanted)
{
  g_autofree gchar *text = g_strconcat (
      "\n{\"uri\":\"a\",\"label\":1}\n", line, "\n", line, "\r\n", NULL);
  g_autofree gchar *pattern =
      g_strconcat ("\" line 3: ", wanted, "*(2 malformed lines, of 3)", NULL);

  assert_refused (f, "a.jsonl", text, -1, pattern);
}

static void
test_malformed_jsonl (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("{\"uri\":\"a\",\"x\":");

  /* Syntax: the position, and the rest of the line. */
  assert_malformed (f, "{\"uri\":\"a\",}", "*byte 12, \"}*\"*");
  assert_malformed (f, "a.jpg", "*byte 1, \"a.jpg*\"*");
  assert_malformed (f, "[1]", "*byte 1, \"[1]*\"*");
  assert_malformed (f, "# a", "*byte 1, \"# a*\"*");
  assert_malformed (f, "{\"uri\":\"a\"} x", "*byte 13, \"x*\"*");
  assert_malformed (f, "{\"uri\":\"a", "*");
  assert_malformed (f, "{\"uri\":\"\\udce9\"}", "*byte 10, *");
  assert_malformed (f, "{\"uri\":\"a\\u0000\"}", "*byte 11, *");
  assert_malformed (f, "{\"uri\":\"a\tb\"}", "*byte 10, *");
  assert_refused (f, "a.jsonl", "{\"uri\":\"a\"", -1,
      "\" line 1: *cut off after 10 *(1 malformed line, of 1)");
  for (guint i = 0; i < 3000; i++)
    g_string_append_c (text, '[');
  assert_malformed (f, text->str, "*2048*");
  /* Members that are needed. */
  assert_malformed (f, "{}", "*\"uri\"*uri-column*");
  assert_malformed (f, "{\"image\":\"a\"}", "*\"uri\"*uri-column*");
  assert_malformed (f, "{\"uri\":null}", "*empty*");
  assert_malformed (f, "{\"uri\":\"\"}", "*empty*");
  assert_malformed (f, "{\"uri\":7}", "*\"uri\" is \"7\"*");
  assert_malformed (f, "{\"uri\":{\"a\":1}}", "*\"uri\" is \"{\"a\":1}\"*");
  /* Names. */
  assert_malformed (f, "{\"uri\":\"a\",\"uri\":\"b\"}", "*two*\"uri\"*");
  assert_malformed (f, "{\"x\":1,\"uri\":\"b\",\"x\":null}", "*two*\"x\"*");
  /* Numbers, labels. */
  assert_malformed (f, "{\"uri\":\"a\",\"x\":9223372036854775808}",
      "*\"9223372036854775808\"*\"x\"*64*");
  assert_malformed (f, "{\"uri\":\"a\",\"x\":1e400}", "*\"1e400\"*\"x\"*64*");
  assert_malformed (
      f, "{\"uri\":\"a\",\"label\":1.5}", "*\"1.5\"*\"a\"*target-columns*");
  assert_malformed (
      f, "{\"uri\":\"a\",\"label\":true}", "*\"label\" is \"true*");
  assert_malformed (f, "{\"uri\":\"a\",\"label\":99999999999999999999}",
      "*\"99999999999999999999\"*\"a\"*64*");
  assert_refused (f, "a.jsonl", "{\"uri\":\"a\"}\n{\"uri\":\"\303(\"}\n", -1,
      "\" line 2: *UTF-8*(1 malformed line, of 2)");
  assert_refused (f, "a.jsonl", "\n\r\n", -1, "*no items*");
  assert_refused (f, "a.jsonl", "", -1, "*no items*");
}

/* Tests the limits of a line's length, and of the number and the length of the
 * names, which are never freed. */
static void
test_long_jsonl (Fixture *f, gconstpointer data)
{
  const guint room = SPDL_MEMBERS_MAX_LINE - strlen ("{\"uri\":\"\"}");
  g_autofree gchar *fill = g_strnfill (room, 'x');
  g_autofree gchar *name = g_strnfill (SPDL_COLUMNS_MAX_NAME, 'n');
  g_autoptr (GString) text = g_string_new (NULL);
  SpdlList *list;

  g_string_printf (
      text, "{\"uri\":\"%s\"}\n{\"uri\":\"b\",\"%s\":1}", fill, name);
  list = open_text (f, "a.jsonl", text->str, -1, TRUE, NULL);
  g_assert_cmpuint (spdl_list_get_size (list), ==, 2);
  spdl_list_free (list);
  g_string_printf (text, "{\"uri\":\"%sx\"}\n{\"uri\":\"b\"}", fill);
  assert_refused (f, "a.jsonl", text->str, -1,
      "\" line 1: *1048576*(1 malformed line, of 2)");
  g_string_printf (text, "{\"uri\":\"b\",\"%sn\":1}", name);
  assert_refused (
      f, "a.jsonl", text->str, -1, "\" line 1: *255*(1 malformed line, of 1)");

  g_string_assign (text, "");
  for (guint i = 0; i < SPDL_MEMBERS_MAX_NAMES; i++)
    g_string_append_printf (text, "{\"uri\":\"a\",\"n%u\":1}\n", i);
  assert_refused (f, "a.jsonl", text->str, -1,
      "\" line 4095: *\"n4094\"*4096*(2 malformed lines, of 4096)");
}

/* Tests lists whose path is in another column. */
static void
test_uri_column (Fixture *f, gconstpointer data)
{
  static const struct {
    const gchar *name;
    const gchar *text;
  } lists[] = {
    { "a.csv", "label,uri,image\n3,u,a.jpg\n,,b.jpg\n" },
    { "a.jsonl", "{\"label\":3,\"uri\":\"u\",\"image\":\"a.jpg\"}\n"
                 "{\"image\":\"b.jpg\"}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autofree gchar *path = g_build_filename (f->folder, lists[i].name, NULL);
    SpdlDatasetOptions options = { .labels = { TRUE }, .uri = "image" };
    g_autoptr (GError) error = NULL;
    g_autofree gchar *got = NULL;
    SpdlList *list;

    g_assert_true (g_file_set_contents (path, lists[i].text, -1, NULL));
    list = spdl_list_open (path, &options, &error);
    g_assert_no_error (error);
    got = describe (list);
    g_assert_cmpstr (got, ==, "a.jpg|3|extra, uri=(string)u;\nb.jpg|-1|");
    spdl_list_free (list);

    options.uri = "picture";
    g_assert_null (spdl_list_open (path, &options, &error));
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
    g_assert_true (g_pattern_match_simple (
        "* line 1: *\"picture\"*uri-column*", error->message));
    g_unlink (path);
  }
}

static void
test_malformed_txt (Fixture *f, gconstpointer data)
{
  assert_refused (
      f, "a.txt", "a\n\t5\n", -1, "\" line 2: *empty*(1 malformed line, of 2)");
  assert_refused (f, "a.txt", "#\na\t123456789012345678901234567890\n", -1,
      "\" line 2: *\"123456789012345678901234567890\"*\"a\"*64*(1 malformed "
      "line, of 1)");
  assert_refused (f, "a.txt", "a\nb\0c\nd\n", 8,
      "\" line 2: *UTF-8*(1 malformed line, of 3)");
  assert_refused (f, "a.txt", "caf\351 noir.jpg\n", -1,
      "\" line 1: *UTF-8*(1 malformed line, of 1)");
  assert_refused (f, "a.txt", "\n\n# x\n", -1, "*no items*");
}

/* Tests that a long value is shown in part, as valid UTF-8 without control
 * characters. */
static void
test_long (Fixture *f, gconstpointer data)
{
  GString *text = g_string_new ("uri,label\nb,1\na,\"x\ny");

  for (guint i = 0; i < 100; i++)
    g_string_append (text, "\342\202\254");
  g_string_append (text, "\"\n");
  assert_refused (f, "a.csv", text->str, -1,
      "\" line 3: *\"x "
      "y\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202"
      "\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202"
      "\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202\254\342\202"
      "\254\342\202\254...\"*\"a\"*(1 malformed line, of 2)");

  g_string_assign (text, "a\n");
  for (guint i = 0; i < SPDL_LINE_MAX; i++)
    g_string_append_c (text, 'x');
  g_assert_nonnull (text->str);
  SpdlList *list = open_text (f, "a.txt", text->str, -1, TRUE, NULL);
  g_assert_cmpuint (spdl_list_get_size (list), ==, 2);
  spdl_list_free (list);
  g_string_append (text, "x\nb\n");
  assert_refused (
      f, "a.txt", text->str, -1, "\" line 2: *65536*(1 malformed line, of 3)");

  for (guint quoted = 0; quoted < 2; quoted++) {
    g_string_assign (text, quoted ? "uri\na\n\"" : "uri\na\n");
    for (guint i = 0; i < SPDL_COLUMNS_MAX_RECORD; i++)
      g_string_append_c (text, i % 50 || !quoted ? 'x' : '\n');
    g_string_append (text, quoted ? "\"\nb" : "\nb");
    assert_refused (f, "a.csv", text->str, -1,
        quoted ? "\" line 3: a quote is not closed within 1048576 bytes (2 "
                 "malformed "
                 "lines, of 20975)"
               : "\" line 3: *1048576*(1 malformed line, of 3)");
  }
  g_string_free (text, TRUE);
}

/* Tests that any number of malformed lines gives one error, and that no memory
 * is kept for each of them. */
static void
test_a_million (Fixture *f, gconstpointer data)
{
  GString *text = g_string_new ("uri,label\n");
  g_autofree gchar *path = g_build_filename (f->folder, "a.csv", NULL);
  g_autoptr (SpdlClasses) classes = make_classes ("dog");
  const SpdlDatasetOptions options = { .labels = {
                                           .read = TRUE, .classes = classes } };
  g_autoptr (GError) error = NULL;
  gsize before;
  gint64 time;

  for (guint i = 0; i < 1000000; i++)
    g_string_append_printf (text, "%u.jpg,cat\n", i);
  g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
  g_string_free (text, TRUE);
  before = heap_get_bytes_in_use ();
  time = g_get_monotonic_time ();
  g_assert_null (spdl_list_open (path, &options, &error));
  g_test_message ("%" G_GINT64_FORMAT " us", g_get_monotonic_time () - time);
  g_assert_cmpuint (heap_get_bytes_in_use (), <, before + 65536);
  g_assert_true (
      g_pattern_match_simple ("*a.csv\" line 2: *\"cat\"*\"0.jpg\"*1*(1000000 "
                              "malformed lines, of 1000000)",
          error->message));
  g_unlink (path);
}

/* Adds a record of about @size bytes whose path is @n, in the format of
 * @name. */
static void
add_record (GString *text, const gchar *name, guint n, guint size)
{
  const gboolean txt = g_str_has_suffix (name, ".txt");
  const gboolean csv = g_str_has_suffix (name, ".csv");

  g_string_append_printf (text,
      txt   ? "%u\303\251"
      : csv ? "%u\303\251,%u,\""
            : "{\"uri\": \"%u\303\251\", \"label\": %u, \"x\": \"",
      n, n % 7);
  while (size-- > 0)
    g_string_append (text, txt                    ? "\303\251"
                           : csv && size % 9 == 0 ? "\n\"\""
                                                  : "\342\202\254");
  if (txt)
    g_string_append_printf (text, "\t%u\n", n % 7);
  else
    g_string_append (text, csv ? "\"\n" : "\"}\n");
}

/* Tests lists that are read in several parts, whose ends fall anywhere into
 * records, some of which are longer than a part: in order and in any order. */
static void
test_parts (Fixture *f, gconstpointer data)
{
  static const gchar *const names[] = { "a.txt", "a.csv", "a.jsonl" };

  for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
    g_autofree gchar *path = g_build_filename (f->folder, names[k], NULL);
    const SpdlDatasetOptions options = { .labels = { .read = TRUE } };
    GString *text = g_string_new (k == 1 ? "uri,label,x\n" : "");
    const guint n = 3000;
    SpdlList *list;

    for (guint i = 0; i < n; i++)
      add_record (text, names[k], i,
          i % 1000 == 999 ? (k == 0 ? 30000 : 300000) : i * 31 % 401);
    g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
    list = spdl_list_open (path, &options, NULL);
    g_assert_nonnull (list);
    g_assert_cmpuint (spdl_list_get_size (list), ==, n);
    g_assert_cmpuint (spdl_list_get_hash (list), ==,
        spdl_fingerprint_add (0, text->str, text->len));
    for (guint i = 0; i < 2 * n; i++) {
      const guint item = i < n ? i : i * 1009 % n;
      g_autofree gchar *wanted = g_strdup_printf ("%u\303\251", item);
      GstStructure *extra;
      gint64 label;
      g_autofree gchar *got =
          spdl_list_get_item (list, item, &label, &extra, NULL);

      if (k == 0)
        g_assert_true (g_str_has_prefix (got, wanted));
      else
        g_assert_cmpstr (got, ==, wanted);
      g_assert_cmpint (label, ==, item % 7);
      g_clear_pointer (&extra, gst_structure_free);
    }
    spdl_list_free (list);
    g_unlink (path);
    g_string_free (text, TRUE);
  }
}

/* Tests that lines longer than several parts are skipped up to their end. */
static void
test_longer_than_parts (Fixture *f, gconstpointer data)
{
  static const struct {
    const gchar *name, *header, *before, *after, *wanted;
  } lists[] = {
    { "a.txt", "", "a", "\n", "\" line 2: *65536*(2 malformed lines, of 4)" },
    { "a.csv", "uri,label\n", "a,1", "\n",
        "\" line 3: *1048576*(2 malformed lines, of 4)" },
    { "a.jsonl", "", "{\"uri\": \"a", "\"}\n",
        "\" line 2: *1048576*(2 malformed lines, of 4)" },
  };

  for (guint k = 0; k < G_N_ELEMENTS (lists); k++) {
    GString *text = g_string_new (lists[k].header);

    for (guint i = 0; i < 4; i++) {
      g_string_append (text, lists[k].before);
      for (guint n = i % 2 ? 5000000 + i : 0; n > 0; n--)
        g_string_append_c (text, '0');
      g_string_append (text, lists[k].after);
    }
    assert_refused (f, lists[k].name, text->str, text->len, lists[k].wanted);
    g_string_free (text, TRUE);
  }
}

typedef struct {
  const gchar *path;
  goffset size;
} Cut;

static gboolean
has_open (const gchar *path)
{
  GDir *dir = g_dir_open ("/proc/self/fd", 0, NULL);
  gboolean found = FALSE;
  const gchar *name;

  while (!found && (name = g_dir_read_name (dir))) {
    g_autofree gchar *link = g_build_filename ("/proc/self/fd", name, NULL);
    g_autofree gchar *target = g_file_read_link (link, NULL);

    found = g_strcmp0 (target, path) == 0;
  }
  g_dir_close (dir);
  return found;
}

static gpointer
cut_open_file (gpointer data)
{
  const Cut *cut = data;

  while (!has_open (cut->path))
    g_thread_yield ();
  g_assert_cmpint (truncate (cut->path, cut->size), ==, 0);
  return NULL;
}

/* Tests that a list which is truncated while it is scanned gives an error. */
static void
test_cut_while_scanned (Fixture *f, gconstpointer data)
{
  static const goffset sizes[] = { 0, 100, 10000000 };
  g_autofree gchar *path = g_build_filename (f->folder, "a.txt", NULL);
  const SpdlDatasetOptions options = { .labels = { .read = TRUE } };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < 4000000; i++)
    g_string_append (text, "a.jpg\t1\n");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const Cut cut = { path, sizes[i] };
    g_autoptr (GError) error = NULL;
    GstStructure *extra;
    GThread *thread;
    SpdlList *list;
    gint64 label;

    g_assert_true (g_file_set_contents (path, text->str, text->len, NULL));
    thread = g_thread_new ("cut", cut_open_file, (gpointer) &cut);
    list = spdl_list_open (path, &options, &error);
    g_thread_join (thread);
    if (list) /* the scan was over before */
      g_assert_null (spdl_list_get_item (list, 9, &label, &extra, &error));
    g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ);
    g_assert_nonnull (strstr (error->message, path));
    g_clear_pointer (&list, spdl_list_free);
  }
  g_unlink (path);
  g_string_free (text, TRUE);
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
  ADD ("jsonl", test_jsonl);
  ADD ("text-labels", test_text_labels);
  ADD ("given-classes", test_given_classes);
  ADD ("mixed-labels", test_mixed_labels);
  ADD ("too-many-classes", test_too_many_classes);
  ADD ("unwanted-labels", test_unwanted_labels);
  ADD ("headers", test_headers);
  ADD ("malformed-csv", test_malformed_csv);
  ADD ("malformed-jsonl", test_malformed_jsonl);
  ADD ("long-jsonl", test_long_jsonl);
  ADD ("uri-column", test_uri_column);
  ADD ("malformed-txt", test_malformed_txt);
  ADD ("long", test_long);
  ADD ("a-million", test_a_million);
  ADD ("parts", test_parts);
  ADD ("longer-than-parts", test_longer_than_parts);
  ADD ("cut-while-scanned", test_cut_while_scanned);
  return g_test_run ();
}
