/* gst-spdl: tests of errors in pipeline descriptions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <locale.h>
#include <string.h>

#include "gst/spdl/loader/parse.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/loaders.h"

/* Expected words are the suggested syntax, not prose. */
typedef struct {
  const gchar *description;
  GstParseError code;
  const gchar *words[3];
} Mistake;

static const Mistake mistakes[] = {
  /* A forgotten "!". */
  { "spdlsrc location=a spdlfetch ! spdldecode ! spdlbatch ! spdlsink",
      GST_PARSE_ERROR_LINK, { "spdlsrc ... ! spdlfetch" } },
  { "spdlsrc ! spdlfetch ! spdldecode ! spdlbatch spdlsink",
      GST_PARSE_ERROR_LINK, { "spdlbatch ... ! spdlsink" } },
  { "spdldecode width=8 spdlbatch ! spdlsink", GST_PARSE_ERROR_LINK,
      { "spdldecode ... ! spdlbatch" } },
  { "videotestsrc ! video/x-raw,width=8 spdlbatch ! spdlsink",
      GST_PARSE_ERROR_LINK, { "! video/x-raw,width=8 ! spdlbatch" } },
  { "videotestsrc video/x-raw,width=8 ! spdlsink",
      GST_PARSE_ERROR_NO_SUCH_ELEMENT, { "! video/x-raw,width=8 !" } },
  /* Syntax. */
  { "spdlsrc location=a ! ! spdlfetch ! spdlsink", GST_PARSE_ERROR_SYNTAX,
      { "\"spdlsrc location=a ! !\"" } },
  { "! spdlsink", GST_PARSE_ERROR_SYNTAX, { "[parse_error syntax]|\"!\"" } },
  { "spdlsrc ! spdlfetch !", GST_PARSE_ERROR_SYNTAX,
      { "[parse_error syntax]|\"!\"" } },
  { "spdlsrc | spdlsink", GST_PARSE_ERROR_SYNTAX, { "\"|\"", "\"!\"" } },
  { "location=a spdlsrc ! spdlsink", GST_PARSE_ERROR_SYNTAX,
      { "ELEMENT location=a" } },
  { "( spdlsrc ! spdlsink", GST_PARSE_ERROR_SYNTAX, { "\")\"" } },
  { "spdlsrc ) ! spdlsink", GST_PARSE_ERROR_SYNTAX, { "\")\"" } },
  { "", GST_PARSE_ERROR_EMPTY, { "spdlsrc location=FOLDER ! spdlfetch" } },
  /* Values. */
  { "spdlsrc ! spdlfetch output-order=inptu ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "output-order=input?",
          "[parse_error could-not-set-property]|completion|input" } },
  { "spdlsrc ! spdlfetch output-order=zzz ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|completion|input" } },
  { "spdlbatch mean=0.5,0.4,0.3 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "mean=\"<0.5,0.4,0.3>\"" } },
  { "spdlbatch mean=<0.5, 0.4, 0.3> batch-size=8 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "mean=\"<0.5, 0.4, 0.3>\"" } },
  { "spdlbatch mean=[0.5,0.4,0.3] ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "mean=\"<0.5,0.4,0.3>\"" } },
  { "spdldecode width=-3 ! spdlsink", GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "width", "[parse_error could-not-set-property]|0|2147483647" } },
  { "spdldecode width=99999999999 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|0|2147483647" } },
  { "spdldecode width=99999999999999999999999 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|0|2147483647" } },
  { "spdlbatch batch-size=0 ! spdlsink", GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|1|1048576" } },
  { "spdlsrc epochs=-2 ! spdlsink", GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|1" } },
  { "spdldecode max-failure-rate=1.5 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|0|1" } },
  { "spdldecode max-failure-rate=0,5 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "max-failure-rate=0.5" } },
  { "videotestsrc num-buffers=-2 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|1" } },
  { "spdlbatch batch-size=many ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "[parse_error could-not-set-property]|1|1048576" } },
  { "spdlbatch batch-size='8' ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "batch-size=8" } },
  { "spdldecode width=8,height=9 ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "width=8 height=9" } },
  { "spdlbatch drop-last=maybe ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "true", "false" } },
  { "spdlsrc location= ! spdlsink", GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
      { "location" } },
  { "spdlsrc location='/a b' ! spdlsink",
      GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY, { "location=\"/a b\"" } },
  /* Links. */
  { "spdlsrc ! spdlbatch ! spdlsink", GST_PARSE_ERROR_LINK,
      { "spdlsrc ! spdlfetch ! spdldecode ! spdlbatch" } },
  { "spdlsrc location=a shuffle=true ! spdldecode ! spdlsink",
      GST_PARSE_ERROR_LINK, { "spdlsrc ! spdlfetch ! spdldecode" } },
  { "spdlsrc ! spdlsink ! spdlbatch", GST_PARSE_ERROR_LINK, { "spdlsink" } },
  /* Names. */
  { "spdldecode widht=8 ! spdlsink", GST_PARSE_ERROR_NO_SUCH_PROPERTY,
      { "\"width\"?" } },
  { "spdlsrc ! spdlfetch failures=8 ! spdlsink",
      GST_PARSE_ERROR_NO_SUCH_PROPERTY, { "\"max-failures\"?" } },
  { "spdlmix qqqqqq=8 ! spdlsink", GST_PARSE_ERROR_NO_SUCH_PROPERTY,
      { "seed, ", "[parse_error no-such-property]" } },
  { "spdlmix name=m sink_0::weigth=8 ! spdlsink",
      GST_PARSE_ERROR_NO_SUCH_PROPERTY, { "\"sink_0::weight\"?" } },
  { "spdlsrc ! spdlfecth ! spdlsink", GST_PARSE_ERROR_NO_SUCH_ELEMENT,
      { "\"spdlfetch\"?" } },
  { "spdlsrc location=a spdlfecth ! spdlsink", GST_PARSE_ERROR_NO_SUCH_ELEMENT,
      { "\"! spdlfetch\"?" } },
  { "spdlsrc location=/my own photos shuffle=true ! spdlsink",
      GST_PARSE_ERROR_NO_SUCH_ELEMENT, { "location=\"/my own photos\"" } },
  { "spdlsrc location=\"/my photos ! spdlsink", GST_PARSE_ERROR_NO_SUCH_ELEMENT,
      { "location=\"/my photos\"" } },
  { "spdlsrc location ! spdlsink", GST_PARSE_ERROR_NO_SUCH_ELEMENT,
      { "location=VALUE" } },
  { "spdlsrc ! qqqqqqqqqqq ! spdlsink", GST_PARSE_ERROR_NO_SUCH_ELEMENT,
      { "gst-inspect-1.0" } },
  { "spdlsrc ! m. spdlmix ! spdlsink", GST_PARSE_ERROR_NO_SUCH_ELEMENT,
      { "name=m" } },
};

/* GStreamer's text may be translated; the text after it does not depend on the
 * locale. */
GST_START_TEST (test_mistake)
{
  const Mistake *mistake = &mistakes[__i__];
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_spdl_parse_launch (mistake->description, &error);
  gchar **words;

  fail_unless (element == NULL, "%s", mistake->description);
  fail_unless (g_error_matches (error, GST_PARSE_ERROR, mistake->code),
      "%s: %d, %s", mistake->description, error->code, error->message);
  for (guint i = 0; i < G_N_ELEMENTS (mistake->words); i++)
    fail_unless (!mistake->words[i] || errors_has (error, mistake->words[i]),
        "%s: %s", mistake->description, error->message);
  fail_if (strchr (error->message, '\n'));
  g_clear_error (&error);

  /* The same mistakes as command-line arguments. */
  words = g_strsplit (mistake->description, " ", -1);
  if (words[0] && words[1])
    fail_unless (gst_spdl_parse_launchv (words, &error) == NULL &&
                     g_error_matches (error, GST_PARSE_ERROR, mistake->code),
        "%s: %s", mistake->description, error ? error->message : "");
  g_strfreev (words);
}

GST_END_TEST;

/* These descriptions are valid. */
static const gchar *const right[] = {
  "spdlsrc location=a ! spdlfetch ! spdldecode width=8 ! spdlbatch ! spdlsink",
  "spdlsrc   location = \"a ! b c=-3\"!spdlfetch!fakesink",
  "spdlfetch ! spdldecode width=0x10 height=010 ! spdlbatch ! spdlsink",
  "videotestsrc num-buffers=-1 ! video/x-raw, format=RGB, width=8; "
  "video/x-raw,height=9 ! spdlbatch batch-size=1 ! spdlsink",
  "spdlsrc epochs=\" -1\" ! fakesink",
  "spdlbatch mean=\"<0.5, 0.5, 0.5>\" std=<0.5> ! spdlsink",
  "spdlmix name=m sink_0::weight=3 ! spdlsink spdlsrc ! m. spdlsrc ! m.sink_1",
  "spdlsrc ! bin.( name=b spdlfetch ) ! bin.( spdldecode width=8 ) ! fakesink",
  "( name=c spdlsrc ! spdlfetch ) ! fakesink",
  "videotestsrc ! tee name=t ! queue ! fakesink t. ! queue ! spdlsink",
  "videotestsrc ! tee name=t t.src_0 ! queue ! fakesink t.src_5 ! spdlsink",
  "spdlsrc location=it\\'s\\ here ! fakesink",
  "spdlsrc location=\"'quoted'/x\" ! fakesink",
  "fakesink",
  "spdldecode",
  "appsrc duration=-1 min-latency=-1 ! identity datarate=0 ! spdlsink",
  "filesrc location=/a ! fakesink",
};

GST_START_TEST (test_right)
{
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_spdl_parse_launch (right[__i__], &error);

  fail_unless (
      element != NULL, "%s: %s", right[__i__], error ? error->message : "");
  fail_unless (error == NULL);
  gst_object_unref (gst_object_ref_sink (element));
}

GST_END_TEST;

/* Spaces in an argument do not end a value. */
GST_START_TEST (test_arguments)
{
  g_auto (GStrv) arguments =
      g_strsplit ("spdlsrc|location=/my own photos|name=s|!|fakesink", "|", -1);
  g_auto (GStrv) whole = g_strsplit ("spdlsrc location=a ! fakesink", "|", -1);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_spdl_parse_launchv (arguments, &error);
  g_autoptr (GstElement) source = NULL;
  g_autofree gchar *location = NULL;

  fail_unless (error == NULL && pipeline != NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  g_object_get (source, "location", &location, NULL);
  fail_unless_equals_string (location, "/my own photos");
  gst_object_unref (gst_object_ref_sink (pipeline));
  pipeline = gst_spdl_parse_launchv (whole, NULL);
  fail_unless (pipeline != NULL);
  gst_object_unref (gst_object_ref_sink (pipeline));
}

GST_END_TEST;

/* Callers may pass NULL for the error. */
GST_START_TEST (test_no_error)
{
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    fail_unless (gst_spdl_parse_launch (mistakes[i].description, NULL) == NULL);
}

GST_END_TEST;

static void
explain_all (const gchar *description)
{
  g_autoptr (GError) other =
      g_error_new_literal (GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "text");

  for (gint code = 0; code <= GST_PARSE_ERROR_DELAYED_LINK + 1; code++) {
    g_autoptr (GError) error =
        g_error_new_literal (GST_PARSE_ERROR, code, "text");

    gst_spdl_parse_explain (description, error);
    fail_unless (g_error_matches (error, GST_PARSE_ERROR, code));
    fail_unless (g_str_has_prefix (error->message, "text"));
    fail_unless (g_utf8_validate (error->message, -1, NULL));
  }
  /* No explanation exists for these. */
  gst_spdl_parse_explain (description, other);
  fail_unless_equals_string (other->message, "text");
  gst_spdl_parse_check (description, NULL);
}

/* Random texts give an error with a message. */
GST_START_TEST (test_odd_input)
{
  static const gchar *const pieces[] = { "spdlsrc", "spdlmix", "spdldecode",
    "location", "width", "=", "\"", "'", "\\", "!", "! !", ":", "(", ")",
    "bin.(", "a.", ".b", ".", "/", "://", "video/x-raw", ",", ";", "<", ">",
    "-", "-1", "0x", "sink_0::weight=", "sink_0::", "::", "\xff", "\xc3\xa9",
    "\n", " ", " ", " ", " ", "mean=", "caps=", "name=a", "\t", "%s%n", "@" };
  GRand *rand = g_rand_new_with_seed (27);

  for (guint i = 0; i < 1000; i++) {
    g_autoptr (GString) text = g_string_new (NULL);

    for (gint n = g_rand_int_range (rand, 0, 14); n > 0; n--)
      g_string_append (
          text, pieces[g_rand_int_range (rand, 0, G_N_ELEMENTS (pieces))]);
    explain_all (text->str);
  }
  g_rand_free (rand);
  /* Each mistake, truncated at any position. */
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    for (gssize n = strlen (mistakes[i].description); n > 0; n -= 3) {
      g_autofree gchar *text = g_strndup (mistakes[i].description, n);

      explain_all (text);
    }
}

GST_END_TEST;

/* Long names are processed in linear time. */
GST_START_TEST (test_long_input)
{
  g_autofree gchar *name = g_strnfill (1000000, 'x');
  g_autofree gchar *links = g_strnfill (100000, '!');
  g_autofree gchar *text =
      g_strconcat ("spdldecode ", name, "=", name, " ! ", name, NULL);

  explain_all (text);
  explain_all (links);
  explain_all (name);
}

GST_END_TEST;

/* A loader reports the same error, and pipelines that were created otherwise
 * are checked as well. */
GST_START_TEST (test_loader)
{
  const gchar *description = "spdlsrc spdlfetch ! spdldecode ! spdlsink";
  g_autoptr (GError) error = NULL;
  GstElement *pipeline;

  fail_unless (gst_spdl_loader_new (description, &error) == NULL);
  fail_unless (g_error_matches (error, GST_PARSE_ERROR, GST_PARSE_ERROR_LINK));
  fail_unless (errors_has (error, "spdlsrc ... ! spdlfetch"));
  g_clear_error (&error);
  pipeline = gst_object_ref_sink (gst_parse_launch (description, NULL));
  fail_unless (gst_spdl_loader_new_from_pipeline (
                   GST_PIPELINE (pipeline), &error) == NULL);
  fail_unless (g_error_matches (error, GST_PARSE_ERROR, GST_PARSE_ERROR_LINK));
  gst_object_unref (pipeline);
  g_clear_error (&error);
  fail_unless (gst_spdl_decoder_new ("spdldecode widht=3", &error) == NULL);
  fail_unless (g_error_matches (
      error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_PROPERTY));
  fail_unless (errors_has (error, "\"width\""));
}

GST_END_TEST;

/* spdlbatch without a decoder: one element reports the mistake, once. */
GST_START_TEST (test_no_decoder)
{
  static const struct {
    const gchar *rest;
    GstStreamError code;
  } runs[] = {
    { "spdlfetch ! spdlbatch ! spdlsink", GST_STREAM_ERROR_TYPE_NOT_FOUND },
    { "spdlfetch ! queue ! spdlbatch ! spdlsink",
        GST_STREAM_ERROR_TYPE_NOT_FOUND },
    { "spdlfetch caps=image/jpeg ! spdlbatch ! spdlsink",
        GST_STREAM_ERROR_WRONG_TYPE },
    { "identity ! spdlfetch caps=image/jpeg ! queue ! "
      "spdlbatch ! spdlsink",
        GST_STREAM_ERROR_WRONG_TYPE },
  };
  gchar *folder = files_make_dataset (20);

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    GstSpdlLoader *loader =
        loader_make ("spdlsrc location=%s ! %s", folder, runs[i].rest);
    g_autoptr (GError) error = NULL;

    if (gst_spdl_loader_start (loader, &error))
      error = loader_take_until_error (loader, &(guint){ 0 });
    fail_unless (g_error_matches (error, GST_STREAM_ERROR, runs[i].code),
        "%u: %s", i, error->message);
    fail_unless (
        errors_has (error, "! spdldecode !"), "%u: %s", i, error->message);
    g_object_unref (loader);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Caps that would be an error are not accepted, so that upstream converts. */
GST_START_TEST (test_batch_accepts)
{
  static const struct {
    const gchar *caps;
    gboolean accepted;
  } cases[] = {
    { "video/x-raw,format=RGB,width=8,height=8,framerate=0/1", TRUE },
    { "video/x-raw,format=I420,width=8,height=8,framerate=0/1", FALSE },
    { "audio/x-raw,format=S24LE,layout=interleaved,rate=1,channels=1", FALSE },
    { "image/jpeg", FALSE },
  };
  g_autoptr (GstElement) batch =
      gst_object_ref_sink (gst_element_factory_make ("spdlbatch", NULL));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (batch, "sink");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (cases[i].caps);

    fail_unless_equals_int (
        gst_pad_query_accept_caps (pad, caps), cases[i].accepted);
  }
}

GST_END_TEST;

static Suite *
parse_suite (void)
{
  Suite *s = suite_create ("parse");
  TCase *tc = tcase_create ("general");

  /* GStreamer's messages are translated if translations are installed. */
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 180);
  tcase_add_loop_test (tc, test_mistake, 0, G_N_ELEMENTS (mistakes));
  tcase_add_loop_test (tc, test_right, 0, G_N_ELEMENTS (right));
  tcase_add_test (tc, test_arguments);
  tcase_add_test (tc, test_no_error);
  tcase_add_test (tc, test_odd_input);
  tcase_add_test (tc, test_long_input);
  tcase_add_test (tc, test_loader);
  tcase_add_test (tc, test_no_decoder);
  tcase_add_test (tc, test_batch_accepts);
  return s;
}

GST_CHECK_MAIN (parse);
