/* gst-spdl: fuzz target of AWS's files and responses of credential services
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/fetch/store/awssources.h"
#include "plugins/fetch/store/secrettext.h"
#include "tests/fuzz/fuzz.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

#define SOURCE "a service"

/* Files. The input replaces both files of a profile, through the linker's
 * --wrap. */

static const FuzzInput *content;

#pragma GCC visibility push(default)
gboolean __wrap_spdl_secret_text_read_file (const gchar *path, gsize max_size,
    gchar **text, gsize *size, GError **error);
#pragma GCC visibility pop

gboolean
__wrap_spdl_secret_text_read_file (const gchar *path, gsize max_size,
    gchar **text, gsize *size, GError **error)
{
  *text = g_malloc (content->size + 1);
  memcpy (*text, content->data, content->size);
  (*text)[content->size] = '\0';
  *size = content->size;
  return TRUE;
}

/* Checks that a section appended to the file is parsed whatever precedes it,
 * and that an invalid file remains invalid. */
static void
check_more (const FuzzInput *input, const GError *error)
{
  static const gchar more[] = "\n[more]\na.b = c # d\ns3 =\n e = f\n";
  g_autofree gchar *text = g_malloc (input->size + sizeof more);
  g_autoptr (GError) fault = NULL;
  SpdlAwsFile *file;

  memcpy (text, input->data, input->size);
  memcpy (text + input->size, more, sizeof more);
  file =
      spdl_aws_file_parse (text, input->size + strlen (more), "a file", &fault);
  g_assert_cmpint (!file, ==, error != NULL);
  if (file) {
    g_assert_cmpstr (spdl_aws_file_get (file, "more", "a.b"), ==, "c");
    g_assert_cmpstr (spdl_aws_file_get (file, "more", "s3.e"), ==, "f");
    spdl_aws_file_free (file);
  } else {
    g_assert_cmpstr (fault->message, ==, error->message);
  }
}

static void
check_value (const gchar *value)
{
  if (!value)
    return;
  g_assert_true (g_utf8_validate (value, -1, NULL));
  g_assert_false (g_ascii_isspace (*value));
  g_assert_false (g_ascii_isspace (value[strlen (value) - 1]));
}

static const gchar *const names[] = { "region", "aws_access_key_id",
  "s3.endpoint_url" };

static void
read_profile (const gchar *name)
{
  g_auto (SpdlAwsProfile) profile = { 0 };

  g_assert_true (spdl_aws_profile_load (&profile, name, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *value = spdl_aws_profile_get (&profile, names[i]);

    check_value (value);
    g_assert_true (!value || spdl_aws_profile_exists (&profile));
  }
}

static void
read_file (const FuzzInput *input)
{
  static const gchar *const sections[] = { "default", "profile x",
    "services x" };
  g_autoptr (GError) error = NULL;
  SpdlAwsFile *file = spdl_aws_file_parse (
      (const gchar *) input->data, input->size, "a file", &error);

  check_more (input, error);
  if (!file) {
    fuzz_check_error (error);
    g_assert_cmpuint (strlen (error->message), <, 100);
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      check_value (spdl_aws_file_get (file, sections[i], names[k]));
  spdl_aws_file_free (file);
  read_profile ("default");
  read_profile ("x");
}

/* Answers */

static void
check_secret (const gchar *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (*text != '\0' && spdl_secret_text_check (text, "", &error));
}

static void
check_secrets (SpdlSecrets *secrets, gboolean temporary, const GError *error)
{
  if (!secrets) {
    fuzz_check_error (error);
    g_assert_cmpuint (strlen (error->message), <, 120);
    return;
  }
  g_assert_no_error (error);
  check_secret (secrets->access_key);
  check_secret (secrets->secret_key);
  g_assert_true (
      !temporary || (secrets->session_token && secrets->expires < G_MAXINT64));
  if (secrets->session_token)
    check_secret (secrets->session_token);
  spdl_secrets_unref (secrets);
}

static void
read_answer (const gchar *text, gsize size, guint8 settings)
{
  const gboolean is_xml = settings & 1;
  const gboolean temporary = settings >> 2 & 1;
  g_autofree gchar *code = spdl_aws_answer_dup_code (text, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) refusal = NULL;

  SpdlSecrets *secrets;

  if (is_xml)
    secrets = spdl_aws_answer_read_xml (text, size, SOURCE, &error);
  else
    secrets = spdl_aws_answer_read_json (text, size, SOURCE,
        settings >> 1 & 1 ? "Token" : "SessionToken", temporary, &error);
  check_secrets (secrets, is_xml || temporary, error);
  g_assert_true (!code || (*code && strlen (code) <= 64));
  spdl_aws_answer_set_error (&refusal, SOURCE, 400, text, size);
  fuzz_check_error (refusal);
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
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);
  g_autofree gchar *text = NULL;

  if (settings >> 7 & 1) {
    /* Responses are NUL-terminated as well. */
    text = g_strndup ("", input.size);
    if (input.size > 0)
      memcpy (text, input.data, input.size);
    read_answer (text, input.size, settings);
  } else {
    content = &input;
    read_file (&input);
  }
  return 0;
}
