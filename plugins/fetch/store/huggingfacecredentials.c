/* gst-spdl: Hugging Face credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/environment.h"
#include "plugins/fetch/store/credentials-private.h"
#include "plugins/fetch/store/secrettext.h"

static gboolean
is_disabled (void)
{
  static const gchar *const words[] = { "1", "on", "yes", "true" };
  const gchar *value = spdl_environment_get ("HF_HUB_DISABLE_IMPLICIT_TOKEN");

  for (guint i = 0; value && i < G_N_ELEMENTS (words); i++)
    if (g_ascii_strcasecmp (value, words[i]) == 0)
      return TRUE;
  return FALSE;
}

/* Returns the file that `hf auth login` writes. (transfer full) */
static gchar *
dup_token_path (void)
{
  const gchar *path = spdl_environment_get ("HF_TOKEN_PATH");
  g_autofree gchar *home = NULL;

  if (path)
    return spdl_secret_text_expand_path (path);
  if (spdl_environment_get ("HF_HOME")) {
    home = spdl_secret_text_dup_path ("HF_HOME", "");
  } else {
    g_autofree gchar *cache =
        spdl_secret_text_dup_path ("XDG_CACHE_HOME", "~/.cache");

    home = g_build_filename (cache, "huggingface", NULL);
  }
  return g_build_filename (home, "token", NULL);
}

/* Without a token, requests are anonymous: most repositories are public. */
SpdlSecrets *
spdl_hugging_face_credentials_ask (GError **error)
{
  static const gchar *const names[] = { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" };
  g_autofree gchar *token = NULL;
  g_autofree gchar *path = NULL;

  if (is_disabled ())
    return spdl_secrets_new ("nobody (HF_HUB_DISABLE_IMPLICIT_TOKEN)",
        &(SpdlSecrets){ .expires = G_MAXINT64 });
  for (guint i = 0; i < G_N_ELEMENTS (names) && !token; i++)
    if (!spdl_secret_text_read_env (names[i], &token, error))
      return NULL;
  if (token)
    return spdl_secrets_new ("the environment",
        &(SpdlSecrets){ .bearer = token, .expires = G_MAXINT64 });
  path = dup_token_path ();
  if (!spdl_secret_text_read_token (path, &token, error))
    return NULL;
  /* `hf auth login` may replace the token. */
  return spdl_secrets_new (
      token ? "the token file" : "no account (no token is set)",
      &(SpdlSecrets){
          .bearer = token, .expires = G_MAXINT64, .renewable = token != NULL });
}
