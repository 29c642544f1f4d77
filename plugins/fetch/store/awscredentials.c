/* gst-spdl: AWS credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/io/environment.h"
#include "plugins/fetch/store/awssources.h"
#include "plugins/fetch/store/secrettext.h"

/* Maximum length of a chain of profiles that refer to each other by
 * source_profile. */
#define MAX_DEPTH 8

/* The sources are tried in botocore's order. The first source that applies is
 * used; if it fails, no other source is tried. Functions of a source return
 * FALSE with @error set if it failed, and TRUE with *@secrets NULL if it does
 * not apply. */

static gboolean
set_partial_error (
    GError **error, const gchar *place, const gchar *has, const gchar *lacks)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "%s has %s without %s: set both or neither", place, has, lacks);
}

/* The environment */

static gboolean
ask_environment (SpdlSecrets **secrets, GError **error)
{
  const gchar *expiration = spdl_environment_get ("AWS_CREDENTIAL_EXPIRATION");
  g_autofree gchar *access_key = NULL;
  g_autofree gchar *secret_key = NULL;
  g_autofree gchar *session_token = NULL;
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) date = NULL;

  if (!spdl_secret_text_read_env ("AWS_ACCESS_KEY_ID", &access_key, error) ||
      !spdl_secret_text_read_env (
          "AWS_SECRET_ACCESS_KEY", &secret_key, error) ||
      !spdl_secret_text_read_env ("AWS_SESSION_TOKEN", &session_token, error))
    return FALSE;
  if (!access_key)
    return TRUE;
  if (!secret_key)
    return set_partial_error (
        error, "The environment", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
  if (expiration && !(date = g_date_time_new_from_iso8601 (expiration, utc)))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "AWS_CREDENTIAL_EXPIRATION is not a time of ISO 8601, such as "
        "2026-11-25T10:00:00Z");
  *secrets = spdl_secrets_new ("the environment",
      &(SpdlSecrets){ .access_key = access_key,
          .secret_key = secret_key,
          .session_token = session_token,
          .expires = date ? g_date_time_to_unix (date) * G_TIME_SPAN_SECOND
                          : G_MAXINT64 });
  return TRUE;
}

/* Profiles */

/* Checks that the profile exists, if one was requested. */
static gboolean
check_profile (const SpdlAwsProfile *profile, gboolean named, GError **error)
{
  if (!named || spdl_aws_profile_exists (profile))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "AWS profile \"%s\" is not in \"%s\" and \"%s\": correct its name, or "
      "add "
      "it there",
      profile->profile, profile->config_path, profile->credentials_path);
}

static gboolean
refuse_sso (const SpdlAwsProfile *profile, GError **error)
{
  if (!spdl_aws_profile_get (profile, "sso_session") &&
      !spdl_aws_profile_get (profile, "sso_start_url"))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "AWS profile \"%s\" uses single sign-on, which is not supported: run "
      "\"aws sso login\" and choose a profile with \"credential_process = aws "
      "configure export-credentials --profile %s\"",
      profile->profile, profile->profile);
}

static gboolean
ask_web_identity (const SpdlAwsProfile *profile, gboolean use_environment,
    SpdlSecrets **secrets, GError **error)
{
  static const struct {
    const gchar *variable;
    const gchar *setting;
  } names[] = {
    { "AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file" },
    { "AWS_ROLE_ARN", "role_arn" },
    { "AWS_ROLE_SESSION_NAME", "role_session_name" },
  };
  const gchar *values[G_N_ELEMENTS (names)];

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    values[i] =
        use_environment ? spdl_environment_get (names[i].variable) : NULL;
    if (!values[i])
      values[i] = spdl_aws_profile_get (profile, names[i].setting);
  }
  if (!values[0])
    return TRUE;
  if (!values[1])
    return set_partial_error (error, "The environment or the AWS profile",
        "AWS_WEB_IDENTITY_TOKEN_FILE or web_identity_token_file",
        "AWS_ROLE_ARN or role_arn");
  return spdl_aws_sts_ask (
      profile, values[1], values[2], values[0], secrets, error);
}

/* @place: for messages, begins with a capital letter
 * @section: of @file */
static gboolean
ask_file (const SpdlAwsFile *file, const gchar *section, const gchar *path,
    SpdlSecrets **secrets, GError **error)
{
  static const gchar *const names[] = { "aws_access_key_id",
    "aws_secret_access_key", "aws_session_token" };
  g_autofree gchar *source = g_strdup_printf ("[%s] in \"%s\"", section, path);
  const gchar *values[G_N_ELEMENTS (names)];

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    values[i] = spdl_aws_file_get (file, section, names[i]);
  if (!values[0])
    return TRUE;
  if (!values[1])
    return set_partial_error (error, source, names[0], names[1]);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *name = g_strdup_printf ("%s of %s", names[i], source);

    if (values[i] && !spdl_secret_text_check (values[i], name, error))
      return FALSE;
  }
  /* Another tool may replace the keys in the file. */
  *secrets = spdl_secrets_new (
      source, &(SpdlSecrets){ .access_key = (gchar *) values[0],
                  .secret_key = (gchar *) values[1],
                  .session_token = (gchar *) values[2],
                  .expires = G_MAXINT64,
                  .renewable = TRUE });
  return TRUE;
}

static gboolean
ask_config_file (
    const SpdlAwsProfile *profile, SpdlSecrets **secrets, GError **error)
{
  g_autofree gchar *section = spdl_aws_profile_dup_config_section (profile);

  return ask_file (
      profile->config, section, profile->config_path, secrets, error);
}

/* Roles that are assumed with other credentials */

