/* gst-spdl: credentials of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/credentials.h"
#include <gst/gst.h>
struct _SpdlCredentials {
  SpdlCredentialsKind kind;
};
static SpdlSecrets env;
SpdlSecrets *
spdl_secrets_ref (SpdlSecrets *self)
{
  return self;
}
void
spdl_secrets_unref (SpdlSecrets *self)
{
}
SpdlCredentials *
spdl_credentials_get (SpdlCredentialsKind kind, const gchar *profile)
{
  static SpdlCredentials all[3];
  all[kind].kind = kind;
  return &all[kind];
}
SpdlSecrets *
spdl_credentials_dup_secrets (SpdlCredentials *self, SpdlCredentialsFunc func,
    gpointer user_data, GError **error)
{
  env.access_key = (gchar *) g_getenv ("AWS_ACCESS_KEY_ID");
  env.secret_key = (gchar *) g_getenv ("AWS_SECRET_ACCESS_KEY");
  env.expires = G_MAXINT64;
  return &env;
}
void
spdl_credentials_stop_waiting (SpdlCredentials *self, gpointer user_data)
{
}
gboolean
spdl_credentials_refuse (SpdlCredentials *self, const SpdlSecrets *secrets)
{
  return FALSE;
}
gchar *
spdl_credentials_dup_setting (const gchar *profile, const gchar *name)
{
  return NULL;
}
