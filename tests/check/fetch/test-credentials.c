/* gst-spdl: tests of the sources of credentials for object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib/gstdio.h>
#include <string.h>

#include "plugins/fetch/store/sigv4.h"
#include "tests/check/fetch/credentials-rig.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/logged.h"

#define CONTAINER "GET /container"
#define STS "POST /"
#define GOOGLE "GET /computeMetadata/v1/instance/service-accounts/default/token"

#define SETTINGS GST_RESOURCE_ERROR_SETTINGS
#define READ GST_RESOURCE_ERROR_READ
#define OPEN_READ GST_RESOURCE_ERROR_OPEN_READ
#define NOT_FOUND GST_RESOURCE_ERROR_NOT_FOUND

/* Checks that the credentials are the key @access_key (nullable). */
static void
assert_key (
    SpdlCredentialsKind kind, const gchar *profile, const gchar *access_key)
{
  SpdlCredentials *credentials = spdl_credentials_new (kind, profile);
  g_autoptr (GError) error = NULL;
  g_autoptr (SpdlSecrets) secrets = ask (credentials, &error);

  fail_unless (secrets != NULL, "%s", error ? error->message : "");
  fail_unless_equals_string (secrets->access_key, access_key);
  fail_unless (!access_key || g_str_has_prefix (secrets->secret_key, SECRET));
  spdl_credentials_free (credentials);
}

static void
assert_bearer (SpdlCredentialsKind kind, const gchar *bearer)
{
  SpdlCredentials *credentials = spdl_credentials_new (kind, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (SpdlSecrets) secrets = ask (credentials, &error);

  fail_unless (secrets != NULL, "%s", error ? error->message : "");
  fail_unless (!secrets->access_key && !secrets->secret_key);
  fail_unless (g_strcmp0 (secrets->bearer, bearer) == 0);
  spdl_credentials_free (credentials);
}

/* Checks that no credentials are found. */
static void
assert_failure (SpdlCredentialsKind kind, const gchar *profile, gint code,
    const gchar *part)
{
  SpdlCredentials *credentials = spdl_credentials_new (kind, profile);
  g_autoptr (GError) error = NULL;
  SpdlSecrets *secrets = ask (credentials, &error);

  fail_unless (secrets == NULL && error != NULL, "no error with %s", part);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code) &&
                   errors_has (error, part),
      "%s (%d), not %s", error->message, error->code, part);
  spdl_credentials_free (credentials);
}

/* The environment */

GST_START_TEST (test_environment)
{
  g_autofree gchar *soon = format_time (5);
  SpdlCredentials *credentials;
  SpdlSecrets *secrets;

  g_setenv ("AWS_ACCESS_KEY_ID", "KEY", TRUE);
  assert_failure (AWS, NULL, SETTINGS, "AWS_SECRET_ACCESS_KEY");
  g_setenv ("AWS_SECRET_ACCESS_KEY", SECRET, TRUE);
  g_setenv ("AWS_SESSION_TOKEN", "", TRUE);
  assert_key (AWS, NULL, "KEY");
  g_setenv ("AWS_SESSION_TOKEN", SECRET "-token", TRUE);

  credentials = spdl_credentials_new (AWS, NULL);
  secrets = ask (credentials, NULL);
  fail_unless_equals_string (secrets->session_token, SECRET "-token");
  fail_unless (secrets->expires == G_MAXINT64 && !secrets->renewable);
  fail_if (spdl_credentials_refuse (credentials, secrets));
  spdl_secrets_unref (secrets);
  spdl_credentials_free (credentials);

  g_setenv ("AWS_CREDENTIAL_EXPIRATION", "soon", TRUE);
  assert_failure (AWS, NULL, SETTINGS, "AWS_CREDENTIAL_EXPIRATION");
  g_setenv ("AWS_CREDENTIAL_EXPIRATION", soon, TRUE);
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "the environment");
}

GST_END_TEST;

