/* gst-spdl: AWS credentials of a web identity
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/fetch/store/awssources.h"
#include "plugins/fetch/store/metadataservice.h"
#include "plugins/fetch/store/secrettext.h"

#define TIME_LIMIT (10 * G_TIME_SPAN_SECOND)

static const gchar *
find_region (const SpdlAwsProfile *profile)
{
  const gchar *region = spdl_secret_text_get_env ("AWS_REGION");

  if (!region)
    region = spdl_secret_text_get_env ("AWS_DEFAULT_REGION");
  return region ? region : spdl_aws_profile_get (profile, "region");
}

/* Returns the address of STS, or NULL with @error set. (transfer full) */
static gchar *
dup_endpoint (const SpdlAwsProfile *profile, GError **error)
{
  const gchar *named = spdl_secret_text_get_env ("AWS_ENDPOINT_URL_STS");
  const gchar *region = find_region (profile);

  if (!named)
    named = spdl_secret_text_get_env ("AWS_ENDPOINT_URL");
  if (!named)
    named = spdl_aws_profile_get (profile, "sts.endpoint_url");
  if (!named)
    named = spdl_aws_profile_get (profile, "endpoint_url");
  if (named)
    return g_str_has_suffix (named, "/") ? g_strdup (named)
                                         : g_strconcat (named, "/", NULL);
  if (!region)
    return g_strdup ("https://sts.amazonaws.com/");
  if (strspn (region, "abcdefghijklmnopqrstuvwxyz0123456789-") <
      strlen (region)) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The AWS region may have only small letters, digits and \"-\": correct "
        "AWS_REGION, or region in the profile");
    return NULL;
  }
  return g_strdup_printf ("https://sts.%s.amazonaws.com%s/", region,
      g_str_has_prefix (region, "cn-") ? ".cn" : "");
}

static void
add_parameter (GString *form, const gchar *name, const gchar *value)
{
  g_string_append_printf (form, "%s%s=", form->len > 0 ? "&" : "", name);
  g_string_append_uri_escaped (form, value, NULL, FALSE);
}

/* Returns the parameters of AssumeRoleWithWebIdentity, for a body: a token in a
 * URI would be in the logs of proxies. */
static gchar *
make_form (const gchar *role_arn, const gchar *session_name, const gchar *token)
{
  GString *form = g_string_new (NULL);

  add_parameter (form, "Action", "AssumeRoleWithWebIdentity");
  add_parameter (form, "Version", "2011-06-15");
  add_parameter (form, "RoleArn", role_arn);
  add_parameter (
      form, "RoleSessionName", session_name ? session_name : "gst-spdl");
  add_parameter (form, "WebIdentityToken", token);
  return g_string_free (form, FALSE);
}

static gboolean
read_token (const gchar *token_file, gchar **token, GError **error)
{
  g_autofree gchar *path = spdl_secret_text_expand_path (token_file);
  g_autofree gchar *shown = g_filename_display_name (path);

  if (!spdl_secret_text_read_token (path, token, error))
    return FALSE;
  if (!*token)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "The web identity token file \"%s\" does not exist or is empty: "
        "correct AWS_WEB_IDENTITY_TOKEN_FILE, or web_identity_token_file in "
        "the profile",
        shown);
  return *token != NULL;
}

gboolean
spdl_aws_sts_ask (const SpdlAwsProfile *profile, const gchar *role_arn,
    const gchar *session_name, const gchar *token_file, SpdlSecrets **secrets,
    GError **error)
{
  g_autofree gchar *endpoint = dup_endpoint (profile, error);
  g_autofree gchar *token = NULL;
  g_autofree gchar *form = NULL;
  g_autofree gchar *source = NULL;
  g_autoptr (SpdlMetadataClient) client = NULL;
  g_auto (SpdlMetadataAnswer) answer = { 0 };

  if (!endpoint || !read_token (token_file, &token, error))
    return FALSE;
  client = spdl_metadata_client_new (TIME_LIMIT, TRUE, error);
  if (!client)
    return FALSE;
  form = make_form (role_arn, session_name, token);
  if (!spdl_metadata_client_ask (client,
          &(SpdlMetadataRequest){
              SOUP_METHOD_POST, endpoint, "Accept", "text/xml", form },
          &answer, error))
    return FALSE;
  source = spdl_metadata_dup_origin (endpoint);
  if (answer.status == SOUP_STATUS_OK)
    *secrets =
        spdl_aws_answer_read_xml (answer.body, answer.size, source, error);
  else
    spdl_aws_answer_set_error (
        error, source, answer.status, answer.body, answer.size);
  return *secrets != NULL;
}
