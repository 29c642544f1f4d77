/* gst-spdl: listings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "gst/spdl/engine/cgroup.h"
#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/fetch/store/listing.h"
#include "plugins/shards/shardremote.h"

/* Limits of what a server sends. A page has at most 1,000 keys of 1,024 bytes,
 * escaped, with their fields. Some servers send pages without keys, of deleted
 * objects or of folders. */
#define MAX_PAGE (32 * 1024 * 1024)
#define MAX_PAGES_WITHOUT_KEYS 1000

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
read_page (SpdlRemoteClient *client, const gchar *uri, gint64 deadline,
    SpdlListing *listing, GError **error)
{
  static const SpdlRange all = { 0, G_MAXUINT64 };
  g_autofree gchar *link = NULL; /* the header */
  g_autoptr (GstBuffer) content = spdl_remote_fetch (
      client, uri, &all, deadline, MAX_PAGE, on_head, &link, error);
  GstMapInfo map;
  gboolean ok;

  if (!content)
    return FALSE;
  if (!gst_buffer_map (content, &map, GST_MAP_READ))
    return spdl_fail (
        error, GST_RESOURCE_ERROR_READ, "The listing cannot be mapped");
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

/* The objects that were listed. */
typedef struct {
  const gchar *location;
  gchar *begin;
  GHashTable *hashes; /* of the URIs */
  guint64 size;       /* of the URIs */
  guint n_without;    /* successive pages without a key */
  SpdlKeyFunc func;
  gpointer user_data;
} Found;

/* Returns whether @uri is new. With hashes of 64 bits, only a repetition is
 * not, except once in many million listings. */
static gboolean
is_new (Found *self, const gchar *uri)
{
  const guint64 hash = spdl_fingerprint_add (0, uri, strlen (uri));

  return sizeof (gpointer) < sizeof hash ||
         g_hash_table_add (self->hashes, (gpointer) (gsize) hash);
}

static gboolean
set_invalid (GError **error, const gchar *problem, const gchar *subject)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The server's listing is invalid: %s%s", problem, subject);
}

/* Passes on the keys of a page. Returns FALSE with @error set if the server
 * repeats keys, sends too many pages without keys, or more keys than fit into
 * memory: its listing may never end. Keys need not be in order, which not all
 * servers keep. */
static gboolean
pass_keys (Found *self, const SpdlListing *page, GError **error)
{
  gboolean any = FALSE;

  for (guint i = 0; i < page->keys->len; i++) {
    const gchar *key = g_ptr_array_index (page->keys, i);
    g_autofree gchar *uri = g_strconcat (self->begin, key, NULL);

    /* A server may return more than was requested. */
    if (!g_str_has_prefix (uri, self->location))
      continue;
    if (!is_new (self, uri))
      return set_invalid (error, "it repeats the key ", key);
    any = TRUE;
    self->size += strlen (uri);
    self->func (uri, self->user_data);
  }
  self->n_without = any ? 0 : self->n_without + 1;
  if (self->n_without > MAX_PAGES_WITHOUT_KEYS)
    return set_invalid (error,
        "more than " G_STRINGIFY (MAX_PAGES_WITHOUT_KEYS) " pages",
        " in succession have no key");
  if (self->size <= spdl_memory_get_share ())
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "The keys need more than a quarter of the memory: choose a smaller "
      "folder, or use shards");
}

/* Reads the pages one after the other. */
static gboolean
read_pages (
    SpdlRemoteClient *client, Found *found, gint64 deadline, GError **error)
{
  g_auto (SpdlListing) page = { NULL };
  g_autofree gchar *token = NULL; /* of the previous page */
  g_autofree gchar *uri = spdl_listing_make_uri (found->location, NULL);

  spdl_listing_init (&page);
  for (;;) {
    if (!read_page (client, uri, deadline, &page, error) ||
        !pass_keys (found, &page, error))
      return FALSE;
    g_ptr_array_set_size (page.keys, 0);
    if (!page.token)
      return TRUE;
    if (g_strcmp0 (page.token, token) == 0)
      return set_invalid (error, "a page refers to itself as the next one", "");
    g_free (token);
    token = g_strdup (page.token);
    g_free (uri);
    uri = spdl_listing_make_uri (found->location, token);
  }
}

static void
explain_timeout (const SpdlRemoteClient *client, GError *reason)
{
  g_free (reason->message);
  reason->message = g_strdup_printf (
      "it took longer than list-timeout (%u s): choose a smaller folder, use "
      "shards, or set list-timeout to a longer time",
      client->list_timeout);
}

gboolean
spdl_remote_list (gpointer data, const gchar *location, SpdlKeyFunc func,
    gpointer user_data, GError **error)
{
  SpdlRemoteClient *client = data;
  const gint64 deadline =
      client->list_timeout > 0
          ? g_get_monotonic_time () + client->list_timeout * G_TIME_SPAN_SECOND
          : G_MAXINT64;
  Found found = { .location = location, .func = func, .user_data = user_data };
  g_autofree gchar *uri = spdl_listing_make_uri (location, NULL);
  g_autoptr (GError) reason = NULL;

  if (!uri)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "Failed to list \"%s\": write s3://bucket/folder/ or "
        "gs://bucket/folder/",
        location);
  found.begin = dup_begin (uri);
  found.hashes = g_hash_table_new (NULL, NULL);
  if (!read_pages (client, &found, deadline, &reason)) {
    if (g_get_monotonic_time () >= deadline &&
        !g_cancellable_is_cancelled (client->cancellable))
      explain_timeout (client, reason);
    g_set_error (error, GST_RESOURCE_ERROR, reason->code,
        "Failed to list \"%s\": %s", location, reason->message);
  }
  g_hash_table_unref (found.hashes);
  g_free (found.begin);
  return !reason;
}
