/* gst-spdl: URI origins for credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/origin.h"

#include <gst/gst.h>
#include <libsoup/soup.h>

#include <string.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"

gchar *
spdl_origin_dup (GUri *uri)
{
  g_autofree gchar *scheme = g_ascii_strdown (g_uri_get_scheme (uri), -1);
  const gboolean tls = g_str_equal (scheme, "https");
  const gint port = g_uri_get_port (uri);
  const gchar *host = g_uri_get_host (uri);
  g_autofree gchar *lower = g_ascii_strdown (host ? host : "", -1);
  const gboolean is_ipv6 = strchr (lower, ':') != NULL;
  g_autoptr (GString) origin = g_string_new (scheme);

  g_string_append_c (origin, ':');
  if (!tls && !g_str_equal (scheme, "http"))
    return g_string_free (g_steal_pointer (&origin), FALSE);
  g_string_append_printf (origin, is_ipv6 ? "//[%s]" : "//%s", lower);
  if (port > 0 && port != (tls ? 443 : 80))
    g_string_append_printf (origin, ":%d", port);
  return g_string_free (g_steal_pointer (&origin), FALSE);
}

/* Returns the bucket, or the dataset of
 * hf://datasets/OWNER/NAME@REVISION/PATH. */
static gchar *
dup_bucket (const gchar *uri)
{
  gchar *origin = g_strndup (uri, spdl_store_measure_bucket (uri));

  for (guint i = 0; i < 2; i++)
    origin[i] = g_ascii_tolower (origin[i]);
  return origin;
}

gchar *
spdl_origin_dup_of (const gchar *uri)
{
  g_autoptr (GUri) parsed = NULL;
  g_autofree gchar *scheme = NULL;

  if (spdl_store_is_uri (uri))
    return dup_bucket (uri);
  parsed = g_uri_parse (uri, SOUP_HTTP_URI_FLAGS, NULL);
  if (parsed)
    return spdl_origin_dup (parsed);
  /* URIs that only GIO supports have a scheme as well. */
  scheme = g_uri_parse_scheme (uri);
  return scheme ? g_strconcat (scheme, ":", NULL) : NULL;
}

gboolean
spdl_origin_is_http (const gchar *origin)
{
  return g_str_has_prefix (origin, "http:") ||
         g_str_has_prefix (origin, "https:");
}

/* Returns the path of a local file that @uri, a URI or an absolute path, names
 * without a byte range. Returns NULL for others, and for a path that could lead
 * out of a folder. */
static gchar *
dup_path (const gchar *uri)
{
  g_autofree gchar *plain = g_strndup (uri, strcspn (uri, "#"));
  g_autofree gchar *path = g_path_is_absolute (plain)
                               ? g_strdup (plain)
                               : g_filename_from_uri (plain, NULL, NULL);

  return path && !spdl_origin_leads_up (path) ? g_steal_pointer (&path) : NULL;
}

/* Returns "file:/folder", or NULL if the entry is invalid. */
static gchar *
parse_folder (const gchar *entry)
{
  g_autofree gchar *path = strchr (entry, '#') ? NULL : dup_path (entry);
  gsize n = path ? strlen (path) : 0;

  while (n > 0 && path[n - 1] == '/')
    n--;
  return n > 0 ? g_strdup_printf ("file:%.*s", (int) n, path) : NULL;
}

/* Returns the origin of a list entry, or NULL if the entry is invalid. */
static gchar *
parse_entry (const gchar *entry)
{
  g_autoptr (GUri) uri = NULL;
  const gsize n = strlen (entry);
  g_autofree gchar *scheme = NULL;

  if (spdl_store_is_uri (entry))
    return dup_bucket (entry);
  if (g_ascii_strncasecmp (entry, "file:/", 6) == 0)
    return parse_folder (entry);
  if (n > 1 && entry[n - 1] == ':' && !memchr (entry, ':', n - 1)) {
    scheme = g_uri_parse_scheme (entry);
    return scheme && !spdl_origin_is_http (entry)
               ? g_strconcat (scheme, ":", NULL)
               : NULL;
  }
  uri = g_uri_parse (entry, SOUP_HTTP_URI_FLAGS, NULL);
  if (!uri || !g_uri_get_host (uri) || !*g_uri_get_host (uri) ||
      g_uri_get_userinfo (uri) || g_uri_get_query (uri) ||
      g_uri_get_fragment (uri) || strlen (g_uri_get_path (uri)) > 1)
    return NULL;
  scheme = spdl_origin_dup (uri);
  return spdl_origin_is_http (scheme) ? g_steal_pointer (&scheme) : NULL;
}

gboolean
spdl_origin_is_trusted (const gchar *origin, const gchar *trusted)
{
  g_auto (GStrv) entries = g_strsplit (trusted ? trusted : "", ",", -1);

  for (guint i = 0; entries[i]; i++) {
    g_autofree gchar *entry = parse_entry (g_strstrip (entries[i]));

    if (g_strcmp0 (entry, origin) == 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
spdl_origin_leads_up (const gchar *path)
{
  g_auto (GStrv) names = g_strsplit (path, "/", -1);

  return g_strv_contains ((const gchar *const *) names, "..");
}

gboolean
spdl_origin_trusts (const gchar *uri, const gchar *trusted)
{
  g_autofree gchar *origin = spdl_origin_dup_of (uri);
  g_autofree gchar *path = dup_path (uri);
  g_auto (GStrv) entries = g_strsplit (trusted ? trusted : "", ",", -1);

  if (spdl_origin_is_trusted (origin ? origin : "file:", trusted))
    return TRUE;
  for (guint i = 0; path && entries[i]; i++) {
    const gchar *entry = g_strstrip (entries[i]);
    g_autofree gchar *folder = g_ascii_strncasecmp (entry, "file:/", 6) == 0
                                   ? parse_folder (entry)
                                   : NULL;
    const gsize n = folder ? strlen (folder + strlen ("file:")) : 0;

    if (folder && strncmp (path, folder + strlen ("file:"), n) == 0 &&
        path[n] == '/')
      return TRUE;
  }
  return FALSE;
}

gchar *
spdl_origin_suggest (const gchar *uri)
{
  g_autofree gchar *path = dup_path (uri);
  g_autofree gchar *folder = path ? g_path_get_dirname (path) : NULL;

  if (folder && strlen (folder) > 1)
    return g_strconcat ("file:", folder, NULL);
  return g_path_is_absolute (uri) ? g_strdup ("file:")
                                  : spdl_origin_dup_of (uri);
}

gboolean
spdl_origin_check_trusted (
    const gchar *trusted, gboolean schemes, GError **error)
{
  g_auto (GStrv) entries = g_strsplit (trusted ? trusted : "", ",", -1);

  for (guint i = 0; entries[i]; i++) {
    g_autofree gchar *entry = parse_entry (g_strstrip (entries[i]));
    g_autofree gchar *shown = NULL;

    if (entry &&
        (schemes || spdl_origin_is_http (entry) || spdl_store_is_uri (entry)))
      continue;
    shown = spdl_redact_dup_uri (entries[i]);
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "trusted-origins has \"%s\": write servers as https://host or "
        "https://host:port%s, separated by commas",
        shown,
        schemes ? ", schemes as file:, and folders as file:/folder" : "");
  }
  return TRUE;
}
