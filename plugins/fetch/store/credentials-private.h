/* gst-spdl: sources of credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/store/credentials.h"

G_BEGIN_DECLS

/* Secrets that arrive with less time than this are too old to use, and those
 * that are in use are given to no new request. */
#define SPDL_CREDENTIALS_MIN_TIME (10 * G_TIME_SPAN_SECOND)
/* How long a failure is remembered, and secrets that were asked for again
 * without others coming. */
#define SPDL_CREDENTIALS_PAUSE (5 * G_TIME_SPAN_SECOND)

/* @source: where they are from, for messages */
SpdlSecrets *spdl_secrets_new (const gchar *source, const gchar *access_key,
    const gchar *secret_key, const gchar *session_token, gint64 expires,
    gboolean renewable);
/* @bearer: (nullable): NULL: requests are anonymous */
SpdlSecrets *spdl_secrets_new_bearer (const gchar *source, const gchar *bearer,
    gint64 expires, gboolean renewable);

/* Ask the sources of a kind one after the other. They run in a thread that may
 * wait. */
SpdlSecrets *spdl_aws_credentials_ask (const gchar *profile, GError **error);
SpdlSecrets *spdl_google_credentials_ask (GError **error);
SpdlSecrets *spdl_hugging_face_credentials_ask (GError **error);

/* Tests: credentials that are not those of the process. */
SpdlCredentials *
spdl_credentials_new (SpdlCredentialsKind kind, const gchar *profile);
/* Waits until nothing is asked any more. */
void spdl_credentials_free (SpdlCredentials *self);
/* Sets the clocks of @self forward. */
void spdl_credentials_advance (SpdlCredentials *self, gint64 us);

G_END_DECLS
