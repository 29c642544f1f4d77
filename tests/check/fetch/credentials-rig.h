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

extern gchar *home; /* folder of the user, which is empty */
extern Service *service;

/* Returns a suite with a case whose fixture removes credentials from the
 * environment, and starts the service, which has the addresses of the metadata
 * services. After each test, it checks that neither the log nor an error
 * contains a secret. */
Suite *credentials_rig_make_suite (const gchar *name, TCase **tc);

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

G_END_DECLS
