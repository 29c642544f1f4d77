/* gst-spdl: patterns of shard names
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

/* Whether @location names shards, by its end: that of a tar or a ZIP, also of a
 * tar that is compressed, which can be used if it is streamed. */
gboolean spdl_archive_names_is_one (const gchar *location);

/* Expands braces and globs, whose matches are sorted by their bytes: of paths,
 * and of keys in an object store, which @indexer lists. A path that is there
 * stands for itself.
 *
 * Returns: (transfer full): paths or URLs; NULL with @error set, in the domain
 * of GST_RESOURCE_ERROR */
GPtrArray *spdl_archive_names_expand (
    const gchar *location, SpdlIndexer *indexer, GError **error);

#define SPDL_BRACES_MAX 1000000

/* Expands `{0000..0127}` and `{a,b}` in @text, as shells do: numbers of as many
 * digits as the longer end has, if one begins with 0. Braces without two dots
 * or a comma, and those within others, stand for themselves.
 *
 * Returns: (transfer full): the texts, in order; NULL with @error set, in the
 * domain of GST_RESOURCE_ERROR, if there are more than SPDL_BRACES_MAX */
GPtrArray *spdl_braces_expand (const gchar *text, GError **error);

G_END_DECLS