GST_START_TEST (test_unprintable)
{
  static const struct {
    const gchar *value;
    const gchar *part;
  } cases[] = {
    { SECRET "\n", "[resource-error settings]|AWS_SECRET_ACCESS_KEY" },
    { "\r" SECRET, "[resource-error settings]|AWS_SECRET_ACCESS_KEY" },
    { SECRET " " SECRET, "[resource-error settings]|AWS_SECRET_ACCESS_KEY" },
    { SECRET "\x01", "[resource-error settings]" },
    { SECRET "\xc3\xa9", "[resource-error settings]" },
  };
  g_autofree gchar *large = g_strnfill (40000, 'x');

  g_setenv ("AWS_ACCESS_KEY_ID", "KEY", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_setenv ("AWS_SECRET_ACCESS_KEY", cases[i].value, TRUE);
    assert_failure (AWS, NULL, SETTINGS, cases[i].part);
  }
  g_setenv ("AWS_SECRET_ACCESS_KEY", large, TRUE);
  assert_failure (AWS, NULL, SETTINGS, "32768");
  files_write_text (home, ".aws/credentials",
      "[x]\naws_access_key_id=KEY\naws_secret_access_key = " SECRET
      "\n  " SECRET "\n");
  assert_failure (AWS, "x", SETTINGS, "aws_secret_access_key");
}

GST_END_TEST;

/* Profiles */

