/* gst-spdl: pages of the listings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The URI of a page of what is below @location, for an SpdlObject: of 1,000
 * keys at most.
 *
 * @location: s3://bucket/PREFIX, gs://bucket/PREFIX, or the folder
 *     hf://datasets/owner/name@revision/FOLDER
 * @token: (nullable): what the page before said of the next one
 *
 * Returns: (transfer full): NULL if @location is none of these */
gchar *spdl_listing_make_uri (const gchar *location, const gchar *token);

typedef struct {
  GPtrArray *keys; /* gchar: as they are, not escaped; of HF paths */
  gchar *token;    /* (nullable): for the next page; NULL: this is the last */
} SpdlListing;

void spdl_listing_init (SpdlListing *self);
void spdl_listing_clear (SpdlListing *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlListing, spdl_listing_clear)

/* Adds what ListObjectsV2 answers, with `encoding-type=url`. Returns FALSE with
 * @error set, in the domain of GST_RESOURCE_ERROR, if @text is something
 * else. */
gboolean spdl_listing_parse_xml (
    SpdlListing *self, const gchar *text, gsize size, GError **error);

/* Adds what the API of Hugging Face answers for a tree.
 *
 * @link: (nullable): the header Link, which has the next page */
gboolean spdl_listing_parse_json (SpdlListing *self, const gchar *text,
    gsize size, const gchar *link, GError **error);

G_END_DECLS
