/* gst-spdl: AWS credentials of roles, by STS
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/store/awssources.h"
#include "plugins/fetch/store/metadataservice.h"
#include "plugins/fetch/store/secrettext.h"
#include "plugins/fetch/store/sigv4.h"

/* Returns the address of STS, or NULL with @error set. (transfer full) */
static gchar *
dup_endpoint (const SpdlAwsProfile *profile, GError **error)
{
  const gchar *named = spdl_aws_profile_find_endpoint (profile, "sts");
  const gchar *region = spdl_aws_profile_find_region (profile);

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

static GString *
begin_form (
    const gchar *action, const gchar *role_arn, const gchar *session_name)
{
  GString *form = g_string_new (NULL);

  add_parameter (form, "Action", action);
  add_parameter (form, "Version", "2011-06-15");
  add_parameter (form, "RoleArn", role_arn);
  add_parameter (
      form, "RoleSessionName", session_name ? session_name : "gst-spdl");
  return form;
}

/* Sends a request and parses the response. */
static gboolean
ask_sts (
    const SpdlMetadataRequest *request, SpdlSecrets **secrets, GError **error)
{
  g_autofree gchar *source = spdl_metadata_dup_origin (request->uri);
  g_auto (SpdlMetadataAnswer) answer = { 0 };

  if (!spdl_metadata_ask (request, &answer, error))
    return FALSE;
  if (answer.status == SOUP_STATUS_OK)
    *secrets =
        spdl_aws_answer_read_xml (answer.body, answer.size, source, error);
  else
    spdl_aws_answer_set_error (
        error, source, answer.status, answer.body, answer.size);
  return *secrets != NULL;
}

/* Web identities */

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

/* Sends the token in the body, since proxies may log URIs. */
gboolean
spdl_aws_sts_ask (const SpdlAwsProfile *profile, const gchar *role_arn,
    const gchar *session_name, const gchar *token_file, SpdlSecrets **secrets,
    GError **error)
{
  g_autofree gchar *endpoint = dup_endpoint (profile, error);
  g_autofree gchar *token = NULL;
  g_autoptr (GString) form = NULL;

  if (!endpoint || !read_token (token_file, &token, error))
    return FALSE;
  form = begin_form ("AssumeRoleWithWebIdentity", role_arn, session_name);
  add_parameter (form, "WebIdentityToken", token);
  return ask_sts (&(SpdlMetadataRequest){ "POST", endpoint, "Accept",
                      "text/xml", form->str, NULL, TRUE },
      secrets, error);
}

/* Roles assumed with other credentials */

static GString *
make_query (const SpdlAwsProfile *profile)
{
  static const struct {
    const gchar *parameter;
    const gchar *setting;
  } names[] = {
    { "ExternalId", "external_id" },
    { "DurationSeconds", "duration_seconds" },
  };
  GString *query =
      begin_form ("AssumeRole", spdl_aws_profile_get (profile, "role_arn"),
          spdl_aws_profile_get (profile, "role_session_name"));

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *value = spdl_aws_profile_get (profile, names[i].setting);

    if (value)
      add_parameter (query, names[i].parameter, value);
  }
  return query;
}

gboolean
spdl_aws_sts_assume_role (const SpdlAwsProfile *profile,
    const SpdlSecrets *source, SpdlSecrets **secrets, GError **error)
{
  const gchar *region = spdl_aws_profile_find_region (profile);
  SpdlSigV4Key key = { source->access_key, source->secret_key,
    source->session_token, region ? region : "us-east-1", "sts" };
  g_autofree gchar *endpoint = dup_endpoint (profile, error);
  g_autoptr (GUri) parsed = NULL;
  g_autofree gchar *host = NULL;
  g_autofree gchar *uri = NULL;
  g_autoptr (GString) query = NULL;
  SoupMessageHeaders *headers;
  gboolean ok;

  if (!endpoint)
    return FALSE;
  parsed = g_uri_parse (endpoint, SOUP_HTTP_URI_FLAGS, NULL);
  if (!parsed || !g_uri_get_host (parsed))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The endpoint of STS is not a valid URI: correct AWS_ENDPOINT_URL_STS, "
        "AWS_ENDPOINT_URL, or endpoint_url of the profile");
  query = make_query (profile);
  uri = g_strdup_printf ("%s?%s", endpoint, query->str);
  host = spdl_sigv4_dup_host (parsed);
  headers = soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);
  spdl_sigv4_sign (&key, "GET", host, g_uri_get_path (parsed), query->str,
      g_get_real_time () / G_TIME_SPAN_SECOND, headers);
  ok = ask_sts (&(SpdlMetadataRequest){ "GET", uri, "Accept", "text/xml", NULL,
                    headers, TRUE },
      secrets, error);
  soup_message_headers_unref (headers);
  return ok;
}