GST_START_TEST (test_profiles)
{
  files_write_text (home, ".aws/config",
      "[default]\naws_access_key_id=KEY0\naws_secret_access_key=" SECRET
      "\n[profile x]\naws_access_key_id=KEY1\naws_secret_access_key=" SECRET
      "\n[profile y]\naws_access_key_id=KEY2\n"
      "[profile z]\nregion=a\n"
      "[profile sso]\nsso_session=s\n"
      "[profile old-sso]\nsso_start_url=https://a\n"
      "[profile half-role]\nrole_arn=arn:a\n");
  assert_key (AWS, NULL, "KEY0");
  assert_key (AWS, "default", "KEY0");
  assert_key (AWS, "x", "KEY1");
  assert_failure (AWS, "y", SETTINGS, "aws_secret_access_key");
  assert_failure (AWS, "none", SETTINGS, "\"none\"");
  assert_failure (
      AWS, "sso", SETTINGS, "[resource-error settings]|export-credentials");
  assert_failure (AWS, "old-sso", SETTINGS, "credential_process");
  assert_failure (AWS, "half-role", SETTINGS, "web_identity_token_file");
  g_setenv ("AWS_PROFILE", "none", TRUE);
  assert_failure (AWS, NULL, SETTINGS, "\"none\"");
  g_setenv ("AWS_PROFILE", "x", TRUE);
  assert_key (AWS, NULL, "KEY1");
  files_write_text (home, ".aws/credentials",
      "[x]\naws_access_key_id=KEY3\naws_secret_access_key=" SECRET "\n");
  assert_key (AWS, NULL, "KEY3");
  /* Keys of the environment come before a profile of the environment, but not
   * before one that the caller names. */
  g_setenv ("AWS_ACCESS_KEY_ID", "KEY4", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", SECRET, TRUE);
  assert_key (AWS, NULL, "KEY4");
  assert_key (AWS, "x", "KEY3");
  /* This profile has no keys, but the metadata service has. */
  set_instance (5, 3600);
  assert_key (AWS, "z", "KEY5");
  files_write_text (home, ".aws/config", SECRET);
  assert_failure (AWS, "x", SETTINGS, "[resource-error settings]|1");
}

GST_END_TEST;

/* Tests that a file rewritten by another tool is read again after a refusal. */
GST_START_TEST (test_file_changes)
{
  SpdlCredentials *credentials = spdl_credentials_new (AWS, NULL);
  SpdlSecrets *first, *same, *second;

  files_write_text (home, ".aws/credentials",
      "[default]\naws_access_key_id=KEY1\naws_secret_access_key=" SECRET "\n");
  first = ask (credentials, NULL);
  fail_unless (spdl_credentials_refuse (credentials, first));
  same = ask (credentials, NULL);
  fail_unless_equals_string (same->access_key, "KEY1");
  fail_if (spdl_credentials_refuse (credentials, same));

  files_write_text (home, ".aws/credentials",
      "[default]\naws_access_key_id=KEY2\naws_secret_access_key=" SECRET "\n");
  spdl_credentials_advance (credentials, SPDL_CREDENTIALS_PAUSE);
  fail_unless (spdl_credentials_refuse (credentials, same));
  second = ask (credentials, NULL);
  fail_unless_equals_string (second->access_key, "KEY2");
  spdl_secrets_unref (first);
  spdl_secrets_unref (same);
  spdl_secrets_unref (second);
  spdl_credentials_free (credentials);
}

GST_END_TEST;

/* Writes a script, and a profile that names it as credential_process. */
static void
set_process (const gchar *script)
{
  g_autofree gchar *path = g_build_filename (home, "a script", NULL);
  g_autofree gchar *config = g_strdup_printf (
      "[default]\ncredential_process = \"%s\" an argument\n", path);
  g_autofree gchar *text = g_strconcat ("#!/bin/sh\n", script, "\n", NULL);

  files_write_text (home, "a script", text);
  g_chmod (path, 0700);
  files_write_text (home, ".aws/config", config);
}

GST_START_TEST (test_process)
{
  g_autofree gchar *json = make_json (7, 3600);
  g_autofree gchar *good =
      g_strdup_printf ("test \"$2\" = argument && echo '%s'", json);

  set_process (good);
  assert_key (AWS, NULL, "KEY7");
  set_process ("echo '{\"Version\": 1, \"AccessKeyId\": \"KEY8\", "
               "\"SecretAccessKey\": \"" SECRET "\"}'");
  assert_key (AWS, NULL, "KEY8");
  set_process ("echo " SECRET " >&2; echo " SECRET "; exit 3");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|3");
  set_process ("kill -15 $$");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|15");
  set_process ("echo " SECRET);
  assert_failure (AWS, NULL, READ, "[resource-error read]|JSON");
  set_process ("echo '[]'");
  assert_failure (AWS, NULL, READ, "[resource-error read]|\"Version\"|1");
  set_process ("echo '{\"Version\": 1, \"AccessKeyId\": \"K\"}'");
  assert_failure (AWS, NULL, READ, "SecretAccessKey");
  set_process ("head -c 100000 /dev/zero");
  assert_failure (AWS, NULL, READ, "65536");
  files_write_text (
      home, ".aws/config", "[default]\ncredential_process = \"" SECRET "\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  files_write_text (home, ".aws/config",
      "[default]\ncredential_process = /nothing/here " SECRET "\n");
  assert_failure (AWS, NULL, SETTINGS, "\"here\"");
}

GST_END_TEST;

/* Web identity */

static gchar *
make_xml (const gchar *more, gint64 seconds)
{
  g_autofree gchar *time = format_time (seconds);

  return g_strdup_printf (
      "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts\">"
      "<AssumeRoleWithWebIdentityResult><Audience>a</Audience><Credentials>"
      "<AccessKeyId>KEY9</AccessKeyId>%s<SessionToken>\n " SECRET
      "-token </SessionToken><Expiration>%s</Expiration></Credentials>"
      "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
      more, time);
}

GST_START_TEST (test_web_identity)
{
  static const gchar secret[] = "<SecretAccessKey>" SECRET "</SecretAccessKey>";
  g_autofree gchar *token = g_build_filename (home, "token", NULL);
  g_autofree gchar *missing =
      g_build_filename (home, "[resource-error not-found]", NULL);
  g_autofree gchar *good = make_xml (secret, 3600);
  g_autofree gchar *late = make_xml (secret, 3);
  g_autofree gchar *partial = make_xml ("", 3600);
  g_autofree gchar *request = NULL;

  files_write_text (home, "token", SECRET "-jwt.a/b+c\n");
  g_setenv ("AWS_WEB_IDENTITY_TOKEN_FILE", token, TRUE);
  g_unsetenv ("http_proxy"); /* requests to STS would use it */
  g_setenv ("AWS_ENDPOINT_URL_STS", service_get_base (service), TRUE);
  assert_failure (AWS, NULL, SETTINGS, "AWS_ROLE_ARN");
  g_setenv ("AWS_ROLE_ARN", "arn:aws:iam::1:role/a b", TRUE);
  service_set (service, STS, 200, NULL, good);
  assert_key (AWS, NULL, "KEY9");
  request = service_dup_request (service, STS);
  fail_unless (strstr (request,
                   "\n\nAction=AssumeRoleWithWebIdentity&Version=2011-06-15&"
                   "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b&"
                   "RoleSessionName=gst-spdl&"
                   "WebIdentityToken=sesame-jwt.a%2Fb%2Bc"),
      "%s", request);

  service_fail (service, STS, 1, 503);
  assert_key (AWS, NULL, "KEY9");
  service_set (service, STS, 200, NULL, late);
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "http://127.0.0.1");
  service_set (service, STS, 200, NULL, partial);
  assert_failure (AWS, NULL, READ, "SecretAccessKey");
  service_set (service, STS, 200, NULL, SECRET "<");
  assert_failure (AWS, NULL, READ, "XML");
  service_set (service, STS, 403, NULL,
      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>" SECRET
      "</Message></Error></ErrorResponse>");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|403");
  service_set (service, STS, 400, NULL,
      "<ErrorResponse><Error><Code>" SECRET "-1</Code></Error>"
      "</ErrorResponse>");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|400");
  service_set (service, STS, 302, "Location: http://127.0.0.1:1/" SECRET, "");
  assert_failure (AWS, NULL, READ, "[resource-error read]|302");

  /* The same settings in a profile. */
  g_unsetenv ("AWS_WEB_IDENTITY_TOKEN_FILE");
  g_unsetenv ("AWS_ROLE_ARN");
  g_unsetenv ("AWS_ENDPOINT_URL_STS");
  {
    g_autofree gchar *config = g_strdup_printf (
        "[profile w]\nrole_arn=arn:b\nweb_identity_token_file=~/token\n"
        "role_session_name=me\nservices=s\n[services s]\nsts =\n"
        "  endpoint_url = %s\n",
        service_get_base (service));
    g_autofree gchar *last = NULL;

    files_write_text (home, ".aws/config", config);
    service_set (service, STS, 200, NULL, good);
    assert_key (AWS, "w", "KEY9");
    last = service_dup_request (service, STS);
    fail_unless (strstr (last, "RoleArn=arn%3Ab&RoleSessionName=me&"));
  }
  g_setenv ("AWS_WEB_IDENTITY_TOKEN_FILE", missing, TRUE);
  g_setenv ("AWS_ROLE_ARN", "arn:a", TRUE);
  assert_failure (AWS, NULL, NOT_FOUND, "[resource-error not-found]");
  files_write_text (
      home, "[resource-error not-found]", SECRET "\n" SECRET "\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  g_setenv ("AWS_WEB_IDENTITY_TOKEN_FILE", token, TRUE);
  g_setenv ("AWS_REGION", "a/b?" SECRET, TRUE);
  assert_failure (AWS, NULL, SETTINGS, "AWS_REGION");
}

GST_END_TEST;

/* Roles that are assumed with other credentials */

#define ASSUME                                                               \
  "GET /?Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aa%2Fb%20c" \
  "&RoleSessionName="

/* Returns a header of the last request with that name. (transfer full) */
static gchar *
dup_header (const gchar *request, const gchar *name)
{
  g_autofree gchar *text = service_dup_request (service, request);
  g_autofree gchar *begin = g_strdup_printf ("\n%s: ", name);
  const gchar *header = text ? strstr (text, begin) : NULL;

  return header ? g_strndup (header + strlen (begin),
                      strcspn (header + strlen (begin), "\n"))
                : NULL;
}

/* Checks that the request was sent as it was signed, with the given key. */
static void
assert_signed (const gchar *request, const gchar *access_key,
    const gchar *secret_key, const gchar *session_token, const gchar *region)
{
  SpdlSigV4Key key = { access_key, secret_key, session_token, region, "sts" };
  SoupMessageHeaders *headers =
      soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);
  g_autofree gchar *stamp = dup_header (request, "X-Amz-Date");
  g_autofree gchar *host = dup_header (request, "Host");
  g_autofree gchar *token = dup_header (request, "X-Amz-Security-Token");
  g_autofree gchar *authorization = dup_header (request, "Authorization");
  g_autoptr (GDateTime) date = g_date_time_new_from_iso8601 (stamp, NULL);

  fail_unless (date != NULL);
  spdl_sigv4_sign (&key, "GET", host, "/", strchr (request, '?') + 1,
      g_date_time_to_unix (date), headers);
  fail_unless_equals_string (
      soup_message_headers_get_one (headers, "Authorization"), authorization);
  fail_unless (g_strcmp0 (token, session_token) == 0);
  soup_message_headers_unref (headers);
}

