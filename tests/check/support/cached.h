/* gst-spdl: loads through spdlfetch's cache on the disk, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/server.h"

G_BEGIN_DECLS

/* What a load of a list came to. */
typedef struct {
  GPtrArray *buffers; /* GstBuffer */
  GPtrArray *warnings;
  guint n_failures;
  gchar *failure; /* the last; nullable */
  gchar *error;   /* nullable */
  guint64 hits, misses, bytes, errors;
} CachedLoad;

/* Of a test: a server, and a folder that has `list.txt` and the cache,
 * `cache`. */
extern Server *cached_server;
extern gchar *cached_folder;

void cached_setup (void);
void cached_teardown (void);

/* The list is of URIs of the server: those, or @n items, each by its own. */
void cached_write_list (const gchar *const *paths, guint n);
void cached_write_many (const gchar *fault, guint n, guint64 size);

/* Loads the list at @path through @cache with the properties @more. */
CachedLoad *
cached_load_list (const gchar *path, const gchar *cache, const gchar *more);
/* Loads what was written last. */
CachedLoad *cached_load_again (const gchar *more);
void cached_load_free (CachedLoad *load);

gboolean cached_is_of_version (GstBuffer *buffer, guint version);
/* All came, and all are of @version. */
void cached_assert_whole (CachedLoad *load, guint n, guint version);

/* Loads what was written last, or those paths: all of it in @version. */
void cached_expect (const gchar *more, guint n, guint version, guint64 hits);
void cached_expect_paths (const gchar *const *paths, guint n, const gchar *more,
    guint version, guint64 hits);

/* Paths of all entries, or of what is being written. */
GPtrArray *cached_list_files (gboolean aside);
guint cached_count_files (gboolean aside);
/* Bytes of all entries, in blocks. */
guint64 cached_sum_files (void);

G_END_DECLS
