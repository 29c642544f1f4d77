/* gst-spdl: tests of the shared files of AWS
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "plugins/fetch/store/awsfiles.h"
#include "plugins/fetch/store/credentials.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

static SpdlAwsFile *
parse (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  SpdlAwsFile *file =
      spdl_aws_file_parse (text, strlen (text), "a file", &error);

  fail_unless (file && !error, "%s", error ? error->message : "");
  return file;
}

GST_START_TEST (test_settings)
{
  static const struct {
    const gchar *text;
    const gchar *section;
    const gchar *name;
    const gchar *value;
  } cases[] = {
    { "[default]\na=b", "default", "a", "b" },
    { "\xef\xbb\xbf[default]\r\na = b\r\n", "default", "a", "b" },
    { "[default]\nA=b\na=c\n", "default", "a", "c" },
    { "[default]\na=b=c\n", "default", "a", "b=c" },
    { "[default]\na=\n", "default", "a", NULL },
    { "[default]\nb=1\n", "default", "a", NULL },
    { "# a\n; b\n\n  # c\n[default]\na=1\n#a=2\n", "default", "a", "1" },
    { "[default] # here\na=1 # one\n", "default", "a", "1" },
    { "[default] ; here\na=1\t; one\n", "default", "a", "1" },
    { "[default]\na=1#2;3\n", "default", "a", "1#2;3" },
    { "[default]\na= # nothing\n", "default", "a", NULL },
    { "[ default ]\n\ta = 1\n\tb = 2\n", "default", "b", "2" },
    { "[profile x]\na=1", "profile x", "a", "1" },
    { "[profile \t x ]\na=1", "profile x", "a", "1" },
    { "[profile \"x y\"]\na=1", "profile x y", "a", "1" },
    { "[profile 'x']\na=1", "profile x", "a", "1" },
    { "[profile \"]\na=1", "profile \"", "a", "1" },
    { "[a]\nb=1\n[c]\nb=2\n[a]\nd=3\n", "a", "b", "1" },
    { "[a]\nb=1\n[c]\nb=2\n[a]\nd=3\n", "a", "d", "3" },
    { "[a]\ns3 =\n  x = 1\n  Y= 2\nz=3\n", "a", "s3.x", "1" },
    { "[a]\ns3 =\n  x = 1\n  Y= 2\nz=3\n", "a", "s3.y", "2" },
    { "[a]\ns3 =\n  x = 1\n  Y= 2\nz=3\n", "a", "z", "3" },
    { "[a]\ns3 = # nested\n\n  # none\n  x = 1\n", "a", "s3.x", "1" },
    { "[a]\ns3 =\n[b]\n  x = 1\n", "b", "x", "1" },
    { "[a]\nb = 1\n  2\n", "a", "b", "1\n2" },
    { "[a]\nb = 1\n  [c]\n", "a", "b", "1\n[c]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (SpdlAwsFile) file = NULL;

    file = parse (cases[i].text);
    fail_unless (
        g_strcmp0 (spdl_aws_file_get (file, cases[i].section, cases[i].name),
            cases[i].value) == 0,
        "%s", cases[i].text);
    fail_unless (spdl_aws_file_has (file, cases[i].section));
    fail_if (spdl_aws_file_has (file, "none"));
  }
}

GST_END_TEST;

/* Errors name the file and the line, but do not show its content. */
GST_START_TEST (test_faults)
{
  static const struct {
    const gchar *text;
    gint size;
    const gchar *part;
  } cases[] = {
    { "sesame=1\n", -1, "[resource-error settings]|1" },
    { "[default]\nsesame\n", -1, "[resource-error settings]|2" },
    { "[default]\n\n#\n = sesame\n", -1, "[resource-error settings]|4" },
    { "[default]\ns3 =\n  sesame\n", -1, "[resource-error settings]|3" },
    { "[default]\ns3 =\n  = sesame\n", -1, "[resource-error settings]|3" },
    { "[sesame\n", -1, "[resource-error settings]|1" },
    { "[]\n", -1, "[resource-error settings]|1" },
    { "[ ]\n", -1, "[resource-error settings]|1" },
    { "[default] sesame\n", -1, "[resource-error settings]|1" },
    { "[default]\na=sesame\xff\n", -1, "UTF-8" },
    { "[default]\na=sesame\0\n", 19, "UTF-8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    const gsize size =
        cases[i].size < 0 ? strlen (cases[i].text) : (gsize) cases[i].size;
    SpdlAwsFile *file =
        spdl_aws_file_parse (cases[i].text, size, "the-file", &error);

    fail_unless (!file && g_error_matches (error, GST_RESOURCE_ERROR,
                              GST_RESOURCE_ERROR_SETTINGS));
    fail_unless (
        errors_has (error, "the-file") && errors_has (error, cases[i].part),
        "%s", error->message);
    fail_if (strstr (error->message, "sesame"), "%s", error->message);
  }
}

GST_END_TEST;

GST_START_TEST (test_files)
{
  g_autofree gchar *folder = files_make_folder ();
  g_autofree gchar *path = g_build_filename (folder, "config", NULL);
  g_autofree gchar *below = g_build_filename (path, "config", NULL);
  g_autofree gchar *large = g_strnfill (1024 * 1024 + 1, '#');
  g_autoptr (GError) error = NULL;
  SpdlAwsFile *file = spdl_aws_file_load (path, &error);

  fail_unless (file && !error);
  fail_if (spdl_aws_file_has (file, "default"));
  spdl_aws_file_free (file);

  large[1024 * 1024] = '\0';
  files_write_text (folder, "config", large);
  file = spdl_aws_file_load (path, &error);
  fail_unless (file && !error);
  spdl_aws_file_free (file);
  file = spdl_aws_file_load (below, &error);
  fail_unless (file && !error);
  spdl_aws_file_free (file);

  large[1024 * 1024] = '#';
  files_write_text (folder, "config", large);
  file = spdl_aws_file_load (path, &error);
  fail_unless (!file && errors_has (error, "1048576"));
  g_clear_error (&error);

  file = spdl_aws_file_load (folder, &error);
  fail_unless (!file && g_error_matches (error, GST_RESOURCE_ERROR,
                            GST_RESOURCE_ERROR_OPEN_READ));
  files_remove_folder (g_steal_pointer (&folder));
}

GST_END_TEST;

static void
assert_setting (const gchar *profile, const gchar *name, const gchar *expected)
{
  g_auto (SpdlAwsProfile) files = { 0 };
  const gchar *value = NULL;

  if (spdl_aws_profile_load (&files, profile, NULL))
    value = spdl_aws_profile_get (&files, name);
  fail_unless (g_strcmp0 (value, expected) == 0, "%s of %s: %s", name,
      profile ? profile : "none", value ? value : "none");
}

/* Settings of profiles, from both files in the home folder. */
GST_START_TEST (test_profiles)
{
  g_autofree gchar *folder = files_make_folder ();
  g_autofree gchar *other = g_build_filename (folder, "other", NULL);

  g_setenv ("HOME", folder, TRUE);
  assert_setting (NULL, "region", NULL);
  files_write_text (folder, ".aws/config",
      "[default]\nregion = a\n[profile default]\nregion = b\n"
      "[profile x]\nregion = c\noutput = json\nservices = local\n"
      "s3 =\n  addressing_style = path\n"
      "[services local]\ns3 =\n  endpoint_url = http://a\n"
      "  addressing_style = virtual\n[y]\nregion = e\n");
  files_write_text (folder, ".aws/credentials", "[x]\nregion = d\n");
  assert_setting (NULL, "region", "b");
  assert_setting ("x", "region", "d");
  assert_setting ("x", "output", "json");
  assert_setting ("x", "s3.addressing_style", "path");
  assert_setting ("x", "s3.endpoint_url", "http://a");
  assert_setting ("x", "endpoint_url", NULL);
  assert_setting ("y", "region", NULL);
  g_setenv ("AWS_PROFILE", "x", TRUE);
  assert_setting (NULL, "region", "d");
  assert_setting ("default", "region", "b");
  g_setenv ("AWS_CONFIG_FILE", other, TRUE);
  assert_setting ("default", "region", NULL);
  files_write_text (folder, "other", "[default]\nregion=f\n");
  assert_setting ("default", "region", "f");
  g_setenv ("AWS_CONFIG_FILE", "~/other", TRUE);
  assert_setting ("default", "region", "f");
  files_write_text (folder, "other", "region=f\n");
  assert_setting ("default", "region", NULL);
  files_remove_folder (g_steal_pointer (&folder));
}

GST_END_TEST;

static void
assert_endpoint (const gchar *service, const gchar *expected)
{
  g_auto (SpdlAwsProfile) files = { 0 };
  const gchar *endpoint;

  fail_unless (spdl_aws_profile_load (&files, NULL, NULL));
  endpoint = spdl_aws_profile_find_endpoint (&files, service);
  fail_unless (g_strcmp0 (endpoint, expected) == 0, "%s: %s", service,
      endpoint ? endpoint : "none");
}

/* Endpoints of services, from the most special setting to the most general. */
GST_START_TEST (test_endpoints)
{
  g_autofree gchar *folder = files_make_folder ();

  g_setenv ("HOME", folder, TRUE);
  files_write_text (folder, ".aws/config",
      "[default]\nservices = local\nendpoint_url = http://c\n"
      "[services local]\ns3 =\n  endpoint_url = http://d\n");
  assert_endpoint ("s3", "http://d");
  assert_endpoint ("sts", "http://c");
  g_setenv ("AWS_ENDPOINT_URL", "http://b", TRUE);
  assert_endpoint ("s3", "http://b");
  g_setenv ("AWS_ENDPOINT_URL_S3", "http://a", TRUE);
  assert_endpoint ("s3", "http://a");
  assert_endpoint ("sts", "http://b");
  g_setenv ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True", TRUE);
  assert_endpoint ("s3", NULL);
  assert_endpoint ("sts", NULL);
  g_setenv ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "false", TRUE);
  assert_endpoint ("s3", "http://a");
  g_unsetenv ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
  files_write_text (folder, ".aws/config",
      "[default]\nendpoint_url = http://c\n"
      "ignore_configured_endpoint_urls = true\n");
  assert_endpoint ("s3", NULL);
  g_unsetenv ("AWS_ENDPOINT_URL");
  g_unsetenv ("AWS_ENDPOINT_URL_S3");
  files_remove_folder (g_steal_pointer (&folder));
}

GST_END_TEST;

static Suite *
aws_files_suite (void)
{
  Suite *suite = suite_create ("aws-files");
  TCase *tc = tcase_create ("general");

  GST_DEBUG_CATEGORY_INIT (spdl_fetch_debug, "spdlfetch", 0, "Fetching");
  g_unsetenv ("AWS_PROFILE");
  g_unsetenv ("AWS_CONFIG_FILE");
  g_unsetenv ("AWS_SHARED_CREDENTIALS_FILE");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_settings);
  tcase_add_test (tc, test_faults);
  tcase_add_test (tc, test_files);
  tcase_add_test (tc, test_profiles);
  tcase_add_test (tc, test_endpoints);
  return suite;
}

GST_CHECK_MAIN (aws_files);