static void
begin_roles (const gchar *more)
{
  g_autofree gchar *config = g_strconcat (
      "[default]\nrole_arn=arn:aws:a/b c\nregion=eu-west-1\n", more, NULL);

  files_write_text (home, ".aws/config", config);
  g_unsetenv ("http_proxy"); /* requests to STS would use it */
  g_setenv ("AWS_ENDPOINT_URL_STS", service_get_base (service), TRUE);
}

GST_START_TEST (test_role)
{
  static const gchar secret[] = "<SecretAccessKey>" SECRET "</SecretAccessKey>";
  static const gchar me[] = ASSUME "me&ExternalId=e&DurationSeconds=900";
  g_autofree gchar *good = make_xml (secret, 3600);

  service_set (service, ASSUME "gst-spdl", 200, NULL, good);
  service_set (service, me, 200, NULL, good);
  files_write_text (home, ".aws/credentials",
      "[x]\naws_access_key_id=KEY1\naws_secret_access_key=" SECRET
      "-x\naws_session_token=" SECRET "-t\n");
  begin_roles ("source_profile=x\n[profile y]\nregion=b\n");
  assert_key (AWS, NULL, "KEY9");
  assert_signed (
      ASSUME "gst-spdl", "KEY1", SECRET "-x", SECRET "-t", "eu-west-1");
  begin_roles ("source_profile=x\nrole_session_name=me\nexternal_id=e\n"
               "duration_seconds=900\n");
  assert_key (AWS, NULL, "KEY9");
  assert_signed (me, "KEY1", SECRET "-x", SECRET "-t", "eu-west-1");

  /* A profile with keys and a role, and a profile that refers to it through
   * another one. */
  begin_roles ("source_profile=default\naws_access_key_id=KEY3\n"
               "aws_secret_access_key=" SECRET "-d\n"
               "[profile z]\nrole_arn=arn:aws:a/b c\n"
               "role_session_name=me\nexternal_id=e\n"
               "duration_seconds=900\nsource_profile=y\n"
               "[profile y]\nrole_arn=arn:aws:a/b c\n"
               "source_profile=default\n");
  assert_key (AWS, NULL, "KEY9");
  assert_signed (ASSUME "gst-spdl", "KEY3", SECRET "-d", NULL, "eu-west-1");
  g_setenv ("AWS_REGION", "us-east-2", TRUE);
  assert_key (AWS, "z", "KEY9");
  assert_signed (ASSUME "gst-spdl", "KEY3", SECRET "-d", NULL, "us-east-2");
  assert_signed (me, "KEY9", SECRET, SECRET "-token", "us-east-2");

  service_set (service, ASSUME "gst-spdl", 403, NULL,
      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>" SECRET
      "</Message></Error></ErrorResponse>");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|403");
}

