/* gst-spdl: listings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/fetch/http/http.h"
#include "plugins/fetch/store/listing.h"
#include "plugins/shards/shardremote.h"

/* One page, which the client's thread fetches. */
typedef struct {
  GMutex lock; /* guards: */
  GCond cond;
  gboolean done;
  GstBuffer *content;
  GError *error;
  gchar *link; /* the header; nullable */
} Page;

static void
on_head (gpointer user_data, SoupMessage *message)
{
  Page *page = user_data;
  const gchar *link = soup_message_headers_get_list (
      soup_message_get_response_headers (message), "Link");

  g_mutex_lock (&page->lock);
  g_free (page->link);
  page->link = g_strdup (link);
  g_mutex_unlock (&page->lock);
}

static void
on_fetched (gpointer user_data, GstBuffer *content, GError *error)
{
  Page *page = user_data;

  g_mutex_lock (&page->lock);
  page->content = content;
  page->error = error;
  page->done = TRUE;
  g_cond_signal (&page->cond);
  g_mutex_unlock (&page->lock);
}

static gboolean
parse_page (
    const gchar *uri, const Page *page, SpdlListing *listing, GError **error)
{
  GstMapInfo map;
  gboolean ok;

  if (!gst_buffer_map (page->content, &map, GST_MAP_READ)) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The listing cannot be mapped");
    return FALSE;
  }
  ok = g_ascii_strncasecmp (uri, "hf:", 3) == 0
           ? spdl_listing_parse_json (
                 listing, (const gchar *) map.data, map.size, page->link, error)
           : spdl_listing_parse_xml (
                 listing, (const gchar *) map.data, map.size, error);
  gst_buffer_unmap (page->content, &map);
  return ok;
}

/* Waits for the page at @uri. */
static gboolean
read_page (SpdlRemoteClient *client, const gchar *uri, SpdlListing *listing,
    GError **error)
{
  static const SpdlRange all = { 0, G_MAXUINT64 };
  Page page = { .done = FALSE };
  gboolean ok;

  g_mutex_init (&page.lock);
  g_cond_init (&page.cond);
  spdl_http_fetch_with_head (
      client->http, uri, &all, client->cancellable, on_head, on_fetched, &page);
  g_mutex_lock (&page.lock);
  while (!page.done)
    g_cond_wait (&page.cond, &page.lock);
  g_mutex_unlock (&page.lock);
  ok = page.content && parse_page (uri, &page, listing, error);
  if (page.error)
    g_propagate_error (error, page.error);
  gst_clear_buffer (&page.content);
  g_free (page.link);
  g_mutex_clear (&page.lock);
  g_cond_clear (&page.cond);
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
  g_autofree gchar *token = NULL; /* of the page before */
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
    /* It would be read without an end. */
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
