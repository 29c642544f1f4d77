/* gst-spdl: shard patterns: brace expansion and globs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

/* Returns TRUE if @location ends like the name of a tar or ZIP file. This
 * includes compressed tars, which can only be streamed. */
gboolean spdl_archive_names_is_one (const gchar *location);

/* Expands braces and globs, in paths and in the keys of object stores, which
 * @indexer lists. Matches are sorted by their bytes. The path of an existing
 * file is not expanded.
 *
 * Returns: (transfer full): paths or URLs; NULL with @error set, in the domain
 * of GST_RESOURCE_ERROR */
GPtrArray *spdl_archive_names_expand (
    const gchar *location, SpdlIndexer *indexer, GError **error);

#define SPDL_BRACES_MAX 1000000

/* Expands `{0000..0127}` and `{a,b}` in @text, as shells do. If a bound of a
 * range starts with 0, all numbers get as many digits as the longer bound.
 * Braces that contain neither two dots nor a comma, and nested braces, are
 * literal.
 *
 * Returns: (transfer full): the texts, in order; NULL with @error set, in the
 * domain of GST_RESOURCE_ERROR, if there are more than SPDL_BRACES_MAX */
GPtrArray *spdl_braces_expand (const gchar *text, GError **error);

G_END_DECLS