GST_END_TEST;

GST_START_TEST (test_role_sources)
{
  static const gchar secret[] = "<SecretAccessKey>" SECRET "</SecretAccessKey>";
  g_autofree gchar *good = make_xml (secret, 3600);

  service_set (service, ASSUME "gst-spdl", 200, NULL, good);
  set_instance (1, 3600);
  begin_roles ("credential_source=Ec2InstanceMetadata\n");
  assert_key (AWS, NULL, "KEY9");
  assert_signed (
      ASSUME "gst-spdl", "KEY1", SECRET "-1", SECRET "-token", "eu-west-1");
  begin_roles ("credential_source=EcsContainer\n");
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "EcsContainer");
  begin_roles ("credential_source=Environment\n");
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "Environment");
  begin_roles ("credential_source=Nothing\n");
  assert_failure (AWS, NULL, SETTINGS, "Nothing");
  begin_roles ("credential_source=Environment\nsource_profile=x\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  begin_roles ("source_profile=x\n");
  assert_failure (AWS, NULL, SETTINGS, "\"x\"");
  begin_roles ("source_profile=x\nmfa_serial=a\n[profile x]\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  begin_roles ("source_profile=x\n[profile x]\n");
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "\"x\"");
  begin_roles ("source_profile=default\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  begin_roles ("source_profile=x\n[profile x]\nrole_arn=a\n"
               "source_profile=default\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  begin_roles ("source_profile=x\n[profile x]\nsso_session=a\n");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  g_setenv ("AWS_ENDPOINT_URL_STS", "nothing", TRUE);
  files_write_text (home, ".aws/credentials",
      "[x]\naws_access_key_id=KEY1\naws_secret_access_key=" SECRET "\n");
  assert_failure (AWS, NULL, SETTINGS, "AWS_ENDPOINT_URL_STS");
}

GST_END_TEST;

/* Containers */

GST_START_TEST (test_container)
{
  g_autofree gchar *json = make_json (2, 3600);
  g_autofree gchar *late = make_json (2, -10);
  g_autofree gchar *uri =
      g_strconcat (service_get_base (service), "/container", NULL);
  g_autofree gchar *token = g_build_filename (home, "token", NULL);
  g_autofree gchar *large = g_strnfill (70000, ' ');
  g_autofree gchar *request = NULL;

  g_setenv ("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri, TRUE);
  service_set (service, CONTAINER, 200, NULL, json);
  assert_key (AWS, NULL, "KEY2");
  g_setenv ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer " SECRET "-1", TRUE);
  assert_key (AWS, NULL, "KEY2");
  request = service_dup_request (service, CONTAINER);
  fail_unless (strstr (request, "\nAuthorization: Bearer sesame-1\n"));
  g_setenv ("AWS_CONTAINER_AUTHORIZATION_TOKEN", SECRET "\nX: y", TRUE);
  assert_failure (AWS, NULL, SETTINGS, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
  g_setenv ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token, TRUE);
  assert_failure (AWS, NULL, NOT_FOUND, "_TOKEN_FILE");
  files_write_text (home, "token", SECRET "-2\n");
  assert_key (AWS, NULL, "KEY2");
  g_free (request);
  request = service_dup_request (service, CONTAINER);
  fail_unless (strstr (request, "\nAuthorization: sesame-2\n"));

  service_set (service, CONTAINER, 200, NULL, late);
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "the container service");
  service_set (service, CONTAINER, 200, NULL, SECRET);
  assert_failure (AWS, NULL, READ, "[resource-error read]|JSON");
  service_set (service, CONTAINER, 200, NULL,
      "{\"AccessKeyId\": \"K\", \"SecretAccessKey\": \"" SECRET
      "\", \"Token\": \"" SECRET "\"}");
  assert_failure (AWS, NULL, READ, "Expiration");
  service_set (service, CONTAINER, 200, NULL,
      "{\"AccessKeyId\": \"K\", \"SecretAccessKey\": \"" SECRET
      "\", \"Token\": \"" SECRET "\", \"Expiration\": \"" SECRET "\"}");
  assert_failure (AWS, NULL, READ, "ISO 8601");
  service_set (service, CONTAINER, 200, NULL,
      "{\"AccessKeyId\": \"K\", \"SecretAccessKey\": \"" SECRET
      "\\n\", \"Token\": \"" SECRET "\", \"Expiration\": \"x\"}");
  assert_failure (AWS, NULL, SETTINGS, "SecretAccessKey");
  service_set (service, CONTAINER, 200, NULL, large);
  assert_failure (AWS, NULL, READ, "65536");
  service_set (service, CONTAINER, 403, NULL,
      "{\"code\": \"AccessDenied\", \"message\": \"" SECRET "\"}");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|403");
  service_set (service, CONTAINER, SERVICE_RESET, NULL, "");
  assert_failure (AWS, NULL, OPEN_READ, "[resource-error open-read]");
  service_set (service, CONTAINER, SERVICE_STALL, NULL, "");
  assert_failure (AWS, NULL, OPEN_READ, "[resource-error open-read]|1.9");
}

GST_END_TEST;

GST_START_TEST (test_container_hosts)
{
  static const gchar *const bad[] = { "http://169.254.169.254/x",
    "http://10.0.0.1/x", "http://example.com/" SECRET, "ftp://127.0.0.1/x",
    "http://127.0.0.1.example.com/x", "http://localhost.example.com/",
    "http://[fd00:ec2::254]/", SECRET };
  /* No server listens on this port. */
  static const gchar *const good[] = { "http://127.0.0.1:1/x",
    "http://localhost:1/x", "http://[::1]:1/x", "http://127.1.2.3:1/x",
    "https://127.0.0.1:1/x" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_setenv ("AWS_CONTAINER_CREDENTIALS_FULL_URI", bad[i], TRUE);
    assert_failure (AWS, NULL, SETTINGS, "169.254.170.23");
  }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_setenv ("AWS_CONTAINER_CREDENTIALS_FULL_URI", good[i], TRUE);
    assert_failure (AWS, NULL, OPEN_READ, "[resource-error open-read]");
  }
  g_setenv (
      "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/\nx", TRUE);
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
}

