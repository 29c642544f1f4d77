/* gst-spdl: settings and a service for tests of credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>

#include "plugins/fetch/store/credentials-private.h"
#include "tests/check/support/service.h"

G_BEGIN_DECLS

/* Part of every secret in these tests; no message or log may contain it. */
#define SECRET "sesame"

#define TOKEN "PUT /latest/api/token"
#define ROLES "GET /latest/meta-data/iam/security-credentials/"
#define ROLE ROLES "trainer"

#define AWS SPDL_CREDENTIALS_AWS
#define NOT_AUTHORIZED GST_RESOURCE_ERROR_NOT_AUTHORIZED
#define SETTINGS GST_RESOURCE_ERROR_SETTINGS
#define READ GST_RESOURCE_ERROR_READ
#define OPEN_READ GST_RESOURCE_ERROR_OPEN_READ
#define NOT_FOUND GST_RESOURCE_ERROR_NOT_FOUND

extern gchar *home; /* folder of the user, which is empty */
extern Service *service;

/* A fixture: removes credentials from the environment, and starts the service,
 * which has the addresses of the metadata services. At the end, checks that
 * neither the log nor an error contains a secret. */
void credentials_rig_setup (void);
void credentials_rig_teardown (void);

/* Returns the time after @seconds as services send it. */
gchar *format_time (gint64 seconds);

/* Returns credentials number @n as a service sends them, which expire after
 * @seconds. */
gchar *make_json (guint n, gint64 seconds);

/* Makes the instance metadata service send these credentials. */
void set_instance (guint n, gint64 seconds);

/* Sets the gboolean @user_data to TRUE, for spdl_credentials_dup_secrets(). */
void on_ready (gpointer user_data);

/* Waits for the secrets and returns them. */
SpdlSecrets *ask (SpdlCredentials *credentials, GError **error);

/* Checks that the credentials are the key @access_key (nullable). */
void assert_key (
    SpdlCredentialsKind kind, const gchar *profile, const gchar *access_key);

void assert_bearer (SpdlCredentialsKind kind, const gchar *bearer);

/* Checks that no credentials are found, within 2 s on an idle machine. */
void assert_failure (SpdlCredentialsKind kind, const gchar *profile, gint code,
    const gchar *part);

G_END_DECLS
