/* gst-spdl: credentials of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Credentials are found once per process and profile, where every AWS, Google
 * Cloud or Hugging Face tool finds them, and are renewed before they expire.
 * Services are asked for them in a separate thread, so that no other thread
 * waits. */

typedef enum {
  SPDL_CREDENTIALS_AWS,
  SPDL_CREDENTIALS_GOOGLE,
  SPDL_CREDENTIALS_HUGGING_FACE,
} SpdlCredentialsKind;

/* Keys or a token that requests are signed with. They do not change, and are
 * shared by reference counts. */
typedef struct {
  gchar *access_key;    /* NULL: there is a bearer token, or nothing at all:
                         * requests are anonymous */
  gchar *secret_key;    /* NULL as access_key */
  gchar *session_token; /* nullable */
  gchar *bearer;        /* nullable: token of an Authorization header */
  gint64 expires;       /* µs since 1970; G_MAXINT64: never */
  gboolean renewable;   /* whether asking again may bring others */
} SpdlSecrets;

SpdlSecrets *spdl_secrets_ref (SpdlSecrets *self);
void spdl_secrets_unref (SpdlSecrets *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlSecrets, spdl_secrets_unref)

typedef struct _SpdlCredentials SpdlCredentials;

/* Is called once in the main context of the thread that waits. */
typedef void (*SpdlCredentialsFunc) (gpointer user_data);

/* Returns the process's credentials of that kind; they are never freed. All
 * plugins of the process share them. From any thread, as all functions here.
 *
 * @profile: (nullable): the AWS profile, which comes before keys in the
 *     environment; NULL: that of the environment */
SpdlCredentials *
spdl_credentials_get (SpdlCredentialsKind kind, const gchar *profile);

/* Returns the secrets that are valid now, or NULL: then either @error is set
 * (in the domain of GST_RESOURCE_ERROR, with the sources that were asked), or
 * @func will be called in the thread-default main context of the caller, once,
 * as soon as it pays to call this again. If the secrets expire soon, their
 * renewal begins and the old ones are returned as long as they are valid. A
 * failure is remembered for some seconds, so that not each item asks again.
 *
 * @func: (nullable): NULL: nobody waits */
SpdlSecrets *spdl_credentials_dup_secrets (SpdlCredentials *self,
    SpdlCredentialsFunc func, gpointer user_data, GError **error);

/* Nobody waits with @user_data any more; in the thread that did. */
void spdl_credentials_stop_waiting (SpdlCredentials *self, gpointer user_data);

/* The store says that @secrets have expired or are wrong. Returns TRUE if
 * others may be had: the next call of spdl_credentials_dup_secrets() asks for
 * them, unless that was done since. */
gboolean
spdl_credentials_refuse (SpdlCredentials *self, const SpdlSecrets *secrets);

/* Returns a setting of the profile in the shared AWS files, such as "region" or
 * "endpoint_url", or of its `s3 =` section, as "s3.addressing_style"; NULL if
 * there is none. Reads no environment but AWS_PROFILE, AWS_CONFIG_FILE and
 * AWS_SHARED_CREDENTIALS_FILE. (transfer full) */
gchar *spdl_credentials_dup_setting (const gchar *profile, const gchar *name);

G_END_DECLS