GST_END_TEST;

/* Instances */

GST_START_TEST (test_instance)
{
  g_autofree gchar *request = NULL;

  set_instance (1, 3600);
  assert_key (AWS, NULL, "KEY1");
  request = service_dup_request (service, TOKEN);
  fail_unless (
      strstr (request, "\nX-aws-ec2-metadata-token-ttl-seconds: 21600\n"));
  g_free (request);
  request = service_dup_request (service, ROLE);
  fail_unless (strstr (request, "\nX-aws-ec2-metadata-token: sesame-imds\n"));
  fail_unless_equals_int (service_count (service, TOKEN), 1);

  service_fail (service, TOKEN, 1, 503);
  service_fail (service, ROLES, 1, SERVICE_RESET);
  service_fail (service, ROLE, 1, 429);
  assert_key (AWS, NULL, "KEY1");
  fail_unless_equals_int (service_count (service, TOKEN), 3);
  service_fail (service, ROLE, 2, 503);
  assert_failure (AWS, NULL, READ, "[resource-error read]|503");

  service_set (service, ROLE, 403, NULL, SECRET);
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|403");
  service_set (service, ROLE, 200, NULL, SECRET);
  assert_failure (AWS, NULL, READ, "[resource-error read]|JSON");
  service_set (
      service, ROLE, 200, NULL, "{\"Code\": \"AssumeRoleUnauthorizedAccess\"}");
  assert_failure (AWS, NULL, READ, "AssumeRoleUnauthorizedAccess");
  service_set (
      service, ROLE, 200, NULL, "{\"SecretAccessKey\": \"" SECRET "\"}");
  assert_failure (AWS, NULL, READ, "AccessKeyId");
  set_instance (1, 5);
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "the instance metadata service");
  service_set (service, ROLES, 200, NULL, "\n");
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]");
  service_set (service, ROLES, 404, NULL, "");
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]");
  service_set (service, ROLES, 401, NULL, "");
  assert_failure (
      AWS, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|401");
  service_set (service, ROLES, SERVICE_STALL, NULL, "");
  assert_failure (AWS, NULL, OPEN_READ, "[resource-error open-read]|1.9");
}

