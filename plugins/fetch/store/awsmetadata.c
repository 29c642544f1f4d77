/* gst-spdl: AWS credentials of containers and instances
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/io/environment.h"
#include "plugins/fetch/store/awssources.h"
#include "plugins/fetch/store/metadataservice.h"
#include "plugins/fetch/store/secrettext.h"

#define CONTAINER_ORIGIN "http://169.254.170.2"
#define RELATIVE_URI "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
#define FULL_URI "AWS_CONTAINER_CREDENTIALS_FULL_URI"
#define AUTHORIZATION "AWS_CONTAINER_AUTHORIZATION_TOKEN"

#define INSTANCE_ENDPOINT "AWS_EC2_METADATA_SERVICE_ENDPOINT"
#define INSTANCE_MODE "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"
#define INSTANCE_DISABLED "AWS_EC2_METADATA_DISABLED"
#define ROLES_PATH "latest/meta-data/iam/security-credentials/"
/* The longest lifetime that AWS permits. */
#define TOKEN_LIFETIME "21600"

/* Containers */

/* Plain HTTP exposes credentials to the network, so it is used only for
 * addresses of the machine. */
static gboolean
is_local (const gchar *host)
{
  static const gchar *const hosts[] = { "localhost", "169.254.170.2",
    "169.254.170.23", "fd00:ec2::23" };
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);

  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++)
    if (g_ascii_strcasecmp (host, hosts[i]) == 0)
      return TRUE;
  return address && g_inet_address_get_is_loopback (address);
}

static gboolean
check_full_uri (const gchar *uri, GError **error)
{
  g_autoptr (GUri) parsed = g_uri_parse (uri, SOUP_HTTP_URI_FLAGS, NULL);
  const gchar *host = parsed ? g_uri_get_host (parsed) : NULL;

  if (host &&
      (g_str_equal (g_uri_get_scheme (parsed), "https") ||
          (g_str_equal (g_uri_get_scheme (parsed), "http") && is_local (host))))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      FULL_URI " is not permitted: use https, or http with a loopback address, "
               "169.254.170.2, 169.254.170.23 or [fd00:ec2::23]");
}

/* *@uri is NULL if the environment names no service. */
static gboolean
find_container_uri (gchar **uri, GError **error)
{
  g_autofree gchar *relative = NULL;
  g_autofree gchar *full = NULL;

  *uri = NULL;
  if (!spdl_secret_text_read_env (RELATIVE_URI, &relative, error) ||
      !spdl_secret_text_read_env (FULL_URI, &full, error))
    return FALSE;
  if (relative) {
    *uri = g_strconcat (
        CONTAINER_ORIGIN, *relative == '/' ? "" : "/", relative, NULL);
    return TRUE;
  }
  if (full && !check_full_uri (full, error))
    return FALSE;
  *uri = g_steal_pointer (&full);
  return TRUE;
}

/* The value of the Authorization header, which may begin with a word such as
 * "Bearer" and a space. */
static gboolean
read_authorization (gchar **value, GError **error)
{
  const gchar *file = spdl_environment_get (AUTHORIZATION "_FILE");
  const gchar *text = spdl_environment_get (AUTHORIZATION);
  const gchar *space = text && !file ? strchr (text, ' ') : NULL;
  g_autofree gchar *path = NULL;
  g_autofree gchar *shown = NULL;

  *value = NULL;
  if (file) {
    path = spdl_secret_text_expand_path (file);
    shown = g_filename_display_name (path);
    if (!spdl_secret_text_read_token (path, value, error))
      return FALSE;
    if (!*value)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
          AUTHORIZATION "_FILE names \"%s\", which does not exist or is empty",
          shown);
    return *value != NULL;
  }
  if (text &&
      !spdl_secret_text_check (space ? space + 1 : text, AUTHORIZATION, error))
    return FALSE;
  if (space) {
    g_autofree gchar *scheme = g_strndup (text, space - text);

    if (!spdl_secret_text_check (scheme, AUTHORIZATION, error))
      return FALSE;
  }
  *value = g_strdup (text);
  return TRUE;
}

gboolean
spdl_aws_container_ask (SpdlSecrets **secrets, GError **error)
{
  g_autofree gchar *uri = NULL;
  g_autofree gchar *authorization = NULL;
  g_autofree gchar *origin = NULL;
  g_autofree gchar *source = NULL;
  g_auto (SpdlMetadataAnswer) answer = { 0 };

  if (!find_container_uri (&uri, error))
    return FALSE;
  if (!uri)
    return TRUE;
  if (!read_authorization (&authorization, error))
    return FALSE;
  origin = spdl_metadata_dup_origin (uri);
  source = g_strdup_printf ("the container service %s", origin);
  if (!spdl_metadata_ask (
          &(SpdlMetadataRequest){ "GET", uri,
              authorization ? "Authorization" : NULL, authorization },
          &answer, error)) {
    g_prefix_error (error, "Credentials of the container: ");
    return FALSE;
  }
  if (answer.status == SOUP_STATUS_OK)
    *secrets = spdl_aws_answer_read_json (
        answer.body, answer.size, source, "Token", TRUE, error);
  else
    spdl_aws_answer_set_error (
        error, source, answer.status, answer.body, answer.size);
  return *secrets != NULL;
}

/* Instances */

typedef struct {
  gchar *base;   /* with a slash at the end */
  gchar *origin; /* for messages */
  gchar *source; /* for messages */
  gchar *token;
} Instance;

