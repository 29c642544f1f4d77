/* gst-spdl: redaction of secrets in URIs and messages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* A URI can hold two kinds of secrets: the userinfo before its host, and query
 * parameters such as `X-Amz-Signature`, `sig` and `token`. Requests need them;
 * messages, logs, item names and cache names must not show them. Each is
 * replaced by `***`; the rest of the URI is unchanged. URIs in a URI, with or
 * without escapes, are redacted as well. */

/* Redacts @uri, which is one URI or a path.
 *
 * Returns: (transfer full) (nullable): the redacted URI, or NULL if @uri
 * contains no secret */
gchar *spdl_redact_uri (const gchar *uri);

/* Like spdl_redact_uri(), but copies a @uri without secrets.
 *
 * Returns: (transfer full) */
gchar *spdl_redact_dup_uri (const gchar *uri);

/* Redacts the URIs in @text, and the values of `extra-headers=` in a pipeline
 * description.
 *
 * Returns: (transfer full) */
gchar *spdl_redact_text (const gchar *text);

/* Removes the userinfo from @uri, so that a name made from the URI does not
 * depend on it.
 *
 * Returns: (transfer full) */
gchar *spdl_redact_remove_userinfo (const gchar *uri);

SPDL_END_PRIVATE_API
G_END_DECLS
