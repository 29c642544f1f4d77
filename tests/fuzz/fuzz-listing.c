/* gst-spdl: fuzz target of listings and URIs of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/common/storeuri.h"
#include "plugins/fetch/http/origin.h"
#include "plugins/fetch/store/listing.h"
#include "plugins/fetch/store/objectstore.h"
#include "tests/fuzz/fuzz.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

/* Checks that the page of @location and @token can be requested. */
static void
check_page (const gchar *location, const gchar *token)
{
  g_autofree gchar *uri = spdl_listing_make_uri (location, token);
  g_autoptr (GError) error = NULL;
  const SpdlStoreSettings settings = { .anonymous = TRUE };
  SpdlStore *store = spdl_store_new (&settings);
  SpdlObject *object = spdl_object_new (store, uri, TRUE, &error);
  g_autoptr (GUri) asked = NULL;

  g_assert_nonnull (object);
  asked = spdl_object_get_http_uri (object);
  g_assert_nonnull (g_uri_get_query (asked));
  spdl_object_free (object);
  spdl_store_free (store);
}

static void
check_listing (const gchar *text, gsize size, gboolean json)
{
  g_auto (SpdlListing) listing = { NULL };
  g_autoptr (GError) error = NULL;
  const gchar *end = memchr (text, '\0', size);
  g_autofree gchar *link = json && end ? g_strndup (text, end - text) : NULL;
  const gsize skipped = link ? strlen (link) + 1 : 0;
  gboolean ok;

  spdl_listing_init (&listing);
  ok = json ? spdl_listing_parse_json (
                  &listing, text + skipped, size - skipped, link, &error)
            : spdl_listing_parse_xml (&listing, text, size, &error);
  if (!ok) {
    fuzz_check_error (error);
    return;
  }
  for (guint i = 0; i < listing.keys->len; i++)
    g_assert_true (*(const gchar *) g_ptr_array_index (listing.keys, i));
  if (listing.token)
    check_page (
        json ? "hf://datasets/a/b/c" : "s3://bucket/a b", listing.token);
}

/* Checks that the HTTP address of an object has an escaped path. */
static void
check_uri (const gchar *text, gsize size)
{
  g_autofree gchar *uri = g_strndup (text, size);
  g_autofree gchar *origin = spdl_origin_dup_of (uri);
  const SpdlStoreSettings settings = { .endpoint = (gchar *) "http://[::1]:9/p",
    .addressing = (gchar *) (size & 1 ? "virtual" : "path"),
    .anonymous = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (GUri) asked = NULL;
  SpdlStore *store;
  SpdlObject *object;

  if (!spdl_store_is_uri (uri))
    return;
  g_assert_nonnull (origin);
  store = spdl_store_new (&settings);
  object = spdl_object_new (store, uri, TRUE, &error);
  if (object) {
    asked = spdl_object_get_http_uri (object);
    g_assert_cmpint (*g_uri_get_path (asked), ==, '/');
    g_assert_null (strpbrk (g_uri_get_path (asked), " ?#"));
    spdl_object_free (object);
  } else if (g_utf8_validate (uri, -1, NULL)) {
    fuzz_check_error (error);
  }
  spdl_store_free (store);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  GST_DEBUG_CATEGORY_INIT (spdl_fetch_debug, "spdlfetch", 0, "Fetching");
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 kind = fuzz_take (&input);
  const gchar *text = (const gchar *) input.data;

  if (kind % 3 == 2)
    check_uri (text, input.size);
  else
    check_listing (text, input.size, kind % 3 == 1);
  return 0;
}
