/* gst-spdl: settings of requests for shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define SPDL_REMOTE_USER_AGENT "gst-spdl/" PACKAGE_VERSION
#define SPDL_REMOTE_TIMEOUT 30
#define SPDL_REMOTE_RETRIES 3

/* Under the same names as spdlfetch's. */
typedef struct {
  gchar *user_agent;           /* nullable */
  gchar *tls_ca_file;          /* nullable: the system's authorities */
  GstStructure *extra_headers; /* nullable */
  gchar *trusted_origins;      /* nullable */
  guint timeout;               /* s in which no byte came; 0: none */
  guint retries;
} SpdlRemoteSettings;

/* The defaults. */
void spdl_remote_settings_init (SpdlRemoteSettings *self);
void spdl_remote_settings_copy (
    SpdlRemoteSettings *self, const SpdlRemoteSettings *other);
void spdl_remote_settings_clear (SpdlRemoteSettings *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (
    SpdlRemoteSettings, spdl_remote_settings_clear)

G_END_DECLS