/* Returns the static keys of the profile. */
static gboolean
ask_keys (const SpdlAwsProfile *profile, SpdlSecrets **secrets, GError **error)
{
  return ask_file (profile->credentials, profile->profile,
             profile->credentials_path, secrets, error) &&
         (*secrets || ask_config_file (profile, secrets, error));
}

static gboolean
ask_profile (const SpdlAwsProfile *profile, gboolean use_environment,
    guint depth, SpdlSecrets **secrets, GError **error);

static gboolean
ask_source_profile (const SpdlAwsProfile *profile, const gchar *name,
    guint depth, SpdlSecrets **secrets, GError **error)
{
  SpdlAwsProfile source = *profile;

  source.profile = (gchar *) name;
  if (!check_profile (&source, TRUE, error) ||
      !ask_keys (&source, secrets, error))
    return FALSE;
  if (*secrets)
    return TRUE;
  if (depth == MAX_DEPTH || g_str_equal (name, profile->profile))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "AWS profile \"%s\" refers through source_profile to itself, or "
        "through more "
        "than %d profiles, and none has keys",
        profile->profile, MAX_DEPTH);
  return ask_profile (&source, FALSE, depth + 1, secrets, error);
}

static gboolean
ask_credential_source (const gchar *name, SpdlSecrets **secrets, GError **error)
{
  g_autofree gchar *reason = NULL;

  if (g_ascii_strcasecmp (name, "Environment") == 0)
    return ask_environment (secrets, error);
  if (g_ascii_strcasecmp (name, "EcsContainer") == 0)
    return spdl_aws_container_ask (secrets, error);
  if (g_ascii_strcasecmp (name, "Ec2InstanceMetadata") == 0)
    return spdl_aws_instance_ask (secrets, &reason, error);
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "credential_source \"%s\" of the AWS profile is not known: use "
      "Environment, EcsContainer or Ec2InstanceMetadata",
      name);
}

static gboolean
ask_role (const SpdlAwsProfile *profile, guint depth, SpdlSecrets **secrets,
    GError **error)
{
  const gchar *by_profile = spdl_aws_profile_get (profile, "source_profile");
  const gchar *by_source = spdl_aws_profile_get (profile, "credential_source");
  SpdlSecrets *source = NULL;
  gboolean ok;

  if (!spdl_aws_profile_get (profile, "role_arn") ||
      spdl_aws_profile_get (profile, "web_identity_token_file"))
    return TRUE;
  if (!by_profile == !by_source)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "AWS profile \"%s\" has role_arn with %s: it needs "
        "web_identity_token_file, source_profile or credential_source",
        profile->profile,
        by_profile ? "both source_profile and credential_source"
                   : "no source of credentials");
  if (spdl_aws_profile_get (profile, "mfa_serial"))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "AWS profile \"%s\" requires a code of a second factor, which is not "
        "supported: choose a profile with \"credential_process = aws configure "
        "export-credentials --profile %s\"",
        profile->profile, profile->profile);
  if (by_profile
          ? !ask_source_profile (profile, by_profile, depth, &source, error)
          : !ask_credential_source (by_source, &source, error))
    return FALSE;
  if (!source)
    return spdl_fail (error, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "AWS profile \"%s\" assumes a role with the credentials of \"%s\", "
        "which has none",
        profile->profile, by_profile ? by_profile : by_source);
  ok = spdl_aws_sts_assume_role (profile, source, secrets, error);
  spdl_secrets_unref (source);
  return ok;
}

/* The chain */

static gboolean
ask_profile (const SpdlAwsProfile *profile, gboolean use_environment,
    guint depth, SpdlSecrets **secrets, GError **error)
{
  const gchar *command;

  if (!ask_role (profile, depth, secrets, error))
    return FALSE;
  if (*secrets)
    return TRUE;
  if (!ask_web_identity (profile, use_environment, secrets, error))
    return FALSE;
  if (*secrets)
    return TRUE;
  if (!refuse_sso (profile, error) ||
      !ask_file (profile->credentials, profile->profile,
          profile->credentials_path, secrets, error))
    return FALSE;
  if (*secrets)
    return TRUE;
  command = spdl_aws_profile_get (profile, "credential_process");
  if (command)
    return spdl_aws_process_ask (command, secrets, error);
  return ask_config_file (profile, secrets, error);
}

static void
set_none_error (GError **error, const SpdlAwsProfile *profile,
    gboolean use_environment, const gchar *reason)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
      "No AWS credentials found in %sprofile \"%s\" of \"%s\" and \"%s\", the "
      "container service (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI "
      "are not set) and the instance metadata service (%s): set "
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, choose a profile with "
      "keys, or set anonymous=true for public data",
      use_environment
          ? "the environment (AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE), "
          : "",
      profile->profile, profile->credentials_path, profile->config_path,
      reason);
}

SpdlSecrets *
spdl_aws_credentials_ask (const gchar *profile, GError **error)
{
  /* A profile named by the caller takes precedence over keys in the
   * environment. */
  const gboolean use_environment = profile == NULL;
  const gboolean named =
      profile || spdl_environment_get ("AWS_PROFILE") != NULL;
  g_auto (SpdlAwsProfile) files = { 0 };
  g_autofree gchar *reason = NULL;
  SpdlSecrets *secrets = NULL;

  if (use_environment && (!ask_environment (&secrets, error) || secrets))
    return secrets;
  if (!spdl_aws_profile_load (&files, profile, error) ||
      !check_profile (&files, named, error) ||
      !ask_profile (&files, use_environment, 1, &secrets, error) || secrets ||
      !spdl_aws_container_ask (&secrets, error) || secrets ||
      !spdl_aws_instance_ask (&secrets, &reason, error) || secrets)
    return secrets;
  set_none_error (error, &files, use_environment, reason);
  return NULL;
}
