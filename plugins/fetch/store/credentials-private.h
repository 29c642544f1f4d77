/* gst-spdl: sources of credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/store/credentials.h"

G_BEGIN_DECLS

/* Minimum remaining lifetime of secrets: new ones with less are rejected, and
 * current ones with less are not used for new requests. */
#define SPDL_CREDENTIALS_MIN_TIME (10 * G_TIME_SPAN_SECOND)
/* How long a failure is cached, and the result of a new lookup that returned
 * the same secrets. */
#define SPDL_CREDENTIALS_PAUSE (5 * G_TIME_SPAN_SECOND)

/* Look up credentials in the sources of a kind, one after the other. Call them
 * from a thread that may block. */
SpdlSecrets *spdl_aws_credentials_ask (const gchar *profile, GError **error);
SpdlSecrets *spdl_google_credentials_ask (GError **error);
SpdlSecrets *spdl_hugging_face_credentials_ask (GError **error);

/* For tests: credentials that are not shared by the process. */
SpdlCredentials *
spdl_credentials_new (SpdlCredentialsKind kind, const gchar *profile);
/* Waits until no lookup is running. */
void spdl_credentials_free (SpdlCredentials *self);
/* Sets the clocks of @self forward. */
void spdl_credentials_advance (SpdlCredentials *self, gint64 us);

G_END_DECLS
