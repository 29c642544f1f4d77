/* gst-spdl: credentials of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/fetch/store/secrettext.h"

G_BEGIN_DECLS

/* Credentials are looked up once per process and profile, in the places that
 * the tools of AWS, Google Cloud and Hugging Face use, and are renewed before
 * they expire. A separate thread sends the requests to credential services, so
 * that no other thread blocks. */

typedef enum {
  SPDL_CREDENTIALS_AWS,
  SPDL_CREDENTIALS_GOOGLE,
  SPDL_CREDENTIALS_HUGGING_FACE,
} SpdlCredentialsKind;

typedef struct _SpdlCredentials SpdlCredentials;

/* Called once in the main context of the thread that waits. */
typedef void (*SpdlCredentialsFunc) (gpointer user_data);

/* Returns the credentials of @kind, which all plugins of the process share and
 * which are never freed. Like all functions here, it may be called from any
 * thread.
 *
 * @profile: (nullable): AWS profile, which overrides keys in the environment;
 *     NULL: the profile of the environment */
SpdlCredentials *
spdl_credentials_get (SpdlCredentialsKind kind, const gchar *profile);

/* Returns the secrets that are valid now, or NULL. If it returns NULL, either
 * @error is set (in the domain of GST_RESOURCE_ERROR, with the sources that
 * were tried), or @func will be called once, in the thread-default main context
 * of the caller, when this function should be called again. If the secrets
 * expire soon, their renewal starts and the old ones are returned as long as
 * they are valid. A failure is cached for some seconds, so that items do not
 * cause a lookup each.
 *
 * @func: (nullable): NULL if the caller does not wait */
SpdlSecrets *spdl_credentials_dup_secrets (SpdlCredentials *self,
    SpdlCredentialsFunc func, gpointer user_data, GError **error);

/* Cancels the wait with @user_data. Call it from the thread that waits. */
void spdl_credentials_stop_waiting (SpdlCredentials *self, gpointer user_data);

/* Records that the store rejected @secrets as expired or invalid. Returns TRUE
 * if others may be available: the next call of spdl_credentials_dup_secrets()
 * looks them up, unless that has happened since. */
gboolean
spdl_credentials_refuse (SpdlCredentials *self, const SpdlSecrets *secrets);

G_END_DECLS
