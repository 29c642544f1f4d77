/* gst-spdl: listings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/fetch/store/listing.h"
#include "plugins/shards/shardremote.h"

static void
on_head (gpointer user_data, SoupMessage *message)
{
  gchar **link = user_data;

  g_free (*link);
  *link = g_strdup (soup_message_headers_get_list (
      soup_message_get_response_headers (message), "Link"));
}

/* Waits for the page at @uri and parses it. */
static gboolean
read_page (SpdlRemoteClient *client, const gchar *uri, SpdlListing *listing,
    GError **error)
{
  static const SpdlRange all = { 0, G_MAXUINT64 };
  g_autofree gchar *link = NULL; /* the header */
  g_autoptr (GstBuffer) content =
      spdl_remote_fetch (client, uri, &all, on_head, &link, error);
  GstMapInfo map;
  gboolean ok;

  if (!content)
    return FALSE;
  if (!gst_buffer_map (content, &map, GST_MAP_READ)) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The listing cannot be mapped");
    return FALSE;
  }
  ok = g_ascii_strncasecmp (uri, "hf:", 3) == 0
           ? spdl_listing_parse_json (
                 listing, (const gchar *) map.data, map.size, link, error)
           : spdl_listing_parse_xml (
                 listing, (const gchar *) map.data, map.size, error);
  gst_buffer_unmap (content, &map);
  return ok;
}

/* Returns the beginning of the URIs of a listing, up to their keys. For Hugging
 * Face, it ends with the revision. */
static gchar *
dup_begin (const gchar *page_uri)
{
  return g_strdup_printf ("%.*s/", (int) strcspn (page_uri, "?"), page_uri);
}

gboolean
spdl_remote_list (gpointer client, const gchar *location, SpdlKeyFunc func,
    gpointer user_data, GError **error)
{
  g_auto (SpdlListing) listing = { NULL };
  g_autofree gchar *uri = spdl_listing_make_uri (location, NULL);
  g_autofree gchar *begin = NULL;
  g_autofree gchar *token = NULL; /* of the previous page */
  g_autoptr (GError) reason = NULL;
  gboolean ok = uri != NULL;

  spdl_listing_init (&listing);
  if (ok)
    begin = dup_begin (uri);
  while (ok && (ok = read_page (client, uri, &listing, &reason))) {
    for (guint i = 0; i < listing.keys->len; i++) {
      g_autofree gchar *found =
          g_strconcat (begin, g_ptr_array_index (listing.keys, i), NULL);

      /* A server may return more than was requested. */
      if (g_str_has_prefix (found, location))
        func (found, user_data);
    }
    g_ptr_array_set_size (listing.keys, 0);
    if (!listing.token)
      break;
    /* A repeated page would cause an endless loop. */
    if (g_strcmp0 (listing.token, token) == 0) {
      g_set_error_literal (&reason, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "The server's listing is invalid: a page refers to itself as the "
          "next one");
      ok = FALSE;
      break;
    }
    g_free (token);
    token = g_strdup (listing.token);
    g_free (uri);
    uri = spdl_listing_make_uri (location, listing.token);
  }
  if (!ok)
    g_set_error (error, GST_RESOURCE_ERROR,
        reason ? reason->code : GST_RESOURCE_ERROR_SETTINGS,
        "Failed to list \"%s\": %s", location,
        reason ? reason->message
               : "write s3://bucket/folder/ or gs://bucket/folder/");
  return ok;
}
