/* gst-spdl: URI origins for credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The origin of an HTTP(S) URI is its scheme, host and port, such as
 * "https://host:8443", without the default port of the scheme. The origin of an
 * object is its bucket, such as "s3://bucket", and of any other URI its scheme,
 * such as "file:". Extra headers and credentials belong to one origin.
 *
 * `trusted-origins` is a comma-separated list of further origins: servers that
 * may receive credentials, and schemes and local folders ("file:/folder") that
 * servers and data of others may refer to. */

gchar *spdl_origin_dup (GUri *uri);

/* Same for a string. Returns NULL if it is not an absolute URI. */
gchar *spdl_origin_dup_of (const gchar *uri);

gboolean spdl_origin_is_http (const gchar *origin);

/* @trusted: (nullable) */
gboolean spdl_origin_is_trusted (const gchar *origin, const gchar *trusted);

/* Same for an absolute URI or path, which may also lie in a trusted folder. */
gboolean spdl_origin_trusts (const gchar *uri, const gchar *trusted);

/* Returns the entry of the list that makes spdl_origin_trusts() return TRUE for
 * @uri, an absolute URI or path. */
gchar *spdl_origin_suggest (const gchar *uri);

/* Checks if a path has a component "..". */
gboolean spdl_origin_leads_up (const gchar *path);

/* Checks that @trusted is a valid list. Returns FALSE with @error set in the
 * domain GST_RESOURCE_ERROR otherwise.
 * @trusted: (nullable)
 * @schemes: whether the list may contain schemes */
gboolean spdl_origin_check_trusted (
    const gchar *trusted, gboolean schemes, GError **error);

G_END_DECLS