GST_END_TEST;

/* Tests that without any credentials the search fails within 2 s, with an error
 * that names all sources and the remedies. */
GST_START_TEST (test_nothing)
{
  static const gchar *const parts[] = { "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE", "/.aws/config", "/.aws/credentials",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "[resource-error not-authorized]",
    "anonymous=true" };

  service_set (service, TOKEN, SERVICE_STALL, NULL, "");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    assert_failure (AWS, NULL, NOT_AUTHORIZED, parts[i]);
    g_setenv ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1", TRUE);
  }
  fail_unless_equals_int (service_count (service, TOKEN), 1);
  g_setenv (
      "AWS_EC2_METADATA_SERVICE_ENDPOINT", service_get_base (service), TRUE);
  for (guint status = 403; status <= 405; status++) {
    service_set (service, TOKEN, status, NULL, "");
    assert_failure (AWS, NULL, NOT_AUTHORIZED, "IMDSv2");
  }
  service_set (service, TOKEN, 200, NULL, "a\nb");
  assert_failure (AWS, NULL, SETTINGS, "[resource-error settings]");
  set_instance (1, 3600);
  g_setenv ("AWS_EC2_METADATA_DISABLED", "True", TRUE);
  assert_failure (AWS, NULL, NOT_AUTHORIZED, "AWS_EC2_METADATA_DISABLED");
  fail_unless_equals_int (service_count (service, ROLES), 0);
}

GST_END_TEST;

/* Google Cloud */

GST_START_TEST (test_google)
{
  const SpdlCredentialsKind google = SPDL_CREDENTIALS_GOOGLE;
  static const gchar flavor[] = "Metadata-Flavor: Google";
  static const gchar good[] =
      "{\"access_token\": \"" SECRET "-gcp\", \"expires_in\": 3600, "
      "\"token_type\": \"Bearer\"}";
  g_autofree gchar *request = NULL;

  g_setenv (
      "GCE_METADATA_HOST", strstr (service_get_base (service), "127"), TRUE);
  service_set (service, GOOGLE, 200, flavor, good);
  assert_bearer (google, SECRET "-gcp");
  request = service_dup_request (service, GOOGLE);
  fail_unless (strstr (request, "\nMetadata-Flavor: Google\n"));
  service_set (service, GOOGLE, 200, NULL, good);
  assert_failure (google, NULL, NOT_AUTHORIZED, "Google's");
  service_set (service, GOOGLE, 404, flavor, SECRET);
  assert_failure (
      google, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]");
  service_set (service, GOOGLE, 403, flavor, SECRET);
  assert_failure (
      google, NULL, NOT_AUTHORIZED, "[resource-error not-authorized]|403");
  service_set (service, GOOGLE, 200, flavor, "{\"access_token");
  assert_failure (google, NULL, READ, "[resource-error read]|JSON");
  service_set (service, GOOGLE, 200, flavor, "{\"expires_in\": 3600}");
  assert_failure (google, NULL, READ, "access_token");
  service_set (
      service, GOOGLE, 200, flavor, "{\"access_token\": \"" SECRET "\"}");
  assert_failure (google, NULL, READ, "expires_in");
  service_set (service, GOOGLE, 200, flavor,
      "{\"access_token\": \"" SECRET "\", \"expires_in\": 9}");
  assert_failure (google, NULL, NOT_AUTHORIZED, "the metadata server");
  service_set (service, GOOGLE, SERVICE_STALL, flavor, "");
  assert_failure (google, NULL, NOT_AUTHORIZED, "1.9 s");
  g_setenv ("GCE_METADATA_HOST", "127.0.0.1:1", TRUE);
  assert_failure (google, NULL, NOT_AUTHORIZED, "anonymous=true");

  g_unsetenv ("GCE_METADATA_HOST");
  files_write_text (
      home, ".config/gcloud/application_default_credentials.json", SECRET);
  assert_failure (google, NULL, SETTINGS, "CLOUDSDK_AUTH_ACCESS_TOKEN");
  g_setenv ("GOOGLE_APPLICATION_CREDENTIALS", "/a/key.json", TRUE);
  assert_failure (google, NULL, SETTINGS, "/a/key.json");
  g_setenv ("CLOUDSDK_AUTH_ACCESS_TOKEN", SECRET "-env", TRUE);
  assert_bearer (google, SECRET "-env");
  g_setenv ("GS_ACCESS_KEY_ID", "GOOG1", TRUE);
  assert_failure (google, NULL, SETTINGS, "GS_SECRET_ACCESS_KEY");
  g_setenv ("GS_SECRET_ACCESS_KEY", SECRET, TRUE);
  assert_key (google, NULL, "GOOG1");
  g_unsetenv ("GS_ACCESS_KEY_ID");
  assert_failure (google, NULL, SETTINGS, "GS_ACCESS_KEY_ID");
}

