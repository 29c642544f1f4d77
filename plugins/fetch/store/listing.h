/* gst-spdl: pages of the listings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the URI of a page with at most 1,000 of the keys below @location, for
 * an SpdlObject.
 *
 * @location: s3://bucket/PREFIX, gs://bucket/PREFIX, or the folder
 *     hf://datasets/owner/name@revision/FOLDER
 * @token: (nullable): token of the page, from the previous one
 *
 * Returns: (transfer full): NULL if @location is none of these */
gchar *spdl_listing_make_uri (const gchar *location, const gchar *token);

typedef struct {
  GPtrArray *keys; /* gchar: unescaped; for Hugging Face, paths */
  gchar *token;    /* (nullable): of the next page; NULL: this page is the last
                    * */
} SpdlListing;

void spdl_listing_init (SpdlListing *self);
void spdl_listing_clear (SpdlListing *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlListing, spdl_listing_clear)

/* Adds the keys in a response of ListObjectsV2 with `encoding-type=url`.
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if @text
 * is not such a response. */
gboolean spdl_listing_parse_xml (
    SpdlListing *self, const gchar *text, gsize size, GError **error);

/* Adds the paths in a response of the Hugging Face API for a tree.
 *
 * @link: (nullable): the Link header, which contains the next page */
gboolean spdl_listing_parse_json (SpdlListing *self, const gchar *text,
    gsize size, const gchar *link, GError **error);

G_END_DECLS