static void
instance_clear (Instance *self)
{
  g_free (self->base);
  g_free (self->origin);
  g_free (self->source);
  g_free (self->token);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Instance, instance_clear)

static gchar *
dup_instance_base (void)
{
  const gchar *named = spdl_environment_get (INSTANCE_ENDPOINT);
  const gchar *mode = spdl_environment_get (INSTANCE_MODE);

  if (named)
    return g_str_has_suffix (named, "/") ? g_strdup (named)
                                         : g_strconcat (named, "/", NULL);
  return g_strdup (mode && g_ascii_strcasecmp (mode, "ipv6") == 0
                       ? "http://[fd00:ec2::254]/"
                       : "http://169.254.169.254/");
}

/* Requests a token of IMDSv2. *@reason is set if there is no such service. */
static gboolean
ask_token (Instance *self, gchar **reason, GError **error)
{
  g_autofree gchar *uri = g_strconcat (self->base, "latest/api/token", NULL);
  g_auto (SpdlMetadataAnswer) answer = { 0 };
  g_autoptr (GError) fault = NULL;

  if (!spdl_metadata_ask (
          &(SpdlMetadataRequest){ "PUT", uri,
              "X-aws-ec2-metadata-token-ttl-seconds", TOKEN_LIFETIME },
          &answer, &fault)) {
    *reason = g_strdup (fault->message);
    return TRUE;
  }
  if (answer.status == SOUP_STATUS_OK) {
    self->token = g_strndup (answer.body, answer.size);
    return spdl_secret_text_check (
        self->token, "The token of the instance metadata service", error);
  }
  if (answer.status == SOUP_STATUS_FORBIDDEN ||
      answer.status == SOUP_STATUS_NOT_FOUND ||
      answer.status == SOUP_STATUS_METHOD_NOT_ALLOWED) {
    *reason = g_strdup_printf ("%s responded with status %u: it is disabled, "
                               "or does not support IMDSv2",
        self->origin, answer.status);
    return TRUE;
  }
  spdl_aws_answer_set_error (
      error, self->source, answer.status, answer.body, answer.size);
  return FALSE;
}

static gboolean
ask_path (Instance *self, const gchar *path, SpdlMetadataAnswer *answer,
    GError **error)
{
  g_autofree gchar *uri = g_strconcat (self->base, path, NULL);

  if (spdl_metadata_ask (&(SpdlMetadataRequest){ "GET", uri,
                             "X-aws-ec2-metadata-token", self->token },
          answer, error))
    return TRUE;
  g_prefix_error (error, "Credentials of the instance: ");
  return FALSE;
}

/* Returns the name of the instance's role in *@role; NULL with *@reason set if
 * it has none. */
static gboolean
ask_role (Instance *self, gchar **role, gchar **reason, GError **error)
{
  g_auto (SpdlMetadataAnswer) answer = { 0 };
  g_autofree gchar *name = NULL;

  *role = NULL;
  if (!ask_path (self, ROLES_PATH, &answer, error))
    return FALSE;
  if (answer.status == SOUP_STATUS_NOT_FOUND) {
    *reason = g_strdup ("the instance has no role");
    return TRUE;
  }
  if (answer.status != SOUP_STATUS_OK) {
    spdl_aws_answer_set_error (
        error, self->source, answer.status, answer.body, answer.size);
    return FALSE;
  }
  name = g_strndup (answer.body, strcspn (answer.body, "\r\n"));
  g_strstrip (name);
  if (!*name) {
    *reason = g_strdup ("the instance has no role");
    return TRUE;
  }
  *role = g_uri_escape_string (name, "+=,@", FALSE);
  return TRUE;
}

static gboolean
ask_secrets (
    Instance *self, const gchar *role, SpdlSecrets **secrets, GError **error)
{
  g_autofree gchar *path = g_strconcat (ROLES_PATH, role, NULL);
  g_auto (SpdlMetadataAnswer) answer = { 0 };
  g_autofree gchar *code = NULL;

  if (!ask_path (self, path, &answer, error))
    return FALSE;
  if (answer.status == SOUP_STATUS_OK)
    code = spdl_aws_answer_dup_code (answer.body, answer.size);
  if (answer.status != SOUP_STATUS_OK ||
      (code && !g_str_equal (code, "Success")))
    spdl_aws_answer_set_error (
        error, self->source, answer.status, answer.body, answer.size);
  else
    *secrets = spdl_aws_answer_read_json (
        answer.body, answer.size, self->source, "Token", TRUE, error);
  return *secrets != NULL;
}

gboolean
spdl_aws_instance_ask (SpdlSecrets **secrets, gchar **reason, GError **error)
{
  const gchar *disabled = spdl_environment_get (INSTANCE_DISABLED);
  g_auto (Instance) self = { 0 };
  g_autofree gchar *role = NULL;

  *reason = NULL;
  if (disabled && g_ascii_strcasecmp (disabled, "true") == 0) {
    *reason = g_strdup ("disabled by " INSTANCE_DISABLED);
    return TRUE;
  }
  self.base = dup_instance_base ();
  self.origin = spdl_metadata_dup_origin (self.base);
  self.source =
      g_strdup_printf ("the instance metadata service %s", self.origin);
  if (!ask_token (&self, reason, error))
    return FALSE;
  if (*reason)
    return TRUE;
  if (!ask_role (&self, &role, reason, error))
    return FALSE;
  if (*reason)
    return TRUE;
  return ask_secrets (&self, role, secrets, error);
}