GST_END_TEST;

/* Hugging Face */

GST_START_TEST (test_hugging_face)
{
  const SpdlCredentialsKind hf = SPDL_CREDENTIALS_HUGGING_FACE;
  g_autofree gchar *cache = g_build_filename (home, "xdg", NULL);

  assert_bearer (hf, NULL);
  files_write_text (home, ".cache/huggingface/token", SECRET "-1\n");
  assert_bearer (hf, SECRET "-1");
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  assert_bearer (hf, NULL);
  files_write_text (home, "xdg/huggingface/token", " " SECRET "-2");
  assert_bearer (hf, SECRET "-2");
  files_write_text (home, "hf/token", SECRET "-3");
  g_setenv ("HF_HOME", "~/hf", TRUE);
  assert_bearer (hf, SECRET "-3");
  files_write_text (home, "path", SECRET "-4");
  g_setenv ("HF_TOKEN_PATH", "~/path", TRUE);
  assert_bearer (hf, SECRET "-4");
  g_setenv ("HUGGING_FACE_HUB_TOKEN", SECRET "-5", TRUE);
  assert_bearer (hf, SECRET "-5");
  g_setenv ("HF_TOKEN", SECRET "-6", TRUE);
  assert_bearer (hf, SECRET "-6");
  g_setenv ("HF_TOKEN", SECRET "\n", TRUE);
  assert_failure (hf, NULL, SETTINGS, "[resource-error settings]|HF_TOKEN");
  g_setenv ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "YES", TRUE);
  assert_bearer (hf, NULL);
  g_setenv ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "0", TRUE);
  g_unsetenv ("HF_TOKEN");
  g_unsetenv ("HUGGING_FACE_HUB_TOKEN");
  files_write_text (home, "path", SECRET "\n" SECRET);
  assert_failure (hf, NULL, SETTINGS, "[resource-error settings]|/path");
  files_write (home, "path", SECRET "\0" SECRET, 13);
  assert_failure (hf, NULL, SETTINGS, "NUL");
  g_setenv ("HF_TOKEN_PATH", home, TRUE);
  assert_failure (hf, NULL, OPEN_READ, home);
}

GST_END_TEST;

static Suite *
credentials_suite (void)
{
  TCase *tc;
  Suite *suite = credentials_rig_make_suite ("credentials", &tc);

  tcase_add_test (tc, test_environment);
  tcase_add_test (tc, test_unprintable);
  tcase_add_test (tc, test_profiles);
  tcase_add_test (tc, test_file_changes);
  tcase_add_test (tc, test_process);
  tcase_add_test (tc, test_web_identity);
  tcase_add_test (tc, test_role);
  tcase_add_test (tc, test_role_sources);
  tcase_add_test (tc, test_container);
  tcase_add_test (tc, test_container_hosts);
  tcase_add_test (tc, test_instance);
  tcase_add_test (tc, test_nothing);
  tcase_add_test (tc, test_google);
  tcase_add_test (tc, test_hugging_face);
  return suite;
}

int
main (int argc, char **argv)
{
  return logged_run (argc, argv, credentials_suite, "credentials");
}
