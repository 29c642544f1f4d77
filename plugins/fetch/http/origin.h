/* gst-spdl: origins of URIs, for secrets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* An origin is the scheme, host and port of an HTTP(S) URI, as
 * "https://host:8443" without the scheme's default port; of any other URI it is
 * the scheme, as "file:", and the bucket in an object store, as "s3://bucket".
 * Extra headers and credentials are for one origin.
 *
 * `trusted-origins` is a list of further ones, separated by commas: servers
 * that may get the secrets, too, and schemes that servers may lead to. */

gchar *spdl_origin_dup (GUri *uri);

/* The same for a text. Returns NULL if it is not an absolute URI. */
gchar *spdl_origin_dup_of (const gchar *uri);

gboolean spdl_origin_is_http (const gchar *origin);

/* @trusted: (nullable) */
gboolean spdl_origin_is_trusted (const gchar *origin, const gchar *trusted);

/* Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if
 * @trusted is not such a list.
 *
 * @trusted: (nullable)
 * @schemes: whether it may have schemes */
gboolean spdl_origin_check_trusted (
    const gchar *trusted, gboolean schemes, GError **error);

G_END_DECLS
