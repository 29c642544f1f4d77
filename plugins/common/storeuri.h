/* gst-spdl: schemes of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* s3://bucket/key, gs://bucket/key and hf://datasets/owner/name@revision/path.
 * A key is written as it is: no byte of it is escaped, and nothing of it is a
 * query or a fragment. s3://bucket?QUERY is a page of a listing. */

static inline gboolean
spdl_store_is_uri (const gchar *text)
{
  return g_ascii_strncasecmp (text, "s3://", 5) == 0 ||
         g_ascii_strncasecmp (text, "gs://", 5) == 0 ||
         g_ascii_strncasecmp (text, "hf://", 5) == 0;
}

/* Returns TRUE if @text is a URI for the HTTP client. */
static inline gboolean
spdl_store_is_remote (const gchar *text)
{
  return g_ascii_strncasecmp (text, "http://", 7) == 0 ||
         g_ascii_strncasecmp (text, "https://", 8) == 0 ||
         spdl_store_is_uri (text);
}

/* The length of what names a path or URI: without the query and the fragment,
 * which only URIs of HTTP(S) have. */
static inline gsize
spdl_uri_measure_name (const gchar *text)
{
  return spdl_store_is_remote (text) && !spdl_store_is_uri (text)
             ? strcspn (text, "?#")
             : strlen (text);
}

G_END_DECLS
