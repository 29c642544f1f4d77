/* gst-spdl: Google Cloud credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <jansson.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/io/environment.h"
#include "plugins/fetch/store/credentials-private.h"
#include "plugins/fetch/store/metadataservice.h"
#include "plugins/fetch/store/secrettext.h"

/* An address, since resolving a name may take long outside of Google Cloud. */
#define METADATA_HOST "169.254.169.254"
#define TOKEN_PATH "computeMetadata/v1/instance/service-accounts/default/token"
#define ADC_NAME "application_default_credentials.json"
#define ADVICE                                                     \
  "set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY to an HMAC key, " \
  "CLOUDSDK_AUTH_ACCESS_TOKEN to the output of \"gcloud auth "     \
  "application-default print-access-token\""

static gboolean
ask_environment (SpdlSecrets **secrets, GError **error)
{
  g_autofree gchar *access_key = NULL;
  g_autofree gchar *secret_key = NULL;
  g_autofree gchar *token = NULL;

  if (!spdl_secret_text_read_env ("GS_ACCESS_KEY_ID", &access_key, error) ||
      !spdl_secret_text_read_env ("GS_SECRET_ACCESS_KEY", &secret_key, error) ||
      !spdl_secret_text_read_env ("CLOUDSDK_AUTH_ACCESS_TOKEN", &token, error))
    return FALSE;
  if (!access_key != !secret_key)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The environment has %s without %s: set both or neither",
        access_key ? "GS_ACCESS_KEY_ID" : "GS_SECRET_ACCESS_KEY",
        access_key ? "GS_SECRET_ACCESS_KEY" : "GS_ACCESS_KEY_ID");
  if (access_key)
    *secrets = spdl_secrets_new (
        "the environment", &(SpdlSecrets){ .access_key = access_key,
                               .secret_key = secret_key,
                               .expires = G_MAXINT64 });
  else if (token)
    *secrets = spdl_secrets_new ("the environment",
        &(SpdlSecrets){ .bearer = token, .expires = G_MAXINT64 });
  return TRUE;
}

/* Key files sign tokens by RSA, which is not implemented. They are rejected
 * rather than ignored, since the metadata service could use another account. */
static gboolean
refuse_key_file (GError **error)
{
  const gchar *named = spdl_environment_get ("GOOGLE_APPLICATION_CREDENTIALS");
  g_autofree gchar *folder =
      spdl_secret_text_dup_path ("CLOUDSDK_CONFIG", "~/.config/gcloud");
  g_autofree gchar *path = g_build_filename (folder, ADC_NAME, NULL);
  g_autofree gchar *shown = g_filename_display_name (named ? named : path);

  if (!named && !g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "Google Cloud key file \"%s\"%s is not supported: " ADVICE
      ", or GCE_METADATA_HOST=" METADATA_HOST
      " to use the account of the machine",
      shown, named ? " of GOOGLE_APPLICATION_CREDENTIALS" : "");
}

static SpdlSecrets *
read_token (const SpdlMetadataAnswer *answer, const gchar *source,
    gint64 asked_at, GError **error)
{
  g_autofree gchar *name = g_strdup_printf ("access_token of %s", source);
  json_t *object = json_loadb (answer->body, answer->size, 0, NULL);
  const gchar *token =
      json_string_value (json_object_get (object, "access_token"));
  const json_int_t lifetime =
      json_integer_value (json_object_get (object, "expires_in"));
  SpdlSecrets *secrets = NULL;

  if (!json_is_object (object))
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Response of %s is not a JSON object", source);
  else if (!token || !*token || lifetime <= 0 || lifetime > G_MAXINT32)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Credentials of %s have no %s", source,
        token && *token ? "valid expires_in" : "access_token");
  else if (spdl_secret_text_check (token, name, error))
    secrets = spdl_secrets_new (
        source, &(SpdlSecrets){ .bearer = (gchar *) token,
                    .expires = asked_at + lifetime * G_TIME_SPAN_SECOND,
                    .renewable = TRUE });
  json_decref (object);
  return secrets;
}

/* *@reason is set if there is no such service. */
static gboolean
ask_metadata (
    const gchar *host, SpdlSecrets **secrets, gchar **reason, GError **error)
{
  const gint64 asked_at = g_get_real_time ();
  g_autofree gchar *uri =
      g_strdup_printf ("http://%s/" TOKEN_PATH, host ? host : METADATA_HOST);
  g_autofree gchar *origin = spdl_metadata_dup_origin (uri);
  g_autofree gchar *source = g_strdup_printf ("the metadata server %s", origin);
  g_auto (SpdlMetadataAnswer) answer = { 0 };
  g_autoptr (GError) fault = NULL;

  if (!spdl_metadata_ask (
          &(SpdlMetadataRequest){ "GET", uri, "Metadata-Flavor", "Google" },
          &answer, &fault)) {
    *reason = g_strdup (fault->message);
    return TRUE;
  }
  if (g_strcmp0 (soup_message_headers_get_one (
                     soup_message_get_response_headers (answer.message),
                     "Metadata-Flavor"),
          "Google") != 0) {
    *reason = g_strdup_printf ("%s is not Google's", origin);
    return TRUE;
  }
  if (answer.status == SOUP_STATUS_NOT_FOUND) {
    *reason = g_strdup ("the machine has no service account");
    return TRUE;
  }
  if (answer.status == SOUP_STATUS_OK)
    *secrets = read_token (&answer, source, asked_at, error);
  else
    g_set_error (error, GST_RESOURCE_ERROR,
        answer.status < 500 ? GST_RESOURCE_ERROR_NOT_AUTHORIZED
                            : GST_RESOURCE_ERROR_READ,
        "%s refused to issue credentials: status %u", source, answer.status);
  return *secrets != NULL;
}

SpdlSecrets *
spdl_google_credentials_ask (GError **error)
{
  const gchar *host = spdl_environment_get ("GCE_METADATA_HOST");
  g_autofree gchar *reason = NULL;
  SpdlSecrets *secrets = NULL;

  if (!ask_environment (&secrets, error) || secrets ||
      (!host && !refuse_key_file (error)) ||
      !ask_metadata (host, &secrets, &reason, error) || secrets)
    return secrets;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
      "No Google Cloud credentials found in the environment "
      "(GS_ACCESS_KEY_ID, CLOUDSDK_AUTH_ACCESS_TOKEN) and the metadata server "
      "(%s): " ADVICE ", or anonymous=true for public data",
      reason);
  return NULL;
}
